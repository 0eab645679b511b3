/* Turns the plan of a run into a recording plan for this machine. */
#include "base/number.h"
#include "collect/run/rights.h"
#include "collect/run/runner.h"
#include "collect/target_options.h"

#include <errno.h>
#include <unistd.h>

/* Short, so that watchers see what happens in less than a tenth of a second. */
#define ROUND_NS (10 * NS_PER_MSEC)

#define LEDGER_NS NS_PER_SEC

static int parse_list(struct catalog *c, const strvec *texts, struct event_list *list,
		      struct err *e)
{
	vec_each(texts, text) {
		int r = events_parse(c, *text, list, e);

		if (r < 0)
			return r;
	}
	return events_apply_defaults(list, e);
}

/* One filter for all. The server has checked it, unless it may not read what the collector may. */
static int choose_filters(struct runner *r, struct err *e)
{
	struct runner_setup *s = &r->setup;
	const char *filter = r->order.plan.filter;

	for (size_t i = 0; filter && i < s->sampled.events.len; i++)
		vec_push(&s->filters, filter);
	return run_plan_check_filter(filter, &s->sampled, &s->catalog.roots, e);
}

static int choose_events(struct runner *r, struct err *e)
{
	const struct run_plan *plan = &r->order.plan;
	struct runner_setup *s = &r->setup;
	bool no_pmu = false;
	int result = 0;

	if (plan->tool & RUN_STAT)
		result = plan->events.len ? parse_list(&s->catalog, &plan->events, &s->counted, e)
					  : events_default_counted(&s->catalog, plan->system_wide,
								   &s->counted, e);
	if (result == 0 && (plan->tool & RUN_RECORD))
		result = plan->sample_events.len
				 ? parse_list(&s->catalog, &plan->sample_events, &s->sampled, e)
				 : events_default_sampled(&s->catalog, &s->sampled, &no_pmu, e);
	if (result == 0)
		result = choose_filters(r, e);
	/* Events named by the user are not replaced: nobody reads a note before the figures. */
	if (no_pmu)
		vec_push(&s->notes,
			 xasprintf("%s: samples are taken by the clock (cpu-clock), not by cycles",
				   catalog_no_pmu(&s->catalog)));
	return result;
}

static int choose_rate(struct runner *r, struct sampling_options *o, struct err *e)
{
	const struct run_plan *plan = &r->order.plan;
	uint64_t max = sampling_rate_max();

	o->period = plan->period;
	o->freq_hz = (uint64_t)plan->frequency_hz;
	/* Tracepoints are sampled at each hit, as by perf, unless a period says otherwise: by a frequency the
	 * kernel leaves out most hits, and repeats others. */
	o->rate_chosen = plan->period;
	if (!o->period && max && o->freq_hz > max) {
		vec_push(
			&r->setup.notes,
			xasprintf("the frequency is lowered from %llu to %llu Hz, which is what "
				  "the kernel allows (/proc/sys/kernel/perf_event_max_sample_rate)",
				  (unsigned long long)o->freq_hz, (unsigned long long)max));
		o->freq_hz = max;
	}
	return plan->callgraph ? call_graph_parse(plan->callgraph, o, e) : 0;
}

static char *list_of(const task_numbers *tasks)
{
	struct buf text = {};

	vec_each(tasks, task)
		buf_addf(&text, "%s%d", text.len ? "," : "", (int)*task);
	return buf_steal(&text);
}

static int choose_target(struct runner *r, struct err *e)
{
	const struct run_plan *plan = &r->order.plan;
	CLEANUP(free_ptr) char *pids = plan->pids.len ? list_of(&plan->pids) : NULL;
	CLEANUP(free_ptr) char *tids = plan->tids.len ? list_of(&plan->tids) : NULL;
	struct target_options o = {
		.cpus = plan->cpus, .pids = pids, .tids = tids, .all_cpus = plan->system_wide};

	return target_choose(&o, &r->setup.topology, &r->setup.target, NULL, e);
}

static void add_option(struct runner_setup *s, const char *option, const char *value)
{
	vec_push(&s->whole_argv, (char *)option);
	if (value)
		vec_push(&s->whole_argv, (char *)value);
}

/* The command that the recording says it is of has the options that decide which hits are in it: samples do
 * not tell. */
