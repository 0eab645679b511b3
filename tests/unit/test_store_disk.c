/*
 * What disks do to the store: full, read-only, without rights, a file that is damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/schema.h"
#include "store/store.h"
#include "store_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

/* ---- full ---- */

/* In a mount namespace of this process's own: the machine's mounts stay as they are. */
static bool mount_disk(const char *path, const char *options)
{
	static bool own;

	if (!own && unshare(CLONE_NEWNS))
		return false;
	own = true;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	fs_mkdir_p(path);
	return mount("tmpfs", path, "tmpfs", 0, options) == 0;
}

/* Its path. Skipping leaves the test without cleaning up: this is the first thing that it does. */
static char *small_disk(const char *name, const char *options)
{
	const char *path = in_dir(name);

	if (!mount_disk(path, options)) {
		print_message("# SKIP mounting a small disk takes root, and '/' to be a mount\n");
		skip();
	}
	return xstrdup(path);
}

static void test_disk_full(void **state)
{
	CLEANUP(free_ptr) char *disk = small_disk("disk", "size=4m");
	CLEANUP(free_ptr) char *directory = xasprintf("%s/data", disk);
	CLEANUP(free_ptr) char *filler = xasprintf("%s/filler", disk);
	struct store *s;
	struct found found = {};
	char piece[PIECE_BYTES] = "", *much;
	uint64_t n = 1, committed = 0;
	int64_t run;
	int result = 0, fd;

	(void)state;
	s = open_store(directory);
	run = new_run(s);
	for (; !result && n < 10000; n++) {
		memcpy(piece, &n, sizeof(n));
		result = store_begin(s, &error);
		for (int i = 0; i < ROWS_EACH && !result; i++)
			result = store_output_add(s, run, 1, n, piece, sizeof(piece), &error);
		if (!result)
			result = store_commit(s, &error);
		else
			store_rollback(s);
		if (!result)
			committed = n;
	}
	assert_int_equal(result, -ENOSPC);
	assert_non_null(strstr(error.text, "is full"));
	assert_true(committed > 10);
	/* Still full, still clear; what was stored can be read. */
	much = xcalloc(1, 2 << 20);
	assert_int_equal(store_output_add(s, run, 1, n, much, 2 << 20, &error), -ENOSPC);
	free(much);
	OK(store_output_each(s, run, 0, find_piece, &found, &error));
	assert_int_equal(found.last, committed);
	assert_int_equal(found.in_last, ROWS_EACH);
	/* With room it goes on, without being opened anew. */
	assert_int_equal(mount("tmpfs", disk, "tmpfs", MS_REMOUNT, "size=16m"), 0);
	n = committed + 1;
	memcpy(piece, &n, sizeof(n));
	for (int i = 0; i < ROWS_EACH; i++)
		OK(store_output_add(s, run, 1, n, piece, sizeof(piece), &error));
	found = (struct found){};
	OK(store_output_each(s, run, 0, find_piece, &found, &error));
	assert_int_equal(found.last, committed + 1);
	store_close(s);
	check_integrity(directory);
	/* A disk without room for even an empty one. */
	fd = open(filler, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	while (write(fd, piece, sizeof(piece)) > 0)
		;
	close(fd);
	free(directory);
	directory = xasprintf("%s/second", disk);
	assert_int_equal(store_open(&s, &(struct store_options){.directory = directory}, &error),
			 -ENOSPC);
	umount2(disk, MNT_DETACH);
}

/* Who reads keeps the log from going into the file: then all that is stored waits in it. */
static sqlite3 *begin_reading(const char *directory)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT COUNT(*) FROM runs;", NULL, NULL, NULL),
			 SQLITE_OK);
	return db;
}

static void fill_disk(struct store *s, int64_t run)
{
	struct chunk_info info = {
		.schema = SCHEMA_SAMPLES, .sampled = true, .rows = 1, .first_ns = 1, .last_ns = 1};
	CLEANUP(free_ptr) char *bytes = xcalloc(1, 100000);

	while (!store_chunk_add(s, run, 0, &info, bytes, 100000, NULL, 0, NULL, &error))
		;
	assert_int_equal(error.code, ENOSPC);
	/* Whatever room the log had left is gone, too. */
	while (!store_note_add(s, run, 1, "x", &error))
		;
}

static void delete_on_a_full_disk(const char *name, bool reading)
{
	CLEANUP(free_ptr) char *disk = small_disk(name, "size=40m");
	CLEANUP(free_ptr) char *directory = xasprintf("%s/data", disk);
	struct store *s;
	sqlite3 *reader = NULL;
	uint64_t size, unused;
	int64_t run;
	bool more = true;

	s = open_store(directory);
	run = new_run(s);
	if (reading)
		reader = begin_reading(directory);
	fill_disk(s, run);
	sqlite3_close(reader);
	assert_true(fs_exists("%s/reserve", directory));
	OK(store_run_delete(s, run, &error));
	while (more)
		OK(store_purge(s, 0, 4 << 20, &more, &error));
	while (store_shrink(s, 1 << 20))
		;
	OK(store_size(s, &size, &unused, &error));
	assert_true(size < 1 << 20);
	assert_false(fs_exists("%s/reserve", directory));
	store_reserve(s);
	assert_true(fs_exists("%s/reserve", directory));
	OK(store_note_add(s, new_run(s), 1, "x", &error));
	store_close(s);
	umount2(disk, MNT_DETACH);
}

