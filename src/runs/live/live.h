/*
 * What the supervisor tells watchers of: states of runs, the queue, and the data of running ones as it
 * arrives. Of samples, watchers get new names and nodes of the call tree once, and then what each node
 * has gained; of counters, the new values; at most 20 times a second, whatever the collector sends.
 * docs/FORMATS.md has the messages. Any thread may say that something is gone or that the queue or a
 * session has changed; all else is for one thread (the supervisor's).
 */
#ifndef TACHO_RUNS_LIVE_LIVE_H
#define TACHO_RUNS_LIVE_LIVE_H

#include "runs/host.h"
#include "store/store.h"

struct live_run;

struct live *live_new(struct run_host *host);
void live_free(struct live *l);

/* A run has changed its state (or its place, note, …): its topic, its session's and the queue. */
void live_changed(struct live *l, const struct stored_run *run);
/* It is deleted. */
void live_removed(struct live *l, const char *run_uuid, const char *session_uuid);
/* A session is new, has another title, or more or fewer runs: the topic of all sessions. */
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

/* When live_tick() wants to be called again, in milliseconds; -1: no need. */
int live_wait_ms(struct live *l);
void live_tick(struct live *l);

#endif
