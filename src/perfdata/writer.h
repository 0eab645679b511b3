/*
 * Writes perf.data: a file, or the pipe form into a pipe. Whatever happens, what was written up to
 * the last writer_round() reads back: the header is brought up to date with every round, and the
 * names of the events stand among the first records.
 *
 * Records are appended through lanes, one for each thread that writes; lanes may be used in
 * parallel, all else belongs to one thread, while no lane is in use. After a write that failed
 * nothing more is written, and each call says so; writer_finish() then saves what can be saved.
 *
 * The program must ignore SIGPIPE (a pipe's reader is gone) and SIGXFSZ (ulimit -f), which would
 * end it before the error could be seen.
 */
#ifndef TACHO_PERFDATA_WRITER_H
#define TACHO_PERFDATA_WRITER_H

#include "base/err.h"
#include "perfdata/features.h"

#include <stdbool.h>

struct writer_event {
	const char *name;
	struct perf_event_attr attr;
	const uint64_t *ids;
	size_t id_count;
	const char *unit; /* of what it counts, or NULL; then */
	double scale;     /* a count times this is in `unit` */
};

struct writer_options {
	const char *path; /* "-": the pipe form to standard output */
	int fd;           /* path NULL: the pipe form into this, which the writer closes */
	const struct writer_event *events;
	size_t event_count;
	/* A pipe takes it at the beginning, a file at the end: it may grow until writer_finish(). */
	const struct feature_set *features;
	int zstd_level; /* 0: not compressed */
};

struct writer;
struct writer_lane;

/* The options' events and features must stay until writer_finish(). A file that is there already is
 * kept as PATH.old; a pipe gets the pipe form, a terminal is refused. */
int writer_open(struct writer **ret, const struct writer_options *options, struct err *e);

struct writer_lane *writer_lane_new(struct writer *w);
void writer_lane_free(struct writer_lane *lane);

/* Whole records, in one or two pieces (@more may be NULL): a ring's contents may wrap. */
int writer_append(struct writer_lane *lane, const void *records, size_t size, const void *more,
		  size_t more_size, struct err *e);

/* Everything that was appended belongs together and is on its way to the disk. */
int writer_round(struct writer *w, struct err *e);

/* Bytes so far, as they stand in the file; and before compression. */
uint64_t writer_bytes(const struct writer *w);
uint64_t writer_bytes_raw(const struct writer *w);

/*
 * Features, final header, close. Where the disk is full, what cannot be kept is given up from the
 * end of the records, so that the file reads back; the error says what happened. Frees @w always.
 */
int writer_finish(struct writer *w, struct err *e);

#endif
