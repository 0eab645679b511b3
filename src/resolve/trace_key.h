/*
 * What the fields of its tracepoint make of a sample: a key that separates its row from others
 * (`tacho report --sort next_comm`), and a weight (`--sum bytes_req`).
 *
 * A key is a string of the profile, struct profile_row.key, so workers' keys are merged like all other
 * strings. It holds one cell for each name of trace_key_options.fields, and behind these one for each
 * field of the event if `all_fields` is set; trace_key_cell() takes it apart. Samples with the same
 * values have the same key. Its printed texts are those of the first such sample.
 *
 * A struct trace_keys belongs to one thread. Formats of tracepoints come with the recording, as the
 * samples do: a field that does not fit into a sample is an empty cell.
 */
#ifndef TACHO_RESOLVE_TRACE_KEY_H
#define TACHO_RESOLVE_TRACE_KEY_H

#include "event/format/format.h"
#include "perf/record.h"
#include "perf/stream.h"
#include "perfdata/facts.h"
#include "profile/profile.h"

/* The name in `fields` that stands for the printed text of the tracepoint. */
#define TRACE_KEY_TEXT "trace"

/* The texts belong to the caller. */
struct trace_key_options {
	/* "FIELD"; "EVENT.FIELD", EVENT being "system:name", "name" or a pattern; TRACE_KEY_TEXT */
	strvec fields;
	bool all_fields;
	bool raw;           /* values as they are in the sample: --raw-trace */
	const char *sum;    /* the field that is the weight of samples; NULL: their period is */
	const char *option; /* that named `fields`, for messages */
	const char *others; /* words that it takes besides, "comm, pid", to suggest */
};

/* Returns whether there is anything to do for samples. */
static inline bool trace_key_wanted(const struct trace_key_options *o)
{
	return o->fields.len || o->all_fields || o->sum;
}

/*
 * Checks the names against the tracepoints of a recording, whose formats must have been read. Returns
 * -EINVAL with a sentence that suggests the nearest names.
 */
int trace_key_check(const struct trace_key_options *o, const struct perfdata_facts *facts,
		    const struct stream *stream, struct err *e);

/* Returns the field that "FIELD" or "EVENT.FIELD" names in an event; NULL: it has none. */
const struct tracepoint_field *trace_key_field(const struct tracepoint_format *f,
					       const char *wanted);

/* Adds the names of all fields of all tracepoints, each once. */
void trace_key_names(const struct perfdata_facts *facts, const struct stream *stream, strvec *ret);

struct trace_keys;

struct trace_keys *trace_keys_new(const struct trace_key_options *o,
				  const struct perfdata_facts *facts);
void trace_keys_free(struct trace_keys *k);

enum trace_key_result {
	TRACE_KEY_OK,
	TRACE_KEY_NEGATIVE, /* the weight is 0, because the value of the field is negative */
	TRACE_KEY_NO_FIELD, /* the sample has no field to take the weight from */
};

/* @ctx is for symbols in printed texts. Sets *@ret_weight only if there is a field to sum. */
enum trace_key_result trace_keys_sample(struct trace_keys *k, const struct stream_event *event,
					uint32_t event_index, const struct bytes_view *raw,
					const struct format_context *ctx, struct profile *p,
					string_id *ret_key, uint64_t *ret_weight);

enum trace_cell_kind {
	TRACE_CELL_NONE, /* the event has no such field */
	TRACE_CELL_UNSIGNED,
	TRACE_CELL_SIGNED,
	TRACE_CELL_ADDRESS,
	TRACE_CELL_TEXT,
};

/* A part of a key; the texts point into it and are not terminated. */
struct trace_cell {
	enum trace_cell_kind kind;
	uint64_t number; /* of the first kinds */
	const char *name, *text, *shown;
	size_t name_len, text_len, shown_len; /* shown: as perf prints it */
};

/* Returns false if @key has fewer cells. */
bool trace_key_cell(const char *key, size_t n, struct trace_cell *ret);
/* Returns the cell of the field @name among the cells from @first on; false: there is none. */
bool trace_key_cell_named(const char *key, size_t first, const char *name, struct trace_cell *ret);

#endif
