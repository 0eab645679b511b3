/*
 * Publishes the states of runs, the queue, and the data of running runs as it arrives. For samples,
 * subscribers get new names and call tree nodes once, and then the gain of each node; for counters,
 * the new values; at most 20 times a second, whatever the collector sends. docs/FORMATS.md
 * describes the messages. Any thread may report that something was removed or that the queue or a
 * session has changed; everything else is for one thread (the supervisor's).
 */
#ifndef TACHO_RUNS_LIVE_LIVE_H
#define TACHO_RUNS_LIVE_LIVE_H

#include "runs/host.h"
#include "store/store.h"

struct live_run;

struct live *live_new(struct run_host *host);
void live_free(struct live *l);

/* Publishes a run whose state (or place, note, …) has changed, on its and its session's topic. */
void live_changed(struct live *l, const struct stored_run *run);
/* The run was deleted. */
void live_removed(struct live *l, const char *run_uuid, const char *session_uuid);
/* Publishes a session that is new, was renamed, or has more or fewer runs. */
void live_session_changed(struct live *l, const char *uuid);
void live_session_removed(struct live *l, const char *uuid);
void live_queue_changed(struct live *l);

struct live_run *live_run_begin(struct live *l, const struct stored_run *run);
void live_run_dictionary(struct live_run *r, const void *bytes, size_t size);
void live_run_chunk(struct live_run *r, const void *bytes, size_t size);
void live_run_output(struct live_run *r, int stream, uint64_t time_ns, const void *bytes,
		     size_t size);
void live_run_ledger(struct live_run *r, const char *json);
void live_run_note(struct live_run *r, const char *text);
void live_run_end(struct live_run *r); /* frees it */

/* Returns in how many milliseconds live_tick() must be called again, or -1 if it need not be. */
int live_wait_ms(struct live *l);
void live_tick(struct live *l);

#endif
