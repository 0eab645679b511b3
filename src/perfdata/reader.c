#include "perfdata/reader.h"
#include "base/io.h"
#include "perfdata/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Sections are small; tracing data of all tracepoints comes to some megabytes. The limits are for
 * all together, because sections may lie over each other.
 */
#define SECTIONS_BYTES_MAX (64u << 20)
#define ATTRS_BYTES_MAX    (64u << 20)
#define IDS_BYTES_MAX      (8ull * STREAM_IDS_MAX)

/* ---- bytes of the file ---- */

/* A part of the file as a cursor in its byte order; the caller frees *ret_bytes. */
static bool load_part(const struct perfdata *p, struct perfdata_section part, size_t limit,
		      struct cursor *ret, void **ret_bytes)
{
	unsigned char *bytes;
	size_t done = 0;

	if (part.offset > p->file_size || part.size > p->file_size - part.offset)
		return false;
	bytes = part.size <= limit ? alloc_checked(part.size + 1, 1, limit + 1) : NULL;
	if (!bytes)
		return false;
	while (done < part.size) {
		ssize_t n =
			pread(p->fd, bytes + done, part.size - done, (off_t)(part.offset + done));

		if (n <= 0) {
			free(bytes);
			return false;
		}
		done += (size_t)n;
	}
	*ret = cursor_of(bytes, part.size);
	ret->swap = p->stream.swap;
	*ret_bytes = bytes;
	return true;
}

static struct perfdata_section take_section(struct cursor *c)
{
	struct perfdata_section section = {.offset = cursor_u64(c)};

	section.size = cursor_u64(c);
	return section;
}

/* ---- events ---- */

static bool add_ids(struct perfdata *p, uint32_t event, struct cursor *ids)
{
	while (ids->size - ids->at >= 8)
		if (!stream_add_id(&p->stream, event, cursor_u64(ids)))
			return false;
	return true;
}

/* The ids of one event; @left: what may still be read of ids in this file. */
static bool read_ids(struct perfdata *p, uint32_t event, struct perfdata_section at, uint64_t *left)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	struct cursor ids;

	if (at.size > *left || !load_part(p, at, *left, &ids, &bytes))
		return false;
	*left -= at.size;
	return add_ids(p, event, &ids);
}

static int read_attrs(struct perfdata *p, struct perfdata_section attrs, uint64_t entry_size,
		      struct err *e)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	uint64_t ids_left = IDS_BYTES_MAX;
	struct cursor c;

	if (entry_size < PERF_ATTR_SIZE_VER0 + 16 || entry_size > 4096)
		return err_set(e, EBADMSG,
			       "%s: the header says that an event's entry has %llu bytes, which "
			       "cannot be",
			       p->path, (unsigned long long)entry_size);
	if (!load_part(p, attrs, ATTRS_BYTES_MAX, &c, &bytes))
		return err_set(e, EBADMSG,
			       "%s: the events should stand at offset %llu (%llu bytes), outside "
			       "of the file",
			       p->path, (unsigned long long)attrs.offset,
			       (unsigned long long)attrs.size);
	while (c.size - c.at >= entry_size) {
		uint64_t at = attrs.offset + c.at;
		struct perf_event_attr attr;
		struct perfdata_section ids;
		uint32_t event;

		if (!attr_read(&c, entry_size - 16, &attr))
			return err_set(e, EBADMSG, "%s: the event at offset %llu is not valid",
				       p->path, (unsigned long long)at);
		ids = take_section(&c);
		if (!stream_add_event(&p->stream, &attr, &event))
			return err_set(e, EBADMSG, "%s: more than %u events", p->path,
				       STREAM_EVENTS_MAX);
		if (!read_ids(p, event, ids, &ids_left))
			stream_damage(&p->stream, at,
				      "the ids of event %u lie outside of the file or are too many",
				      event);
	}
	return 0;
}

