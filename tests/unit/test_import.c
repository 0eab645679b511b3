/* Stacks that come as text, seen through what is written of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/exporter.h"
#include "import/perf_script.h"
#include "import/text.h"

#include <errno.h>
#include <string.h>

static bool gather(void *ctx, struct buf *bytes)
{
	buf_add_mem(ctx, bytes->s, bytes->len);
	buf_clear(bytes);
	return true;
}

static void write_folded(struct profile *p, event_id event, enum view_group group, bool annotate,
			 struct buf *text)
{
	struct view_options options = {.group = group,
				       .style = annotate ? NAMES_FOLDED_KINDS : NAMES_FOLDED,
				       .event = event,
				       .join_inlined = !annotate};
	struct export_options export = {.annotate = annotate};
	struct export_out out = {.write = gather, .ctx = text};
	struct view v;

	view_build(&v, p, &options);
	assert_int_equal(export_folded.run(&v, &export, &out, NULL), 0);
	gather(text, &out.buf);
	buf_release(&out.buf);
	view_release(&v);
}

static void import(struct text_import *t, struct profile *p, const char *text)
{
	profile_init(p);
	t->profile = p;
	assert_int_equal(text_import_feed(t, text, strlen(text), NULL), 0);
	text_import_end(t);
}

/* Tables by contents are as large as what they lead to: they are kept only while lines come. */
static void nothing_is_indexed_at_the_end(void **state)
{
	struct text_import t = {};
	struct profile p;
	string_id known;

	(void)state;
	import(&t, &p, "a;b;c 1\na;b;d 2\n");
	assert_null(p.stack_slots.items);
	assert_null(p.frame_slots.items);
	assert_null(p.strings.slots.items);
	/* All is found all the same by who does look. */
	known = profile_string_known(&p, "c", 1);
	assert_int_not_equal(known.n, 0);
	assert_int_equal(profile_string(&p, "c").n, known.n);
	for (uint32_t n = 1; n < p.stacks.len; n++)
		assert_int_equal(
			profile_stack(&p, p.stacks.items[n].parent, p.stacks.items[n].frame).n, n);
	assert_int_equal(p.stacks.len, 5);
	profile_release(&p);
}

/* The tree of text as JSON, with everything that a node has. */
static void write_tree(struct text_import t, const char *text, const struct view_options *o,
		       struct buf *to)
{
	struct export_options export = {};
	struct export_out out = {.write = gather, .ctx = to};
	struct profile p;
	struct view v;

	import(&t, &p, text);
	assert_int_equal(p.frames_are_functions, t.no_frames);
	assert_int_equal(p.frames.len, t.no_frames ? 1 : p.functions.len);
	view_build(&v, &p, o);
	assert_int_equal(export_json.run(&v, &export, &out, NULL), 0);
	gather(to, &out.buf);
	buf_release(&out.buf);
	view_release(&v);
	profile_release(&p);
}

