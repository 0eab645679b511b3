/*
 * The events of this machine as the API lists them: the whole catalogue of src/event, each opened once
 * to see whether it can be counted, the most used first. Making it takes tens of milliseconds, so it is
 * kept for a while and shared. Any thread.
 */
#ifndef TACHO_SERVER_EMAP_H
#define TACHO_SERVER_EMAP_H

#include "base/buf.h"
#include "base/vec.h"
#include "collect/run/plan.h"
#include "event/catalog.h"

struct emap_event {
	char *name, *alias, *description, *unit, *pmu;
	char *masks; /* JSON array of its variants, NULL: none */
	enum event_kind kind;
	int available; /* 1 yes, 0 no, -1 not tested: a form to fill in, or another machine's */
	char *reason;  /* why not; NULL: it is available */
	unsigned used; /* how often the user has counted it */
};

/* Does not change once it is given out. */
struct emap_list {
	unsigned refs;
	VEC(struct emap_event) events;
	strvec problems; /* sentences: sources that could not be read */
};

struct emap;

struct emap *emap_new(void);
void emap_free(struct emap *m);

/* Give it back by emap_put(). */
struct emap_list *emap_get(struct emap *m);
void emap_put(struct emap *m, struct emap_list *list);

/* Every word of @search (separated by blanks, NULL: none) is somewhere in name or descriptions. */
bool emap_matches(const struct emap_event *event, const char *search);

/* Counts the events of a plan as used once more. */
void emap_note_used(struct emap *m, const struct run_plan *plan);

#endif
