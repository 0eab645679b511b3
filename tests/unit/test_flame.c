/* What is shown of a profile: names, groups, folded lines, the picture, differences. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/tree/diff.h"
#include "export/svg.h"
#include "export/svg_diff.h"
#include "import/text.h"

#include <math.h>
#include <string.h>

static bool gather(void *ctx, struct buf *bytes)
{
	buf_add_mem(ctx, bytes->s, bytes->len);
	buf_clear(bytes);
	return true;
}

static void profile_of(struct profile *p, const char *folded)
{
	struct text_import t = {.profile = p, .format = &text_folded};

	profile_init(p);
	assert_int_equal(text_import_feed(&t, folded, strlen(folded), NULL), 0);
	text_import_end(&t);
}

static void write_view(const struct view *v, const struct exporter *x,
		       const struct export_options *o, struct buf *to)
{
	struct export_out out = {.write = gather, .ctx = to};

	assert_int_equal(x->run(v, o, &out, NULL), 0);
	gather(to, &out.buf);
	buf_release(&out.buf);
}

static size_t count_of(const struct buf *text, const char *needle)
{
	size_t n = 0;

	for (const char *at = buf_str(text); (at = strstr(at, needle)); at++)
		n++;
	return n;
}

/* ---- names ---- */

static void assert_name(const char *name, bool jit, const char *expected)
{
	struct buf b = {};

	add_folded_name(&b, name, jit);
	assert_string_equal(buf_str(&b), expected);
	buf_release(&b);
}

static void names_are_tidied(void **state)
{
	(void)state;
	assert_name("ns::f<int>(char, long)", false, "ns::f<int>");
	assert_name("(anonymous namespace)::f(int)", false, "(anonymous namespace)::f");
	assert_name("net/http.(*Client).Do", false, "net/http.(*Client).Do");
	assert_name("a;b", false, "a:b");
	assert_name("RegExp:[&<>\"']", true, "RegExp:[&<>]");
	assert_name("Lorg/Foo;::call(I)V", true, "org/Foo:::call");
	assert_name("Lorg/Foo;::call", false, "Lorg/Foo:::call");
	assert_name("a->b->c", true, "a;b_[i];c_[i]");
	assert_name("T::operator->", false, "T::operator->");
}

static void unnamed_code_is_its_module(void **state)
{
	struct profile p;
	struct shown_names n;
	struct profile_function f = {};
	function_id a, b, k;

	(void)state;
	profile_init(&p);
	f.module = profile_module(&p, "/usr/lib/libx.so", NULL, CODE_USER);
	f.name = profile_string(&p, "libx.so+0x12");
	f.start = 0x12;
	a = profile_function(&p, &f);
	f.name = profile_string(&p, "libx.so+0x34");
	f.start = 0x34;
	b = profile_function(&p, &f);
	f.module = profile_module(&p, "[kernel.kallsyms]", NULL, CODE_KERNEL);
	k = profile_function(&p, &f);
	shown_names_make(&n, &p, NAMES_PLAIN);
	assert_int_equal(n.as[a.n].n, n.as[b.n].n);
	assert_string_equal(shown_name(&n, b), "[libx.so]");
	assert_string_equal(shown_name(&n, k), "[kernel.kallsyms]");
	shown_names_release(&n);
	shown_names_make(&n, &p, NAMES_FOLDED);
	assert_string_equal(shown_name(&n, k), "[[kernel.kallsyms]]");
	shown_names_release(&n);
	profile_release(&p);
}

/* ---- the picture ---- */

static void picture_escapes_and_leaves_out(void **state)
{
	struct profile p;
	struct view v;
	struct buf svg = {};
	struct export_options o = {.title = "a<b&\x01\xff", .subtitle = "", .min_pct = 5};

	(void)state;
	profile_of(&p, "main;std::less<int> 90\nmain;x&y 9\nmain;tiny;deeper 1\n");
	view_build(&v, &p, &(struct view_options){});
	write_view(&v, &export_svg, &o, &svg);
	assert_non_null(strstr(svg.s, "<title>a&lt;b&amp;?"
				      "?</title>"));
	assert_non_null(strstr(svg.s, "<title>std::less&lt;int&gt;\n90 samples, 90.00 %</title>"));
	assert_non_null(strstr(svg.s, "<title>x&amp;y\n"));
	assert_null(strstr(svg.s, "tiny"));
	assert_non_null(strstr(svg.s, "2 frames below 5.00 % are not drawn"));
	/* all, main and two more */
	assert_int_equal(count_of(&svg, "samples, "), 4);
	buf_release(&svg);
	view_release(&v);
	profile_release(&p);
}

static void picture_places_by_name(void **state)
{
	struct profile p;
	struct view v;
	struct buf svg = {};
	struct export_options o = {.title = "", .icicle = true};

	(void)state;
	profile_of(&p, "m;b 50\nm;a 25\nm 25\n");
	view_build(&v, &p, &(struct view_options){});
	write_view(&v, &export_svg, &o, &svg);
	assert_non_null(strstr(svg.s, "<rect x=\"0%\" y=\"36\" width=\"25%\" height=\"17\""));
	assert_non_null(strstr(svg.s, "<rect x=\"25%\" y=\"36\" width=\"50%\" height=\"17\""));
	buf_release(&svg);
	view_release(&v);
	profile_release(&p);
}

