/* Words of a command line as a shell splits them, and back; nothing is expanded. */
#include "collect/run/plan.h"

#include <errno.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether a character needs no quotes. All others are quoted, whatever a shell makes of them. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_-./=:,+@%^", c));
}

/* Takes the text after an opening single quote. Returns the position after the closing one, or NULL
 * if there is none. */
static const char *single_quoted(const char *at, struct buf *word)
{
	const char *end = strchr(at, '\'');

	if (!end)
		return NULL;
	buf_add_mem(word, at, (size_t)(end - at));
	return end + 1;
}

/* The same for a double quote. A backslash escapes only characters that are special there. */
static const char *double_quoted(const char *at, struct buf *word)
{
	for (; *at && *at != '"'; at++) {
		if (*at == '\\' && at[1] == '\n') {
			at++;
			continue;
		}
		if (*at == '\\' && at[1] && strchr("$`\"\\", at[1]))
			at++;
		buf_add_char(word, *at);
	}
	return *at ? at + 1 : NULL;
}

/* Takes the word at @at, which is not blank. Returns the position after it, or NULL with @e set. */
static const char *take_word(const char *at, struct buf *word, struct err *e)
{
	while (*at && !is_blank(*at)) {
		char c = *at++;

		if (c == '\'' || c == '"') {
			at = c == '"' ? double_quoted(at, word) : single_quoted(at, word);
			if (!at) {
				err_set(e, EINVAL, "the command has a %s quote that is not closed",
					c == '"' ? "double" : "single");
				return NULL;
			}
		} else if (c == '\\') {
			if (!*at) {
				err_set(e, EINVAL, "the command ends with a backslash");
				return NULL;
			}
			if (*at != '\n')
				buf_add_char(word, *at);
			at++;
		} else {
			buf_add_char(word, c);
		}
	}
	return at;
}

int words_split(const char *text, strvec *ret, struct err *e)
{
	strvec words = {};

	for (const char *at = text;;) {
		struct buf word = {};

		while (is_blank(*at) || (*at == '\\' && at[1] == '\n'))
			at += *at == '\\' ? 2 : 1;
		if (!*at)
			break;
		at = take_word(at, &word, e);
		if (!at) {
			buf_release(&word);
			strvec_release(&words);
			return -EINVAL;
		}
		vec_push(&words, word.s ? buf_steal(&word) : xstrdup(""));
	}
	vec_each(&words, word)
		vec_push(ret, *word);
	vec_release(&words);
	return 0;
}

void words_join(char *const *words, size_t count, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const char *word = words[i];
		bool plain = *word;

		for (const char *c = word; *c; c++)
			plain &= is_plain(*c);
		if (i)
			buf_add_char(out, ' ');
		if (plain) {
			buf_add(out, word);
			continue;
		}
		buf_add_char(out, '\'');
		for (const char *c = word; *c; c++)
			if (*c == '\'')
				buf_add(out, "'\\''");
			else
				buf_add_char(out, *c);
		buf_add_char(out, '\'');
	}
}
