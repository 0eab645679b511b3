/* With whose rights files are opened that a program names. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf/rights.h"
#include "support.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define NOBODY 65534

static char *make(const char *name, mode_t mode)
{
	char *path = xasprintf("%s/%s", support_dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "text", 4), 4);
	fchmod(fd, mode);
	close(fd);
	return path;
}

static int open_and_close(const struct rights *r, const char *path, int flags)
{
	int fd = rights_open(r, path, flags);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void everybodys_files(void **state)
{
	CLEANUP(free_ptr) char *open_file = make("open", 0644), *closed = make("closed", 0600);
	CLEANUP(free_ptr) char *link = xasprintf("%s/link", support_dir);
	CLEANUP(free_ptr) char *pipe = xasprintf("%s/pipe", support_dir);
	const struct rights *r;

	(void)state;
	assert_int_equal(symlink(closed, link), 0);
	assert_int_equal(mkfifo(pipe, 0666), 0);
	rights_set_rule(RIGHTS_PUBLIC);
	r = rights_of_process((uint32_t)getpid());
	assert_ptr_equal(r, rights_of_unknown());
	assert_false(rights_are_own(r));
	assert_int_equal(chmod(support_dir, 0755), 0);
	assert_int_equal(open_and_close(r, open_file, 0), 0);
	assert_int_equal(open_and_close(r, closed, 0), -EACCES);
	assert_int_equal(open_and_close(r, link, 0), -EACCES);
	assert_int_equal(open_and_close(r, link, O_NOFOLLOW), -ELOOP);
	assert_int_equal(open_and_close(r, pipe, 0), -EINVAL);
	assert_int_equal(open_and_close(r, "/dev/null", 0), -EINVAL);
	assert_int_equal(open_and_close(r, "/proc/self/status", 0), -EINVAL);
	assert_int_equal(open_and_close(r, support_dir, 0), -EINVAL);
	assert_int_equal(open_and_close(r, "/nowhere", 0), -ENOENT);
	/* A directory on the way that others may not pass. */
	assert_int_equal(chmod(support_dir, 0750), 0);
	assert_int_equal(open_and_close(r, open_file, 0), -EACCES);
	rights_set_rule(RIGHTS_ASKER);
}

static void ones_own_files(void **state)
{
	CLEANUP(free_ptr) char *closed = make("closed", 0600);
	CLEANUP(free_ptr) char *pipe = xasprintf("%s/pipe2", support_dir);
	const struct rights *r;

	(void)state;
	assert_int_equal(mkfifo(pipe, 0666), 0);
	assert_ptr_equal(rights_of_process(1), rights_of_asker());
	assert_ptr_equal(rights_of_unknown(), rights_of_asker());
	rights_set_rule(RIGHTS_TASKS);
	/* Our own process has all rights that we have. */
	r = rights_of_process((uint32_t)getpid());
	assert_true(rights_are_own(r));
	assert_int_equal(open_and_close(r, closed, 0), 0);
	assert_int_equal(open_and_close(r, pipe, 0), -EINVAL);
	/* Nobody's. */
	assert_ptr_equal(rights_of_process(0x7fffffff), rights_of_unknown());
	assert_int_equal(open_and_close(rights_of_unknown(), closed, 0), -EACCES);
	rights_presume_asker();
	assert_int_equal(open_and_close(rights_of_process(0x7fffffff), closed, 0), 0);
	rights_set_rule(RIGHTS_ASKER);
}

struct other_thread {
	const char *path;
	int stop;
	unsigned refused;
};

