/*
 * Empties rings into a sink, straight from the memory that the kernel wrote. One thread has up to
 * sixteen rings; with more there are more threads, which work in step: drain_round() returns when
 * all rings have been looked at once.
 */
#ifndef TACHO_COLLECT_DRAIN_H
#define TACHO_COLLECT_DRAIN_H

#include "collect/recording.h"
#include "perf/record.h"

/* Told of each MMAP2 record, decoded and as it is; from one thread at a time. */
typedef void (*mapping_visitor)(void *ctx, const struct record *r, const void *bytes);

struct drain;

/* How many threads, and so lanes of the sink, are right. */
unsigned drain_threads(size_t rings, unsigned wanted);

struct drain *drain_new(struct sampling *sampling, unsigned threads, mapping_visitor visit,
			void *ctx);
/* Starts the other threads. The workload must exist already: they are punctual. */
int drain_start(struct drain *d, struct sink *sink, struct err *e);
int drain_round(struct drain *d, struct err *e);
/* Sums over all rings; bytes is left alone. */
void drain_counts(const struct drain *d, struct record_counts *ret);
/* Of the samples since it was asked last. */
struct sample_span drain_take_span(struct drain *d);
void drain_free(struct drain *d);

#endif
