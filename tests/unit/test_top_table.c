/* The table of a live view: windows, grouping, zoom, filter, order, callers, and its limits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/report/top_view.h"

#include <stdio.h>
#include <string.h>

#define SECOND 1000000000ull

static struct top_table table;
static struct top_view view;
static struct top_question question;

static int set_up(void **state)
{
	(void)state;
	top_table_init(&table, 10 * SECOND, NULL);
	view = (struct top_view){};
	question = (struct top_question){.by = TOP_BY_COMM | TOP_BY_DSO | TOP_BY_SYM};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	top_view_release(&view);
	top_table_release(&table);
	return 0;
}

/* A sample in "outer;inner;leaf", each "dso!function". */
static void add(uint32_t pid, const char *comm, const char *chain, uint64_t weight)
{
	char text[256], *rest = text, *piece;
	uint32_t node = 0;

	snprintf(text, sizeof(text), "%s", chain);
	while ((piece = strsep(&rest, ";"))) {
		char *name = strchr(piece, '!');

		*name++ = '\0';
		node = top_node(
			&table, node,
			top_function(&table, piece, name, *piece == '[' ? CODE_KERNEL : CODE_USER));
	}
	top_add(&table, 0, top_process(&table, pid, comm), node, 1, weight);
}

/* "comm dso name self/total" a line. */
static char *rows(void)
{
	struct buf out = {};

	top_view_build(&view, &table, &question);
	vec_each(&view.rows, row) {
		top_row_text(&table, row, &out);
		buf_addf(&out, " %llu/%llu\n", (unsigned long long)row->self.weight,
			 (unsigned long long)row->total.weight);
	}
	return buf_steal(&out) ?: strdup("");
}

static void assert_rows(const char *expected)
{
	char *text = rows();

	assert_string_equal(text, expected);
	free(text);
}

static void groups_and_order(void **state)
{
	(void)state;
	add(1, "app", "app!hot", 70);
	add(2, "app", "app!hot", 5);
	add(1, "app", "libc!memcpy", 30);
	add(3, "sh", "libc!memcpy", 10);
	assert_rows("app app hot 75/75\napp libc memcpy 30/30\nsh libc memcpy 10/10\n");
	assert_int_equal(view.shown.weight, 115);
	assert_int_equal(view.shown.samples, 4);
	question.by = TOP_BY_DSO | TOP_BY_SYM;
	assert_rows("app hot 75/75\nlibc memcpy 40/40\n");
	question.by = TOP_BY_PID;
	assert_rows("app 1  100/100\nsh 3  10/10\napp 2  5/5\n");
	question.by = TOP_BY_DSO;
	question.sort = TOP_DSO;
	assert_rows("app  75/75\nlibc  40/40\n");
	question.by = TOP_BY_COMM | TOP_BY_SYM;
	question.sort = TOP_SYM;
	assert_rows("app hot 75/75\napp memcpy 30/30\nsh memcpy 10/10\n");
	question.sort = TOP_COMM;
	assert_rows("app hot 75/75\napp memcpy 30/30\nsh memcpy 10/10\n");
}

static void events_are_apart(void **state)
{
	uint32_t node = top_node(&table, 0, top_function(&table, "a", "f", CODE_USER));

	(void)state;
	top_add(&table, 0, top_process(&table, 1, "x"), node, 1, 3);
	top_add(&table, 1, top_process(&table, 1, "x"), node, 2, 4);
	assert_rows("x a f 3/3\n");
	question.event = 1;
	assert_rows("x a f 4/4\n");
	assert_int_equal(view.all.samples, 2);
}

static void totals(void **state)
{
	(void)state;
	question.chains = true;
	question.sort = TOP_TOTAL;
	add(1, "app", "app!main;app!work;libc!memcpy", 10);
	add(1, "app", "app!main;app!work", 20);
	/* Recursion counts once. */
	add(1, "app", "app!main;app!walk;app!walk;app!walk", 5);
	assert_rows("app app main 0/35\napp app work 20/30\napp libc memcpy 10/10\n"
		    "app app walk 5/5\n");
	/* Of a process all is its own. */
	question.by = TOP_BY_COMM;
	assert_rows("app  35/35\n");
}

