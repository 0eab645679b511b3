/*
 * A server that lies: commands that are clients of a server get the answers that the input says, to one request
 * after the other. They end with a status, whatever comes.
 *
 * The first byte chooses the command. Each answer is a byte that chooses its kind, a length of two bytes, and the
 * body. When the input has no more answers, all that is asked for is not there.
 */
#include "../unit/support.h"
#include "base/cursor.h"
#include "cmd/server/commands.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#define REQUEST_MAX 65536u
#define WORDS_MAX   8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- commands, as tacho-server has them ---- */

const struct command *const commands[] = {&cmd_run, &cmd_ls, &cmd_show, &cmd_rm, &cmd_export, NULL};

static const struct {
	const struct command *command;
	int (*run)(const struct command *self, int argc, char **argv);
	const char *words[WORDS_MAX];
} calls[] = {
	{&cmd_ls, server_ls, {}},
	{&cmd_ls, server_ls, {"--sessions"}},
	{&cmd_ls, server_ls, {"default"}},
	{&cmd_show, server_show, {"last"}},
	{&cmd_show, server_show, {"--json", "0123"}},
	{&cmd_rm, server_rm, {"last"}},
	{&cmd_export, server_export, {"last", "--format", "json", "--output", "/dev/null"}},
	{&cmd_export, server_export, {"last", "--format", "csv", "--output", "/dev/null"}},
	{&cmd_run, server_run, {"--detach", "--", "true"}},
	{&cmd_run, server_run, {"--quiet", "--", "true"}},
};

int command_exec_server(const struct command *self, int argc, char **argv)
{
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i].command == self)
			return calls[i].run(self, argc, argv);
	return EXIT_USAGE;
}

/* ---- the server ---- */

/* The input is given to the thread under the lock; the answers are read one after the other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cursor answers;
static int listener = -1;

static void add_answer(struct buf *out)
{
	static const char *const heads[] = {
		"200 OK\r\nContent-Type: application/json\r\n",
		"200 OK\r\nContent-Type: text/event-stream\r\n",
		"404 Not Found\r\nContent-Type: application/json\r\n",
		"201 Created\r\nContent-Type: application/json\r\n",
		"500 Internal Server Error\r\n",
		"200 OK\r\nContent-Encoding: gzip\r\nX-Tacho-Lacks: all\r\n",
	};
	size_t size, left;
	uint8_t kind;

	pthread_mutex_lock(&lock);
	if (answers.at >= answers.size || answers.failed) {
		buf_add(out, "HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: "
			     "2\r\n\r\n{}");
		pthread_mutex_unlock(&lock);
		return;
	}
	kind = cursor_u8(&answers);
	size = cursor_u16(&answers);
	left = answers.size - answers.at;
	size = size < left ? size : left;
	/* One kind is all of the answer. */
	if (kind % 8 < ARRAY_LEN(heads))
		buf_addf(out, "HTTP/1.1 %sConnection: close\r\n\r\n", heads[kind % 8]);
	buf_add_mem(out, answers.data + answers.at, size);
	cursor_skip(&answers, size);
	pthread_mutex_unlock(&lock);
}

/* Reads the head of a request; bodies are small and come with it. */
static void hear(int fd)
{
	char bytes[4096];
	size_t heard = 0;
	CLEANUP(buf_release) struct buf head = {};

	while (heard < REQUEST_MAX && !strstr(buf_str(&head), "\r\n\r\n")) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

		if (n <= 0)
			return;
		buf_add_mem(&head, bytes, (size_t)n);
		heard += (size_t)n;
	}
}

static void answer(int fd)
{
	CLEANUP(buf_release) struct buf out = {};
	char bytes[4096];
	size_t at = 0;

	hear(fd);
	add_answer(&out);
	while (at < out.len) {
		ssize_t n = send(fd, out.s + at, out.len - at, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	/* Closing while something is unread would take the answer back. */
	shutdown(fd, SHUT_WR);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		;
	close(fd);
}

static void *serve(void *unused)
{
	int fd;

	(void)unused;
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		answer(fd);
	return NULL;
}

static void begin(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t size = sizeof(a);
	pthread_t thread;
	char url[64];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	signal(SIGPIPE, SIG_IGN);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 64) || getsockname(listener, (struct sockaddr *)&a, &size) || null < 0)
		abort();
	/* What the commands print; sanitizers and the fuzzer write to the other one. */
	dup2(null, STDOUT_FILENO);
	close(null);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(a.sin_port));
	setenv("TACHO_SERVER", url, 1);
	setenv("TACHO_TOKEN", "token", 1);
	setenv("TZ", "UTC", 1);
	if (pthread_create(&thread, NULL, serve, NULL))
		abort();
	pthread_detach(thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS_MAX + 1] = {};
	int argc = 0;
	size_t which;

	if (!size)
		return 0;
	if (listener < 0)
		begin();
	which = data[0] % ARRAY_LEN(calls);
	pthread_mutex_lock(&lock);
	answers = cursor_of(data + 1, size - 1);
	pthread_mutex_unlock(&lock);
	for (; argc < WORDS_MAX && calls[which].words[argc]; argc++)
		argv[argc] = xstrdup(calls[which].words[argc]);
	calls[which].run(calls[which].command, argc, argv);
	for (int i = 0; i < WORDS_MAX; i++)
		free(argv[i]);
	return 0;
}
