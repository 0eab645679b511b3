/*
 * Counting: every event of a list opened on every place of a target (threads, CPUs, cgroups),
 * read together, closed together. The event list and the target must outlive the counters.
 * One thread at a time.
 */
#ifndef TACHO_PERF_COUNTER_H
#define TACHO_PERF_COUNTER_H

#include "event/event.h"
#include "perf/bpf/tally.h"
#include "perf/target.h"

struct count {
	uint64_t value, enabled_ns, running_ns;
};

/* One open counter: an event at a place. */
struct counter {
	int fd;                   /* -1: read through its group's leader, or from the tally */
	int cpu;                  /* -1: any */
	int task;                 /* index into target->tasks, -1: all */
	int cgroup;               /* index into target->cgroups, -1 */
	struct count now, before; /* last reading and the one before it */
};

enum event_state { EVENT_COUNTED, EVENT_UNSUPPORTED, EVENT_REFUSED };

/* All counters of one event. */
struct counter_row {
	const struct event *event;
	char *name; /* shown; may differ from the event's when only user mode may be counted */
	enum event_state state;
	char *reason;       /* when it is not counted */
	int code;           /* errno of the failure */
	bool user_only;     /* the kernel's part may not be watched */
	bool whole_machine; /* a PMU outside of the cores counts everybody, not just the target */
	VEC(struct counter) counters;
};

/* A group of counters at one place, read by one system call. */
struct reading {
	int fd;
	size_t first, count; /* in members */
	bool on_exec;        /* starts by itself */
};

struct counters {
	const struct target *target;
	struct counter_row *rows;
	size_t row_count;
	VEC(struct reading) readings;
	VEC(struct reading_member { uint32_t row, index; }) members;
	struct tally *tally; /* many tracepoints at once, NULL if not used */
	VEC(size_t) tally_rows;
	char *note;      /* what the user should know about how it is counted */
	bool slow_close; /* the kernel will take seconds to close them; note says so */
	uint64_t *buffer;
	size_t buffer_words;
	struct rlimit files; /* as it was before we raised it */
};

/* Opens what can be opened: rows that could not say why. Fails only if the files run out. */
int counters_open(struct counters *c, const struct event_list *events, const struct target *target,
		  struct err *e);
/* Starts what does not wait for the workload's exec. */
void counters_start(struct counters *c);
void counters_enable(struct counters *c);
void counters_disable(struct counters *c);

/* Takes a new reading of everything; the last one becomes `before`. */
void counters_read(struct counters *c);
void counters_close(struct counters *c);

#endif
