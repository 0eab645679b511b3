/* Metrics (-M), built in or from the vendor's files, and the events that they need. */
#include "cmd/stat/stat.h"
#include "base/text.h"
#include "event/parse/parse.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define METRICS_MAX 500

/* Constants of the machine; their names in formulas begin with '#'. */
static double constant(struct stat_session *s, const char *name, bool *ret_known)
{
	const struct topology *t = &s->topology;
	int sockets = 0, cores = 0;
	long long smt = 0;

	for (size_t i = 0; i < t->count; i++) {
		bool new_core = true;

		for (size_t k = 0; k < i; k++)
			new_core &= t->cpus[k].core != t->cpus[i].core ||
				    t->cpus[k].socket != t->cpus[i].socket;
		cores += new_core;
		sockets = t->cpus[i].socket + 1 > sockets ? t->cpus[i].socket + 1 : sockets;
	}
	*ret_known = true;
	if (!strcmp(name, "#num_cpus") || !strcmp(name, "#num_cpus_online"))
		return (double)t->count;
	if (!strcmp(name, "#num_cores"))
		return cores;
	if (!strcmp(name, "#num_packages") || !strcmp(name, "#num_dies"))
		return sockets;
	if (!strcmp(name, "#smt_on")) {
		fs_number(&smt, "%s/devices/system/cpu/smt/active", s->catalog.roots.sys);
		return (double)smt;
	}
	if (!strcmp(name, "#core_wide"))
		return s->o.where.all_cpus;
	*ret_known = false;
	return 0;
}

static double fold_lookup(void *arg, enum expr_use use, const char *name, bool *ret_known)
{
	struct stat_session *s = arg;
	struct event_list list = {};
	bool there;

	if (use == EXPR_VALUE)
		return name[0] == '#' ? constant(s, name, ret_known) : 0;
	if (use != EXPR_HAS_EVENT)
		return 0;
	there = events_parse(&s->catalog, name, &list, NULL) == 0 && !list.events.items[0].missing;
	event_list_release(&list);
	*ret_known = true;
	return there;
}

static const struct event *event_named(const struct stat_session *s, const char *name)
{
	vec_each(&s->events.events, event)
		if (!strcasecmp(event->name, name))
			return event;
	return NULL;
}

struct wanted_events {
	struct stat_session *s;
	const struct metric *metric;
	struct err *e;
	int r;
};

static void want_event(void *arg, enum expr_use use, const char *name)
{
	struct wanted_events *w = arg;

	if (use != EXPR_VALUE || w->r < 0 || event_named(w->s, name))
		return;
	w->r = events_parse(&w->s->catalog, name, &w->s->events, w->e);
	if (w->r < 0)
		err_prefix(w->e, "metric '%s'", w->metric->name);
}

static int add_metric(struct stat_session *s, struct metric metric, const char *expression,
		      struct err *e)
{
	struct wanted_events w = {.s = s, .metric = &metric, .e = e};
	int r = s->metrics.len < METRICS_MAX
			? expr_parse(expression, &metric.expr, e)
			: err_set(e, E2BIG, "more than %d metrics", METRICS_MAX);

	if (r < 0) {
		err_prefix(e, "metric '%s'", metric.name);
	} else {
		expr_fold(metric.expr, fold_lookup, s);
		expr_names(metric.expr, want_event, &w);
		r = w.r;
	}
	/* Kept even if it failed, so that its strings are freed in one place. */
	vec_push(&s->metrics, metric);
	return r;
}

static int unknown_metric(struct stat_session *s, const char *name, struct err *e)
{
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};

	for (const struct builtin_metric *b = builtin_metrics; b->name; b++)
		suggest_offer(&near, b->name);
	vec_each(&catalog_vendor(&s->catalog)->metrics, m)
		suggest_offer(&near, m->name);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	return err_set(e, EINVAL, "unknown metric '%s'%s (tacho stat -M help lists them)", name,
		       buf_str(&hint));
}

/* Adds the metric of this name, or the group of the vendor's metrics. */
static int add_named(struct stat_session *s, const char *name, struct err *e)
{
	const struct vendor_set *vendor = catalog_vendor(&s->catalog);
	bool found = false;
	int r = 0;

	vec_each(&vendor->metrics, m) {
		struct metric metric = {.scale = m->scale};

		if (r < 0 ||
		    (strcasecmp(m->name, name) && !(m->group && text_contains(m->group, name))))
			continue;
		found = true;
		metric.name = xstrdup(m->name);
		metric.description = xstrdup(m->description ? m->description : "");
		metric.unit = xstrdup(m->unit ? m->unit : "");
		r = add_metric(s, metric, m->expression, e);
	}
	for (const struct builtin_metric *b = builtin_metrics; b->name && !found; b++) {
		struct metric metric = {.scale = b->scale};

		if (strcasecmp(b->name, name))
			continue;
		found = true;
		metric.name = xstrdup(b->name);
		metric.description = xstrdup(b->description);
		metric.unit = xstrdup(b->unit);
		r = add_metric(s, metric, b->expression, e);
	}
	return found ? r : unknown_metric(s, name, e);
}

int stat_add_metrics(struct stat_session *s, const char *names, struct err *e)
{
	CLEANUP(strvec_release) strvec list = {};

	text_split(names, ",", &list);
	if (!list.len)
		return err_set(e, EINVAL, "the list of metrics is empty");
	vec_each(&list, name) {
		int r = add_named(s, *name, e);

		if (r < 0)
			return r;
	}
	return 0;
}

void stat_list_metrics(struct stat_session *s, struct buf *out)
{
	for (const struct builtin_metric *b = builtin_metrics; b->name; b++)
		buf_addf(out, "  %-24s %s [%s]\n", b->name, b->description, b->unit);
	vec_each(&catalog_vendor(&s->catalog)->metrics, m)
		buf_addf(out, "  %-24s %s\n", m->name, m->description ? m->description : "");
}

struct metric_session {
	struct stat_session *s;
	const struct counter_table *t;
	size_t aggregate;
};

static double value_lookup(void *arg, enum expr_use use, const char *name, bool *ret_known)
{
	struct metric_session *l = arg;
	const struct event *event = event_named(l->s, name);
	size_t row = event ? (size_t)(event - l->s->events.events.items) : 0;

	if (!event && name[0] == '#')
		return constant(l->s, name, ret_known);
	*ret_known = event != NULL;
	if (use == EXPR_SOURCE_COUNT)
		return event ? (double)event->units.len : 0;
	if (use == EXPR_AGGR_NR)
		return l->t->aggregates[l->aggregate].cpu_count;
	return event ? metric_cell_value(l->t, row, l->aggregate) : NAN;
}

double stat_metric_value(struct stat_session *s, const struct counter_table *t,
			 const struct metric *m, size_t aggregate)
{
	struct metric_session l = {.s = s, .t = t, .aggregate = aggregate};

	return metric_value(m, value_lookup, &l);
}
