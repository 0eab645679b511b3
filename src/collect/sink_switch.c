/*
 * A series of files, each complete in itself: a new one begins by size, by time, or when the user
 * asks. While a file is written, it has the name that the user chose; then the time is appended to
 * the name.
 */
#include "collect/sink.h"
#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct switch_sink {
	struct sink sink;
	struct output output;
	uint64_t begun_ns;
	uint64_t bytes_before; /* bytes of complete files */
	strvec files;          /* names of complete files, the oldest first */
};

static int switch_append(struct sink *sink, unsigned lane, const struct ring_view *view,
			 struct err *e)
{
	struct switch_sink *s = (struct switch_sink *)sink;

	/* Closing the last file or opening the next one has failed: nothing more is written. */
	if (!s->output.writer)
		return err_set(
			e, EIO,
			"the next output file could not be opened; nothing more is recorded");
	return writer_append(s->output.lanes[lane], view->first, view->first_bytes, view->second,
			     view->second_bytes, e);
}

static void drop_oldest(struct switch_sink *s)
{
	unsigned max = s->sink.options.switch_max_files;

	while (max && s->files.len > max) {
		unlink(s->files.items[0]);
		free(s->files.items[0]);
		memmove(s->files.items, s->files.items + 1,
			(s->files.len - 1) * sizeof(*s->files.items));
		s->files.len--;
	}
}

/* Closes the file and appends the time to its name. */
static int close_file(struct switch_sink *s, struct err *e)
{
	const struct sink_options *o = &s->sink.options;
	char *name = output_stamped(o->writer.path);
	int r;

	s->bytes_before += writer_bytes(s->output.writer);
	r = output_finish(&s->output, o, NULL, e);
	/* Two files within a hundredth of a second would have the same name. */
	while (!access(name, F_OK)) {
		char *other = xasprintf("%s+", name);

		free(name);
		name = other;
	}
	if (rename(o->writer.path, name) && r == 0)
		r = err_set(e, errno, "cannot rename '%s' to '%s': %s", o->writer.path, name,
			    strerror(errno));
	if (o->written)
		o->written(o->ctx, name);
	vec_push(&s->files, name);
	drop_oldest(s);
	return r;
}

static int switch_now(struct sink *sink, struct err *e)
{
	struct switch_sink *s = (struct switch_sink *)sink;
	int r = s->output.writer ? close_file(s, e) : -EIO;

	s->begun_ns = clock_now_ns();
	if (r == 0)
		r = output_open(&s->output, &sink->options, sink->options.writer.path, NULL, e);
	return r;
}

static int switch_round(struct sink *sink, uint64_t now_ns, struct err *e)
{
	struct switch_sink *s = (struct switch_sink *)sink;
	const struct sink_options *o = &sink->options;
	int r = s->output.writer ? writer_round(s->output.writer, e) : -EIO;

	if (r < 0)
		return r;
	if ((o->switch_bytes && writer_bytes(s->output.writer) >= o->switch_bytes) ||
	    (o->switch_ns && now_ns >= s->begun_ns + o->switch_ns))
		r = switch_now(sink, e);
	return r;
}

static uint64_t switch_bytes(const struct sink *sink)
{
	const struct switch_sink *s = (const struct switch_sink *)sink;

	return s->bytes_before + (s->output.writer ? writer_bytes(s->output.writer) : 0);
}

static int switch_finish(struct sink *sink, struct err *e)
{
	struct switch_sink *s = (struct switch_sink *)sink;
	int r = s->output.writer ? close_file(s, e) : 0;

	strvec_release(&s->files);
	free(s);
	return r;
}

static const struct sink_ops switch_ops = {
	.append = switch_append,
	.round = switch_round,
	.snapshot = switch_now,
	.bytes = switch_bytes,
	.finish = switch_finish,
};

int sink_switch_new(struct sink **ret, const struct sink_options *options, struct err *e)
{
	struct switch_sink *s = xcalloc(1, sizeof(*s));
	int r;

	s->sink = (struct sink){.ops = &switch_ops, .options = *options};
	s->begun_ns = clock_now_ns();
	r = output_open(&s->output, &s->sink.options, options->writer.path, NULL, e);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = &s->sink;
	return 0;
}
