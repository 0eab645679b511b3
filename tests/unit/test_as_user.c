/* What is done with the rights of another user, and what the kernel refuses then. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/as_user.h"
#include "base/caps.h"
#include "base/text.h"
#include "perf/bpf/bpf.h"
#include "perf/open.h"
#include "support.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define NOBODY 65534
#define SECRET "only root may read this"

static uint32_t a_group = 4242;
static const struct user_ids nobody = {NOBODY, NOBODY, {&a_group, 1, 1}};

static void needs_root(void)
{
	if (geteuid() == 0)
		return;
	print_message("needs root, to become another user\n");
	skip();
}

/* ---- ids ---- */

struct seen {
	char status[8192];
};

static long look(void *ctx)
{
	struct seen *seen = ctx;

	fs_head(seen->status, sizeof(seen->status), "/proc/thread-self/status");
	return 42;
}

static void assert_field(const struct seen *seen, const char *name, const char *wanted)
{
	char value[256];

	assert_true(text_field(seen->status, name, value, sizeof(value)));
	assert_string_equal(value, wanted);
}

static void all_ids_are_the_users(void **state)
{
	static const char *const caps[] = {"CapInh", "CapPrm", "CapEff", "CapAmb"};
	static const char none[] = "0000000000000000", ptrace[] = "0000000000080000";
	struct seen during, after;

	(void)state;
	needs_root();
	assert_int_equal(as_user_call(&nobody, false, look, &during), 42);
	assert_field(&during, "Uid", "65534\t65534\t65534\t65534");
	assert_field(&during, "Gid", "65534\t65534\t65534\t65534");
	assert_field(&during, "Groups", "4242 ");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		assert_field(&during, caps[i], none);
	assert_int_equal(as_user_call(&nobody, true, look, &during), 42);
	assert_field(&during, "Uid", "65534\t65534\t65534\t65534");
	assert_field(&during, "CapInh", none);
	assert_field(&during, "CapPrm", ptrace);
	assert_field(&during, "CapEff", ptrace);
	look(&after);
	assert_field(&after, "Uid", "0\t0\t0\t0");
}

static void the_real_ids_stay(void **state)
{
	struct own_rights own;
	struct seen during, after;

	(void)state;
	needs_root();
	assert_true(as_user_begin(&nobody, false, &own));
	look(&during);
	as_user_end(&own);
	look(&after);
	assert_field(&during, "Uid", "0\t0\t0\t65534");
	assert_field(&during, "Gid", "0\t0\t0\t65534");
	assert_field(&during, "Groups", "4242 ");
	assert_field(&during, "CapEff", "0000000000000000");
	assert_field(&after, "Uid", "0\t0\t0\t0");
	assert_field(&after, "Gid", "0\t0\t0\t0");
}

static void users_are_found(void **state)
{
	const struct passwd *user = getpwuid(geteuid());
	struct user_ids by_name, by_number;
	char number[16];

	(void)state;
	assert_false(user_ids_find("no such user", &by_name));
	if (!user) {
		print_message("needs a name for the user of the tests\n");
		skip();
	}
	assert_true(user_ids_find(user->pw_name, &by_name));
	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	assert_true(user_ids_find(number, &by_number));
	assert_int_equal(by_name.uid, geteuid());
	assert_int_equal(by_number.gid, by_name.gid);
	assert_int_equal(by_number.groups.len, by_name.groups.len);
	assert_true(by_name.groups.len > 0);
	user_ids_release(&by_name);
	user_ids_release(&by_number);
}

/* ---- events ---- */

static struct perf_event_attr clock_of(bool user_only)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(struct perf_event_attr),
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.disabled = 1,
					.exclude_kernel = user_only,
					.exclude_hv = user_only};
}

