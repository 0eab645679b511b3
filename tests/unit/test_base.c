/* The foundation: strings, numbers, options, bounded reading, files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/json.h"
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "support.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <strings.h>

/* ---- buf ---- */

static void buf_grows(void **state)
{
	struct buf b = {};

	(void)state;
	assert_string_equal(buf_str(&b), "");
	for (int i = 0; i < 10000; i++) {
		buf_add_char(&b, (char)('a' + i % 26));
		assert_int_equal(b.len, i + 1);
		assert_true(b.cap > b.len);
		assert_int_equal(b.s[b.len], '\0');
	}
	for (int i = 0; i < 10000; i++)
		assert_int_equal(b.s[i], 'a' + i % 26);
	buf_clear(&b);
	assert_string_equal(buf_str(&b), "");
	buf_add_mem(&b, "a\0b", 3);
	assert_int_equal(b.len, 3);
	assert_memory_equal(b.s, "a\0b", 4);
	buf_release(&b);
	assert_null(b.s);
}

static void buf_formats(void **state)
{
	struct buf b = {};
	char *wide;

	(void)state;
	buf_addf(&b, "%s", "");
	assert_string_equal(buf_str(&b), "");
	buf_addf(&b, "%d-%s", -5, "x");
	/* Around the size that is guessed first, and far past it. */
	for (int width = 100; width < 300; width++) {
		size_t before = b.len;

		buf_addf(&b, "%*d", width, width);
		assert_int_equal(b.len, before + (size_t)width);
	}
	assert_memory_equal(b.s, "-5-x ", 5);
	buf_clear(&b);
	buf_addf(&b, "%100000s|", "end");
	assert_int_equal(b.len, 100001);
	assert_string_equal(b.s + 99997, "end|");
	buf_pad(&b, 3, '.');
	assert_string_equal(b.s + 99997, "end|...");
	wide = buf_steal(&b);
	assert_int_equal(strlen(wide), 100004);
	assert_int_equal(b.len, 0);
	free(wide);
	wide = buf_steal(&b);
	assert_string_equal(wide, "");
	free(wide);
}

