#include "server/api/answer.h"
#include "base/clock.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <string.h>

int answer_begin(struct answer *a, const struct http_request *r, struct err *e)
{
	const char *format = http_query(r, "format");

	*a = (struct answer){.clock_ns = clock_now_ns()};
	a->j = jw_to(&a->text);
	a->columns = format && !strcmp(format, "columns");
	if (format && !a->columns && strcmp(format, "json"))
		return err_set(e, EINVAL, "The parameter format is json or columns.");
	return 0;
}

void answer_time(struct answer *a, const char *name)
{
	uint64_t now = clock_now_ns();
	double ms = (double)(now - a->clock_ns) / 1e6;

	a->clock_ns = now;
	for (size_t i = 0; i < a->time_count; i++)
		if (!strcmp(a->times[i].name, name)) {
			a->times[i].ms += ms;
			return;
		}
	if (a->time_count == ANSWER_TIMES_MAX)
		return;
	a->times[a->time_count].name = name;
	a->times[a->time_count++].ms = ms;
}

void answer_release(struct answer *a)
{
	buf_release(&a->text);
	buf_release(&a->raw);
}

static void add_timing(struct answer *a, struct http_reply *reply)
{
	CLEANUP(buf_release) struct buf text = {};
	double all = 0;

	for (size_t i = 0; i < a->time_count; i++) {
		buf_addf(&text, "%s;dur=%.3f, ", a->times[i].name, a->times[i].ms);
		all += a->times[i].ms;
	}
	buf_addf(&text, "total;dur=%.3f", all);
	http_reply_header(reply, "Server-Timing", "%s", buf_str(&text));
}

void answer_send(struct answer *a, struct http_reply *reply, bool immutable)
{
	answer_time(a, "write");
	add_timing(a, reply);
	reply->immutable = immutable;
	buf_release(&reply->body);
	reply->body = a->text;
	a->text = (struct buf){};
	if (a->columns) {
		reply->type = "application/octet-stream";
		buf_add_char(&reply->body, '\n');
		buf_pad(&reply->body, -reply->body.len & 7, '\0');
		buf_add_mem(&reply->body, buf_str(&a->raw), a->raw.len);
	}
	answer_release(a);
}

/* ---- arrays ---- */

/* Returns false if the caller has to write the values as JSON. */
static bool add_column(struct answer *a, const char *key, const char *type, size_t size,
		       const void *values, size_t count)
{
	_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "columns are sent as they lie in memory");

	jw_key(&a->j, key);
	if (!a->columns)
		return false;
	buf_pad(&a->raw, -a->raw.len & 7, '\0');
	jw_open(&a->j, '{');
	jw_kv_str(&a->j, "type", type);
	jw_kv_u64(&a->j, "length", count);
	jw_kv_u64(&a->j, "offset", a->raw.len);
	jw_close(&a->j, '}');
	if (count)
		buf_add_mem(&a->raw, values, count * size);
	return true;
}

/* Writes an array of unsigned numbers of 4 or 8 bytes. */
static void add_unsigned(struct answer *a, const char *key, const char *type, size_t size,
			 const void *values, size_t count)
{
	if (add_column(a, key, type, size, values, count))
		return;
	jw_open(&a->j, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_add_char(&a->text, ',');
		buf_add_u64(&a->text, size == sizeof(uint32_t) ? ((const uint32_t *)values)[i]
							       : ((const uint64_t *)values)[i]);
	}
	jw_close(&a->j, ']');
}

void answer_u32(struct answer *a, const char *key, const uint32_t *values, size_t count)
{
	add_unsigned(a, key, "u32", sizeof(*values), values, count);
}

void answer_u64(struct answer *a, const char *key, const uint64_t *values, size_t count)
{
	add_unsigned(a, key, "u64", sizeof(*values), values, count);
}

void answer_i64(struct answer *a, const char *key, const int64_t *values, size_t count)
{
	if (add_column(a, key, "i64", sizeof(*values), values, count))
		return;
	jw_open(&a->j, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_add_char(&a->text, ',');
		if (values[i] < 0)
			buf_add_char(&a->text, '-');
		buf_add_u64(&a->text, values[i] < 0 ? -(uint64_t)values[i] : (uint64_t)values[i]);
	}
	jw_close(&a->j, ']');
}

/* Writes at least seven digits. Avoids printf(), which would take most of the time of an answer. */
static void add_number(struct buf *out, double v)
{
	double size = fabs(v);

	if (!isfinite(v)) {
		buf_add(out, "null");
	} else if (size < 1e15 && v == rint(v)) {
		if (v < 0)
			buf_add_char(out, '-');
		buf_add_u64(out, (uint64_t)size);
	} else if (size >= 1e6 && size < 1e12) {
		buf_add_fixed(out, v, 1, 0);
	} else if (size >= 1 && size < 1e6) {
		buf_add_fixed(out, v, 6, 0);
	} else {
		buf_addf(out, "%.9g", v);
	}
}

void answer_f64(struct answer *a, const char *key, const double *values, size_t count)
{
	if (add_column(a, key, "f64", sizeof(*values), values, count))
		return;
	jw_open(&a->j, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_add_char(&a->text, ',');
		add_number(&a->text, values[i]);
	}
	jw_close(&a->j, ']');
}
