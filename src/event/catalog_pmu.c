/* Sources of events that belong to a PMU: named by sysfs, by event files, or by libpfm4. */
#include "event/catalog_sources.h"
#include "base/text.h"
#include "event/parse/parse.h"
#include "event/pfm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Sets entry->attr to what opening @text would use. Returns false if @text is not one event. */
static bool encode(struct catalog *c, const char *text, struct catalog_entry *entry)
{
	struct event_list list = {};
	bool ok = events_parse(c, text, &list, NULL) == 0 && list.events.len == 1;

	if (ok) {
		const struct event *event = &list.events.items[0];

		entry->attr = event->attr;
		entry->attr.type = event->units.items[0].type;
		entry->openable = !event->missing;
	}
	event_list_release(&list);
	return ok;
}

void source_sysfs(struct walk *w)
{
	struct pmus *pmus = catalog_pmus(w->c);

	vec_each(&pmus->list, pmu) {
		CLEANUP(strvec_release) strvec names = {};

		pmu_event_names(pmus, pmu, &names);
		vec_each(&names, name) {
			CLEANUP(free_ptr) char *full = xasprintf("%s/%s/", pmu->name, *name);
			CLEANUP(free_ptr) char *encoding = NULL;
			struct catalog_entry entry = {
				.kind = KIND_PMU, .source = "sysfs", .name = full};
			struct pmu_event event;

			if (!pmu_event_read(pmus, pmu, *name, &event))
				continue;
			encoding = xasprintf("%s/%s/", pmu->name, event.terms);
			entry.pmu = pmu->name;
			entry.encoding = encoding;
			entry.unit = event.unit;
			entry.scale = event.scale;
			entry.cpu = pmu->cpu_count ? pmu->cpus[0] : -1;
			encode(w->c, full, &entry);
			if (!strchr(full, '\n') && !walk_emit(w, &entry)) {
				pmu_event_release(&event);
				return;
			}
			pmu_event_release(&event);
		}
	}
}

static bool emit_vendor(struct walk *w, const struct vendor_set *set)
{
	bool here = !w->query->uarch;

	vec_each(&set->events, v) {
		CLEANUP(free_ptr)
		char *encoding = xasprintf("%s/%s/", v->unit ? v->unit : "cpu", v->terms);
		struct catalog_entry entry = {
			.kind = KIND_PMU, .source = "file", .scale = 1, .cpu = -1};

		entry.name = v->name;
		entry.description = v->description;
		entry.details = v->details;
		entry.pmu = v->unit ? v->unit : "cpu";
		entry.uarch = set->uarch;
		entry.encoding = encoding;
		entry.has_code = true;
		entry.code = v->code;
		entry.umask = v->umask;
		entry.deprecated = v->deprecated;
		if (here)
			encode(w->c, v->name, &entry);
		if (!walk_emit(w, &entry))
			return false;
	}
	return true;
}

struct pfm_walk {
	struct walk *w;
	const struct vendor_set
		*wins; /* a loaded file for the same CPU hides libpfm4's core events */
};

static bool emit_pfm(void *ctx, const struct pfm_event *event)
{
	struct pfm_walk *p = ctx;
	struct catalog_entry entry = {.kind = KIND_PMU, .source = "libpfm4", .scale = 1, .cpu = -1};
	char encoding[256];

	if (p->wins && !event->uncore && pfm_uarch_matches(p->wins->uarch, event->pmu))
		return true;
	snprintf(encoding, sizeof(encoding), "%s::%s", event->pmu, event->name);
	entry.name = event->name;
	entry.description = event->description;
	entry.pmu = entry.uarch = event->pmu;
	entry.encoding = encoding;
	entry.has_code = true;
	entry.code = event->code;
	entry.masks = event->masks;
	entry.mask_count = event->mask_count;
	/* Whether an event opens depends on its PMU only: the plain code is enough for a test. */
	entry.openable = event->present && !p->w->query->uarch;
	entry.attr.size = sizeof(entry.attr);
	entry.attr.type = PERF_TYPE_RAW;
	entry.attr.config = event->code;
	return walk_emit(p->w, &entry);
}

/* All sets that the user loaded, for --uarch all. */
static void emit_all_vendor(struct walk *w)
{
	vendor_installed_list installed = {};

	vendor_list(&w->c->roots, &installed);
	vec_each(&installed, item) {
		struct vendor_set set = {};

		if (!w->stopped && vendor_load(&w->c->roots, item->uarch, &set, NULL) == 0)
			emit_vendor(w, &set);
		vendor_release(&set);
	}
	vendor_installed_release(&installed);
}

static void unknown_uarch(struct walk *w, const char *uarch)
{
	CLEANUP(free_ptr)
	char *text = xasprintf(
		"unknown microarchitecture '%s' (tacho list --uarch help names them)", uarch);

	walk_problem(w, KIND_PMU, text);
}

void source_machine(struct walk *w)
{
	const char *uarch = w->query->uarch;
	bool all = uarch && !strcmp(uarch, "all");
	struct vendor_set named = {};
	const struct vendor_set *set = uarch ? NULL : catalog_vendor(w->c);
	struct pfm_walk p = {.w = w};
	struct err e = {};
	int r;

	if (all) {
		emit_all_vendor(w);
	} else if (uarch) {
		r = vendor_load(&w->c->roots, uarch, &named, &e);
		if (r < 0 && r != -ENOENT)
			walk_problem(w, KIND_PMU, e.text);
		if (r == 0)
			set = &named;
	}
	if (set && set->events.len) {
		emit_vendor(w, set);
		p.wins = set;
	}
	/* Without @uarch libpfm4 describes this machine's CPU, not the one whose files we read. */
	if (!uarch && w->c->roots.foreign)
		return;
	if (!w->stopped && pfm_visit(uarch, true, emit_pfm, &p) == 0 && uarch && !set)
		unknown_uarch(w, uarch);
	vendor_release(&named);
}
