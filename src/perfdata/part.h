/*
 * Internal to the reader: the files that the records come from. Mostly there is one. A directory
 * (perf record --threads) has one for each thread, each in order in itself; they are read side by
 * side, always the one that is furthest behind, so that they merge without waiting in memory.
 */
#ifndef TACHO_PERFDATA_PART_H
#define TACHO_PERFDATA_PART_H

#include "perf/stream.h"

struct part {
	int fd;
	uint64_t size;      /* UINT64_MAX: until the end of file */
	uint64_t done;      /* bytes that were read */
	uint64_t newest_ns; /* the last time seen in it */
	bool ended;
	struct feed feed;
	struct inflate *inflate; /* once there is a compressed record */
};

typedef VEC(struct part) part_list;

/* Opens DIR/data.0 … beside the first part. */
int parts_open_directory(part_list *parts, struct stream *stream, const char *directory,
			 struct err *e);

/* Reads the next bytes of the part that is furthest behind into the stream. False: all have ended,
 * or *ret_error is a negative errno. */
bool parts_read(part_list *parts, struct part **ret_current, int *ret_error);

void parts_release(part_list *parts);

#endif
