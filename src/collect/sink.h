/*
 * Where recorded bytes go: a file, a series of files, memory that becomes a file on request, or a
 * watcher. To add a kind: fill in struct sink_ops and choose it in sink_new().
 *
 * Threads append through lanes, each through its own; all other calls belong to one thread, while
 * no thread appends.
 */
#ifndef TACHO_COLLECT_SINK_H
#define TACHO_COLLECT_SINK_H

#include "perf/ring.h"
#include "perfdata/writer.h"

enum sink_kind {
	SINK_FILE,
	SINK_SWITCH, /* a series of files */
	SINK_MEMORY, /* the last records, in memory */
	SINK_LIVE,   /* a watcher, through writer.fd */
};

/* What a live sink does with records besides sending them. */
enum live_keep {
	LIVE_KEEP_LAST, /* keeps the last ones in memory, to be written on request */
	LIVE_KEEP_NONE,
	LIVE_KEEP_FILE, /* writes all of them to writer.path */
};

/* Times of the first and the last sample; zeros: no samples. */
struct sample_span {
	uint64_t first_ns, last_ns;
};

/* Inline because it runs for every sample. */
static inline void span_widen(struct sample_span *span, uint64_t time_ns)
{
	if (!span->first_ns || time_ns < span->first_ns)
		span->first_ns = time_ns;
	if (time_ns > span->last_ns)
		span->last_ns = time_ns;
}

struct sink_options {
	enum sink_kind kind;
	struct writer_options writer;
	unsigned lanes;
	uint64_t switch_bytes, switch_ns; /* when a new file begins; 0: not by size, not by time */
	unsigned switch_max_files;        /* 0: all are kept */
	uint64_t keep_ns, keep_bytes;     /* limits of what memory keeps */
	bool on_request;                  /* memory is written by sink_snapshot() only */
	bool begin_late;                  /* memory: begin() is called when a file is written */
	enum live_keep live_keep;
	size_t sampled; /* how many of the writer's events, the first ones, are sampled; if any, a
			 * live sink does not keep the others: perf would print their counts among
			 * the samples */
	/* Directory and size of the spill file, where rounds wait for a slow watcher. NULL: samples
	 * are dropped instead. */
	const char *spill_directory;
	uint64_t spill_bytes;
	bool skip_empty; /* no more than two rounds without records are sent in a row */
	/* Adds the records that every file begins with: about what exists already. */
	int (*begin)(void *ctx, struct buf *out, struct err *e);
	/* Brings the features up to date before a file is closed. @samples: time span of the
	 * samples in it; NULL: of all samples since the last file. */
	void (*end)(void *ctx, const struct sample_span *samples);
	/* Passes a note on to the user; may be NULL. */
	void (*note)(void *ctx, const char *text);
	/* Called when a file is complete. */
	void (*written)(void *ctx, const char *path);
	void *ctx;
};

/* Figures of a live sink. */
struct live_counts {
	uint64_t dropped;       /* samples that found no room */
	uint64_t spilled_bytes; /* bytes that have waited on the disk, in total */
	uint64_t waiting_bytes; /* bytes that wait now, in memory and on the disk */
};

struct sink {
	const struct sink_ops *ops;
	struct sink_options options;
};

struct sink_ops {
	int (*append)(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e);
	/* Appends records of counters; NULL: append() does. */
	int (*counts)(struct sink *s, const struct ring_view *view, struct err *e);
	int (*round)(struct sink *s, uint64_t now_ns, struct err *e);
	int (*snapshot)(struct sink *s, struct err *e); /* NULL: not possible */
	uint64_t (*bytes)(const struct sink *s);        /* written, or in memory */
	int (*finish)(struct sink *s, struct err *e);   /* with a last round; always frees it */
};

int sink_new(struct sink **ret, const struct sink_options *options, struct err *e);

/* Appends whole records. Threads may append at the same time, each through its own lane. */
int sink_append(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e);
/* The same from one piece of memory, through lane 0. */
int sink_append_bytes(struct sink *s, const void *records, size_t size, struct err *e);
/* Appends records of counters: STAT, STAT_ROUND. */
int sink_append_counts(struct sink *s, const void *records, size_t size, struct err *e);
/* Ends a round: everything that was appended in it belongs together. */
int sink_round(struct sink *s, uint64_t now_ns, struct err *e);
/* Completes a file with what was recorded so far; recording goes on. */
int sink_snapshot(struct sink *s, struct err *e);
uint64_t sink_bytes(const struct sink *s);
/* Does a last round and closes the sink. Always frees @s. */
int sink_finish(struct sink *s, struct err *e);

/* ---- shared by the sinks ---- */

/* One file that is being written, with its lanes. */
struct output {
	struct writer *writer;
	struct writer_lane **lanes;
	unsigned lane_count;
};

/* Opens @path and writes @begin, or what options->begin() gives if that is NULL. */
int output_open(struct output *o, const struct sink_options *options, const char *path,
		const struct buf *begin, struct err *e);
/* Does a last round and closes the file. @samples is passed to options->end(). */
int output_finish(struct output *o, const struct sink_options *options,
		  const struct sample_span *samples, struct err *e);

/* Returns PATH.YYYYmmddHHMMSScc with the current time. */
char *output_stamped(const char *path);

/* A LOST record about dropped samples, as the kernel writes it for a tracking event: the trailer
 * has IDENTIFIER last. They were dropped on all CPUs: cpu is ~0. */
struct lost_record {
	struct perf_event_header header;
	uint64_t event_id, lost;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

/* @time_ns must lie between the last samples before those that were dropped and the first ones behind
 * them: whoever follows samples from one to the next must know in time. */
struct lost_record lost_record_of(uint64_t event_id, uint64_t lost, uint64_t time_ns);

/* Whether records of this type are needed to understand later samples. */
bool record_explains(uint32_t type);

/* sink_switch.c, sink_memory.c, sink_live.c */
int sink_switch_new(struct sink **ret, const struct sink_options *options, struct err *e);
int sink_memory_new(struct sink **ret, const struct sink_options *options, struct err *e);
int sink_live_new(struct sink **ret, const struct sink_options *options, struct err *e);
/* @s must be a live sink. */
void sink_live_counts(struct sink *s, struct live_counts *ret);

#endif