/* While another thread has other rights, this one has its own. */
static void *keep_opening(void *arg)
{
	struct other_thread *t = arg;

	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
		int fd = open(t->path, O_RDONLY | O_CLOEXEC);

		t->refused += fd < 0;
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

static void another_users_files(void **state)
{
	CLEANUP(free_ptr) char *closed = make("roots", 0600), *theirs = make("theirs", 0400);
	CLEANUP(free_ptr) char *grouped = make("grouped", 0640);
	gid_t group = 4242;
	const struct user_ids grouped_nobody = {NOBODY, NOBODY, {&group, 1, 1}};
	const struct user_ids nobody = {NOBODY, NOBODY, {}};
	gid_t before[64], after[64];
	int count = getgroups(64, before);
	struct other_thread thread = {.path = closed};
	const struct rights *r;
	pthread_t id;

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root, to take the rights of another user\n");
		skip();
	}
	assert_int_equal(chmod(support_dir, 0755), 0);
	assert_int_equal(chown(theirs, NOBODY, NOBODY), 0);
	assert_int_equal(chown(grouped, 0, 4242), 0);
	rights_set_rule(RIGHTS_TASKS);
	rights_presume_user(&grouped_nobody);
	r = rights_of_unknown();
	assert_int_equal(pthread_create(&id, NULL, keep_opening, &thread), 0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(open_and_close(r, closed, 0), -EACCES);
		assert_int_equal(open_and_close(r, theirs, 0), 0);
		assert_int_equal(open_and_close(r, grouped, 0), 0);
	}
	__atomic_store_n(&thread.stop, 1, __ATOMIC_RELAXED);
	pthread_join(id, NULL);
	assert_int_equal(thread.refused, 0);
	/* All is as before. */
	assert_int_equal(setfsuid((uid_t)-1), 0);
	assert_int_equal(setfsgid((gid_t)-1), (int)getegid());
	assert_int_equal(getgroups(64, after), count);
	assert_memory_equal(before, after, (size_t)count * sizeof(*before));
	assert_int_equal(open_and_close(rights_of_asker(), closed, 0), 0);
	/* Equal rights are the same. */
	rights_presume_user(&grouped_nobody);
	assert_ptr_equal(rights_of_unknown(), r);
	rights_presume_user(&nobody);
	assert_ptr_not_equal(rights_of_unknown(), r);
	assert_int_equal(open_and_close(rights_of_unknown(), grouped, 0), -EACCES);
	rights_set_rule(RIGHTS_ASKER);
}

static struct file_origin origin_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file_origin origin;

	assert_true(fd >= 0);
	origin = rights_origin(fd);
	close(fd);
	return origin;
}

static void origins_of_files(void **state)
{
	CLEANUP(free_ptr) char *file = make("program", 0644);
	uid_t me = geteuid();
	struct file_origin origin;
	int fd;

	(void)state;
	assert_int_equal(chmod(support_dir, 0755), 0);
	origin = origin_of(file);
	assert_int_equal(origin.owner, me);
	assert_true(origin.for_everybody);
	assert_int_equal(chmod(file, 0640), 0);
	assert_int_equal(origin_of(file).owner, me);
	assert_false(origin_of(file).for_everybody);
	/* The owner has not chosen the contents of what others can write to. */
	assert_int_equal(chmod(file, 0666), 0);
	assert_int_equal(origin_of(file).owner, FILE_OWNER_UNKNOWN);
	assert_int_equal(chmod(file, 0664), 0);
	assert_int_equal(origin_of(file).owner, me ? me : FILE_OWNER_UNKNOWN);
	assert_int_equal(chmod(file, 0644), 0);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	unlink(file);
	origin = rights_origin(fd);
	assert_int_equal(origin.owner, FILE_OWNER_UNKNOWN);
	assert_false(origin.for_everybody);
	close(fd);
}

