/*
 * The tasks of a recording as its records tell of them, in the order of time: names, and which
 * process a thread belongs to. A task is known by its tid; a tid that is used again begins anew.
 *
 * What else there is to know of a task (its mappings, say) is kept beside this by whoever wants it,
 * in an array by thread->number. Pointers to threads stay valid until the release. Files are
 * hostile: above THREADS_MAX no task is added, all others share one, and they are counted.
 * One thread of ours at a time.
 */
#ifndef TACHO_RESOLVE_THREADS_H
#define TACHO_RESOLVE_THREADS_H

#include "base/vec.h"
#include "perf/record.h"

#define THREADS_MAX (1u << 20)
/* Kernels give 15 characters; tools that make records up may give more. */
#define THREAD_COMM_SIZE 64

struct thread {
	uint32_t pid, tid; /* pid: ~0 while unknown */
	uint32_t number;   /* its place among all, not used again before threads_forget() */
	uint16_t comm_len;
	bool comm_known; /* else comm is ":TID" */
	bool exited;
	bool gone;      /* it had exited already when threads_forget() looked */
	uint32_t lives; /* how often its memory was replaced: exec, or a new task of the same tid */
	char comm[THREAD_COMM_SIZE];
};

struct threads {
	VEC(struct thread *) chunks;
	uint32_t count;
	uint32_t *slots; /* number + 1, by the hash of the tid */
	uint32_t slot_count;
	uint64_t seed;       /* tids come from files: where they land is nobody's to choose */
	struct thread *last; /* the one that was asked for last */
	struct thread other; /* stands for all that found no room */
	uint64_t dropped;
	uint32_t limit; /* THREADS_MAX, or less in a test */
};

/* With the idle task, which is not in the records, already there. */
void threads_init(struct threads *t);
void threads_release(struct threads *t);

/* The task, added if it is new. @pid ~0: not known. Never NULL. */
struct thread *threads_get(struct threads *t, uint32_t pid, uint32_t tid);
/* NULL if there is none. */
struct thread *threads_find(struct threads *t, uint32_t tid);
/* The same without remembering who was asked for: for several threads at a time. */
const struct thread *threads_look(const struct threads *t, uint32_t tid);
struct thread *threads_at(const struct threads *t, uint32_t number);

/*
 * Tasks go that had exited when this was called the last time and have not come back since. The others
 * get new numbers, in the same order: @moved is told of each, from the first on. Pointers to tasks are
 * not valid any more.
 */
void threads_forget(struct threads *t, void (*moved)(void *ctx, uint32_t from, uint32_t to),
		    void *ctx);

/* Takes in COMM, FORK and EXIT; all other records change nothing. */
void threads_record(struct threads *t, const struct record *r);

#endif
