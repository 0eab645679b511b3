/*
 * A recording that is watched while it happens. The collector writes perf.data in pipe form into a
 * pipe; the starter reads the other end like a file, and calls recording_turn() meanwhile (see
 * recording.h). A watcher that reads too slowly loses samples, but never blocks the rings.
 */
#ifndef TACHO_COLLECT_LIVE_H
#define TACHO_COLLECT_LIVE_H

#include "base/clock.h"
#include "collect/recording.h"

/* Default time between rounds. Records reach the watcher at most two rounds late: a round releases
 * the records that are older than the round before it. */
#define LIVE_ROUND_NS (100 * NS_PER_MSEC)

struct live {
	struct recording_plan plan;
	struct recording *recording;
	int data_fd; /* for perfdata_open_fd() */
};

/*
 * Starts recording @plan, as recording_run() does, with a live sink as the output: writer.path
 * names the files that recording_snapshot() writes, keep_ns and keep_bytes limit what goes into
 * them. End it with recording_finish(). The caller owns data_fd.
 */
int live_start(struct live *ret, const struct recording_plan *plan, struct err *e);

#endif
