/*
 * Fills the table of `tacho top` from a live recording: a separate thread reads and resolves the
 * records and adds the samples to the table, so that the screen responds at once even while names
 * are looked up.
 *
 * Hold `lock` to access the table and the members below it. Memory is bounded: see feed.c.
 */
#ifndef TACHO_CMD_TOP_FEED_H
#define TACHO_CMD_TOP_FEED_H

#include "analyze/report/top_table.h"
#include "analyze/tree/stack_nodes.h"
#include "base/fs.h"
#include "resolve/analysis.h"

#include <pthread.h>

struct top_feed_options {
	struct resolve_options resolve;
	const struct roots *roots;
	/* The watched tasks, which each new epoch describes again; count 0: all tasks. */
	const pid_t *tasks;
	size_t task_count;
	uint64_t window_ns;
};

struct top_feed {
	struct top_feed_options options;
	int data_fd;
	pthread_t thread;

	pthread_mutex_t lock;
	struct top_table table;
	strvec events; /* their names, by number in the profile */
	uint64_t samples, lost;
	uint64_t first_ns, last_ns; /* when the first and the last slice ended */
	bool frozen;                /* new samples are not added to the table */
	bool ended;                 /* the thread reads no more */
	bool stop;                  /* asks the thread to end */
	bool closed;                /* data_fd is closed */
	struct err error;           /* why reading failed, if it did */

	/* Only for the thread. */
	struct perfdata *file;
	struct modules *modules;
	struct profile profile;
	struct analysis analysis;
	struct stack_nodes stacks;
	VEC(uint32_t) functions, processes; /* table's numbers, by the profile's */
	unsigned generation;                /* of the table, for which these are valid */
	uint64_t last_slice_ns;
	uint64_t new_samples, new_lost; /* since the last slice */
	unsigned epochs;
	uint64_t jit_samples, jit_unnamed;  /* all samples; those in unnamed JIT code */
	uint64_t next_jit_ns, jit_pause_ns; /* when to look for JIT names again */
};

/* Takes ownership of @data_fd, also on failure. */
int top_feed_start(struct top_feed *f, int data_fd, const struct top_feed_options *o,
		   struct err *e);

/* Makes the thread stop reading; records that are still in the pipe are dropped. */
void top_feed_stop(struct top_feed *f);
/* Call this after top_feed_stop(), once the collector has ended. */
void top_feed_release(struct top_feed *f);

#endif
