/* Metric formulas: grammar, names, values, "no value", and every way to get one wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/expr.h"
#include "base/buf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a test knows: "name=value has_event(name)=value …". */
struct world {
	const char *known;
	unsigned asked;
};

static char *spell(enum expr_use use, const char *name)
{
	static const char *const calls[] = {[EXPR_VALUE] = "",
					    [EXPR_HAS_EVENT] = "has_event(",
					    [EXPR_SOURCE_COUNT] = "source_count(",
					    [EXPR_AGGR_NR] = "aggr_nr(",
					    [EXPR_CPUID] = "strcmp_cpuid_str("};

	return xasprintf("%s%s%s", calls[use], name, *calls[use] ? ")" : "");
}

static double lookup(void *arg, enum expr_use use, const char *name, bool *ret_known)
{
	struct world *w = arg;
	char *key = spell(use, name);
	size_t len = strlen(key);
	double value = -1;

	w->asked++;
	for (const char *p = w->known; (p = strstr(p, key)); p++) {
		if ((p != w->known && p[-1] != ' ') || p[len] != '=')
			continue;
		*ret_known = true;
		value = strtod(p + len + 1, NULL);
		break;
	}
	free(key);
	return value;
}

static struct expr *parse(const char *text)
{
	struct expr *x = NULL;
	struct err e = {};

	if (expr_parse(text, &x, &e))
		fail_msg("%s: %s", text, e.text);
	return x;
}

static double value_in(const char *text, const char *known)
{
	struct world w = {known, 0};
	struct expr *x = parse(text);
	struct err e = {};
	double v = 0;

	if (expr_eval(x, lookup, &w, &v, &e))
		fail_msg("%s: %s", text, e.text);
	expr_free(x);
	return v;
}

static double value(const char *text)
{
	return value_in(text, "a=1 b=2 c=3");
}

/* Bit for bit, but any NaN is like any other. */
static void same(const char *text, double got, double want)
{
	if (got != want && !(isnan(got) && isnan(want)))
		fail_msg("%s is %.17g, not %.17g", text, got, want);
}

static void add_name(void *arg, enum expr_use use, const char *name)
{
	struct buf *b = arg;
	char *spelled = spell(use, name);

	buf_addf(b, "%s%s", b->len ? "; " : "", spelled);
	free(spelled);
}

