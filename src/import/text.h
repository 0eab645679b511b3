/*
 * Stacks that come as text: folded lines, or what perf script prints. Bytes are given in pieces of
 * any size and become rows of a profile as they come; which of the formats it is, the first piece
 * tells. Lines that make no sense are counted, not fatal: such files are often cut or joined by hand.
 *
 *	struct text_import t = {.profile = &profile};
 *	text_import_fd(&t, fd, &e);
 *
 * The profile is the caller's, and has no code and no stacks yet; text_import_fd() keeps nothing after it
 * returned. One thread.
 */
#ifndef TACHO_IMPORT_TEXT_H
#define TACHO_IMPORT_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

#define TEXT_LINE_MAX  (1u << 20) /* a longer line is left out */
#define TEXT_DEPTH_MAX 4096       /* frames of a stack; what is further out is cut */

/* What a sample says of itself, for whoever chooses. Strings are not ended. */
struct text_sample {
	const char *comm, *event;
	size_t comm_len, event_len;
	bool has_thread, has_cpu, has_time;
	uint32_t pid, tid, cpu;
	uint64_t time_ns, period;
};

struct text_import;

struct text_format {
	const char *name;
	/* How a line without its end counts. */
	void (*line)(struct text_import *t, const char *line, size_t len);
	void (*end)(struct text_import *t);
	void (*release)(struct text_import *t);
};

extern const struct text_format text_folded, text_perf_script;

struct text_import {
	/* What the caller sets. */
	struct profile *profile;
	bool (*want)(void *ctx, const struct text_sample *sample); /* NULL: all */
	bool (*want_event)(void *ctx, const char *name);           /* NULL: all */
	void *want_ctx;
	bool by_cpu, leaf_only, no_inlines;
	bool no_frames; /* of folded text: leave profile.frames_are_functions set */
	uint64_t bucket_ns;
	unsigned max_stack; /* 0: TEXT_DEPTH_MAX */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	/* What came of it. */
	const struct text_format *format; /* NULL: nothing was read */
	uint64_t lines, bad_lines, first_bad_line;
	uint64_t samples, weight; /* that were wanted */
	uint32_t main_event; /* of the wanted events, the one with most samples, wanted or not */
	uint64_t cut_stacks, unnamed_frames;
	bool has_threads, has_cpus, has_times; /* at least one sample said so */
	bool differential;                     /* folded lines with two counts */
	/* Its own. */
	void *state;
	VEC(uint64_t) seen; /* by event: samples, wanted or not */
	struct buf rest;    /* of a line that has no end yet */
	bool skipping;      /* until the end of a line that is too long */
};

/* The format of text that begins so; NULL: none that is known. */
const struct text_format *text_detect(const char *text, size_t len);

/* -EINVAL if it is no text that is known. */
int text_import_fd(struct text_import *t, int fd, struct err *e);

/* The same from memory, piece by piece; text_import_end() after the last. */
int text_import_feed(struct text_import *t, const char *bytes, size_t len, struct err *e);
void text_import_end(struct text_import *t);

/* For the formats: samples of an event, before anybody chooses some. */
static inline void text_import_seen(struct text_import *t, event_id event, uint64_t samples)
{
	vec_grow(&t->seen, event.n + 1);
	t->seen.items[event.n] += samples;
}

/* For the formats: this line could not be used. */
void text_import_bad_line(struct text_import *t);

#endif
