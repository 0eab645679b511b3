/* What the parts of the writer share: writer.c (open, rounds, finish), writer_lane.c (appending,
 * compression), writer_records.c (what a pipe gets as records). */
#ifndef TACHO_PERFDATA_WRITER_INTERNAL_H
#define TACHO_PERFDATA_WRITER_INTERNAL_H

#include "perfdata/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/uio.h>

/* So many rounds can be given up for the features when the disk is full. */
#define ROUNDS_KEPT 32
/* Input of one compressed record at most; readers set aside so much for each. */
#define PACK_BYTES_MAX (256u << 10)

struct writer {
	struct writer_options options;
	char *path; /* as told in sentences */
	int fd;
	bool pipe;
	struct perfdata_file_header header;
	_Atomic uint64_t end; /* where the next bytes go; in a pipe, how many went */
	_Atomic uint64_t raw_bytes;
	_Atomic uint64_t packed_in, packed_out; /* what went through compression */
	_Atomic int failed;           /* the first failure's errno; nothing is written after it */
	pthread_mutex_t lock;         /* a pipe: one at a time */
	uint64_t rounds[ROUNDS_KEPT]; /* ends of the last rounds, by number modulo */
	uint64_t round_count;
};

/* Writes all of @iov at the end; several threads may. */
int writer_put(struct writer *w, const struct iovec *iov, int count, struct err *e);

/* Writes all of it at @offset; for a pipe the offset is not used. A negative errno. */
int writer_write_all(const struct writer *w, const struct iovec *iov, int count, uint64_t offset);

/* The sentence for a failed write. */
int writer_failed(const struct writer *w, int code, struct err *e);

struct perfdata_compressed writer_compression(const struct writer *w);

/* ---- writer_records.c ---- */

/* Names of the events, and how to decompress: what a file cut by a crash needs. */
int writer_put_preamble(struct writer *w, struct err *e);
/* A pipe's header: attrs, features, tracing data. */
int writer_put_pipe_start(struct writer *w, struct err *e);
/* A pipe's end: what was learnt meanwhile. */
int writer_put_pipe_end(struct writer *w, struct err *e);

#endif
