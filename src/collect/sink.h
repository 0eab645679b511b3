/*
 * Where recorded bytes go: a file, a row of files, or memory that becomes a file on request. To add
 * one: fill in struct sink_ops and choose it in sink_new().
 *
 * Appending goes through lanes, one for each thread; all else belongs to one thread, while nobody
 * appends.
 */
#ifndef TACHO_COLLECT_SINK_H
#define TACHO_COLLECT_SINK_H

#include "perf/ring.h"
#include "perfdata/writer.h"

enum sink_kind {
	SINK_FILE,
	SINK_SWITCH, /* a new file now and then */
	SINK_MEMORY, /* only the last of it is kept */
	SINK_LIVE,   /* to whoever watches, through writer.fd */
};

/* What a live sink does with records besides. */
enum live_keep {
	LIVE_KEEP_LAST, /* the last of it stays in memory, to be written on request */
	LIVE_KEEP_NONE,
	LIVE_KEEP_FILE, /* all of it goes to writer.path */
};

/* Times of the first and the last sample; zeros: there is none. */
struct sample_span {
	uint64_t first_ns, last_ns;
};

void span_widen(struct sample_span *span, uint64_t time_ns);

struct sink_options {
	enum sink_kind kind;
	struct writer_options writer;
	unsigned lanes;
	uint64_t switch_bytes, switch_ns; /* 0: not by size, not by time */
	unsigned switch_max_files;        /* 0: all are kept */
	uint64_t keep_ns, keep_bytes;     /* of memory */
	bool on_request;                  /* what memory holds goes when nobody has asked for it */
	bool begin_late;                  /* of memory: begin() describes the moment of writing */
	enum live_keep live_keep;
	size_t sampled; /* so many of the writer's events, the first, are; then others are not kept:
			 * perf would print their counts among the samples */
	/* Where what a slow watcher has not read waits, at most so much; NULL: samples are dropped. */
	const char *spill_directory;
	uint64_t spill_bytes;
	bool skip_empty; /* rounds without records are not told for ever */
	/* Records that every file begins with: for what was there before it. */
	int (*begin)(void *ctx, struct buf *out, struct err *e);
	/* Brings the features up to date before a file is closed. @samples: of those in it, NULL:
	 * all that were taken since the last file. */
	void (*end)(void *ctx, const struct sample_span *samples);
	/* What the user should know; may be NULL. */
	void (*note)(void *ctx, const char *text);
	/* A file is complete. */
	void (*written)(void *ctx, const char *path);
	void *ctx;
};

/* How a live sink fares. */
struct live_counts {
	uint64_t dropped;       /* samples that found no room */
	uint64_t spilled_bytes; /* that have waited on the disk, all in all */
	uint64_t waiting_bytes; /* that wait now */
};

struct sink {
	const struct sink_ops *ops;
	struct sink_options options;
};

struct sink_ops {
	int (*append)(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e);
	/* Records of counters; NULL: they are appended like all. */
	int (*counts)(struct sink *s, const struct ring_view *view, struct err *e);
	int (*round)(struct sink *s, uint64_t now_ns, struct err *e);
	int (*snapshot)(struct sink *s, struct err *e); /* NULL: not possible */
	uint64_t (*bytes)(const struct sink *s);        /* written, or in memory */
	int (*finish)(struct sink *s, struct err *e);   /* a last round; frees it always */
};

int sink_new(struct sink **ret, const struct sink_options *options, struct err *e);

/* Whole records. Threads may append at the same time, each through its own lane. */
int sink_append(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e);
/* The same from one piece of memory. */
int sink_append_bytes(struct sink *s, const void *records, size_t size, struct err *e);
/* Of counters: STAT, STAT_ROUND. */
int sink_append_counts(struct sink *s, const void *records, size_t size, struct err *e);
/* Everything that was appended belongs together. */
int sink_round(struct sink *s, uint64_t now_ns, struct err *e);
/* The user wants a file of what is there; recording goes on. */
int sink_snapshot(struct sink *s, struct err *e);
uint64_t sink_bytes(const struct sink *s);
/* A last round, and the end. Frees it always. */
int sink_finish(struct sink *s, struct err *e);

/* ---- shared by the sinks ---- */

/* One file that is being written, with its lanes. */
struct output {
	struct writer *writer;
	struct writer_lane **lanes;
	unsigned lane_count;
};

/* Opens @path, and writes @begin, or what options->begin gives. */
int output_open(struct output *o, const struct sink_options *options, const char *path,
		const struct buf *begin, struct err *e);
/* With a last round; @samples is for options->end. */
int output_finish(struct output *o, const struct sink_options *options,
		  const struct sample_span *samples, struct err *e);

/* PATH.YYYYmmddHHMMSScc, as of now. */
char *output_stamped(const char *path);

/* Tells of samples that were dropped, as the kernel would for a tracking event: the trailer has
 * IDENTIFIER last. */
struct lost_record {
	struct perf_event_header header;
	uint64_t event_id, lost;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
	uint64_t id;
};

struct lost_record lost_record_of(uint64_t event_id, uint64_t lost);

/* Records of this type are needed to understand the samples behind them. */
bool record_explains(uint32_t type);

/* sink_switch.c, sink_memory.c, sink_live.c */
int sink_switch_new(struct sink **ret, const struct sink_options *options, struct err *e);
int sink_memory_new(struct sink **ret, const struct sink_options *options, struct err *e);
int sink_live_new(struct sink **ret, const struct sink_options *options, struct err *e);
/* Only of one that sink_live_new() has made. */
void sink_live_counts(struct sink *s, struct live_counts *ret);

#endif