static void assert_wrapped(const char *text, size_t indent, size_t width, const char *want)
{
	struct buf b = {};

	buf_add_wrapped(&b, text, indent, width);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void buf_wraps(void **state)
{
	(void)state;
	assert_wrapped("", 2, 10, "");
	assert_wrapped("one two", 0, 10, "one two");
	assert_wrapped("one two three four", 0, 9, "one two\nthree\nfour");
	assert_wrapped("one two three four", 2, 11, "one two\n  three\n  four");
	assert_wrapped("a  b   c", 0, 80, "a b c");
	assert_wrapped("exactly ten", 0, 11, "exactly ten");
	assert_wrapped("exactly tenn", 0, 11, "exactly\ntenn");
	/* A word that is wider than the line stays whole. */
	assert_wrapped("a incomprehensibility b", 1, 8, "a\n incomprehensibility\n b");
	assert_wrapped("first\nsecond line", 3, 12, "first\n   second\n   line");
	assert_wrapped("para\n\nnext", 2, 20, "para\n\n  next");
}

/* ---- JSON ---- */

static void assert_quoted(const char *text, const char *want)
{
	struct buf b = {};
	struct json j = jw_to(&b);
	json_t *back;

	jw_str(&j, text);
	assert_string_equal(buf_str(&b), want);
	back = json_loads(buf_str(&b), JSON_DECODE_ANY, NULL);
	assert_non_null(back);
	json_decref(back);
	buf_release(&b);
}

static void json_strings(void **state)
{
	(void)state;
	assert_quoted("", "\"\"");
	assert_quoted("plain", "\"plain\"");
	assert_quoted("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	assert_quoted("\n\t\r\b\x1b\x7f", "\"\\n\\t\\u000d\\u0008\\u001b\\u007f\"");
	assert_quoted("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		      "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
	assert_quoted(NULL, "null");
}

#define BAD "\xef\xbf\xbd"

static void json_bad_utf8(void **state)
{
	(void)state;
	assert_quoted("\xff", "\"" BAD "\"");
	assert_quoted("a\x80z", "\"a" BAD "z\"");
	assert_quoted("\xc3", "\"" BAD "\""); /* ends too early */
	assert_quoted("\xe2\x82", "\"" BAD BAD "\"");
	assert_quoted("\xf0\x9f\x98", "\"" BAD BAD BAD "\"");
	assert_quoted("\xc0\xaf", "\"" BAD BAD "\""); /* longer than needed */
	assert_quoted("\xe0\x80\x80", "\"" BAD BAD BAD "\"");
	assert_quoted("\xed\xa0\x80", "\"" BAD BAD BAD "\"");         /* half of a surrogate pair */
	assert_quoted("\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\""); /* above U+10FFFF */
	assert_quoted("\xf8\x88\x80\x80\x80", "\"" BAD BAD BAD BAD BAD "\"");
	assert_quoted("\xc3(", "\"" BAD "(\"");
}

/* Any two bytes give something that parses. */
static void json_every_pair(void **state)
{
	struct buf b = {};

	(void)state;
	for (unsigned i = 0; i < 65536; i++) {
		char text[] = {(char)(i >> 8), (char)i, 'x', '\0'};
		struct json j = jw_to(&b);
		json_t *back;

		buf_clear(&b);
		jw_str(&j, text);
		back = json_loads(buf_str(&b), JSON_DECODE_ANY, NULL);
		if (!back)
			fail_msg("%04x gives %s", i, buf_str(&b));
		json_decref(back);
	}
	buf_release(&b);
}

static void json_nesting(void **state)
{
	struct buf b = {};
	struct json j = jw_to(&b);

	(void)state;
	jw_open(&j, '{');
	jw_kv_str(&j, "s", "x");
	jw_key(&j, "empty");
	jw_open(&j, '[');
	jw_close(&j, ']');
	jw_key(&j, "list");
	jw_open(&j, '[');
	jw_u64(&j, UINT64_MAX);
	jw_i64(&j, INT64_MIN);
	jw_open(&j, '{');
	jw_kv_bool(&j, "t", true);
	jw_kv_bool(&j, "f", false);
	jw_close(&j, '}');
	jw_null(&j);
	jw_close(&j, ']');
	jw_kv_u64(&j, "\"", 0);
	jw_kv_str(&j, "none", NULL);
	jw_close(&j, '}');
	assert_string_equal(buf_str(&b),
			    "{\"s\":\"x\",\"empty\":[],"
			    "\"list\":[18446744073709551615,-9223372036854775808,"
			    "{\"t\":true,\"f\":false},null],\"\\\"\":0,\"none\":null}");
	buf_release(&b);
}

static void json_doubles(void **state)
{
	struct buf b = {};
	struct json j = jw_to(&b);

	(void)state;
	jw_open(&j, '[');
	jw_double(&j, NAN);
	jw_double(&j, INFINITY);
	jw_double(&j, -INFINITY);
	jw_double(&j, 0.5);
	jw_double(&j, -1e300);
	jw_double(&j, 123456789);
	jw_open(&j, '{');
	jw_kv_double(&j, "k", NAN);
	jw_close(&j, '}');
	jw_close(&j, ']');
	assert_string_equal(buf_str(&b), "[null,null,null,0.5,-1e+300,123456789,{\"k\":null}]");
	buf_release(&b);
}

/* ---- numbers ---- */

static void integers(void **state)
{
	static const char *const wrong[] = {"",    " 1",   "1 ",  "1x",
					    "0x1", "--1",  "+-1", "9223372036854775808",
					    "abc", "1.5",  "1e3", "-9223372036854775809",
					    "-",   "\n1\n"};
	long long v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (parse_i64(wrong[i], &v))
			fail_msg("'%s' was taken for %lld", wrong[i], v);
		assert_int_equal(v, 7);
	}
	assert_true(parse_i64("9223372036854775807", &v) && v == LLONG_MAX);
	assert_true(parse_i64("-9223372036854775808", &v) && v == LLONG_MIN);
	assert_true(parse_i64("-0", &v) && v == 0);
	assert_true(parse_i64("010", &v) && v == 10);
}

static void unsigned_integers(void **state)
{
	static const char *const wrong[] = {"",     "-1",
					    "+1",   " 1",
					    "0xg",  "1 ",
					    "08",   "0x",
					    "x1",   "1,",
					    "0b1",  "18446744073709551616",
					    "1e19", "0x1ffffffffffffffff"};
	uint64_t v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (parse_u64(wrong[i], &v))
			fail_msg("'%s' was taken for %llu", wrong[i], (unsigned long long)v);
		assert_int_equal(v, 7);
	}
	assert_true(parse_u64("18446744073709551615", &v) && v == UINT64_MAX);
	assert_true(parse_u64("0xFFFFffffFFFFffff", &v) && v == UINT64_MAX);
	assert_true(parse_u64("0", &v) && v == 0);
	assert_true(parse_u64("017", &v) && v == 15);
}

static void hex_numbers(void **state)
{
	uint64_t v = 7;

	(void)state;
	assert_false(parse_hex("", 0, &v));
	assert_false(parse_hex("0x1", 3, &v));
	assert_false(parse_hex("12g", 3, &v));
	assert_false(parse_hex("00000000000000001", 17, &v));
	assert_int_equal(v, 7);
	assert_true(parse_hex("12g", 2, &v) && v == 0x12);
	assert_true(parse_hex("fFfFfFfFfFfFfFfF", 16, &v) && v == UINT64_MAX);
	assert_true(parse_hex("a8", 2, &v) && v == 0xa8);
}

