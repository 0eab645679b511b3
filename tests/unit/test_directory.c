/* The data directory: what is refused in it, and what is set aside. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/directory.h"
#include "store/store.h"
#include "store_support.h"

#include <fcntl.h>

#define NOBODY 65534

static struct directory dir;

static int begin(void **state)
{
	static unsigned count;
	char name[32];

	(void)state;
	snprintf(name, sizeof(name), "d%u", count++);
	return directory_open(&dir, in_dir(name), true, &error);
}

static int end(void **state)
{
	(void)state;
	directory_close(&dir);
	return 0;
}

static const char *inside(const char *name)
{
	static char path[600];

	snprintf(path, sizeof(path), "%s/%s", dir.path, name);
	return path;
}

static void make(const char *name)
{
	OK(directory_write(&dir, name, "text", &error));
}

/* The file is refused by a sentence with these words, however it is opened. */
static void refused(const char *name, const char *words)
{
	CLEANUP(free_ptr) char *text = NULL;

	assert_int_equal(directory_check_file(&dir, name, &error), -EACCES);
	assert_non_null(strstr(error.text, words));
	assert_int_equal(directory_open_file(&dir, name, O_RDWR | O_CREAT, &error), -EACCES);
	assert_non_null(strstr(error.text, words));
	assert_int_equal(directory_read(&dir, name, 100, &text, &error), -EACCES);
	assert_null(text);
}

static void directory_refused(const char *path, const char *words)
{
	struct directory d;

	assert_int_equal(directory_open(&d, path, true, &error), -EACCES);
	assert_non_null(strstr(error.text, words));
	assert_non_null(strstr(error.text, "--data DIR"));
	directory_close(&d);
}

static void test_own_files_pass(void **state)
{
	CLEANUP(free_ptr) char *text = NULL;
	struct stat st;
	int fd;

	(void)state;
	OK(directory_check_file(&dir, "missing", &error));
	make("x");
	OK(directory_check_file(&dir, "x", &error));
	OK(directory_read(&dir, "x", 100, &text, &error));
	assert_string_equal(text, "text");
	fd = directory_open_file(&dir, "new", O_RDWR | O_CREAT, &error);
	OK(fd);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close(fd);
}

static void test_links_are_refused(void **state)
{
	struct directory below;

	(void)state;
	make("x");
	assert_int_equal(symlink("x", inside("link")), 0);
	refused("link", "symbolic link");
	assert_int_equal(symlink("nowhere", inside("dangling")), 0);
	refused("dangling", "symbolic link");
	assert_int_equal(access(inside("nowhere"), F_OK), -1);
	assert_int_equal(linkat(dir.fd, "x", dir.fd, "hard", 0), 0);
	refused("hard", "2 names");
	assert_int_equal(symlink("/tmp", inside("raw")), 0);
	assert_int_equal(directory_open_below(&below, &dir, "raw", true, &error), -EACCES);
	assert_non_null(strstr(error.text, "symbolic link"));
	directory_close(&below);
}

static void test_what_is_no_file_is_refused(void **state)
{
	struct directory below;

	(void)state;
	assert_int_equal(mkfifo(inside("pipe"), 0600), 0);
	refused("pipe", "pipe");
	make("raw");
	assert_int_equal(directory_open_below(&below, &dir, "raw", true, &error), -EACCES);
	directory_close(&below);
}

static void test_what_others_can_write_is_refused(void **state)
{
	struct directory below;

	(void)state;
	make("x");
	assert_int_equal(chmod(inside("x"), 0620), 0);
	refused("x", "chmod go-w");
	assert_int_equal(mkdirat(dir.fd, "raw", 0700), 0);
	assert_int_equal(chmod(inside("raw"), 01777), 0);
	assert_int_equal(directory_open_below(&below, &dir, "raw", true, &error), -EACCES);
	directory_close(&below);
	assert_int_equal(fchmod(dir.fd, 0770), 0);
	directory_refused(dir.path, "chmod go-w");
	assert_int_equal(fchmod(dir.fd, 0755), 0);
	OK(directory_open(&below, dir.path, false, &error));
	directory_close(&below);
}

