#include "event/parse/suggest.h"
#include "base/text.h"
#include "event/pfm.h"
#include "event/tracepoint.h"

#include <stdio.h>
#include <string.h>

void suggest_offer_generic(struct suggest *near)
{
	char name[64], description[128];
	uint64_t config;

	for (size_t i = 0; i < generic_event_count; i++) {
		suggest_offer(near, generic_events[i].name);
		if (generic_events[i].alias)
			suggest_offer(near, generic_events[i].alias);
	}
	for (size_t i = 0;
	     cache_event_nth(i, name, sizeof(name), &config, description, sizeof(description)); i++)
		suggest_offer(near, name);
}

static void offer_pmus(struct parse *p, struct suggest *near)
{
	struct pmus *pmus = catalog_pmus(p->c);
	const struct vendor_set *vendor = catalog_vendor(p->c);

	vec_each(&pmus->list, pmu) {
		CLEANUP(strvec_release) strvec names = {};

		pmu_event_names(pmus, pmu, &names);
		vec_each(&names, name)
			suggest_offer(near, *name);
	}
	vec_each(&vendor->events, event)
		suggest_offer(near, event->name);
}

struct symbolic {
	struct suggest *near;
	const char *name; /* without its unit masks */
	size_t len;
	struct buf elsewhere;
	size_t count;
};

/* Offers the events of this CPU as similar names, and collects the microarchitectures that have an
 * event of exactly this name, without uncore boxes, of which there are too many. */
static bool offer_symbolic(void *ctx, const struct pfm_event *event)
{
	struct symbolic *s = ctx;

	if (event->present)
		suggest_offer(s->near, event->name);
	if (strncasecmp(event->name, s->name, s->len) || event->name[s->len] || event->uncore)
		return true;
	if (s->count++ < 6)
		buf_addf(&s->elsewhere, "%s%s", s->count > 1 ? ", " : "", event->pmu);
	return true;
}

int suggest_event(struct parse *p, const char *at, const char *end)
{
	size_t len = (size_t)(end - at), word = strcspn(at, ":.,");
	CLEANUP(free_ptr) char *name = xstrndup(at, len);
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};
	struct symbolic known = {.near = &near, .name = name, .len = word < len ? word : len};

	suggest_offer_generic(&near);
	offer_pmus(p, &near);
	pfm_visit("all", false, offer_symbolic, &known);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	if (!hint.len && known.count)
		buf_addf(&hint, " on this CPU; it exists on %s%s", buf_str(&known.elsewhere),
			 known.count > 6 ? " and others" : "");
	else if (!hint.len)
		buf_add(&hint, "; tacho list shows what there is");
	buf_release(&known.elsewhere);
	return parse_error(p, at, "unknown event '%s'%s", name, buf_str(&hint));
}

static bool offer_tracepoint(void *ctx, const char *system, const char *name)
{
	CLEANUP(free_ptr) char *full = xasprintf("%s:%s", system, name);

	suggest_offer(ctx, full);
	return true;
}

int suggest_tracepoint(struct parse *p, const char *at, const char *system, const char *name)
{
	CLEANUP(free_ptr) char *full = xasprintf("%s:%s", system, name);
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = full};
	bool known = text_is_glob(system) || fs_exists("%s/events/%s", p->c->roots.tracefs, system);

	suggest_offer_generic(&near);
	tracepoint_visit(&p->c->roots, "*", "*", offer_tracepoint, &near);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	/* "INST_RETIRED:ANY_P" has the form of a tracepoint, but may be an event of another CPU. */
	if (!hint.len && !known)
		return suggest_event(p, at, at + strlen(full));
	if (!hint.len)
		buf_addf(&hint, " (tacho list '%s:*' shows what there is)", system);
	return parse_error(p, at, "no tracepoint matches '%s'%s", full, buf_str(&hint));
}
