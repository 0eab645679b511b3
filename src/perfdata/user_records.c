#include "perfdata/user_records.h"
#include "base/bits.h"
#include "perf/record.h"
#include "perfdata/attr.h"
#include "perfdata/inflate.h"

#include <math.h>

#define TRACING_BYTES_MAX (64u << 20)

static void damage(struct perfdata *p, uint64_t offset, uint32_t type)
{
	stream_damage(&p->stream, offset, "the %s record is not valid", perfdata_record_name(type));
}

static bool add_event(struct perfdata *p, struct cursor *c)
{
	struct perf_event_attr attr;
	uint32_t event;

	if (!attr_read(c, 0, &attr) || !stream_add_event(&p->stream, &attr, &event))
		return false;
	while (c->size - c->at >= 8)
		if (!stream_add_id(&p->stream, event, cursor_u64(c)))
			return false;
	return true;
}

static bool update_scale(struct stream_event *event, struct cursor *c)
{
	double scale = double_of_bits(cursor_u64(c));

	/* What is no number, or none that a count could be multiplied by, is as if it were not there. */
	if (!c->failed && isfinite(scale) && scale > 0)
		event->scale = scale;
	return !c->failed;
}

static bool update_event(struct perfdata *p, struct cursor *c)
{
	uint64_t kind = cursor_u64(c), id = cursor_u64(c);
	struct stream_event *event = stream_find_id(&p->stream, id);
	const char *text;

	if (!event || (kind != UPDATE_NAME && kind != UPDATE_UNIT && kind != UPDATE_SCALE))
		return !c->failed;
	if (kind == UPDATE_SCALE)
		return update_scale(event, c);
	text = cursor_str(c);
	if (!text)
		return false;
	if (kind == UPDATE_NAME) {
		stream_name_event(event, text);
	} else {
		free(event->unit);
		event->unit = xstrndup(text, STREAM_NAME_MAX);
	}
	return true;
}

static bool add_feature(struct perfdata *p, struct cursor *c, uint64_t file_offset)
{
	uint64_t feature = cursor_u64(c);
	struct cursor section = cursor_part(c, c->at, c->size - c->at);

	if (c->failed)
		return false;
	if (feature >= FEATURE_END)
		return true; /* newer than we are */
	if (p->features.present >> feature & 1)
		return true; /* each is written once */
	section.swap = c->swap;
	p->features.present |= 1ull << feature;
	buf_add_mem(&p->features.sections[feature], section.data, section.size);
	facts_add(&p->facts, &p->stream, (enum feature)feature, section, file_offset);
	return true;
}

/* The formats of tracepoints follow the record. */
static bool begin_tracing(struct perfdata *p, struct cursor *c, uint64_t file_offset,
			  uint64_t *ret_skip)
{
	*ret_skip = cursor_u32(c);
	if (c->failed || *ret_skip > TRACING_BYTES_MAX)
		return false;
	buf_clear(&p->gathered.bytes);
	p->gathered.wanted = *ret_skip;
	p->gathered.file_offset = file_offset;
	return true;
}

void user_follow(struct perfdata *p, const unsigned char *bytes, size_t size)
{
	struct perfdata_gathered *g = &p->gathered;

	if (!g->wanted)
		return;
	buf_add_mem(&g->bytes, bytes, size < g->wanted ? size : g->wanted);
	g->wanted -= size < g->wanted ? size : g->wanted;
	if (g->wanted)
		return;
	p->features.present |= 1ull << FEATURE_TRACING_DATA;
	buf_release(&p->features.sections[FEATURE_TRACING_DATA]);
	p->features.sections[FEATURE_TRACING_DATA] = g->bytes;
	facts_add_tracing(&p->facts, &p->stream, cursor_of(g->bytes.s, g->bytes.len),
			  g->file_offset);
	g->bytes = (struct buf){};
}

static bool inflate_record(struct perfdata *p, struct cursor *c, uint32_t type,
			   uint64_t file_offset)
{
	uint64_t size = c->size - c->at;

	/* The newer kind is padded, and says how much of it is data. */
	if (type == USER_COMPRESSED2) {
		size = cursor_u64(c);
		if (c->failed || size > c->size - c->at)
			return false;
	}
	if (!p->current->inflate)
		p->current->inflate = inflate_new(&p->stream);
	/* A broken piece has been noted; nothing behind it makes sense. */
	inflate_piece(p->current->inflate, c->data + c->at, size, file_offset);
	return true;
}

bool user_record(struct perfdata *p, const unsigned char *bytes, uint64_t file_offset,
		 uint64_t *ret_skip)
{
	const struct perf_event_header *h = (const void *)bytes;
	struct cursor c = cursor_of(bytes + sizeof(*h), h->size - sizeof(*h));
	bool valid = true;

	c.swap = p->stream.swap;
	switch (h->type) {
	case USER_HEADER_ATTR:
		valid = add_event(p, &c);
		break;
	case USER_EVENT_UPDATE:
		valid = update_event(p, &c);
		break;
	case USER_HEADER_FEATURE:
		valid = add_feature(p, &c, file_offset);
		break;
	case USER_BUILD_ID:
		facts_add_build_id(&p->facts, c, h->misc, h->misc & MISC_BUILD_ID_SIZE);
		break;
	case USER_TRACING_DATA:
		valid = begin_tracing(p, &c, file_offset, ret_skip);
		break;
	case USER_AUXTRACE:
		*ret_skip = cursor_u64(&c);
		valid = !c.failed;
		break;
	case USER_COMPRESSED:
	case USER_COMPRESSED2:
		valid = inflate_record(p, &c, h->type, file_offset);
		break;
	default:
		break;
	}
	if (!valid)
		damage(p, file_offset, h->type);
	/* Without knowing how much to pass over, what follows would be taken for records. */
	return valid || (h->type != USER_TRACING_DATA && h->type != USER_AUXTRACE);
}

const char *perfdata_record_name(uint32_t type)
{
	static const char *const names[] = {
		"HEADER_ATTR",
		"HEADER_EVENT_TYPE",
		"HEADER_TRACING_DATA",
		"HEADER_BUILD_ID",
		"FINISHED_ROUND",
		"ID_INDEX",
		"AUXTRACE_INFO",
		"AUXTRACE",
		"AUXTRACE_ERROR",
		"THREAD_MAP",
		"CPU_MAP",
		"STAT_CONFIG",
		"STAT",
		"STAT_ROUND",
		"EVENT_UPDATE",
		"TIME_CONV",
		"HEADER_FEATURE",
		"COMPRESSED",
		"FINISHED_INIT",
		"COMPRESSED2",
		"BPF_METADATA",
	};

	if (type >= USER_HEADER_ATTR && type < USER_HEADER_ATTR + ARRAY_LEN(names))
		return names[type - USER_HEADER_ATTR];
	return record_type_name(type);
}
