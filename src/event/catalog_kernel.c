/* Sources of events that the kernel itself defines. */
#include "event/catalog_sources.h"
#include "base/text.h"
#include "event/sdt.h"
#include "event/tracepoint.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

static struct catalog_entry new_entry(enum event_kind kind, const char *source)
{
	return (struct catalog_entry){.kind = kind,
				      .source = source,
				      .scale = 1,
				      .cpu = -1,
				      .attr.size = sizeof(struct perf_event_attr)};
}

/* Every kind of core has its own counters, so a generic event is listed for each. */
static void emit_core_event(struct walk *w, struct catalog_entry *entry)
{
	struct pmus *pmus = catalog_pmus(w->c);
	uint64_t config = entry->attr.config;
	const char *name = entry->name;

	if (!pmus_core(pmus, 1)) {
		entry->pmu = pmus_core(pmus, 0) ? pmus_core(pmus, 0)->name : NULL;
		walk_emit(w, entry);
		return;
	}
	for (size_t i = 0; pmus_core(pmus, i); i++) {
		struct pmu *core = pmus_core(pmus, i);
		CLEANUP(free_ptr) char *full = xasprintf("%s/%s/", core->name, name);

		entry->name = entry->encoding = full;
		entry->pmu = core->name;
		entry->cpu = core->cpu_count ? core->cpus[0] : -1;
		entry->attr.config = config | (uint64_t)core->type << 32;
		if (!walk_emit(w, entry))
			return;
	}
}

static void emit_generic(struct walk *w, bool hardware)
{
	for (size_t i = 0; i < generic_event_count && !w->stopped; i++) {
		const struct generic_event *g = &generic_events[i];
		struct catalog_entry entry = new_entry(hardware ? KIND_HW : KIND_SW, "kernel");

		if (hardware != (g->type == PERF_TYPE_HARDWARE))
			continue;
		entry.name = entry.encoding = g->name;
		entry.alias = g->alias;
		entry.description = g->description;
		entry.unit = g->unit;
		entry.scale = g->scale;
		entry.openable = g->type != TYPE_TOOL;
		entry.attr.type = g->type;
		entry.attr.config = g->config;
		if (hardware)
			emit_core_event(w, &entry);
		else
			walk_emit(w, &entry);
	}
}

void source_hardware(struct walk *w)
{
	emit_generic(w, true);
}

void source_software(struct walk *w)
{
	emit_generic(w, false);
}

void source_cache(struct walk *w)
{
	struct catalog_entry entry = new_entry(KIND_CACHE, "kernel");
	char name[64], description[128];
	uint64_t config;

	for (size_t i = 0; !w->stopped && cache_event_nth(i, name, sizeof(name), &config,
							  description, sizeof(description));
	     i++) {
		entry.name = entry.encoding = name;
		entry.description = description;
		entry.openable = true;
		entry.attr.type = PERF_TYPE_HW_CACHE;
		entry.attr.config = config;
		emit_core_event(w, &entry);
	}
}

struct tracepoint_walk {
	struct walk *w;
	strvec probes; /* tracefs has them among the tracepoints; we list them apart */
};

/* Lines of probes have the form "p:group/name place arguments". */
static bool is_probe(const struct tracepoint_walk *t, const char *system, const char *name)
{
	size_t system_len = strlen(system), name_len = strlen(name);

	vec_each(&t->probes, line) {
		const char *colon = strchr(*line, ':'), *at = colon ? colon + 1 : "";

		if (!strncmp(at, system, system_len) && at[system_len] == '/' &&
		    !strncmp(at + system_len + 1, name, name_len) &&
		    strchr(" ", at[system_len + 1 + name_len]))
			return true;
	}
	return false;
}

static bool emit_tracepoint(void *ctx, const char *system, const char *name)
{
	struct tracepoint_walk *t = ctx;
	struct catalog_entry entry = new_entry(KIND_TRACEPOINT, "tracefs");
	char full[512];

	if (is_probe(t, system, name))
		return true;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	entry.name = entry.encoding = full;
	entry.attr.type = PERF_TYPE_TRACEPOINT;
	entry.openable = true;
	return walk_emit(t->w, &entry);
}