static void assert_names_of(const struct expr *x, const char *want)
{
	struct buf b = {};

	expr_names(x, add_name, &b);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void assert_names(const char *text, const char *want)
{
	struct expr *x = parse(text);

	assert_names_of(x, want);
	expr_free(x);
}

static void assert_wrong(const char *text, int code, const char *sentence)
{
	struct expr *untouched = (struct expr *)&code, *x = untouched;
	struct err e = {};

	assert_int_equal(expr_parse(text, &x, &e), -code);
	assert_ptr_equal(x, untouched);
	assert_int_equal(e.code, code);
	assert_string_equal(e.text, sentence);
	assert_int_equal(expr_parse(text, &x, NULL), -code);
}

struct row {
	const char *text;
	double value;
};

static void assert_rows(const struct row *rows)
{
	for (; rows->text; rows++)
		same(rows->text, value(rows->text), rows->value);
}

static void numbers(void **state)
{
	static const struct row rows[] = {
		{"0", 0},       {"12", 12},         {"1.5", 1.5},
		{".5", 0.5},    {"2.", 2},          {"1e9", 1e9},
		{"1E9", 1e9},   {"1.1e-2", 1.1e-2}, {"1e+3", 1e3},
		{"0x3c", 60},   {"0XfF", 255},      {"0xffffffffffffffff", 18446744073709551615.0},
		{"0x1e-3", 27}, {"1e3-1", 999},     {"1e-400", 0},
		{"NaN", NAN},   {" \t\r\n7\n", 7},  {}};

	(void)state;
	assert_rows(rows);
}

static void precedence(void **state)
{
	static const struct row rows[] = {
		{"1+2*3", 7},     {"(1+2)*3", 9},   {"10-4-3", 3},        {"100/10/5", 2},
		{"100/10*5", 50}, {"2*3%4", 2},     {"7 % 4 + 1", 4},     {"1 - -4", 5},
		{"-2*3", -6},     {"--3", 3},       {"---3", -3},         {"2*-3", -6},
		{"-(1+2)", -3},   {"1+1 > 1", 1},   {"1 < 2 & 2 < 1", 0}, {"1-1 | 1", 1},
		{"1-1 & 1", 0},   {"1 | 0 & 0", 1}, {"1 | 1 ^ 1", 1},     {"(1 | 1) ^ 1", 0},
		{"0 ^ 1 & 0", 0}, {"3 > 2 > 1", 0}, {"a+b*c-a", 6},       {}};

	(void)state;
	assert_rows(rows);
}

static void comparisons_and_logic(void **state)
{
	static const struct row rows[] = {
		{"1.1 < 2.2", 1}, {"2.2 < 1.1", 0}, {"1.1 < 1.1", 0},      {"2.2 > 1.1", 1},
		{"1.1 > 1.1", 0}, {"2 <= 2", 1},    {"3 <= 2", 0},         {"2 >= 2", 1},
		{"1 >= 2", 0},    {"2 == 2", 1},    {"2 == 3", 0},         {"2 != 3", 1},
		{"2 != 2", 0},    {"2 > = 2", 1},   {"3 < = 2", 0},        {"4 & 2", 1},
		{"4 && 0", 0},    {"4 | 0", 1},     {"0 || 0", 0},         {"4 ^ 2", 0},
		{"4 ^ 0", 1},     {"0 ^ 0", 0},     {"0.5 & 0.25", 1},     {"7 % -4", 3},
		{"-7 % 4", -3},   {"7.9 % 4.9", 3}, {"8e20 % 3e20", 2e20}, {}};

	(void)state;
	assert_rows(rows);
}

static void conditions(void **state)
{
	static const struct row rows[] = {{"1+1 if 3*4 else 0", 2},
					  {"100 if 1 else 200 if 1 else 300", 100},
					  {"100 if 0 else 200 if 1 else 300", 200},
					  {"100 if 1 else 200 if 0 else 300", 100},
					  {"100 if 0 else 200 if 0 else 300", 300},
					  {"1 if 0 else 2 if 0 else 3 if 0 else 4 if 1 else 5", 4},
					  {"(1 if 0 else 2) if 1 else 3", 2},
					  {"1 if (0 if 1 else 1) else 2", 2},
					  {"1 + 2 if 0 else 3 * 4", 12},
					  {"2 * (5 if a < b else 6)", 10},
					  {"max(1 if 0 else 7, 2)", 7},
					  {"(1)if(0)else(2)", 2},
					  {"1 if -0.5 else 2", 1},
					  {}};

	(void)state;
	assert_rows(rows);
}

static void functions(void **state)
{
	static const struct row rows[] = {{"min(1,2) + 1", 2},    {"max(1,2) + 1", 3},
					  {"min ( b , c )", 2},   {"max(min(a, b), min(b, c))", 2},
					  {"d_ratio(1, 2)", 0.5}, {"d_ratio(2.5, 0)", 0},
					  {"abs(1-4)", 3},        {"abs(4)", 4},
					  {"-min(-1, -2)", 2},    {}};

	(void)state;
	assert_rows(rows);
}

static void no_value(void **state)
{
	char none[] =
		"a / 0; 0 / 0; a / (b - b); a % 0; a % 0.5; 1 + a / 0; 0 * (a / 0); -(a / 0); "
		"abs(a / 0); min(1, a / 0); max(a / 0, 1); a / 0 > 1; a / 0 == a / 0; "
		"1 if a / 0 else 2; 1 if a / 0 > 3 else 2; d_ratio(a / 0, 1); "
		"d_ratio(1, a / 0); 1 & a / 0; a / 0 | 0; a / 0 ^ 1; 1e308 * 10; -1e308 * 10";
	static const struct row decided[] = {{"1 if b else a / 0", 1},
					     {"d_ratio(a / 0, 0)", 0},
					     {"0 & a / 0", 0},
					     {"a / 0 & 0", 0},
					     {"a / 0 | 1", 1},
					     {"min(1e308 * 10, 5)", 5},
					     {}};
	char *rest;

	(void)state;
	for (char *text = strtok_r(none, ";", &rest); text; text = strtok_r(NULL, ";", &rest))
		same(text, value(text), NAN);
	assert_rows(decided);
}

static void names(void **state)
{
	(void)state;
	assert_names("1 + 2", "");
	assert_names("FOO + BAR * FOO - BAZ", "FOO; BAR; BAZ");
	assert_names("UNC_M_CAS_COUNT.RD * 64 / 1e9 / duration_time",
		     "UNC_M_CAS_COUNT.RD; duration_time");
	assert_names("cpu@event\\=0x3c\\,umask\\=0x1@ / msr@tsc@",
		     "cpu/event=0x3c,umask=0x1/; msr/tsc/");
	assert_names("cpu_core@CYCLES@", "cpu_core/CYCLES/");
	assert_names("topdown\\-fe\\-bound - topdown\\-retiring",
		     "topdown-fe-bound; topdown-retiring");
	assert_names("dash\\-event1-dash\\-event2", "dash-event1; dash-event2");
	assert_names("\\-odd\\@\\/\\\\", "-odd@/\\");
	assert_names("instructions:u / cycles:k", "instructions:u; cycles:k");
	assert_names("#num_cpus-1", "#num_cpus");
	assert_names("#SMT_on + #smt_on + #SYSTEM_TSC_FREQ", "#smt_on; #system_tsc_freq");
	assert_names("EVENT1\\,param\\=?@", "EVENT1,param=?/");
	assert_names("(b / a[0]) * socket_count", "b; a[0]; socket_count");
	assert_names("min + max(min, if_only)", "min; if_only");
	assert_names("x if x else x", "x");
	assert_names("fp_inst_retired.32b_sp", "fp_inst_retired.32b_sp");
	assert_names("e-9", "e");
}

static void names_of_functions(void **state)
{
	const char *known = "x=100 has_event(x)=1 has_event(cpu/y,cmask=1/)=0 source_count(x)=4 "
			    "aggr_nr(x)=8 strcmp_cpuid_str(0x410fd493)=1 "
			    "strcmp_cpuid_str(GenuineIntel-6-8F)=0";

	(void)state;
	assert_names("x / source_count(x) + aggr_nr(x) + has_event( x )",
		     "x; source_count(x); aggr_nr(x); has_event(x)");
	assert_names("strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x489\\-0x8000)",
		     "strcmp_cpuid_str(0x410fd493); strcmp_cpuid_str(0x489-0x8000)");
	same("x", value_in("x / source_count(x) + aggr_nr(x)", known), 33);
	same("has", value_in("has_event(x) + 2 * has_event(cpu@y\\,cmask\\=1@)", known), 1);
	same("cpuid", value_in("strcmp_cpuid_str(0x410fd493)", known), 1);
	same("cpuid", value_in("strcmp_cpuid_str(GenuineIntel\\-6\\-8F)", known), 0);
}

static void unknown_names(void **state)
{
	const char *known = "a=1 zero=0";
	struct world w = {known, 0};
	struct expr *x = parse("a + zero * cpu@foo\\,edge@ + missing");
	struct err e = {};
	double v = 42;

	(void)state;
	assert_int_equal(expr_eval(x, lookup, &w, &v, &e), -ENOENT);
	assert_string_equal(e.text, "column 12 of the formula: 'cpu/foo,edge/' is not known");
	assert_int_equal(e.code, ENOENT);
	assert_true(v == 42);
	assert_int_equal(expr_eval(x, lookup, &w, &v, NULL), -ENOENT);
	expr_free(x);

	x = parse("a if source_count(a) else a");
	assert_int_equal(expr_eval(x, lookup, &w, &v, &e), -ENOENT);
	assert_string_equal(e.text, "column 19 of the formula: 'a' is not known");
	expr_free(x);

	/* Where the result does not depend on it, a name need not be known. */
	same("if", value_in("a if a else missing", known), 1);
	same("else", value_in("missing if zero else a", known), 1);
	same("and", value_in("missing & zero", known), 0);
	same("or", value_in("missing > 3 | a", known), 1);
	same("d_ratio", value_in("d_ratio(missing, zero)", known), 0);
}

static void asks_once(void **state)
{
	struct world w = {"m=3", 0};
	struct expr *x = parse("m * m + m / m - max(m, m)");
	double v;

	(void)state;
	assert_int_equal(expr_eval(x, lookup, &w, &v, NULL), 0);
	assert_true(v == 7);
	assert_int_equal(w.asked, 1);
	expr_free(x);
}

static void assert_folded(const char *text, const char *known, const char *want)
{
	struct world w = {known, 0};
	struct expr *x = parse(text);

	expr_fold(x, lookup, &w);
	assert_names_of(x, want);
	expr_fold(x, lookup, &w);
	assert_names_of(x, want);
	expr_free(x);
}

static void folding(void **state)
{
	const char *on = "#smt_on=1 has_event(NEW)=0 #none=nan", *off = "#smt_on=0";

	(void)state;
	assert_folded("EVENT1 if #smt_on else EVENT2", on, "EVENT1");
	assert_folded("EVENT1 if #smt_on else EVENT2", off, "EVENT2");
	assert_folded("EVENT1 if #smt_on else EVENT2", "", "EVENT1; #smt_on; EVENT2");
	assert_folded("A + (B if #smt_on else C if D else E) * B", off, "A; B; C; D; E");
	assert_folded("A + (B if #smt_on else C if D else E) * A", off, "A; C; D; E");
	assert_folded("0 & EVENT1 > 0", "", "");
	assert_folded("EVENT1 > 0 & 0", "", "");
	assert_folded("1 & EVENT1 > 0", "", "EVENT1");
	assert_folded("1 | EVENT1 > 0", "", "");
	assert_folded("EVENT1 > 0 | 1", "", "");
	assert_folded("EVENT1 > 0 | 0", "", "EVENT1");
	assert_folded("NEW / 2 if has_event(NEW) else OLD", on, "OLD");
	assert_folded("d_ratio(A, 0)", "", "");
	assert_folded("A if #none else B", on, "");
}

static void value_after_folding(void **state)
{
	struct world w = {"#smt_on=1", 0};
	struct expr *x = parse("-(A / 2 if #smt_on else C) + (C if #smt_on < 1 else B * 10)");
	double v;

	(void)state;
	expr_fold(x, lookup, &w);
	w = (struct world){"A=6 B=4", 0};
	assert_int_equal(expr_eval(x, lookup, &w, &v, NULL), 0);
	assert_true(v == 37);
	assert_int_equal(w.asked, 2);
	expr_free(x);
}

/* As they stand in the event files of the kernel and of Intel. */
static const struct {
	const char *text, *known;
	double value;
} formulas[] = {
	/* Ice Lake server: tma_retiring, smi_cycles, memory latency */
	{"topdown\\-retiring / (topdown\\-fe\\-bound + topdown\\-bad\\-spec + "
	 "topdown\\-retiring + topdown\\-be\\-bound) + 0*SLOTS",
	 "topdown-fe-bound=10 topdown-bad-spec=20 topdown-retiring=30 topdown-be-bound=60 "
	 "SLOTS=1000",
	 0.25},
	{"((msr@aperf@ - cycles) / msr@aperf@ if msr@smi@ > 0 else 0)",
	 "msr/aperf/=200 msr/smi/=1 cycles=150", 0.25},
	{"1e9 * (UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD / UNC_CHA_TOR_INSERTS.IA_MISS_DRD) / "
	 "(UNC_CHA_CLOCKTICKS / (source_count(UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD) * "
	 "#num_packages)) * duration_time",
	 "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD=600 UNC_CHA_TOR_INSERTS.IA_MISS_DRD=3 "
	 "UNC_CHA_CLOCKTICKS=800e9 source_count(UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD)=40 "
	 "#num_packages=2 duration_time=2",
	 40},
	/* Skylake: the events of the branches that are not taken were not counted */
	{"((CPU_CLK_UNHALTED.THREAD / 2) * (1 + CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE / "
	 "CPU_CLK_UNHALTED.REF_XCLK)) if #core_wide < 1 else "
	 "(CPU_CLK_UNHALTED.THREAD_ANY / 2) if #SMT_on else CLKS",
	 "CPU_CLK_UNHALTED.THREAD=80 CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE=5 "
	 "CPU_CLK_UNHALTED.REF_XCLK=10 #core_wide=0",
	 60},
	/* Zen 4: frontend_bound_bandwidth, with another metric in it */
	{"d_ratio(de_no_dispatch_per_slot.no_ops_from_frontend - (6 * "
	 "cpu@de_no_dispatch_per_slot.no_ops_from_frontend\\,cmask\\=0x6@), "
	 "total_dispatch_slots)",
	 "de_no_dispatch_per_slot.no_ops_from_frontend=360 total_dispatch_slots=600 "
	 "cpu/de_no_dispatch_per_slot.no_ops_from_frontend,cmask=0x6/=20",
	 0.4},
	/* Neoverse N2: bad_speculation */
	{"(100 * (((1 - (OP_RETIRED / OP_SPEC)) * (1 - (((STALL_SLOT) if "
	 "(strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1) else "
	 "(STALL_SLOT - CPU_CYCLES)) / (CPU_CYCLES * #slots)))) + ((BR_MIS_PRED * 4) / "
	 "CPU_CYCLES)))",
	 "OP_RETIRED=3 OP_SPEC=4 STALL_SLOT=300 CPU_CYCLES=100 BR_MIS_PRED=2 #slots=5 "
	 "strcmp_cpuid_str(0x410fd493)=0 strcmp_cpuid_str(0x410fd490)=1",
	 23},
	/* Granite Rapids, in Intel's form, and a threshold */
	{"100 * ( ( min( ( a * b ) , a * 1 ) if ( b > = 0 ) else ( a * 1 ) ) / ( c ) )",
	 "a=6 b=-1 c=12", 50},
	{"tma_x > 0.2 & (tma_y > 0.1 | tma_z > 0.5)", "tma_x=0.3 tma_y=0.2", 1},
};

static void real_formulas(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(formulas); i++)
		assert_true(fabs(value_in(formulas[i].text, formulas[i].known) -
				 formulas[i].value) < 1e-9);
}