static int try_open(bool user_only, pid_t pid, int cpu)
{
	struct perf_event_attr attr = clock_of(user_only);
	int fd = perf_open(&attr, pid, cpu, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* A process that waits until it is killed. @prepare is called in it first. */
static pid_t start(void (*prepare)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prepare();
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user's process loses it */
		if (write(ready[1], "!", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void stay_root(void)
{
}

static void become(bool dumpable)
{
	if (syscall(SYS_setgroups, 0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, dumpable))
		_exit(1);
}

static void become_nobody(void)
{
	become(true);
}

/* As after the execution of a set-user-ID program: /proc/PID/status has the user's ids all the same. */
static void become_untraceable(void)
{
	become(false);
}

/* Kernels of some distributions let only root open events, at perf_event_paranoid 3 or 4. */
static void needs_events_for_users(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		become_nobody();
		_exit(try_open(true, 0, -1) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 0)
		return;
	print_message("a plain user cannot measure his own process here\n");
	skip();
}

static void the_kernel_decides_what_is_measured(void **state)
{
	pid_t own, roots, untraceable;
	int level = perf_paranoid();

	(void)state;
	needs_root();
	needs_events_for_users();
	if (level < 1) {
		print_message("perf_event_paranoid lets everybody measure everything\n");
		skip();
	}
	own = start(become_nobody);
	roots = start(stay_root);
	untraceable = start(become_untraceable);
	assert_int_equal(try_open(true, roots, -1), 0);
	assert_int_equal(try_open(true, untraceable, -1), 0);
	as_user_choose(&nobody);
	assert_int_equal(try_open(true, own, -1), 0);
	assert_int_equal(try_open(true, roots, -1), -EACCES);
	assert_int_equal(try_open(true, untraceable, -1), -EACCES);
	assert_int_equal(try_open(true, -1, 0), -EACCES);
	assert_int_equal(try_open(false, own, -1), level > 1 ? -EACCES : 0);
	/* A child that is yet to become the user, and no other. */
	perf_open_expect(roots);
	assert_int_equal(try_open(true, roots, -1), 0);
	assert_int_equal(try_open(false, roots, -1), level > 1 ? -EACCES : 0);
	assert_int_equal(try_open(true, untraceable, -1), -EACCES);
	assert_int_equal(try_open(true, -1, 0), -EACCES);
	perf_open_expect(0);
	assert_int_equal(try_open(true, roots, -1), -EACCES);
	as_user_choose(NULL);
	end(own);
	end(roots);
	end(untraceable);
}

static void no_program_is_loaded(void **state)
{
	const struct bpf_insn nothing[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					   {.code = BPF_JMP | BPF_EXIT}};
	int fd;

	(void)state;
	needs_root();
	fd = bpf_load(nothing, ARRAY_LEN(nothing));
	if (fd < 0) {
		print_message("BPF programs cannot be loaded here\n");
		skip();
	}
	close(fd);
	as_user_choose(&nobody);
	assert_int_equal(bpf_load(nothing, ARRAY_LEN(nothing)), -EPERM);
	as_user_choose(NULL);
}

/* ---- files of /proc ---- */

static int try_proc(const char *fmt, int pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), fmt, pid);
	fd = caps_open_proc(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

static void files_of_proc_are_the_users(void **state)
{
	pid_t own, roots;

	(void)state;
	needs_root();
	own = start(become_nobody);
	roots = start(stay_root);
	assert_int_equal(try_proc("/proc/%d/maps", roots), 0);
	as_user_choose(&nobody);
	assert_int_equal(try_proc("/proc/%d/maps", own), 0);
	assert_int_equal(try_proc("/proc/%d/maps", roots), -EACCES);
	assert_int_equal(try_proc("/proc/%d/status", roots), 0);
	as_user_choose(NULL);
	assert_int_equal(try_proc("/proc/%d/maps", roots), 0);
	end(own);
	end(roots);
}

/* As nobody with a program that has capabilities. Returns what failed, 0 if nothing. */
static int try_capable(const char *secret, pid_t roots)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {};
	char path[4096];

	caps[0].permitted = 1u << CAP_DAC_READ_SEARCH | 1u << CAP_SYS_PTRACE;
	if (prctl(PR_SET_KEEPCAPS, 1) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    syscall(SYS_capset, &header, caps))
		return 1;
	caps_begin();
	/* They are there… */
	if (try_proc("/proc/%d/maps", roots))
		return 2;
	/* …for files of /proc and no others. */
	if (!access(secret, R_OK))
		return 3;
	snprintf(path, sizeof(path), "/proc/..%s", secret);
	if (caps_open_proc(path, O_RDONLY) >= 0)
		return 4;
	snprintf(path, sizeof(path), "/proc/self/task/../../..%s", secret);
	if (caps_open_proc(path, O_RDONLY) >= 0)
		return 5;
	snprintf(path, sizeof(path), "/proc/%s", secret);
	if (caps_open_proc(path, O_RDONLY) >= 0)
		return 6;
	snprintf(path, sizeof(path), "/proc/self/root%s", secret);
	return caps_open_proc(path, O_RDONLY) >= 0 ? 7 : 0;
}

static void no_path_leads_out_of_proc(void **state)
{
	CLEANUP(free_ptr) char *secret = xasprintf("%s/secret", support_dir);
	int fd = open(secret, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), status;
	pid_t roots, pid;

	(void)state;
	needs_root();
	assert_int_equal(write(fd, SECRET, sizeof(SECRET)), sizeof(SECRET));
	close(fd);
	assert_int_equal(chmod(support_dir, 0755), 0);
	roots = start(stay_root);
	pid = fork();
	if (pid == 0)
		_exit(try_capable(secret, roots));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	end(roots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ids_are_the_users),
		cmocka_unit_test(the_real_ids_stay),
		cmocka_unit_test(users_are_found),
		cmocka_unit_test(the_kernel_decides_what_is_measured),
		cmocka_unit_test(no_program_is_loaded),
		cmocka_unit_test(files_of_proc_are_the_users),
		cmocka_unit_test(no_path_leads_out_of_proc),
	};

	return cmocka_run_group_tests_name("as_user", tests, make_support_dir, remove_support_dir);
}
