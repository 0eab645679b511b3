#include "net/multipart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void multipart_begin(struct multipart *m, const char *boundary,
		     int (*write)(void *ctx, const void *bytes, size_t size, struct err *e),
		     void *ctx)
{
	*m = (struct multipart){.write = write, .ctx = ctx};
	snprintf(m->delimiter, sizeof(m->delimiter), "\r\n--%s", boundary);
	m->delimiter_len = strlen(m->delimiter);
	/* The first one stands at the beginning, without the end of a line before it. */
	buf_add(&m->held, "\r\n");
}

void multipart_release(struct multipart *m)
{
	buf_release(&m->held);
	free(m->file_name);
	m->file_name = NULL;
}

/* The value of filename= in a line, without what could be a directory. */
static char *file_name_of(const char *line)
{
	const char *at = strcasestr(line, "filename=\"");
	struct buf name = {};

	if (!at)
		return NULL;
	for (at += strlen("filename=\""); *at && *at != '"'; at++) {
		if (*at == '\\' && (at[1] == '"' || at[1] == '\\'))
			at++;
		if (*at == '/' || *at == '\\')
			buf_clear(&name);
		else if (name.len < 255)
			buf_add_char(&name, *at);
	}
	return buf_steal(&name);
}

/* @head: lines between "\r\n" and the empty line. */
static int head_read(struct multipart *m, char *head, struct err *e)
{
	char *line, *next = head;

	m->in_file = false;
	while ((line = strsep(&next, "\n"))) {
		char *name;

		if (strncasecmp(line, "content-disposition:", 20))
			continue;
		name = file_name_of(line);
		if (!name)
			continue;
		if (m->files++) {
			free(name);
			return err_set(e, EINVAL,
				       "The form has more than one file: send one at a "
				       "time.");
		}
		m->file_name = name;
		m->in_file = true;
	}
	return 0;
}

static char *rest(const struct multipart *m)
{
	return m->held.s + m->at;
}

static size_t rest_len(const struct multipart *m)
{
	return m->held.len - m->at;
}

static int pass_on(struct multipart *m, size_t count, struct err *e)
{
	int err = 0;

	if (m->in_file && count)
		err = m->write(m->ctx, rest(m), count, e);
	m->at += count;
	return err;
}

/* Once a piece, as it may have many thousand parts. */
static void drop_done(struct multipart *m)
{
	memmove(m->held.s, rest(m), rest_len(m) + 1);
	m->held.len -= m->at;
	m->at = 0;
}

/* Up to the next delimiter, or to where one could begin. *ret_more: go on with the next state. */
static int step_body(struct multipart *m, bool *ret_more, struct err *e)
{
	const char *found = memmem(rest(m), rest_len(m), m->delimiter, m->delimiter_len);
	size_t count = 0;
	int err;

	if (found)
		count = (size_t)(found - rest(m));
	else if (rest_len(m) >= m->delimiter_len)
		count = rest_len(m) - m->delimiter_len + 1;
	err = pass_on(m, count, e);
	*ret_more = found && !err;
	if (found) {
		m->at += m->delimiter_len;
		m->in_file = false;
		m->state = MULTIPART_DELIMITER;
	}
	return err;
}

static int step_delimiter(struct multipart *m, bool *ret_more, struct err *e)
{
	*ret_more = false;
	if (rest_len(m) < 2)
		return 0;
	if (!memcmp(rest(m), "--", 2))
		m->state = MULTIPART_END;
	else if (!memcmp(rest(m), "\r\n", 2))
		m->state = MULTIPART_HEAD;
	else
		return err_set(e, EINVAL,
			       "The form is not well-formed: a delimiter is followed by "
			       "something else than a line.");
	*ret_more = true;
	return 0;
}

static int step_head(struct multipart *m, bool *ret_more, struct err *e)
{
	char *end = memmem(rest(m), rest_len(m), "\r\n\r\n", 4);
	int err;

	*ret_more = false;
	if (!end && rest_len(m) <= MULTIPART_HEAD_BYTES_MAX)
		return 0;
	if (!end || end - rest(m) > MULTIPART_HEAD_BYTES_MAX)
		return err_set(e, EINVAL,
			       "The form is not well-formed: the head of a part is longer "
			       "than %d bytes.",
			       MULTIPART_HEAD_BYTES_MAX);
	*end = '\0';
	err = head_read(m, rest(m), e);
	m->at += (size_t)(end - rest(m)) + 4;
	m->state = MULTIPART_BODY;
	*ret_more = true;
	return err;
}

int multipart_feed(struct multipart *m, const void *bytes, size_t size, struct err *e)
{
	bool more = true;
	int err = 0;

	if (m->state == MULTIPART_END || !size)
		return 0;
	buf_add_mem(&m->held, bytes, size);
	while (more && !err) {
		switch (m->state) {
		case MULTIPART_BEFORE:
		case MULTIPART_BODY:
			err = step_body(m, &more, e);
			break;
		case MULTIPART_DELIMITER:
			err = step_delimiter(m, &more, e);
			break;
		case MULTIPART_HEAD:
			err = step_head(m, &more, e);
			break;
		case MULTIPART_END:
			m->at = m->held.len;
			more = false;
			break;
		}
	}
	drop_done(m);
	return err;
}

int multipart_finish(struct multipart *m, struct err *e)
{
	if (m->state != MULTIPART_END)
		return err_set(e, EINVAL, "The form ends too early.");
	if (!m->files)
		return err_set(e, EINVAL, "The form has no file.");
	return 0;
}