static void mistakes(void **state)
{
#define AT(n) "column " #n " of the formula: "
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{"", AT(1) "expected a number or a name, but it ends"},
		{"  ", AT(3) "expected a number or a name, but it ends"},
		{"BAR/", AT(5) "expected a number or a name, but it ends"},
		{"a + / b", AT(5) "expected a number or a name, but found '/'"},
		{"a b", AT(3) "expected an operator or the end, but found 'b'"},
		{"a 5", AT(3) "expected an operator or the end, but found '5'"},
		{"a)", AT(2) "expected an operator or the end, but found ')'"},
		{"(a", AT(3) "expected an operator or ')', but it ends"},
		{"(a b)", AT(4) "expected an operator or ')', but found 'b'"},
		{"()", AT(2) "expected a number or a name, but found ')'"},
		{"a if b", AT(7) "expected an operator or 'else', but it ends"},
		{"a if b, c", AT(7) "expected an operator or 'else', but found ','"},
		{"a if else b", AT(6) "expected a number or a name, but found 'else'"},
		{"if a else b", AT(1) "expected a number or a name, but found 'if'"},
		{"a else b", AT(3) "expected an operator or the end, but found 'else'"},
		{"min(a)", AT(6) "expected ',', but found ')'"},
		{"min(a, b, c)", AT(9) "expected ')', but found ','"},
		{"min(a, b", AT(9) "expected ')', but it ends"},
		{"abs(a, b)", AT(6) "expected ')', but found ','"},
		{"has_event(a + b)", AT(13) "expected ')', but found '+'"},
		{"has_event()", AT(11) "expected the name of an event, but found ')'"},
		{"source_count((a))", AT(14) "expected the name of an event, but found '('"},
		{"1 + foo(2)",
		 AT(5) "expected one of the functions min, max, d_ratio, abs, has_event, "
		       "source_count, aggr_nr, strcmp_cpuid_str, but found 'foo'"},
		{"1.2.3", AT(1) "'1.2.3' is not a number"},
		{"a * 4K", AT(5) "'4K' is not a number"},
		{"1e", AT(1) "'1e' is not a number"},
		{"0x", AT(1) "'0x' is not a number"},
		{"0x12345678901234567", AT(1) "'0x12345678901234567' is not a number"},
		{"1e999", AT(1) "'1e999' is not a number"},
		{"1 + .", AT(5) "'.' is not a number"},
		{"a ! b", AT(3) "unexpected '!'"},
		{"a = b", AT(3) "unexpected '=' (in an event write '\\=', to compare '==')"},
		{"a + # b", AT(5) "unexpected '#'"},
		{"[0]", AT(1) "unexpected '['"},
		{"a + \\", AT(5) "unexpected '\\'"},
		{"a\\ b", AT(2) "unexpected '\\'"},
		{"$a", AT(1) "unexpected '$'"},
		{"a + \001", AT(5) "unexpected byte 0x01"},
		{"a + \xc3\xa9", AT(5) "unexpected byte 0xc3"},
		{"a\\\xc3\xa9", AT(2) "unexpected '\\'"},
	};
