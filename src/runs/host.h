/*
 * What the queue, the live stream and tidying share: settings, the clock, the bus, and one another. The
 * server fills it in before it starts them; from then on everything but @tidy is only read, by any thread.
 */
#ifndef TACHO_RUNS_HOST_H
#define TACHO_RUNS_HOST_H

#include "base/clock.h"
#include "base/fs.h"

struct bus;
struct live;
struct runs;
struct tidy;

/* Those of `struct server_config` that concern runs; 0 is no limit. The strings are the server's. */
struct run_settings {
	const char *data;     /* the data directory */
	uint64_t quota_bytes; /* of the data directory */
	uint64_t keep_s, keep_bytes;
	uint64_t output_bytes;
	unsigned queue_max, running_max;
	const strvec *default_modifiers; /* NULL: none */
	uint64_t files_soft;             /* limit of open files that workloads get; 0: as it is */
};

struct run_host {
	struct run_settings settings;
	const struct clock *clock;
	struct bus *bus;
	struct live *live;
	struct runs *runs;
	struct tidy *tidy;
};

#endif