static void doubles(void **state)
{
	static const char *const wrong[] = {"",   "nan", "inf", "-infinity", "1e999", "1.5x",
					    " 1", "1 ",  ".",   "0,5",       "e3",    "--1"};
	double v = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (parse_double(wrong[i], &v))
			fail_msg("'%s' was taken for %g", wrong[i], v);
		assert_true(v == 7);
	}
	assert_true(parse_double("2.3283064365386962890625e-10", &v) && v == 0x1p-32);
	assert_true(parse_double("-1.5", &v) && v == -1.5);
	assert_true(parse_double("1e-999", &v) && v == 0);
}

static void assert_cpulist(const char *text, const char *want)
{
	struct buf b = {};
	size_t count = 0;
	int *cpus = NULL;

	if (!parse_cpulist(text, 64, &cpus, &count))
		fail_msg("'%s' was refused", text);
	for (size_t i = 0; i < count; i++)
		buf_addf(&b, "%s%d", i ? " " : "", cpus[i]);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	free(cpus);
}

static void cpu_lists(void **state)
{
	static const char *const wrong[] = {
		"64",      "0-64",         "5-3",  "-1",  ",0",
		"0,",      "0,,1",         "all",  "0-",  "-",
		"0-7:1/4", "0 1",          "0--1", " 0",  "18446744073709551616",
		"+1",      "0-4294967295", "1;2",  "0x1", "4294967296",
		"0-3-5"};
	int *untouched = (int *)&state, *cpus = untouched;
	size_t count = 99;

	(void)state;
	assert_cpulist("", "");
	assert_cpulist("0", "0");
	assert_cpulist("63", "63");
	assert_cpulist("0-3,8", "0 1 2 3 8");
	assert_cpulist("8,0-3,2-4,8", "0 1 2 3 4 8");
	assert_cpulist("5-5", "5");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		if (parse_cpulist(wrong[i], 64, &cpus, &count))
			fail_msg("'%s' was accepted", wrong[i]);
		assert_ptr_equal(cpus, untouched);
		assert_int_equal(count, 99);
	}
	assert_true(parse_cpulist("0-65535", CPU_LIMIT, &cpus, &count));
	assert_int_equal(count, CPU_LIMIT);
	assert_int_equal(cpus[CPU_LIMIT - 1], CPU_LIMIT - 1);
	free(cpus);
}

/* ---- options ---- */

struct values {
	bool all, aggregate;
	unsigned verbose, number;
	const char *separator, *output, *when;
	option_list events;
	option_items ordered;
};

static const struct option_def table[] = {
	{0, NULL, NULL, OPT_HEADING, 0, "What to count"},
	{'a', "all-cpus", NULL, OPT_FLAG, offsetof(struct values, all), ""},
	{'A', "no-aggr", NULL, OPT_FLAG, offsetof(struct values, aggregate), ""},
	{'v', "verbose", NULL, OPT_COUNT, offsetof(struct values, verbose), ""},
	{'e', "event", "EVENT", OPT_LIST, offsetof(struct values, events), ""},
	{0, NULL, NULL, OPT_HEADING, 0, "How to show it"},
	{'x', "field-separator", "TEXT", OPT_STR, offsetof(struct values, separator), ""},
	{'o', "output", "FILE", OPT_STR, offsetof(struct values, output), ""},
	{0, "output-format", "WORD", OPT_STR, offsetof(struct values, output), ""},
	{'r', "repeat", "N", OPT_UINT, offsetof(struct values, number), ""},
	{'c', "color", "WHEN", OPT_OPTIONAL, offsetof(struct values, when), ""},
	{'s', "source", "NAME", OPT_ORDERED, offsetof(struct values, ordered), ""},
	{0, "where", "EXPR", OPT_ORDERED, offsetof(struct values, ordered), ""},
	{},
};

struct outcome {
	struct values v;
	int r, used;
	bool help;
	struct err e;
};

/* Words are split at spaces; '_' is an empty word. */
static struct outcome options(const char *line)
{
	static char *words[64], copy[512];
	struct outcome o = {.used = -1};
	char *rest;
	int n = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		words[n++] = strcmp(w, "_") ? w : (char *)"";
	o.r = option_parse(table, &o.v, n, words, &o.used, &o.help, &o.e);
	return o;
}

static void assert_refused(const char *line, const char *sentence)
{
	struct outcome o = options(line);

	assert_int_equal(o.r, -EINVAL);
	assert_string_equal(o.e.text, sentence);
	assert_int_equal(o.used, -1);
	vec_release(&o.v.events);
}