#undef AT
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_wrong(rows[i].text, EINVAL, rows[i].sentence);
}

static char *repeat(const char *s, size_t count, const char *end)
{
	struct buf b = {};

	while (count--)
		buf_add(&b, s);
	buf_add(&b, end);
	return buf_steal(&b);
}

static void too_deep(void **state)
{
	static const char *const bombs[] = {"(",    "1+(", "-(", "min(1,", "1 if 1 else ",
					    "abs(", "2*-("};
	struct err e = {};
	struct expr *x;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bombs); i++) {
		char *s = repeat(bombs[i], EXPR_TEXT_MAX / strlen(bombs[i]) - 1, "1");

		assert_int_equal(expr_parse(s, &x, &e), -E2BIG);
		assert_non_null(strstr(e.text, "nested more than 200 levels deep"));
		free(s);
	}
}

static void deep_enough(void **state)
{
	char *inner = repeat("(", EXPR_DEPTH_MAX - 1, "7");
	char *s = repeat(")", EXPR_DEPTH_MAX - 1, "");
	char *whole = xasprintf("%s%s", inner, s), *over = xasprintf("(%s%s)", inner, s);

	(void)state;
	assert_true(value(whole) == 7);
	assert_wrong(over, E2BIG, "column 201 of the formula: nested more than 200 levels deep");
	free(inner);
	free(s);
	free(whole);
	free(over);
}

