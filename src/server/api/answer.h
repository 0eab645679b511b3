/*
 * An answer with large arrays: JSON, or with ?format=columns one line of JSON followed by the
 * arrays in binary form. In that line, every array is {"type", "length", "offset"}. Zeros after the
 * line feed pad the line to a multiple of 8 bytes; offsets count from there. Numbers are
 * little-endian; the types are u32, u64, i64 and f64. In f64, NaN stands for null. One thread.
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
	struct buf raw; /* the arrays, if @columns */
	/* For the header Server-Timing. */
	struct {
		const char *name;
		double ms;
	} times[ANSWER_TIMES_MAX];
	size_t time_count;
	uint64_t clock_ns;
};

/* Starts an answer and its clock. Returns -EINVAL if the parameter format is unknown. */
int answer_begin(struct answer *a, const struct http_request *r, struct err *e);
/* Records the time since the last call (or answer_begin()) under @name, which is not copied. */
void answer_time(struct answer *a, const char *name);
/* Moves the answer into @reply and releases it; @immutable as in http_reply. */
void answer_send(struct answer *a, struct http_reply *reply, bool immutable);
void answer_release(struct answer *a);

void answer_u32(struct answer *a, const char *key, const uint32_t *values, size_t count);
void answer_f64(struct answer *a, const char *key, const double *values, size_t count);
void answer_u64(struct answer *a, const char *key, const uint64_t *values, size_t count);
void answer_i64(struct answer *a, const char *key, const int64_t *values, size_t count);

#endif