/* Rows that share a list keep the order in which they were given. */
static void option_order(void **state)
{
	static const char *const expected[] = {"s a", "- b", "s c", "s d", "- e"};
	struct outcome o = options("--where=z");

	(void)state;
	assert_int_equal(o.v.ordered.len, 1);
	vec_release(&o.v.ordered);
	o = options("-s a --where b -a --source=c -sd --where=e f");
	assert_int_equal(o.r, 0);
	assert_int_equal(o.used, 8);
	assert_int_equal(o.v.ordered.len, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		const struct option_item *item = &o.v.ordered.items[i];
		char text[8];

		snprintf(text, sizeof(text), "%c %s",
			 item->option->letter ? item->option->letter : '-', item->value);
		assert_string_equal(text, expected[i]);
	}
	vec_release(&o.v.ordered);
	assert_refused("--where", "option --where needs a value");
}

static void sizes(void **state)
{
	static const char *const wrong[] = {"",   "K",   "-1", "1X",          "1.5M",
					    "0x", "1KB", "M1", "99999999999G"};
	static const struct {
		const char *text;
		uint64_t bytes;
	} right[] = {{"0", 0},     {"3", 3 * 4096}, {"3B", 3},       {"2k", 2048},
		     {"2K", 2048}, {"5M", 5 << 20}, {"1G", 1 << 30}, {"1T", 1ull << 40}};
	uint64_t bytes = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (parse_bytes(wrong[i], 4096, &bytes))
			fail_msg("'%s' was taken for a size", wrong[i]);
	assert_int_equal(bytes, 7);
	for (size_t i = 0; i < ARRAY_LEN(right); i++) {
		assert_true(parse_bytes(right[i].text, 4096, &bytes));
		assert_true(bytes == right[i].bytes);
	}
}

static void option_letters(void **state)
{
	struct outcome o = options("-aAvv -x, -e cycles -einstructions -r 5 -vo out rest -a");

	(void)state;
	assert_int_equal(o.r, 0);
	assert_true(o.v.all && o.v.aggregate && !o.help);
	assert_int_equal(o.v.verbose, 3);
	assert_string_equal(o.v.separator, ",");
	assert_int_equal(o.v.number, 5);
	assert_string_equal(o.v.output, "out");
	assert_int_equal(o.v.events.len, 2);
	assert_string_equal(o.v.events.items[0], "cycles");
	assert_string_equal(o.v.events.items[1], "instructions");
	assert_int_equal(o.used, 9);
	vec_release(&o.v.events);

	o = options("-x -a");
	assert_string_equal(o.v.separator, "-a");
	assert_false(o.v.all);
	o = options("-x _ -a");
	assert_string_equal(o.v.separator, "");
	assert_true(o.v.all);
}

static void option_names(void **state)
{
	struct outcome o = options("--all-cpus --field-separator=; --repeat 0x10 --color");

	(void)state;
	assert_int_equal(o.r, 0);
	assert_true(o.v.all);
	assert_string_equal(o.v.separator, ";");
	assert_int_equal(o.v.number, 16);
	assert_string_equal(o.v.when, "");
	o = options("--color=never --output=a=b");
	assert_string_equal(o.v.when, "never");
	assert_string_equal(o.v.output, "a=b");
	o = options("-c16");
	assert_string_equal(o.v.when, "16");
	o = options("-cr5");
	assert_string_equal(o.v.when, "");
	assert_int_equal(o.v.number, 5);
	o = options("--color never");
	assert_string_equal(o.v.when, "");
	assert_int_equal(o.used, 1);
	o = options("--output= x");
	assert_string_equal(o.v.output, "");
	assert_int_equal(o.used, 1);
}

static void option_abbreviations(void **state)
{
	struct outcome o = options("--al --verb --rep=3 --f :");

	(void)state;
	assert_int_equal(o.r, 0);
	assert_true(o.v.all);
	assert_int_equal(o.v.verbose, 1);
	assert_int_equal(o.v.number, 3);
	assert_string_equal(o.v.separator, ":");
	/* The whole name is meant even where it begins another. */
	o = options("--output x");
	assert_int_equal(o.r, 0);
	assert_refused("--outp x", "option --outp could be --output or --output-format");
	assert_refused("--=x", "option -- could be --all-cpus or --no-aggr");
}

static void option_stops(void **state)
{
	struct outcome o = options("-a -- -v");

	(void)state;
	assert_int_equal(o.used, 2);
	assert_int_equal(o.v.verbose, 0);
	o = options("-a ls -v");
	assert_int_equal(o.used, 1);
	assert_int_equal(o.v.verbose, 0);
	o = options("- -a");
	assert_int_equal(o.used, 0);
	assert_false(o.v.all);
	o = options("-x -- -a");
	assert_string_equal(o.v.separator, "--");
	assert_true(o.v.all);
	o = options("");
	assert_int_equal(o.used, 0);
	o = options("-a --help -v");
	assert_true(o.help && o.v.all && o.v.verbose == 1);
	o = options("-vh");
	assert_true(o.help && o.v.verbose == 1);
}