/* Length is not depth: these are as large as a formula may be, and must not use the stack. */
static void long_chains(void **state)
{
	char *sum = repeat("1+", EXPR_TEXT_MAX / 2 - 1, "1");
	char *minus = repeat("-", EXPR_TEXT_MAX - 1, "1");
	char *product = repeat("b*0+", EXPR_TEXT_MAX / 4 - 1, "b");

	(void)state;
	assert_true(value(sum) == EXPR_TEXT_MAX / 2);
	assert_true(value(minus) == -1);
	assert_true(value(product) == 2);
	free(sum);
	free(minus);
	free(product);
}

static void many_names(void **state)
{
	struct buf b = {}, names_found = {};
	struct expr *x;
	unsigned count = 0;

	(void)state;
	while (b.len < EXPR_TEXT_MAX - 16)
		buf_addf(&b, "%sn%x", count ? "+" : "", count), count++;
	x = parse(buf_str(&b));
	expr_names(x, add_name, &names_found);
	assert_memory_equal(buf_str(&names_found), "n0; n1; n2; ", 12);
	expr_free(x);
	buf_release(&b);
	buf_release(&names_found);
}

static void too_long(void **state)
{
	char *s = repeat("x", 1 << 20, "");
	char *limit = repeat("x", EXPR_TEXT_MAX, "");

	(void)state;
	assert_wrong(s, E2BIG, "the formula is longer than 131072 bytes");
	assert_names(limit, limit);
	free(s);
	free(limit);
}

static void freeing_nothing(void **state)
{
	(void)state;
	expr_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(precedence),
		cmocka_unit_test(comparisons_and_logic),
		cmocka_unit_test(conditions),
		cmocka_unit_test(functions),
		cmocka_unit_test(no_value),
		cmocka_unit_test(names),
		cmocka_unit_test(names_of_functions),
		cmocka_unit_test(unknown_names),
		cmocka_unit_test(asks_once),
		cmocka_unit_test(folding),
		cmocka_unit_test(value_after_folding),
		cmocka_unit_test(real_formulas),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(deep_enough),
		cmocka_unit_test(long_chains),
		cmocka_unit_test(many_names),
		cmocka_unit_test(too_long),
		cmocka_unit_test(freeing_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