static void read_features(struct perfdata *p, const uint64_t *bits)
{
	struct perfdata_section at = {p->data_offset + p->data_size, 16};
	size_t left = SECTIONS_BYTES_MAX;

	for (unsigned f = 0; f < 256; f++) {
		CLEANUP(free_ptr) void *table = NULL, *bytes = NULL;
		struct perfdata_section section;
		struct cursor c;

		if (!(bits[f / 64] >> (f % 64) & 1))
			continue;
		if (!load_part(p, at, 16, &c, &table)) {
			stream_damage(&p->stream, at.offset,
				      "the file ends in its table of header sections");
			return;
		}
		section = take_section(&c);
		at.offset += 16;
		if (f >= FEATURE_END)
			continue;
		if (!load_part(p, section, left, &c, &bytes)) {
			stream_damage(&p->stream, section.offset,
				      "the %s section of the header (%llu bytes) lies outside of "
				      "the file or is too large",
				      feature_name(f), (unsigned long long)section.size);
			continue;
		}
		left -= section.size;
		p->features.present |= 1ull << f;
		buf_add_mem(&p->features.sections[f], c.data, c.size);
		facts_add(&p->facts, &p->stream, f, c, section.offset);
	}
}

/* ---- the header ---- */

/* An event that nothing has named by the time of its first record is called by its attr. */
void perfdata_name_events(struct perfdata *p)
{
	for (; p->named < p->stream.events.len; p->named++) {
		struct stream_event *event = &p->stream.events.items[p->named];
		struct buf name = {};

		if (event->name)
			continue;
		attr_name(&event->attr, &name);
		event->name = buf_steal(&name);
	}
}

static int not_perfdata(const struct perfdata *p, struct err *e)
{
	return err_set(e, EBADMSG, "%s is not perf.data: it does not begin with \"PERFILE2\"",
		       p->path);
}

/*
 * The bits stand in words as long as those of the machine that wrote them. Every tool writes the
 * host's name: if that bit is not where it should be, the words were of 32 bits.
 */