static void option_mistakes(void **state)
{
	(void)state;
	assert_refused("-q", "unknown option -q");
	assert_refused("-aq", "unknown option -q");
	assert_refused("-x", "option -x needs a value");
	assert_refused("-a --output", "option --output needs a value");
	assert_refused("--all-cpus=yes", "option --all-cpus takes no value");
	assert_refused("-r 4294967296", "option -r takes a number, not '4294967296'");
	assert_refused("-r-1", "option -r takes a number, not '-1'");
	assert_refused("--repeat=", "option --repeat takes a number, not ''");
	assert_refused("--evnt x", "unknown option --evnt; did you mean --event?");
	assert_refused("--zzzzzzzzzzz", "unknown option --zzzzzzzzzzz");
}

/* ---- text ---- */

static void globs(void **state)
{
	(void)state;
	assert_true(text_glob("sys_enter_*", "sys_enter_read"));
	assert_true(text_glob("SYS_*_r?ad", "sys_enter_read"));
	assert_true(text_glob("[a-c]x", "bx"));
	assert_false(text_glob("sys_enter", "sys_enter_read"));
	assert_false(text_glob("enter*", "sys_enter_read"));
	assert_false(text_glob("[", "x"));
	assert_true(text_is_glob("a*") && text_is_glob("a?") && text_is_glob("[a]"));
	assert_false(text_is_glob("a.b-c"));
	assert_true(text_contains("Retired Branches", "BRANCH"));
	assert_false(text_contains("Retired", "retiredx"));
	assert_false(text_contains(NULL, "x"));
	assert_true(text_contains("x", ""));
}

static void distances(void **state)
{
	char *longest = xcalloc(2000, 1);

	(void)state;
	memset(longest, 'a', 1999);
	assert_int_equal(text_distance("", "", 5), 0);
	assert_int_equal(text_distance("cycles", "CYCLES", 5), 0);
	assert_int_equal(text_distance("cycels", "cycles", 5), 2);
	assert_int_equal(text_distance("cyles", "cycles", 5), 1);
	assert_int_equal(text_distance("cycless", "cycles", 5), 1);
	assert_int_equal(text_distance("cycles", "cyclez", 5), 1);
	assert_int_equal(text_distance("kitten", "sitting", 5), 3);
	assert_int_equal(text_distance("kitten", "sitting", 3), 3);
	assert_int_equal(text_distance("kitten", "sitting", 2), 2);
	assert_int_equal(text_distance("", "abc", 9), 3);
	assert_int_equal(text_distance("abc", "", 9), 3);
	assert_int_equal(text_distance("abc", "xyz", 2), 2);
	assert_int_equal(text_distance(longest, longest, 7), 7);
	assert_int_equal(text_distance(longest, "a", 7), 7);
	free(longest);
}

