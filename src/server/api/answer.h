/*
 * An answer with large arrays: as JSON, or with ?format=columns as one line of JSON in which every
 * array is {"type", "length", "offset"}, and behind it the arrays as they lie in memory. Offsets are
 * from the byte behind the line feed and the zeros that follow it, up to a multiple of 8; numbers are
 * little-endian; u32, u64, i64 and f64 are the types. In f64, NaN stands for null. One thread.
 */
#ifndef TACHO_SERVER_API_ANSWER_H
#define TACHO_SERVER_API_ANSWER_H

#include "base/json.h"
#include "net/http.h"

#define ANSWER_TIMES_MAX 8

struct answer {
	struct json j;
	struct buf text;
	bool columns;
	struct buf raw; /* the arrays */
	/* For the header Server-Timing. */
	struct {
		const char *name;
		double ms;
	} times[ANSWER_TIMES_MAX];
	size_t time_count;
	uint64_t clock_ns;
};

/* The clock for the times starts. */
int answer_begin(struct answer *a, const struct http_request *r, struct err *e);
/* What was done since the last call (or the beginning) is called so. */
void answer_time(struct answer *a, const char *name);
/* Sends it; @immutable as in http_reply. Releases it. */
void answer_send(struct answer *a, struct http_reply *reply, bool immutable);
void answer_release(struct answer *a);

void answer_u32(struct answer *a, const char *key, const uint32_t *values, size_t count);
void answer_f64(struct answer *a, const char *key, const double *values, size_t count);
void answer_u64(struct answer *a, const char *key, const uint64_t *values, size_t count);
void answer_i64(struct answer *a, const char *key, const int64_t *values, size_t count);

#endif
