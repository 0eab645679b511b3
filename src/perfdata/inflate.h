/*
 * Compressed records: each carries a piece of a zstd stream, whose contents are records again.
 * Pieces may end anywhere in a record. A bomb is stopped by INFLATE_RATIO_MAX.
 */
#ifndef TACHO_PERFDATA_INFLATE_H
#define TACHO_PERFDATA_INFLATE_H

#include "perf/stream.h"

/* Recordings shrink to a tenth, stacks full of zeros to a hundredth. */
#define INFLATE_RATIO_MAX 256u
#define INFLATE_FREE      (64u << 20) /* what is allowed whatever the ratio */

struct inflate;

struct inflate *inflate_new(struct stream *stream);
void inflate_free(struct inflate *i);

/* The piece of one record; what it holds goes into the stream. False: nothing more can be read. */
bool inflate_piece(struct inflate *i, const void *data, size_t size, uint64_t file_offset);

/* At the end: notes a record that was cut. */
void inflate_end(struct inflate *i);

uint64_t inflate_bytes_in(const struct inflate *i);
uint64_t inflate_bytes_out(const struct inflate *i);

#endif