static void list_words(struct runner *r)
{
	const struct run_plan *plan = &r->order.plan;
	struct runner_setup *s = &r->setup;

	vec_push(&s->whole_argv, (char *)"tacho");
	vec_push(&s->whole_argv, (char *)"run");
	if (plan->system_wide)
		add_option(s, "-a", NULL);
	if (plan->cpus)
		add_option(s, "-C", plan->cpus);
	if (plan->filter)
		add_option(s, "--filter", plan->filter);
	vec_each(&plan->argv, word) {
		vec_push(&s->argv, *word);
		vec_push(&s->whole_argv, *word);
	}
	vec_each(&plan->env, variable)
		vec_push(&s->env, *variable);
	vec_push(&s->argv, NULL);
	vec_push(&s->env, NULL);
	vec_push(&s->whole_argv, NULL);
}

static uint64_t ns_of(double seconds)
{
	return (uint64_t)(seconds * (double)NS_PER_SEC);
}

static void fill_workload(struct runner *r, struct workload_options *o)
{
	const struct run_plan *plan = &r->order.plan;

	if (plan->limits.processes && !geteuid() && !plan->user)
		vec_push(&r->setup.notes,
			 xstrdup("the limit of processes does not hold for root: run the workload "
				 "as another user"));

	o->env = r->setup.env.len > 1 ? r->setup.env.items : NULL;
	o->cwd = plan->cwd;
	o->user = plan->user;
	o->affinity = plan->affinity;
	o->cpu_s = plan->limits.cpu_s;
	o->memory_bytes = plan->limits.memory_bytes;
	o->files = plan->limits.files;
	o->processes = plan->limits.processes;
	o->file_bytes = plan->limits.file_bytes;
}

static void fill_plan(struct runner *r, struct recording_plan *ret)
{
	const struct run_plan *plan = &r->order.plan;
	struct runner_setup *s = &r->setup;

	ret->events = &s->sampled;
	ret->counted = &s->counted;
	ret->interval_ns = ns_of(plan->interval_s);
	ret->target = s->target;
	ret->argv = plan->argv.len ? s->argv.items : NULL;
	ret->whole_argv = s->whole_argv.items;
	ret->catalog = &s->catalog;
	ret->sampling.topology = &s->topology;
	ret->sampling.roots = &s->catalog.roots;
	ret->sampling.filters = s->filters.len ? s->filters.items : NULL;
	ret->timeout_ns = ns_of(plan->argv.len ? plan->timeout_s : plan->duration_s);
	ret->round_ns = ROUND_NS;
	ret->progress_ns = LEDGER_NS;
	ret->stop_now = true;
	ret->output.writer.path = r->order.raw;
	ret->output.live_keep = r->order.raw ? LIVE_KEEP_FILE : LIVE_KEEP_NONE;
	ret->output.spill_directory = r->order.spill;
	ret->output.spill_bytes = r->order.spill_bytes;
	ret->output.skip_empty = true;
	fill_workload(r, &ret->workload);
}

int runner_setup_make(struct runner *r, struct recording_plan *ret, struct err *e)
{
	struct runner_setup *s = &r->setup;
	int result;

	catalog_init(&s->catalog);
	s->ready = true;
	if (s->catalog.roots.foreign)
		return err_set(e, EINVAL,
			       "cannot measure on another machine's files (unset TACHO_SYSFS and "
			       "TACHO_PROCFS)");
	topology_load(&s->topology, &s->catalog.roots);
	result = run_rights_apply(&(struct run_rights){r->order.run_as, r->order.restricted},
				  &r->order.plan, e);
	if (result == 0)
		result = choose_events(r, e);
	if (result == 0)
		result = choose_rate(r, &ret->sampling, e);
	if (result == 0)
		result = choose_target(r, e);
	list_words(r);
	fill_plan(r, ret);
	return result;
}

void runner_setup_release(struct runner_setup *s)
{
	event_list_release(&s->sampled);
	event_list_release(&s->counted);
	vec_release(&s->filters);
	target_release(&s->target);
	vec_release(&s->argv);
	vec_release(&s->env);
	vec_release(&s->whole_argv);
	strvec_release(&s->notes);
	if (s->ready) {
		topology_release(&s->topology);
		catalog_release(&s->catalog);
	}
	*s = (struct runner_setup){};
}
