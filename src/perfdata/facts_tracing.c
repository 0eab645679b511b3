#include "perfdata/facts.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

/*
 * Tracing data: "tracing" behind three odd bytes, version, byte order, size of a long and of a
 * page, two descriptions of ftrace's own rings, ftrace's events, and then what we want: for each
 * system its tracepoints' format files. All numbers are in the byte order it names.
 */
static const unsigned char magic[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

#define COUNT_MAX 100000u

/* "ID: 318" and "name: sched_switch" stand in lines of their own. */
static bool line_value(const char *text, const char *key, char *value, size_t size)
{
	const char *at = strstr(text, key);
	size_t len;

	if (!at)
		return false;
	at += strlen(key);
	len = strcspn(at, "\n");
	if (len >= size)
		return false;
	memcpy(value, at, len);
	value[len] = '\0';
	return true;
}

static void add_tracepoint(struct perfdata_facts *f, const char *system, const char *format,
			   size_t len)
{
	struct tracepoint_fact t = {.format = xstrndup(format, len)};
	char id[32], name[256];

	if (f->tracepoints.len < COUNT_MAX && line_value(t.format, "ID: ", id, sizeof(id)) &&
	    line_value(t.format, "name: ", name, sizeof(name)) && parse_u64(id, &t.id)) {
		t.system = xstrdup(system);
		t.name = xstrdup(name);
		vec_push(&f->tracepoints, t);
	} else {
		free(t.format);
	}
}

/* A section "name\0 u64 size, bytes" that nobody needs. */
static void skip_named(struct cursor *c)
{
	if (!cursor_str(c))
		return;
	cursor_skip(c, cursor_u64(c));
}

static void read_formats(struct perfdata_facts *f, struct cursor *c, const char *system,
			 uint32_t count)
{
	for (uint32_t i = 0; i < count && !c->failed; i++) {
		uint64_t size = cursor_u64(c);
		struct cursor text = cursor_part(c, c->at, size);

		if (c->failed || text.failed) {
			c->failed = true;
			return;
		}
		if (system)
			add_tracepoint(f, system, (const char *)text.data, text.size);
		cursor_skip(c, size);
	}
}

/* A line of printk_formats: 0xffffffff8281a209 : "Start scheduler-tick". */
static void add_string(struct perfdata_facts *f, char *line)
{
	static const char between[] = " : \"";
	struct string_fact fact = {};
	char *text = strstr(line, between), *end;

	if (!text || f->strings.len >= COUNT_MAX)
		return;
	fact.address = strtoull(line, &end, 16);
	if (end != text)
		return;
	text += strlen(between);
	end = strrchr(text, '"');
	if (!end)
		return;
	/* Formats of trace_printk() end their line, which here is not theirs to end. */
	if (end - text >= 2 && end[-2] == '\\' && end[-1] == 'n')
		end -= 2;
	fact.text = xstrndup(text, (size_t)(end - text));
	vec_push(&f->strings, fact);
}

/* Behind the formats: the symbols of the kernel, which no tool writes any more, and its strings.
 * Files without them are as good. */
static void read_strings(struct perfdata_facts *f, struct cursor c)
{
	struct cursor text;
	char *copy, *rest, *line;
	uint32_t size;

	cursor_skip(&c, cursor_u32(&c));
	size = cursor_u32(&c);
	text = cursor_part(&c, c.at, size);
	if (c.failed || text.failed)
		return;
	copy = rest = xstrndup((const char *)text.data, text.size);
	while ((line = strsep(&rest, "\n")))
		add_string(f, line);
	free(copy);
}

static void read_blob(struct perfdata_facts *f, struct cursor *c)
{
	struct cursor head = cursor_part(c, 0, sizeof(magic));
	uint32_t systems;
	uint8_t big_endian;

	if (head.failed || memcmp(head.data, magic, sizeof(magic))) {
		c->failed = true;
		return;
	}
	cursor_skip(c, sizeof(magic));
	cursor_str(c); /* version */
	big_endian = cursor_u8(c);
	c->swap = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	f->tracing_swap = c->swap;
	f->tracing_long_size = cursor_u8(c);
	f->tracing_page_size = cursor_u32(c);
	skip_named(c); /* header_page */
	skip_named(c); /* header_event */
	read_formats(f, c, NULL, cursor_u32(c));
	systems = cursor_u32(c);
	for (uint32_t i = 0; i < systems && !c->failed; i++) {
		const char *system = cursor_str(c);
		uint32_t count = cursor_u32(c);

		if (system)
			read_formats(f, c, system, count);
	}
	if (!c->failed)
		read_strings(f, *c);
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct tracepoint_fact *)a)->id;
	uint64_t y = ((const struct tracepoint_fact *)b)->id;

	return x < y ? -1 : x > y;
}

const struct tracepoint_fact *facts_tracepoint(const struct perfdata_facts *facts, uint64_t id)
{
	const struct tracepoint_fact key = {.id = id};

	if (!facts->tracepoints.len)
		return NULL;
	return bsearch(&key, facts->tracepoints.items, facts->tracepoints.len, sizeof(key), by_id);
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct string_fact *)a)->address;
	uint64_t y = ((const struct string_fact *)b)->address;

	return x < y ? -1 : x > y;
}

const char *facts_string(const struct perfdata_facts *facts, uint64_t address)
{
	const struct string_fact key = {.address = address}, *found;

	if (!facts->strings.len)
		return NULL;
	found = bsearch(&key, facts->strings.items, facts->strings.len, sizeof(key), by_address);
	return found ? found->text : NULL;
}

/* Tracepoints are known by their id only; now they have names. */
static void name_events(const struct perfdata_facts *f, struct stream *s)
{
	vec_each(&s->events, event) {
		const struct tracepoint_fact *t;

		if (event->attr.type != PERF_TYPE_TRACEPOINT || event->name)
			continue;
		t = facts_tracepoint(f, event->attr.config);
		if (t)
			event->name = xasprintf("%s:%s", t->system, t->name);
	}
}

void facts_add_tracing(struct perfdata_facts *facts, struct stream *stream, struct cursor blob,
		       uint64_t file_offset)
{
	/* A recording has one. Whoever repeats it would have all events gone through each time. */
	if (facts->tracepoints.len)
		return;
	read_blob(facts, &blob);
	if (facts->tracepoints.len) {
		qsort(facts->tracepoints.items, facts->tracepoints.len,
		      sizeof(*facts->tracepoints.items), by_id);
		name_events(facts, stream);
	}
	if (facts->strings.len)
		qsort(facts->strings.items, facts->strings.len, sizeof(*facts->strings.items),
		      by_address);
	if (blob.failed)
		stream_damage(stream, file_offset, "the tracepoints' formats are not valid");
}
