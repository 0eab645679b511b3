/* The place for what is kept of processes: copies, and the oldest making room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/io.h"
#include "collect/keep/ids.h"
#include "collect/keep/internal.h"
#include "collect/keep/keeper.h"
#include "symbol/debug_cache.h"
#include "symbol/jit_keep.h"
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utime.h>

static void where_it_is(void **state)
{
	char *dir;

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("cache"), 1);
	dir = jit_keep_dir(0x1234abcd);
	assert_string_equal(dir, in_dir("cache/tacho/jit/000000001234abcd"));
	free(dir);
	assert_null(jit_keep_dir(0));
}

static void a_copy(void **state)
{
	char *text = NULL, *dir;
	struct err e = {};
	struct stat st;
	int fd;

	(void)state;
	dir = xstrdup(in_dir("kept/deep"));
	write_text("original", "1000 10 name");
	fd = open(in_dir("original"), O_RDONLY);
	assert_int_equal(jit_keep_file(dir, "perf-1.map", fd, &e), 0);
	assert_int_equal(fs_read(in_dir("kept/deep/perf-1.map"), 1000, &text), 0);
	assert_string_equal(text, "1000 10 name");
	assert_int_equal(stat(in_dir("kept/deep/perf-1.map"), &st), 0);
	assert_int_equal(st.st_mode & 077, 0);
	free(text);
	free(dir);
	dir = xstrdup(in_dir("original/below"));
	assert_true(jit_keep_file(dir, "perf-1.map", fd, &e) < 0);
	assert_non_null(strstr(e.text, "cannot make"));
	free(dir);
	close(fd);
}

static void age(const char *name, time_t when)
{
	struct utimbuf times = {when, when};

	assert_int_equal(utime(in_dir(name), &times), 0);
}

/* Memory is a file system of its own: neither blocks nor a copy inside the kernel can be had there. */
static void copies_between_file_systems(void **state)
{
	char name[] = "/dev/shm/tacho-test.XXXXXX", text[32] = "";
	int fd = mkstemp(name);
	FILE *elsewhere, *here;

	(void)state;
	if (fd < 0) {
		print_message("# SKIP there is no /dev/shm to write to\n");
		skip();
	}
	unlink(name);
	elsewhere = fdopen(fd, "w+");
	assert_non_null(elsewhere);
	write_text("to", "");
	here = fopen(in_dir("to"), "w+");
	assert_non_null(here);
	fputs("0123456789", elsewhere);
	fflush(elsewhere);
	assert_int_equal(io_clone_or_copy(fileno(elsewhere), fileno(here), 9), -EFBIG);
	assert_int_equal(io_clone_or_copy(fileno(elsewhere), fileno(here), 10), 0);
	assert_int_equal(pread(fileno(here), text, sizeof(text), 0), 10);
	assert_string_equal(text, "0123456789");
	fclose(elsewhere);
	fclose(here);
}

static const struct file_origin root_only = {.owner = 0},
				roots = {.owner = 0, .for_everybody = true};

static char *kept_program(uint64_t recording, const char *name, const struct file_identity *f)
{
	char *dir = jit_keep_dir(recording), *path = jit_keep_program_path(dir, f), *text = NULL;
	int fd = open(in_dir(name), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(jit_keep_program(dir, f, &root_only, fd, NULL), 0);
	assert_int_equal(fs_read(path, 1000, &text), 0);
	close(fd);
	free(dir);
	free(text);
	return path;
}

static void programs_without_a_build_id(void **state)
{
	struct file_identity f = {.major = 8, .minor = 1, .inode = 2, .generation = 3},
			     unknown = {};
	char *first, *second, *third, *text = NULL;
	struct stat a, b, c;

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("cache"), 1);
	write_text("program", "one build");
	assert_int_equal(chmod(in_dir("program"), 0700), 0);
	first = kept_program(0x11, "program", &f);
	second = kept_program(0x12, "program", &f);
	/* Written over where it is: all that is known by is the same, but for its time. */
	write_text("program", "the other");
	age("program", 1000);
	third = kept_program(0x13, "program", &f);
	assert_int_equal(stat(first, &a) | stat(second, &b) | stat(third, &c), 0);
	assert_int_equal(a.st_ino, b.st_ino);
	assert_int_not_equal(a.st_ino, c.st_ino);
	assert_int_equal(a.st_mode & 0777, 0600);
	assert_int_equal(fs_read(first, 1000, &text), 0);
	assert_string_equal(text, "one build");
	assert_null(jit_keep_program_path("/dir", &unknown));
	free(text);
	free(first);
	free(second);
	free(third);
}