static void assert_suggestions(const char *wanted, char *offered, const char *want)
{
	struct suggest s = {.wanted = wanted};
	struct buf b = {};
	char *rest;

	for (char *w = strtok_r(offered, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		suggest_offer(&s, w);
	suggest_sentence(&s, &b);
	assert_string_equal(buf_str(&b), want);
	suggest_release(&s);
	assert_int_equal(s.count, 0);
	buf_release(&b);
}

static void suggestions(void **state)
{
	char one[] = "instructions cycles", none[] = "instructions branches";
	char order[] = "cycle99 cycle9 xycles cycles bicycles cycles";
	char twice[] = "cycles cycles", two[] = "ab abcd";
	char shorts[] = "rm ls ren men", swapped[] = "list ls";

	(void)state;
	assert_suggestions("cycels", one, "; did you mean 'cycles'?");
	assert_suggestions("xx", none, "");
	/* The nearest first; of equals the one that was offered first; no doubles. */
	assert_suggestions("cycles", order, "; did you mean 'cycles', 'cycle9' or 'xycles'?");
	assert_suggestions("cycle", twice, "; did you mean 'cycles'?");
	assert_suggestions("abc", two, "; did you mean 'ab' or 'abcd'?");
	/* Two changes make any short word of any other. */
	assert_suggestions("mem", shorts, "; did you mean 'men'?");
	assert_suggestions("lsit", swapped, "; did you mean 'list'?");
}

static void printable(void **state)
{
	struct buf b = {};

	(void)state;
	text_add_printable(&b, "a\x1b[31m\n\t\x7f|\xc3\xa9|\xc2\x9b|\xc2\xa0.");
	assert_string_equal(buf_str(&b), "a?[31m???|\xc3\xa9|?|\xc2\xa0.");
	buf_clear(&b);
	text_add_printable(&b, "\x80|\xff|\xe2\x82|\xed\xa0\x80|\xc2");
	assert_string_equal(buf_str(&b), "?|?|??|???|?");
	buf_clear(&b);
	text_add_html(&b, "<a href=\"x\">R&D's\n</a>");
	assert_string_equal(buf_str(&b), "&lt;a href=&quot;x&quot;&gt;R&amp;D's\n&lt;/a&gt;");
	buf_release(&b);
	assert_int_equal(text_columns("\xc3\xa9\xe2\x82\xac"
				      "a"),
			 3);
	assert_int_equal(text_columns(""), 0);
}

static void splitting(void **state)
{
	strvec v = {};

	(void)state;
	text_split(" ,a,,b c, ", ", ", &v);
	assert_int_equal(v.len, 3);
	assert_string_equal(v.items[0], "a");
	assert_string_equal(v.items[1], "b");
	assert_string_equal(v.items[2], "c");
	text_split("", ",", &v);
	text_split(",,,", ",", &v);
	assert_int_equal(v.len, 3);
	text_split("whole", ",", &v);
	assert_string_equal(v.items[3], "whole");
	strvec_release(&v);
	assert_int_equal(v.len, 0);
}

/* ---- cursor ---- */

static const unsigned char bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 'a', 'b', 0, 'c'};

static void cursor_reads(void **state)
{
	struct cursor c = cursor_of(bytes, sizeof(bytes));
	bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	(void)state;
	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u8(&c), 2);
	assert_int_equal(cursor_u16(&c), little ? 0x0403 : 0x0304);
	assert_int_equal(cursor_u32(&c), little ? 0x08070605 : 0x05060708);
	assert_string_equal(cursor_str(&c), "ab");
	assert_false(cursor_done(&c));
	assert_null(cursor_str(&c)); /* no end */
	assert_true(c.failed && cursor_done(&c));

	c = cursor_of(bytes, sizeof(bytes));
	c.swap = little; /* now always the big end first */
	assert_int_equal(cursor_u16(&c), 0x0102);
	assert_int_equal(cursor_u32(&c), 0x03040506);
	c.at = 0;
	assert_true(cursor_u64(&c) == 0x0102030405060708ull);
	c.at = 0;
	assert_int_equal(cursor_u8(&c), 1);
}

static void cursor_overruns(void **state)
{
	struct cursor c = cursor_of(bytes, 7);

	(void)state;
	assert_true(cursor_u64(&c) == 0);
	assert_true(c.failed);
	assert_int_equal(cursor_u8(&c), 0); /* stays failed although a byte would be there */
	c = cursor_of(bytes, 3);
	assert_int_equal(cursor_u32(&c), 0);
	c = cursor_of(bytes, 1);
	assert_int_equal(cursor_u16(&c), 0);
	assert_true(c.failed);
	c = cursor_of(NULL, 0);
	assert_true(cursor_done(&c));
	assert_false(c.failed);
	assert_int_equal(cursor_u8(&c), 0);
	assert_true(c.failed);
	c = cursor_of(bytes, 12);
	cursor_skip(&c, 12);
	assert_true(cursor_done(&c) && !c.failed);
	assert_null(cursor_str(&c));
	c = cursor_of(bytes, 12);
	cursor_skip(&c, 13);
	assert_true(c.failed);
	c = cursor_of(bytes, 12);
	cursor_u8(&c);
	cursor_skip(&c, UINT64_MAX); /* would wrap around to the start */
	assert_true(c.failed);
}

static void cursor_parts(void **state)
{
	struct cursor c = cursor_of(bytes, sizeof(bytes)), part;

	(void)state;
	c.swap = true;
	part = cursor_part(&c, 8, 3);
	assert_true(part.swap && !part.failed);
	assert_string_equal(cursor_str(&part), "ab");
	assert_true(cursor_done(&part));
	part = cursor_part(&c, 12, 0);
	assert_false(part.failed);
	assert_true(cursor_part(&c, 12, 1).failed);
	assert_true(cursor_part(&c, 13, 0).failed);
	assert_true(cursor_part(&c, 4, UINT64_MAX - 2).failed);
	assert_true(cursor_part(&c, UINT64_MAX, 2).failed);
	part = cursor_part(&c, 5, 8);
	assert_int_equal(part.size, 0);
	assert_int_equal(cursor_u8(&part), 0);
}

/* ---- files ---- */

static void reading(void **state)
{
	char *text = (char *)&state;

	(void)state;
	write_text("file", "one\ntwo \n\n");
	assert_int_equal(fs_read(in_dir("file"), 10, &text), 0);
	assert_string_equal(text, "one\ntwo");
	free(text);
	text = (char *)&state;
	assert_int_equal(fs_read(in_dir("file"), 9, &text), -EFBIG);
	assert_int_equal(fs_read(in_dir("nothing"), 9, &text), -ENOENT);
	assert_int_equal(fs_read(support_dir, 9, &text), -EISDIR);
	assert_int_equal(fs_read("/dev/zero", 1 << 20, &text), -EFBIG);
	assert_ptr_equal(text, &state);
	write_text("empty", "");
	assert_int_equal(fs_read(in_dir("empty"), 0, &text), 0);
	assert_string_equal(text, "");
	free(text);
}

