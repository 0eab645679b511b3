/*
 * The core of a collector: moves records from the sampled events to a sink, and adds what a file
 * needs besides: records about what exists already, features, lost samples. Belongs to one thread.
 */
#ifndef TACHO_COLLECT_RECORDER_H
#define TACHO_COLLECT_RECORDER_H

#include "collect/counter_stream.h"
#include "collect/drain.h"
#include "collect/keep/keeper.h"
#include "perfdata/build_id_table.h"

/* A mapped file whose build id was not known when its record was written. */
struct later_file {
	struct record record; /* only for keeper_build_id() */
	char *name;
};

struct recorder {
	const struct recording_plan *plan;
	struct target target;
	struct sampling sampling;
	struct counter_stream counting;
	struct drain *drain;         /* NULL: nothing is sampled */
	struct sink *sink;           /* NULL: closed, or it has failed */
	struct writer_event *events; /* the sampled ones, then the counted ones */
	size_t event_count;
	struct feature_set features;
	struct build_id_table *build_ids;
	struct keeper *keeper; /* NULL: nothing is sampled */
	VEC(struct later_file) later;
	struct record_counts counts;
	struct channel *channel; /* for notes and names of complete files */
	pid_t workload;          /* 0: none */
	bool running;            /* the workload has been started */
	bool kernel_told;        /* the user was told that kernel functions will have no names */
};

/* Opens events and sink; nothing runs yet. @target and @channel must outlive the recorder. */
int recorder_open(struct recorder *r, const struct recording_plan *plan,
		  const struct target *target, pid_t workload, struct channel *channel,
		  struct err *e);

/* Enables the events that are not started by the workload's exec. */
int recorder_start(struct recorder *r, uint64_t now_ns, struct err *e);

/* Reads the counters. Call this when the ticker is due. */
int recorder_tick(struct recorder *r, struct err *e);

/* Moves the contents of the rings to the sink, up to the plan's max_bytes. */
int recorder_round(struct recorder *r, struct err *e);

int recorder_snapshot(struct recorder *r, struct err *e);
/* Whether the file has reached the plan's max_bytes. */
bool recorder_is_full(const struct recorder *r);

/* Stops the events, writes the rest and completes the file. */
int recorder_finish(struct recorder *r, struct err *e);

/* Keeps what will be gone later (keeper.h). Call this when the file is complete. @hurried: JVMs are
 * not asked. */
void recorder_keep(struct recorder *r, bool hurried);

void recorder_close(struct recorder *r);

/* ---- recorder_file.c ---- */

int recorder_begin_file(void *ctx, struct buf *out, struct err *e);
void recorder_end_file(void *ctx, const struct sample_span *samples);
int recorder_add_features(struct recorder *r, struct err *e);
/* Bytes that records may still take if the tables at the end of the file are to fit, too. */
uint64_t recorder_room(const struct recorder *r);
/* The recording's reference time (CLOCK_DATA) on both clocks. Returns false if there is none. */
bool recorder_clock(const struct recorder *r, uint64_t *ret_wall_ns, uint64_t *ret_clock_ns);
/* Remembers a mapped file: if its build id is known at the end, it gets into the file's table. */
void recorder_remember_file(struct recorder *r, const struct record *record);
/* Passes all MMAP2 records among @records to the keeper. */
void recorder_show_keeper(struct recorder *r, const struct perf_event_attr *attr,
			  const struct buf *records);

/* The events as they were opened: JSON for MESSAGE_OPENED. */
void recorder_describe(const struct recorder *r, struct buf *out);

/* Sends a message of @type with @text as its body. */
void recorder_say(struct recorder *r, uint16_t type, const char *text);

#endif
