/*
 * Reads a recording and writes it anew: in the order of time, in our byte order, uncompressed, in
 * file form, without what is broken.
 */
#ifndef TACHO_PERFDATA_REWRITE_H
#define TACHO_PERFDATA_REWRITE_H

#include "perfdata/reader.h"
#include "perfdata/writer.h"

struct rewrite {
	struct perfdata *from;
	const char *path;
	int zstd_level;
	uint64_t records, dropped; /* dropped: they could not be decoded */
	uint64_t left_out;         /* tools' records of a foreign byte order */
	/* ---- its own ---- */
	VEC(struct writer_event) events;
	struct feature_set features;
	struct writer *writer;
	struct writer_lane *lane;
	struct buf chunk;
	bool following; /* the bytes behind the last record belong to it */
	int result;
	struct err *e;
};

/* Everything of @from, which must be opened and not yet read. A damaged file is written as far as it
 * goes: then the result is that of perfdata_read(), and *ret_written says that the output is good. */
int rewrite_run(struct rewrite *r, bool *ret_written, struct err *e);

#endif
