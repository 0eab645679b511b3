/* What to count and where: options become events and a target. */
#include "cmd/stat/stat.h"
#include "event/parse/parse.h"

#include <errno.h>

/* Events that each further -d adds. */
static const char *const details[] = {
	"L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
	("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,"
	 "iTLB-load-misses"),
	"L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

int stat_choose_events(struct stat_session *s, struct err *e)
{
	int r = 0;

	vec_each(&s->o.events, text) {
		r = events_parse(&s->catalog, *text, &s->events, e);
		if (r < 0)
			return r;
	}
	vec_each(&s->o.metrics, names) {
		r = stat_add_metrics(s, *names, e);
		if (r < 0)
			return r;
	}
	if (!s->o.events.len && !s->o.metrics.len && !s->o.null_run) {
		s->default_events = true;
		r = events_default_counted(&s->catalog, stat_is_cpu_wide(&s->o), &s->events, e);
	}
	for (unsigned i = 0; r == 0 && i < s->o.detail && i < ARRAY_LEN(details); i++)
		r = events_parse(&s->catalog, details[i], &s->events, e);
	if (r == 0)
		r = events_limit_modes(&s->events, s->o.all_user, s->o.all_kernel, e);
	return r < 0 ? r : events_apply_defaults(&s->events, e);
}

/* ---- target ---- */

static enum aggregation choose_mode(const struct stat_options *o)
{
	return o->per_thread       ? AGGR_THREAD
	       : o->no_aggregation ? AGGR_CPU
	       : o->per_core       ? AGGR_CORE
	       : o->per_die        ? AGGR_DIE
	       : o->per_socket     ? AGGR_SOCKET
	       : o->where.cgroups  ? AGGR_CGROUP
				   : AGGR_ALL;
}

static int check_combination(const struct stat_session *s, bool cpu_wide, struct err *e)
{
	const struct stat_options *o = &s->o;

	if (o->interval_count && !o->interval_ms)
		return err_set(e, EINVAL, "--interval-count needs intervals to count: add -I MS");
	if (o->separator && !*o->separator)
		return err_set(e, EINVAL, "the separator of -x is empty");
	vec_each(&o->forms, item)
		if (o->separator && item->option->letter == 'B')
			return err_set(e, EINVAL,
				       "-B is for text: the numbers of -x have no commas in them");
	if (o->per_thread && !target_has_tasks(&o->where))
		return err_set(
			e, EINVAL,
			"--per-thread needs running threads to tell apart: -p PID or -t TID");
	if ((o->no_aggregation || o->per_core || o->per_socket || o->per_die) && !cpu_wide)
		return err_set(
			e, EINVAL,
			"-A, --per-core, --per-die and --per-socket need CPUs to tell apart: "
			"add -a or -C LIST");
	if (o->per_thread + o->no_aggregation + o->per_core + o->per_die + o->per_socket > 1)
		return err_set(
			e, EINVAL,
			"choose one of --per-thread, -A, --per-core, --per-die, --per-socket");
	if (!s->plan.argv && !target_has_tasks(&o->where) && !cpu_wide)
		return err_set(e, EINVAL,
			       "nothing to count: give a COMMAND, or -p PID, -t TID, -a");
	return 0;
}

int stat_choose_target(struct stat_session *s, struct err *e)
{
	const struct stat_options *o = &s->o;
	int r = check_combination(s, stat_is_cpu_wide(o), e);

	s->plan.target.tasks_apart = o->per_thread;
	s->table.mode = s->tick.mode = choose_mode(o);
	s->table.by_aggregate = s->tick.by_aggregate =
		o->per_core || o->per_die || o->per_socket || o->where.cgroups;
	return r < 0 ? r
		     : target_choose(&o->where, &s->topology, &s->plan.target, &s->task_names, e);
}
