/*
 * The events of this machine as the API lists them: the whole catalogue of src/event, the most used
 * first. Each event is opened once to see whether it can be counted. Making the list takes tens of
 * milliseconds, so it is cached for a while and shared. Any thread may call these functions.
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
	int available; /* 1 yes, 0 no, -1 not tested: a template, or another machine's event */
	char *reason;  /* why it is not available, else NULL */
	unsigned used; /* how often the user has counted it */
};

/* Immutable once emap_get() has returned it. */
struct emap_list {
	unsigned refs;
	VEC(struct emap_event) events;
	strvec problems; /* a sentence for each source that could not be read */
};

struct emap;

struct emap *emap_new(void);
void emap_free(struct emap *m);

/* The caller must release the list with emap_put(). */
struct emap_list *emap_get(struct emap *m);
void emap_put(struct emap *m, struct emap_list *list);

/*
 * Whether every word of @search (separated by blanks; NULL matches all) occurs in the event's name,
 * alias, description, PMU or masks.
 */
bool emap_matches(const struct emap_event *event, const char *search);

/*
 * Checks that the event names of a plan can be parsed on this machine. All plans share one
 * catalogue, because reading the PMUs and event files takes longer than the rest of a request. If a
 * name is not found, the catalogue is read again: a module or an event file may have been added. If
 * a name has disappeared since, the collector, which reads its own catalogue, reports that.
 */
int emap_check_events(struct emap *m, const struct run_plan *plan, struct err *e);

/* Increments the usage count of each event of @plan. */
void emap_note_used(struct emap *m, const struct run_plan *plan);

#endif
