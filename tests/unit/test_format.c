/*
 * Formats of tracepoints: fields, foreign byte orders, what broken texts and short data do, and all
 * formats of this kernel.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fs.h"
#include "event/format/format.h"
#include "format_sample.h"

#include <errno.h>

/* ---- what cannot be evaluated ---- */

/* A line feed is printable to perf, which is why sa6 looks as it does. */
static void falls_back(void **state)
{
	static const char *const texts[] = {
		"\"%d\"",
		"\"%d %d\", 1",
		"\"%q\", 1",
		"\"%s\", kernel_function(REC->v)",
		"\"%d\", REC->nothing",
		"\"%s\", __get_str(nothing)",
		"\"%d\", ({ int x = 1; x; })",
		"\"%d\", (REC->v",
		"\"%d\", REC->v +",
		"\"%d\", 0x1g",
		"\"%d\", 99999999999999999999",
		"\"%d\", ''",
		"\"open, REC->v",
		"\"%d\", sizeof(struct unknown)",
		"\"%s\", __print_symbolic(REC->v",
		"\"%s\", __print_flags(REC->v)",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(buf_release) struct buf out = {};
		char *text = sample_format(texts[i]);
		struct tracepoint_format f;

		assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL),
				 0);
		if (f.print || !f.problem[0])
			fail_msg("%s was parsed", texts[i]);
		tracepoint_format_print(&f, &sample, sizeof(sample), NULL, &out);
		assert_string_equal(
			buf_str(&out),
			"[FAILED TO PARSE] v=18364758544493064720 i=-5 b=200 sb=-3 h=48879 s=hello "
			"d=dynam a=ARRAY[01, 00, 00, 00, ff, ff, ff, ff, 80, 00, 00, 00] "
			"arr=ARRAY[01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f, 10] "
			"p=0xffffffff81000000 r=dynam w=ARRAY[44, 33, 22, 11, dd, cc, bb, aa] "
			"m=ARRAY[0f, 00, 00, 00, 00, 00, 00, f0, 05, 00, 00, 00, 00, 00, 00, 00] "
			"sa=ARRAY[02, 00, 1f, 90, 7f, 00, 00, 01, 00, 00, 00, 00, 00, 00, 00, 00] "
			"sa6=\n mac=ARRAY[02, 42, ac, 11, 00, 09] "
			"ip=ARRAY[c0, a8, 01, 14] zip=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, "
			"00, 00, "
			"00, 00, 00, 00, 01]");
		tracepoint_format_release(&f);
		free(text);
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{"", EINVAL},
		{"ID: 3\n", EINVAL},
		{"name: x\n", EINVAL},
		{"name: x\nID: 70000\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:;\toffset:0;\tsize:4;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a];\toffset:0;\tsize:4;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a;\toffset:99999999999;\tsize:4;\n", EINVAL},
	};
	struct tracepoint_format f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		e = (struct err){};
		assert_int_equal(tracepoint_format_parse(&f, "t", cases[i].text,
							 strlen(cases[i].text), ours, &e),
				 -cases[i].code);
		assert_true(e.text[0]);
	}
	assert_int_equal(tracepoint_format_parse(&f, "t", "", FORMAT_TEXT_LIMIT + 1, ours, &e),
			 -EFBIG);
}

static void limits(void **state)
{
	struct buf deep = {}, chain = {}, fields = {};
	struct tracepoint_format f;
	struct err e = {};
	char *text;

	(void)state;
	buf_add(&deep, "\"%d\", ");
	buf_pad(&deep, 100000, '(');
	buf_add(&chain, "\"%d\", REC->v");
	for (int i = 0; i < 1000; i++)
		buf_add(&chain, " + REC->v");
	text = sample_format(buf_str(&deep));
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.problem, "print fmt is nested too deeply");
	tracepoint_format_release(&f);
	free(text);
	text = sample_format(buf_str(&chain));
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.problem, "print fmt is too large");
	tracepoint_format_release(&f);
	free(text);
	buf_add(&fields, "name: x\nID: 1\n");
	for (int i = 0; i <= FORMAT_FIELD_LIMIT; i++)
		buf_addf(&fields, "field:int f%d;offset:%d;size:4;signed:1;\n", i, 4 * i);
	assert_int_equal(tracepoint_format_parse(&f, "t", fields.s, fields.len, ours, &e), -E2BIG);
	buf_release(&deep);
	buf_release(&chain);
	buf_release(&fields);
}

/* Whatever is cut off is missing, and nothing else is touched; ASan watches. */
static void short_data(void **state)
{
	char *text = sample_format(
		"\"%d %s %s %s %pU %s %s %s %*pbl %pM %s\", REC->i, REC->s, __get_str(d), "
		"__get_rel_str(r), REC->arr, __print_hex(REC->arr, REC->v), __get_bitmask(m), "
		"__get_sockaddr(sa6), 99, REC->w, REC->mac, __print_array(__get_dynamic_array(a), "
		"9, 4)");
	struct tracepoint_format f;
	struct buf out = {};

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_non_null(f.print);
	for (size_t size = 0; size <= sizeof(sample); size++) {
		void *raw = malloc(size ? size : 1);

		memcpy(raw, &sample, size);
		buf_clear(&out);
		tracepoint_format_print(&f, raw, size, NULL, &out);
		free(raw);
	}
	buf_clear(&out);
	tracepoint_format_print(&f, NULL, 0, NULL, &out);
	assert_string_equal(buf_str(&out), "0    INVALIDUUID     INVALIDMAC ");
	tracepoint_format_release(&f);
	free(text);
	text = sample_format("\"%999999999d %*s\", 1, 2000000000, \"x\"");
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	buf_clear(&out);
	tracepoint_format_print(&f, &sample, sizeof(sample), NULL, &out);
	assert_int_equal(out.len, FORMAT_OUTPUT_LIMIT);
	tracepoint_format_release(&f);
	free(text);
	buf_release(&out);
}

