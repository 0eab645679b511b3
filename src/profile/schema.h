/*
 * Schemas: what the rows of a table are. Everything that a run measures is rows of tables: samples,
 * values of counters, hits of a tracepoint with their fields. A schema names the columns of one
 * table and says what each means; chunks (profile/chunk.h) have the values.
 *
 * A column has a tag, which chunks name it by. The tags below SCHEMA_TAG_OWN mean the same in every
 * table: so whatever has a time, a thread and a stack can be read as a sample, without its schema.
 * A column that is missing in a chunk is 0, or none, in all rows of that chunk.
 *
 * Schemas 1 and 2 are those of samples and of counts, and belong to the program. All others belong
 * to a run, are numbered from SCHEMA_FIRST_OWN on, and travel in its dictionary.
 *
 * To add a table: make a schema with profile_schema_add(), and give rows to chunk_encode(). Nothing
 * else needs to know of it: queries, downloads and the page read the schema.
 */
#ifndef TACHO_PROFILE_SCHEMA_H
#define TACHO_PROFILE_SCHEMA_H

#include "base/err.h"
#include "profile/profile.h"

#define SCHEMA_SAMPLES   1u
#define SCHEMA_COUNTS    2u
#define SCHEMA_FIRST_OWN 3u

#define SCHEMAS_MAX        8192u
#define SCHEMA_COLUMNS_MAX 128u

/* Columns that mean the same in every table. Stored: a number never gets another meaning. */
enum column_tag {
	TAG_TIME = 1,     /* of a point, or the start of a span */
	TAG_END = 2,      /* of a span */
	TAG_DURATION = 3, /* of the interval that ends at TAG_TIME */
	TAG_EVENT = 4,
	TAG_THREAD = 5,
	TAG_CPU = 6,
	TAG_STACK = 7,
	TAG_WEIGHT = 8,
	TAG_ADDRESS = 9, /* of data */
	TAG_VALUE = 10,
	TAG_RUNNING = 11,    /* part of the interval in which the counter ran, in ppm */
	TAG_KEY = 12,        /* names a span: a cell of a lane shows the key of its longest span */
	SCHEMA_TAG_OWN = 32, /* the first column that is the table's own */
};

/* Stored, as tags are. */
enum value_type {
	VALUE_UNSIGNED = 1,
	VALUE_SIGNED = 2,
	VALUE_FLOAT = 3, /* the bits of a double */
	VALUE_TIME = 4,  /* by the clock of the run */
	VALUE_DURATION = 5,
	VALUE_ADDRESS = 6,
	VALUE_STRING = 7, /* index into a table of the dictionary, as the next four types are */
	VALUE_STACK = 8,
	VALUE_THREAD = 9,
	VALUE_EVENT = 10,
	VALUE_COUNTER = 11,
	VALUE_CPU = 12,
};

/* What a column is for. Stored, as tags are. */
enum column_role {
	AS_VALUE = 0, /* something to look at, add up or group by */
	AS_TIME = 1,
	AS_END = 2,
	AS_THREAD = 3,
	AS_CPU = 4,
	AS_STACK = 5,
	AS_WEIGHT = 6,
	AS_KEY = 7, /* rows with the same value belong together */
};

/* Return the name of a type ("unsigned", "string", …) or of a role ("value", "time", …), or NULL if the
 * number is unknown. */
const char *value_type_name(unsigned type);
const char *column_role_name(unsigned role);

/* Whether values are numbers of texts, see profile_value_text(). */
static inline bool value_type_is_text(enum value_type type)
{
	return type == VALUE_STRING || type == VALUE_EVENT || type == VALUE_COUNTER;
}

/* Whether numbers of this type can be added up and compared. */
bool value_type_is_number(enum value_type type);

/*
 * Numbers of texts of this type are below the limit. Numbers in chunks may be wrong: others mean
 * text 0.
 */
size_t profile_text_limit(const struct profile *p, enum value_type type);
const char *profile_value_text(const struct profile *p, enum value_type type, uint64_t value);

/* A column with its strings. */
struct column_schema {
	const char *name, *unit, *meaning; /* "" where there is none */
	uint32_t tag;
	enum value_type type;
	enum column_role role;
	uint8_t bytes; /* size of a value where it was measured: 1, 2, 4 or 8 */
};

/* A table with its strings. */
struct table_schema {
	const char *name, *meaning;
	uint32_t number;
	bool is_span;
	bool sampled;   /* rows are samples, too: queries about samples include them */
	uint32_t event; /* 1 + the event that all rows are samples of; 0: of any event */
	size_t column_count;
};

/* Returns the end (exclusive) of the schema numbers, which begin with SCHEMA_SAMPLES. */
static inline uint32_t profile_schemas_end(const struct profile *p)
{
	return SCHEMA_FIRST_OWN + (uint32_t)p->schemas.len;
}

/* Counts are not listed: their rows do not state the counter, only their chunks do. */
static inline bool schema_is_listed(uint32_t number)
{
	return number != SCHEMA_COUNTS;
}

/* Returns false if there is no schema @number. Strings in *ret are valid until the profile changes. */
bool profile_schema(const struct profile *p, uint32_t number, struct table_schema *ret);
/* Finds a listed table by its name. Returns -ENOENT with a sentence that suggests names; @other is
 * another name that the caller knows, or NULL. */
int profile_schema_find(const struct profile *p, const char *name, const char *other,
			struct table_schema *ret, struct err *e);
/* Returns column @n of a schema; @n must be below its column_count. */
struct column_schema profile_schema_column(const struct profile *p, uint32_t number, size_t n);

/* Adds a schema. Returns its number, or 0 if there are too many schemas or the table has too many columns. */
uint32_t profile_schema_add(struct profile *p, const struct table_schema *table,
			    const struct column_schema *columns);

#endif
