/* The table of counter values, and what is derived from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "measure/figures.h"
#include "measure/metrics.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static const int core_pmu, other_pmu;

static struct table_row row(const char *name, uint32_t type, uint64_t config)
{
	return (struct table_row){
		.name = xstrdup(name),
		.unit = xstrdup(""),
		.scale = 1,
		.identity = {.known = true, .type = type, .config = config, .pmu = &core_pmu}};
}

static struct counter_table make_table(size_t rows, size_t aggregates)
{
	struct counter_table t = {.row_count = rows,
				  .aggregate_count = aggregates,
				  .duration_s = 2,
				  .user_s = NAN,
				  .system_s = NAN};

	t.rows = xcalloc(rows, sizeof(*t.rows));
	t.aggregates = xcalloc(aggregates, sizeof(*t.aggregates));
	for (size_t i = 0; i < aggregates; i++)
		t.aggregates[i].label = xstrdup("");
	t.cells = xcalloc(rows * aggregates, sizeof(*t.cells));
	return t;
}

static void count(struct counter_table *t, size_t row, double value, uint64_t enabled_ns,
		  uint64_t running_ns)
{
	struct cell *cell = table_cell(t, row, 0);

	counter_table_clear_row(t, row);
	cell->value = value;
	cell->enabled_ns = enabled_ns;
	cell->running_ns = running_ns;
	counter_table_finish_cell(t, row, 0, false);
}

static void test_multiplexed_values_are_scaled(void **state)
{
	struct counter_table t = make_table(1, 1);

	(void)state;
	t.rows[0] = row("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	count(&t, 0, 100, 1000, 250);
	assert_true(table_cell(&t, 0, 0)->counted);
	assert_near(table_cell(&t, 0, 0)->value, 400);
	count(&t, 0, 100, 1000, 1000);
	assert_near(table_cell(&t, 0, 0)->value, 100);
	/* Never on a counter: unknown, not 0. */
	count(&t, 0, 0, 1000, 0);
	assert_false(table_cell(&t, 0, 0)->counted);
	/* --no-scale */
	counter_table_clear_row(&t, 0);
	*table_cell(&t, 0, 0) = (struct cell){.value = 100, .enabled_ns = 1000, .running_ns = 250};
	counter_table_finish_cell(&t, 0, 0, true);
	assert_near(table_cell(&t, 0, 0)->value, 100);
	counter_table_release(&t);
}

static void test_timers_have_no_counter(void **state)
{
	struct counter_table t = make_table(2, 1);

	(void)state;
	t.rows[0] = row("duration_time", 0, 0);
	t.rows[0].timer = ROW_DURATION;
	t.rows[1] = row("user_time", 0, 0);
	t.rows[1].timer = ROW_USER_TIME;
	for (size_t i = 0; i < 2; i++) {
		counter_table_clear_row(&t, i);
		counter_table_finish_cell(&t, i, 0, false);
	}
	assert_near(table_cell(&t, 0, 0)->value, 2e9);
	/* Not known yet. */
	assert_false(table_cell(&t, 1, 0)->counted);
	counter_table_release(&t);
}

static void test_repeats_become_their_mean(void **state)
{
	struct counter_table t = make_table(1, 1);

	(void)state;
	t.rows[0] = row("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	for (int i = 1; i <= 3; i++) {
		count(&t, 0, 10 * i, 100, 100);
		counter_table_add_run(&t, i);
	}
	/* A run in which it was never counted changes nothing. */
	count(&t, 0, 0, 100, 0);
	counter_table_add_run(&t, 2);
	assert_int_equal(t.runs, 4);
	assert_true(table_cell(&t, 0, 0)->counted);
	assert_int_equal(table_cell(&t, 0, 0)->stats.n, 3);
	assert_near(table_cell(&t, 0, 0)->value, 20);
	assert_near(t.duration_s, 2);
	assert_int_equal(table_cell(&t, 0, 0)->running_ns, 75);
	counter_table_release(&t);
}

static void note_cell(void *ctx, const struct counter_table *t, size_t row, size_t aggregate)
{
	char *text = ctx;

	(void)t;
	snprintf(text + strlen(text), 40 - strlen(text), "%zu%zu ", row, aggregate);
}

static void test_order_of_the_output(void **state)
{
	struct counter_table t = make_table(2, 2);
	char text[40] = "";

	(void)state;
	t.rows[0] = row("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	t.rows[1] = row("duration_time", 0, 0);
	counter_table_visit(&t, note_cell, text);
	assert_string_equal(text, "00 01 10 11 ");
	/* A timer is the same for all: once. */
	t.rows[1].timer = ROW_DURATION;
	t.by_aggregate = true;
	text[0] = '\0';
	counter_table_visit(&t, note_cell, text);
	assert_string_equal(text, "00 10 01 ");
	counter_table_release(&t);
}

static void test_figures_need_the_same_modes(void **state)
{
	struct counter_table t = make_table(3, 1);
	struct figure f;

	(void)state;
	t.rows[0] = row("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	t.rows[1] = row("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	t.rows[2] = row("task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	count(&t, 0, 300, 1, 1);
	count(&t, 1, 200, 1, 1);
	count(&t, 2, 500, 1, 1);
	f = figure_of(&t, 0, 0);
	assert_true(f.known);
	assert_string_equal(f.unit, "insn per cycle");
	assert_near(f.value, 1.5);
	f = figure_of(&t, 2, 0);
	assert_string_equal(f.unit, "CPUs utilized");
	assert_near(f.value, 0.25);
	/* Cycles of user mode, or of another kind of core, are no base for the IPC of all. */
	t.rows[1].identity.exclude_kernel = true;
	assert_string_not_equal(figure_of(&t, 0, 0).unit, "insn per cycle");
	t.rows[1].identity.exclude_kernel = false;
	t.rows[1].identity.pmu = &other_pmu;
	assert_string_not_equal(figure_of(&t, 0, 0).unit, "insn per cycle");
	counter_table_release(&t);
}

static double known_names(void *ctx, enum expr_use use, const char *name, bool *ret_known)
{
	const struct counter_table *t = ctx;

	*ret_known = use == EXPR_VALUE;
	for (size_t i = 0; i < t->row_count; i++)
		if (!strcmp(t->rows[i].name, name))
			return metric_cell_value(t, i, 0);
	*ret_known = false;
	return NAN;
}

static void test_metrics_of_what_was_not_counted_are_unknown(void **state)
{
	struct counter_table t = make_table(2, 1);
	struct metric m = {.scale = 1};

	(void)state;
	assert_string_equal(builtin_metrics[0].name, "ipc");
	assert_int_equal(expr_parse(builtin_metrics[0].expression, &m.expr, NULL), 0);
	t.rows[0] = row("instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	t.rows[1] = row("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	count(&t, 0, 300, 1, 1);
	count(&t, 1, 200, 1, 1);
	assert_near(metric_value(&m, known_names, &t), 1.5);
	count(&t, 1, 0, 1, 0);
	assert_true(isnan(metric_value(&m, known_names, &t)));
	expr_free(m.expr);
	counter_table_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_multiplexed_values_are_scaled),
		cmocka_unit_test(test_timers_have_no_counter),
		cmocka_unit_test(test_repeats_become_their_mean),
		cmocka_unit_test(test_order_of_the_output),
		cmocka_unit_test(test_figures_need_the_same_modes),
		cmocka_unit_test(test_metrics_of_what_was_not_counted_are_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
