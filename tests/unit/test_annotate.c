/* An annotation of a made-up function: weights, lines, jumps, and how it looks as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/annotate/annotate.h"
#include "export/annotate_html.h"
#include "export/annotate_json.h"
#include "export/annotate_text.h"

#include <stdio.h>
#include <string.h>

static const char *const source[] = {
	"#include <x.h>",
	"",
	"long sum(const long *v, long n)",
	"{",
	"\tlong s = 0;",
	"",
	"\tfor (long i = 0; i < n; i++)",
	"\t\ts += v[i];",
	"\treturn s;",
	"}",
	"",
	"/* end */",
};

static const char *line_of(void *ctx, const char *file, uint32_t line)
{
	(void)ctx;
	if (strcmp(file, "/src/sum.c") || !line || line > ARRAY_LEN(source))
		return NULL;
	return source[line - 1];
}

static const char *evil_line(void *ctx, const char *file, uint32_t line)
{
	(void)file;
	return line == 1 ? ctx : NULL;
}

static void add(struct annotation *a, uint64_t address, uint32_t size, const char *text,
		enum annotated_flow flow, uint64_t target)
{
	annotation_add_instruction(
		a, &(struct annotated_instruction){.address = address,
						   .size = size,
						   .text = annotation_string(a, text, strlen(text)),
						   .flow = flow,
						   .target = target});
}

static void row(struct annotation *a, uint64_t address, const char *file, uint32_t line)
{
	annotation_add_row(a, address, file, line, (pool_text){0});
}

/* A loop, an inlined line of another file, a jump out, weights also inside of instructions. */
static void build(struct annotation *a)
{
	annotation_init(a);
	a->function = annotation_string(a, "sum", 3);
	a->module = annotation_string(a, "/bin/x", 6);
	a->event = annotation_string(a, "cycles", 6);
	add(a, 0x1000, 3, "xorl    %eax, %eax", ANNOTATED_NEXT, 0);
	add(a, 0x1003, 2, "jmp     0x1009", ANNOTATED_JUMP, 0x1009);
	add(a, 0x1005, 4, "addq    (%rdi), %rax", ANNOTATED_NEXT, 0);
	add(a, 0x1009, 3, "cmpq    %rsi, %rdx", ANNOTATED_NEXT, 0);
	add(a, 0x100c, 2, "jne     0x1005", ANNOTATED_JUMP, 0x1005);
	add(a, 0x100e, 2, "je      0x1006", ANNOTATED_JUMP, 0x1006);
	add(a, 0x1010, 1, "retq", ANNOTATED_RETURN, 0);
	row(a, 0x1000, "/src/sum.c", 5);
	row(a, 0x1003, "/src/sum.c", 7);
	row(a, 0x1005, "/src/sum.c", 8);
	row(a, 0x1009, "/inc/limit.h", 40);
	row(a, 0x100c, "/src/sum.c", 7);
	row(a, 0x100e, NULL, 0);
	row(a, 0x1010, "/src/sum.c", 9);
	annotation_add_weight(a, 0x1005, 500, 5);
	annotation_add_weight(a, 0x1007, 100, 1); /* skid into the middle */
	annotation_add_weight(a, 0x1009, 300, 3);
	annotation_add_weight(a, 0x100c, 90, 10);
	annotation_add_weight(a, 0x2000, 10, 1); /* nowhere */
	a->weight = 1000;
	a->samples = 20;
	a->all_weight = 4000;
	a->all_samples = 50;
	annotation_finish(a, line_of, NULL);
}