/* ---- fields ---- */

static void fields(void **state)
{
	char *text = sample_format("\"\"");
	const struct tracepoint_field *field;
	struct tracepoint_format f;
	uint64_t v = 0;
	size_t len;

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "sys", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.system, "sys");
	assert_string_equal(f.name, "all");
	assert_int_equal(f.id, 1);
	assert_int_equal(f.common_count, 4);
	assert_int_equal(f.fields.len, 4 + ARRAY_LEN(sample_fields));
	assert_null(tracepoint_format_field(&f, "nothing"));
	field = tracepoint_format_field(&f, "w");
	assert_string_equal(field->type, "u32");
	assert_true(field->is_array && field->array_len == 2 && field->unit_bytes == 4);
	field = tracepoint_format_field(&f, "m");
	assert_true(field->place == FIELD_DATA_LOC && field->is_array && field->unit_bytes == 8);
	field = tracepoint_format_field(&f, "p");
	assert_true(field->is_pointer && !field->is_array);
	field = tracepoint_format_field(&f, "sb");
	assert_true(tracepoint_field_value(&f, field, &sample, sizeof(sample), &v));
	assert_true(v == (uint64_t)-3);
	assert_false(tracepoint_field_value(&f, field, &sample, field->offset, &v));
	field = tracepoint_format_field(&f, "r");
	assert_ptr_equal(tracepoint_field_text(&f, field, &sample, sizeof(sample), &len),
			 sample.dynamic);
	assert_int_equal(len, 5);
	assert_null(tracepoint_field_text(&f, field, &sample, AT(dynamic) + 5, &len));
	tracepoint_format_release(&f);
	free(text);
}

static void foreign_order(void **state)
{
	static const char text[] = "name: x\nID: 3\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n"
				   "\tfield:__data_loc char[] s;\toffset:4;\tsize:4;\tsigned:0;\n"
				   "\tfield:unsigned long l;\toffset:8;\tsize:4;\tsigned:0;\n\n"
				   "print fmt: \"%d %s %lx %d\", REC->a, __get_str(s), "
				   "(unsigned long)-1, sizeof(long)\n";
	static const unsigned char raw[] = {0xff, 0xff, 0xff, 0xfe, 0,   3,   0, 12,
					    0,    0,    0,    1,    'a', 'b', 0};
	uint16_t one = 1;
	bool is_little = *(unsigned char *)&one == 1;
	struct tracepoint_format f;
	struct buf out = {};

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text),
						 (struct tracepoint_abi){is_little, 4}, NULL),
			 0);
	tracepoint_format_print(&f, raw, sizeof(raw), NULL, &out);
	assert_string_equal(buf_str(&out), "-2 ab ffffffff 4");
	tracepoint_format_release(&f);
	buf_release(&out);
}

/* ---- this kernel ---- */

static size_t check_system(const char *dir, const char *system, size_t *fallbacks)
{
	strvec names = {};
	size_t count = 0;
	char *path = xasprintf("%s/%s", dir, system);

	fs_list(path, &names);
	vec_each(&names, name) {
		char *file = xasprintf("%s/%s/format", path, *name), *text = NULL;
		struct tracepoint_format f;
		struct err e = {};

		if (!fs_read(file, FORMAT_TEXT_LIMIT, &text)) {
			if (tracepoint_format_parse(&f, system, text, strlen(text), ours, &e))
				fail_msg("%s: %s", file, e.text);
			assert_string_equal(f.name, *name);
			*fallbacks += !f.print;
			count++;
			tracepoint_format_release(&f);
		}
		free(text);
		free(file);
	}
	strvec_release(&names);
	free(path);
	return count;
}

static void this_kernel(void **state)
{
	static const char dir[] = "/sys/kernel/tracing/events";
	size_t count = 0, fallbacks = 0;
	strvec systems = {};

	(void)state;
	fs_list(dir, &systems);
	vec_each(&systems, system)
		count += check_system(dir, *system, &fallbacks);
	strvec_release(&systems);
	if (!count) {
		print_message("# SKIP tracefs cannot be read\n");
		skip();
	}
	print_message("# %zu formats, %zu of them without a print fmt that can be evaluated\n",
		      count, fallbacks);
	/* One in a hundred calls functions of the kernel. */
	assert_true(fallbacks * 100 <= count + 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(falls_back),  cmocka_unit_test(refuses),
		cmocka_unit_test(limits),      cmocka_unit_test(short_data),
		cmocka_unit_test(fields),      cmocka_unit_test(foreign_order),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
