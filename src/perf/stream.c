#include "perf/stream.h"
#include "base/buf.h"
#include "perf/record.h"

#include <stdio.h>
#include <string.h>

#define ROUND_TYPE 68 /* a tool's record: all rings have been read once */

/* ---- events ---- */

bool stream_add_event(struct stream *s, const struct perf_event_attr *attr, uint32_t *ret_event)
{
	uint32_t number = (uint32_t)s->events.len;

	if (s->events.len >= STREAM_EVENTS_MAX)
		return false;
	vec_push(&s->events, (struct stream_event){.attr = *attr, .leader = number, .members = 1});
	layout_init(&s->events.items[number].layout, attr);
	*ret_event = number;
	return true;
}

bool stream_add_id(struct stream *s, uint32_t event, uint64_t id)
{
	if (s->id_count >= STREAM_IDS_MAX)
		return false;
	s->id_count++;
	vec_push(&s->events.items[event].ids, id);
	id_map_add(&s->ids, id, event);
	return true;
}

void stream_name_event(struct stream_event *event, const char *name)
{
	free(event->name);
	event->name = xstrndup(name, STREAM_NAME_MAX);
}

struct stream_event *stream_find_id(struct stream *s, uint64_t id)
{
	uint32_t number;

	if (id_map_find(&s->ids, id, &number))
		return &s->events.items[number];
	/* A lone event needs no ids. */
	return s->events.len == 1 && !s->ids.count ? &s->events.items[0] : NULL;
}