static void copies_of_others(void **state)
{
	const struct file_origin roots = {0, true}, root_only = {0, false},
				 theirs = {NOBODY, false}, others = {4321, true},
				 nobodys = {FILE_OWNER_UNKNOWN, false};
	const struct rights *user, *all;

	(void)state;
	assert_true(rights_allow_copy(rights_of_asker(), &nobodys));
	assert_true(rights_allow_copy(rights_of_asker(), &others));
	assert_ptr_equal(rights_of_copy(rights_of_asker()), rights_of_asker());
	rights_set_rule(RIGHTS_TASKS);
	all = rights_of_unknown();
	rights_presume_user(&(struct user_ids){NOBODY, NOBODY, {}});
	user = rights_of_unknown();
	assert_true(rights_allow_copy(user, &theirs));
	assert_true(rights_allow_copy(user, &roots));
	assert_false(rights_allow_copy(user, &root_only));
	assert_false(rights_allow_copy(user, &others));
	assert_false(rights_allow_copy(user, &nobodys));
	/* Nor is the owner of a copy somebody whose other files it may name. */
	assert_ptr_equal(rights_of_copy(user), all);
	assert_true(rights_allow_copy(all, &roots));
	assert_false(rights_allow_copy(all, &root_only));
	assert_false(rights_allow_copy(all, &theirs));
	assert_false(rights_allow_copy(all, &others));
	assert_true(rights_allow_copy(rights_of_asker(), &root_only));
	assert_false(rights_allow_copy(rights_of_asker(), &others));
	rights_set_rule(RIGHTS_ASKER);
}

static const struct user_ids plain_nobody = {NOBODY, NOBODY, {}};

/* Starts a process of the user nobody that has mapped a page of the file at @ret until it is killed. */
static pid_t map_as_nobody(const char *path, uint64_t *ret)
{
	int said[2];
	pid_t pid;

	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		uint64_t at = (uintptr_t)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

		if (fd < 0 || setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
		    write(said[1], &at, sizeof(at)) != sizeof(at))
			_exit(1);
		for (;;)
			pause();
	}
	close(said[1]);
	assert_int_equal(read(said[0], ret, sizeof(*ret)), sizeof(*ret));
	close(said[0]);
	return pid;
}

/* The process has exactly the rights that stand for unknown processes, and is known all the same. */
static void a_deleted_file_of_the_user_with_the_limit(void **state)
{
	const struct rights *r;
	char *path;
	uint64_t at;
	pid_t pid;
	int fd;

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root, to take the rights of another user\n");
		skip();
	}
	path = make("deleted", 0644);
	pid = map_as_nobody(path, &at);
	assert_int_equal(unlink(path), 0);
	free(path);
	rights_set_rule(RIGHTS_TASKS);
	rights_limit_to_user(&plain_nobody);
	r = rights_of_process((uint32_t)pid);
	fd = rights_open_mapped(r, (uint32_t)pid, at, at + 4096);
	assert_true(fd >= 0);
	close(fd);
	assert_ptr_equal(rights_of_process((uint32_t)pid), r);
	assert_int_equal(rights_open_mapped(rights_of_unknown(), (uint32_t)pid, at, at + 4096),
			 -EACCES);
	rights_set_rule(RIGHTS_ASKER);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A process of the user's may become root's, by a set-user-ID program. */
static void nobody_has_more_than_the_limit(void **state)
{
	CLEANUP(free_ptr) char *closed = make("limited", 0600);
	const struct rights *r;

	(void)state;
	if (geteuid() != 0) {
		print_message("needs root, to take the rights of another user\n");
		skip();
	}
	rights_set_rule(RIGHTS_TASKS);
	assert_ptr_equal(rights_of_process((uint32_t)getpid()), rights_of_asker());
	rights_limit_to_user(&plain_nobody);
	r = rights_of_process((uint32_t)getpid());
	assert_ptr_equal(r, rights_of_unknown());
	assert_int_equal(open_and_close(r, closed, 0), -EACCES);
	assert_int_equal(rights_open_mapped(r, (uint32_t)getpid(), 0, 0), -EACCES);
	rights_set_rule(RIGHTS_ASKER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybodys_files),
		cmocka_unit_test(ones_own_files),
		cmocka_unit_test(another_users_files),
		cmocka_unit_test(origins_of_files),
		cmocka_unit_test(copies_of_others),
		cmocka_unit_test(a_deleted_file_of_the_user_with_the_limit),
		cmocka_unit_test(nobody_has_more_than_the_limit),
	};

	return cmocka_run_group_tests_name("rights", tests, make_support_dir, remove_support_dir);
}
