#include "net/http_text.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

void http_pairs_release(http_pairs *pairs)
{
	vec_each(pairs, pair) {
		free(pair->name);
		free(pair->value);
	}
	vec_release(pairs);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool percent_decode(struct buf *out, const char *text, size_t len, bool plus)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
			int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (!c)
			return false;
		buf_add_char(out, c);
	}
	return true;
}

/* One part of the path, between slashes. */
static bool part_decode(struct buf *out, const char *text, size_t len)
{
	size_t start = out->len;

	if (!percent_decode(out, text, len, false))
		return false;
	if (out->len == start)
		return true;
	for (size_t i = start; i < out->len; i++)
		if (out->s[i] == '/' || (unsigned char)out->s[i] < 0x20 || out->s[i] == 0x7f)
			return false;
	return strcmp(out->s + start, ".") != 0 && strcmp(out->s + start, "..") != 0;
}

static int path_parse(const char *text, size_t len, char **ret, struct err *e)
{
	CLEANUP(buf_release) struct buf path = {};
	const char *end = text + len;

	if (!len || text[0] != '/')
		return err_set(e, EINVAL, "The path of a request begins with a slash.");
	while (text < end) {
		const char *part = text + 1, *stop = memchr(part, '/', (size_t)(end - part));

		if (!stop)
			stop = end;
		buf_add_char(&path, '/');
		if (!part_decode(&path, part, (size_t)(stop - part)))
			return err_set(
				e, EINVAL,
				"The path of the request is not well-formed: no '.' or '..', "
				"no encoded slashes or control characters.");
		text = stop;
	}
	*ret = buf_steal(&path);
	return 0;
}

static int query_parse(const char *text, http_pairs *ret, struct err *e)
{
	while (*text) {
		size_t len = strcspn(text, "&"), name_len = strcspn(text, "=&");
		struct buf name = {}, value = {};

		if (len) {
			const char *v = text + name_len + (text[name_len] == '=');

			if (ret->len >= HTTP_QUERY_MAX)
				return err_set(e, EINVAL, "A request has at most %d parameters.",
					       HTTP_QUERY_MAX);
			if (!percent_decode(&name, text, name_len, true) ||
			    !percent_decode(&value, v, (size_t)(text + len - v), true)) {
				buf_release(&name);
				buf_release(&value);
				return err_set(e, EINVAL,
					       "A parameter of the request is not well-formed: "
					       "'%%' is written as %%25.");
			}
			vec_push(ret, (struct http_pair){buf_steal(&name), buf_steal(&value)});
		}
		text += len + (text[len] == '&');
	}
	return 0;
}

int target_parse(const char *target, char **ret_path, http_pairs *ret_query, struct err *e)
{
	size_t path_len = strcspn(target, "?");
	int err;

	*ret_path = NULL;
	err = path_parse(target, path_len, ret_path, e);
	if (!err && target[path_len])
		err = query_parse(target + path_len + 1, ret_query, e);
	return err;
}

char *target_without(const char *target, const char *name)
{
	size_t path_len = strcspn(target, "?");
	const char *text = target + path_len + (target[path_len] == '?');
	struct buf out = {};
	char separator = '?';

	buf_add_mem(&out, target, path_len);
	while (*text) {
		size_t len = strcspn(text, "&"), name_len = strcspn(text, "=&");
		CLEANUP(buf_release) struct buf decoded = {};

		if (len && !(percent_decode(&decoded, text, name_len, true) &&
			     !strcmp(buf_str(&decoded), name))) {
			buf_add_char(&out, separator);
			buf_add_mem(&out, text, len);
			separator = '&';
		}
		text += len + (text[len] == '&');
	}
	return buf_steal(&out);
}

bool token_valid(const char *token)
{
	size_t len = 0;

	for (; token[len]; len++)
		if (len + 1 >= TOKEN_BYTES ||
		    !(isalnum((unsigned char)token[len]) || token[len] == '-' || token[len] == '_'))
			return false;
	return len > 0;
}

static bool token_copy(const char *text, size_t len, char ret[TOKEN_BYTES])
{
	if (!len || len >= TOKEN_BYTES)
		return false;
	memcpy(ret, text, len);
	ret[len] = '\0';
	return token_valid(ret);
}

bool bearer_token(const char *header, char ret[TOKEN_BYTES])
{
	size_t len;

	if (strncasecmp(header, "Bearer", 6) || header[6] != ' ')
		return false;
	header += 6;
	header += strspn(header, " ");
	len = strcspn(header, " \t");
	return !header[len + strspn(header + len, " \t")] && token_copy(header, len, ret);
}

