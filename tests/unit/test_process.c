/* What /proc says of a process: of us, and of texts as they look inside of namespaces. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "perf/process.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void ourselves(void **state)
{
	uint64_t now_ns = clock_ns_of(CLOCK_REALTIME);
	struct process_facts p;

	(void)state;
	assert_true(process_read((uint32_t)getpid(), &p));
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.uid, geteuid());
	assert_int_equal(p.gid, getegid());
	assert_false(p.foreign_files);
	assert_true(p.start_ns <= now_ns + NS_PER_SEC / 10);
	assert_true(p.start_ns + 600 * NS_PER_SEC > now_ns);
	assert_false(process_read(0x7fffffff, &p));
}

static void as_it_sees_files(void **state)
{
	char byte;
	int fd;

	(void)state;
	fd = process_open((uint32_t)getpid(), "/proc/self/exe", O_RDONLY);
	/* Links of /proc lead out of any root; those are not followed. */
	assert_true(fd < 0);
	fd = process_open((uint32_t)getpid(), "/../../etc/passwd", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
	assert_int_equal(process_open((uint32_t)getpid(), "/nowhere/at/all", O_RDONLY), -ENOENT);
	assert_int_equal(process_open(0x7fffffff, "/etc", O_RDONLY), -ENOENT);
}

static void inside_of_namespaces(void **state)
{
	struct process_facts p = {};

	(void)state;
	assert_true(process_parse_status("Name:\tTgid\nUmask:\t0022\nTgid:\t4321\nPid:\t4322\n"
					 "Uid:\t1000\t1001\t1002\t1003\nGid:\t5\t6\t7\t8\n"
					 "NStgid:\t4321\t77\t1\nNSpid:\t4322\t78\t2\n",
					 &p));
	assert_int_equal(p.pid, 4321);
	assert_int_equal(p.pid_inside, 1);
	assert_int_equal(p.uid, 1001);
	assert_int_equal(p.gid, 6);
	assert_false(process_parse_status("Name:\tx\nTgid:\t4321\n", &p));
	assert_false(process_parse_status("Name:\tx\nTgid:\t99999999999\nUid:\t1\t1\n", &p));
}

static void beginnings(void **state)
{
	uint64_t ticks;

	(void)state;
	assert_true(
		process_parse_start("7 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "
				    "4711 20 21",
				    &ticks));
	assert_int_equal(ticks, 4711);
	assert_false(process_parse_start("7 (a) S 1 2 3", &ticks));
	assert_false(process_parse_start("", &ticks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ourselves),
		cmocka_unit_test(as_it_sees_files),
		cmocka_unit_test(inside_of_namespaces),
		cmocka_unit_test(beginnings),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
