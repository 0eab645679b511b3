#include "measure/metrics.h"

#include <math.h>
#include <stdlib.h>

const struct builtin_metric builtin_metrics[] = {
	{"ipc", "instructions / cycles", "insn/cycle", "instructions completed in a cycle", 1},
	{"cpi", "cycles / instructions", "cycles/insn", "cycles that an instruction took", 1},
	{"ghz", "cycles / task\\-clock / 1e6", "GHz", "clock frequency while it ran", 1},
	{"cpus", "task\\-clock / (duration_time / 1e6)", "CPUs", "CPUs that were kept busy", 1},
	{"branch-miss-rate", "branch\\-misses / branches", "%",
	 "branches that were predicted wrongly", 100},
	{"cache-miss-rate", "cache\\-misses / cache\\-references", "%", "last level cache misses",
	 100},
	{"frontend-idle", "stalled\\-cycles\\-frontend / cycles", "%",
	 "cycles without an instruction to run", 100},
	{"backend-idle", "stalled\\-cycles\\-backend / cycles", "%",
	 "cycles that waited for data or a unit", 100},
	{"page-faults-per-sec", "page\\-faults / (duration_time / 1e9)", "/sec", "page faults", 1},
	{"switches-per-sec", "context\\-switches / (duration_time / 1e9)", "/sec",
	 "context switches", 1},
	{"user-share", "user_time / (user_time + system_time)", "%", "CPU time in user mode", 100},
	{},
};

double metric_value(const struct metric *m, expr_lookup *lookup, void *ctx)
{
	double value;

	if (!m->expr || expr_eval(m->expr, lookup, ctx, &value, NULL) < 0)
		return NAN;
	return value * m->scale;
}

double metric_cell_value(const struct counter_table *t, size_t row, size_t aggregate)
{
	const struct cell *cell = table_cell(t, row, aggregate);

	return cell->counted ? cell->value : NAN;
}