static void trim(const char *name, unsigned depth, uint64_t bytes, size_t count, const char *spared)
{
	keep_trim_dir(in_dir(name), depth, &(struct keep_limits){bytes, count, spared});
}

static void oldest_go_first(void **state)
{
	(void)state;
	write_text("trim/a/perf-1.map", "0123456789");
	write_text("trim/b/perf-1.map", "0123456789");
	write_text("trim/b/jit-1.dump", "0123456789");
	write_text("trim/c/perf-1.map", "0123456789");
	age("trim/a/perf-1.map", 2000);
	age("trim/b/perf-1.map", 1000);
	age("trim/b/jit-1.dump", 1001);
	age("trim/c/perf-1.map", 3000);
	trim("trim", 1, 40, 5, NULL);
	assert_true(fs_exists("%s/trim/b/perf-1.map", support_dir));
	trim("trim", 1, 39, 5, NULL);
	assert_false(fs_exists("%s/trim/b", support_dir));
	assert_true(fs_exists("%s/trim/a/perf-1.map", support_dir));
	trim("trim", 1, 10, 5, NULL);
	assert_false(fs_exists("%s/trim/a", support_dir));
	assert_true(fs_exists("%s/trim/c/perf-1.map", support_dir));
}

static void there_are_not_too_many(void **state)
{
	CLEANUP(strvec_release) strvec names = {};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "many/%u", i);
		assert_int_equal(fs_mkdir_p(in_dir(name)), 0);
	}
	write_text("many/5/perf-1.map", "young");
	trim("many", 1, 1000, 5, NULL);
	assert_int_equal(fs_list(in_dir("many"), &names), 0);
	assert_int_equal(names.len, 5);
	assert_true(fs_exists("%s/many/5/perf-1.map", support_dir));
}

static void two_levels(void **state)
{
	(void)state;
	write_text("ids/ab/cdef/elf-1234", "0123456789");
	write_text("ids/12/3456/elf", "0123456789");
	age("ids/12/3456/elf", 1000);
	trim("ids", 2, 15, 5, NULL);
	assert_true(fs_exists("%s/ids/ab/cdef/elf-1234", support_dir));
	assert_false(fs_exists("%s/ids/12/3456", support_dir));
}

/* Only what is in the store, and only what was put there. */
static void nothing_else_is_removed(void **state)
{
	(void)state;
	write_text("victim/ab/elf", "0123456789");
	write_text("safe/mine/perf-1.map", "0123456789");
	write_text("safe/mine/thesis.txt", "0123456789");
	assert_int_equal(symlink(in_dir("victim/ab"), in_dir("safe/link")), 0);
	assert_int_equal(symlink(in_dir("victim"), in_dir("whole")), 0);
	trim("whole", 1, 0, 0, NULL);
	trim("safe", 1, 0, 0, NULL);
	assert_true(fs_exists("%s/victim/ab/elf", support_dir));
	assert_true(fs_exists("%s/safe/mine/thesis.txt", support_dir));
	assert_false(fs_exists("%s/safe/mine/perf-1.map", support_dir));
	write_text("deep/xx/inside/elf", "0123456789");
	assert_int_equal(symlink(in_dir("victim"), in_dir("deep/yy")), 0);
	trim("deep", 2, 0, 0, NULL);
	assert_false(fs_exists("%s/deep/xx/inside", support_dir));
	assert_true(fs_exists("%s/victim/ab/elf", support_dir));
}

static void caches_of_others_are_left_alone(void **state)
{
	struct build_id id = {2, {0xab, 0xcd}};
	struct err e = {};
	char *owner;
	int fd;

	(void)state;
	if (geteuid()) {
		print_message("# SKIP only root can give a directory to somebody else\n");
		skip();
	}
	setenv("XDG_CACHE_HOME", in_dir("theirs"), 1);
	write_text("theirs/tacho/jit/1/perf-1.map", "0123456789");
	owner = xstrdup(in_dir("theirs/tacho/jit"));
	assert_int_equal(chown(owner, 1234, 1234), 0);
	trim("theirs/tacho/jit", 1, 0, 0, NULL);
	assert_true(fs_exists("%s/theirs/tacho/jit/1/perf-1.map", support_dir));
	free(owner);
	owner = xstrdup(in_dir("theirs/tacho"));
	assert_int_equal(chown(owner, 1234, 1234), 0);
	write_text("own-program", "bytes");
	fd = open(in_dir("own-program"), O_RDONLY);
	assert_int_equal(debug_cache_keep(&id, &root_only, fd, DEBUG_CACHE_COPY, &e), -EPERM);
	close(fd);
	assert_non_null(strstr(e.text, "belongs to another user"));
	assert_false(fs_exists("%s/theirs/tacho/build-id", support_dir));
	free(owner);
}

