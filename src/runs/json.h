/*
 * Sessions and runs as JSON, the same in answers of the API and in the live stream. docs/API.md and
 * openapi/ describe the fields. Any thread.
 */
#ifndef TACHO_RUNS_JSON_H
#define TACHO_RUNS_JSON_H

#include "base/json.h"
#include "store/store.h"

#include <jansson.h>

#define API_PREFIX "/api/v1"

struct runs;

/* The members uuid, title and created_at. */
void session_json_head(struct json *j, const struct stored_session *s);
void session_json(struct json *j, const struct stored_session *s);
/* @runs knows the progress of a run that has not ended; NULL leaves it out. */
void run_json(struct json *j, const struct stored_run *r, struct runs *runs);
/* How long the workload ran, or was watched; -1 if unknown. */
double run_seconds(const struct stored_run *r);

/* "2026-11-15T16:05:00.123Z"; 0 becomes null. */
void json_add_time(struct json *j, const char *key, int64_t ms);
/* A value of jansson's. NULL becomes null. */
void json_add_value(struct json *j, const json_t *value);

#endif
