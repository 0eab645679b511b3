/*
 * Conditions on fields: what they mean, what errors say and where they point, and that the kernel
 * accepts and selects the same.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/predicate/predicate.h"
#include "event/filter.h"
#include "support.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* ---- a made-up row ---- */

static const struct {
	const char *name;
	enum predicate_type type;
	uint64_t number;
	const char *text;
} row[] = {
	{"pid", PREDICATE_SIGNED, 7, NULL},
	{"delta", PREDICATE_SIGNED, (uint64_t)-5, NULL},
	{"flags", PREDICATE_UNSIGNED, 0xc1, NULL},
	{"big", PREDICATE_UNSIGNED, UINT64_MAX, NULL},
	{"share", PREDICATE_FLOAT, 0x3fe0000000000000, NULL}, /* 0.5 */
	{"nan", PREDICATE_FLOAT, 0x7ff8000000000000, NULL},
	{"comm", PREDICATE_TEXT, 0, "bash"},
	{"path", PREDICATE_TEXT, 0, "/usr/lib/libc.so.6"},
	{"none", PREDICATE_TEXT, 0, NULL},
	{"args", PREDICATE_OPAQUE, 0, NULL},
};

static int find(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	(void)ctx;
	for (size_t i = 0; i < ARRAY_LEN(row); i++)
		if (strlen(row[i].name) == len && !memcmp(row[i].name, name, len)) {
			*ret_type = row[i].type;
			return (int)i;
		}
	return -1;
}

static const char *name_at(const void *ctx, size_t n)
{
	(void)ctx;
	return n < ARRAY_LEN(row) ? row[n].name : NULL;
}

static unsigned asked[ARRAY_LEN(row)];

static uint64_t number_of(const void *ctx, unsigned field)
{
	(void)ctx;
	asked[field]++;
	return row[field].number;
}

static const char *text_of(const void *ctx, unsigned field)
{
	(void)ctx;
	asked[field]++;
	return row[field].text;
}

static const struct predicate_names names = {.find = find, .name = name_at, .subject = "the row"};
static const struct predicate_row values = {.number = number_of, .text = text_of};

