/*
 * Which samples a question is about: a window of time, threads, CPUs, an event, a regular expression
 * on functions. And what they weigh at the nodes of call paths, which most answers are made from. A
 * selection belongs to one thread; the run, between run_cache_get() and run_cache_put(), to all.
 */
#ifndef TACHO_QUERY_SELECTION_H
#define TACHO_QUERY_SELECTION_H

#include "query/run_cache.h"

/* The run's, for as long as it is held. */
struct selection {
	uint64_t from_ns, to_ns; /* clock of the chunks; to_ns is not in it any more */
	bool *threads;           /* by thread of the profile; NULL: all */
	bool *cpus;              /* by CPU, up to CPU_LIMIT; NULL: all */
	bool *nodes;             /* by node of the call paths; NULL: all */
	int64_t event;           /* of the profile; -1: none is named, see selection_event() */
};

/* The names of the parameters that describe a selection. */
#define SELECTION_PARAMS "from", "to", "threads", "pids", "cpus", "event", "frames"

/* Where the texts of the parameters come from. */
struct selection_params {
	/* Returns the text of a parameter, or NULL if it was not given. */
	const char *(*value)(const void *ctx, const char *name);
	const void *ctx;
	const char *prefix; /* of the parameters' names: "before_", or "" */
};

int selection_parse(struct selection *sel, const struct selection_params *p,
		    const struct run_data *d, struct err *e);
void selection_release(struct selection *sel);
/* Chooses the samples of one event; NULL: none is named. Fails with a sentence if there is no such event. */
int selection_name_event(struct selection *sel, const char *name, const struct run_data *d,
			 struct err *e);

/* By node of the call paths. */
struct node_weights {
	uint64_t *self, *samples;
	size_t len;
	uint32_t event; /* which one it is about */
	uint64_t total, total_samples;
};

/* -ESTALE: chunks were replaced meanwhile; get the run anew. */
int selection_weigh(const struct selection *sel, struct run_data *d, struct store *s,
		    struct node_weights *ret, struct err *e);
void node_weights_release(struct node_weights *w);

/* The event that is meant: the one asked for, or the one with most samples in the whole run. */
int selection_event(const struct selection *sel, struct run_data *d, struct store *s, uint32_t *ret,
		    struct err *e);

/* Samples one by one: some at a time, not in the order of time over all chunks. */
struct row_visitor {
	/* All of @c are meant; it may be changed. */
	void (*visit)(void *ctx, struct sample_columns *c);
	void *ctx;
	int64_t event;    /* -1: any */
	unsigned columns; /* ROWS_TIME… */
};

int selection_each(const struct selection *sel, struct run_data *d, struct store *s,
		   const struct row_visitor *visitor, struct err *e);

/*
 * The same for questions that count in cells of time: all samples of one cell, event, thread and CPU in
 * one go where that can be. @cell_at never falls as time grows.
 */
struct cell_sum {
	uint32_t cell, event, thread;
	uint64_t samples, weight, first_ns, last_ns;
};

struct cell_visitor {
	uint32_t (*cell_at)(const void *ctx, uint64_t ns);
	void (*add)(void *ctx, const struct cell_sum *sum);
	void *ctx;
	int64_t event; /* -1: any */
};

int selection_each_cell(const struct selection *sel, struct run_data *d, struct store *s,
			const struct cell_visitor *visitor, struct err *e);

/* Which thread has most samples of an event; those with its pid and tid and another name count by
 * themselves. UINT32_MAX: there are no samples. */
int selection_busiest(const struct selection *sel, struct run_data *d, struct store *s,
		      uint32_t event, uint32_t *ret, struct err *e);

/* The weights of single samples of one event, in no order; those of many at once if they are equal. */
int selection_each_weight(const struct selection *sel, struct run_data *d, struct store *s,
			  uint32_t event,
			  void (*visit)(void *ctx, uint64_t weight, uint64_t samples), void *ctx,
			  struct err *e);

/* What each stack of one event has, some of them several times; for questions about addresses. */
int selection_each_stack(const struct selection *sel, struct run_data *d, struct store *s,
			 uint32_t event,
			 void (*visit)(void *ctx, uint32_t stack, uint64_t samples,
				       uint64_t weight),
			 void *ctx, struct err *e);

/* Blocks of a chunk of counts, decoded if need be. */
int run_blocks(struct run_data *d, struct store *s, struct run_chunk *chunk,
	       const count_blocks **ret, struct err *e);

/* Its values: the run's, if there was room to keep them. */
struct kept_counts {
	const struct count_columns *columns;
	struct count_columns *own;
};

int run_counts(struct run_data *d, struct store *s, struct run_chunk *chunk,
	       struct kept_counts *ret, struct err *e);
void kept_counts_release(struct kept_counts *k);

/* By counter of the profile: wanted or not. @list ("a,b"; names may have commas themselves) NULL: all but
 * those that are marks. */
int counters_choose(const struct profile *p, const char *list, bool *wanted, struct err *e);

/* Chunks of wanted counters whose intervals touch a window. */
typedef int (*counts_visitor)(void *ctx, struct run_chunk *c, struct err *e);

int counters_each_chunk(struct run_data *d, const bool *wanted, uint64_t from_ns, uint64_t to_ns,
			counts_visitor visit, void *ctx, struct err *e);

#endif
