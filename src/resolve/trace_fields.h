/*
 * The fields of a tracepoint as columns of a table: which there are, and the values of a sample. The
 * kernel's description (event/format/format.h) comes with the recording, as do the samples, so neither
 * can be trusted: what does not fit is left out, and said.
 *
 * A reader belongs to one thread. Texts are interned in the profile that it is given.
 */
#ifndef TACHO_RESOLVE_TRACE_FIELDS_H
#define TACHO_RESOLVE_TRACE_FIELDS_H

#include "event/format/format.h"
#include "perfdata/facts.h"
#include "profile/schema.h"

struct trace_fields;

/*
 * The reader of a tracepoint's samples. NULL if the event is not a tracepoint, or the recording does not
 * describe it.
 */
struct trace_fields *trace_fields_new(const struct perfdata_facts *facts,
				      const struct stream_event *event);
void trace_fields_free(struct trace_fields *f);

/* Fields without those that all tracepoints have. The first @count of them are kept. */
size_t trace_fields_count(const struct trace_fields *f);
/* Texts are valid as long as the reader. The tag is SCHEMA_TAG_OWN + @n. */
struct column_schema trace_fields_column(const struct trace_fields *f, size_t n);

/*
 * Reads all fields of a sample. False if it has too few bytes. @add_texts false: texts that the profile
 * does not have yet are left out, as is one that finds no room in the profile.
 */
bool trace_fields_read(const struct trace_fields *f, const void *raw, size_t raw_size,
		       struct profile *p, bool add_texts, uint64_t *ret);

/*
 * Reads one field: a number into *@ret, anything else as text at the end of @text (NULL: left out).
 * False if the sample has too few bytes.
 */
bool trace_fields_get(const struct trace_fields *f, size_t n, const void *raw, size_t raw_size,
		      uint64_t *ret, struct buf *text);
/* Appends the value of a field as perf prints it without the tracepoint's "print fmt". */
void trace_fields_print(const struct trace_fields *f, size_t n, const void *raw, size_t raw_size,
			struct buf *out);
const struct tracepoint_format *trace_fields_format(const struct trace_fields *f);

#endif