void stream_damage(struct stream *s, uint64_t offset, const char *fmt, ...)
{
	struct damage d = {.offset = offset};
	va_list ap;

	s->damage_count++;
	if (s->damages.len >= DAMAGES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(d.text, sizeof(d.text), fmt, ap);
	va_end(ap);
	vec_push(&s->damages, d);
}

/* ---- giving out ---- */

static void give(struct stream *s, uint64_t time_ns, const unsigned char *bytes, uint32_t event)
{
	struct stream_record r = {
		.header = (const void *)bytes,
		.event = event < s->events.len ? &s->events.items[event] : NULL,
		.event_index = event,
		.time_ns = time_ns,
		.file_offset = block_offset_of(bytes),
	};

	if (!s->enough && !s->visitor->record(s->ctx, &r))
		s->enough = s->stopped = true;
}

static bool give_ordered(void *ctx, const struct order_entry *entry)
{
	struct stream *s = ctx;

	give(s, entry->time_ns, entry->bytes, entry->event);
	return !s->enough;
}

static void prepare_order(struct stream *s)
{
	s->order.give = give_ordered;
	s->order.ctx = s;
}

void stream_end(struct stream *s)
{
	prepare_order(s);
	order_flush_all(&s->order);
}

void stream_rewind(struct stream *s)
{
	prepare_order(s);
	if (s->copies)
		order_block_close(&s->order, s->copies);
	s->copies = NULL;
	order_release(&s->order);
	s->order = (struct order){};
	memset(s->counts, 0, sizeof(s->counts));
	memset(s->bytes_by_type, 0, sizeof(s->bytes_by_type));
	s->unknown_ids = s->without_event = s->last_ns = 0;
	s->enough = s->stopped = false;
}

void stream_release(struct stream *s)
{
	stream_rewind(s);
	vec_each(&s->events, event) {
		free(event->name);
		free(event->unit);
		vec_release(&event->ids);
	}
	vec_release(&s->events);
	vec_release(&s->damages);
	id_map_release(&s->ids);
}

/* ---- one record ---- */

static uint64_t word_at(const unsigned char *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

/* The word at a position of the layout: from the front in samples, from the end in others. */
static bool layout_word(const struct perf_event_header *h, uint8_t sample_at, uint8_t trailer_at,
			bool swap, uint64_t *ret)
{
	const unsigned char *bytes = (const void *)h;
	size_t room = h->size - sizeof(*h);

	if (h->type == PERF_RECORD_SAMPLE) {
		if (sample_at == LAYOUT_NONE || sample_at + 8u > room)
			return false;
		*ret = word_at(bytes + sizeof(*h) + sample_at, swap);
		return true;
	}
	if (trailer_at == LAYOUT_NONE || trailer_at > room)
		return false;
	*ret = word_at(bytes + h->size - trailer_at, swap);
	return true;
}

/*
 * Which event a record belongs to. All events of a stream keep the id at the same place. Records
 * that tools made up have the id 0 and belong to the first.
 */
static bool find_event(const struct stream *s, const struct perf_event_header *h,
		       uint32_t *ret_event, bool *ret_unknown)
{
	const struct layout *first = &s->events.items[0].layout;
	uint64_t id;

	*ret_event = 0;
	if (s->events.len == 1 || !s->ids.count)
		return true;
	if (!layout_word(h, first->sample_id_at, first->trailer_id_at, s->swap, &id) || !id)
		return true;
	if (id_map_find(&s->ids, id, ret_event))
		return true;
	*ret_unknown = true;
	return h->type != PERF_RECORD_SAMPLE;
}

bool stream_locate(const struct stream *s, const struct perf_event_header *h, uint32_t *ret_event,
		   uint64_t *ret_time_ns)
{
	const struct layout *l;
	bool unknown = false;

	*ret_time_ns = 0;
	if (!s->events.len || !find_event(s, h, ret_event, &unknown))
		return false;
	l = &s->events.items[*ret_event].layout;
	layout_word(h, l->sample_time_at, l->trailer_time_at, false, ret_time_ns);
	if (*ret_time_ns == ~0ull)
		*ret_time_ns = 0;
	return true;
}

/* Arrays inside a record are read in place, so it has to be aligned. */
static unsigned char *aligned_copy(struct stream *s, const unsigned char *bytes, size_t size)
{
	uint64_t offset = block_offset_of(bytes);
	unsigned char *to;

	if (!s->copies || s->copies_used + sizeof(offset) + size > BLOCK_ROOM) {
		if (s->copies)
			order_block_close(&s->order, s->copies);
		s->copies = order_block_new(&s->order);
		s->copies->copies = true;
		s->copies_used = 0;
	}
	to = s->copies->data + s->copies_used;
	memcpy(to, &offset, sizeof(offset));
	to += sizeof(offset);
	memcpy(to, bytes, size);
	s->copies_used += sizeof(offset) + ((size + 7) & ~(size_t)7);
	return to;
}

static void kernel_record(struct stream *s, unsigned char *bytes)
{
	const struct perf_event_header *h = (const void *)bytes;
	const struct layout *l;
	const char *reason = "";
	bool wanted, unknown = false;
	uint64_t time_ns = 0;
	uint32_t event;

	if (!s->events.len) {
		s->without_event++;
		return;
	}
	wanted = find_event(s, h, &event, &unknown);
	s->unknown_ids += unknown;
	if (!wanted)
		return;
	l = &s->events.items[event].layout;
	/* Before the bytes are turned around, because those of unknown types are not. */
	layout_word(h, l->sample_time_at, l->trailer_time_at, s->swap, &time_ns);
	if (s->swap && record_swap(l, bytes, &reason) < 0) {
		stream_damage(s, block_offset_of(bytes), "%s", reason);
		return;
	}
	/* What has no time does not wait. */
	if (s->unordered || !time_ns || time_ns == ~0ull)
		give(s, time_ns == ~0ull ? 0 : time_ns, bytes, event);
	else {
		s->last_ns = time_ns;
		order_push(&s->order, time_ns, bytes, event);
	}
}

static void count(struct stream *s, const struct perf_event_header *h)
{
	size_t slot = h->type < COUNTED_TYPES ? h->type : COUNTED_TYPES;

	s->counts[slot]++;
	s->bytes_by_type[slot] += h->size;
}

/* One whole record with its header in our byte order. Returns bytes to skip behind it. */
static uint64_t one_record(struct stream *s, unsigned char *bytes)
{
	const struct perf_event_header *h;
	uint64_t skip = 0;

	if ((uintptr_t)bytes & 7) {
		struct perf_event_header copy;

		memcpy(&copy, bytes, sizeof(copy));
		bytes = aligned_copy(s, bytes, copy.size);
	}
	h = (const void *)bytes;
	count(s, h);
	if (h->type == PERF_RECORD_SAMPLE && s->visitor->sample) {
		if (!s->visitor->sample(s->ctx, h, block_offset_of(bytes)))
			s->enough = s->stopped = true;
		return 0;
	}
	if (h->type < RECORD_USER_START) {
		kernel_record(s, bytes);
		return 0;
	}
	if (h->type == ROUND_TYPE)
		order_round(&s->order);
	if (s->visitor->user) {
		struct block *b = block_of(bytes);

		/* Records inside of it may fill the block of copies that it lies in itself. */
		order_block_hold(b);
		s->visitor->user(s->ctx, bytes, block_offset_of(bytes), &skip);
		order_block_let_go(&s->order, b);
	}
	return skip;
}

/* ---- bytes ---- */

static struct block *next_block(struct feed *f)
{
	struct block *b = order_block_new(&f->stream->order);
	size_t left = f->filled - f->parsed;

	b->outside = f->outside;
	b->file_offset = f->outside ? f->file_offset : f->file_offset - left;
	if (f->block) {
		memcpy(b->data, f->block->data + f->parsed, left);
		order_block_close(&f->stream->order, f->block);
	}
	f->parsed = 0;
	f->filled = left;
	return b;
}

unsigned char *feed_room(struct feed *f, size_t *ret_room)
{
	/* The rest of a block is not worth a read of its own. */
	if (!f->block || f->filled + RECORD_BYTES_MAX > BLOCK_ROOM)
		f->block = next_block(f);
	*ret_room = BLOCK_ROOM - f->filled;
	return f->block->data + f->filled;
}

static void turn_header(unsigned char *bytes)
{
	struct perf_event_header h;

	memcpy(&h, bytes, sizeof(h));
	h.type = __builtin_bswap32(h.type);
	h.misc = __builtin_bswap16(h.misc);
	h.size = __builtin_bswap16(h.size);
	memcpy(bytes, &h, sizeof(h));
}

/* A record that cannot be: nothing behind it can be trusted. */
static void stop_at(struct feed *f, const unsigned char *bytes, unsigned size)
{
	stream_damage(f->stream, block_offset_of(bytes),
		      "a record of %u bytes, less than its header; nothing behind it can be read",
		      size);
	f->stream->stopped = true;
}

void feed_bytes(struct feed *f, size_t count_bytes)
{
	struct stream *s = f->stream;

	prepare_order(s);
	f->filled += count_bytes;
	if (!f->outside)
		f->file_offset += count_bytes;
	while (!s->stopped) {
		unsigned char *bytes = f->block->data + f->parsed;
		size_t left = f->filled - f->parsed;
		struct perf_event_header h;
		unsigned size;

		if (f->skip) {
			size_t skip = f->skip < left ? f->skip : left;

			if (s->visitor->follow)
				s->visitor->follow(s->ctx, bytes, skip);
			f->skip -= skip;
			f->parsed += skip;
			if (f->skip)
				return;
			continue;
		}
		if (left < sizeof(h))
			return;
		memcpy(&h, bytes, sizeof(h));
		size = s->swap ? __builtin_bswap16(h.size) : h.size;
		if (size < sizeof(h)) {
			stop_at(f, bytes, size);
			return;
		}
		if (size > left)
			return;
		if (s->swap)
			turn_header(bytes);
		f->parsed += size;
		f->skip = one_record(s, bytes);
	}
}

void feed_pass_over(struct feed *f, uint64_t count)
{
	/* A block is a piece of the file without gaps. */
	feed_release(f);
	f->parsed = f->filled = 0;
	f->file_offset += count;
	f->skip -= count;
}

size_t feed_left(const struct feed *f)
{
	return f->filled - f->parsed;
}

void feed_release(struct feed *f)
{
	if (f->block)
		order_block_close(&f->stream->order, f->block);
	f->block = NULL;
}
