/*
 * Moves records from rings to a sink, straight from the memory that the kernel wrote. A thread has
 * up to sixteen rings, with more rings there are more threads; drain_round() returns when all
 * threads have drained their rings once.
 */
#ifndef TACHO_COLLECT_DRAIN_H
#define TACHO_COLLECT_DRAIN_H

#include "collect/keep/hits.h"
#include "collect/recording.h"
#include "perf/build_id.h"
#include "perf/record.h"

/* Called for each MMAP2 record, by one thread at a time. Returns true if the mapped file's build id
 * is known: *ret_id then replaces device and inode in the record. @ret_id is NULL if the record
 * cannot be changed (drain_peek()). */
typedef bool (*mapping_visitor)(void *ctx, const struct record *r, struct build_id *ret_id);

struct drain;

/* Returns how many threads, and so lanes of the sink, to use. @wanted 0: one for sixteen rings. */
unsigned drain_threads(size_t rings, unsigned wanted);

struct drain *drain_new(struct sampling *sampling, unsigned threads, mapping_visitor visit,
			void *ctx);
/* Starts the other threads, which raise their priority (punctual.h). The workload must exist
 * already. */
int drain_start(struct drain *d, struct sink *sink, struct err *e);
int drain_round(struct drain *d, struct err *e);
/* Lets at most @bytes more go to the sink. Beyond that, samples are dropped, while records that
 * explain others (record_explains()) still go through. Without a call there is no limit. */
void drain_limit(struct drain *d, uint64_t bytes);
/* Whether records were dropped because of drain_limit(). */
bool drain_is_cut(const struct drain *d);
/* Calls the visitor for the mappings in the rings, without consuming them. */
void drain_peek(struct drain *d);
/* Sets samples, lost and throttled to the sums over all rings; leaves the rest of @ret alone. */
void drain_counts(const struct drain *d, struct record_counts *ret);
/* Returns the times of the first and the last sample since the previous call. */
struct sample_span drain_take_span(struct drain *d);
/* Collects from now on which code the samples hit. Returns false if their callers cannot be
 * collected, for example because stacks must be unwound: then hits are sampled addresses only. */
bool drain_watch_hits(struct drain *d);
/* Adds the hits so far to @ret. */
void drain_hits(const struct drain *d, struct hits *ret);
void drain_free(struct drain *d);

#endif
