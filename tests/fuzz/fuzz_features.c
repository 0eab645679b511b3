/* A section of the header: its number, a byte of flags, its bytes. */
#include "perfdata/attr.h"
#include "perfdata/facts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_attrs(struct cursor c, size_t room)
{
	struct perf_event_attr attr;

	while (attr_read(&c, room, &attr)) {
		struct buf name = {};

		if (attr.size < PERF_ATTR_SIZE_VER0 || attr.size > sizeof(attr))
			abort();
		attr_name(&attr, &name);
		if (!name.len || strlen(buf_str(&name)) != name.len)
			abort();
		buf_release(&name);
	}
}

static void check(const struct perfdata_facts *facts, const struct stream *s)
{
	for (size_t i = 1; i < facts->tracepoints.len; i++)
		if (facts->tracepoints.items[i - 1].id > facts->tracepoints.items[i].id)
			abort();
	for (size_t i = 0; i < s->events.len; i++) {
		const struct stream_event *event = &s->events.items[i];

		if (event->leader > i || (event->name && strlen(event->name) > STREAM_NAME_MAX))
			abort();
		if (i + event->members > s->events.len)
			abort();
	}
	vec_each(&facts->build_ids, id)
		if (id->size > sizeof(id->id) || !id->filename)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr)};
	struct perfdata_facts facts = {};
	struct stream s = {};
	struct cursor c;
	uint32_t event;

	if (size < 2)
		return 0;
	for (attr.config = 1; attr.config < 5; attr.config++)
		stream_add_event(&s, &attr, &event);
	c = cursor_of(data + 2, size - 2);
	c.swap = data[1] & 1;
	facts_add(&facts, &s, data[0] % (FEATURE_END + 1), c, 1000);
	if (data[1] & 2)
		facts_add(&facts, &s, data[0] % (FEATURE_END + 1), c, 1000);
	facts_add_tracing(&facts, &s, c, 1000);
	read_attrs(c, data[1] & 4 ? 0 : 128);
	check(&facts, &s);
	facts_release(&facts);
	stream_release(&s);
	return 0;
}
