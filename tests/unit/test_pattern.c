/* Regular expressions: the same as the C library's, and never slow. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/pattern.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

static void assert_same(const char *expression, const char *text)
{
	struct pattern *p;
	struct err e = {};
	regex_t theirs;
	bool found;

	if (pattern_new(&p, expression, &e) < 0)
		fail_msg("'%s': %s", expression, e.text);
	assert_int_equal(regcomp(&theirs, expression, REG_EXTENDED | REG_NOSUB), 0);
	found = !regexec(&theirs, text, 0, NULL, 0);
	if (pattern_found(p, text) != found)
		fail_msg("'%s' in '%s': found by %s", expression, text,
			 found ? "the C library" : "us");
	regfree(&theirs);
	pattern_free(p);
}

static void what_people_write(void **state)
{
	static const char *const expressions[] = {"main",
						  "^main$",
						  "^(emit|st)",
						  "alloc|free",
						  "std::.*<int",
						  "^[^_]",
						  "[[:upper:]]",
						  "[]x]",
						  "[^]x]",
						  "[a-c-]",
						  "\\.so\\b",
						  "\\<push",
						  "back\\>",
						  "\\w+::\\w+",
						  "\\S+ \\S+",
						  "a{2}",
						  "a{2,}",
						  "a{2,3}b",
						  "(ab){2}",
						  "(a|b)*c",
						  "",
						  "()",
						  "a|",
						  "|a",
						  "(|a)b",
						  "x*",
						  "^$",
						  "^",
						  "$",
						  "a$|^b",
						  "(^a|b$)",
						  "[[.-.]]",
						  "[[=a=]]",
						  "a)",
						  "\\(int\\)",
						  "a.c",
						  "a\\+",
						  "(a+)+b",
						  "((a*)*)*b",
						  "a{0}b",
						  "(a{2}){2}",
						  "\\Boo",
						  "^_ZN[0-9]+[a-z]+",
						  "[[:space:]]",
						  "[+--]"};
	static const char *const texts[] = {
		"",         "main",
		"emit",     "std::vector<int, std::allocator<int> >::push_back(int)",
		"aab",      "abab",
		"aaaac",    "]",
		"-",        "foo",
		"libx.so",  "_ZN3fooEv",
		"A b",      "a)",
		"a+",       "f(int)",
		"aaaa",     "b",
		"pushback", "\xc3\xa9tude"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(expressions); i++)
		for (size_t k = 0; k < ARRAY_LEN(texts); k++)
			assert_same(expressions[i], texts[k]);
}

static void mistakes(void **state)
{
	static const char *const bad[] = {
		"(",  "a(b",  "[",   "[a",     "[[:nope:]]", "[z-a]",  "*",   "a|*",   "(+)",
		"a{", "a{x}", "a{2", "a{3,2}", "a{256}",     "(a)\\1", "a\\", "[[.ab", "a{,}"};
	struct pattern *p = NULL;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		e = (struct err){};
		if (pattern_new(&p, bad[i], &e) != -EINVAL || !e.text[0] || p)
			fail_msg("'%s' was taken", bad[i]);
	}
}

/* Any expression of a few letters, over texts of the same. */
static void as_the_c_library(void **state)
{
	static const char *const pieces[] = {"a", "b",   "c", ".", "[ab]", "[^a]",  "(",   ")",
					     "|", "*",   "+", "?", "{2}",  "{0,2}", "^",   "$",
					     "b", "\\b", "a", "a", "{1,}", "(a|b)", "\\w", "()"};
	unsigned compared = 0;
	uint32_t seed = 3;

	(void)state;
	for (int n = 0; n < 60000; n++) {
		CLEANUP(buf_release) struct buf expression = {}, text = {};
		struct pattern *p = NULL;
		regex_t theirs;
		bool ours;

		for (int i = n % 9; i >= 0; i--)
			buf_add(&expression, pieces[(seed = seed * 1103515245 + 12345) / 65536 %
						    ARRAY_LEN(pieces)]);
		ours = pattern_new(&p, buf_str(&expression), NULL) == 0;
		/* "^*" and the like are taken by one and not by the other: nobody writes that. */
		if (!ours || regcomp(&theirs, buf_str(&expression), REG_EXTENDED | REG_NOSUB)) {
			pattern_free(p);
			continue;
		}
		regfree(&theirs);
		pattern_free(p);
		for (int i = n % 6; i > 0; i--)
			buf_add_char(&text, "abc"[(seed = seed * 1103515245 + 12345) / 65536 % 3]);
		assert_same(buf_str(&expression), buf_str(&text));
		compared++;
	}
	assert_true(compared > 5000);
}

/* Minutes and gigabytes for regexec(). */
static void never_slow(void **state)
{
	static const char *const slow[] = {
		"(.*)a.{200}b$",   ".*.*.*.*.*.*.*a.{200}q", "(a*b*a*b*.*)a.{90}(a|b).{90}(c|d)",
		"((((a+)+)+)+)+c", "(((((a*)*)*)*)*)*c",     "(a|a)*(a|a)*c"};
	char *text = xcalloc(1, 16385);
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 16384; i++)
		text[i] = "ab"[(seed = seed * 1103515245 + 12345) >> 16 & 1];
	for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
		struct pattern *p;

		assert_int_equal(pattern_new(&p, slow[i], NULL), 0);
		pattern_found(p, text);
		pattern_free(p);
	}
	free(text);
}

static void too_large(void **state)
{
	static const char *const large[] = {"(a{1,200}b{1,200}){3}", "((a{100}){100}){100}",
					    "((((){255}){255}){255}){255}", "(((a?){50}){50}){50}"};
	char text[PATTERN_BYTES_MAX + 2];
	struct pattern *p = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(large); i++)
		assert_int_equal(pattern_new(&p, large[i], NULL), -EINVAL);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pattern_new(&p, text, NULL), -EINVAL);
	memset(text, '(', PATTERN_BYTES_MAX);
	text[PATTERN_BYTES_MAX] = '\0';
	assert_int_equal(pattern_new(&p, text, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_people_write), cmocka_unit_test(mistakes),
		cmocka_unit_test(as_the_c_library),  cmocka_unit_test(never_slow),
		cmocka_unit_test(too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
