/*
 * Events as the user writes them, turned into what perf_event_open takes. An event_list owns its
 * events; the PMUs that they point to belong to the catalogue, which must outlive the list.
 */
#ifndef TACHO_EVENT_EVENT_H
#define TACHO_EVENT_EVENT_H

#include "base/err.h"
#include "base/vec.h"
#include "event/generic.h"
#include "event/pmu.h"

#include <linux/perf_event.h>

/* One place where an event counts: most have one, an uncore event one for each box. */
struct event_unit {
	uint32_t type;
	const struct pmu *pmu; /* NULL: on any CPU */
};

/* How the call stack of a sample is found. */
enum call_graph { CALLS_NONE, CALLS_FP, CALLS_DWARF, CALLS_LBR };

/* "fp", "dwarf", "lbr", "no" or "none"; false for any other word. */
bool call_graph_find(const char *word, size_t len, enum call_graph *ret);

/* Bytes of user stack in a sample (PERF_SAMPLE_STACK_USER): a multiple of 8 that fits into a record
 * together with the other fields. */
#define STACK_BYTES_MAX     65528u
#define STACK_BYTES_DEFAULT 8192u

struct event {
	char *name;                  /* as shown */
	struct perf_event_attr attr; /* without type, which is the unit's */
	VEC(struct event_unit) units;
	char *unit_text; /* of the value: "Joules", "msec"; NULL for a plain count */
	double scale;
	int group; /* number of its {…} group, -1 without one */
	enum tool_event tool;
	char *tracepoint; /* "system:name", else NULL */
	char *missing;    /* why it cannot exist on this machine; NULL: open it to find out */
	/* The likely reason if it cannot be opened: catalog_no_pmu(), NULL where there is a PMU. */
	const char *no_pmu;
	bool sample_read; /* :S */
	bool weak_group;  /* :W */
	bool precise_max; /* :P */
	bool modified;    /* the user gave modifiers: apply no defaults and no fallbacks */
	/* Terms that override the options for all events: call-graph, stack-size, max-stack (0:
	 * not given), inherit (1), no-inherit (-1). */
	bool calls_chosen;
	enum call_graph calls;
	uint32_t stack_bytes;
	uint16_t max_stack;
	signed char inherit;
};

struct event_list {
	VEC(struct event) events;
	int group_count;
};

/* Longer lists are refused: they can only be a mistake. */
#define EVENTS_MAX 20000

void event_list_release(struct event_list *list);

#endif
