#include "perfdata/writer_internal.h"

#include <errno.h>
#include <string.h>

#define NAME_BYTES_MAX 4096

/* Sections whose contents are places in a file, or which have records of their own. */
#define NOT_AS_RECORD                                                                              \
	(1ull << FEATURE_TRACING_DATA | 1ull << FEATURE_BUILD_ID | 1ull << FEATURE_AUXTRACE |      \
	 1ull << FEATURE_DIR_FORMAT)

static size_t begin_record(struct buf *b, uint32_t type)
{
	struct perf_event_header header = {.type = type};

	buf_add_mem(b, &header, sizeof(header));
	return b->len - sizeof(header);
}

/* Fills up to eight bytes and sets the size; a record that is too long is taken out again. */
static bool end_record(struct buf *b, size_t start)
{
	size_t size;

	buf_pad(b, -(b->len - start) & 7, '\0');
	size = b->len - start;
	if (size > RECORD_BYTES_MAX) {
		b->len = start;
		return false;
	}
	((struct perf_event_header *)(b->s + start))->size = (uint16_t)size;
	return true;
}

static int put_buf(struct writer *w, const struct buf *b, struct err *e)
{
	struct iovec iov = {b->s, b->len};

	return b->len ? writer_put(w, &iov, 1, e) : 0;
}

static void add_feature(struct buf *b, enum feature feature, const void *bytes, size_t size)
{
	size_t start = begin_record(b, USER_HEADER_FEATURE);

	feature_add_u64(b, feature);
	buf_add_mem(b, bytes, size);
	end_record(b, start);
}

static void add_name(struct buf *b, const struct writer_event *event)
{
	size_t start = begin_record(b, USER_EVENT_UPDATE);

	feature_add_u64(b, UPDATE_NAME);
	feature_add_u64(b, event->id_count ? event->ids[0] : 0);
	buf_add_mem(b, event->name, strnlen(event->name, NAME_BYTES_MAX));
	buf_add_char(b, '\0');
	end_record(b, start);
}

static void add_unit(struct buf *b, const struct writer_event *event)
{
	size_t start = begin_record(b, USER_EVENT_UPDATE);

	feature_add_u64(b, UPDATE_UNIT);
	feature_add_u64(b, event->ids[0]);
	buf_add_mem(b, event->unit, strnlen(event->unit, NAME_BYTES_MAX));
	buf_add_char(b, '\0');
	end_record(b, start);
	start = begin_record(b, USER_EVENT_UPDATE);
	feature_add_u64(b, UPDATE_SCALE);
	feature_add_u64(b, event->ids[0]);
	buf_add_mem(b, &event->scale, sizeof(event->scale));
	end_record(b, start);
}

int writer_put_preamble(struct writer *w, struct err *e)
{
	CLEANUP(buf_release) struct buf b = {};

	if (w->options.zstd_level) {
		struct perfdata_compressed how = writer_compression(w);

		add_feature(&b, FEATURE_COMPRESSED, &how, sizeof(how));
	}
	for (size_t i = 0; i < w->options.event_count; i++) {
		const struct writer_event *event = &w->options.events[i];

		/* Without ids there is only one event that the name could be for. */
		if (event->name && (event->id_count || w->options.event_count == 1))
			add_name(&b, event);
		if (event->unit && event->id_count)
			add_unit(&b, event);
	}
	return put_buf(w, &b, e);
}

static int put_attrs(struct writer *w, struct err *e)
{
	CLEANUP(buf_release) struct buf b = {};

	for (size_t i = 0; i < w->options.event_count; i++) {
		const struct writer_event *event = &w->options.events[i];
		struct perf_event_attr attr = event->attr;
		size_t start = begin_record(&b, USER_HEADER_ATTR);

		attr.size = sizeof(attr);
		buf_add_mem(&b, &attr, sizeof(attr));
		buf_add_mem(&b, event->ids, event->id_count * sizeof(*event->ids));
		if (!end_record(&b, start))
			return err_set(
				e, E2BIG,
				"cannot write to '%s': event '%s' has %zu counters, too many "
				"for a pipe; write to a file",
				w->path, event->name ? event->name : "?", event->id_count);
	}
	return put_buf(w, &b, e);
}

/* Entries of the section are records already, except that their type is not set. */
static void add_build_ids(struct buf *b, const struct buf *section)
{
	size_t at = 0;

	while (section->len - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		memcpy(&header, section->s + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > section->len - at)
			break;
		header.type = USER_BUILD_ID;
		buf_add_mem(b, &header, sizeof(header));
		buf_add_mem(b, section->s + at + sizeof(header), header.size - sizeof(header));
		at += header.size;
	}
}

/* The one record whose size does not tell all: as many bytes as it names follow. */
static void add_tracing_data(struct buf *b, const struct buf *section)
{
	struct perf_event_header header = {.type = USER_TRACING_DATA};
	uint32_t padded = ((uint32_t)section->len + 7) & ~7u;

	header.size = sizeof(header) + sizeof(padded);
	buf_add_mem(b, &header, sizeof(header));
	feature_add_u32(b, padded);
	buf_add_mem(b, section->s, section->len);
	buf_pad(b, padded - section->len, '\0');
}

int writer_put_pipe_start(struct writer *w, struct err *e)
{
	struct perfdata_pipe_header header = {PERFDATA_MAGIC, sizeof(header)};
	const struct feature_set *set = w->options.features;
	CLEANUP(buf_release) struct buf b = {};
	struct iovec iov = {&header, sizeof(header)};
	int r = writer_put(w, &iov, 1, e);

	if (r == 0)
		r = put_attrs(w, e);
	/* Names before the features: EVENT_DESC and others refer to what is there already. */
	if (r == 0)
		r = writer_put_preamble(w, e);
	if (r < 0 || !set)
		return r;
	for (unsigned f = FEATURE_RESERVED + 1; f < FEATURE_END; f++)
		if (feature_set_has(set, f) && !(NOT_AS_RECORD >> f & 1))
			add_feature(&b, f, buf_str(&set->sections[f]), set->sections[f].len);
	if (feature_set_has(set, FEATURE_TRACING_DATA))
		add_tracing_data(&b, &set->sections[FEATURE_TRACING_DATA]);
	if (feature_set_has(set, FEATURE_BUILD_ID))
		add_build_ids(&b, &set->sections[FEATURE_BUILD_ID]);
	return put_buf(w, &b, e);
}

int writer_put_pipe_end(struct writer *w, struct err *e)
{
	const struct feature_set *set = w->options.features;
	CLEANUP(buf_release) struct buf b = {};

	if (set && feature_set_has(set, FEATURE_BUILD_ID))
		add_build_ids(&b, &set->sections[FEATURE_BUILD_ID]);
	return put_buf(w, &b, e);
}