static unsigned mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(in_dir(name), &st), 0);
	return st.st_mode & 0777;
}

static void keep(const struct build_id *id, const struct file_origin *origin, const char *text)
{
	int fd;

	write_text("original", text);
	fd = open(in_dir("original"), O_RDONLY);
	assert_int_equal(debug_cache_keep(id, origin, fd, DEBUG_CACHE_COPY, NULL), 0);
	close(fd);
}

/* The directory of the original may be closed to others, and its copy is elsewhere. */
static void copies_are_for_the_user_alone(void **state)
{
	struct build_id id = {2, {0xab, 0xcd}};

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("private"), 1);
	keep(&id, &root_only, "bytes");
	assert_int_equal(mode_of("private/tacho/build-id/ab/cd/elf-0"), 0600);
	/* The mode says who could read the original, not who reaches the copy. */
	keep(&id, &roots, "bytes");
	assert_int_equal(mode_of("private/tacho/build-id/ab/cd/elf-0"), 0644);
	assert_int_equal(mode_of("private/tacho/build-id/ab/cd"), 0700);
	assert_int_equal(mode_of("private/tacho/build-id"), 0700);
	assert_int_equal(mode_of("private/tacho"), 0700);
}

/* The texts of all copies that may be used with the rights @r. */
static void assert_found(const struct build_id *id, const struct rights *r, const char *wanted)
{
	CLEANUP(strvec_release) strvec paths = {};
	CLEANUP(buf_release) struct buf found = {};

	debug_cache_find(id, r, &paths);
	vec_each(&paths, path) {
		CLEANUP(free_ptr) char *text = NULL;

		assert_int_equal(fs_read(*path, 1000, &text), 0);
		buf_addf(&found, "%s%s", found.len ? ", " : "", text);
	}
	assert_string_equal(buf_str(&found), wanted);
}

/* A build id can be made up: what one user's program put into the cache stands for no other's. */
static void each_owner_has_a_copy(void **state)
{
	const struct file_origin mine = {.owner = geteuid()}, theirs = {.owner = 4321},
				 nobodys = {.owner = FILE_OWNER_UNKNOWN};
	struct build_id id = {2, {0xab, 0xd0}};

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("private"), 1);
	keep(&id, &nobodys, "nobody's");
	keep(&id, &theirs, "theirs");
	assert_false(debug_cache_touch(&id, &mine));
	keep(&id, &mine, "mine");
	assert_true(debug_cache_touch(&id, &mine));
	assert_found(&id, rights_of_asker(), "mine, theirs, nobody's");
	rights_set_rule(RIGHTS_TASKS);
	assert_found(&id, rights_of_asker(), "mine");
	assert_found(&id, rights_of_unknown(), "");
	rights_set_rule(RIGHTS_PUBLIC);
	keep(&id, &(struct file_origin){4321, true}, "theirs, for everybody");
	assert_found(&id, rights_of_unknown(), "");
	keep(&id, &roots, "root's, for everybody");
	assert_found(&id, rights_of_unknown(), "root's, for everybody");
	/* A copy that everybody may read is not replaced by one that they may not. */
	keep(&id, &root_only, "root's");
	assert_found(&id, rights_of_unknown(), "root's, for everybody");
	assert_true(debug_cache_touch(&id, &root_only));
	rights_set_rule(RIGHTS_ASKER);
}

/* With sudo, the cache may be the caller's: he has chosen what is in it. */
static void copies_in_another_users_cache(void **state)
{
	struct build_id id = {2, {0xab, 0xd1}};
	CLEANUP(free_ptr) char *path = NULL;

	(void)state;
	if (geteuid()) {
		print_message("# SKIP only root can give a file to somebody else\n");
		skip();
	}
	setenv("XDG_CACHE_HOME", in_dir("private"), 1);
	keep(&id, &roots, "chosen");
	path = debug_cache_path(&id, &roots);
	assert_int_equal(chown(path, 1234, 1234), 0);
	assert_found(&id, rights_of_asker(), "chosen");
	rights_set_rule(RIGHTS_PUBLIC);
	assert_found(&id, rights_of_unknown(), "");
	rights_set_rule(RIGHTS_ASKER);
}

/* A copy that fails leaves nothing behind. */
static void no_empty_directories(void **state)
{
	struct build_id id = {2, {0xab, 0xce}};

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("private"), 1);
	assert_true(debug_cache_keep(&id, &root_only, -1, DEBUG_CACHE_COPY, NULL) < 0);
	assert_true(fs_exists("%s/private/tacho/build-id/ab", support_dir));
	assert_false(fs_exists("%s/private/tacho/build-id/ab/ce", support_dir));
}