static void weights(void **state)
{
	struct annotation a;
	uint32_t hot[8];

	(void)state;
	build(&a);
	assert_int_equal(a.instructions.items[2].weight, 600);
	assert_int_equal(a.instructions.items[2].samples, 6);
	assert_int_equal(a.hottest, 3);
	assert_int_equal(a.lost_weight, 10);
	assert_int_equal(annotation_find(&a, 0x1008), 3);
	assert_int_equal(annotation_find(&a, 0xfff), 0);
	assert_int_equal(annotation_find(&a, 0x1011), 0);
	assert_true(annotation_share(&a, LOCAL_PERIOD, 600, 6) == 60);
	assert_true(annotation_share(&a, LOCAL_HITS, 600, 6) == 30);
	assert_true(annotation_share(&a, GLOBAL_PERIOD, 600, 6) == 15);
	assert_true(annotation_share(&a, GLOBAL_HITS, 600, 6) == 12);
	assert_int_equal(annotation_hot_lines(&a, hot, ARRAY_LEN(hot)), 3);
	assert_int_equal(a.lines.items[hot[0]].number, 8);
	assert_int_equal(a.lines.items[hot[1]].number, 40);
	assert_int_equal(a.lines.items[hot[2]].number, 7);
	assert_int_equal(annotation_hot_lines(&a, hot, 2), 2);
	assert_int_equal(a.lines.items[hot[1]].number, 40);
	annotation_release(&a);
}

static void lines(void **state)
{
	struct annotation a;

	(void)state;
	build(&a);
	/* 3 to 11: two lines around those with code; and the one whose source is not there. */
	assert_int_equal(a.files.len, 2);
	assert_string_equal(annotation_text(&a, a.files.items[0].path), "/src/sum.c");
	assert_int_equal(a.files.items[0].count, 9);
	assert_int_equal(a.lines.items[0].number, 3);
	assert_int_equal(a.lines.items[8].number, 11);
	for (uint32_t i = 1; i < 9; i++)
		assert_int_equal(a.lines.items[i].number, a.lines.items[i - 1].number + 1);
	assert_false(a.lines.items[3].has_code); /* line 6 */
	assert_int_equal(a.files.items[1].first, 9);
	assert_int_equal(a.files.items[1].count, 1);
	assert_false(a.lines.items[9].has_text);
	assert_int_equal(a.files.items[0].weight, 690);
	assert_int_equal(a.files.items[1].weight, 300);
	/* A line twice in the code is one line. */
	assert_int_equal(a.instructions.items[1].line, a.instructions.items[4].line);
	assert_int_equal(a.instructions.items[5].line, 0);
	annotation_release(&a);
}

static void arrows(void **state)
{
	struct annotation a;
	arrow_list list = {};

	(void)state;
	build(&a);
	assert_int_equal(a.instructions.items[1].jumps_to, 4);
	assert_int_equal(a.instructions.items[4].jumps_to, 3);
	assert_int_equal(a.instructions.items[5].jumps_to, 0); /* into the middle of one */
	assert_int_equal(annotation_arrows(&a, &list), 2);
	assert_int_equal(list.len, 2);
	assert_int_equal(list.items[0].from, 1);
	assert_int_equal(list.items[0].to, 3);
	assert_int_equal(list.items[0].target, 3);
	assert_int_equal(list.items[1].from, 2);
	assert_int_equal(list.items[1].to, 4);
	assert_int_equal(list.items[1].target, 2);
	assert_int_not_equal(list.items[0].lane, list.items[1].lane);
	vec_release(&list);
	annotation_release(&a);
}

/* More nested jumps than lanes: the longest are left out. */
static void too_many_arrows(void **state)
{
	struct annotation a;
	arrow_list list = {};

	(void)state;
	annotation_init(&a);
	for (uint64_t i = 0; i < 10; i++)
		add(&a, i, 1, "jmp", ANNOTATED_JUMP, 19 - i);
	for (uint64_t i = 10; i < 20; i++)
		add(&a, i, 1, "nop", ANNOTATED_NEXT, 0);
	annotation_finish(&a, NULL, NULL);
	assert_int_equal(annotation_arrows(&a, &list), ARROW_LANES);
	assert_int_equal(list.len, ARROW_LANES);
	assert_int_equal(list.items[0].from, 10 - ARROW_LANES);
	vec_release(&list);
	annotation_release(&a);
}

