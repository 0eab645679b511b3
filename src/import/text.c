#include "import/text.h"
#include "base/io.h"
#include "import/folded.h"
#include "import/perf_script.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES     (256u << 10)
#define PROGRESS_BYTES (16u << 20)
#define DETECT_BYTES   (64u << 10)

void text_import_bad_line(struct text_import *t)
{
	if (!t->bad_lines++)
		t->first_bad_line = t->lines;
}

const struct text_format *text_detect(const char *text, size_t len)
{
	if (len > DETECT_BYTES)
		len = DETECT_BYTES;
	if (memchr(text, '\0', len))
		return NULL;
	if (perf_script_detect(text, len))
		return &text_perf_script;
	return folded_detect(text, len) ? &text_folded : NULL;
}

static void one_line(struct text_import *t, const char *line, size_t len)
{
	t->lines++;
	if (len && line[len - 1] == '\r')
		len--;
	t->format->line(t, line, len);
}

static int choose_format(struct text_import *t, const char *bytes, size_t len, struct err *e)
{
	t->format = text_detect(bytes, len);
	if (t->format)
		return 0;
	return err_set(e, EINVAL, "is neither perf.data nor folded stacks nor text of perf script");
}

/* The part of a line that came with the last piece, and the one that comes now. */
static size_t finish_line(struct text_import *t, const char *bytes, size_t len)
{
	const char *end = memchr(bytes, '\n', len);
	size_t part = end ? (size_t)(end - bytes) : len;

	if (!t->skipping && t->rest.len + part <= TEXT_LINE_MAX)
		buf_add_mem(&t->rest, bytes, part);
	else
		t->skipping = true;
	if (!end)
		return len;
	if (t->skipping) {
		t->lines++;
		text_import_bad_line(t);
	} else {
		one_line(t, buf_str(&t->rest), t->rest.len);
	}
	t->skipping = false;
	buf_clear(&t->rest);
	return part + 1;
}

int text_import_feed(struct text_import *t, const char *bytes, size_t len, struct err *e)
{
	const char *at = bytes, *end = bytes + len, *stop;

	if (len && !t->format) {
		int r = choose_format(t, bytes, len, e);

		if (r < 0)
			return r;
	}
	if (len && (t->rest.len || t->skipping))
		at += finish_line(t, at, len);
	while (at < end && (stop = memchr(at, '\n', (size_t)(end - at)))) {
		one_line(t, at, (size_t)(stop - at));
		at = stop + 1;
	}
	if (at < end)
		finish_line(t, at, (size_t)(end - at));
	return 0;
}

static void choose_main_event(struct text_import *t)
{
	const struct profile *p = t->profile;

	for (size_t i = 0; i < t->seen.len; i++)
		if (t->want_event &&
		    !t->want_event(t->want_ctx, profile_text(p, p->events.items[i].name)))
			t->seen.items[i] = 0;
	t->main_event = events_busiest(t->seen.items, t->seen.len);
	vec_release(&t->seen);
}

void text_import_end(struct text_import *t)
{
	if (t->format && t->rest.len && !t->skipping)
		one_line(t, buf_str(&t->rest), t->rest.len);
	if (t->skipping) {
		t->lines++;
		text_import_bad_line(t);
	}
	if (t->format) {
		t->format->end(t);
		t->format->release(t);
		/* Who asks for call trees next needs this memory, and looks nothing up. */
		profile_drop_index(t->profile);
		if (!t->no_frames)
			profile_make_frames(t->profile);
	}
	choose_main_event(t);
	buf_release(&t->rest);
	t->skipping = false;
}

int text_import_fd(struct text_import *t, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *block = xcalloc(1, READ_BYTES);
	uint64_t done = 0, told = 0;
	ssize_t n;
	int r = 0;

	/* Whole blocks: a pipe gives little at a time, and the format is to be seen. */
	while ((n = io_read(fd, block, READ_BYTES)) > 0) {
		r = text_import_feed(t, block, (size_t)n, e);
		if (r < 0)
			break;
		done += (uint64_t)n;
		if (t->progress && done - told >= PROGRESS_BYTES) {
			t->progress(t->progress_ctx, done, 0);
			told = done;
		}
	}
	text_import_end(t);
	if (n < 0)
		return err_set(e, (int)-n, "cannot be read: %s", strerror((int)-n));
	if (!r && !t->format)
		return err_set(e, ENODATA, "is empty");
	return r;
}
