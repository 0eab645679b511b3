#include "event/catalog.h"
#include "base/number.h"
#include "base/text.h"
#include "event/catalog_sources.h"
#include "event/hypervisor.h"
#include "event/pfm.h"
#include "event/tracepoint.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *title;
} kinds[KIND_COUNT] = {
	[KIND_HW] = {"hw", "Hardware events"},
	[KIND_SW] = {"sw", "Software events"},
	[KIND_CACHE] = {"cache", "Hardware cache events"},
	[KIND_PMU] = {"pmu", "PMU events"},
	[KIND_TRACEPOINT] = {"tracepoint", "Tracepoints"},
	[KIND_SDT] = {"sdt", "Markers in binaries (SDT)"},
	[KIND_PROBE] = {"probe", "Probes"},
	[KIND_RAW] = {"raw", "Raw events and breakpoints"},
};

const char *event_kind_name(enum event_kind kind)
{
	return kinds[kind].name;
}

const char *event_kind_title(enum event_kind kind)
{
	return kinds[kind].title;
}

bool event_kind_find(const char *name, enum event_kind *ret_kind)
{
	for (int i = 0; i < KIND_COUNT; i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		*ret_kind = (enum event_kind)i;
		return true;
	}
	return false;
}

void catalog_init(struct catalog *c)
{
	*c = (struct catalog){.roots = roots_find()};
}

void catalog_release(struct catalog *c)
{
	if (c->pmus_ready)
		pmus_release(&c->pmus);
	vendor_release(&c->vendor);
	free(c->no_pmu);
}

struct pmus *catalog_pmus(struct catalog *c)
{
	if (!c->pmus_ready) {
		pmus_load(&c->pmus, &c->roots);
		c->pmus_ready = true;
	}
	return &c->pmus;
}

const struct vendor_set *catalog_vendor(struct catalog *c)
{
	if (!c->vendor_ready) {
		vendor_load(&c->roots, NULL, &c->vendor, NULL);
		c->vendor_ready = true;
	}
	return &c->vendor;
}

const char *catalog_no_pmu(struct catalog *c)
{
	if (!c->no_pmu) {
		struct buf reason = {};

		if (!pmus_core(catalog_pmus(c), 0))
			hypervisor_no_pmu(hypervisor_find(&c->roots, NULL), &reason);
		c->no_pmu = buf_steal(&reason);
	}
	return *c->no_pmu ? c->no_pmu : NULL;
}

static const struct {
	enum event_kind kind;
	void (*visit)(struct walk *w);
} sources[] = {
	{KIND_HW, source_hardware}, {KIND_SW, source_software},
	{KIND_CACHE, source_cache}, {KIND_PMU, source_sysfs},
	{KIND_PMU, source_machine}, {KIND_TRACEPOINT, source_tracepoints},
	{KIND_SDT, source_sdt},     {KIND_PROBE, source_probes},
	{KIND_RAW, source_raw},
};

void catalog_visit(struct catalog *c, const struct catalog_query *query, catalog_visitor visit,
		   catalog_problem problem, void *ctx)
{
	struct walk w = {.c = c, .query = query, .visit = visit, .problem = problem, .ctx = ctx};

	for (size_t i = 0; i < ARRAY_LEN(sources) && !w.stopped; i++) {
		/* Of another microarchitecture only the symbolic events are known. */
		if (query->uarch && sources[i].visit != source_machine)
			continue;
		if (query->kind < 0 || query->kind == (int)sources[i].kind)
			sources[i].visit(&w);
	}
}

bool walk_emit(struct walk *w, const struct catalog_entry *entry)
{
	if (!w->stopped && !w->visit(w->ctx, entry))
		w->stopped = true;
	return !w->stopped;
}

void walk_problem(struct walk *w, enum event_kind kind, const char *sentence)
{
	if (w->problem)
		w->problem(w->ctx, kind, sentence);
}

void catalog_uarchs(struct catalog *c, uarch_visitor visit, void *ctx)
{
	vendor_installed_list installed = {};

	vendor_list(&c->roots, &installed);
	vec_each(&installed, item) {
		CLEANUP(free_ptr)
		char *what = xasprintf("loaded event file, %zu events", item->events);

		visit(ctx, item->uarch, what, item->this_cpu);
	}
	vendor_installed_release(&installed);
	pfm_pmus(visit, ctx);
}
