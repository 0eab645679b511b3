/* Ending a program with all its descendants, also while they fork. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFE_S   120 /* of everything that is started here, whatever happens */
#define CHILDREN 300
#define BOMB_UID 64321 /* of nobody else, so that the limit of its processes is that of the test */
#define BOMB_MAX 60

static atomic_int *started;

static void set_up(void)
{
	tree_adopt();
	started = mmap(NULL, sizeof(*started), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(started, MAP_FAILED);
}

static void wait_for_started(int count)
{
	while (*started < count)
		sched_yield();
}

static void expect_no_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Starts children whose parents end at once, so that they become children of the test, and which end when
 * they are asked to. It does not end itself. */
static void leave_children(void)
{
	signal(SIGTERM, SIG_IGN);
	alarm(LIFE_S);
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (fork())
				_exit(0);
			signal(SIGTERM, SIG_DFL);
			alarm(LIFE_S);
			++*started;
			for (;;)
				pause();
		}
		waitpid(pid, NULL, 0);
	}
	for (;;)
		pause();
}

static void test_what_ends_is_reaped(void **state)
{
	int status;
	pid_t own;

	(void)state;
	set_up();
	own = fork();
	if (!own)
		leave_children();
	wait_for_started(CHILDREN);
	tree_end(getpid(), false, own);
	/* Only the one that has an owner is left, and its owner learns how it has ended. */
	assert_int_equal(waitpid(-1, &status, WNOHANG), own);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	expect_no_child();
}

/* As many of itself as the limit allows; the place of one that is killed is taken at once. */
static void fork_all_the_time(void)
{
	struct rlimit limit = {BOMB_MAX, BOMB_MAX};

	if (setrlimit(RLIMIT_NPROC, &limit) || setresgid(BOMB_UID, BOMB_UID, BOMB_UID) ||
	    setresuid(BOMB_UID, BOMB_UID, BOMB_UID))
		_exit(9);
	signal(SIGTERM, SIG_IGN);
	for (;;) {
		pid_t pid = fork();

		if (pid == 0) {
			alarm(LIFE_S);
			++*started;
		} else if (pid < 0) {
			sched_yield();
		}
	}
}

static void test_forks_while_it_is_ended(void **state)
{
	pid_list left = {};
	pid_t own;

	(void)state;
	if (geteuid() != 0)
		skip(); /* the limit of processes does not hold for a user who has others */
	set_up();
	own = fork();
	if (!own) {
		alarm(LIFE_S);
		fork_all_the_time();
	}
	wait_for_started(BOMB_MAX - 1);
	tree_end(getpid(), false, own);
	tree_list(getpid(), &left);
	assert_int_equal(left.len, 0);
	vec_release(&left);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), own);
	expect_no_child();
}

static void test_marked_ones(void **state)
{
	char *const marked[] = {(char *)"A=b", (char *)"MARK=1", NULL};
	char *const other[] = {(char *)"MARK=11", (char *)"XMARK=1", NULL};
	char *const argv[] = {(char *)"sleep", (char *)"120", NULL};
	int status, ready[2][2];
	pid_t pids[2];
	char byte;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe2(ready[i], O_CLOEXEC), 0);
		pids[i] = fork();
		if (!pids[i]) {
			execvpe("sleep", argv, i ? other : marked);
			_exit(127);
		}
		close(ready[i][1]);
		assert_int_equal(read(ready[i][0], &byte, 1), 0); /* executed */
		close(ready[i][0]);
	}
	tree_end_marked("MARK=1");
	assert_int_equal(kill(pids[0], 0), -1); /* ended, and reaped */
	assert_int_equal(errno, ESRCH);
	assert_int_equal(waitpid(pids[1], &status, WNOHANG), 0);
	kill(pids[1], SIGKILL);
	assert_int_equal(waitpid(pids[1], &status, 0), pids[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_ends_is_reaped),
		cmocka_unit_test(test_forks_while_it_is_ended),
		cmocka_unit_test(test_marked_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
