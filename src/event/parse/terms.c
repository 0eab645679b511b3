/* Parses "pmu/terms/modifiers": events of a PMU, written as bit fields or as a name in sysfs. */
#include "event/parse/parse.h"
#include "base/number.h"
#include "base/text.h"
#include "event/parse/suggest.h"

#include <errno.h>
#include <string.h>

/* An event in sysfs consists of terms, which may not name further events. */
#define ALIAS_DEPTH_MAX 1

static int terms_at_depth(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
			  const char *end, int depth);

static int unknown_term(struct parse *p, struct pmu *pmu, const char *at, const char *key)
{
	CLEANUP(strvec_release) strvec names = {};
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = key};

	pmu_event_names(catalog_pmus(p->c), pmu, &names);
	vec_each(&names, name)
		suggest_offer(&near, *name);
	vec_each(&pmu->fields, field)
		suggest_offer(&near, field->name);
	suggest_sentence(&near, &hint);
	if (!near.count) {
		buf_add(&hint, "; it has the terms config, config1, config2, name, period");
		vec_each(&pmu->fields, field)
			if (hint.len < 400)
				buf_addf(&hint, ", %s", field->name);
	}
	suggest_release(&near);
	return parse_error(p, at, "PMU '%s' has no event or term '%s'%s", pmu->name, key,
			   buf_str(&hint));
}

static int alias_term(struct parse *p, struct pmu *pmu, struct event *event, const char *name,
		      const char *at, int depth, bool *ret_known)
{
	const struct vendor_event *vendor;
	struct pmu_event alias;
	struct parse inner = *p;
	int r;

	*ret_known = true;
	if (depth < ALIAS_DEPTH_MAX && pmu_event_read(catalog_pmus(p->c), pmu, name, &alias)) {
		inner.text = alias.terms;
		r = terms_at_depth(&inner, pmu, event, alias.terms,
				   alias.terms + strlen(alias.terms), depth + 1);
		if (r < 0)
			r = parse_error(
				p, at,
				"event '%s' of PMU '%s' is defined as '%s', which cannot be parsed",
				name, pmu->name, alias.terms);
		free(event->unit_text);
		event->unit_text = alias.unit ? xstrdup(alias.unit) : NULL;
		event->scale = alias.scale;
		pmu_event_release(&alias);
		return r;
	}
	vendor = depth < ALIAS_DEPTH_MAX ? vendor_find(catalog_vendor(p->c), name) : NULL;
	if (vendor) {
		inner.text = vendor->terms;
		return terms_at_depth(&inner, pmu, event, vendor->terms,
				      vendor->terms + strlen(vendor->terms), depth + 1);
	}
	if (pmu->core) {
		const struct generic_event *g = generic_find(name);
		uint64_t config = 0;

		if ((g && g->type == PERF_TYPE_HARDWARE) || cache_event_find(name, &config)) {
			event->attr.config = (g ? g->config : config) | (uint64_t)pmu->type << 32;
			vec_each(&event->units, unit)
				unit->type = g ? PERF_TYPE_HARDWARE : PERF_TYPE_HW_CACHE;
			return 0;
		}
	}
	*ret_known = false;
	return 0;
}

static int one_term(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
		    const char *end, int depth)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	CLEANUP(free_ptr) char *key = xstrndup(at, (size_t)((equals ? equals : end) - at));
	CLEANUP(free_ptr)
	char *value = equals ? xstrndup(equals + 1, (size_t)(end - equals - 1)) : NULL;
	const struct pmu_field *field;
	uint64_t number = 1;
	bool known;
	int r;

	if (!*key)
		return parse_error(p, at, "a term is missing here");
	field = pmu_field(catalog_pmus(p->c), pmu, key);
	if (!field) {
		r = parse_config_term(p, event, key, value, equals ? equals + 1 : at, &known);
		if (known)
			return r;
	}
	if (!value) {
		r = alias_term(p, pmu, event, key, at, depth, &known);
		if (known)
			return r;
	}
	if (!field && value && !strcmp(value, "?"))
		return parse_error(p, at, "event needs a value: %s=…", key);
	if (!field)
		return unknown_term(p, pmu, at, key);
	if (value && !parse_u64(value, &number))
		return parse_error(p, equals + 1, "'%s' is not a number", value);
	if (!pmu_field_set(field, number, &event->attr))
		return parse_error(p, equals ? equals + 1 : at,
				   "0x%llx does not fit into '%s' of PMU '%s'",
				   (unsigned long long)number, key, pmu->name);
	return 0;
}