static void turn_bits(const struct perfdata *p, uint64_t *bits)
{
	if (!p->stream.swap || bits[0] >> FEATURE_HOSTNAME & 1)
		return;
	for (size_t i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

static int read_file_header(struct perfdata *p, uint64_t header_size, struct err *e)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	struct perfdata_section all = {0, sizeof(struct perfdata_file_header)}, attrs, data;
	uint64_t attr_size, bits[4];
	struct cursor c;
	int r;

	/* The first files had no features. */
	if (header_size < sizeof(struct perfdata_file_header))
		all.size = offsetof(struct perfdata_file_header, features);
	if (header_size < all.size ||
	    !load_part(p, all, sizeof(struct perfdata_file_header), &c, &bytes))
		return err_set(e, EBADMSG, "%s: the file ends in its header", p->path);
	cursor_skip(&c, 16);
	attr_size = cursor_u64(&c);
	attrs = take_section(&c);
	data = take_section(&c);
	take_section(
		&c); /* event types: only in the oldest files, and names of attrs say as much */
	for (size_t i = 0; i < 4; i++)
		bits[i] = c.at < c.size ? cursor_u64(&c) : 0;
	turn_bits(p, bits);
	r = read_attrs(p, attrs, attr_size, e);
	if (r < 0)
		return r;
	p->data_offset = data.offset;
	p->data_size = data.size;
	if (!data.size && p->file_size > data.offset) {
		/* The recorder was cut off: the size is written at the end. */
		p->cut_off = true;
		p->data_size = p->file_size - data.offset;
		return 0;
	}
	if (data.offset > p->file_size) {
		stream_damage(&p->stream, data.offset,
			      "the records should begin here, but the "
			      "file ends at %llu",
			      (unsigned long long)p->file_size);
		p->data_offset = p->file_size;
		p->data_size = 0;
		return 0;
	}
	if (data.size > p->file_size - data.offset) {
		p->missing_bytes = data.size - (p->file_size - data.offset);
		p->data_size = p->file_size - data.offset;
		return 0;
	}
	read_features(p, bits);
	return 0;
}

static int read_header(struct perfdata *p, struct err *e)
{
	uint64_t head[2];
	ssize_t n = io_read(p->fd, head, sizeof(head));

	if (n < 0)
		return err_set(e, (int)-n, "cannot read %s: %s", p->path, strerror((int)-n));
	if (n < (ssize_t)sizeof(head))
		return err_set(e, EBADMSG, "%s %s", p->path,
			       n ? "is not perf.data: it is shorter than a header" : "is empty");
	if (head[0] == PERFDATA_MAGIC_SWAPPED)
		p->stream.swap = true;
	else if (head[0] != PERFDATA_MAGIC)
		return not_perfdata(p, e);
	if (p->stream.swap)
		head[1] = __builtin_bswap64(head[1]);
	p->pipe = head[1] == sizeof(struct perfdata_pipe_header);
	if (p->pipe) {
		p->data_offset = sizeof(struct perfdata_pipe_header);
		p->data_size = p->file_size > p->data_offset ? p->file_size - p->data_offset : 0;
		return 0;
	}
	if (!p->seekable)
		return err_set(
			e, ESPIPE,
			"%s is perf.data in file form, which cannot be read from a pipe (its "
			"header points to its end); give the file itself",
			p->path);
	return read_file_header(p, head[1], e);
}

/* A directory is what perf record --threads makes: the header stands in its file "data". */
static int open_input(struct perfdata *p, const char *path, struct stat *ret_stat, struct err *e)
{
	p->fd = !strcmp(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (p->fd < 0)
		return err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(p->fd, ret_stat))
		return err_set(e, errno, "cannot read '%s': %s", path, strerror(errno));
	if (S_ISDIR(ret_stat->st_mode)) {
		CLEANUP(free_ptr) char *file = xasprintf("%s/data", path);

		close(p->fd);
		p->directory = xstrdup(path);
		p->fd = open(file, O_RDONLY | O_CLOEXEC);
		if (p->fd < 0 || fstat(p->fd, ret_stat))
			return err_set(e, EISDIR,
				       "'%s' is a directory, but not a recording: it has no file "
				       "'data'",
				       path);
	}
	return 0;
}

static struct perfdata *new_perfdata(const char *name, const struct perfdata_options *options)
{
	struct perfdata *p = xcalloc(1, sizeof(*p));

	p->fd = -1;
	p->path = xstrdup(name);
	if (options)
		p->options = *options;
	p->stream.unordered = p->options.unordered;
	p->stream.order.whole = p->options.whole;
	return p;
}

/* The header of what was opened; @r: what opening has said. */
static int begin_reading(struct perfdata *p, int r, struct perfdata **ret, struct err *e)
{
	if (r == 0)
		r = read_header(p, e);
	if (r < 0) {
		perfdata_close(p);
		return r;
	}
	perfdata_name_events(p);
	p->header_damages = p->stream.damage_count;
	*ret = p;
	return 0;
}

int perfdata_open(struct perfdata **ret, const char *path, const struct perfdata_options *options,
		  struct err *e)
{
	struct perfdata *p = new_perfdata(!strcmp(path, "-") ? "standard input" : path, options);
	struct stat st = {};
	int r = open_input(p, path, &st, e);

	p->seekable = r == 0 && S_ISREG(st.st_mode);
	p->file_size = p->seekable ? (uint64_t)st.st_size : 0;
	return begin_reading(p, r, ret, e);
}

int perfdata_open_fd(struct perfdata **ret, int fd, const char *name,
		     const struct perfdata_options *options, struct err *e)
{
	struct perfdata *p = new_perfdata(name, options);

	p->fd = fd;
	return begin_reading(p, 0, ret, e);
}

void perfdata_rewind(struct perfdata *p)
{
	struct stream *s = &p->stream;

	parts_release(&p->parts);
	p->current = NULL;
	stream_rewind(s);
	s->damage_count = p->header_damages;
	if (s->damages.len > p->header_damages)
		s->damages.len = p->header_damages;
	s->unordered = p->options.unordered;
	s->order.whole = p->options.whole;
}

void perfdata_close(struct perfdata *p)
{
	if (!p)
		return;
	parts_release(&p->parts);
	stream_release(&p->stream);
	feature_set_release(&p->features);
	facts_release(&p->facts);
	if (p->fd >= 0)
		close(p->fd);
	buf_release(&p->gathered.bytes);
	free(p->path);
	free(p->directory);
	free(p);
}

const char *perfdata_event_name(const struct stream_event *event)
{
	return event && event->name ? event->name : "unknown";
}