/* A recording may be larger than all that is kept of others. */
static void the_current_recording_stays(void **state)
{
	struct timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 1}, {.tv_sec = 1000, .tv_nsec = 1}};

	(void)state;
	write_text("now/a/perf-1.map", "0123456789");
	write_text("now/b/perf-1.map", "0123456789");
	write_text("now/c/perf-1.map", "0123456789");
	for (char name[] = "now/a/perf-1.map"; name[4] <= 'c'; name[4]++, times[1].tv_nsec ^= 3)
		assert_int_equal(utimensat(AT_FDCWD, in_dir(name), times, 0), 0);
	/* Nanoseconds: a 1, b 2, c 1. The oldest that may go is c. */
	trim("now", 1, 20, 5, "a");
	assert_true(fs_exists("%s/now/a/perf-1.map", support_dir));
	assert_true(fs_exists("%s/now/b/perf-1.map", support_dir));
	assert_false(fs_exists("%s/now/c", support_dir));
	trim("now", 1, 0, 0, "a");
	assert_true(fs_exists("%s/now/a/perf-1.map", support_dir));
	assert_false(fs_exists("%s/now/b", support_dir));
}

/* Written over where it is, a file keeps its identity: the time of the mapping tells the builds apart. */
static void ids_of_a_file_that_is_written_over(void **state)
{
	struct file_identity f = {.major = 8, .minor = 1, .inode = 2, .generation = 3},
			     other = {.major = 8, .minor = 1, .inode = 3, .generation = 3};
	struct build_id first = {2, {1, 1}}, second = {2, {2, 2}}, none = {};
	struct file_ids ids = {};

	(void)state;
	assert_null(file_ids_find(&ids, &f, 150));
	file_ids_add(&ids, &f, 100, &first);
	file_ids_add(&ids, &f, 200, &second);
	file_ids_add(&ids, &f, 300, &none);
	assert_null(file_ids_find(&ids, &f, 99));
	assert_memory_equal(file_ids_find(&ids, &f, 0), &first, sizeof(first));
	assert_memory_equal(file_ids_find(&ids, &f, 100), &first, sizeof(first));
	assert_memory_equal(file_ids_find(&ids, &f, 199), &first, sizeof(first));
	assert_memory_equal(file_ids_find(&ids, &f, 299), &second, sizeof(second));
	assert_null(file_ids_find(&ids, &f, 300));
	assert_null(file_ids_find(&ids, &other, 150));
	file_ids_release(&ids);
}

/* Without a watch a mapping is told of twice, and room is taken once. */
static void a_mapping_that_is_told_of_twice(void **state)
{
	struct held_files files = {.ids_only = true, .by_process = true};
	struct seen_mapping m = {.pid = (uint32_t)getpid(), .start = 0x1000, .length = 0x1000};
	struct file_version version;

	(void)state;
	write_text("mapped", "bytes");
	m.path = xstrdup(in_dir("mapped"));
	assert_true(held_files_see(&files, &m, false, &version));
	assert_false(held_files_see(&files, &m, false, &version));
	assert_int_equal(files.ranges.len, 1);
	m.start += 0x1000;
	assert_false(held_files_see(&files, &m, false, &version));
	assert_int_equal(files.ranges.len, 2);
	/* Other contents at the same place. */
	write_text("mapped", "more bytes");
	assert_true(held_files_see(&files, &m, false, &version));
	held_files_release(&files);
	free(m.path);
}

/* A program with a build id, and a hole that makes it as large as said. */
static void see_program(struct held_files *files, const char *name, off_t size, bool delete)
{
	struct seen_mapping m = {.pid = (uint32_t)getpid(), .start = 0x1000, .length = 0x1000};
	static char bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY);
	ssize_t n = read(from, bytes, sizeof(bytes));
	struct file_version version;

	assert_true(n > 0);
	close(from);
	write_mem(name, bytes, (size_t)n);
	assert_int_equal(truncate(in_dir(name), size), 0);
	m.path = xstrdup(in_dir(name));
	assert_true(held_files_see(files, &m, false, &version));
	if (!version.id.size) {
		print_message("# SKIP this test was linked without a build id\n");
		skip();
	}
	if (delete)
		unlink(m.path);
	free(m.path);
}

static size_t count_open(const struct held_files *files)
{
	size_t count = 0;

	vec_each(&files->files, file)
		count += file->fd >= 0;
	return count;
}