static int terms_at_depth(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
			  const char *end, int depth)
{
	for (;;) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		int r = one_term(p, pmu, event, at, comma ? comma : end, depth);

		if (r < 0 || !comma)
			return r;
		at = comma + 1;
	}
}

int parse_terms(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
		const char *end)
{
	return terms_at_depth(p, pmu, event, at, end, 0);
}

static int unknown_pmu(struct parse *p, const char *at, const char *name)
{
	CLEANUP(buf_release) struct buf names = {};
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};

	suggest_offer_generic(&near);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	vec_each(&catalog_pmus(p->c)->list, pmu)
		if (names.len < 300)
			buf_addf(&names, "%s%s", names.len ? ", " : "", pmu->name);
	return parse_error(p, at, "there is no PMU '%s' here (there are: %s), nor an event%s", name,
			   names.len ? buf_str(&names) : "none", buf_str(&hint));
}

/* Adds the PMU of this name, or those that match a glob or are boxes of a kind ("uncore_cbox"). */
static void find_units(struct pmus *pmus, const char *name, struct event *event)
{
	struct pmu *exact = pmus_find(pmus, name);

	if (exact) {
		vec_push(&event->units, (struct event_unit){exact->type, exact});
		return;
	}
	vec_each(&pmus->list, pmu)
		if (text_is_glob(name) ? text_glob(name, pmu->name)
				       : pmu_name_matches(pmu->name, name))
			vec_push(&event->units, (struct event_unit){pmu->type, pmu});
}

static bool has_units(struct pmus *pmus, const char *name)
{
	struct event probe = {};
	bool found;

	find_units(pmus, name, &probe);
	found = probe.units.len;
	vec_release(&probe.units);
	return found;
}

/* The text of an event after the name of its PMU: "/terms/modifiers". */
struct slashed {
	const char *open, *close, *end;
};

/* Parses terms and modifiers of an event whose units are known. */
static int finish_event(struct parse *p, struct event *event, const struct slashed *text)
{
	struct pmus *pmus = catalog_pmus(p->c);
	const struct pmu *first = event->units.items[0].pmu;
	const char *mods = text->close + 1;
	int r = 0;

	if (first && text->close > text->open + 1)
		r = parse_terms(p, pmus_find(pmus, first->name), event, text->open + 1,
				text->close);
	mods += mods < text->end && *mods == ':';
	if (r == 0 && mods < text->end)
		r = parse_modifiers(p, event, mods, (size_t)(text->end - mods));
	return r;
}

/* "cpu" means the core PMU, whatever its name; with several kinds of cores, all of them. */
static int add_on_cores(struct parse *p, const char *at, const struct slashed *text)
{
	struct pmus *pmus = catalog_pmus(p->c);
	bool hybrid = pmus_core(pmus, 1);
	struct event *event;
	int r = 0;

	for (size_t i = 0; r == 0 && pmus_core(pmus, i); i++) {
		struct pmu *core = pmus_core(pmus, i);

		event = parse_add(p, hybrid ? xasprintf("%s%.*s", core->name,
							(int)(text->end - text->open), text->open)
					    : xstrndup(at, (size_t)(text->end - at)));
		vec_push(&event->units, (struct event_unit){core->type, core});
		r = finish_event(p, event, text);
	}
	if (pmus_core(pmus, 0))
		return r;
	event = parse_add(p, xstrndup(at, (size_t)(text->end - at)));
	event->missing = parse_no_pmu(p);
	vec_push(&event->units, (struct event_unit){PERF_TYPE_RAW, NULL});
	return finish_event(p, event, text);
}

int parse_pmu_event(struct parse *p, const char *at, const char *slash, const char *end)
{
	CLEANUP(free_ptr) char *name = xstrndup(at, (size_t)(slash - at));
	struct slashed text = {slash, memchr(slash + 1, '/', (size_t)(end - slash - 1)), end};
	struct event *event;

	if (!text.close)
		return parse_error(p, slash, "the closing '/' after the terms is missing");
	if (!strcmp(name, "cpu") && !pmus_find(catalog_pmus(p->c), name))
		return add_on_cores(p, at, &text);
	if (!has_units(catalog_pmus(p->c), name)) {
		int r = parse_with_terms(p, at, slash, text.close, end);

		return r == -ENOENT ? unknown_pmu(p, at, name) : r;
	}
	event = parse_add(p, xstrndup(at, (size_t)(end - at)));
	find_units(catalog_pmus(p->c), name, event);
	return finish_event(p, event, &text);
}
