/* Internal to the runner: turns records into chunks. Only the feed's thread may use a struct run_feed. */
#ifndef TACHO_COLLECT_RUN_FEED_H
#define TACHO_COLLECT_RUN_FEED_H

#include "collect/run/runner.h"
#include "profile/dictionary.h"
#include "resolve/analysis.h"

#define FEED_TOTALS_EVENTS 8
/* Limit of frames with exact addresses in a run, which may last for days: with their names they take 60 MB. */
#define FEED_FINE_FRAMES (256u << 10)

/* A counter of the stream, summed over all places where its event counts. */
struct feed_counter {
	uint32_t event;  /* index in the stream's events */
	uint32_t number; /* in profile.counters */
	struct feed_count {
		uint64_t value, enabled_ns, running_ns;
	} sum, before;              /* of the current round, and of the one before it */
	bool seen;                  /* in the current round */
	bool waits;                 /* was not scheduled on the PMU in the last interval */
	uint64_t waits_from_ns;     /* since when */
	VEC(struct count_row) rows; /* not sent yet */
};

struct feed_counts {
	VEC(struct feed_counter) counters;
	VEC(uint32_t) by_event; /* by the stream's events: index in `counters` + 1; 0: none */
	uint64_t last_round_ns;
	size_t waiting;       /* rows that are not sent yet */
	uint32_t losses[2];   /* lost samples, throttling: index in `counters` + 1; 0: none yet */
	uint64_t timeless[2]; /* losses without a time so far, see feed_place_losses() */
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
	VEC(struct feed_table *) tables; /* by event of the profile; NULL: not looked up yet */
	size_t table_rows; /* rows of all tables and of slices that are not sent yet */
	/* Weight and samples of each frame, for the first events: they decide which functions' code is
	 * sent. */
	VEC(struct frame_total { uint64_t weight, samples; }) totals[FEED_TOTALS_EVENTS];
	struct feed_counts counts;
	struct feed_slices *slices; /* NULL: no sample yet */
	struct buf scratch;
	uint64_t samples, lost, throttled;
	uint64_t next_flush_ns, newest_ns;
	uint64_t record_ns;                 /* time of the latest record of any kind */
	uint64_t forgot_ns;                 /* when feed_forget() last freed symbols */
	uint64_t next_jit_ns, jit_pause_ns; /* next look for names of JIT code, and the pause */
	bool ready;                         /* the analysis is initialised */
	bool opened;                        /* import: RUN_OPENED was sent */
	bool ended;                         /* the server is gone */
	bool told_texts, told_short;        /* notes about tables that were sent */
};

/* Queues a sample to be sent; for resolve_options. */
void feed_sample(void *ctx, const struct sample_row *sample);
/* Initialises the analysis. The file must be open. */
int feed_analysis(struct run_feed *f, const struct resolve_options *o, struct err *e);
/* Sends new entries of the profile's tables. */
void feed_dictionary(struct run_feed *f);
/* Calls feed_dictionary() and sends pending rows. Tables with few rows are sent only if @all is set. */
void feed_send(struct run_feed *f, bool all);
/* Names new frames and calls feed_send(). */
void feed_flush(struct run_feed *f, bool all);

/* ---- forget.c ---- */

/* Frees data that is not needed any more or can be read again. Call this between rounds. */
void feed_forget(struct run_feed *f, uint64_t now_ns);

/* ---- jit.c ---- */

/* Reads and sends names that JIT runtimes have written meanwhile, at limited intervals. */
void feed_jit_look(struct run_feed *f, uint64_t now_ns);
/* Does so for the last time, after waiting until all maps are written. */
void feed_jit_finish(struct run_feed *f);

/* ---- tables.c ---- */

/* Adds a sample to its event's own table. Returns false if the event has none. */
bool feed_table_take(struct run_feed *f, const struct sample_row *s);
void feed_tables_send(struct run_feed *f, bool all);
/* Returns the time of the first row that is not sent yet, or 0. */
uint64_t feed_tables_first(const struct run_feed *f);
/* Sets the time of rows that have none. */
void feed_tables_place(struct run_feed *f, uint64_t start_ns);
void feed_tables_release(struct run_feed *f);

/* ---- slices.c: run slices (derive/run_slices.h) of runs that record sched:sched_switch ---- */

#define SLICES_TABLE "run_slices" /* no table of an event has this name */

/* Whether the file has the events that slices are derived from. If so, its samples must come in order of
 * time. */
bool feed_slices_wanted(const struct run_feed *f);
/* Processes a sample of any event. */
void feed_slices_take(struct run_feed *f, const struct sample_row *row);
/* Notes that samples of a CPU were lost; ~0: of any CPU. */
void feed_slices_lost(struct run_feed *f, uint32_t cpu);
void feed_slices_send(struct run_feed *f, bool all);
/* Ends the slices that still run. Call this after the last record. */
void feed_slices_end(struct run_feed *f);
void feed_slices_release(struct run_feed *f);

/* ---- counts.c ---- */

/* Processes a STAT or STAT_ROUND record; ignores others. */
void feed_counts_take(struct run_feed *f, const unsigned char *bytes);
/* Counts lost samples (@count) or a throttled event (0) in counters of their own, which keep the
 * times; for resolve_options. */
void feed_loss(void *ctx, uint64_t time_ns, uint32_t cpu, uint64_t count);
/* Gives losses without a time that of the last sample: with time 0 the run would seem to begin when
 * the machine was started. Call this after the last record. */
void feed_place_losses(struct run_feed *f);
/* Returns the time of the first loss that is not sent yet, or 0. */
uint64_t feed_first_loss(const struct run_feed *f);
/* Sends pending rows as chunks. */
void feed_counts_send(struct run_feed *f);
void feed_counts_release(struct feed_counts *c);

/* ---- code.c ---- */

/* Sends the code of the functions with the most samples. Call this when all samples have been sent. */
void feed_code(struct run_feed *f);

/* ---- import.c ---- */

/* Reads the recording; several threads resolve its samples. */
int feed_import_read(struct run_feed *f, struct err *e);
void feed_import_opened(struct run_feed *f);
/* Sends what follows the samples: losses and names. */
void feed_import_finish(struct run_feed *f);

#endif