static void as_text(void **state)
{
	static const char want[] = "sum in /bin/x\n"
				   "cycles: 20 samples, 25.00 % of all; percent: local-period\n"
				   "\n"
				   "Hottest lines\n"
				   "  60.00 >| sum.c:8  s += v[i];\n"
				   "  30.00  | limit.h:40\n"
				   "   9.00  | sum.c:7  for (long i = 0; i < n; i++)\n"
				   "\n"
				   "Source /src/sum.c\n"
				   "         |  3  long sum(const long *v, long n)\n"
				   "         |  4  {\n"
				   "         |  5          long s = 0;\n"
				   "         |  6\n"
				   "   9.00  |  7          for (long i = 0; i < n; i++)\n"
				   "  60.00 >|  8                  s += v[i];\n"
				   "         |  9          return s;\n"
				   "         | 10  }\n"
				   "         | 11\n"
				   "\n"
				   "Code\n"
				   "         |          5  long s = 0;\n"
				   "         | 1000:    xorl    %eax, %eax\n"
				   "         |          7  for (long i = 0; i < n; i++)\n"
				   "         | 1003:  /-jmp     0x1009\n"
				   "         |        | 8  s += v[i];\n"
				   "  60.00 >| 1005: /+>addq    (%rdi), %rax\n"
				   "         |       || limit.h:40\n"
				   "  30.00  | 1009: |\\>cmpq    %rsi, %rdx\n"
				   "         |       |  7  for (long i = 0; i < n; i++)\n"
				   "   9.00  | 100c: \\--jne     0x1005\n"
				   "         | 100e:    je      0x1006\n"
				   "         |          9  return s;\n"
				   "         | 1010:    retq\n";
	struct annotate_style style = {.term = term_of(-1)};
	CLEANUP(buf_release) struct buf out = {};
	struct annotation a;

	(void)state;
	style.term.utf8 = false;
	build(&a);
	annotate_render(&a, &style, &out);
	assert_string_equal(buf_str(&out), want);
	annotation_release(&a);
}

/* No line of a terminal is longer than it is wide, whatever the characters. */
static void cut_to_width(void **state)
{
	struct annotate_style style = {.term = term_of(-1)};
	CLEANUP(buf_release) struct buf out = {};
	struct annotation a;
	size_t column = 0, longest = 0;

	(void)state;
	style.term.utf8 = style.term.tty = true;
	style.term.width = 24;
	build(&a);
	annotate_render(&a, &style, &out);
	for (const char *s = strstr(buf_str(&out), "Source"); *s; s++) {
		if (*s == '\n')
			column = 0;
		else
			column += ((unsigned char)*s & 0xc0) != 0x80;
		longest = column > longest ? column : longest;
	}
	assert_int_equal(longest, 24);
	annotation_release(&a);
}

static void hostile_text(void **state)
{
	struct annotate_style style = {.term = term_of(-1)};
	CLEANUP(buf_release) struct buf out = {};
	struct annotation a;

	(void)state;
	annotation_init(&a);
	a.function = annotation_string(&a, "f\033[2J", 5);
	a.module = annotation_string(&a, "\r\n", 2);
	add(&a, 0, 1, "\033]0;x\a", ANNOTATED_NEXT, 0);
	row(&a, 0, "/a\033b", 1);
	annotation_finish(&a, NULL, NULL);
	annotate_render(&a, &style, &out);
	for (const char *s = buf_str(&out); *s; s++)
		assert_true(*s == '\n' || (unsigned char)*s >= ' ');
	annotation_release(&a);
}

/* Names and source of programs stay text in the page. */
static void hostile_page(void **state)
{
	const char *evil = "</style><script>alert(1)</script>\"'&";
	CLEANUP(buf_release) struct buf out = {};
	struct annotate_page page = {.title = evil};
	struct annotation a;
	size_t scripts = 0;

	(void)state;
	annotation_init(&a);
	a.function = a.module = a.event = a.problem = annotation_string(&a, evil, strlen(evil));
	vec_push(&a.notes, a.function);
	add(&a, 0, 1, evil, ANNOTATED_NEXT, 0);
	add(&a, 1, 1, "jmp 0x0", ANNOTATED_JUMP, 0x0);
	a.instructions.items[0].comment = a.function;
	annotation_add_row(&a, 0, evil, 1, a.function);
	annotation_finish(&a, evil_line, (void *)evil);
	annotate_html(&a, 1, &page, &out);
	for (const char *s = buf_str(&out); (s = strstr(s, "<script")); s++)
		scripts++;
	assert_int_equal(scripts, 1); /* our own */
	assert_null(strstr(buf_str(&out), "alert(1)</script>"));
	assert_non_null(strstr(buf_str(&out), "&lt;script&gt;alert(1)"));
	annotation_release(&a);
}