static bool is_true(const char *text)
{
	struct predicate *p;
	struct err e = {};
	bool found;

	if (predicate_parse(&p, text, &names, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	found = predicate_test(p, &values);
	predicate_free(p);
	return found;
}

/* ---- what conditions mean ---- */

static void comparisons_hold_or_not(void **state)
{
	static const char *const true_ones[] = {
		"pid == 7",
		"pid==7",
		" pid\t==\n7 ",
		"pid != 8",
		"pid < 8",
		"pid <= 7",
		"pid > 6",
		"pid >= 7",
		"pid & 1",
		"pid & 0x6",
		"pid == 07",
		"pid == 0x7",
		"pid == 0X7",
		"delta == -5",
		"delta < 0",
		"delta < -4",
		"delta <= -5",
		"delta > -6",
		"delta != 5",
		"delta & 1",
		"flags == 0xc1",
		"flags == 0301",
		"flags == 193",
		"flags & 0x80",
		"big == 18446744073709551615",
		"big > 9223372036854775807",
		"big & 0x8000000000000000",
		"delta > -9223372036854775808",
		"delta < 9223372036854775807",
		"share == 0.5",
		"share < 0.75",
		"share > -1",
		"share <= 5e-1",
		"share >= .5",
		"share != 1e+3",
		"nan != 0",
		"comm == \"bash\"",
		"comm == 'bash'",
		"comm != \"bas\"",
		"comm ~ \"bash\"",
		"comm ~ \"ba*\"",
		"comm ~ \"*sh\"",
		"comm ~ \"*as*\"",
		"comm ~ \"b*s*\"",
		"comm ~ \"?as?\"",
		"comm ~ \"[a-c]ash\"",
		"comm ~ \"[!c-z]*\"",
		"comm ~ \"!c*\"",
		"comm ~ \"[]b]ash\"",
		"comm ~ \"[!]a]ash\"",
		"comm ~ \"b\\ash\"",
		"comm ~ \"**\"",
		"path ~ \"*/lib*.so.[0-9]\"",
		"none == \"\"",
		"none != \"x\"",
		"none ~ \"*\"",
		"comm != ''",
	};
	static const char *const false_ones[] = {
		"pid == 8",
		"pid < 7",
		"pid > 7",
		"pid & 8",
		"pid & 0",
		"delta > 0",
		"delta == 5",
		"delta == 0xfffffffb",
		"big < 1",
		"nan == 0",
		"nan < 0",
		"nan > 0",
		"nan >= 0",
		"comm == \"Bash\"",
		"comm == \"bash \"",
		"comm ~ \"a*\"",
		"comm ~ \"bas\"",
		"comm ~ \"B*\"",
		"comm ~ \"[!b]ash\"",
		"comm ~ \"[^a]ash\"",
		"comm ~ \"[b\"",
		"comm ~ \"\\\\*\"",
		"comm ~ \"\"",
		"comm ~ \"!b*\"",
		"none ~ \"?*\"",
		"path ~ \"*.so\"",
		"comm ~ \"bash?\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(true_ones); i++)
		if (!is_true(true_ones[i]))
			fail_msg("%s is false", true_ones[i]);
	for (size_t i = 0; i < ARRAY_LEN(false_ones); i++)
		if (is_true(false_ones[i]))
			fail_msg("%s is true", false_ones[i]);
}

/* T and F stand for a true and a false comparison. */
static void expand(const char *s, struct buf *out)
{
	for (; *s; s++)
		if (*s == 'T' || *s == 'F')
			buf_add(out, *s == 'T' ? "pid == 7" : "flags == 0");
		else
			buf_add_char(out, *s);
}

static void operators_bind_as_in_the_kernel(void **state)
{
	static const struct {
		const char *text;
		bool wanted;
	} cases[] = {
		{"T", true},
		{"!T", false},
		{"!!T", true},
		{"! ! ! F", true},
		{"T && F", false},
		{"F || T", true},
		{"T || F && F", true}, /* from the left it would be false */
		{"F && F || T", true},
		{"(T || F) && F", false},
		{"T && (F || T)", true},
		{"!(T && F)", true},
		{"!T && F", false},
		{"!T || T", true},
		{"!(T || F) || T", true},
		{"!(!(T && T) || F)", true},
		{"T&&T&&T&&F", false},
		{"F||F||F||T", true},
		{"(F || T && (T || F)) && !(F && T)", true},
		{"((((T))))", true},
		{"(F||F)||(F||T)&&T", true},
		{"!(F||T)||(T&&!(T&&F))", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(buf_release) struct buf text = {};

		expand(cases[i].text, &text);
		if (is_true(buf_str(&text)) != cases[i].wanted)
			fail_msg("%s", cases[i].text);
	}
}

/* Against a value that is worked out while the text is made. */
static void made_up_conditions_have_the_value_they_were_made_with(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		CLEANUP(buf_release) struct buf text = {};
		/* An "or" of "and"s of terms, which are negated or not, some in parentheses. */
		bool any = false;
		unsigned ands = 1 + seed % 4;

		for (unsigned i = 0; i < ands; i++) {
			bool all = true;
			unsigned terms;

			seed = seed * 1664525 + 1013904223;
			terms = 1 + (seed >> 8) % 3;
			buf_add(&text, i ? "||" : "");
			for (unsigned j = 0; j < terms; j++) {
				unsigned form = (seed >> (10 + 4 * j)) % 16;
				bool is = form & 1, inverted = form & 2;

				buf_addf(&text, "%s%s%s%s", j ? "&&" : "", inverted ? "!" : "",
					 form & 4 ? "(" : "", is ? "T" : "F");
				if (form & 4)
					buf_add(&text, form & 8 ? "||F)" : "&&T)");
				all &= is != inverted;
			}
			any |= all;
		}
		CLEANUP(buf_release) struct buf whole = {};
		expand(buf_str(&text), &whole);
		if (is_true(buf_str(&whole)) != any)
			fail_msg("%s", buf_str(&text));
	}
}

static void only_fields_that_matter_are_read(void **state)
{
	(void)state;
	memset(asked, 0, sizeof(asked));
	assert_false(is_true("pid == 8 && comm == \"bash\""));
	assert_int_equal(asked[0], 1);
	assert_int_equal(asked[6], 0);
	assert_true(is_true("(pid == 7 || flags == 1) && comm == \"bash\""));
	assert_int_equal(asked[2], 0);
	assert_int_equal(asked[6], 1);
}

static void fields_are_listed_once_and_sorted(void **state)
{
	struct predicate *p;
	size_t count;
	const unsigned *fields;

	(void)state;
	assert_int_equal(predicate_parse(&p, "comm ~ \"x\" || pid == 1 || comm == 'a' || pid & 2",
					 &names, NULL),
			 0);
	fields = predicate_fields(p, &count);
	assert_int_equal(count, 2);
	assert_int_equal(fields[0], 0);
	assert_int_equal(fields[1], 6);
	predicate_free(p);
}

/* ---- errors ---- */

static size_t column_of_mark(const char *error)
{
	const char *line = strrchr(error, '\n');

	assert_non_null(line);
	assert_memory_equal(line, "\n  ", 3);
	line += 3;
	assert_string_equal(line + strspn(line, " "), "^");
	return strspn(line, " ");
}

static const struct mistake {
	const char *text;
	size_t column;
	const char *says;
} mistakes[] = {
	{"pd == 1", 0, "the row has no field 'pd'; did you mean 'pid'? Its fields are pid, delta"},
	{"  zzzzzzz == 1", 2, "no field 'zzzzzzz'. Its fields are pid, "},
	{"pid == 1 && Comm == \"x\"", 12, "did you mean 'comm'"},
	{"pid = 1", 4, "write =="},
	{"pid => 1", 4, "write =="},
	{"pid", 3, "an operator is needed here (== != < <= > >= &)"},
	{"pid && comm == \"x\"", 4, "'pid' is not compared with anything"},
	{"(pid)", 4, "'pid' is not compared"},
	{"pid in 3", 4, "an operator is needed"},
	{"share ? 1", 6, "(== != < <= > >=)"},
	{"comm > 3", 5, "'comm' is a text, which cannot be compared by >, only by == != ~"},
	{"comm & 3", 5, "by &, only by == != ~"},
	{"comm !~ \"x\"", 5, "write !(comm ~"},
	{"pid ~ \"x\"", 4, "'pid' is a number, which cannot be compared by ~"},
	{"share & 1", 6, "'share' is a number, which cannot be compared by &"},
	{"pid == \"x\"", 7, "'pid' is a number: it cannot be compared with a text"},
	{"share == 'x'", 9, "'share' is a number: it cannot"},
	{"pid == comm", 7, "a number is needed here"},
	{"pid ==", 6, "a number is needed here"},
	{"pid == +1", 7, "a number is needed here"},
	{"pid == 1x", 7, "'1x' is no number"},
	{"pid == 0x", 7, "'0x' is no number"},
	{"pid == 09", 7, "'09' is no number"},
	{"pid == -", 7, "'-' is no number"},
	{"pid == --1", 7, "'-' is no number"},
	{"share == 1.2.3", 9, "'1.2.3' is no number"},
	{"flags == -1", 9, "'flags' is never negative"},
	{"pid == 9223372036854775808", 7, "does not fit into a signed number"},
	{"pid == -9223372036854775809", 7, "does not fit into a signed number"},
	{"big == 18446744073709551616", 7, "does not fit into an unsigned number"},
	{"big == 000000000000000000000001", 7, "at most 23 characters"},
	{"comm == bash", 8, "must be quoted, as in comm == \"word\""},
	{"comm == 3", 8, "must be quoted"},
	{"comm == \"bash", 8, "this quote is not closed"},
	{"comm == 'bash\"", 8, "this quote is not closed"},
	{"args == 1", 0, "'args' is neither a number nor a text: the row cannot be filtered by it"},
	{"(pid == 1", 0, "this '(' is not closed"},
	{"pid == 1 && (pid == 2 || (pid == 3)", 12, "this '(' is not closed"},
	{"pid == 1)", 8, "there is no '('"},
	{"((pid == 1)))", 12, "there is no '('"},
	{"()", 1, "a comparison is needed here"},
	{"(", 1, "a comparison is missing at the end"},
	{"!", 1, "a comparison is missing at the end"},
	{"pid == 1 &&", 11, "a comparison is missing at the end"},
	{"pid == 1 || !", 13, "a comparison is missing at the end"},
	{"(pid == 1 &&)", 12, "a comparison is needed here"},
	{"&& pid == 1", 0, "a comparison is needed here"},
	{"pid == 1 && && pid == 2", 12, "a comparison is needed here"},
	{"!= 1", 0, "a comparison is needed here"},
	{"1 == pid", 0, "begins with the name of a field"},
	{"\"x\" == comm", 0, "begins with the name of a field"},
	{"pid == 1 & pid == 2", 9, "write &&"},
	{"pid == 1 | pid == 2", 9, "write ||"},
	{"pid == 1 and pid == 2", 9, "expected && or || here"},
	{"pid == 1 pid == 2", 9, "expected && or || here"},
	{"(pid == 1)(pid == 2)", 10, "expected && or || here"},
	{"pid == 1_000", 8, "expected && or || here"},
	{"comm.ustring == \"x\"", 4, "an operator is needed"},
	{"pid & CPUS{1}", 6, "a number is needed"},
	{"comm == \"\xc3\xa4\xc3\xa4\" x", 13, "&& or ||"}, /* a column is a character */
};

static void errors_point_at_the_character(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		const struct mistake *m = &mistakes[i];
		struct predicate *p;
		struct err e = {};

		if (predicate_parse(&p, m->text, &names, &e) != -EINVAL)
			fail_msg("'%s' is accepted", m->text);
		if (!strstr(e.text, m->says) || column_of_mark(e.text) != m->column)
			fail_msg("'%s': %s", m->text, e.text);
	}
}

static void too_much_is_refused(void **state)
{
	char long_text[PREDICATE_BYTES_MAX + 2] = "pid == 1";
	CLEANUP(buf_release) struct buf deep = {}, quoted = {};
	struct predicate *p;
	struct err e = {};

	(void)state;
	memset(long_text + 8, ' ', PREDICATE_BYTES_MAX - 8);
	assert_int_equal(predicate_parse(&p, long_text, &names, &e), 0);
	predicate_free(p);
	long_text[PREDICATE_BYTES_MAX] = ' ';
	assert_int_equal(predicate_parse(&p, long_text, &names, &e), -EINVAL);
	assert_non_null(strstr(e.text, "4096 bytes, at most 4095"));

	buf_pad(&deep, PREDICATE_DEPTH_MAX, '(');
	buf_add(&deep, "pid == 7");
	buf_pad(&deep, PREDICATE_DEPTH_MAX, ')');
	assert_true(is_true(buf_str(&deep)));
	buf_clear(&deep);
	buf_pad(&deep, PREDICATE_DEPTH_MAX + 1, '(');
	assert_int_equal(predicate_parse(&p, buf_str(&deep), &names, &e), -EINVAL);
	assert_non_null(strstr(e.text, "more than 256 parentheses"));

	buf_add(&quoted, "comm != '");
	buf_pad(&quoted, PREDICATE_TEXT_MAX, 'x');
	buf_add(&quoted, "'");
	assert_true(is_true(buf_str(&quoted)));
	quoted.s[quoted.len - 1] = 'x';
	buf_add(&quoted, "'");
	assert_int_equal(predicate_parse(&p, buf_str(&quoted), &names, &e), -EINVAL);
	assert_int_equal(predicate_parse(&p, "", &names, &e), -EINVAL);
	assert_non_null(strstr(e.text, "is empty"));
	assert_int_equal(predicate_parse(&p, " \t ", &names, &e), -EINVAL);
	assert_non_null(strstr(e.text, "is empty"));
	/* Nobody need read the sentence. */
	assert_int_equal(predicate_parse(&p, "x", &names, NULL), -EINVAL);
}

static void long_chains_are_tested(void **state)
{
	CLEANUP(buf_release) struct buf text = {};

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		buf_add(&text, "pid>9||");
	buf_add(&text, "pid==7");
	assert_true(is_true(buf_str(&text)));
	/* Each of them can decide. */
	for (char *at = text.s; (at = strchr(at, '9')); at++) {
		*at = '1';
		text.s[text.len - 1] = '8';
		assert_true(is_true(buf_str(&text)));
		*at = '9';
		assert_false(is_true(buf_str(&text)));
	}
}

static void slow_patterns_end(void **state)
{
	CLEANUP(buf_release) struct buf pattern = {}, text = {};

	(void)state;
	/* Trying all ways of sharing 10,000 letters among 100 stars would never end. */
	for (unsigned i = 0; i < 100; i++)
		buf_add(&pattern, "*a");
	buf_add(&pattern, "*b");
	buf_pad(&text, 10000, 'a');
	assert_false(predicate_glob(buf_str(&pattern), buf_str(&text)));
	buf_add(&text, "b");
	assert_true(predicate_glob(buf_str(&pattern), buf_str(&text)));

	/* A '[' without an end is looked at like any character: else this takes hours. */
	buf_clear(&pattern);
	buf_clear(&text);
	buf_add_char(&pattern, '*');
	buf_pad(&pattern, 10000, '[');
	buf_add(&pattern, "x");
	buf_pad(&text, 30000, '[');
	assert_false(predicate_glob(buf_str(&pattern), buf_str(&text)));
	buf_add(&text, "x");
	assert_true(predicate_glob(buf_str(&pattern), buf_str(&text)));
}

/* ---- formats of tracepoints ---- */

static const char made_up_format[] =
	"name: made_up\nID: 1\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char name[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] file;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] other;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * pointer;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long args[6];\toffset:40;\tsize:48;\tsigned:0;\n"
	"\tfield:__data_loc u64[] numbers;\toffset:88;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t mask;\toffset:92;\tsize:4;\tsigned:0;\n"
	"\tfield:long state;\toffset:96;\tsize:8;\tsigned:1;\n"
	"\tfield:void * address;\toffset:104;\tsize:8;\tsigned:0;\n"
	"\tfield:char letter;\toffset:112;\tsize:1;\tsigned:1;\n"
	"\tfield:u64 comm;\toffset:120;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char old;\toffset:128;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%d\", REC->state\n";

static void fields_of_a_format_have_the_right_type(void **state)
{
	static const struct {
		const char *text, *says; /* NULL: accepted */
	} cases[] = {
		{"name == \"x\" && file ~ \"x\" && other != \"x\" && pointer == \"x\"", NULL},
		{"state < -1 && letter == -1 && address > 0xffff && common_pid == 1", NULL},
		{"CPU == 1 && cpu == 1 && COMM == \"x\" && CPU & CPUS{0-3}", NULL},
		{"pointer.ustring ~ \"/etc*\" && address.function == schedule", NULL},
		{"state.function != 0xffffffff81000000 || mask & CPUS{1,2}", NULL},
		{"old == \"x\"", NULL},
		{"args == 1", "neither a number nor a text"},
		{"numbers == 1", "neither a number nor a text"},
		{"mask == 1", "neither a number nor a text"},
		{"name == 1", "'name' is a text"},
		{"letter == \"x\"", "'letter' is a number"},
		{"comm == \"x\"", "'comm' is a number"}, /* the tracepoint's own */
		{"COMM & CPUS{1}", "'COMM' is a text"},
		{"CPU < CPUS{1}", "compared by & == or != only"},
		{"CPU & CPUS{1", "'{' is not closed"},
		{"CPU & CPUS{}", "the list of CPUs is empty"},
		{"CPU & CPUS", "a list of CPUs is needed"},
		{"address.function < schedule", "a function can be compared"},
		{"address.function ==", "is missing here"},
		{"coment == 1", "made:up has no field 'coment'; did you mean 'comm'"},
		{"nothing == 1", "Its fields are name, file, other,"},
	};
	const struct tracepoint_abi abi = {.long_bytes = 8};
	struct tracepoint_format format;

	(void)state;
	assert_int_equal(tracepoint_format_parse(&format, "made", made_up_format,
						 strlen(made_up_format), abi, NULL),
			 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = {};
		int r = event_filter_check_format(&format, "made:up", cases[i].text, &e);

		if (cases[i].says ? r != -EINVAL || !strstr(e.text, cases[i].says) : r != 0)
			fail_msg("%s: %s", cases[i].text, e.text);
	}
	tracepoint_format_release(&format);
}

/* ---- the kernel ---- */

/* A tracepoint of this thread, not yet enabled; -1 if it cannot be opened. */
static int open_tracepoint(const struct roots *roots, const char *system, const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1};
	long long id;

	if (!fs_number(&id, "%s/events/%s/%s/id", roots->tracefs, system, name))
		return -1;
	attr.config = (uint64_t)id;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static int needs_tracepoint(const struct roots *roots, const char *system, const char *name)
{
	int fd = open_tracepoint(roots, system, name);

	if (fd < 0) {
		print_message("# SKIP %s:%s cannot be opened (root and tracefs are needed)\n",
			      system, name);
		skip();
	}
	return fd;
}

static bool kernel_accepts(const struct roots *roots, const char *filter)
{
	/* An event takes only one filter. */
	int fd = open_tracepoint(roots, "sched", "sched_switch"), r;

	assert_true(fd >= 0);
	r = ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter);
	close(fd);
	return r == 0;
}

static bool we_accept(const struct roots *roots, const char *filter)
{
	char switches[] = "sched:sched_switch";
	const struct event event = {.name = switches, .tracepoint = switches};

	return event_filter_check(roots, &event, filter, NULL) == 0;
}

static const char *const of_both[] = {
	"prev_pid == 0",
	"prev_pid==0",
	" prev_pid\t!= 3\n",
	"prev_pid < -1",
	"prev_pid <= 0x1f",
	"prev_pid > 017",
	"prev_pid >= -0x1",
	"prev_pid & 3",
	"prev_pid &1",
	"prev_pid = 0",
	"prev_pid === 0",
	"prev_pid <> 0",
	"prev_pid < = 0",
	"prev_pid ! = 0",
	"prev_pid ~ 3",
	"prev_pid ~ \"3\"",
	"prev_pid == \"3\"",
	"prev_pid == 09",
	"prev_pid == 0b11",
	"prev_pid == 1x",
	"prev_pid == 1_000",
	"prev_pid == +1",
	"prev_pid == --1",
	"prev_pid == -",
	"prev_pid == 0x",
	"prev_pid == 9223372036854775807",
	"prev_pid == 9223372036854775808",
	"prev_pid == -9223372036854775808",
	"prev_pid == -9223372036854775809",
	"common_flags == 18446744073709551615",
	"common_flags == 18446744073709551616",
	"common_flags == -1",
	"common_flags == 300",
	"common_pid == -1",
	"prev_state == 00000000000000000000001",
	"prev_state == 000000000000000000000001",
	"prev_comm == \"foo\"",
	"prev_comm == 'foo'",
	"prev_comm == foo",
	"prev_comm == 3",
	"prev_comm == \"\"",
	"prev_comm == \"foo",
	"prev_comm == 'foo\"",
	"prev_comm ~ \"[ab]*\"",
	"prev_comm ~ \"[ab\"",
	"prev_comm ~ \"!a*\"",
	"prev_comm ~ ba*",
	"prev_comm < \"a\"",
	"prev_comm & 3",
	"prev_comm !~ \"a\"",
	"prev_comm == \"a\\\"b\"",
	"prev_comm == \"a\nb\"",
	"prev_comm == \"a\" \"b\"",
	"prev_comm == \"a&&b||(c\"",
	"CPU == 0",
	"cpu < 2",
	"CPU == -1",
	"COMM == \"x\"",
	"comm ~ \"x*\"",
	"COMM == 1",
	"CPU == \"x\"",
	"CPU",
	"prev_pid",
	"0",
	"1 == 1",
	"0 == prev_pid",
	"\"x\" == prev_comm",
	"prev_pid == prev_prio",
	"prev_pid[0] == 1",
	"nosuch == 1",
	"prev_pi == 1",
	"prev_pid == 0 && prev_prio == 120",
	"prev_pid == 0&&prev_prio==120||prev_state==1",
	"(prev_pid == 0)",
	"((prev_pid == 0))",
	"!prev_pid == 0",
	"! (prev_pid == 0)",
	"!!(prev_pid == 0)",
	"!(!(prev_pid == 0))",
	"(prev_pid == 0",
	"prev_pid == 0)",
	"()",
	"(",
	"!",
	"",
	"  ",
	"&& prev_pid == 0",
	"prev_pid == 0 && && prev_pid == 1",
	"(prev_pid == 0 &&)",
	"prev_pid == 0 & prev_pid == 1",
	"prev_pid == 0 | prev_pid == 1",
	"prev_pid == 0 and prev_pid == 1",
	"prev_pid == 0 prev_pid == 1",
	"(prev_pid == 0)(prev_pid == 1)",
	"prev_pid == 0 ! prev_pid == 1",
	"prev_pid == 0 && !prev_pid == 1",
	"prev_pid == 0;",
	"prev_pid && 3",
	"prev_pid == 0 || prev_pid == 1 && prev_pid == 2",
};

/* What needs a newer kernel: refused by older ones, so that only what both do is compared. */
static const char *const of_new_kernels[] = {
	"CPU & CPUS{0}",
	"CPU == CPUS{0}",
	"CPU < CPUS{0}",
	"CPU & CPUS{}",
	"CPU & CPUS{0",
	"CPU & CPUS",
	"prev_comm & CPUS{0}",
	"prev_pid & CPUS{0} && prev_pid == 1",
	"prev_state.function == schedule",
	"prev_state.function < schedule",
	"prev_comm.ustring == \"a\"",
	"prev_comm .ustring == \"a\"",
	"prev_comm.nosuch == \"a\"",
};

static void assert_same(const struct roots *roots, const char *filter)
{
	bool theirs = kernel_accepts(roots, filter), ours = we_accept(roots, filter);

	if (theirs != ours)
		fail_msg("'%s': %s by the kernel, %s by us", filter,
			 theirs ? "accepted" : "refused", ours ? "accepted" : "refused");
}

static void the_kernel_accepts_the_same(void **state)
{
	const struct roots roots = roots_find();

	(void)state;
	close(needs_tracepoint(&roots, "sched", "sched_switch"));
	for (size_t i = 0; i < ARRAY_LEN(of_both); i++)
		assert_same(&roots, of_both[i]);
	if (!kernel_accepts(&roots, "CPU & CPUS{0}")) {
		print_message("# this kernel is older than CPUS{}: not compared\n");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(of_new_kernels); i++)
		assert_same(&roots, of_new_kernels[i]);
}

/* The differences that predicate.h and filter.h describe. */
static void some_are_refused_that_the_kernel_ignores(void **state)
{
	const struct roots roots = roots_find();
	static const char *const ignored[] = {"prev_pid == 0 &&", "prev_pid == 0 ||",
					      "prev_pid == 0 && !"};

	(void)state;
	close(needs_tracepoint(&roots, "sched", "sched_switch"));
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		assert_false(we_accept(&roots, ignored[i]));
}

/* Where the kernel would take no samples, without a word. What the message advises is selected by the
 * kernel as by us: see the_kernel_selects_the_same(). */
static void patterns_that_the_kernel_takes_otherwise_are_refused(void **state)
{
	static const struct {
		const char *filter, *advice;
	} patterns[] = {
		{"prev_comm ~ \"*sh\"", "~ \"**sh\""},
		{"prev_comm ~ \"!*sh\"", "~ \"!**sh\""},
		{"COMM ~ \"*sh\"", "~ \"**sh\""},
		{"comm ~ '7*'", "~ \"[7]*\""},
		{"prev_comm ~ \"!7?ip\"", "~ \"![7]?ip\""},
		{"prev_comm ~ \"**sh\"", NULL},
		{"prev_comm ~ \"*sh*\"", NULL},
		{"prev_comm ~ \"*s?\"", NULL},
		{"prev_comm ~ \"*\"", NULL},
		{"prev_comm ~ \"[7]*\"", NULL},
		{"prev_comm ~ \"7zip\"", NULL},
	};
	const struct roots roots = roots_find();
	char switches[] = "sched:sched_switch";
	const struct event event = {.name = switches, .tracepoint = switches};

	(void)state;
	close(needs_tracepoint(&roots, "sched", "sched_switch"));
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		struct err e = {};
		int r = event_filter_check(&roots, &event, patterns[i].filter, &e);

		assert_int_equal(r, patterns[i].advice ? -EINVAL : 0);
		if (r && !strstr(e.text, patterns[i].advice))
			fail_msg("%s", e.text);
	}
}

