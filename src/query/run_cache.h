/*
 * Runs in memory for queries: tables, call paths, the list of chunks and decoded chunks, kept as
 * long as there is room. run_cache_get() updates a run that is still being measured.
 *
 * Any thread may call these functions, with its own connection to the store. Between
 * run_cache_get() and run_cache_put() the tables do not change; only decoded data is added, by the
 * first thread that has it.
 */
#ifndef TACHO_QUERY_RUN_CACHE_H
#define TACHO_QUERY_RUN_CACHE_H

#include "analyze/paths/call_paths.h"
#include "analyze/paths/node_histogram.h"
#include "query/run_rows.h"
#include "query/table_kept.h"
#include "query/run_spans.h"
#include "store/store.h"

#include <pthread.h>

#define RUN_CACHE_BYTES (256ull << 20) /* unless the configuration says otherwise */

struct run_cache;

/* A chunk and its decoded data; NULL: not decoded yet. */
struct run_chunk {
	struct stored_chunk stored;
	struct node_histogram *nodes; /* of samples */
	struct run_rows *rows;        /* of samples, if a query needed single rows */
	struct run_spans *spans;      /* of spans, if a query asked for lanes */
	count_blocks *blocks;         /* of counts */
	struct count_columns *counts; /* of counts, if a query needed single values */
	struct kept_column *columns;  /* of any table, those that queries needed */
};

struct run_data {
	int64_t id;
	char uuid[UUID_BYTES];
	bool ended;
	uint64_t start_ns;          /* time 0 in the API */
	uint64_t first_ns, last_ns; /* of all chunks; both 0: there are none */
	struct profile profile;     /* strings, threads, events, counters; more only if `whole` */
	bool whole;                 /* `profile` also has functions, frames and stacks */
	struct profile *addresses;  /* NULL, or the complete profile; see run_cache_addresses() */
	struct leaf_addresses *leaves; /* NULL, or what run_cache_leaves() made */
	struct call_paths paths;       /* of all stacks; names are strings of `profile` */
	VEC(struct run_chunk) chunks;  /* by first_ns */
	/* For run_cache.c and run_load.c. */
	int64_t generation, last_chunk, next_piece;
	bool loaded, stale;
	size_t bytes;
	/* Decoded rows and columns, and counts: two limits, so that neither takes the room of the other. */
	size_t rows_bytes, rows_bytes_max, counts_bytes, counts_bytes_max;
	uint32_t table_questions; /* how many there were: see kept_column.used */
	bool columns_wait;        /* there was no room for columns that a question needed */
	unsigned users;
	uint64_t used;
	uint32_t main_event; /* 1 + event with most samples; 0: unknown, see selection_event() */
	pthread_rwlock_t lock;
};

/* @limit_bytes 0: RUN_CACHE_BYTES. */
struct run_cache *run_cache_new(uint64_t limit_bytes);
void run_cache_free(struct run_cache *c);

/* The caller must call run_cache_put(). A run without data is not an error: it has no chunks. */
int run_cache_get(struct run_cache *c, struct store *s, const struct stored_run *run,
		  struct run_data **ret, struct err *e);
void run_cache_put(struct run_cache *c, struct run_data *d);
/* A chunk is gone from the store: makes the next run_cache_get() read the list of chunks again. */
void run_cache_stale(struct run_data *d);

/* Gets the run's tables with functions, frames and stacks, which most queries do not need. */
int run_cache_addresses(struct store *s, struct run_data *d, const struct profile **ret,
			struct err *e);

/* Address of the innermost frame of each stack: all that most queries about addresses need. */
struct leaf_addresses {
	size_t len;
	uint64_t by_stack[];
};

static inline size_t leaf_addresses_bytes(const struct leaf_addresses *l)
{
	return sizeof(*l) + l->len * sizeof(*l->by_stack);
}

/* *ret is valid until run_cache_put(). */
int run_cache_leaves(struct store *s, struct run_data *d, const struct leaf_addresses **ret,
		     struct err *e);

/* Computes and stores what queries need of an ended run (run_derived.h); cheap if done already. */
int run_cache_prepare(struct store *s, const struct stored_run *run, struct err *e);

/* For /metrics. */
struct run_cache_counts {
	uint64_t bytes, runs, hits, misses;
};
void run_cache_counts(struct run_cache *c, struct run_cache_counts *ret);

/* ---- run_load.c ---- */

bool run_state_ended(enum run_state s);
void run_data_release(struct run_data *d);
/* Frees decoded data that is large and quick to read again. Returns false if there is none. The
 * run must not have users. */
bool run_data_trim(struct run_data *d);
/* If the room for decoded rows is full: frees columns of tables that the last question did not need, and
 * then spans that were not read lately. The run must not have users. */
void run_data_renew(struct run_data *d);
/* Brings @d up to date with the store. */
int run_data_load(struct run_data *d, struct store *s, bool ended, struct err *e);
/* As store_chunk_read(); -ESTALE: the chunk was merged into another one meanwhile. */
int run_chunk_read(struct store *s, const struct run_chunk *c, struct buf *bytes,
		   struct buf *summary, struct err *e);
/* Gives @e the sentence @why of decoding a chunk, with the names of run and chunk. Returns @rc. */
int run_chunk_failed(struct store *s, const struct run_chunk *c, int rc, const struct err *why,
		     struct err *e);
int run_profile_load(struct profile *p, struct store *s, int64_t run, struct err *e);
size_t profile_bytes(const struct profile *p);

#endif
