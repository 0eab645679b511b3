/* Internal to the runner: from records to chunks. All of it belongs to the feed's thread. */
#ifndef TACHO_COLLECT_RUN_FEED_H
#define TACHO_COLLECT_RUN_FEED_H

#include "collect/run/runner.h"
#include "profile/dictionary.h"
#include "resolve/analysis.h"

#define FEED_TOTALS_EVENTS 8
/* Of a run that may last; with their names and all they take 60 MB. */
#define FEED_FINE_FRAMES (256u << 10)

/* A counter of the stream, summed over all places where its event counts. */
struct feed_counter {
	uint32_t event;  /* of the stream */
	uint32_t number; /* in profile.counters */
	struct feed_count {
		uint64_t value, enabled_ns, running_ns;
	} sum, before;              /* of the round that is being read, and of the one before it */
	bool seen;                  /* in this round */
	bool waits;                 /* for its turn, */
	uint64_t waits_from_ns;     /* since then */
	VEC(struct count_row) rows; /* not sent yet */
};

struct feed_counts {
	VEC(struct feed_counter) counters;
	VEC(uint32_t) by_event; /* of the stream: number in `counters` + 1 */
	uint64_t last_round_ns;
	size_t waiting;       /* rows that are not sent yet */
	uint32_t losses[2];   /* lost samples, throttling: number in `counters` + 1; 0: none yet */
	uint64_t timeless[2]; /* of these: not placed in time yet, see feed_place_losses() */
};

struct run_feed {
	struct runner *runner;
	int data_fd;
	struct perfdata *file;
	struct modules *modules;
	struct profile profile;
	struct analysis analysis;
	struct dictionary_writer dictionary;
	VEC(struct sample_row) rows;
	/* What each frame has got, of the first events: enough to know whose code is worth keeping. */
	VEC(struct frame_total { uint64_t weight, samples; }) totals[FEED_TOTALS_EVENTS];
	struct feed_counts counts;
	struct buf scratch;
	uint64_t samples, lost, throttled;
	uint64_t next_flush_ns, newest_ns;
	uint64_t record_ns;                 /* of the latest record of any kind */
	uint64_t forgot_ns;                 /* when it was last looked at what can be given back */
	uint64_t next_jit_ns, jit_pause_ns; /* when names of code made meanwhile are asked for */
	bool ready;                         /* the analysis is there */
	bool opened;                        /* of an import: RUN_OPENED was sent */
	bool ended;                         /* nobody wants more */
};

/* A sample to be sent; for resolve_options. */
void feed_sample(void *ctx, const struct sample_row *sample);
/* The file is open: all else that is needed. */
int feed_analysis(struct run_feed *f, const struct resolve_options *o, struct err *e);
/* Sends what is new in the tables. */
void feed_dictionary(struct run_feed *f);
/* With all rows that wait. */
void feed_send(struct run_feed *f);
/* Names what is new and sends it all. */
void feed_flush(struct run_feed *f);

/* ---- forget.c ---- */

/* Between rounds: what is not needed any more, or can be read again. */
void feed_forget(struct run_feed *f, uint64_t now_ns);

/* ---- jit.c ---- */

/* Now and then: names that runtimes have written meanwhile. */
void feed_jit_look(struct run_feed *f, uint64_t now_ns);
/* At the end, when all maps are written. */
void feed_jit_finish(struct run_feed *f);

/* ---- counts.c ---- */

/* A record of a tool, if it is about counters. */
void feed_counts_take(struct run_feed *f, const unsigned char *bytes);
/* When samples were lost (@count) or an event was throttled (0): counters of their own, so that the
 * times are kept; for resolve_options. */
void feed_loss(void *ctx, uint64_t time_ns, uint64_t count);
/* Losses of which the recording does not say when they happened get the time of the last sample: with
 * time 0 the run would seem to begin when the machine was started. Call this after the last record. */
void feed_place_losses(struct run_feed *f);
/* The time of the first loss that waits to be sent; 0 if there is none. */
uint64_t feed_first_loss(const struct run_feed *f);
/* Rows that wait become chunks. */
void feed_counts_send(struct run_feed *f);
void feed_counts_release(struct feed_counts *c);

/* ---- code.c ---- */

/* Sends the code of what was hit most: all samples have been sent. */
void feed_code(struct run_feed *f);

/* ---- import.c ---- */

/* Reads it, its samples by several threads. */
int feed_import_read(struct run_feed *f, struct err *e);
void feed_import_opened(struct run_feed *f);
/* Behind all samples. */
void feed_import_finish(struct run_feed *f);

#endif
