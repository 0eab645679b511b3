/* Shared by catalog.c and the files of its sources; nobody else includes it. */
#ifndef TACHO_EVENT_CATALOG_SOURCES_H
#define TACHO_EVENT_CATALOG_SOURCES_H

#include "event/catalog.h"

struct walk {
	struct catalog *c;
	const struct catalog_query *query;
	catalog_visitor visit;
	catalog_problem problem;
	void *ctx;
	bool stopped;
};

/* Returns false once the visitor has asked to stop. */
bool walk_emit(struct walk *w, const struct catalog_entry *entry);
void walk_problem(struct walk *w, enum event_kind kind, const char *sentence);

void source_hardware(struct walk *w);
void source_software(struct walk *w);
void source_cache(struct walk *w);
void source_sysfs(struct walk *w);
void source_machine(struct walk *w);
void source_tracepoints(struct walk *w);
void source_sdt(struct walk *w);
void source_probes(struct walk *w);
void source_raw(struct walk *w);

#endif
