#include "measure/figures.h"
#include "base/alloc.h"

#include <linux/perf_event.h>
#include <math.h>

static bool is_event(const struct table_row *row, uint32_t type, uint64_t config)
{
	uint64_t mask = type == PERF_TYPE_HW_CACHE ? 0xffffff : 0xffffffff;

	return row->identity.known && row->identity.type == type && !row->timer &&
	       (row->identity.config & mask) == config;
}

static bool same_modes(const struct row_identity *a, const struct row_identity *b)
{
	return a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel &&
	       a->pmu == b->pmu;
}

/* Value of another event in the same aggregate and the same modes; NaN if it was not counted. */
static double value_of(const struct counter_table *t, size_t row, size_t aggregate, uint32_t type,
		       uint64_t config)
{
	const struct row_identity *like = &t->rows[row].identity;

	for (size_t i = 0; i < t->row_count; i++) {
		const struct table_row *other = &t->rows[i];
		const struct cell *cell = table_cell(t, i, aggregate);

		if (is_event(other, type, config) && cell->counted &&
		    (type == PERF_TYPE_SOFTWARE || same_modes(like, &other->identity)))
			return cell->value;
	}
	return NAN;
}

/* Seconds that the CPUs were busy with the target, by whichever clock was counted. */
static double busy_seconds(const struct counter_table *t, size_t row, size_t aggregate)
{
	double ms = value_of(t, row, aggregate, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);

	if (isnan(ms))
		ms = value_of(t, row, aggregate, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	return ms / 1e3;
}

static struct figure figure(double value, int decimals, bool percent, const char *unit)
{
	struct figure f = {
		.known = isfinite(value), .value = value, .decimals = decimals, .percent = percent};

	f.unit = unit;
	return f;
}

#define CACHE(cache, op, result)                                                                   \
	((uint64_t)(cache) | (uint64_t)(op) << 8 | (uint64_t)(result) << 16)

/* Misses are shown as a part of all accesses, stalls as a part of all cycles. */
static const struct ratio {
	uint32_t type;
	uint64_t config, whole;
	const char *unit;
	double look_pct, bad_pct; /* above these it is coloured */
} ratios[] = {
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 "of all branches", 5, 10},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES,
	 "of all cache refs", 10, 20},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES,
	 "frontend cycles idle", 30, 50},
	{PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES,
	 "backend cycles idle", 50, 75},
	{PERF_TYPE_HW_CACHE, CACHE(0, 0, 1), CACHE(0, 0, 0), "of all L1-dcache accesses", 10, 20},
	{PERF_TYPE_HW_CACHE, CACHE(1, 0, 1), CACHE(1, 0, 0), "of all L1-icache accesses", 10, 20},
	{PERF_TYPE_HW_CACHE, CACHE(2, 0, 1), CACHE(2, 0, 0), "of all LL-cache accesses", 10, 20},
	{PERF_TYPE_HW_CACHE, CACHE(3, 0, 1), CACHE(3, 0, 0), "of all dTLB cache accesses", 10, 20},
	{PERF_TYPE_HW_CACHE, CACHE(4, 0, 1), CACHE(4, 0, 0), "of all iTLB cache accesses", 10, 20},
};

static bool ratio_figure(const struct counter_table *t, size_t row, size_t aggregate, double value,
			 struct figure *ret)
{
	const struct table_row *event = &t->rows[row];

	for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
		const struct ratio *r = &ratios[i];
		double whole;

		if (!is_event(event, r->type, r->config))
			continue;
		whole = value_of(t, row, aggregate, r->type, r->whole);
		if (isnan(whole))
			return false;
		*ret = figure(100 * value / whole, 2, true, r->unit);
		ret->heat = ret->value > r->bad_pct ? 2 : ret->value > r->look_pct ? 1 : 0;
		return true;
	}
	return false;
}

static struct figure rate_figure(double value, double seconds)
{
	static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
	double rate = value / seconds;
	size_t i = 0;

	while (rate >= 1000 && i + 1 < ARRAY_LEN(units)) {
		rate /= 1000;
		i++;
	}
	return figure(rate, 3, false, units[i]);
}

struct figure figure_of(const struct counter_table *t, size_t row, size_t aggregate)
{
	const struct table_row *event = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	struct figure f = {};
	double busy;

	if (!cell->counted || event->timer || event->whole_machine)
		return f;
	if (is_event(event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK) ||
	    is_event(event, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK))
		return figure(cell->value / 1e3 / t->duration_s, 3, false, "CPUs utilized");
	if (is_event(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS)) {
		f = figure(cell->value / value_of(t, row, aggregate, PERF_TYPE_HARDWARE,
						  PERF_COUNT_HW_CPU_CYCLES),
			   2, false, "insn per cycle");
		if (f.known)
			return f;
	}
	if (ratio_figure(t, row, aggregate, cell->value, &f))
		return f;
	busy = busy_seconds(t, row, aggregate);
	if (isnan(busy) || busy <= 0)
		return f;
	if (is_event(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		return figure(cell->value / busy / 1e9, 3, false, "GHz");
	return rate_figure(cell->value, busy);
}

struct figure figure_stalls_per_instruction(const struct counter_table *t, size_t row,
					    size_t aggregate)
{
	const struct table_row *event = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	double front, back;

	if (!is_event(event, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS) || !cell->counted)
		return (struct figure){};
	front = value_of(t, row, aggregate, PERF_TYPE_HARDWARE,
			 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
	back = value_of(t, row, aggregate, PERF_TYPE_HARDWARE,
			PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
	return figure(fmax(front, back) / cell->value, 2, false, "stalled cycles per insn");
}
