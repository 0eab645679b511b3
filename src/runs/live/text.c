/* Messages of a running run as text, see docs/API.md. */
#include "runs/live/internal.h"

#include "base/json.h"

struct json live_open_message(const struct live_run *r, struct buf *out)
{
	struct json j = jw_to(out);

	jw_open(&j, '{');
	jw_kv_str(&j, "run", r->uuid);
	return j;
}

uint64_t live_since_start(const struct live_run *r, uint64_t time_ns)
{
	return time_ns > r->start_ns ? time_ns - r->start_ns : 0;
}

void live_add_names(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	const struct profile *p = &r->profile;

	jw_key(j, "names");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++) {
		const struct path_name *name = &r->paths.names.items[i];

		jw_open(j, '[');
		jw_str(j, profile_text(p, name->label));
		jw_str(j, profile_text(p, name->module));
		jw_str(j, code_kind_name(name->kind));
		jw_close(j, ']');
	}
	jw_close(j, ']');
}

void live_add_nodes(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	jw_key(j, "nodes");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++) {
		const struct call_path *node = &r->paths.nodes.items[i];

		jw_open(j, '[');
		jw_u64(j, node->parent);
		jw_u64(j, node->name);
		jw_u64(j, node->inlined);
		jw_close(j, ']');
	}
	jw_close(j, ']');
}

void live_add_events(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	jw_key(j, "events");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++)
		jw_str(j, profile_text(&r->profile, r->profile.events.items[i].name));
	jw_close(j, ']');
}

void live_add_gain(struct json *j, uint32_t event, uint32_t node, const struct live_gain *gain)
{
	jw_open(j, '[');
	jw_u64(j, event);
	jw_u64(j, node);
	jw_u64(j, gain->samples);
	jw_u64(j, gain->weight);
	jw_close(j, ']');
}

void live_add_counters(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	jw_key(j, "counters");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++) {
		const struct profile_counter *c = &r->profile.counters.items[i];

		/* The ledger reports losses. */
		if (profile_counter_mark(&r->profile, i))
			continue;
		jw_open(j, '{');
		jw_kv_u64(j, "id", i);
		jw_kv_str(j, "name", profile_text(&r->profile, c->name));
		jw_kv_str(j, "unit", profile_text(&r->profile, c->unit));
		jw_kv_double(j, "scale", c->scale);
		jw_key(j, "cpu");
		if (c->cpu >= 0)
			jw_i64(j, c->cpu);
		else
			jw_null(j);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

enum count_field { COUNT_TIME, COUNT_ID, COUNT_VALUE, COUNT_DURATION, COUNT_PPM, COUNT_FIELDS };

static const char *const count_keys[COUNT_FIELDS] = {"t", "id", "value", "duration", "ppm"};

static uint64_t count_field(const struct live_run *r, const struct live_count *c, int field)
{
	switch (field) {
	case COUNT_TIME:
		return live_since_start(r, c->time_ns);
	case COUNT_ID:
		return c->counter;
	case COUNT_VALUE:
		return c->value;
	case COUNT_DURATION:
		return c->duration_ns;
	default:
		return c->running_ppm;
	}
}

void live_add_counts(const struct live_run *r, struct json *j, const struct live_count *counts,
		     size_t first, size_t len, size_t room)
{
	for (int field = 0; field < COUNT_FIELDS; field++) {
		jw_key(j, count_keys[field]);
		jw_open(j, '[');
		for (size_t i = 0; i < len; i++)
			jw_u64(j, count_field(r, &counts[(first + i) % room], field));
		jw_close(j, ']');
	}
}

void live_add_output(const struct live_run *r, struct buf *out, int stream, const struct buf *bytes,
		     size_t len, uint64_t left_out)
{
	struct json j = live_open_message(r, out);
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < len; i++)
		buf_add_char(&text, bytes->s[i] ? bytes->s[i] : '?');
	jw_kv_u64(&j, "stream", (uint64_t)stream);
	jw_kv_str(&j, "text", buf_str(&text));
	if (left_out)
		jw_kv_u64(&j, "left_out", left_out);
	jw_close(&j, '}');
}
