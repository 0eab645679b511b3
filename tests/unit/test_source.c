/* Lines of source files: endings, limits, paths that are changed, what is no file. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/source.h"
#include "support.h"

static void lines(void **state)
{
	const strvec none = {};
	struct sources *s = sources_new(&none, &none, NULL);
	const struct source_file *f;

	(void)state;
	write_text("a.c", "one\n\ntwo\r\nlast");
	write_text("ended.c", "one\n");
	write_text("empty.c", "");
	f = sources_get(s, in_dir("a.c"), rights_of_asker());
	assert_null(f->problem);
	assert_int_equal(f->starts.len, 4);
	assert_string_equal(source_line(f, 1), "one");
	assert_string_equal(source_line(f, 2), "");
	assert_string_equal(source_line(f, 3), "two");
	assert_string_equal(source_line(f, 4), "last");
	assert_null(source_line(f, 0));
	assert_null(source_line(f, 5));
	assert_true(f->modified > 0);
	assert_int_equal(sources_get(s, in_dir("ended.c"), rights_of_asker())->starts.len, 1);
	assert_null(source_line(sources_get(s, in_dir("empty.c"), rights_of_asker()), 1));
	/* Once read, it stays, whatever becomes of the file. */
	unlink(in_dir("a.c"));
	assert_ptr_equal(sources_get(s, in_dir("a.c"), rights_of_asker()), f);
	sources_free(s);
}

static void problems(void **state)
{
	const strvec none = {};
	struct sources *s = sources_new(&none, &none, NULL);
	const struct source_file *f = sources_get(s, in_dir("none.c"), rights_of_asker());

	(void)state;
	assert_non_null(strstr(f->problem, "none.c': No such file"));
	assert_null(source_line(f, 1));
	assert_int_equal(mkfifo(in_dir("pipe.c"), 0600), 0);
	assert_non_null(strstr(sources_get(s, in_dir("pipe.c"), rights_of_asker())->problem,
			       "not an ordinary file"));
	assert_non_null(strstr(sources_get(s, support_dir, rights_of_asker())->problem,
			       "not an ordinary file"));
	write_text("huge.c", "x");
	assert_int_equal(truncate(in_dir("huge.c"), (off_t)SOURCE_FILE_BYTES_MAX + 1), 0);
	assert_non_null(
		strstr(sources_get(s, in_dir("huge.c"), rights_of_asker())->problem, "too large"));
	sources_free(s);
}

static void changed_paths(void **state)
{
	char *old[] = {(char *)"/build/x", (char *)"/build/"},
	     *new[] = {support_dir, (char *)"/b2/"};
	strvec from = {old, 2, 2}, to = {new, 2, 2};
	const strvec none = {};
	struct sources *s;
	char *path;

	(void)state;
	write_text("sub/m.c", "moved\n");
	s = sources_new(&from, &to, NULL);
	assert_string_equal(source_line(sources_get(s, "/build/x/sub/m.c", rights_of_asker()), 1),
			    "moved");
	sources_free(s);
	path = source_path(&from, &to, "/build/xy/m.c");
	assert_string_equal(path, "/b2/xy/m.c");
	free(path);
	path = source_path(&from, &to, "/other/m.c");
	assert_string_equal(path, "/other/m.c");
	free(path);
	/* Below symfs first; what is not there is looked for where it is said to be. */
	s = sources_new(&none, &none, support_dir);
	assert_string_equal(source_line(sources_get(s, "/sub/m.c", rights_of_asker()), 1), "moved");
	assert_string_equal(source_line(sources_get(s, in_dir("sub/m.c"), rights_of_asker()), 1),
			    "moved");
	sources_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(problems),
		cmocka_unit_test(changed_paths),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
