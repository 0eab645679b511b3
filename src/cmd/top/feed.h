/*
 * The way from a live recording to the table that is shown: a thread of its own reads records,
 * resolves them and adds what is new to the table, so that the screen answers at once even while
 * names are being looked for.
 *
 * The table and all below `lock` are for whoever holds it. Memory stays bounded: see feed.c.
 */
#ifndef TACHO_CMD_TOP_FEED_H
#define TACHO_CMD_TOP_FEED_H

#include "analyze/report/top_table.h"
#include "base/fs.h"
#include "resolve/analysis.h"

#include <pthread.h>

struct top_feed_options {
	struct resolve_options resolve;
	const struct roots *roots;
	/* Which tasks are watched, to describe them anew; NULL: all. */
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
	strvec events; /* their names; samples of events that take none are not counted */
	uint64_t samples, lost;
	uint64_t first_ns, last_ns; /* when records were taken in */
	bool frozen;                /* what comes is not added to the table */
	bool ended;                 /* nothing more comes */
	bool stop;                  /* the reader is to end */
	bool closed;                /* data_fd is not ours any more */
	struct err error;           /* why it has ended, if that was too early */

	/* Of the thread alone. */
	struct perfdata *file;
	struct modules *modules;
	struct profile profile;
	struct analysis analysis;
	VEC(uint32_t) nodes, functions, processes; /* in the table; by number in the profile */
	unsigned generation;                       /* of the table, that these are of */
	uint64_t last_slice_ns;
	uint64_t new_samples, new_lost; /* since the last slice */
	unsigned epochs;
	uint64_t jit_samples, jit_unnamed;  /* of all, those in code that was made at run time */
	uint64_t next_jit_ns, jit_pause_ns; /* when to look for its names again */
};

/* @data_fd belongs to the feed from now on. */
int top_feed_start(struct top_feed *f, int data_fd, const struct top_feed_options *o,
		   struct err *e);

/* Takes no more of what is on its way. */
void top_feed_stop(struct top_feed *f);
/* Once the collector has ended. */
void top_feed_release(struct top_feed *f);

#endif
