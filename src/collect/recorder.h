/*
 * The middle of a collector: sampled events on one side, a sink on the other, and what a file
 * needs besides: records for what exists already, features, lost samples. Belongs to one thread.
 */
#ifndef TACHO_COLLECT_RECORDER_H
#define TACHO_COLLECT_RECORDER_H

#include "collect/counter_stream.h"
#include "collect/drain.h"
#include "collect/keep/keeper.h"
#include "perfdata/build_id_table.h"

/* A mapped file whose build id was not known when its record was written. */
struct later_file {
	struct record record; /* of no use but for keeper_build_id() */
	char *name;
};

struct recorder {
	const struct recording_plan *plan;
	struct target target;
	struct sampling sampling;
	struct counter_stream counting;
	struct drain *drain;         /* NULL: nothing is sampled */
	struct sink *sink;           /* NULL: closed, or it has failed */
	struct writer_event *events; /* what is sampled, then what is counted */
	size_t event_count;
	struct feature_set features;
	struct build_id_table *build_ids;
	struct keeper *keeper; /* NULL: nothing is sampled */
	VEC(struct later_file) later;
	struct record_counts counts;
	struct channel *channel; /* is told which files are complete */
	pid_t workload;          /* 0: none */
	bool running;            /* the workload has been let go */
	bool kernel_told;        /* that its functions will have no names */
};

/* Opens events and sink; nothing runs yet. @target and @channel must stay. */
int recorder_open(struct recorder *r, const struct recording_plan *plan,
		  const struct target *target, pid_t workload, struct channel *channel,
		  struct err *e);

/* Lets events run that do not wait for the workload's exec. */
int recorder_start(struct recorder *r, uint64_t now_ns, struct err *e);

/* Reads the counters, which are due. */
int recorder_tick(struct recorder *r, struct err *e);

/* Everything that the rings hold goes to the sink, up to the plan's max_bytes. */
int recorder_round(struct recorder *r, struct err *e);

int recorder_snapshot(struct recorder *r, struct err *e);
/* The file has become as large as it may. */
bool recorder_is_full(const struct recorder *r);

/* Stops the events, writes the rest and completes the file. */
int recorder_finish(struct recorder *r, struct err *e);

/* Keeps what will be gone later (keeper.h); the file is complete already. @hurried: nobody is
 * asked. */
void recorder_keep(struct recorder *r, bool hurried);

void recorder_close(struct recorder *r);

/* ---- recorder_file.c ---- */

int recorder_begin_file(void *ctx, struct buf *out, struct err *e);
void recorder_end_file(void *ctx, const struct sample_span *samples);
int recorder_add_features(struct recorder *r, struct err *e);
/* Bytes that may still be written, if what comes at the end is to have room, too. */
uint64_t recorder_room(const struct recorder *r);
/* The moment by which the recording is known, on both clocks. */
bool recorder_clock(const struct recorder *r, uint64_t *ret_wall_ns, uint64_t *ret_clock_ns);
/* So that its build id gets into the file's table, if it is known at the end. */
void recorder_remember_file(struct recorder *r, const struct record *record);
/* The keeper is told of everything that @records has of mappings. */
void recorder_show_keeper(struct recorder *r, const struct perf_event_attr *attr,
			  const struct buf *records);

/* The events as they were opened: JSON for MESSAGE_OPENED. */
void recorder_describe(const struct recorder *r, struct buf *out);

/* A text for the user. */
void recorder_say(struct recorder *r, uint16_t type, const char *text);

#endif
