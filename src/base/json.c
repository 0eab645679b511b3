#include "base/json.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

struct json jw_to(struct buf *out)
{
	return (struct json){.out = out};
}

static void before_value(struct json *j)
{
	if (j->comma)
		buf_add_char(j->out, ',');
	j->comma = true;
}

void jw_open(struct json *j, char bracket)
{
	before_value(j);
	buf_add_char(j->out, bracket);
	j->comma = false;
}

void jw_close(struct json *j, char bracket)
{
	buf_add_char(j->out, bracket);
	j->comma = true;
}

static void add_quoted(struct buf *b, const char *str)
{
	const unsigned char *s = (const unsigned char *)str;

	buf_add_char(b, '"');
	while (*s) {
		size_t plain = 0, len;

		while (s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\')
			plain++;
		buf_add_mem(b, s, plain);
		s += plain;
		if (!*s)
			break;
		len = text_utf8_len(s);
		if (*s == '"' || *s == '\\')
			buf_addf(b, "\\%c", *s);
		else if (*s == '\n')
			buf_add(b, "\\n");
		else if (*s == '\t')
			buf_add(b, "\\t");
		else if (*s < 0x20 || *s == 0x7f)
			buf_addf(b, "\\u%04x", *s);
		else if (len)
			buf_add_mem(b, s, len);
		else
			buf_add(b, "\xef\xbf\xbd");
		s += len ? len : 1;
	}
	buf_add_char(b, '"');
}

void jw_key(struct json *j, const char *key)
{
	before_value(j);
	add_quoted(j->out, key);
	buf_add_char(j->out, ':');
	j->comma = false;
}

void jw_str(struct json *j, const char *s)
{
	if (!s) {
		jw_null(j);
		return;
	}
	before_value(j);
	add_quoted(j->out, s);
}

void jw_u64(struct json *j, uint64_t v)
{
	before_value(j);
	buf_add_u64(j->out, v);
}

void jw_i64(struct json *j, int64_t v)
{
	before_value(j);
	if (v < 0)
		buf_add_char(j->out, '-');
	buf_add_u64(j->out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void jw_double(struct json *j, double v)
{
	if (!isfinite(v)) {
		jw_null(j);
		return;
	}
	before_value(j);
	buf_addf(j->out, "%.15g", v);
}

void jw_bool(struct json *j, bool v)
{
	before_value(j);
	buf_add(j->out, v ? "true" : "false");
}

void jw_null(struct json *j)
{
	before_value(j);
	buf_add(j->out, "null");
}

void jw_raw(struct json *j, const char *text)
{
	before_value(j);
	buf_add(j->out, text);
}

void jw_kv_str(struct json *j, const char *key, const char *s)
{
	jw_key(j, key);
	jw_str(j, s);
}

void jw_kv_u64(struct json *j, const char *key, uint64_t v)
{
	jw_key(j, key);
	jw_u64(j, v);
}

void jw_kv_word(struct json *j, const char *key, uint64_t v)
{
	jw_key(j, key);
	jw_i64(j, (int64_t)v);
}

void jw_kv_count(struct json *j, const char *key, uint64_t v)
{
	jw_kv_u64(j, key, v < INT64_MAX ? v : INT64_MAX);
}

void jw_kv_double(struct json *j, const char *key, double v)
{
	jw_key(j, key);
	jw_double(j, v);
}

void jw_kv_bool(struct json *j, const char *key, bool v)
{
	jw_key(j, key);
	jw_bool(j, v);
}