void source_tracepoints(struct walk *w)
{
	const char *problem = roots_tracefs_problem(&w->c->roots);
	const char *glob = w->query->name_glob, *colon = glob ? strchr(glob, ':') : NULL;
	CLEANUP(free_ptr) char *system = colon ? xstrndup(glob, (size_t)(colon - glob)) : NULL;
	struct tracepoint_walk t = {.w = w};

	if (problem) {
		walk_problem(w, KIND_TRACEPOINT, problem);
		return;
	}
	probe_lines(&w->c->roots, &t.probes);
	tracepoint_visit(&w->c->roots, system ? system : "*", colon ? colon + 1 : "*",
			 emit_tracepoint, &t);
	strvec_release(&t.probes);
}

void source_probes(struct walk *w)
{
	CLEANUP(strvec_release) strvec lines = {};

	probe_lines(&w->c->roots, &lines);
	vec_each(&lines, line) {
		struct catalog_entry entry = new_entry(KIND_PROBE, "tracefs");
		const char *colon = strchr(*line, ':');
		size_t len = colon ? strcspn(colon + 1, " ") : 0;
		CLEANUP(free_ptr) char *name = len ? xstrndup(colon + 1, len) : NULL;
		char *slash = name ? strchr(name, '/') : NULL;

		/* "p:group/name place arguments" */
		if (!slash || !strchr("pr", (*line)[0]))
			continue;
		*slash = ':';
		entry.name = entry.encoding = name;
		entry.description = colon + 1 + len + (colon[1 + len] == ' ');
		entry.attr.type = PERF_TYPE_TRACEPOINT;
		entry.openable = true;
		if (!walk_emit(w, &entry))
			return;
	}
}

struct sdt_walk {
	struct walk *w;
	const char *path;
};

static bool emit_marker(void *ctx, const struct sdt_marker *marker)
{
	struct sdt_walk *s = ctx;
	struct catalog_entry entry = new_entry(KIND_SDT, s->path);
	CLEANUP(free_ptr) char *name = xasprintf("sdt_%s:%s", marker->provider, marker->name);
	CLEANUP(free_ptr)
	char *text = xasprintf("%s at 0x%llx%s%s", s->path, (unsigned long long)marker->address,
			       *marker->arguments ? ", arguments " : "", marker->arguments);

	entry.name = name;
	entry.description = text;
	return walk_emit(s->w, &entry);
}

void source_sdt(struct walk *w)
{
	if (!w->query->binaries)
		return;
	vec_each(w->query->binaries, path) {
		struct sdt_walk s = {.w = w, .path = *path};
		struct err e;

		if (sdt_visit_file(*path, emit_marker, &s, &e) < 0)
			walk_problem(w, KIND_SDT, e.text);
	}
}

void source_raw(struct walk *w)
{
	struct catalog_entry entry = new_entry(KIND_RAW, "kernel");
	struct pmu *core = pmus_core(catalog_pmus(w->c), 0);
	CLEANUP(free_ptr)
	char *terms = xasprintf("%s/event=0x..,umask=0x../", core ? core->name : "cpu");

	entry.name = "rNNN";
	entry.encoding = "r1a8";
	entry.description = "raw code of the core PMU in hexadecimal, umask before event";
	entry.openable = true;
	entry.attr.type = PERF_TYPE_RAW;
	walk_emit(w, &entry);
	entry.name = terms;
	entry.encoding = "cpu/event=0xc0,umask=0x1,inv/";
	entry.description = "any event by the fields of its code, on the named PMU";
	walk_emit(w, &entry);
	entry.name = "mem:ADDR[/LEN][:rwx]";
	entry.encoding = "mem:0x601040/8:rw";
	entry.description = "breakpoint: accesses to an address";
	entry.attr.type = PERF_TYPE_BREAKPOINT;
	entry.attr.bp_type = HW_BREAKPOINT_RW;
	/* Any valid address will do: the test only asks whether a breakpoint is free. */
	entry.attr.bp_addr = (uint64_t)(uintptr_t)&generic_event_count;
	entry.attr.bp_len = HW_BREAKPOINT_LEN_4;
	walk_emit(w, &entry);
}
