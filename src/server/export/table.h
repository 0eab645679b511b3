/*
 * The tables of a run as downloads have them: a schema (profile/schema.h) as columns for people. A
 * column of threads becomes pid, tid and comm, one of stacks function, module and stack, times
 * become seconds since the run began. Names of columns are unique, and the same in all formats:
 * a field that is called as one of these columns is called field_NAME.
 *
 * Valid while the export_run is open.
 */
#ifndef TACHO_SERVER_EXPORT_TABLE_H
#define TACHO_SERVER_EXPORT_TABLE_H

#include "profile/schema.h"
#include "server/export/run.h"

enum export_kind {
	EXPORT_SECONDS,
	EXPORT_PID,
	EXPORT_TID,
	EXPORT_COMM,
	EXPORT_UNSIGNED,
	EXPORT_SIGNED,
	EXPORT_FLOAT,
	EXPORT_ADDRESS,
	EXPORT_TEXT, /* see export_text() */
	EXPORT_FUNCTION,
	EXPORT_MODULE,
	EXPORT_STACK,
};

struct export_column {
	char *name;
	const char *unit, *meaning; /* "" where there is none */
	enum export_kind kind;
	enum value_type type; /* of the value in the chunk */
	uint32_t tag;
	uint8_t bytes; /* of a number: 1, 2, 4 or 8 */
	size_t value;  /* for walked_value() */
};

struct export_table {
	struct table_schema schema;
	VEC(struct export_column) columns;
	VEC(uint32_t) tags; /* of the values, ended by 0 */
};

/* Opens the table with this number; SCHEMA_SAMPLES has the samples of all tables. */
void export_table_open(struct export_table *t, const struct export_run *x, uint32_t number);
/* Opens "samples", or one of the run's own tables. Returns -EINVAL, with names, if there is none. */
int export_table_find(struct export_table *t, const struct export_run *x, const char *name,
		      struct err *e);
void export_table_close(struct export_table *t);
int export_table_each(struct export_run *x, const struct export_table *t, row_visit *visit,
		      void *ctx, struct err *e);

/* Numbers that are out of range, as in damaged chunks, mean entry 0. */
const char *export_text(const struct export_run *x, const struct export_column *c, uint64_t value);
const struct profile_thread *export_thread(const struct export_run *x, uint64_t value);
uint32_t export_stack(const struct export_run *x, uint64_t value);
/* The innermost function of a stack. */
const struct profile_function *export_leaf(const struct export_run *x, uint32_t stack);

/* Writes seconds with nine digits, needs 2 * DIGITS_MAX bytes. Returns where it stopped. */
char *export_put_seconds(char *p, uint64_t ns);
/* Nanoseconds from the start of the run to @ns, 0 if it is earlier. */
uint64_t export_since_start(const struct export_run *x, uint64_t ns);

/* Texts of stacks, "outer;inner", as a format encodes them: the same stacks are sampled again and
 * again, so the last ones are kept. */
struct export_stacks;
struct export_stacks *export_stacks_new(const struct export_run *x,
					void (*encode)(struct buf *out, const char *text));
const struct buf *export_stacks_text(struct export_stacks *s, uint32_t stack);
void export_stacks_free(struct export_stacks *s);

#endif
