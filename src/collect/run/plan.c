#include "collect/run/plan.h"
#include "collect/run/plan_fields.h"
#include "event/filter.h"
#include "event/parse/parse.h"

#include <errno.h>

#define INTERVAL_S   0.1
#define FREQUENCY_HZ 999

void run_plan_release(struct run_plan *p)
{
	char **texts[] = {&p->description, &p->workload,  &p->cwd,    &p->user, &p->affinity,
			  &p->cpus,        &p->callgraph, &p->filter, &p->note, &p->client};
	strvec *lists[] = {&p->argv, &p->env, &p->events, &p->sample_events, &p->tags};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		free(*texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		strvec_release(lists[i]);
	vec_release(&p->pids);
	vec_release(&p->tids);
	*p = (struct run_plan){};
}

static int choose_argv(struct run_plan *p, struct err *e)
{
	int r = 0;

	if (!p->workload)
		return p->shell ? run_plan_wrong(e, "workload", "given if 'shell' is") : 0;
	if (p->shell && p->argv.len)
		return run_plan_wrong(e, "workload", "one text if it is for a shell");
	if (p->shell) {
		vec_push(&p->argv, xstrdup("/bin/sh"));
		vec_push(&p->argv, xstrdup("-c"));
		vec_push(&p->argv, xstrdup(p->workload));
	} else if (!p->argv.len) {
		r = words_split(p->workload, &p->argv, e);
	}
	if (r == 0 && p->argv.len > WORDS_MAX)
		return err_set(e, EINVAL, "'workload' has more than %u words", WORDS_MAX);
	if (r == 0 && (!p->argv.len || !*p->argv.items[0]))
		return err_set(e, EINVAL, "'workload' is empty: it names the program to run");
	return r;
}

static int check_target(const struct run_plan *p, struct err *e)
{
	bool tasks = p->pids.len || p->tids.len;

	if (!p->argv.len && !tasks && !p->system_wide)
		return err_set(e, EINVAL,
			       "there is nothing to measure: give a 'workload', 'pids', 'tids' or "
			       "'system_wide'");
	if (tasks && (p->argv.len || p->system_wide))
		return err_set(e, EINVAL,
			       "choose one: 'pids' and 'tids', or a 'workload', or 'system_wide'");
	if (p->cpus && !p->system_wide)
		return err_set(e, EINVAL,
			       "'cpus' are for 'system_wide'; 'affinity' says where a "
			       "workload may run");
	if (p->duration_s && p->argv.len)
		return err_set(
			e, EINVAL,
			"'duration' applies to 'pids', 'tids' and 'system_wide'; a 'workload' "
			"has a 'timeout'");
	if (!p->argv.len && (p->env.len || p->cwd || p->user || p->affinity || p->timeout_s))
		return err_set(e, EINVAL,
			       "'env', 'cwd', 'user', 'affinity' and 'timeout' are for a "
			       "'workload'");
	return 0;
}

/* Fills in defaults, so that the plan shows what applies. */
static int choose_what(struct run_plan *p, bool sample, struct err *e)
{
	strvec none = {};

	if (!p->tool)
		p->tool = !sample ? RUN_STAT : p->events.len ? RUN_BOTH : RUN_RECORD;
	if (p->tool == RUN_STAT && sample)
		return err_set(e, EINVAL, "'sample' is for the tools \"record\" and \"both\"");
	if (p->tool == RUN_RECORD && p->events.len) {
		if (p->sample_events.len)
			return err_set(e, EINVAL,
				       "tool \"record\" counts nothing: 'events' beside "
				       "'sample.events' needs tool \"both\"");
		p->sample_events.items = p->events.items;
		p->sample_events.len = p->events.len;
		p->sample_events.cap = p->events.cap;
		p->events = none;
	}
	if (p->period && p->frequency_hz)
		return err_set(e, EINVAL, "choose one: 'sample.frequency' or 'sample.period'");
	if (p->tool == RUN_STAT)
		return 0;
	if (p->filter && !p->sample_events.len)
		return err_set(e, EINVAL,
			       "'sample.filter' is for tracepoints: name them in 'sample.events'");
	if (!p->period && !p->frequency_hz)
		p->frequency_hz = FREQUENCY_HZ;
	if (!p->callgraph)
		p->callgraph = xstrdup("fp");
	return 0;
}

int run_plan_parse(const json_t *json, struct run_plan *ret, struct err *e)
{
	struct run_plan p = {.streaming = true, .interval_s = INTERVAL_S};
	int r = run_plan_take_fields(json, &p, e);

	if (r == 0)
		r = choose_argv(&p, e);
	if (r == 0)
		r = check_target(&p, e);
	if (r == 0)
		r = choose_what(&p, json_object_get(json, "sample"), e);
	if (r < 0)
		run_plan_release(&p);
	else
		*ret = p;
	return r;
}

bool run_plan_exclusive(const struct run_plan *p)
{
	return p->has_exclusive ? p->exclusive : p->argv.len > 0;
}

int run_plan_check_filter(const char *filter, const struct event_list *events,
			  const struct roots *roots, struct err *e)
{
	for (size_t i = 0; filter && i < events->events.len; i++) {
		int r = event_filter_check(roots, &events->events.items[i], filter, e);

		if (r < 0) {
			err_prefix(e, "sample.filter");
			return r;
		}
	}
	return 0;
}

static int check_events(struct catalog *c, const strvec *names, const char *filter, struct err *e)
{
	vec_each(names, name) {
		struct event_list list = {};
		int r = events_parse(c, *name, &list, e);

		if (r == 0)
			r = run_plan_check_filter(filter, &list, &c->roots, e);

		event_list_release(&list);
		if (r < 0)
			return r;
	}
	return 0;
}

int run_plan_check_events(const struct run_plan *p, struct catalog *c, struct err *e)
{
	int r = check_events(c, &p->events, NULL, e);

	return r < 0 ? r : check_events(c, &p->sample_events, p->filter, e);
}
