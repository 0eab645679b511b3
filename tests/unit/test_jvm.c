/* Asking running JVMs for the names of their code, and processes that only pretend to be one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/as_user.h"
#include "base/clock.h"
#include "base/text.h"
#include "collect/keep/jvm.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>

#define NOBODY 65534

/* What a process does that somebody connects to. */
enum deed { ANSWERS_WELL, STOPS_US, TRACES_US };

/* What the pretended JVM tells: its own number first, then what it has done to our child. */
struct word {
	pid_t pid;
	int result;
};

static char state_of(pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", (int)pid), *status = NULL;
	char value[32];

	return fs_read(path, 1 << 16, &status) == 0 &&
			       text_field(status, "State", value, sizeof(value))
		       ? value[0]
		       : '?';
}

static void map_library(void)
{
	int fd = open(in_dir("libjvm.so"), O_RDONLY);

	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
}

static int listen_for(pid_t jvm)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", (int)jvm);
	unlink(address.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		_exit(2);
	return fd;
}

static int stop(pid_t child)
{
	if (kill(child, SIGSTOP))
		return errno;
	while (state_of(child) != 'T')
		usleep(1000);
	return 0;
}

static int trace(pid_t child)
{
	return ptrace(PTRACE_SEIZE, child, NULL, NULL) ? errno : 0;
}

static void serve(int listener, int tell, enum deed deed)
{
	int fd = accept(listener, NULL, NULL);
	struct ucred peer = {};
	socklen_t size = sizeof(peer);
	struct word word;
	char bytes[64];

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		_exit(3);
	word = (struct word){peer.pid, deed == STOPS_US    ? stop(peer.pid)
				       : deed == TRACES_US ? trace(peer.pid)
							   : 0};
	if (deed != STOPS_US && (read(fd, bytes, sizeof(bytes)) <= 0 || write(fd, "0\n", 2) != 2))
		_exit(4);
	if (write(tell, &word, sizeof(word)) != sizeof(word))
		_exit(5);
}

/* A process like a JVM, which listens itself unless somebody else has put his socket there. */
struct pretender {
	pid_t pid;
	int words;
};

