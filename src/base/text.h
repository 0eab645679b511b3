/* Matching and comparing names. */
#ifndef TACHO_BASE_TEXT_H
#define TACHO_BASE_TEXT_H

#include "base/err.h"
#include "base/fs.h"

/* Shell pattern over the whole name, ignoring case. */
bool text_glob(const char *pattern, const char *name);
bool text_is_glob(const char *s);

/* @needle somewhere in @haystack, ignoring case; NULL haystack never matches. */
bool text_contains(const char *haystack, const char *needle);

/* How many single-letter edits apart two names are, ignoring case; stops counting at @limit. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* Collects the names nearest to a mistyped one, the nearest first. */
struct suggest {
	const char *wanted;
	char *names[3];
	unsigned distances[3];
	size_t count;
};

void suggest_offer(struct suggest *s, const char *name);
/* Appends "; did you mean 'a', 'b' or 'c'?", or nothing. */
void suggest_sentence(const struct suggest *s, struct buf *out);
void suggest_release(struct suggest *s);

/* Columns that UTF-8 text takes on a terminal, one a code point. */
size_t text_columns(const char *s);

/* Splits @s at any of @separators, empty pieces left out. */
void text_split(const char *s, const char *separators, strvec *ret_pieces);

/* Value of the first line "key : value", the form of /proc/cpuinfo and /proc/PID/status. */
bool text_field(const char *text, const char *key, char *value, size_t size);

/* Length of the valid UTF-8 sequence at @s, 0 if there is none. */
size_t text_utf8_len(const unsigned char *s);

/* Copies @s with controls and what is not UTF-8 replaced by '?', for printing what came from outside. */
void text_add_printable(struct buf *out, const char *s);

/*
 * For parsers: sets an error of @sentence, below it a line of @text (only a part of it if long), and a
 * mark under character @at of it. Returns -EINVAL.
 */
int text_error(struct err *e, const char *text, const char *at, const char *sentence);

/* Copies @s as text of HTML, also within "". */
void text_add_html(struct buf *out, const char *s);

#endif
