/*
 * What a run is to do, as it is asked for in JSON: by clients of the server, and by the server of the
 * collector. docs/FORMATS.md has every field. One parser for both, so what the server accepts is what
 * the collector understands. Unknown fields are an error that names the nearest known one.
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

/* A workload of more bytes than this is refused; a whole plan is bounded by who reads it. */
#define RUN_PLAN_BYTES_MAX (1u << 20)

typedef VEC(int32_t) task_numbers;

struct run_limits { /* of the workload; 0: as they are */
	uint64_t cpu_s, memory_bytes, files, processes, file_bytes;
};

struct run_plan {
	char *description;
	enum run_tool tool;

	/* The workload, or what is attached to. */
	strvec argv;      /* split, or sh -c TEXT if shell; without a NULL at the end */
	char *workload;   /* as it was written, for people */
	bool shell;       /* the user chose "run in a shell" */
	strvec env;       /* NAME=VALUE, added to the collector's own environment */
	char *cwd;        /* NULL: the data directory's owner's home */
	char *user;       /* to run as; NULL: the collector's own */
	char *affinity;   /* CPUs the workload may use: "0-3,8"; NULL: all */
	double timeout_s; /* 0: none */
	struct run_limits limits;
	task_numbers pids, tids;
	bool system_wide;
	char *cpus;        /* only these CPUs are watched; NULL: all */
	double duration_s; /* of watching what was attached to or the system; 0: until it is stopped */

	/* What is measured. */
	strvec events;        /* counted; empty: what `tacho stat` counts without any */
	double interval_s;    /* of counters; default 0.1 */
	strvec sample_events; /* empty: cycles, or the clock where there are no counters */
	double frequency_hz;  /* 0 with a period */
	uint64_t period;
	char *callgraph; /* fp, dwarf, dwarf,SIZE, lbr, none; NULL: fp */
	bool streaming;  /* samples and counters reach watchers while it runs (default) */
	bool keep_raw;   /* perf.data is kept, too */
	bool has_exclusive, exclusive;
	strvec tags;
	char *note;
	char *client; /* what the page wants back on reload: JSON text, at most 64 KiB */
};

void run_plan_release(struct run_plan *p);

/* Fills @ret from JSON. -EINVAL with a sentence that names the field. Does not look at the machine. */
int run_plan_parse(const json_t *json, struct run_plan *ret, struct err *e);

/* The whole plan again, with every default written out. */
json_t *run_plan_json(const struct run_plan *p);

/* Whether nothing else may be measured meanwhile: as asked for, else yes for commands. */
bool run_plan_exclusive(const struct run_plan *p);

/* Words as a shell would split them: quotes, backslashes; no expansion of any kind. */
int words_split(const char *text, strvec *ret, struct err *e);
/* The other way round: a line that words_split() gives the same words for. */
void words_join(char *const *words, size_t count, struct buf *out);

/* Whether the event names can be parsed on this machine: a sentence if not. */
int run_plan_check_events(const struct run_plan *p, struct err *e);

#endif
