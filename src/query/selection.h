/*
 * A selection says which samples a query is about: a time window, threads, CPUs, an event, a
 * regular expression on functions. selection_weigh() adds up their weights at the nodes of call
 * paths, from which most answers are made. A selection belongs to one thread; the run, between
 * run_cache_get() and run_cache_put(), to all.
 */
#ifndef TACHO_QUERY_SELECTION_H
#define TACHO_QUERY_SELECTION_H

#include "analyze/plot/timeline.h"
#include "base/number.h"
#include "query/run_cache.h"

/* Belongs to one run, and is valid as long as the run is held. */
struct selection {
	uint64_t from_ns, to_ns; /* clock of the chunks; to_ns is exclusive */
	bool *threads;           /* by thread of the profile; NULL: all */
	size_t thread_count;     /* threads that the profile had */
	bool *cpus;              /* by CPU, up to CPU_LIMIT; NULL: all */
	bool *nodes;             /* by node of the call paths; NULL: all */
	bool *stacks;            /* of a detached selection, instead of nodes */
	size_t stack_count;
	bool grows;    /* a detached selection may meet rows of later threads and stacks */
	int64_t event; /* of the profile; -1: not named, see selection_event() */
};

/*
 * Whether a row of this event, thread, CPU or stack is selected. Numbers of threads and stacks that do
 * not exist, as in damaged chunks, count as 0. But if the run still grew when the selection was
 * detached, they may be those of later rows, which are not selected.
 */
static inline bool selection_has_event(const struct selection *sel, uint64_t event)
{
	return sel->event < 0 || event == (uint64_t)sel->event;
}

static inline bool selection_has_thread(const struct selection *sel, uint64_t thread)
{
	if (!sel->threads)
		return true;
	return thread < sel->thread_count ? sel->threads[thread] : !sel->grows && sel->threads[0];
}

static inline bool selection_has_cpu(const struct selection *sel, uint64_t cpu)
{
	return !sel->cpus || (cpu < CPU_LIMIT && sel->cpus[cpu]);
}

static inline bool selection_has_stack(const struct selection *sel, const struct call_paths *paths,
				       uint64_t stack)
{
	return !sel->nodes || sel->nodes[call_path_known(paths, stack)];
}

/* The same of a detached selection. */
static inline bool selection_detached_has_stack(const struct selection *sel, uint64_t stack)
{
	if (!sel->stacks)
		return true;
	return stack < sel->stack_count ? sel->stacks[stack] : !sel->grows && sel->stacks[0];
}

/* Whether rows in the window may be left out. */
static inline bool selection_filters(const struct selection *sel)
{
	return sel->threads || sel->cpus || sel->nodes || sel->stacks || sel->event >= 0;
}

/* Lets the selection outlive the held run that it was made of, for row_walk_each() alone: stacks replace
 * nodes, which other queries read. */
void selection_detach(struct selection *sel, const struct run_data *d);

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
/* Selects the event @name; NULL: none is named. Returns -EINVAL if the run has no such event. */
int selection_name_event(struct selection *sel, const char *name, const struct run_data *d,
			 struct err *e);

/* Weights and samples by node of the call paths. */
struct node_weights {
	uint64_t *self, *samples;
	size_t len;
	uint32_t event; /* the event that was weighed */
	uint64_t total, total_samples;
};

/* Returns -ESTALE if chunks were replaced meanwhile: call run_cache_stale(), get the run again. */
int selection_weigh(const struct selection *sel, struct run_data *d, struct store *s,
		    struct node_weights *ret, struct err *e);
void node_weights_release(struct node_weights *w);

/* Gets the named event, or else the one with most samples in the whole run. */
int selection_event(const struct selection *sel, struct run_data *d, struct store *s, uint32_t *ret,
		    struct err *e);

/* Visits single samples in blocks of rows. Over all chunks they are not in the order of time. */
struct row_visitor {
	/* All rows of @c are selected. The visitor may change @c. */
	void (*visit)(void *ctx, struct sample_columns *c);
	void *ctx;
	int64_t event;    /* -1: any */
	unsigned columns; /* ROWS_TIME… */
};

int selection_each(const struct selection *sel, struct run_data *d, struct store *s,
		   const struct row_visitor *visitor, struct err *e);

/*
 * The same for queries that count in time cells: where possible all samples of one cell, event,
 * thread and CPU come in one sum. @cell_at must not decrease as time grows.
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

/* Finds the thread with most samples of an event. Threads with the same pid and tid but another
 * name count separately. Sets *ret to UINT32_MAX if there are no samples. */
int selection_busiest(const struct selection *sel, struct run_data *d, struct store *s,
		      uint32_t event, uint32_t *ret, struct err *e);

/* Visits the weights of the samples of one event, in no order; equal ones may come in one call. */
int selection_each_weight(const struct selection *sel, struct run_data *d, struct store *s,
			  uint32_t event,
			  void (*visit)(void *ctx, uint64_t weight, uint64_t samples), void *ctx,
			  struct err *e);

/* Visits the stacks of one event by thread, some several times. For queries that need more than the
 * nodes of call paths. */
struct stack_sum {
	uint32_t stack, thread;
	uint64_t samples, weight;
};

int selection_each_stack(const struct selection *sel, struct run_data *d, struct store *s,
			 uint32_t event, void (*visit)(void *ctx, const struct stack_sum *sum),
			 void *ctx, struct err *e);

/* Gets the blocks of a chunk of counts; decodes them if needed. */
int run_blocks(struct run_data *d, struct store *s, struct run_chunk *chunk,
	       const count_blocks **ret, struct err *e);

/* The values of a chunk of counts. `own` is NULL if the run keeps them. */
struct kept_counts {
	const struct count_columns *columns;
	struct count_columns *own;
};

int run_counts(struct run_data *d, struct store *s, struct run_chunk *chunk,
	       struct kept_counts *ret, struct err *e);
void kept_counts_release(struct kept_counts *k);

/* Sets @wanted[] by counter of the profile. @list is like "a,b" (names may contain commas);
 * NULL: all counters except marks. */
int counters_choose(const struct profile *p, const char *list, bool *wanted, struct err *e);

/* Visits the chunks of wanted counters whose intervals touch a window. */
typedef int (*counts_visitor)(void *ctx, struct run_chunk *c, struct err *e);

int counters_each_chunk(struct run_data *d, const bool *wanted, uint64_t from_ns, uint64_t to_ns,
			counts_visitor visit, void *ctx, struct err *e);

/* Adds the values of wanted counters to @by_counter: initialized timelines within the window. */
int counters_draw(struct run_data *d, struct store *s, const bool *wanted, uint64_t from_ns,
		  uint64_t to_ns, struct timeline *by_counter, struct err *e);

#endif
