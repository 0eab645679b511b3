#include "perfdata/reader.h"
#include "base/clock.h"
#include "perfdata/inflate.h"
#include "perfdata/user_records.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PROGRESS_NS (100 * NS_PER_MSEC)

static void on_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	struct perfdata *p = ctx;

	if (!user_record(p, bytes, file_offset, ret_skip))
		p->stream.stopped = true;
	if (p->visitor->user)
		p->visitor->user(p->ctx, bytes, file_offset, ret_skip);
}

static void on_follow(void *ctx, const unsigned char *bytes, size_t size)
{
	struct perfdata *p = ctx;

	user_follow(p, bytes, size);
	if (p->visitor->follow)
		p->visitor->follow(p->ctx, bytes, size);
}

static bool on_record(void *ctx, const struct stream_record *record)
{
	struct perfdata *p = ctx;

	if (p->named < p->stream.events.len)
		perfdata_name_events(p);
	return p->visitor->record(p->ctx, record);
}

static bool on_sample(void *ctx, const struct perf_event_header *header, uint64_t file_offset)
{
	struct perfdata *p = ctx;

	return p->visitor->sample(p->ctx, header, file_offset);
}

static void show_progress(struct perfdata *p, uint64_t *next_ns)
{
	uint64_t now, done = 0, total = 0;

	if (!p->options.progress)
		return;
	now = clock_now_ns();
	if (now < *next_ns)
		return;
	vec_each(&p->parts, part) {
		done += part->done;
		total += part->size == UINT64_MAX ? 0 : part->size;
	}
	if (*next_ns)
		p->options.progress(p->options.ctx, done, total);
	*next_ns = now + PROGRESS_NS;
}

/* What follows the record of a trace may be gigabytes that nobody wants. */
static void pass_over(const struct perfdata *p, struct part *part)
{
	uint64_t count = part->size - part->done;

	if (part->size == UINT64_MAX || p->visitor->follow || p->gathered.wanted ||
	    part->feed.skip < BLOCK_BYTES)
		return;
	if (count > part->feed.skip)
		count = part->feed.skip;
	if (!count || lseek(part->fd, (off_t)count, SEEK_CUR) < 0)
		return;
	feed_pass_over(&part->feed, count);
	part->done += count;
}

/* What the end of the bytes says about the file. */
static void note_end(struct perfdata *p, const struct part *part)
{
	uint64_t end = part->feed.file_offset;

	if (part == p->parts.items && p->missing_bytes)
		stream_damage(&p->stream, end,
			      "the file is cut short: %llu bytes of its records and all that stood "
			      "behind them are missing",
			      (unsigned long long)p->missing_bytes);
	else if (feed_left(&part->feed) || part->feed.skip)
		stream_damage(&p->stream, end - feed_left(&part->feed),
			      "the records end in the middle of one");
	else if (part->size != UINT64_MAX && part->done < part->size)
		stream_damage(&p->stream, end,
			      "the file has become shorter while it was read: %llu bytes of its "
			      "records are missing",
			      (unsigned long long)(part->size - part->done));
	if (part->inflate)
		inflate_end(part->inflate);
}

static int read_error(const struct perfdata *p, struct err *e)
{
	const struct stream *s = &p->stream;
	const struct damage *first = s->damages.items;

	if (!s->damage_count)
		return 0;
	return err_set(e, EBADMSG, "%s: at offset %llu: %s%s", p->path,
		       (unsigned long long)first->offset, first->text,
		       s->damage_count > 1 ? " (and more; tacho info shows all)" : "");
}

static int open_parts(struct perfdata *p, struct err *e)
{
	struct part first = {
		.fd = p->fd,
		.size = p->seekable ? p->data_size : UINT64_MAX,
		.feed = {.stream = &p->stream, .file_offset = p->data_offset},
	};

	vec_push(&p->parts, first);
	if (p->directory) {
		/* Rounds of one part say nothing of the others. */
		p->stream.order.whole = true;
		return parts_open_directory(&p->parts, &p->stream, p->directory, e);
	}
	if (p->seekable)
		posix_fadvise(p->fd, (off_t)p->data_offset, (off_t)p->data_size,
			      POSIX_FADV_SEQUENTIAL);
	return 0;
}

int perfdata_read(struct perfdata *p, const struct stream_visitor *visitor, void *ctx,
		  struct err *e)
{
	static const struct stream_visitor all = {
		.record = on_record, .user = on_user, .follow = on_follow};
	static const struct stream_visitor apart = {
		.record = on_record, .user = on_user, .follow = on_follow, .sample = on_sample};
	uint64_t next_ns = 0;
	int r = open_parts(p, e), error = 0;

	if (r < 0)
		return r;
	p->visitor = visitor;
	p->ctx = ctx;
	p->stream.visitor = visitor->sample ? &apart : &all;
	p->stream.ctx = p;
	if (p->seekable && lseek(p->fd, (off_t)p->data_offset, SEEK_SET) < 0)
		error = -errno;
	while (!error && parts_read(&p->parts, &p->current, &error)) {
		pass_over(p, p->current);
		show_progress(p, &next_ns);
	}
	if (!error && !p->stream.stopped)
		vec_each(&p->parts, part)
			note_end(p, part);
	stream_end(&p->stream);
	perfdata_name_events(p);
	if (error)
		return err_set(e, -error, "cannot read %s: %s", p->path, strerror(-error));
	return p->stream.enough ? 0 : read_error(p, e);
}

bool perfdata_is_compressed(const struct perfdata *p)
{
	return p->stream.counts[USER_COMPRESSED] || p->stream.counts[USER_COMPRESSED2];
}

uint64_t perfdata_bytes(const struct perfdata *p)
{
	uint64_t bytes = p->file_size;

	/* The first part is that of the header. */
	for (size_t i = 1; i < p->parts.len; i++)
		bytes += p->parts.items[i].size;
	return bytes;
}