/* Whoever deletes a file wants its room back. */
static void deleted_files_are_held_up_to_a_limit(void **state)
{
	struct held_files files = {};
	off_t each = (off_t)KEEP_FILE_BYTES_MAX;
	char name[32];

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("no-cache"), 1);
	see_program(&files, "huge", each + 1, false);
	assert_int_equal(files.files.len, 1);
	assert_int_equal(count_open(&files), 0);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "deleted-%d", i);
		see_program(&files, name, each, true);
	}
	see_program(&files, "there", each, false);
	assert_int_equal(files.files.len, 8);
	assert_int_equal(count_open(&files), KEEPER_DELETED_BYTES_MAX / (uint64_t)each + 1);
	held_files_copy_hit(&files, NULL, 0);
	assert_int_equal(files.refused, 8);
	held_files_release(&files);
	unlink(in_dir("huge"));
	unlink(in_dir("there"));
}

static void see(struct keeper *k, uint32_t pid, const char *path)
{
	struct record r = {.type = PERF_RECORD_MMAP2,
			   .mmap = {.pid = pid,
				    .tid = pid,
				    .start = 0x10000,
				    .length = 0x1000,
				    .prot = PROT_EXEC,
				    .filename = path}};

	keeper_see(k, &r);
}

/* State of the only other thread: 'S' is asleep. */
static char other_thread_state(void)
{
	char name[300], state = '?';
	DIR *all = opendir("/proc/self/task");
	struct dirent *one;

	assert_non_null(all);
	while ((one = readdir(all))) {
		FILE *f;

		if (one->d_name[0] == '.' || atoi(one->d_name) == (int)getpid())
			continue;
		snprintf(name, sizeof(name), "/proc/self/task/%s/stat", one->d_name);
		f = fopen(name, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = '?';
		if (f)
			fclose(f);
	}
	closedir(all);
	return state;
}

/* The keeper is woken by what it is told of, and sleeps again when it has looked at all of it. */
static void wait_until_idle(void)
{
	for (int i = 0; i < 120000 && other_thread_state() != 'S'; i++)
		usleep(1000);
	assert_int_equal(other_thread_state(), 'S');
}

/* After days of builds, names of code are kept as at the beginning. */
static void many_processes_before(void **state)
{
	struct topology topology = {};
	struct target nobody = {};
	struct keeper_options o = {
		.target = &nobody, .topology = &topology, .wall_ns = 0x5678, .clock_ns = 1};
	char *name = xasprintf("/tmp/perf-%d.map", (int)getpid()), *kept;
	struct keeper *k = keeper_new(&o);
	strvec notes = {};
	FILE *map = fopen(name, "w");

	(void)state;
	setenv("XDG_CACHE_HOME", in_dir("cache"), 1);
	assert_non_null(map);
	fputs("10000 100 made\n", map);
	fclose(map);
	keeper_start(k);
	/* Numbers that no process has; the queue has room for a part of them. */
	for (uint32_t i = 0; i < 80000; i++) {
		see(k, 0x20000000 + i, "/bin/true");
		if (i % 20000 == 0)
			wait_until_idle();
	}
	wait_until_idle();
	see(k, (uint32_t)getpid(), "//anon");
	keeper_finish(k, &(struct keeper_end){.hurried = true}, &notes);
	kept = xasprintf("%s/perf-%d.map", in_dir("cache/tacho/jit/0000000000005678"),
			 (int)getpid());
	unlink(name);
	assert_int_equal(access(kept, R_OK), 0);
	free(name);
	free(kept);
	strvec_release(&notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_between_file_systems),
		cmocka_unit_test(programs_without_a_build_id),
		cmocka_unit_test(where_it_is),
		cmocka_unit_test(a_copy),
		cmocka_unit_test(oldest_go_first),
		cmocka_unit_test(two_levels),
		cmocka_unit_test(there_are_not_too_many),
		cmocka_unit_test(nothing_else_is_removed),
		cmocka_unit_test(caches_of_others_are_left_alone),
		cmocka_unit_test(the_current_recording_stays),
		cmocka_unit_test(copies_are_for_the_user_alone),
		cmocka_unit_test(each_owner_has_a_copy),
		cmocka_unit_test(copies_in_another_users_cache),
		cmocka_unit_test(no_empty_directories),
		cmocka_unit_test(ids_of_a_file_that_is_written_over),
		cmocka_unit_test(a_mapping_that_is_told_of_twice),
		cmocka_unit_test(deleted_files_are_held_up_to_a_limit),
		cmocka_unit_test(many_processes_before),
	};

	return cmocka_run_group_tests_name("keep", tests, make_support_dir, remove_support_dir);
}