/* ---- the kernel selects the same calls ---- */

/* Fields of syscalls:sys_enter_getpriority. */
static int find_call(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	static const char *const fields[] = {"which", "who", "COMM"};

	(void)ctx;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (strlen(fields[i]) == len && !memcmp(fields[i], name, len)) {
			*ret_type = i == 2 ? PREDICATE_TEXT : PREDICATE_UNSIGNED;
			return (int)i;
		}
	return -1;
}

static uint64_t argument_of(const void *ctx, unsigned field)
{
	return ((const uint64_t *)ctx)[field];
}

static const char *comm_of(const void *ctx, unsigned field)
{
	(void)ctx;
	(void)field;
	return "predicate-test";
}

static const char *nothing(const void *ctx, size_t n)
{
	(void)ctx;
	(void)n;
	return NULL;
}

static uint64_t count_of(int fd)
{
	uint64_t count = 0;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

static void compare_calls(const struct roots *roots, const char *filter)
{
	const struct predicate_names fields = {
		.find = find_call, .name = nothing, .subject = "the call"};
	int fd = open_tracepoint(roots, "syscalls", "sys_enter_getpriority");
	struct predicate *p;
	struct err e = {};

	assert_true(fd >= 0);
	if (predicate_parse(&p, filter, &fields, &e) < 0)
		fail_msg("%s", e.text);
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		fail_msg("the kernel refuses '%s'", filter);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (uint64_t i = 0; i < 24; i++) {
		/* The arguments need not make sense: the tracepoint comes before they are checked. */
		const uint64_t call[] = {i % 4, i / 4};
		const struct predicate_row calls = {argument_of, comm_of, call};
		uint64_t before = count_of(fd);

		syscall(SYS_getpriority, call[0], call[1]);
		if ((count_of(fd) > before) != predicate_test(p, &calls))
			fail_msg("%s: which %d, who %d is %s for us", filter, (int)call[0],
				 (int)call[1], predicate_test(p, &calls) ? "true" : "false");
	}
	predicate_free(p);
	close(fd);
}

static void the_kernel_selects_the_same(void **state)
{
	static const char *const filters[] = {
		"which == 1",
		"which != 1",
		"which < 2",
		"which <= 2",
		"which > 2",
		"which >= 2",
		"which & 1",
		"which & 2",
		"which & 0",
		"!which & 1",
		"!(which == 1)",
		"!!(which == 1)",
		"which == 1 || who == 2 && which == 3",
		"which == 1 && who == 2 || which == 3",
		"(which == 1 || who == 2) && which == 3",
		"!(which == 1 || who == 2) && which != 3",
		"!(which == 1 && who == 2)",
		"which == 0 || which == 1 || who == 3 && who != 2",
		"!(which < 2 && !(who > 3)) || which == 1 && !who == 0",
		"COMM == \"predicate-test\"",
		"COMM != \"predicate-test\"",
		"COMM == \"predicate\"",
		"COMM ~ \"predicate-test\"",
		"COMM ~ \"predicate\"",
		"COMM ~ \"pred*\"",
		"COMM ~ \"*cate*\"",
		"COMM ~ \"!pred*\"",
		"COMM ~ \"*c?te*\"",
		"COMM ~ \"p*e*t\"",
		"COMM ~ \"[a-p]redicate-[t]est\"",
		"COMM ~ \"[!a-o]redicate*\"",
		"COMM ~ \"[^a-o]redicate-?est\"",
		"COMM ~ \"[]p]redicate?test\"",
		"COMM ~ \"[!]a]redicate?test\"",
		"COMM ~ \"[predicate?test\"",
		"COMM ~ \"\\\\predicate?test\"",
		"COMM ~ \"\\predicate?test\"",
		"COMM ~ \"PRED*\"",
		"COMM ~ \"*\"",
		"COMM ~ \"**\"",
		"COMM ~ \"**test\"",
		"COMM ~ \"**tes\"",
		"COMM ~ \"[p]*\"",
		"COMM ~ \"[7]*\"",
		"COMM ~ \"\"",
		"COMM ~ \"p**?t\"",
		"COMM ~ \"pred*\" && which == 2",
		"!(COMM ~ \"pred*\") || which == 2",
	};
	const struct roots roots = roots_find();

	(void)state;
	close(needs_tracepoint(&roots, "syscalls", "sys_enter_getpriority"));
	assert_int_equal(prctl(PR_SET_NAME, "predicate-test"), 0);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++)
		compare_calls(&roots, filters[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons_hold_or_not),
		cmocka_unit_test(operators_bind_as_in_the_kernel),
		cmocka_unit_test(made_up_conditions_have_the_value_they_were_made_with),
		cmocka_unit_test(only_fields_that_matter_are_read),
		cmocka_unit_test(fields_are_listed_once_and_sorted),
		cmocka_unit_test(errors_point_at_the_character),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(long_chains_are_tested),
		cmocka_unit_test(slow_patterns_end),
		cmocka_unit_test(fields_of_a_format_have_the_right_type),
		cmocka_unit_test(the_kernel_accepts_the_same),
		cmocka_unit_test(some_are_refused_that_the_kernel_ignores),
		cmocka_unit_test(patterns_that_the_kernel_takes_otherwise_are_refused),
		cmocka_unit_test(the_kernel_selects_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
