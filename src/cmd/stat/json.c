/* One JSON object a line, with the keys of `perf stat -j`. */
#include "cmd/stat/stat.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>

static void add_prefix(struct json *j, const struct counter_table *t, size_t aggregate)
{
	static const char *const keys[] = {
		[AGGR_ALL] = NULL,       [AGGR_CPU] = "cpu",       [AGGR_CORE] = "core",
		[AGGR_DIE] = "die",      [AGGR_SOCKET] = "socket", [AGGR_THREAD] = "thread",
		[AGGR_CGROUP] = "cgroup"};
	const struct aggregate *a = &t->aggregates[aggregate];

	jw_open(j, '{');
	if (!isnan(t->time_s))
		jw_kv_double(j, "interval", t->time_s);
	if (!keys[t->mode] || !a->label[0])
		return;
	jw_kv_str(j, keys[t->mode], t->mode == AGGR_CPU ? a->label + 3 : a->label);
	if (t->by_aggregate && t->mode != AGGR_CGROUP)
		jw_kv_u64(j, "aggregate-number", a->cpu_count);
}

static void add_row(void *session, const struct counter_table *t, size_t row, size_t aggregate)
{
	struct stat_session *s = session;
	const struct table_row *r = &t->rows[row];
	const struct cell *cell = table_cell(t, row, aggregate);
	struct figure f = figure_of(t, row, aggregate);
	struct json j = jw_to(&s->out);
	char value[48];

	add_prefix(&j, t, aggregate);
	snprintf(value, sizeof(value), "%f", cell->value);
	jw_kv_str(&j, "counter-value", cell->counted ? value : stat_missing_text(r));
	jw_kv_str(&j, "unit", r->unit);
	jw_kv_str(&j, "event", r->name);
	if (t->runs > 1 && cell->counted) {
		/* "variance" is what perf calls the same figure. */
		jw_kv_double(&j, "variance", stats_stderr_pct(&cell->stats));
		jw_kv_double(&j, "standard-error-pct", stats_stderr_pct(&cell->stats));
		jw_kv_u64(&j, "runs", cell->stats.n);
		jw_kv_double(&j, "min", cell->stats.min);
		jw_kv_double(&j, "max", cell->stats.max);
		jw_kv_double(&j, "stddev", stats_stddev(&cell->stats));
		jw_kv_double(&j, "confidence-95", stats_ci95(&cell->stats));
	}
	jw_kv_u64(&j, "event-runtime", cell->running_ns);
	jw_kv_double(&j, "pcnt-running",
		     cell->enabled_ns ? 100.0 * (double)cell->running_ns / (double)cell->enabled_ns
				      : 100);
	if (f.known) {
		jw_kv_double(&j, "metric-value", f.value);
		jw_kv_str(&j, "metric-unit", f.unit);
	}
	if (r->state != ROW_COUNTED && r->reason)
		jw_kv_str(&j, "reason", r->reason);
	jw_close(&j, '}');
	buf_add_char(&s->out, '\n');
}

static void add_metric(struct stat_session *s, const struct counter_table *t,
		       const struct metric *m, size_t aggregate)
{
	struct json j = jw_to(&s->out);

	add_prefix(&j, t, aggregate);
	jw_kv_str(&j, "metric", m->name);
	jw_kv_double(&j, "metric-value", stat_metric_value(s, t, m, aggregate));
	jw_kv_str(&j, "metric-unit", m->unit);
	jw_close(&j, '}');
	buf_add_char(&s->out, '\n');
}

static void json_table(struct stat_session *s, const struct counter_table *t)
{
	counter_table_visit(t, add_row, s);
	vec_each(&s->metrics, m)
		for (size_t a = 0; a < t->aggregate_count; a++)
			add_metric(s, t, m, a);
}

static void json_summary(struct stat_session *s, const struct counter_table *t)
{
	const struct tick_ledger *ledger = &s->result.ledger;
	struct json j = jw_to(&s->out);

	if (!s->o.interval_ms)
		json_table(s, t);
	jw_open(&j, '{');
	jw_key(&j, "summary");
	jw_open(&j, '{');
	jw_kv_double(&j, "elapsed-s", t->duration_s);
	if (t->runs > 1) {
		jw_kv_u64(&j, "runs", t->runs);
		jw_kv_double(&j, "elapsed-standard-error-pct", stats_stderr_pct(&t->elapsed));
		jw_kv_double(&j, "elapsed-confidence-95-s", stats_ci95(&t->elapsed));
	}
	if (!isnan(t->user_s)) {
		jw_kv_double(&j, "user-s", t->user_s);
		jw_kv_double(&j, "system-s", t->system_s);
	}
	if (s->o.interval_ms) {
		jw_kv_u64(&j, "ticks", ledger->ticks);
		jw_kv_u64(&j, "missed", ledger->missed);
		jw_kv_double(&j, "worst-late-ms", (double)ledger->worst_late_ns / 1e6);
		jw_kv_double(&j, "stretched-to-ms", (double)ledger->stretched_ns / 1e6);
	}
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_add_char(&s->out, '\n');
}

static void json_note(struct stat_session *s, const char *sentence)
{
	struct json j = jw_to(&s->out);

	jw_open(&j, '{');
	jw_kv_str(&j, "note", sentence);
	jw_close(&j, '}');
	buf_add_char(&s->out, '\n');
}

const struct stat_format stat_json = {json_table, json_summary, json_note, json_note};