static void lines_and_numbers(void **state)
{
	char line[8];
	long long v = 7;

	(void)state;
	write_text("file", "one \t\ntwo\n");
	assert_true(fs_line(line, sizeof(line), "%s/%s", support_dir, "file"));
	assert_string_equal(line, "one");
	write_text("file", "0123456789");
	assert_true(fs_line(line, sizeof(line), "%s/file", support_dir));
	assert_string_equal(line, "0123456");
	assert_false(fs_line(line, sizeof(line), "%s/nothing", support_dir));
	assert_false(fs_line(line, sizeof(line), "%s", support_dir));
	write_text("file", "-42\n");
	assert_true(fs_number(&v, "%s/file", support_dir));
	assert_int_equal(v, -42);
	write_text("file", "42 apples\n");
	assert_false(fs_number(&v, "%s/file", support_dir));
	write_text("file", "");
	assert_false(fs_number(&v, "%s/file", support_dir));
	assert_int_equal(v, -42);
}

/* A reader that waits for a writer who never comes would hang the tool. */
static void pipes_do_not_hang(void **state)
{
	char line[8];
	char *text = NULL;

	(void)state;
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	alarm(300);
	if (fs_read(in_dir("fifo"), 100, &text) == 0)
		assert_string_equal(text, "");
	free(text);
	if (fs_line(line, sizeof(line), "%s/fifo", support_dir))
		assert_string_equal(line, "");
	alarm(0);
	unlink(in_dir("fifo"));
}

static void listing(void **state)
{
	strvec v = {};

	(void)state;
	write_text("list/b", "");
	write_text("list/.hidden", "");
	write_text("list/a", "");
	write_text("list/C/file", "");
	assert_int_equal(fs_list(in_dir("list"), &v), 0);
	assert_int_equal(v.len, 3);
	assert_string_equal(v.items[0], "C");
	assert_string_equal(v.items[1], "a");
	assert_string_equal(v.items[2], "b");
	assert_int_equal(fs_list(in_dir("nothing"), &v), -ENOENT);
	assert_int_equal(fs_list(in_dir("list/a"), &v), -ENOTDIR);
	assert_int_equal(v.len, 3);
	strvec_release(&v);
}

static void writing(void **state)
{
	strvec left = {};
	char *text;
	int old;

	(void)state;
	assert_int_equal(fs_mkdir_p(in_dir("w/x/y")), 0);
	assert_int_equal(fs_mkdir_p(in_dir("w/x/y")), 0);
	write_text("w/file", "old");
	old = open(in_dir("w/file"), O_RDONLY);
	assert_int_equal(fs_write_atomic(in_dir("w/file"), "new text", 8), 0);
	assert_int_equal(fs_read(in_dir("w/file"), 100, &text), 0);
	assert_string_equal(text, "new text");
	free(text);
	/* Who had it open still sees the old file, whole. */
	text = xcalloc(1, 16);
	assert_int_equal(read(old, text, 15), 3);
	assert_string_equal(text, "old");
	close(old);
	free(text);
	assert_int_equal(fs_write_atomic(in_dir("none/file"), "x", 1), -ENOENT);
	assert_int_equal(fs_write_atomic(in_dir("w/x"), "x", 1), -EISDIR);
	assert_int_equal(fs_list(in_dir("w"), &left), 0);
	assert_int_equal(left.len, 2); /* nothing temporary stays behind */
	strvec_release(&left);
	assert_int_equal(fs_mkdir_p(in_dir("w/file/dir")), -ENOTDIR);
}

static void user_directories(void **state)
{
	char *dir;

	(void)state;
	setenv("TEST_XDG", "/some/where", 1);
	dir = fs_xdg_dir("TEST_XDG", ".cfg");
	assert_string_equal(dir, "/some/where/tacho");
	free(dir);
	setenv("TEST_XDG", "relative", 1); /* the standard says to ignore it */
	dir = fs_xdg_dir("TEST_XDG", ".cfg");
	assert_string_equal(dir, in_dir(".cfg/tacho"));
	free(dir);
	unsetenv("TEST_XDG");
	unsetenv("HOME");
	assert_null(fs_xdg_dir("TEST_XDG", ".cfg"));
	setenv("HOME", support_dir, 1);
}

/* ---- memory, vectors, errors ---- */

