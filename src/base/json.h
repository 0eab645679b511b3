/*
 * A streaming JSON writer into a buf. Named jw_ because jansson has json_. It puts the commas;
 * strings are escaped, and bytes that are not UTF-8 become U+FFFD, so that the output always parses.
 *
 *	struct json j = jw_to(&buf);
 *	jw_open(&j, '{'); jw_key(&j, "n"); jw_u64(&j, 3); jw_close(&j, '}');
 */
#ifndef TACHO_BASE_JSON_H
#define TACHO_BASE_JSON_H

#include "base/buf.h"

#include <stdint.h>

struct json {
	struct buf *out;
	bool comma;
};

struct json jw_to(struct buf *out);
void jw_open(struct json *j, char bracket);
void jw_close(struct json *j, char bracket);
void jw_key(struct json *j, const char *key);
void jw_str(struct json *j, const char *s); /* NULL becomes null */
void jw_u64(struct json *j, uint64_t v);
void jw_i64(struct json *j, int64_t v);
void jw_double(struct json *j, double v); /* NaN and infinity become null */
void jw_bool(struct json *j, bool v);
void jw_null(struct json *j);
void jw_raw(struct json *j, const char *text); /* a value that is JSON already */

/* Key and value in one call, the common case. */
void jw_kv_str(struct json *j, const char *key, const char *s);
void jw_kv_u64(struct json *j, const char *key, uint64_t v);
void jw_kv_double(struct json *j, const char *key, double v);
/* For jansson, which takes no text with a number beyond 63 bits: a value of which each bit counts becomes
 * negative then, an amount stays the largest. */
void jw_kv_word(struct json *j, const char *key, uint64_t v);
void jw_kv_count(struct json *j, const char *key, uint64_t v);
void jw_kv_bool(struct json *j, const char *key, bool v);

#endif
