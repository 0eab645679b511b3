/*
 * Empties rings into a sink, straight from the memory that the kernel wrote. One thread has up to
 * sixteen rings; with more there are more threads, which work in step: drain_round() returns when
 * all rings have been looked at once.
 */
#ifndef TACHO_COLLECT_DRAIN_H
#define TACHO_COLLECT_DRAIN_H

#include "collect/keep/hits.h"
#include "collect/recording.h"
#include "perf/build_id.h"
#include "perf/record.h"

/* Told of each MMAP2 record; from one thread at a time. Returns whether the mapped file's build id is
 * known: then it replaces device and inode in the record. @ret_id is NULL where it cannot. */
typedef bool (*mapping_visitor)(void *ctx, const struct record *r, struct build_id *ret_id);

struct drain;

/* How many threads, and so lanes of the sink, are right. */
unsigned drain_threads(size_t rings, unsigned wanted);

struct drain *drain_new(struct sampling *sampling, unsigned threads, mapping_visitor visit,
			void *ctx);
/* Starts the other threads. The workload must exist already: they are punctual. */
int drain_start(struct drain *d, struct sink *sink, struct err *e);
int drain_round(struct drain *d, struct err *e);
/* From now on at most so many bytes go to the sink: samples behind that are dropped, while what explains
 * others still goes through. Without a call there is no limit. */
void drain_limit(struct drain *d, uint64_t bytes);
/* Whether samples were dropped for it. */
bool drain_is_cut(const struct drain *d);
/* Tells the visitor of the mappings that wait in the rings, and leaves them there. */
void drain_peek(struct drain *d);
/* Sums over all rings; bytes is left alone. */
void drain_counts(const struct drain *d, struct record_counts *ret);
/* Of the samples since it was asked last. */
struct sample_span drain_take_span(struct drain *d);
/* Samples are looked into from now on, to know which code they hit. Returns false if they do not tell
 * all of the callers as they are: they must be unwound. */
bool drain_watch_hits(struct drain *d);
/* Adds what was hit to @ret. */
void drain_hits(const struct drain *d, struct hits *ret);
void drain_free(struct drain *d);

#endif
