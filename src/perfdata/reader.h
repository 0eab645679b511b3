/*
 * Reads perf.data of any perf since 3.2: file or pipe form, either byte order, compressed or not,
 * whole or damaged. Opening reads the header; perfdata_read() then sends every record through a
 * struct stream, in the order of time, to the visitor.
 *
 *	perfdata_open(&p, "perf.data", NULL, &e);
 *	perfdata_read(p, &visitor, ctx, &e);      // partial data first, then an error
 *	perfdata_close(p);
 *
 * In pipe form the events and features come along with the records: what the header says is
 * complete only behind perfdata_read(); an event is known before its first record.
 */
#ifndef TACHO_PERFDATA_READER_H
#define TACHO_PERFDATA_READER_H

#include "base/fs.h"
#include "perf/stream.h"
#include "perfdata/facts.h"
#include "perfdata/features.h"
#include "perfdata/part.h"

struct perfdata_options {
	bool unordered; /* as the records stand in the file */
	bool whole;     /* order over the whole file, not by its rounds */
	/* How far it is, about ten times a second; @total 0: unknown. May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

struct perfdata {
	char *path;
	char *directory; /* of a recording in several files, else NULL */
	int fd;
	bool pipe, seekable;
	bool cut_off;       /* the header does not know how long the data is */
	uint64_t file_size; /* 0: unknown */
	uint64_t data_offset, data_size;
	uint64_t missing_bytes;      /* of the data, beyond the end of the file */
	struct stream stream;        /* events, counts, damages, order */
	uint64_t header_damages;     /* that were found on opening */
	size_t named;                /* events that have a name for certain */
	struct feature_set features; /* as they stand in the file */
	struct perfdata_facts facts; /* what they say */
	struct perfdata_options options;
	part_list parts;      /* while reading */
	struct part *current; /* that the record at hand came from */
	/* What follows a record and is wanted: the formats of tracepoints in pipe form. */
	struct perfdata_gathered {
		struct buf bytes;
		uint64_t wanted, file_offset;
	} gathered;
	const struct stream_visitor *visitor;
	void *ctx;
};

/* Fails only if nothing can be read of it: not there, not perf.data, no events in a file. */
int perfdata_open(struct perfdata **ret, const char *path, const struct perfdata_options *options,
		  struct err *e);

/* The same from a descriptor in pipe form, which belongs to the reader from now on, also on failure.
 * Opening waits for the first bytes. @name stands in sentences. */
int perfdata_open_fd(struct perfdata **ret, int fd, const char *name,
		     const struct perfdata_options *options, struct err *e);

/*
 * Records to @visitor, whose `user` may be NULL. Fails (-EBADMSG) after the last readable one if the
 * file is damaged; p->stream.damages says where. Anything else that is negative is an I/O error.
 */
int perfdata_read(struct perfdata *p, const struct stream_visitor *visitor, void *ctx,
		  struct err *e);

/* Back to before the first perfdata_read(); only files that can be read twice (seekable). */
void perfdata_rewind(struct perfdata *p);

void perfdata_close(struct perfdata *p);

/* True once a compressed record was read. */
bool perfdata_is_compressed(const struct perfdata *p);

/* Of all its files, once they were read; 0: unknown. */
uint64_t perfdata_bytes(const struct perfdata *p);

/* Names the events that nothing has named, by their attr. */
void perfdata_name_events(struct perfdata *p);

/* "cycles:u", never NULL. */
const char *perfdata_event_name(const struct stream_event *event);

/* The name of a record type, also of those that tools write; NULL if unknown. */
const char *perfdata_record_name(uint32_t type);

#endif
