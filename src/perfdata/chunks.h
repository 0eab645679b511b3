/*
 * The records of a file a second time, by several threads at once. A first reading notes where
 * records begin, about every megabyte; between two such places any thread can read on its own.
 *
 * Only what stands in the file as it is can be read so: not compressed, of our byte order, without
 * bytes between the records that are none.
 */
#ifndef TACHO_PERFDATA_CHUNKS_H
#define TACHO_PERFDATA_CHUNKS_H

#include "perfdata/reader.h"

#define CHUNK_BYTES (1u << 20)

struct chunk {
	uint64_t offset, size;
};

struct chunk_list {
	VEC(struct chunk) chunks;
	uint64_t end; /* of the last record that was seen */
};

/* Whether its header allows it at all. */
bool chunks_possible(const struct perfdata *p);
/* Called for every record of the first reading. */
void chunks_note(struct chunk_list *list, const struct perf_event_header *record,
		 uint64_t file_offset);
/* The first reading is over. */
void chunks_finish(struct chunk_list *list);
void chunks_release(struct chunk_list *list);

/* A thread's place to read into. */
struct chunk_reader {
	int fd;
	unsigned char *bytes;
	size_t size, at, room;
	unsigned char *aligned; /* a copy of a record that is not */
};

/* False: it cannot be read any more. */
bool chunk_open(struct chunk_reader *r, const struct perfdata *p, const struct chunk *chunk);
/* The next record, aligned and whole; NULL: no more. */
const struct perf_event_header *chunk_next(struct chunk_reader *r);
void chunk_reader_release(struct chunk_reader *r);

#endif