static void zoom_and_filter(void **state)
{
	regex_t filter;

	(void)state;
	add(1, "app", "app!hot", 60);
	add(1, "app", "[kernel]!copy_page", 20);
	add(2, "app", "app!hot", 15);
	add(3, "sh", "[kernel]!fork", 5);
	question.zoom_comm = "app";
	assert_rows("app app hot 75/75\napp [kernel] copy_page 20/20\n");
	assert_int_equal(view.shown.weight, 95);
	assert_int_equal(view.all.weight, 100);
	question.zoom_pid = 2;
	assert_rows("app app hot 15/15\n");
	question.zoom_comm = NULL;
	question.zoom_pid = 0;
	question.zoom_dso = "[kernel]";
	assert_rows("app [kernel] copy_page 20/20\nsh [kernel] fork 5/5\n");
	question.zoom_dso = NULL;
	question.no_kernel = true;
	assert_rows("app app hot 75/75\n");
	question.no_kernel = false;
	question.no_user = true;
	assert_rows("app [kernel] copy_page 20/20\nsh [kernel] fork 5/5\n");
	question.no_user = false;
	assert_int_equal(regcomp(&filter, "^sh .*fo+rk$", REG_EXTENDED | REG_NOSUB), 0);
	question.filter = &filter;
	assert_rows("sh [kernel] fork 5/5\n");
	/* Shares stay those of all. */
	assert_int_equal(view.shown.weight, 100);
	regfree(&filter);
}

static void idle_is_left_out(void **state)
{
	(void)state;
	add(0, "swapper", "[kernel]!native_safe_halt", 900);
	add(0, "swapper", "[kernel]!handle_softirqs", 10);
	add(1, "app", "app!idle_hands", 80);
	add(1, "app", "[kernel]!mwait_on", 10);
	assert_rows("app app idle_hands 80/80\nswapper [kernel] handle_softirqs 10/10\n"
		    "app [kernel] mwait_on 10/10\n");
	assert_int_equal(view.all.weight, 100);
	question.idle = true;
	top_view_build(&view, &table, &question);
	assert_int_equal(view.all.weight, 1000);
	assert_int_equal(view.rows.items[0].self.weight, 900);
}

static void window_moves(void **state)
{
	(void)state;
	add(1, "a", "a!first", 1);
	top_end_slice(&table, 1 * SECOND);
	add(1, "a", "a!second", 2);
	top_end_slice(&table, 6 * SECOND);
	assert_rows("a a second 2/2\na a first 1/1\n");
	top_end_slice(&table, 11 * SECOND);
	assert_rows("a a second 2/2\n");
	question.all = true;
	assert_rows("a a second 2/2\na a first 1/1\n");
	question.all = false;
	/* It comes back with a longer window, and goes with a shorter one. */
	top_set_window(&table, 30 * SECOND);
	assert_rows("a a second 2/2\na a first 1/1\n");
	top_set_window(&table, 2 * SECOND);
	assert_rows("");
	top_set_window(&table, 10 * SECOND);
	assert_rows("a a second 2/2\n");
	/* After the longest window it is gone for good. */
	top_end_slice(&table, 61 * SECOND);
	top_set_window(&table, 60 * SECOND);
	assert_rows("a a second 2/2\n");
	assert_int_equal(table.entry_count, 1);
}

static void same_slice_is_one_entry(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		add(1, "a", "a!f", 1);
	assert_int_equal(table.entry_count, 1);
	top_end_slice(&table, SECOND);
	add(1, "a", "a!f", 1);
	assert_int_equal(table.entry_count, 2);
	assert_rows("a a f 1001/1001\n");
}