/* A full disk can be made less full by deleting: that takes a little room, which there is. */
static void test_deleting_on_a_full_disk(void **state)
{
	(void)state;
	delete_on_a_full_disk("disk2", false);
}

static void test_deleting_with_a_long_log(void **state)
{
	(void)state;
	delete_on_a_full_disk("disk3", true);
}

/* ---- read-only, damaged ---- */

static void test_read_only_disk(void **state)
{
	CLEANUP(free_ptr) char *disk = small_disk("frozen", "size=4m");
	CLEANUP(free_ptr) char *directory = xasprintf("%s/data", disk);
	struct store *s;

	(void)state;
	s = open_store(directory);
	new_run(s);
	store_close(s);
	s = NULL;
	assert_int_equal(mount("tmpfs", disk, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=4m"), 0);
	assert_int_equal(store_open(&s, &(struct store_options){.directory = directory}, &error),
			 -EROFS);
	assert_non_null(strstr(error.text, "cannot be written"));
	free(directory);
	directory = xasprintf("%s/new", disk);
	assert_int_equal(store_open(&s, &(struct store_options){.directory = directory}, &error),
			 -EROFS);
	assert_non_null(strstr(error.text, "cannot be made"));
	assert_null(s);
	umount2(disk, MNT_DETACH);
}

/* As somebody who may not: root may everything, so a child becomes nobody first. */
static int open_as_nobody(const char *directory)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct store *s = NULL;
		struct err e = {};
		int result;

		if (!geteuid() && (setgid(65534) || setuid(65534)))
			_exit(99);
		result = store_open(&s, &(struct store_options){.directory = directory}, &e);
		_exit(result == -EACCES || result == -EROFS ? !strstr(e.text, "cannot be") : 98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_directory_without_rights(void **state)
{
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("closed"));
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	CLEANUP(free_ptr) char *inside = xasprintf("%s/new", directory);

	(void)state;
	store_close(open_store(directory));
	assert_int_equal(chmod(support_dir, 0755), 0);
	assert_int_equal(chmod(path, 0644), 0);
	/* The file can be read, nothing can be made beside it. */
	assert_int_equal(chmod(directory, 0555), 0);
	assert_int_equal(open_as_nobody(directory), 0);
	assert_int_equal(open_as_nobody(inside), 0);
	assert_int_equal(chmod(directory, 0), 0);
	assert_int_equal(open_as_nobody(directory), 0);
	assert_int_equal(chmod(directory, 0700), 0);
}

static void test_not_a_database(void **state)
{
	CLEANUP(free_ptr) char *text = xcalloc(1, 10000);
	struct store *s = NULL;

	(void)state;
	memset(text, 'x', 9999);
	write_text("text/tacho.db", text);
	assert_int_equal(
		store_open(&s, &(struct store_options){.directory = in_dir("text")}, &error),
		-EUCLEAN);
	assert_non_null(strstr(error.text, "damaged, or not a database"));
	assert_null(s);
}

static int keep_quiet(void *ctx, int stream, uint64_t time_ns, const void *bytes, size_t size)
{
	(void)ctx;
	(void)stream;
	(void)time_ns;
	(void)bytes;
	(void)size;
	return 0;
}

static void test_damaged(void **state)
{
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("damaged"));
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	struct store *s = open_store(directory);
	int64_t run = new_run(s);
	char piece[PIECE_BYTES], noise[4096];
	int fd, result;

	(void)state;
	for (int i = 0; i < 100; i++)
		OK(store_output_add(s, run, 1, 1, piece, sizeof(piece), &error));
	store_close(s);
	memset(noise, 0x5a, sizeof(noise));
	fd = open(path, O_RDWR | O_CLOEXEC);
	for (int page = 30; page < 90; page++)
		assert_int_equal(pwrite(fd, noise, sizeof(noise), page * 4096), sizeof(noise));
	close(fd);
	s = NULL;
	result = store_open(&s, &(struct store_options){.directory = directory}, &error);
	if (!result)
		result = store_output_each(s, run, 0, keep_quiet, NULL, &error);
	assert_int_equal(result, -EUCLEAN);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_deleting_on_a_full_disk),
		cmocka_unit_test(test_deleting_with_a_long_log),
		cmocka_unit_test(test_read_only_disk),
		cmocka_unit_test(test_directory_without_rights),
		cmocka_unit_test(test_not_a_database),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
