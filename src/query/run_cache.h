/*
 * Runs as questions see them: tables, call paths, the list of chunks, and what has been decoded of
 * these, kept in memory as long as there is room. A run that goes on is brought up to date whenever it
 * is asked for.
 *
 * Any thread may call all of it, with its own connection to the store. Between run_cache_get() and
 * run_cache_put() the tables do not change; what is decoded meanwhile is added by whoever comes first.
 */
#ifndef TACHO_QUERY_RUN_CACHE_H
#define TACHO_QUERY_RUN_CACHE_H

#include "analyze/paths/call_paths.h"
#include "analyze/paths/node_histogram.h"
#include "query/run_rows.h"
#include "store/store.h"

#include <pthread.h>

#define RUN_CACHE_BYTES (256ull << 20) /* unless the configuration says otherwise */

struct run_cache;

/* A chunk and what was decoded of it; NULL: not yet. */
struct run_chunk {
	struct stored_chunk stored;
	struct node_histogram *nodes; /* of samples */
	struct run_rows *rows;        /* of samples, if somebody came that near */
	count_blocks *blocks;         /* of counts */
	struct count_columns *counts; /* of counts, if somebody came that near */
};

struct run_data {
	int64_t id;
	char uuid[UUID_BYTES];
	bool ended;
	uint64_t start_ns;          /* what the API counts from */
	uint64_t first_ns, last_ns; /* of all its chunks; both 0: there are none */
	struct profile profile;     /* strings, threads, events, counters; more only if `whole` */
	bool whole;                 /* also functions, frames and stacks */
	struct profile *addresses;  /* NULL, or all of it; see run_cache_addresses() */
	struct leaf_addresses *leaves; /* NULL, or what run_cache_leaves() made */
	struct call_paths paths;      /* all stacks are known; its names are strings of `profile` */
	VEC(struct run_chunk) chunks; /* by first_ns */
	/* For run_cache.c and run_load.c. */
	int64_t generation, last_chunk, next_piece;
	bool loaded, stale;
	size_t bytes;
	/* Of all chunks; more are not kept, so that neither takes the room of the other. */
	size_t rows_bytes, rows_bytes_max, counts_bytes, counts_bytes_max;
	unsigned users;
	uint64_t used;
	uint32_t main_event; /* number + 1 of that with most samples; 0: see selection_event() */
	pthread_rwlock_t lock;
};

/* @limit_bytes 0: RUN_CACHE_BYTES. */
struct run_cache *run_cache_new(uint64_t limit_bytes);
void run_cache_free(struct run_cache *c);

/* *ret is to be given back. A run without data is one without chunks, no error. */
int run_cache_get(struct run_cache *c, struct store *s, const struct stored_run *run,
		  struct run_data **ret, struct err *e);
void run_cache_put(struct run_cache *c, struct run_data *d);
/* A chunk was not there any more: the next one who asks reads the list anew. */
void run_cache_stale(struct run_data *d);

/* The run's tables with functions, frames and stacks, which most questions can do without. */
int run_cache_addresses(struct store *s, struct run_data *d, const struct profile **ret,
			struct err *e);

/* Where the innermost function of each stack was, which is all that most who ask for addresses need. */
struct leaf_addresses {
	size_t len;
	uint64_t by_stack[];
};

static inline size_t leaf_addresses_bytes(const struct leaf_addresses *l)
{
	return sizeof(*l) + l->len * sizeof(*l->by_stack);
}

/* As long as the run is held. */
int run_cache_leaves(struct store *s, struct run_data *d, const struct leaf_addresses **ret,
		     struct err *e);

/* Works out what questions need of a run that has ended, and stores it; cheap if that was done. */
int run_cache_prepare(struct store *s, const struct stored_run *run, struct err *e);

/* For /metrics. */
struct run_cache_counts {
	uint64_t bytes, runs, hits, misses;
};
void run_cache_counts(struct run_cache *c, struct run_cache_counts *ret);

/* ---- run_load.c ---- */

bool run_state_ended(enum run_state s);
void run_data_release(struct run_data *d);
/* Gives back what is large and read again soon; false: there is nothing. Nobody else uses it. */
bool run_data_trim(struct run_data *d);
/* Brings it up to date. */
int run_data_load(struct run_data *d, struct store *s, bool ended, struct err *e);
int run_profile_load(struct profile *p, struct store *s, int64_t run, struct err *e);
size_t profile_bytes(const struct profile *p);

#endif
