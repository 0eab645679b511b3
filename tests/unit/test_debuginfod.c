/* Programs and debug files from a real debuginfod server on this machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "symbol/debuginfod.h"
#include "symbol/module/module.h"
#include "support.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#define WAIT_NS (30 * NS_PER_SEC)

static pid_t server;
static struct build_id wanted;

static bool run(const char *command)
{
	CLEANUP(free_ptr)
	char *whole = xasprintf("cd '%s' && (%s) >log 2>&1", support_dir, command);

	return system(whole) == 0;
}

static int free_port(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, len) &&
	    !getsockname(fd, (struct sockaddr *)&a, &len))
		port = ntohs(a.sin_port);
	if (fd >= 0)
		close(fd);
	return port;
}

static int start_server(void **state)
{
	static const char source[] =
		"static __attribute__((noinline)) int hidden_one(int a)\n"
		"{ return a * 5 + 1; }\n"
		"int main(int c, char **v) { (void)v; return hidden_one(c); }\n";
	CLEANUP(free_ptr) char *path = NULL, *files = NULL, *port = NULL, *urls = NULL;
	CLEANUP(free_ptr) char *program = NULL, *cache = NULL;

	if (make_support_dir(state))
		return -1;
	path = xasprintf("%s/p.c", support_dir);
	files = xasprintf("%s/served", support_dir);
	program = xasprintf("%s/served/p", support_dir);
	cache = xasprintf("%s/client", support_dir);
	port = xasprintf("%d", free_port());
	urls = xasprintf("http://127.0.0.1:%s", port);
	if (fs_write_atomic(path, source, strlen(source)) ||
	    !run("mkdir served && cc -g -O1 -Wl,--build-id=sha1 -o full p.c && "
		 "objcopy --only-keep-debug full served/p.debug && strip -o served/p full") ||
	    !build_id_of_file(program, 0, &wanted))
		return -1;
	setenv("DEBUGINFOD_URLS", urls, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	setenv("XDG_CACHE_HOME", cache, 1);
	server = fork();
	if (!server) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		unsetenv("DEBUGINFOD_URLS"); /* or it would ask itself */
		execlp("debuginfod", "debuginfod", "-p", port, "-d", ":memory:", "-F", files, NULL);
		_exit(127);
	}
	return server < 0;
}

static int stop_server(void **state)
{
	if (server > 0) {
		kill(server, SIGTERM);
		waitpid(server, NULL, 0);
	}
	return remove_support_dir(state);
}

/* Until the server has looked through its files, it has none. It is asked by another program, for
 * what it does not have is remembered. */
static bool server_is_ready(void)
{
	uint64_t end = clock_now_ns() + WAIT_NS;
	struct buf id = {};
	bool ready = false;

	for (size_t i = 0; i < wanted.size; i++)
		buf_addf(&id, "%02x", wanted.bytes[i]);
	while (!ready && clock_now_ns() < end) {
		CLEANUP(free_ptr)
		char *ask = xasprintf("rm -rf probe; DEBUGINFOD_CACHE_PATH=$PWD/probe "
				      "timeout 5 debuginfod-find debuginfo %s",
				      buf_str(&id));

		ready = run(ask);
		if (!ready)
			usleep(100000);
	}
	buf_release(&id);
	return ready;
}

static void names_from_the_server(void **state)
{
	struct module_request r = {.kind = MODULE_ELF, .path = "/no/such/p", .build_id = wanted};
	struct modules *all = modules_new(&(struct symbol_options){.no_debuginfod = true});
	struct module *m = modules_get(all, &r);
	const struct symtab *t;
	bool found = false;

	(void)state;
	if (!dlopen("libdebuginfod.so.1", RTLD_NOW) || !run("command -v debuginfod-find")) {
		print_message("# SKIP debuginfod is not installed\n");
		skip();
	}
	assert_true(server_is_ready());
	assert_non_null(m->problem);
	modules_free(all);

	all = modules_new(NULL);
	m = modules_get(all, &r);
	assert_null(m->problem);
	t = module_symbols(m);
	assert_non_null(t);
	for (size_t i = 0; i < t->symbols.len; i++)
		found |= !strcmp(symtab_name(t, &t->symbols.items[i]), "hidden_one");
	assert_true(found);
	assert_non_null(m->debug_file);
	modules_free(all);
}

static void what_nobody_has(void **state)
{
	struct build_id id = {.size = 20, .bytes = {7, 7, 7}};

	(void)state;
	assert_null(debuginfod_find(&id, DEBUGINFOD_DEBUG));
	/* Having been told no is no reason not to ask for others. */
	free(debuginfod_find(&wanted, DEBUGINFOD_PROGRAM));
	unsetenv("DEBUGINFOD_URLS");
	assert_false(debuginfod_is_wanted());
	assert_null(debuginfod_find(&wanted, DEBUGINFOD_PROGRAM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_from_the_server),
		cmocka_unit_test(what_nobody_has),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