bool cookie_token(const char *header, const char *name, char ret[TOKEN_BYTES])
{
	size_t name_len = strlen(name);

	while (*header) {
		size_t len = strcspn(header, ";");

		if (len > name_len && !strncmp(header, name, name_len) && header[name_len] == '=' &&
		    token_copy(header + name_len + 1, len - name_len - 1, ret))
			return true;
		header += len;
		header += strspn(header, "; \t");
	}
	return false;
}

/* "q=0", "q=0.000": not wanted. */
static bool quality_zero(const char *text, size_t len)
{
	const char *end = text + len, *q = memmem(text, len, "q=", 2);

	if (!q)
		return false;
	for (q += 2; q < end && (*q == '0' || *q == '.'); q++)
		;
	return q == end || isspace((unsigned char)*q);
}

bool list_accepts(const char *list, const char *word)
{
	size_t word_len = strlen(word);

	for (; list && *list; list += *list == ',') {
		size_t len, own;

		list += strspn(list, " \t");
		len = strcspn(list, ",");
		own = strcspn(list, ";, \t");
		if (own == word_len && !strncasecmp(list, word, own))
			return !quality_zero(list + own, len - own);
		list += len;
	}
	return false;
}

bool etag_listed(const char *list, const char *etag)
{
	size_t etag_len = strlen(etag);

	for (; list && *list; list += *list == ',') {
		size_t len;

		list += strspn(list, " \t");
		if (!strncmp(list, "W/", 2))
			list += 2;
		len = strcspn(list, ",");
		if (list[0] == '*' || (len >= etag_len && !strncmp(list, etag, etag_len)))
			return true;
		list += len;
	}
	return false;
}

bool multipart_boundary(const char *content_type, char *ret, size_t size)
{
	static const char kind[] = "multipart/form-data";
	const char *at;
	size_t len;

	if (strncasecmp(content_type, kind, sizeof(kind) - 1) ||
	    !strchr("; \t", content_type[sizeof(kind) - 1]))
		return false;
	at = strcasestr(content_type, "boundary=");
	if (!at)
		return false;
	at += strlen("boundary=");
	if (*at == '"') {
		at++;
		len = strcspn(at, "\"");
	} else {
		len = strcspn(at, "; \t");
	}
	if (!len || len > 70 || len >= size)
		return false;
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

void disposition_add(struct buf *out, const char *name)
{
	buf_add(out, "attachment; filename=\"");
	for (const char *s = name; *s; s++)
		buf_add_char(out, isalnum((unsigned char)*s) || strchr(" ._-+,()", *s) ? *s : '_');
	buf_add(out, "\"; filename*=UTF-8''");
	for (const char *s = name; *s; s++)
		if (isalnum((unsigned char)*s) || strchr("._-", *s))
			buf_add_char(out, *s);
		else
			buf_addf(out, "%%%02X", (unsigned char)*s);
}

/* One part: "text", "{x}", "a{x}b". */
static unsigned part_match(const char *pattern, size_t pattern_len, const char *part,
			   size_t part_len, struct path_args *args)
{
	const char *open = memchr(pattern, '{', pattern_len);
	const char *close = open ? memchr(open, '}', pattern_len - (size_t)(open - pattern)) : NULL;
	size_t before, after;

	if (!close)
		return pattern_len == part_len && !memcmp(pattern, part, part_len)
			       ? (unsigned)part_len + 2
			       : 0;
	before = (size_t)(open - pattern);
	after = pattern_len - (size_t)(close + 1 - pattern);
	if (part_len <= before + after || memcmp(pattern, part, before) ||
	    memcmp(close + 1, part + part_len - after, after) || args->count >= HTTP_ARGS_MAX)
		return 0;
	args->items[args->count].s = part + before;
	args->items[args->count++].len = part_len - before - after;
	return (unsigned)(before + after) + 1;
}

unsigned path_match(const char *pattern, const char *path, struct path_args *ret)
{
	unsigned specific = 1;

	ret->count = 0;
	while (*pattern == '/' && *path == '/') {
		size_t pattern_len = strcspn(++pattern, "/"), path_len = strcspn(++path, "/");
		unsigned one;

		if (!pattern_len && !path_len)
			one = 1;
		else
			one = part_match(pattern, pattern_len, path, path_len, ret);
		if (!one)
			return 0;
		specific += one;
		pattern += pattern_len;
		path += path_len;
	}
	return *pattern || *path ? 0 : specific;
}