static struct pretender pretend(enum deed deed, uid_t uid, bool listens)
{
	struct pretender p;
	struct word word = {};
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (p.pid == 0) {
		int listener = -1;

		map_library();
		if (setresuid(uid, uid, uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(6);
		if (listens)
			listener = listen_for(getpid());
		if (write(fds[1], &word, sizeof(word)) != sizeof(word))
			_exit(5);
		if (listens)
			serve(listener, fds[1], deed);
		for (;;)
			pause();
	}
	close(fds[1]);
	p.words = fds[0];
	assert_int_equal(read(p.words, &word, sizeof(word)), sizeof(word));
	return p;
}

static void end(struct pretender *p)
{
	CLEANUP(free_ptr) char *name = xasprintf("/tmp/.java_pid%d", (int)p->pid);

	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	close(p->words);
	unlink(name);
}

/* By a clock that stands still: a slow machine does not make the JVM a late one. */
static size_t ask_in_time(const struct pretender *p, strvec *notes)
{
	struct manual_clock clock;

	manual_clock_init(&clock, NS_PER_SEC, NS_PER_SEC);
	return jvm_ask_for_maps(&p->pid, 1, &clock.clock, notes);
}

static size_t ask(const struct pretender *p, const struct clock *clock, strvec *notes)
{
	return jvm_ask_for_maps(&p->pid, 1, clock, notes);
}

static int make_library(void **state)
{
	int failed = make_support_dir(state);

	if (!failed) {
		write_text("libjvm.so", "no library");
		failed = chmod(support_dir, 0755) || chmod(in_dir("libjvm.so"), 0644);
	}
	return failed;
}

static void one_that_answers(void **state)
{
	struct pretender p = pretend(ANSWERS_WELL, geteuid(), true);
	CLEANUP(strvec_release) strvec notes = {};

	(void)state;
	assert_int_equal(ask_in_time(&p, &notes), 1);
	assert_int_equal(notes.len, 0);
	end(&p);
}

static void one_of_another_user_than_the_runs(void **state)
{
	static const struct user_ids another = {.uid = NOBODY - 1}, own = {.uid = NOBODY};
	struct pretender p;
	CLEANUP(strvec_release) strvec notes = {};

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root, to act as another user\n");
		skip();
	}
	p = pretend(ANSWERS_WELL, NOBODY, true);
	as_user_choose(&another);
	assert_int_equal(ask_in_time(&p, &notes), 0);
	assert_int_equal(notes.len, 1);
	assert_non_null(strstr(notes.items[0], "we may not act as its user"));
	as_user_choose(&own);
	assert_int_equal(ask_in_time(&p, &notes), 1);
	as_user_choose(NULL);
	end(&p);
}

static void other_processes_are_not_asked(void **state)
{
	CLEANUP(strvec_release) strvec notes = {};
	const pid_t pids[] = {getpid(), 0x7ffffff0};

	(void)state;
	assert_int_equal(jvm_ask_for_maps(pids, 2, &system_clock, &notes), 0);
	assert_int_equal(notes.len, 0);
}

/* Time that begins to pass when our child was stopped. */
struct passing {
	struct manual_clock clock;
	int words;
	struct word word;
};

static void *pass_time(void *arg)
{
	struct passing *t = arg;

	if (read(t->words, &t->word, sizeof(t->word)) == sizeof(t->word))
		manual_clock_advance(&t->clock, JVM_PATIENCE_MS * NS_PER_MSEC);
	return NULL;
}

static void one_that_stops_our_child(void **state)
{
	struct pretender p = pretend(STOPS_US, geteuid(), true);
	CLEANUP(strvec_release) strvec notes = {};
	struct passing time = {.words = p.words};
	pthread_t thread;

	(void)state;
	manual_clock_init(&time.clock, NS_PER_SEC, NS_PER_SEC);
	assert_int_equal(pthread_create(&thread, NULL, pass_time, &time), 0);
	assert_int_equal(ask(&p, &time.clock.clock, &notes), 0);
	pthread_join(thread, NULL);
	assert_int_equal(time.word.result, 0);
	assert_int_equal(notes.len, 1);
	assert_non_null(strstr(notes.items[0], "it does not answer"));
	/* Nothing is left of it. */
	assert_int_equal(kill(time.word.pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	end(&p);
}

/* Whether @user was refused when he wanted to trace the child of @asker. */
static bool is_not_traced(uid_t asker, uid_t user)
{
	CLEANUP(strvec_release) strvec notes = {};
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct pretender p;
		struct word word;
		bool good;

		/* setresuid() has cleared the dumpable flag, which a program started by a user
		 * has. */
		if (asker != geteuid() &&
		    (setresuid(asker, asker, asker) || prctl(PR_SET_DUMPABLE, 1)))
			_exit(1);
		p = pretend(TRACES_US, user, true);
		good = ask_in_time(&p, &notes) == 1 &&
		       read(p.words, &word, sizeof(word)) == sizeof(word) && word.result == EPERM;
		end(&p);
		_exit(!good);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Whether the kernel lets a process trace another one of its user that is no child of it: Yama may not. */
static bool siblings_can_be_traced(void)
{
	pid_t sibling, tracer;
	int status = -1;

	fflush(stdout);
	sibling = fork();
	if (sibling == 0)
		for (;;)
			pause();
	tracer = fork();
	if (tracer == 0)
		_exit(trace(sibling));
	waitpid(tracer, &status, 0);
	kill(sibling, SIGKILL);
	waitpid(sibling, NULL, 0);
	return status == 0;
}

/* The same as an ordinary user: root has a capability for it. */
static bool users_can_trace(uid_t user)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(setresuid(user, user, user) || prctl(PR_SET_DUMPABLE, 1) ||
		      !siblings_can_be_traced());
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* A user who could trace the child could read the memory of the collector, which may be root's. */
static void one_that_traces_our_child(void **state)
{
	uid_t user = geteuid() ? geteuid() : NOBODY;

	(void)state;
	if (!users_can_trace(user)) {
		print_message("users cannot trace processes other than their children here\n");
		skip();
	}
	assert_true(is_not_traced(user, user));
	if (!geteuid())
		assert_true(is_not_traced(0, user));
}

/* Names in /tmp can be taken by anybody; what such a one says is not believed. */
static void a_socket_of_another_process(void **state)
{
	struct pretender jvm = pretend(ANSWERS_WELL, geteuid(), false);
	CLEANUP(strvec_release) strvec notes = {};
	struct pretender other = {};
	int fds[2], listener = listen_for(jvm.pid);

	(void)state;
	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	other.pid = fork();
	assert_true(other.pid >= 0);
	if (other.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(listener, fds[1], ANSWERS_WELL);
		_exit(0);
	}
	close(fds[1]);
	other.words = fds[0];
	assert_int_equal(ask_in_time(&jvm, &notes), 0);
	assert_int_equal(notes.len, 1);
	assert_non_null(strstr(notes.items[0], "it opens no socket for us"));
	close(listener);
	end(&other);
	end(&jvm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_answers),
		cmocka_unit_test(one_of_another_user_than_the_runs),
		cmocka_unit_test(other_processes_are_not_asked),
		cmocka_unit_test(one_that_stops_our_child),
		cmocka_unit_test(one_that_traces_our_child),
		cmocka_unit_test(a_socket_of_another_process),
	};

	return cmocka_run_group_tests_name("jvm", tests, make_library, remove_support_dir);
}
