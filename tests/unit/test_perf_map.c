/* Maps of JITs: lines, overlaps, and whose files are believed. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/perf_map.h"
#include "support.h"

#include <fcntl.h>

static const char *name_at(const struct symtab *t, uint64_t address)
{
	const struct symbol *s = symtab_find(t, address);

	return s ? symtab_name(t, s) : "";
}

static uint64_t parse(const char *text, struct symtab *ret)
{
	uint64_t bad = perf_map_parse(text, strlen(text), ret);

	symtab_finish(ret);
	return bad;
}

static void lines_of_all_runtimes(void **state)
{
	struct symtab t = {};

	(void)state;
	assert_int_equal(parse("0x00007f8108ec71c0 0x0000000000000270 long Work.deep(int)\n"
			       "7f0000001000 40 LazyCompile:~spin /srv/app.js:3:7\r\n"
			       "7f0000002000 20 py::fib:/srv/fib.py\n"
			       "7F0000003000 A Lfoo/Bar;::baz",
			       &t),
			 0);
	assert_int_equal(t.symbols.len, 4);
	assert_string_equal(name_at(&t, 0x7f8108ec71c0), "long Work.deep(int)");
	assert_string_equal(name_at(&t, 0x7f8108ec742f), "long Work.deep(int)");
	assert_string_equal(name_at(&t, 0x7f8108ec7430), "");
	assert_string_equal(name_at(&t, 0x7f0000001001), "LazyCompile:~spin /srv/app.js:3:7");
	assert_string_equal(name_at(&t, 0x7f000000201f), "py::fib:/srv/fib.py");
	assert_string_equal(name_at(&t, 0x7f0000003009), "Lfoo/Bar;::baz");
	symtab_release(&t);
}

static void what_is_no_line(void **state)
{
	struct symtab t = {};

	(void)state;
	assert_int_equal(parse("\n\n1000 10\n1000 10 \nxyz 10 a\n1000 0 nothing\n"
			       "ffffffffffffffff 10 beyond\n11111111111111111 1 long\n"
			       "2000 10 good\n-1 10 a\n",
			       &t),
			 7);
	assert_int_equal(t.symbols.len, 1);
	assert_string_equal(name_at(&t, 0x2000), "good");
	symtab_release(&t);
}

static void later_lines_win(void **state)
{
	struct symtab t = {};

	(void)state;
	assert_int_equal(parse("1000 1000 old\n1400 100 inside\n1000 10 head\n1f00 200 tail\n"
			       "1400 100 inside again\n3000 10 first\n3000 20 second\n"
			       "3000 10 third\n",
			       &t),
			 0);
	assert_string_equal(name_at(&t, 0x1000), "head");
	assert_string_equal(name_at(&t, 0x1010), "old");
	assert_string_equal(name_at(&t, 0x13ff), "old");
	assert_string_equal(name_at(&t, 0x1400), "inside again");
	assert_string_equal(name_at(&t, 0x1500), "old");
	assert_string_equal(name_at(&t, 0x1f00), "tail");
	assert_string_equal(name_at(&t, 0x20ff), "tail");
	assert_string_equal(name_at(&t, 0x2100), "");
	assert_string_equal(name_at(&t, 0x300f), "third");
	assert_string_equal(name_at(&t, 0x3010), "second");
	symtab_release(&t);
}

/* Every address by the last line that has it, the slow way round. */
static void overlaps_by_the_slow_way(void **state)
{
	CLEANUP(buf_release) struct buf text = {};
	struct symtab t = {};
	char slow[512][16] = {};
	unsigned seed = 7;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		unsigned start, size;

		seed = seed * 1103515245 + 12345;
		start = seed >> 8 & 255;
		size = 1 + (seed >> 17 & 63);
		buf_addf(&text, "%x %x n%u\n", start, size, i);
		for (unsigned k = start; k < start + size; k++)
			snprintf(slow[k], sizeof(slow[k]), "n%u", i);
	}
	parse(buf_str(&text), &t);
	for (unsigned k = 0; k < ARRAY_LEN(slow); k++)
		assert_string_equal(name_at(&t, k), slow[k]);
	symtab_release(&t);
}

/* ---- files ---- */

#define MAP_PID 4194000u /* above what a kernel gives by default: nobody's */

static void kept_copy(void **state)
{
	struct perf_map_source s = {
		.pid = MAP_PID, .uid = PERF_MAP_UID_UNKNOWN, .kept_dir = support_dir};
	struct symtab t = {};
	struct err e = {};
	char *path = NULL;

	(void)state;
	assert_int_equal(perf_map_load(&s, &t, &path, &e), -ENOENT);
	write_text("perf-4194000.map", "1000 10 kept\n");
	assert_int_equal(perf_map_load(&s, &t, &path, &e), 0);
	assert_string_equal(path, in_dir("perf-4194000.map"));
	assert_string_equal(name_at(&t, 0x1008), "kept");
	free(path);
	symtab_release(&t);
}

static void whose_and_how_old(void **state)
{
	const char *path;
	uint64_t written_ns;
	struct err e = {};
	struct stat st;
	int fd;

	(void)state;
	write_text("map", "1000 10 a\n");
	path = in_dir("map");
	assert_int_equal(stat(path, &st), 0);
	written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	assert_int_equal(
		perf_map_open_path(path, rights_of_asker(), geteuid(), written_ns, &fd, &e), 0);
	close(fd);
	assert_int_equal(perf_map_open_path(path, rights_of_asker(), geteuid(),
					    written_ns + 1000000000, &fd, &e),
			 -ESTALE);
	assert_non_null(strstr(e.text, "older than the process"));
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 1234, 1234), 0);
		assert_int_equal(perf_map_open_path(path, rights_of_asker(), 1235, 0, &fd, &e),
				 -EPERM);
		assert_int_equal(perf_map_open_path(path, rights_of_asker(), PERF_MAP_UID_UNKNOWN,
						    0, &fd, &e),
				 -EPERM);
		assert_int_equal(perf_map_open_path(path, rights_of_asker(), 1234, 0, &fd, &e), 0);
		close(fd);
	}
	assert_int_equal(perf_map_open_path(support_dir, rights_of_asker(), 0, 0, &fd, &e),
			 -EINVAL);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	assert_int_equal(perf_map_open_path(in_dir("fifo"), rights_of_asker(), 0, 0, &fd, &e),
			 -EINVAL);
	assert_int_equal(symlink(path, in_dir("link")), 0);
	assert_true(perf_map_open_path(in_dir("link"), rights_of_asker(), 0, 0, &fd, &e) < 0);
}

/* Names that are missing because of the limit are not missing silently. */
static void too_many_lines_are_told(void **state)
{
	struct symtab t = {};
	struct buf text = {};

	(void)state;
	for (size_t i = 0; i < PERF_MAP_LINES_MAX; i++)
		buf_add(&text, "1 1 f\n");
	perf_map_parse(text.s, text.len, &t);
	assert_int_equal(t.refused, 0);
	buf_add(&text, "2 1 g\n");
	perf_map_parse(text.s, text.len, &t);
	assert_int_equal(t.refused, 1);
	symtab_release(&t);
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_all_runtimes),
		cmocka_unit_test(what_is_no_line),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(overlaps_by_the_slow_way),
		cmocka_unit_test(kept_copy),
		cmocka_unit_test(whose_and_how_old),
		cmocka_unit_test(too_many_lines_are_told),
	};

	return cmocka_run_group_tests_name("perf_map", tests, make_support_dir, remove_support_dir);
}