static void callers(void **state)
{
	static const char *const names[] = {"work", "main", "rest", "main"};
	static const unsigned depths[] = {0, 1, 0, 1};
	static const uint64_t weights[] = {70, 70, 28, 28};
	top_caller_list list = {};

	(void)state;
	question.chains = true;
	question.by = TOP_BY_SYM;
	add(1, "a", "a!main;a!work;c!memcpy", 70);
	add(1, "a", "a!main;a!rest;c!memcpy", 28);
	add(1, "a", "a!start;c!memcpy", 2);
	add(1, "a", "a!main;a!rest", 50);
	top_view_build(&view, &table, &question);
	assert_string_equal(top_text(&table, view.rows.items[0].name), "memcpy");
	top_callers(&table, &question, &view.rows.items[0], 0.05, 100, &list);
	assert_int_equal(list.len, 4);
	for (size_t i = 0; i < list.len; i++) {
		const struct top_function *f = &table.functions.items[list.items[i].function];

		assert_string_equal(top_text(&table, f->name), names[i]);
		assert_int_equal(list.items[i].depth, depths[i]);
		assert_int_equal(list.items[i].weight, weights[i]);
	}
	top_callers(&table, &question, &view.rows.items[0], 0, 3, &list);
	assert_int_equal(list.len, 3);
	vec_release(&list);
}

static uint64_t sum_of_all(void)
{
	uint64_t sum = 0;

	vec_each(&table.cells, cell)
		sum += cell->all.weight;
	return sum;
}

/* For hours there are new processes and functions: memory stays, sums are right. */
static void stays_bounded(void **state)
{
	struct top_limits limits = {
		.cells = 1000, .nodes = 2000, .string_bytes = 100000, .entries = 5000};
	unsigned generations = 0, last = 0;

	(void)state;
	top_table_release(&table);
	top_table_init(&table, 10 * SECOND, &limits);
	question.chains = true;
	for (uint32_t i = 0; i < 20000; i++) {
		char chain[64];

		snprintf(chain, sizeof(chain), "a!main;a!f%u;b!leaf", i);
		add(i, "short", chain, 1);
		add(1, "long", "a!main;a!loop", 1);
		if (i % 10 == 9)
			top_end_slice(&table, i * (SECOND / 40));
		generations += table.generation != last;
		last = table.generation;
		assert_true(table.cells.len <= limits.cells + 11);
		assert_true(table.nodes.len <= limits.nodes + 31);
		assert_true(table.names.strings.bytes.len <= limits.string_bytes + 1000);
	}
	assert_true(generations > 3);
	/* 10 s are 400 processes, or as many as fit. */
	top_view_build(&view, &table, &question);
	assert_true(view.all.weight >= 2 * 300 && view.all.weight <= 2 * 410);
	question.all = true;
	top_view_build(&view, &table, &question);
	assert_int_equal(view.all.weight, 40000);
	assert_int_equal(sum_of_all(), 40000);
	question.sort = TOP_TOTAL;
	question.by = TOP_BY_SYM;
	top_view_build(&view, &table, &question);
	assert_string_equal(top_text(&table, view.rows.items[0].name), "main");
}

static void too_many_entries(void **state)
{
	struct top_limits limits = {
		.cells = 100000, .nodes = 100000, .string_bytes = 1 << 20, .entries = 100};

	(void)state;
	top_table_release(&table);
	top_table_init(&table, 60 * SECOND, &limits);
	for (uint32_t i = 0; i < 1000; i++) {
		add(i % 7, "a", "a!f", 1);
		top_end_slice(&table, i);
		assert_true(table.entry_count <= limits.entries);
	}
	top_view_build(&view, &table, &question);
	/* The window has become shorter, what is in it is right. */
	assert_int_equal(view.all.samples, table.entry_count);
}

#define WITH_TABLE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_TABLE(groups_and_order),
		WITH_TABLE(events_are_apart),
		WITH_TABLE(totals),
		WITH_TABLE(zoom_and_filter),
		WITH_TABLE(idle_is_left_out),
		WITH_TABLE(window_moves),
		WITH_TABLE(same_slice_is_one_entry),
		WITH_TABLE(callers),
		WITH_TABLE(stays_bounded),
		WITH_TABLE(too_many_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