/* A page without samples, source or code is a page yet. */
static void empty_page(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct annotate_page page = {.title = "x"};
	struct annotation a;

	(void)state;
	annotation_init(&a);
	annotation_finish(&a, NULL, NULL);
	annotate_html(&a, 1, &page, &out);
	assert_non_null(strstr(buf_str(&out), "</html>"));
	buf_clear(&out);
	annotate_html(NULL, 0, &page, &out);
	assert_non_null(strstr(buf_str(&out), "</html>"));
	annotation_release(&a);
}

static void as_json(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct json j = jw_to(&out);
	struct annotation a;

	(void)state;
	build(&a);
	annotate_json(&a, LOCAL_PERIOD, false, &j);
	assert_non_null(strstr(buf_str(&out), "{\"address\":\"0x1005\",\"size\":4,"));
	assert_non_null(strstr(buf_str(&out), "\"flow\":\"jump\",\"target\":\"0x1009\""));
	assert_non_null(
		strstr(buf_str(&out), "\"file\":\"/inc/limit.h\",\"line\":40,\"samples\":3"));
	annotation_release(&a);
}

static void percent_types(void **state)
{
	enum percent_type t = LOCAL_PERIOD;

	(void)state;
	assert_true(percent_type_parse("global-hits", &t) && t == GLOBAL_HITS);
	assert_true(percent_type_parse("period-local", &t) && t == LOCAL_PERIOD);
	assert_false(percent_type_parse("local", &t));
	assert_false(percent_type_parse("hits-localx", &t));
	assert_string_equal(percent_type_name(LOCAL_HITS), "local-hits");
}

/* The leaf's function has the samples; rows of another event do not count. */
static void from_profile(void **state)
{
	struct profile p;
	struct annotation a;
	hot_list hot = {};

	(void)state;
	profile_init(&p);
	annotation_init(&a);
	event_id cycles = profile_event(&p, "cycles"), other = profile_event(&p, "other");
	module_id m = profile_module(&p, "/bin/x", "", CODE_USER);
	frame_id frames[3];
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_function f = {.name = profile_string(&p, i < 2 ? "f" : "g"),
					     .module = m,
					     .start = i < 2 ? 0x10 : 0x20,
					     .size = 16,
					     .named = true};
		struct frame_name name = {.function = profile_function(&p, &f)};

		frames[i] = profile_frame(&p, m, 0x10 + 8 * i);
		profile_name_frame(&p, frames[i], &name, 1);
	}
	for (uint32_t i = 0; i < 3; i++) {
		stack_id outer = profile_stack(&p, (stack_id){0}, frames[2]);
		struct profile_row r = {.event = cycles,
					.stack = profile_stack(&p, outer, frames[i]),
					.samples = i + 1,
					.weight = 10 * (i + 1)};

		profile_add(&p, &r);
		r.event = other;
		profile_add(&p, &r);
	}
	hot_functions(&p, cycles, &hot);
	assert_int_equal(hot.len, 2);
	assert_string_equal(function_text(&p, hot.items[0].function), "f");
	assert_int_equal(hot.items[0].weight, 30);
	assert_int_equal(hot.items[1].samples, 3);
	hot_addresses(&p, cycles, hot.items[0].function, &a);
	assert_int_equal(a.weights.len, 2);
	assert_int_equal(a.weights.items[1].address, 0x18);
	assert_int_equal(a.weights.items[1].weight, 20);
	assert_int_equal(a.weight, 30);
	assert_int_equal(a.all_weight, 60);
	vec_release(&hot);
	annotation_release(&a);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights),      cmocka_unit_test(lines),
		cmocka_unit_test(arrows),       cmocka_unit_test(too_many_arrows),
		cmocka_unit_test(as_text),      cmocka_unit_test(cut_to_width),
		cmocka_unit_test(hostile_text), cmocka_unit_test(percent_types),
		cmocka_unit_test(hostile_page), cmocka_unit_test(empty_page),
		cmocka_unit_test(as_json),      cmocka_unit_test(from_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