static void test_what_others_own_is_refused(void **state)
{
	struct directory d;

	(void)state;
	if (geteuid()) {
		print_message("# SKIP giving files to another user takes root\n");
		skip();
	}
	make("x");
	assert_int_equal(chown(inside("x"), NOBODY, NOBODY), 0);
	refused("x", "belongs to another user");
	assert_int_equal(fchown(dir.fd, NOBODY, NOBODY), 0);
	directory_refused(dir.path, "belongs to another user");
	assert_int_equal(fchown(dir.fd, 0, 0), 0);
	/* A link to a directory of ours: by us, or by somebody who may have meant another one. */
	assert_int_equal(symlink(dir.path, in_dir("link")), 0);
	OK(directory_open(&d, in_dir("link/"), true, &error));
	directory_close(&d);
	assert_int_equal(lchown(in_dir("link"), NOBODY, NOBODY), 0);
	directory_refused(in_dir("link/"), "symbolic link of another user");
	assert_int_equal(unlink(in_dir("link")), 0);
}

/* The database itself is opened by SQLite, by its path. */
static void test_planted_databases_are_refused(void **state)
{
	static const char *const names[] = {"tacho.db", "tacho.db-wal", "tacho.db-shm"};
	struct store_options options = {.directory = dir.path};
	struct store *s = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(symlink(in_dir("victim"), inside(names[i])), 0);
		assert_int_equal(store_open(&s, &options, &error), -EACCES);
		assert_null(s);
		assert_int_equal(access(in_dir("victim"), F_OK), -1);
		assert_int_equal(unlink(inside(names[i])), 0);
	}
	OK(store_open(&s, &options, &error));
	store_close(s);
}

/* ---- setting aside ---- */

static void test_set_aside(void **state)
{
	const struct timespec times[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
	CLEANUP(free_ptr) char *first = NULL, *second = NULL, *text = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(mkdirat(dir.fd, "raw", 0700), 0);
	make("raw/x.data");
	assert_int_equal(utimensat(dir.fd, "raw/x.data", times, 0), 0);
	OK(directory_set_aside(&dir, "raw/x.data", &first, &error));
	assert_string_equal(first, "lost/20231114-221320-x.data");
	make("raw/x.data");
	assert_int_equal(utimensat(dir.fd, "raw/x.data", times, 0), 0);
	OK(directory_set_aside(&dir, "raw/x.data", &second, &error));
	assert_string_equal(second, "lost/20231114-221320.2-x.data");
	OK(directory_read(&dir, first, 100, &text, &error));
	assert_int_equal(stat(inside("lost"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_true(directory_set_aside(&dir, "raw/x.data", NULL, &error) < 0);
}

/* SQLite would delete the log of a database that was moved away without it. */
static void test_the_log_of_another_database_is_kept(void **state)
{
	struct store_options options = {.directory = dir.path};
	CLEANUP(free_ptr) char *lost = xasprintf("%s/lost", dir.path);
	CLEANUP(strvec_release) strvec names = {};
	struct store *s = NULL;

	(void)state;
	make("tacho.db-wal");
	OK(store_open(&s, &options, &error));
	store_close(s);
	OK(fs_list(lost, &names));
	assert_int_equal(names.len, 1);
	assert_non_null(strstr(names.items[0], "-tacho.db-wal"));
}

#define DIRECTORY_TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIRECTORY_TEST(test_own_files_pass),
		DIRECTORY_TEST(test_links_are_refused),
		DIRECTORY_TEST(test_what_is_no_file_is_refused),
		DIRECTORY_TEST(test_what_others_can_write_is_refused),
		DIRECTORY_TEST(test_what_others_own_is_refused),
		DIRECTORY_TEST(test_planted_databases_are_refused),
		DIRECTORY_TEST(test_set_aside),
		DIRECTORY_TEST(test_the_log_of_another_database_is_kept),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
