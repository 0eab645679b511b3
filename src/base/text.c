#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool text_glob(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
}

bool text_is_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

bool text_contains(const char *haystack, const char *needle)
{
	return haystack && strcasestr(haystack, needle);
}

#define DISTANCE_LEN_MAX 128

unsigned text_distance(const char *a, const char *b, unsigned limit)
{
	size_t a_len = strlen(a), b_len = strlen(b);
	unsigned row[DISTANCE_LEN_MAX + 1];
	size_t gap = a_len > b_len ? a_len - b_len : b_len - a_len;

	if (a_len > DISTANCE_LEN_MAX || b_len > DISTANCE_LEN_MAX || gap >= limit)
		return limit;
	for (unsigned j = 0; j <= b_len; j++)
		row[j] = j;
	for (unsigned i = 1; i <= a_len; i++) {
		unsigned diagonal = row[0], lowest = i;

		row[0] = i;
		for (unsigned j = 1; j <= b_len; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned best = diagonal + !same;

			diagonal = row[j];
			best = best < row[j] + 1 ? best : row[j] + 1;
			best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
			row[j] = best;
			lowest = lowest < best ? lowest : best;
		}
		if (lowest >= limit)
			return limit;
	}
	return row[b_len] < limit ? row[b_len] : limit;
}

void suggest_offer(struct suggest *s, const char *name)
{
	size_t len = strlen(s->wanted), shorter = strlen(name) < len ? strlen(name) : len, at;
	/* Two changes make any short word of any other. */
	unsigned limit = shorter < 4 ? 2 : (unsigned)len / 3 + 2, distance;

	if (s->count == ARRAY_LEN(s->names) && s->distances[s->count - 1] < limit)
		limit = s->distances[s->count - 1];
	distance = text_distance(s->wanted, name, limit);
	if (distance >= limit)
		return;
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->names[i], name))
			return;
	if (s->count == ARRAY_LEN(s->names))
		free(s->names[--s->count]);
	for (at = s->count; at && s->distances[at - 1] > distance; at--) {
		s->names[at] = s->names[at - 1];
		s->distances[at] = s->distances[at - 1];
	}
	s->names[at] = xstrdup(name);
	s->distances[at] = distance;
	s->count++;
}

void suggest_sentence(const struct suggest *s, struct buf *out)
{
	for (size_t i = 0; i < s->count; i++)
		buf_addf(out, "%s'%s'",
			 !i                  ? "; did you mean "
			 : i + 1 == s->count ? " or "
					     : ", ",
			 s->names[i]);
	if (s->count)
		buf_add_char(out, '?');
}

void suggest_release(struct suggest *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->names[i]);
	s->count = 0;
}

size_t text_columns(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

void text_split(const char *s, const char *separators, strvec *ret_pieces)
{
	while (*s) {
		size_t len = strcspn(s, separators);

		if (len)
			vec_push(ret_pieces, xstrndup(s, len));
		s += len + (s[len] != '\0');
	}
}

size_t text_utf8_len(const unsigned char *s)
{
	size_t len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

void text_add_printable(struct buf *out, const char *s)
{
	while (*s) {
		const unsigned char *c = (const unsigned char *)s;
		size_t len = text_utf8_len(c);
		/* U+0080 to U+009F are controls too: some terminals take U+009B for an escape. */
		bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;

		if (!len || c[0] < 0x20 || c[0] == 0x7f || c1)
			buf_add_char(out, '?');
		else
			buf_add_mem(out, s, len);
		s += len ? len : 1;
	}
}

#define CONTEXT_COLUMNS    72
#define SENTENCE_BYTES_MAX 600

static void add_mark(struct buf *out, const char *text, size_t at)
{
	size_t len = strlen(text), from = 0, to = len;
	CLEANUP(free_ptr) char *left = NULL;
	CLEANUP(free_ptr) char *right = NULL;
	CLEANUP(buf_release) struct buf shown = {};

	if (len > CONTEXT_COLUMNS) {
		from = at > CONTEXT_COLUMNS / 2 ? at - CONTEXT_COLUMNS / 2 : 0;
		to = from + CONTEXT_COLUMNS < len ? from + CONTEXT_COLUMNS : len;
	}
	left = xstrndup(text + from, at - from);
	right = xstrndup(text + at, to - at);
	text_add_printable(&shown, left);
	buf_addf(out, "\n  %s", buf_str(&shown));
	text_add_printable(out, right);
	buf_add(out, "\n  ");
	/* Pad by the columns that were printed, not by bytes. */
	buf_pad(out, text_columns(buf_str(&shown)), ' ');
	buf_add_char(out, '^');
}

int text_error(struct err *e, const char *text, const char *at, const char *sentence)
{
	CLEANUP(buf_release) struct buf shown = {};

	text_add_printable(&shown, sentence);
	if (shown.len > SENTENCE_BYTES_MAX) {
		shown.s[SENTENCE_BYTES_MAX] = '\0';
		shown.len = SENTENCE_BYTES_MAX;
		buf_add(&shown, "…");
	}
	add_mark(&shown, text, (size_t)(at - text));
	return err_set(e, EINVAL, "%s", buf_str(&shown));
}

bool text_field(const char *text, const char *key, char *value, size_t size)
{
	size_t key_len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *colon;

		line += *line == '\n';
		if (strncmp(line, key, key_len))
			continue;
		colon = line + key_len + strspn(line + key_len, " \t");
		if (*colon != ':')
			continue;
		colon += 1 + strspn(colon + 1, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(colon, "\n"), colon);
		return true;
	}
	return false;
}

void text_add_html(struct buf *out, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '&':
			buf_add(out, "&amp;");
			break;
		case '<':
			buf_add(out, "&lt;");
			break;
		case '>':
			buf_add(out, "&gt;");
			break;
		case '"':
			buf_add(out, "&quot;");
			break;
		default:
			buf_add_char(out, *s);
		}
}