static void shades_are_those_of_names(void **state)
{
	bool used[SVG_SHADES] = {};
	size_t count = 0;

	(void)state;
	/* What is in a released picture must stay so. */
	assert_int_equal(svg_shade_of("main"), svg_shade_of("main"));
	for (char c = 'a'; c <= 'z'; c++) {
		char name[] = {'f', c, '\0'};

		count += !used[svg_shade_of(name)];
		used[svg_shade_of(name)] = true;
	}
	assert_int_equal(count, SVG_SHADES);
}

/* ---- differences ---- */

struct two {
	struct profile p[2];
	struct view v[2];
	struct diff d;
};

static void compare(struct two *t, const char *before, const char *after, bool normalize)
{
	profile_of(&t->p[0], before);
	profile_of(&t->p[1], after);
	for (int i = 0; i < 2; i++)
		view_build(&t->v[i], &t->p[i], &(struct view_options){.join_inlined = true});
	diff_build(&t->d, &t->v[0], &t->v[1], normalize);
}

static void forget(struct two *t)
{
	diff_release(&t->d);
	for (int i = 0; i < 2; i++) {
		view_release(&t->v[i]);
		profile_release(&t->p[i]);
	}
}

static const struct diff_function *function_in(const struct diff_table *table, const struct diff *d,
					       const char *name)
{
	vec_each(&table->functions, f)
		if (!strcmp(diff_text(d, f->name), name))
			return f;
	fail_msg("no function %s", name);
	return NULL;
}

static void changes_are_shares(void **state)
{
	struct diff_table table;
	const struct diff_function *f;
	struct two t;

	(void)state;
	/* Twice as long altogether, and twice the share for g. */
	compare(&t, "m;f 75\nm;g 25\n", "m;f 100\nm;g 100\n", true);
	diff_table_make(&table, &t.d);
	f = function_in(&table, &t.d, "g");
	assert_true(fabs(f->self[0] - 0.25) < 1e-9 && fabs(f->self[1] - 0.5) < 1e-9);
	f = function_in(&table, &t.d, "m");
	assert_true(f->self[0] == 0 && fabs(f->total[1] - 1) < 1e-9);
	diff_table_release(&table);
	forget(&t);
	compare(&t, "m;f 75\nm;g 25\n", "m;f 100\nm;g 100\n", false);
	diff_table_make(&table, &t.d);
	f = function_in(&table, &t.d, "f");
	assert_true(fabs(f->self[0] - 0.375) < 1e-9 && fabs(f->self[1] - 0.5) < 1e-9);
	diff_table_release(&table);
	forget(&t);
}

static void everything_is_gone(void **state)
{
	for (int normalize = 0; normalize < 2; normalize++) {
		struct diff_table table;
		const struct diff_function *f;
		struct two t;

		compare(&t, "m;f 75\nm;g 25\n", "", normalize);
		diff_table_make(&table, &t.d);
		f = function_in(&table, &t.d, "f");
		assert_true(fabs(f->self[0] - 0.75) < 1e-9 && f->self[1] == 0);
		diff_table_release(&table);
		forget(&t);
	}
	(void)state;
}

static void recursion_counts_once(void **state)
{
	struct diff_table table;
	const struct diff_function *f;
	struct two t;

	(void)state;
	compare(&t, "m;r;r;r 5\nm;r;x;r 5\n", "m;r 10\n", true);
	diff_table_make(&table, &t.d);
	f = function_in(&table, &t.d, "r");
	assert_true(fabs(f->total[0] - 1) < 1e-9 && fabs(f->self[0] - 1) < 1e-9);
	diff_table_release(&table);
	forget(&t);
}

static void inlined_functions_meet(void **state)
{
	struct two t;

	(void)state;
	compare(&t, "m;f 1\n", "m;f_[i] 1\n", true);
	assert_int_equal(t.d.nodes.len, 3);
	forget(&t);
}

static void what_is_gone_is_shown_below(void **state)
{
	struct diff_svg_options o = {.export = {.title = "", .subtitle = ""}, .names = {"A", "B"}};
	struct buf svg = {};
	struct export_out out = {.write = gather, .ctx = &svg};
	const char *section;
	struct two t;

	(void)state;
	compare(&t, "m;f 50\nm;gone;deep 50\n", "m;f 50\nm;new 50\n", true);
	export_diff_svg(&t.d, &o, &out);
	gather(&svg, &out.buf);
	section = strstr(svg.s, "Only before (A): 50.00 %");
	assert_non_null(section);
	assert_non_null(strstr(section, "<title>deep\n"));
	assert_null(strstr(section, "<title>new\n"));
	assert_true(strstr(svg.s, "<title>new\n") < section);
	assert_true(strstr(svg.s, "<title>deep\n") > section);
	/* The other way round. */
	buf_clear(&svg);
	o.negate = true;
	export_diff_svg(&t.d, &o, &out);
	gather(&svg, &out.buf);
	section = strstr(svg.s, "Only after (B): 50.00 %");
	assert_non_null(section);
	assert_non_null(strstr(section, "<title>new\n"));
	buf_release(&out.buf);
	buf_release(&svg);
	forget(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_tidied),
		cmocka_unit_test(unnamed_code_is_its_module),
		cmocka_unit_test(picture_escapes_and_leaves_out),
		cmocka_unit_test(picture_places_by_name),
		cmocka_unit_test(shades_are_those_of_names),
		cmocka_unit_test(changes_are_shares),
		cmocka_unit_test(everything_is_gone),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(inlined_functions_meet),
		cmocka_unit_test(what_is_gone_is_shown_below),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