/* Stacks that nobody sampled, functions that only differ by their mark, the same function on two ways. */
static void trees_need_no_frames(void **state)
{
	static const char text[] = "main;a;b 7\nmain;a;nothing 0\nmain;b 2\nmain;a_[i];b 3\n"
				   "main;a 1\nmain;a_[k] 4\nmain;f(int) 5\nmain;f(long) 0.5\nb 6\n";
	static const struct view_options options[] = {
		{},
		{.reverse = true},
		{.join_inlined = true},
		{.group = GROUP_EVENT},
		{.style = NAMES_FOLDED},
		{.style = NAMES_FOLDED_KINDS, .no_ends = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		struct buf with = {}, without = {};

		write_tree((struct text_import){}, text, &options[i], &with);
		write_tree((struct text_import){.no_frames = true}, text, &options[i], &without);
		assert_string_equal(buf_str(&without), buf_str(&with));
		assert_null(strstr(buf_str(&with), "nothing"));
		buf_release(&with);
		buf_release(&without);
	}
}

/* What @text is, folded again. */
static void assert_folded(struct text_import t, const char *text, enum view_group group,
			  bool annotate, const char *expected)
{
	struct buf out = {};
	struct profile p;

	import(&t, &p, text);
	write_folded(&p, (event_id){}, group, annotate, &out);
	assert_string_equal(buf_str(&out), expected);
	buf_release(&out);
	profile_release(&p);
}

/* ---- folded ---- */

static void lines_add_up_and_are_sorted(void **state)
{
	(void)state;
	assert_folded((struct text_import){},
		      "main;b 1\nmain;a;x 2\nmain;a.cold 3\nmain;a 4\nmain;b 5\n\n# rest\n",
		      GROUP_NONE, false, "main;a 4\nmain;a.cold 3\nmain;a;x 2\nmain;b 6\n");
}

static void blanks_belong_to_names(void **state)
{
	(void)state;
	assert_folded((struct text_import){}, "a b;operator new  7\r\nc 12;d 12 5\n", GROUP_NONE,
		      false, "a b;operator new 7\nc 12;d 12 5\n");
}

static void marks_are_kinds(void **state)
{
	const char *text = "m;read_[k] 1\nm;read 2\nm;f_[i] 3\nm;f;j_[j] 4\n";

	(void)state;
	assert_folded((struct text_import){}, text, GROUP_NONE, true,
		      "m;f;j_[j] 4\nm;f_[i] 3\nm;read 2\nm;read_[k] 1\n");
	assert_folded((struct text_import){}, text, GROUP_NONE, false,
		      "m;f 3\nm;f;j 4\nm;read 3\n");
	assert_folded((struct text_import){.no_inlines = true}, text, GROUP_NONE, false,
		      "m 3\nm;f;j 4\nm;read 3\n");
}

static void decimals_become_thousandths(void **state)
{
	struct text_import t = {};
	struct profile p;
	struct buf out = {};

	(void)state;
	import(&t, &p, "a 2\nb 0.25\na 1.5\n");
	write_folded(&p, (event_id){}, GROUP_NONE, false, &out);
	assert_string_equal(buf_str(&out), "a 3500\nb 250\n");
	assert_string_equal(profile_text(&p, p.events.items[0].unit), "thousandths");
	assert_int_equal(t.weight, 3750);
	buf_release(&out);
	profile_release(&p);
}

static void two_counts_are_a_difference(void **state)
{
	struct text_import t = {};
	struct profile p;
	struct buf out = {}, text = {};

	(void)state;
	/* The first lines tell; a line with one count behind them cannot be used. */
	for (int i = 0; i < 100; i++)
		buf_add(&text, "a;b 1 2\n");
	buf_add(&text, "a 3 0\nonly one 7\n");
	import(&t, &p, buf_str(&text));
	assert_true(t.differential);
	write_folded(&p, profile_event(&p, "before"), GROUP_NONE, false, &out);
	buf_add(&out, "--\n");
	write_folded(&p, profile_event(&p, "after"), GROUP_NONE, false, &out);
	assert_string_equal(buf_str(&out), "a 3\na;b 100\n--\na;b 200\n");
	assert_int_equal(t.bad_lines, 1);
	assert_int_equal(t.first_bad_line, 102);
	buf_release(&text);
	buf_release(&out);
	profile_release(&p);
}

static void one_line_with_one_count_is_enough(void **state)
{
	(void)state;
	assert_folded((struct text_import){}, "thread 1;a 10 12\nb 3\n", GROUP_NONE, false,
		      "b 3\nthread 1;a 10 12\n");
}

static void depth_keeps_the_leaf(void **state)
{
	(void)state;
	assert_folded((struct text_import){.max_stack = 2}, "a;b;c;d 1\nc;d 1\nd 1\n", GROUP_NONE,
		      false, "c;d 2\nd 1\n");
	assert_folded((struct text_import){.leaf_only = true}, "a;b;c;d 1\nc;d 1\nd 1\n",
		      GROUP_NONE, false, "d 3\n");
}

static void broken_lines_are_counted(void **state)
{
	struct text_import t = {};
	struct profile p;

	(void)state;
	import(&t, &p,
	       "a 1\nno count\n 5\nb 99999999999999999999999\nc 1.2.3\nd 2\n"
	       "e 1\nf 1\ng 1\n");
	assert_int_equal(t.samples, 6);
	assert_int_equal(t.bad_lines, 4);
	assert_int_equal(t.first_bad_line, 2);
	profile_release(&p);
}

static void pieces_make_the_same(void **state)
{
	const char *text = "main;f 1\nmain;g 2\nmain;f;h 3";
	struct buf out = {};

	(void)state;
	for (size_t step = 9; step < strlen(text); step++) {
		struct text_import t = {};
		struct profile p;

		profile_init(&p);
		t.profile = &p;
		for (size_t at = 0; at < strlen(text); at += step)
			text_import_feed(&t, text + at,
					 strlen(text) - at < step ? strlen(text) - at : step, NULL);
		text_import_end(&t);
		buf_clear(&out);
		write_folded(&p, (event_id){}, GROUP_NONE, false, &out);
		assert_string_equal(buf_str(&out), "main;f 1\nmain;f;h 3\nmain;g 2\n");
		profile_release(&p);
	}
	buf_release(&out);
}

static void endless_lines_are_left_out(void **state)
{
	struct text_import t = {};
	struct profile p;
	char *x = malloc(TEXT_LINE_MAX);

	(void)state;
	assert_non_null(x);
	memset(x, 'x', TEXT_LINE_MAX);
	profile_init(&p);
	t.profile = &p;
	text_import_feed(&t, "a 1\n", 4, NULL);
	text_import_feed(&t, x, TEXT_LINE_MAX, NULL);
	text_import_feed(&t, x, TEXT_LINE_MAX, NULL);
	text_import_feed(&t, " 5\nb 2\n", 7, NULL);
	text_import_end(&t);
	assert_int_equal(t.samples, 3);
	assert_int_equal(t.bad_lines, 1);
	assert_int_equal(t.first_bad_line, 2);
	profile_release(&p);
	free(x);
}

/* ---- perf script ---- */

static void samples_have_frames(void **state)
{
	(void)state;
	assert_folded((struct text_import){},
		      "my prog 4711 [003] 1234.567891:     250000 cycles:u: \n"
		      "\tffffffff81000000 do_syscall_64+0x5 ([kernel.kallsyms])\n"
		      "\t    7f8a12345678 [unknown] (/usr/lib/libc.so.6)\n"
		      "\t    5581234567ab ns::f<int>(char)+0x2b (/usr/bin/my prog)\n"
		      "\t            1000 [unknown] ([unknown])\n"
		      "\n"
		      "my prog 4711 [003] 1234.6:     50 cycles:u: \n"
		      "\t    5581234567ab ns::f<int>(char)+0x3b (/usr/bin/my prog)\n"
		      "\t            1010 [unknown] ([unknown])\n"
		      "\n",
		      GROUP_COMM, true,
		      "my_prog;[unknown];ns::f<int> 50\n"
		      "my_prog;[unknown];ns::f<int>;[libc.so.6];do_syscall_64_[k] 250000\n");
}

static void inlined_frames_are_known(void **state)
{
	const char *text = "x 1/2 5.0: 3 cpu-clock: \n"
			   "\t 4010 inner (inlined)\n"
			   "\t 4010 outer+0x4 (/bin/x)\n"
			   "\t 7f00 Lorg/A;::b(I)V (/tmp/perf-1.map)\n\n";

	(void)state;
	assert_folded((struct text_import){}, text, GROUP_TID, true,
		      "x-1/2;org/A:::b_[j];outer;inner_[i] 3\n");
	assert_folded((struct text_import){.no_inlines = true}, text, GROUP_COMM, false,
		      "x;org/A:::b;outer 3\n");
}

static void deleted_files_have_their_name(void **state)
{
	(void)state;
	assert_folded((struct text_import){},
		      "x 1 5.0: 3 cpu-clock: \n"
		      "\t 4010 [unknown] (/tmp/gone.so (deleted))\n"
		      "\t 4020 f(int)+0x4 (/tmp/gone.so (deleted))\n\n",
		      GROUP_COMM, false, "x;f;[gone.so] 3\n");
}

static void a_sample_may_be_one_line(void **state)
{
	(void)state;
	assert_folded(
		(struct text_import){},
		"            bash  4711 [003] 12.5:  250 cycles:  81000000 f+0x5 (/bin/bash)\n"
		"              dd  4712 [003] 12.6:  251 cycles:  deadbeef g (/bin/dd)\n",
		GROUP_COMM, false, "bash;f 250\ndd;g 251\n");
}

static void a_sample_may_lack_its_period(void **state)
{
	(void)state;
	assert_folded((struct text_import){},
		      "bash 4711 12.5: sched:sched_switch: prev_comm=bash prev_pid=4711\n"
		      "\t 81000000 schedule ([kernel.kallsyms])\n\n"
		      "bash 4711 \n\t 81000000 schedule ([kernel.kallsyms])\n\n",
		      GROUP_COMM, false, "bash;schedule 1\n");
}

static void source_lines_are_passed_over(void **state)
{
	(void)state;
	assert_folded((struct text_import){},
		      "a.out 35081 252436.005167:     667783 cycles:\n"
		      "                  408ebb some_method+0x8b (/path/a.out)\n"
		      "  uniform_int_dist.h:300\n"
		      "                  4069f5 main+0x935 (/path/a.out)\n"
		      "  file.cpp:137\n\n",
		      GROUP_COMM, false, "a.out;main;some_method 667783\n");
}

static void assert_header(const char *line, const char *comm, uint32_t pid, uint32_t tid,
			  uint64_t time_ns, uint64_t period, const char *event)
{
	struct text_sample s;
	const char *rest;

	assert_true(perf_script_header(line, strlen(line), &s, &rest));
	assert_int_equal(s.comm_len, strlen(comm));
	assert_memory_equal(s.comm, comm, strlen(comm));
	assert_int_equal(s.pid, pid);
	assert_int_equal(s.tid, tid);
	assert_int_equal(s.time_ns, time_ns);
	assert_int_equal(s.period, period);
	assert_int_equal(s.event_len, strlen(event));
	if (*event)
		assert_memory_equal(s.event, event, strlen(event));
}

static void headers_come_in_many_forms(void **state)
{
	struct text_sample s;
	const char *rest;

	(void)state;
	assert_header("java 25607 4794564.109216: 1 cycles:", "java", 25607, 25607,
		      4794564109216000, 1, "cycles");
	assert_header("java 12688/12764 [002] 6.000000001: cpu-clock: ", "java", 12688, 12764,
		      6000000001, 1, "cpu-clock");
	assert_header("V8 Worker 3 25607 [000] 1.5: 7 sched:sched_switch: a=1", "V8 Worker 3",
		      25607, 25607, 1500000000, 7, "sched:sched_switch");
	assert_header("swapper     0 [000] ", "swapper", 0, 0, 0, 1, "");
	assert_header(":-1    -1 [000] 2.0: 5 cycles:", ":-1", 0, 0, 2000000000, 5, "cycles");
	assert_false(perf_script_header("main;f;g", 8, &s, &rest));
	assert_false(perf_script_header("", 0, &s, &rest));
}

static bool only_second(void *ctx, const struct text_sample *s)
{
	(void)ctx;
	return s->has_time && s->time_ns >= 2000000000;
}

static void samples_can_be_chosen(void **state)
{
	(void)state;
	assert_folded((struct text_import){.want = only_second},
		      "a 1 1.5: 1 x:\n\t 1000 f (/b)\n\na 1 2.5: 1 x:\n\t 1000 g (/b)\n\n",
		      GROUP_COMM, false, "a;g 1\n");
}

/* ---- which it is ---- */

static void formats_are_told_apart(void **state)
{
	struct text_import t = {};
	struct err e = {};
	const char *folded = "a;b 1\n", *script = "a 1 [000] 1.5: 1 x:\n\t 1000 f (/b)\n";
	const char *binary = "\177ELF\1\0\0 5\n";

	(void)state;
	assert_ptr_equal(text_detect(folded, strlen(folded)), &text_folded);
	assert_ptr_equal(text_detect(script, strlen(script)), &text_perf_script);
	assert_null(text_detect(binary, 10));
	assert_null(text_detect("hello, world\n", 13));
	assert_int_equal(text_import_feed(&t, "hello\n", 6, &e), -EINVAL);
	assert_non_null(strstr(e.text, "folded"));
	text_import_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_need_no_frames),
		cmocka_unit_test(nothing_is_indexed_at_the_end),
		cmocka_unit_test(lines_add_up_and_are_sorted),
		cmocka_unit_test(blanks_belong_to_names),
		cmocka_unit_test(marks_are_kinds),
		cmocka_unit_test(decimals_become_thousandths),
		cmocka_unit_test(two_counts_are_a_difference),
		cmocka_unit_test(one_line_with_one_count_is_enough),
		cmocka_unit_test(depth_keeps_the_leaf),
		cmocka_unit_test(broken_lines_are_counted),
		cmocka_unit_test(pieces_make_the_same),
		cmocka_unit_test(endless_lines_are_left_out),
		cmocka_unit_test(samples_have_frames),
		cmocka_unit_test(inlined_frames_are_known),
		cmocka_unit_test(deleted_files_have_their_name),
		cmocka_unit_test(a_sample_may_be_one_line),
		cmocka_unit_test(a_sample_may_lack_its_period),
		cmocka_unit_test(source_lines_are_passed_over),
		cmocka_unit_test(headers_come_in_many_forms),
		cmocka_unit_test(samples_can_be_chosen),
		cmocka_unit_test(formats_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
