/* The data of a running run, as it arrives. */
#include "server/live_internal.h"

#include "base/json.h"
#include "base/text.h"
#include "profile/chunk.h"
#include "profile/dictionary.h"

#include <stdio.h>
#include <string.h>

/* A live graph is to be looked at: more nodes than this nobody sees, and a run may last for days. */
#define NODES_MAX  (1u << 18)
#define EVENTS_MAX 256u
/* Values of counters that who comes later gets at once; all others are in the store. */
#define LAST_COUNTS 20000u
/* Of the output: what waits for one update, and what who comes later gets. */
#define OUTPUT_PENDING_MAX ((size_t)64 << 10)
#define OUTPUT_LAST_MAX    ((size_t)64 << 10)

/* ---- what has come ---- */

void live_run_dictionary(struct live_run *r, const void *bytes, size_t size)
{
	struct bus_topic *topic = bus_topic_lock(r->live->server->bus, r->topic);

	if (!r->broken && dictionary_apply(&r->profile, bytes, size, NULL) < 0)
		r->broken = true;
	bus_topic_unlock(r->live->server->bus, topic);
}

static uint32_t node_of(struct live_run *r, uint32_t stack)
{
	if (r->paths.nodes.len < NODES_MAX)
		return call_path_of(&r->paths, &r->profile, stack);
	if (!r->full) {
		r->full = true;
		live_run_note(r, "The live graph is complete up to here and grows no further; "
				 "questions about the run see everything.");
	}
	return call_path_known(&r->paths, stack);
}

static void add_sample(struct live_run *r, uint32_t event, uint32_t node, uint64_t weight)
{
	struct live_event *e;
	struct live_gain *gain;

	while (r->events.len <= event)
		vec_push(&r->events, (struct live_event){});
	e = &r->events.items[event];
	while (e->pending.len <= node) {
		vec_push(&e->pending, (struct live_gain){});
		vec_push(&e->total, (struct live_gain){});
	}
	gain = &e->pending.items[node];
	if (!gain->samples++)
		vec_push(&r->dirty, (struct live_dirty){event, node});
	gain->weight += weight;
}

static void take_samples(struct live_run *r, const void *bytes, size_t size)
{
	struct bus_topic *topic;
	struct sample_columns c;

	if (chunk_decode_samples(bytes, size, &c, NULL) < 0)
		return;
	topic = bus_topic_lock(r->live->server->bus, r->topic);
	for (size_t i = 0; i < c.rows; i++)
		if (c.event[i] < r->profile.events.len && c.event[i] < EVENTS_MAX)
			add_sample(r, c.event[i], node_of(r, c.stack[i]), c.weight[i]);
	if (c.rows && c.time_ns[c.rows - 1] > r->to_ns)
		r->to_ns = c.time_ns[c.rows - 1];
	bus_topic_unlock(r->live->server->bus, topic);
	sample_columns_release(&c);
}

static void take_counts(struct live_run *r, uint32_t counter, const void *bytes, size_t size)
{
	struct count_columns c;

	if (counter >= r->profile.counters.len || chunk_decode_counts(bytes, size, &c, NULL) < 0)
		return;
	for (size_t i = 0; i < c.rows; i++)
		vec_push(&r->counts, (struct live_count){c.time_ns[i], c.duration_ns[i], c.value[i],
							 counter, c.running_ppm[i]});
	if (c.rows && c.time_ns[c.rows - 1] > r->to_ns)
		r->to_ns = c.time_ns[c.rows - 1];
	count_columns_release(&c);
}

static void publish_if_due(struct live_run *r)
{
	uint64_t now = clock_now_ns();

	if (live_run_waits(r) && now >= r->sent_ns + LIVE_UPDATE_NS)
		live_run_publish(r, now);
}

void live_run_chunk(struct live_run *r, const void *bytes, size_t size)
{
	struct chunk_info info;

	if (r->broken || chunk_peek(bytes, size, &info, NULL) < 0)
		return;
	if (info.kind == CHUNK_SAMPLES)
		take_samples(r, bytes, size);
	else
		take_counts(r, info.counter, bytes, size);
	publish_if_due(r);
}

void live_run_output(struct live_run *r, int stream, uint64_t time_ns, const void *bytes,
		     size_t size)
{
	struct live_output *o = &r->output[stream == 2];

	(void)time_ns;
	/* A screen shows the last lines; all of it is in the store. */
	if (o->pending.len + size > OUTPUT_PENDING_MAX) {
		o->left_out += o->pending.len;
		buf_clear(&o->pending);
	}
	if (size > OUTPUT_PENDING_MAX) {
		o->left_out += size - OUTPUT_PENDING_MAX;
		bytes = (const char *)bytes + size - OUTPUT_PENDING_MAX;
		size = OUTPUT_PENDING_MAX;
	}
	buf_add_mem(&o->pending, bytes, size);
	publish_if_due(r);
}

bool live_run_waits(const struct live_run *r)
{
	return r->dirty.len || r->counts.len || r->output[0].pending.len ||
	       r->output[1].pending.len;
}

/* ---- as text ---- */

