/*
 * Settings, clock, bus and mutual references of the queue, the live stream and the tidy thread. The
 * server fills it in before it starts them; from then on any thread may read it, and only @tidy
 * changes.
 */
#ifndef TACHO_RUNS_HOST_H
#define TACHO_RUNS_HOST_H

#include "base/clock.h"
#include "base/fs.h"

struct bus;
struct live;
struct runs;
struct tidy;

/* The settings of `struct server_config` that concern runs. The strings are the server's. */
struct run_settings {
	const char *data;            /* the data directory */
	uint64_t quota_bytes;        /* of the data directory; 0: no limit */
	uint64_t keep_s, keep_bytes; /* see struct retention */
	uint64_t output_bytes;
	unsigned queue_max, running_max;
	bool private; /* only the user who has started the server sees what it keeps */
	const strvec *default_modifiers; /* NULL: none */
	/* See collect/run/rights.h. Users with a lower role than this one are restricted; 0: nobody is. */
	const char *run_as;
	int unrestricted_role;
	uint64_t files_soft; /* soft limit of open files for workloads; 0: unchanged */
};

struct run_host {
	struct run_settings settings;
	const struct clock *clock;
	struct bus *bus;
	struct live *live;
	struct runs *runs;
	struct tidy *tidy;
	strvec notices; /* what a person has to know about this start; runs_prepare() adds to it */
};

#endif
