/*
 * A recording that is watched while it happens. The collector writes perf.data in pipe form into a
 * pipe; whoever starts it reads the other end, the same way as a file, and keeps the recording
 * going beside (see recording.h). A watcher that reads too slowly loses samples, never the rings.
 */
#ifndef TACHO_COLLECT_LIVE_H
#define TACHO_COLLECT_LIVE_H

#include "base/clock.h"
#include "collect/recording.h"

/* Records reach the watcher at most two rounds late: a round lets out what is older than the last.
 * The plan may say otherwise. */
#define LIVE_ROUND_NS (100 * NS_PER_MSEC)

struct live {
	struct recording_plan plan;
	struct recording *recording;
	int data_fd; /* for perfdata_open_fd() */
};

/*
 * @plan says what to record, as for recording_run(); its output is made ours: writer.path is the
 * name of files that recording_snapshot() writes, keep_ns and keep_bytes what goes into them.
 * recording_finish() ends it; data_fd belongs to the caller.
 */
int live_start(struct live *ret, const struct recording_plan *plan, struct err *e);

#endif