static void vectors(void **state)
{
	VEC(struct pair { int a, b; }) v = {};
	int sum = 0;

	(void)state;
	vec_each(&v, p)
		fail();
	for (int i = 0; i < 1000; i++)
		vec_push(&v, (struct pair){i, -i});
	assert_int_equal(v.len, 1000);
	assert_true(v.cap >= v.len);
	vec_each(&v, p)
		sum += p->a + 2 * p->b;
	assert_int_equal(sum, -999 * 1000 / 2);
	vec_reserve(&v, 5000);
	assert_true(v.cap >= 5000 && v.len == 1000 && v.items[999].a == 999);
	vec_release(&v);
	assert_null(v.items);
	assert_int_equal(v.len, 0);
}

/* How many arenas the C library has: free memory at the end of most of them is never given back. */
static size_t count_arenas(void)
{
	char *text = NULL;
	size_t len, count = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	malloc_info(0, out);
	fclose(out);
	for (const char *at = text; (at = strstr(at, "<heap nr=")); at++)
		count++;
	free(text);
	return count;
}

static void *allocate(void *barrier)
{
	void *p = xcalloc(1, 100000);

	/* All threads have memory at the same time. */
	pthread_barrier_wait(barrier);
	free(p);
	return NULL;
}

static void arenas_are_shared(void **state)
{
	pthread_t threads[8];
	pthread_barrier_t barrier;
	size_t before = count_arenas();

	(void)state;
	alloc_share_arenas();
	pthread_barrier_init(&barrier, NULL, ARRAY_LEN(threads));
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, allocate, &barrier), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	assert_true(count_arenas() <= (before > ALLOC_ARENAS_MAX ? before : ALLOC_ARENAS_MAX));
}

static void checked_allocation(void **state)
{
	unsigned char *p = alloc_checked(100, 10, 1000);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p[999], 0);
	free(p);
	assert_null(alloc_checked(101, 10, 1000));
	assert_null(alloc_checked(SIZE_MAX / 2, 4, SIZE_MAX));
	assert_null(alloc_checked(SIZE_MAX, SIZE_MAX, 1000));
	p = alloc_checked(0, 10, 0);
	assert_non_null(p);
	free(p);
}

/* Without a struct err it could only return success: so nobody can return what it returns. */
_Static_assert(__builtin_types_compatible_p(__typeof__(err_prefix(NULL, " ")), void),
	       "err_prefix() has no result");

static void errors(void **state)
{
	char *longest = xcalloc(3000, 1);
	struct err e = {};

	(void)state;
	memset(longest, 'x', 2999);
	assert_int_equal(err_set(&e, ENOENT, "no %s", "file"), -ENOENT);
	assert_int_equal(e.code, ENOENT);
	assert_string_equal(e.text, "no file");
	err_prefix(&e, "line %d", 3);
	err_prefix(NULL, "unread");
	assert_int_equal(e.code, ENOENT);
	assert_string_equal(e.text, "line 3: no file");
	assert_int_equal(err_set(NULL, EINVAL, "unread"), -EINVAL);
	err_set(&e, E2BIG, "%s", longest);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	err_prefix(&e, "ab");
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	assert_memory_equal(e.text, "ab: xxx", 7);
	err_prefix(&e, "%s", longest);
	assert_int_equal(strlen(e.text), sizeof(e.text) - 1);
	free(longest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buf_grows),
		cmocka_unit_test(buf_formats),
		cmocka_unit_test(buf_wraps),
		cmocka_unit_test(json_strings),
		cmocka_unit_test(json_bad_utf8),
		cmocka_unit_test(json_every_pair),
		cmocka_unit_test(json_nesting),
		cmocka_unit_test(json_doubles),
		cmocka_unit_test(integers),
		cmocka_unit_test(unsigned_integers),
		cmocka_unit_test(hex_numbers),
		cmocka_unit_test(doubles),
		cmocka_unit_test(cpu_lists),
		cmocka_unit_test(option_order),
		cmocka_unit_test(sizes),
		cmocka_unit_test(option_letters),
		cmocka_unit_test(option_names),
		cmocka_unit_test(option_abbreviations),
		cmocka_unit_test(option_stops),
		cmocka_unit_test(option_mistakes),
		cmocka_unit_test(globs),
		cmocka_unit_test(distances),
		cmocka_unit_test(suggestions),
		cmocka_unit_test(printable),
		cmocka_unit_test(splitting),
		cmocka_unit_test(cursor_reads),
		cmocka_unit_test(cursor_overruns),
		cmocka_unit_test(cursor_parts),
		cmocka_unit_test(reading),
		cmocka_unit_test(lines_and_numbers),
		cmocka_unit_test(pipes_do_not_hang),
		cmocka_unit_test(listing),
		cmocka_unit_test(writing),
		cmocka_unit_test(user_directories),
		cmocka_unit_test(vectors),
		cmocka_unit_test(checked_allocation),
		cmocka_unit_test(arenas_are_shared),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
