/*
 * Sampling: every event of a list opened on every place of a target, all events of a place writing
 * into one ring. Besides samples the kernel tells of new processes, mappings and code; that comes
 * from one event a place, the tracking event: the first of the list, or a dummy where the first
 * is not everywhere or not always on.
 *
 * All zeros is one without events, which the functions below take, too.
 *
 * The event list, its catalogue and the target must outlive it. One thread, but the rings may be
 * read by others.
 */
#ifndef TACHO_PERF_SAMPLING_H
#define TACHO_PERF_SAMPLING_H

#include "base/fs.h"
#include "perf/ring.h"
#include "perf/target.h"

struct sampling_options {
	uint64_t period, freq_hz; /* a period of 0: by frequency */
	bool rate_chosen;         /* by the user: then it is for tracepoints, too */
	enum call_graph calls;
	uint32_t stack_bytes; /* for CALLS_DWARF, a multiple of 8 */
	uint16_t max_stack;   /* 0: the system's */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_…, 0: no branch stacks */
	bool address, weight, raw, switches, namespaces, cgroups;
	bool no_samples;     /* only what the tracking event tells */
	bool delayed;        /* starts by sampling_enable(), only tracking is on before */
	size_t ring_bytes;   /* 0: what is sensible */
	size_t wakeup_bytes; /* a ring that has so many is emptied; 0: when it is a quarter full */
	/* By number of event, NULL: none. */
	const char *const *filters;
	const struct topology *topology;
	const struct roots *roots;
};

/* What every sample of ours has, but for some periods: see sampling_attr.c. */
#define SAMPLE_ALWAYS                                                                              \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* All our samples begin with identifier, address, thread and time; see sampling_attr.c. */
#define SAMPLE_IP_OFFSET   16
#define SAMPLE_TIME_OFFSET 32

/* One event at one kind of place: all its descriptors share the attr. */
struct sampling_row {
	const struct event *event; /* NULL: the dummy that tracks */
	size_t number;             /* in the event list */
	struct event_unit unit;
	char *name; /* may differ from the event's when only user mode may be watched */
	struct perf_event_attr attr;
	int leader; /* row of its group's leader, -1: it is none's member */
	bool tracking, user_only;
	VEC(int) fds; /* by place; -1: the task or the CPU was gone */
	VEC(uint64_t) ids;
};

struct sampling_ring {
	struct ring ring;
	int cpu, task; /* whose; task by index, -1: all */
	/* All descriptors that write into it. Any can be polled until its task has ended; the
	 * ring is done when no one is left. */
	VEC(int) fds;
	size_t watched;
};

struct sampling {
	const struct target *target;
	const struct sampling_options *options;
	const struct event_list *events;
	VEC(struct sampling_row) rows;
	VEC(struct sampling_ring) rings;
	size_t ring_bytes;
	size_t ring_hint;
	unsigned lacking; /* what this kernel has not got, see sampling_attr.c */
	strvec notes;     /* what the user should know about how it is sampled */
	struct rlimit files;
};

/* Nothing runs yet, except for tracking by a dummy. Fails if any event cannot be opened. */
int sampling_open(struct sampling *s, const struct event_list *events, const struct target *target,
		  const struct sampling_options *options, struct err *e);
/* Starts what does not wait for the workload's exec or for sampling_enable(). */
void sampling_start(struct sampling *s);
void sampling_enable(struct sampling *s);
void sampling_disable(struct sampling *s);

/* Samples of a row that found no room, as the kernel counts them (since Linux 6.0). */
uint64_t sampling_lost(const struct sampling_row *row);
/* Sentences about CPUs that were taken away meanwhile: the kernel says nothing about it. */
void sampling_note_gaps(struct sampling *s, strvec *ret_notes);
void sampling_close(struct sampling *s);

/* ---- shared by its files ---- */

/* How full a ring gets before somebody is woken. */
uint32_t sampling_wakeup_bytes(const struct sampling *s);

/* Fills in row->attr for its event and the options. */
void sampling_prepare(const struct sampling *s, struct sampling_row *row, bool on_task);

/* After a refusal by -@code: changes the attr to what a lesser kernel or CPU might take. False
 * when nothing is left to try. */
bool sampling_retreat(struct sampling *s, struct sampling_row *row, int code);

/* The sentence for a row that cannot be opened. */
int sampling_refused(const struct sampling_row *row, int code, bool system_wide, struct err *e);

/* How the stacks of @event are found: by its own terms, else as the options say. */
enum call_graph sampling_calls(const struct sampling_options *o, const struct event *event);
/* True if any event of @events gets stacks (CALLS_NONE), or gets them in the way @calls. */
bool sampling_has_calls(const struct sampling_options *o, const struct event_list *events,
			enum call_graph calls);

/* "fp", "dwarf", "dwarf,SIZE", "lbr" or "none" into @ret's calls and stack_bytes. */
int call_graph_parse(const char *text, struct sampling_options *ret, struct err *e);

/* perf_event_max_sample_rate, 0 if it cannot be read. */
uint64_t sampling_rate_max(void);

#endif
