/* Parses one event of the list: recognizes its form and finds the source that knows its name. */
#include "event/parse/parse.h"
#include "base/number.h"
#include "base/text.h"
#include "event/pfm.h"
#include "event/parse/suggest.h"
#include "event/tracepoint.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

static void add_unit(struct event *event, uint32_t type, const struct pmu *pmu)
{
	vec_push(&event->units, (struct event_unit){.type = type, .pmu = pmu});
}

static int with_modifiers(struct parse *p, struct event *event, const char *mods, const char *end)
{
	return mods ? parse_modifiers(p, event, mods, (size_t)(end - mods)) : 0;
}

/* Makes the label of an event that exists once for each kind of core. */
static char *core_label(const struct pmu *core, const char *at, const char *end, const char *mods)
{
	const char *name_end = mods ? mods - 1 : end;

	return xasprintf("%s/%.*s/%.*s", core->name, (int)(name_end - at), at,
			 mods ? (int)(end - mods) : 0, mods ? mods : "");
}

/*
 * Adds an event of the core: generic, cache or raw. With several kinds of cores, adds one event for
 * each, because a counter of one kind sees nothing on the other.
 */
static int add_hardware(struct parse *p, const char *at, const char *end, uint32_t type,
			uint64_t config, const char *mods)
{
	struct pmus *pmus = catalog_pmus(p->c);
	bool hybrid = pmus_core(pmus, 1);

	for (size_t i = 0; i == 0 || (hybrid && pmus_core(pmus, i)); i++) {
		struct pmu *core = hybrid ? pmus_core(pmus, i) : NULL;
		struct event *event = parse_add(p, core ? core_label(core, at, end, mods)
							: xstrndup(at, (size_t)(end - at)));
		int r;

		event->attr.config = config;
		event->no_pmu = catalog_no_pmu(p->c);
		/* The upper half of a generic event's config is the kind of core. */
		if (core && type != PERF_TYPE_RAW)
			event->attr.config |= (uint64_t)core->type << 32;
		add_unit(event, core && type == PERF_TYPE_RAW ? core->type : type, core);
		r = with_modifiers(p, event, mods, end);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_generic(struct parse *p, const struct generic_event *g, const char *at,
		       const char *end, const char *mods)
{
	struct event *event;

	if (g->type == PERF_TYPE_HARDWARE)
		return add_hardware(p, at, end, g->type, g->config, mods);
	event = parse_add(p, xstrndup(at, (size_t)(end - at)));
	event->scale = g->scale;
	event->unit_text = g->unit ? xstrdup(g->unit) : NULL;
	if (g->type == TYPE_TOOL) {
		event->tool = (enum tool_event)g->config;
	} else {
		event->attr.config = g->config;
		add_unit(event, g->type, NULL);
	}
	return with_modifiers(p, event, mods, end);
}

static int add_pmu_alias(struct parse *p, struct pmu *pmu, char *label, const char *terms,
			 const char *at, const char *end, const char *mods)
{
	struct event *event = parse_add(p, label);
	struct parse inner = {.c = p->c, .text = terms, .list = p->list, .e = p->e};
	int r;

	add_unit(event, pmu->type, pmu);
	r = parse_terms(&inner, pmu, event, terms, terms + strlen(terms));
	if (r < 0)
		return parse_error(p, at,
				   "PMU '%s' defines this event as '%s', which cannot be parsed",
				   pmu->name, terms);
	return with_modifiers(p, event, mods, end);
}

/* Boxes of one kind differ in the number at the end of their names. */
static bool same_kind(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	while (a_len && strchr("0123456789", a[a_len - 1]))
		a_len--;
	while (b_len && strchr("0123456789", b[b_len - 1]))
		b_len--;
	return a_len == b_len && a_len && !strncmp(a, b, a_len) && a[a_len - 1] == '_';
}

/* Adds event @name of @pmu, or nothing if the PMU has none. Takes ownership of @label. */
static int add_sysfs_event(struct parse *p, struct pmu *pmu, const char *name, char *label,
			   const char *at, const char *end, const char *mods)
{
	struct pmu_event alias;
	struct event *event;
	int r;

	if (!pmu_event_read(catalog_pmus(p->c), pmu, name, &alias)) {
		free(label);
		return 0;
	}
	r = add_pmu_alias(p, pmu, label, alias.terms, at, end, mods);
	event = &p->list->events.items[p->list->events.len - 1];
	free(event->unit_text);
	event->unit_text = alias.unit ? xstrdup(alias.unit) : NULL;
	event->scale = alias.scale;
	pmu_event_release(&alias);
	return r;
}

/*
 * Adds a name found in sysfs: one event for each kind of core that has it, else one event for the
 * first PMU that has it, together with all boxes of the same kind.
 */
static int add_sysfs(struct parse *p, const char *name, const char *at, const char *end,
		     const char *mods)
{
	struct pmus *pmus = catalog_pmus(p->c);
	size_t before = p->list->events.len;
	int r = 0;

	for (size_t i = 0; r == 0 && pmus_core(pmus, i); i++) {
		struct pmu *core = pmus_core(pmus, i);

		r = add_sysfs_event(p, core, name,
				    pmus_core(pmus, 1) ? core_label(core, at, end, mods)
						       : xstrndup(at, (size_t)(end - at)),
				    at, end, mods);
	}
	vec_each(&pmus->list, pmu) {
		if (r < 0 || p->list->events.len > before)
			break;
		r = add_sysfs_event(p, pmu, name, xstrndup(at, (size_t)(end - at)), at, end, mods);
		vec_each(&pmus->list, box)
			if (p->list->events.len > before && box > pmu &&
			    same_kind(box->name, pmu->name))
				add_unit(&p->list->events.items[before], box->type, box);
	}
	return r;
}

/* Adds a name from an event file that was loaded for this CPU. */
static int add_vendor(struct parse *p, const struct vendor_event *v, const char *at,
		      const char *end, const char *mods)
{
	struct pmus *pmus = catalog_pmus(p->c);
	struct pmu *pmu = v->unit ? NULL : pmus_core(pmus, 0);
	struct event *event;

	vec_each(&pmus->list, candidate)
		if (v->unit && !pmu && pmu_name_matches(candidate->name, v->unit))
			pmu = candidate;
	if (pmu) {
		int r = add_pmu_alias(p, pmu, xstrndup(at, (size_t)(end - at)), v->terms, at, end,
				      mods);

		event = &p->list->events.items[p->list->events.len - 1];
		/* An uncore event counts on every box of its kind. */
		vec_each(&pmus->list, box)
			if (r == 0 && v->unit && box > pmu && pmu_name_matches(box->name, v->unit))
				add_unit(event, box->type, box);
		return r;
	}
	event = parse_add(p, xstrndup(at, (size_t)(end - at)));
	event->missing =
		v->unit ? xasprintf("there is no PMU '%s' here", v->unit) : parse_no_pmu(p);
	add_unit(event, PERF_TYPE_RAW, NULL);
	return with_modifiers(p, event, mods, end);
}

struct add_tracepoints {
	struct parse *p;
	const char *mods, *end;
	size_t found;
	int r;
};

static bool add_tracepoint(void *ctx, const char *system, const char *name)
{
	struct add_tracepoints *a = ctx;
	struct event *event;
	uint64_t id;

	if (!tracepoint_id(&a->p->c->roots, system, name, &id))
		return true;
	if (a->p->list->events.len >= EVENTS_MAX) {
		a->r = parse_error(a->p, a->end, "more than %d events", EVENTS_MAX);
		return false;
	}
	a->found++;
	event = parse_add(a->p,
			  xasprintf("%s:%s%s%.*s", system, name, a->mods ? ":" : "",
				    a->mods ? (int)(a->end - a->mods) : 0, a->mods ? a->mods : ""));
	event->tracepoint = xasprintf("%s:%s", system, name);
	event->attr.config = id;
	add_unit(event, PERF_TYPE_TRACEPOINT, NULL);
	a->r = with_modifiers(a->p, event, a->mods, a->end);
	return a->r == 0;
}

static int add_tracepoints(struct parse *p, const char *at, const char *colon, const char *end)
{
	CLEANUP(free_ptr) char *system = xstrndup(at, (size_t)(colon - at));
	const char *second = memchr(colon + 1, ':', (size_t)(end - colon - 1));
	const char *name_end = second ? second : end;
	CLEANUP(free_ptr) char *name = xstrndup(colon + 1, (size_t)(name_end - colon - 1));
	struct add_tracepoints a = {.p = p, .mods = second ? second + 1 : NULL, .end = end};
	const char *problem = roots_tracefs_problem(&p->c->roots);

	if (problem)
		return parse_error(p, at, "cannot look up tracepoint '%s:%s': %s", system, name,
				   problem);
	tracepoint_visit(&p->c->roots, system, name, add_tracepoint, &a);
	if (a.r < 0)
		return a.r;
	return a.found ? 0 : suggest_tracepoint(p, at, system, name);
}

/* "mem:ADDR[/LENGTH][:ACCESS][:MODIFIERS]" */
static int add_breakpoint(struct parse *p, const char *at, const char *end)
{
	CLEANUP(free_ptr) char *text = xstrndup(at + 4, (size_t)(end - at - 4));
	char *access = strchr(text, ':'), *mods = access ? strchr(access + 1, ':') : NULL;
	char *length = NULL;
	uint64_t address, len = 0;
	struct event *event;
	unsigned type = 0;

	if (mods)
		*mods++ = '\0';
	if (access)
		*access++ = '\0';
	if ((length = strchr(text, '/')))
		*length++ = '\0';
	if (!parse_u64(text, &address))
		return parse_error(p, at + 4, "'%s' is not an address (such as mem:0x601040:rw)",
				   text);
	if (access && !mods && *access && !strpbrk(access, "rwx") &&
	    is_modifiers(access, strlen(access))) {
		mods = access;
		access = NULL;
	}
	for (const char *c = access ? access : "rw"; *c; c++) {
		if (!strchr("rwx", *c))
			return parse_error(p, at + 4 + (c - text),
					   "'%c' is not an access (r, w, x)", *c);
		type |= *c == 'r' ? HW_BREAKPOINT_R : *c == 'w' ? HW_BREAKPOINT_W : HW_BREAKPOINT_X;
	}
	if (length && (!parse_u64(length, &len) || !len || len > 8 || (len & (len - 1))))
		return parse_error(p, at + 4 + (length - text), "a length is 1, 2, 4 or 8");
	event = parse_add(p, xstrndup(at, (size_t)(end - at)));
	event->attr.bp_type = type;
	event->attr.bp_addr = address;
	event->attr.bp_len = len                        ? len
			     : (type & HW_BREAKPOINT_X) ? sizeof(long)
							: HW_BREAKPOINT_LEN_4;
	add_unit(event, PERF_TYPE_BREAKPOINT, NULL);
	return mods ? parse_modifiers(p, event, at + 4 + (mods - text), strlen(mods)) : 0;
}

/* Adds the plain name before @mods. Sets *ret_done to false if no source knows the name. */
static int add_named(struct parse *p, const char *at, const char *end, const char *mods,
		     bool *ret_done)
{
	CLEANUP(free_ptr) char *name = xstrndup(at, (size_t)((mods ? mods - 1 : end) - at));
	const struct generic_event *generic = generic_find(name);
	const struct vendor_event *vendor;
	size_t before = p->list->events.len;
	uint64_t config;
	int r;

	*ret_done = true;
	if (generic)
		return add_generic(p, generic, at, end, mods);
	if (cache_event_find(name, &config))
		return add_hardware(p, at, end, PERF_TYPE_HW_CACHE, config, mods);
	if (name[0] == 'r' && parse_hex(name + 1, strlen(name + 1), &config))
		return add_hardware(p, at, end, PERF_TYPE_RAW, config, mods);
	vendor = vendor_find(catalog_vendor(p->c), name);
	if (vendor)
		return add_vendor(p, vendor, at, end, mods);
	r = add_sysfs(p, name, at, end, mods);
	*ret_done = r < 0 || p->list->events.len > before;
	return r;
}

/* Adds a symbolic name that libpfm4 knows for this CPU, with libpfm4's masks and modifiers. */
static bool add_pfm(struct parse *p, const char *at, const char *end)
{
	CLEANUP(free_ptr) char *text = xstrndup(at, (size_t)(end - at));
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct event *event;

	if (p->c->roots.foreign)
		return false; /* libpfm4 would answer for this machine's CPU */
	if (!pfm_encode(strncasecmp(text, "libpfm::", 8) ? text : text + 8, &attr))
		return false;
	event = parse_add(p, xstrndup(at, (size_t)(end - at)));
	event->attr = attr;
	event->modified = attr.exclude_user || attr.exclude_kernel;
	event->no_pmu = perf_type_is_core(attr.type) ? catalog_no_pmu(p->c) : NULL;
	add_unit(event, attr.type, NULL);
	return true;
}

int parse_one(struct parse *p, const char *at, const char *end)
{
	const char *slash = memchr(at, '/', (size_t)(end - at));
	const char *colon = memchr(at, ':', (size_t)(end - at));
	bool done = false;
	int r;

	if (end - at > 4 && !strncmp(at, "mem:", 4))
		return add_breakpoint(p, at, end);
	if (slash)
		return parse_pmu_event(p, at, slash, end);
	if (colon == at)
		return parse_error(p, at, "an event name is missing before ':'");
	if (!(colon && colon + 1 < end && colon[1] == ':')) {
		r = add_named(p, at, end, colon ? colon + 1 : NULL, &done);
		if (done)
			return r;
	}
	if (add_pfm(p, at, end))
		return 0;
	if (colon && colon + 1 == end)
		return parse_error(p, end, "an event or modifiers are missing behind ':'");
	if (colon && colon[1] != ':')
		return add_tracepoints(p, at, colon, end);
	return suggest_event(p, at, end);
}