static struct json open_message(const struct live_run *r, struct buf *out)
{
	struct json j = jw_to(out);

	jw_open(&j, '{');
	jw_kv_str(&j, "run", r->uuid);
	return j;
}

static uint64_t since_start(const struct live_run *r, uint64_t time_ns)
{
	return time_ns > r->start_ns ? time_ns - r->start_ns : 0;
}

static void add_names(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
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

static void add_nodes(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
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

static void add_events(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	jw_key(j, "events");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++)
		jw_str(j, profile_text(&r->profile, r->profile.events.items[i].name));
	jw_close(j, ']');
}

static void add_gain(struct json *j, uint32_t event, uint32_t node, const struct live_gain *gain)
{
	jw_open(j, '[');
	jw_u64(j, event);
	jw_u64(j, node);
	jw_u64(j, gain->samples);
	jw_u64(j, gain->weight);
	jw_close(j, ']');
}

static void add_counters(const struct live_run *r, struct json *j, uint32_t from, uint32_t to)
{
	jw_key(j, "counters");
	jw_open(j, '[');
	for (uint32_t i = from; i < to; i++) {
		const struct profile_counter *c = &r->profile.counters.items[i];

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
		return since_start(r, c->time_ns);
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

static void add_counts(const struct live_run *r, struct json *j, const struct live_count *counts,
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

/* Bytes of a character that is not complete yet, at the end. */
static size_t cut_character(const struct buf *b)
{
	for (size_t back = 1; back <= 3 && back <= b->len; back++) {
		unsigned char c = (unsigned char)b->s[b->len - back];
		size_t wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

		if ((c & 0xc0) != 0x80)
			return wanted > back ? back : 0;
	}
	return 0;
}

static void add_output(const struct live_run *r, struct buf *out, int stream,
		       const struct buf *bytes, size_t len, uint64_t left_out)
{
	struct json j = open_message(r, out);
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < len; i++)
		buf_add_char(&text, bytes->s[i] ? bytes->s[i] : '?');
	jw_kv_u64(&j, "stream", (uint64_t)stream);
	jw_kv_str(&j, "text", buf_str(&text));
	if (left_out)
		jw_kv_u64(&j, "left_out", left_out);
	jw_close(&j, '}');
}

/* ---- publishing; the topic is locked ---- */

static void publish(struct live_run *r, const char *event, const struct buf *text)
{
	bus_publish(r->live->server->bus, r->topic, event, text->s, text->len);
}

static void publish_samples(struct live_run *r)
{
	CLEANUP(buf_release) struct buf text = {};
	uint32_t names = (uint32_t)r->paths.names.len, nodes = (uint32_t)r->paths.nodes.len,
		 events = (uint32_t)r->profile.events.len;
	struct json j = open_message(r, &text);

	add_names(r, &j, r->sent.names, names);
	add_nodes(r, &j, r->sent.nodes, nodes);
	add_events(r, &j, r->sent.events, events);
	jw_key(&j, "gain");
	jw_open(&j, '[');
	vec_each(&r->dirty, d) {
		struct live_event *e = &r->events.items[d->event];
		struct live_gain *gain = &e->pending.items[d->node];

		add_gain(&j, d->event, d->node, gain);
		e->total.items[d->node].samples += gain->samples;
		e->total.items[d->node].weight += gain->weight;
		*gain = (struct live_gain){};
	}
	jw_close(&j, ']');
	jw_kv_u64(&j, "to_ns", since_start(r, r->to_ns));
	jw_close(&j, '}');
	r->dirty.len = 0;
	r->sent.names = names;
	r->sent.nodes = nodes;
	r->sent.events = events;
	publish(r, "samples", &text);
}

static void remember_count(struct live_run *r, const struct live_count *c)
{
	if (!r->last_counts.items)
		r->last_counts.items = xcalloc(LAST_COUNTS, sizeof(*c));
	r->last_counts.items[(r->last_counts.first + r->last_counts.len) % LAST_COUNTS] = *c;
	if (r->last_counts.len < LAST_COUNTS)
		r->last_counts.len++;
	else
		r->last_counts.first = (r->last_counts.first + 1) % LAST_COUNTS;
}

static void publish_counts(struct live_run *r)
{
	CLEANUP(buf_release) struct buf text = {};
	uint32_t counters = (uint32_t)r->profile.counters.len;
	struct json j = open_message(r, &text);

	add_counters(r, &j, r->sent.counters, counters);
	add_counts(r, &j, r->counts.items, 0, r->counts.len, r->counts.len);
	jw_close(&j, '}');
	vec_each(&r->counts, c)
		remember_count(r, c);
	r->counts.len = 0;
	r->sent.counters = counters;
	publish(r, "counts", &text);
}

/* A character that comes in two pieces waits for its end. */
static void publish_output(struct live_run *r, int stream, bool all)
{
	struct live_output *o = &r->output[stream - 1];
	CLEANUP(buf_release) struct buf text = {};
	size_t cut = all ? 0 : cut_character(&o->pending), len = o->pending.len - cut;

	if (!len)
		return;
	add_output(r, &text, stream, &o->pending, len, o->left_out);
	o->left_out = 0;
	buf_add_mem(&o->last, o->pending.s, len);
	if (o->last.len > 2 * OUTPUT_LAST_MAX)
		buf_cut_front(&o->last, o->last.len - OUTPUT_LAST_MAX);
	buf_cut_front(&o->pending, len);
	publish(r, "output", &text);
}

static void publish_all(struct live_run *r, uint64_t now_ns, bool all)
{
	struct bus_topic *topic = bus_topic_lock(r->live->server->bus, r->topic);

	if (r->dirty.len)
		publish_samples(r);
	if (r->counts.len)
		publish_counts(r);
	for (int stream = 1; stream <= 2; stream++)
		publish_output(r, stream, all);
	r->sent_ns = now_ns;
	bus_topic_unlock(r->live->server->bus, topic);
}

void live_run_publish(struct live_run *r, uint64_t now_ns)
{
	publish_all(r, now_ns, false);
}

void live_run_ledger(struct live_run *r, const char *json)
{
	struct bus_topic *topic = bus_topic_lock(r->live->server->bus, r->topic);

	free(r->ledger);
	r->ledger = xstrdup(json);
	bus_publish(r->live->server->bus, r->topic, "ledger", json, strlen(json));
	bus_topic_unlock(r->live->server->bus, topic);
}

void live_run_note(struct live_run *r, const char *text)
{
	CLEANUP(buf_release) struct buf out = {};
	struct json j = open_message(r, &out);

	jw_kv_str(&j, "text", text);
	jw_close(&j, '}');
	publish(r, "note", &out);
}

/* ---- for who comes later ---- */

static void snapshot_samples(const struct live_run *r, struct buf *out)
{
	struct json j = open_message(r, out);

	add_names(r, &j, 1, r->sent.names);
	add_nodes(r, &j, 1, r->sent.nodes);
	add_events(r, &j, 0, r->sent.events);
	jw_key(&j, "gain");
	jw_open(&j, '[');
	for (uint32_t event = 0; event < r->events.len; event++)
		for (uint32_t node = 0; node < r->events.items[event].total.len; node++) {
			const struct live_gain *gain = &r->events.items[event].total.items[node];

			if (gain->samples)
				add_gain(&j, event, node, gain);
		}
	jw_close(&j, ']');
	jw_kv_u64(&j, "to_ns", since_start(r, r->to_ns));
	jw_close(&j, '}');
}

static void snapshot(void *ctx,
		     void (*message)(void *to, const char *event, const char *json, size_t len),
		     void *to)
{
	const struct live_run *r = ctx;
	CLEANUP(buf_release) struct buf text = {};

	if (r->sent.nodes > 1 || r->sent.events) {
		snapshot_samples(r, &text);
		message(to, "samples", text.s, text.len);
	}
	if (r->sent.counters > 1) {
		struct json j;

		buf_clear(&text);
		j = open_message(r, &text);
		add_counters(r, &j, 1, r->sent.counters);
		add_counts(r, &j, r->last_counts.items, r->last_counts.first, r->last_counts.len,
			   LAST_COUNTS);
		jw_close(&j, '}');
		message(to, "counts", text.s, text.len);
	}
	for (int stream = 1; stream <= 2; stream++) {
		const struct buf *last = &r->output[stream - 1].last;

		if (!last->len)
			continue;
		buf_clear(&text);
		add_output(r, &text, stream, last, last->len, 0);
		message(to, "output", text.s, text.len);
	}
	if (r->ledger)
		message(to, "ledger", r->ledger, strlen(r->ledger));
}

/* ---- beginning and end ---- */

struct live_run *live_run_begin(struct live *l, const struct stored_run *run)
{
	struct live_run *r = xcalloc(1, sizeof(*r));

	r->live = l;
	memcpy(r->uuid, run->uuid, sizeof(r->uuid));
	snprintf(r->topic, sizeof(r->topic), "run/%s", run->uuid);
	r->start_ns = (uint64_t)run->start_ns;
	r->sent.names = r->sent.nodes = r->sent.counters = 1;
	profile_init(&r->profile);
	call_paths_init(&r->paths);
	vec_push(&l->runs, r);
	bus_topic_snapshot(l->server->bus, r->topic, snapshot, r);
	return r;
}

void live_run_end(struct live_run *r)
{
	struct live *l = r->live;

	publish_all(r, clock_now_ns(), true);
	bus_topic_end(l->server->bus, r->topic);
	for (size_t i = 0; i < l->runs.len; i++)
		if (l->runs.items[i] == r) {
			l->runs.items[i] = l->runs.items[--l->runs.len];
			break;
		}
	vec_each(&r->events, e) {
		vec_release(&e->total);
		vec_release(&e->pending);
	}
	vec_release(&r->events);
	vec_release(&r->dirty);
	vec_release(&r->counts);
	free(r->last_counts.items);
	for (int i = 0; i < 2; i++) {
		buf_release(&r->output[i].pending);
		buf_release(&r->output[i].last);
	}
	free(r->ledger);
	call_paths_release(&r->paths);
	profile_release(&r->profile);
	free(r);
}
