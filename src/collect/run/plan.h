/*
 * The plan of a run in JSON: sent by clients to the server, and by the server to the collector.
 * docs/FORMATS.md describes every field. There is one parser for both, so the collector understands
 * what the server accepts. An unknown field is an error that names the nearest known one.
 *
 * Strings belong to the plan.
 */
#ifndef TACHO_COLLECT_RUN_PLAN_H
#define TACHO_COLLECT_RUN_PLAN_H

#include "base/err.h"
#include "base/fs.h"

#include <jansson.h>
#include <stdint.h>

enum run_tool {
	RUN_STAT = 1,   /* counters at intervals */
	RUN_RECORD = 2, /* samples */
	RUN_BOTH = RUN_STAT | RUN_RECORD,
};

/* Limit of a workload's text. The size of a whole plan is limited by its reader. */
#define RUN_PLAN_BYTES_MAX (1u << 20)

typedef VEC(int32_t) task_numbers;

struct run_limits { /* of the workload; 0: as they are */
	uint64_t cpu_s, memory_bytes, files, processes, file_bytes;
};

struct run_plan {
	char *description;
	enum run_tool tool;

	/* The workload, or the tasks to attach to. */
	strvec argv;      /* split, or sh -c TEXT if shell; without a NULL at the end */
	char *workload;   /* as the user wrote it */
	bool shell;       /* the user chose "run in a shell" */
	strvec env;       /* NAME=VALUE, added to the collector's own environment */
	char *cwd;        /* NULL: the home of the user that it runs as */
	char *user;       /* to run as; NULL: the collector's own */
	char *affinity;   /* CPUs the workload may use: "0-3,8"; NULL: all */
	double timeout_s; /* 0: none */
	struct run_limits limits;
	task_numbers pids, tids;
	bool system_wide;
	char *cpus;        /* only these CPUs are watched; NULL: all */
	double duration_s; /* how long to watch attached tasks or the system; 0: until stopped */

	/* What is measured. */
	strvec events;        /* counted; empty: the defaults of `tacho stat` */
	double interval_s;    /* of counters; default 0.1 */
	strvec sample_events; /* empty: cycles, or the clock where there are no counters */
	char *filter;         /* of all sample_events, which are tracepoints; NULL: none */
	double frequency_hz;  /* 0 with a period */
	uint64_t period;
	char *callgraph; /* fp, dwarf, dwarf,SIZE, lbr, none; NULL: fp */
	bool streaming;  /* samples and counters reach watchers while it runs (default) */
	bool keep_raw;   /* perf.data is kept, too */
	bool has_exclusive, exclusive;
	strvec tags;
	char *note;
	char *client; /* JSON text that the page gets back on reload, at most 64 KiB */
};

void run_plan_release(struct run_plan *p);

/* Fills @ret from JSON. Returns -EINVAL with an error that names the field. Does not look at the
 * machine. */
int run_plan_parse(const json_t *json, struct run_plan *ret, struct err *e);

/* Returns the whole plan as JSON, with every default written out. */
json_t *run_plan_json(const struct run_plan *p);

/* Whether nothing else may be measured meanwhile: as asked for, by default true for a workload. */
bool run_plan_exclusive(const struct run_plan *p);

/* Splits words as a shell does: quotes, backslashes; no expansion of any kind. */
int words_split(const char *text, strvec *ret, struct err *e);
/* The reverse: makes a line that words_split() splits into the same words. */
void words_join(char *const *words, size_t count, struct buf *out);

/* Checks that the event names and the filter can be parsed on this machine. @c must be used by one
 * thread at a time. */
struct catalog;
int run_plan_check_events(const struct run_plan *p, struct catalog *c, struct err *e);

/* Checks a filter, if it is not NULL, for each of the parsed events: see event_filter_check(). */
struct event_list;
struct roots;
int run_plan_check_filter(const char *filter, const struct event_list *events,
			  const struct roots *roots, struct err *e);

#endif
