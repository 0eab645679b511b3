/* Limits and names shared by the writer and the reader of dictionaries. */
#ifndef TACHO_PROFILE_DICTIONARY_TABLES_H
#define TACHO_PROFILE_DICTIONARY_TABLES_H

#include "profile/profile.h"

/* Limits of one table in one piece: bound the memory that a few hostile bytes can request. */
#define ENTRIES_MAX      (1u << 17)
#define TEXT_BYTES_MAX   (4u << 20) /* total of the strings of a piece */
#define STRING_BYTES_MAX (1u << 20) /* longer strings are cut */
#define BODY_BYTES_MAX   (64u << 20)
#define EVENTS_MAX       (1u << 16)

/* Flags of a schema. */
#define SCHEMA_IS_SPAN    1u
#define SCHEMA_IS_SAMPLED 2u

/* Tables in the order of sending: each refers only to itself and to tables before it. */
enum table {
	TABLE_STRINGS,
	TABLE_MODULES,
	TABLE_FUNCTIONS,
	TABLE_NAMES,
	TABLE_FRAMES,
	TABLE_STACKS,
	TABLE_THREADS,
	TABLE_EVENTS,
	TABLE_COUNTERS,
	TABLES,
};

static inline void dictionary_sizes(const struct profile *p, uint32_t sizes[TABLES])
{
	sizes[TABLE_STRINGS] = (uint32_t)p->strings.starts.len;
	sizes[TABLE_MODULES] = (uint32_t)p->modules.len;
	sizes[TABLE_FUNCTIONS] = (uint32_t)p->functions.len;
	sizes[TABLE_NAMES] = (uint32_t)p->names.len;
	sizes[TABLE_FRAMES] = (uint32_t)p->frames.len;
	sizes[TABLE_STACKS] = profile_stacks_end(p);
	sizes[TABLE_THREADS] = p->threads_forgotten + (uint32_t)p->threads.len;
	sizes[TABLE_EVENTS] = (uint32_t)p->events.len;
	sizes[TABLE_COUNTERS] = (uint32_t)p->counters.len;
}

#endif
