/* The data of a running run, as it arrives. */
#include "runs/live/internal.h"
#include "runs/ledger_words.h"

#include "base/json.h"
#include "base/text.h"
#include "profile/chunk.h"
#include "profile/dictionary.h"
#include "profile/schema.h"

#include <stdio.h>
#include <string.h>

/* Limits of the live graph: a run may last for days, and nobody can look at more nodes. */
#define NODES_MAX  (1u << 16)
#define FRAMES_MAX (1u << 17)
#define TEXT_MAX   ((size_t)64 << 20) /* limit of the bytes of names */
#define EVENTS_MAX 256u
/* Counter values in one update; more are merged in pairs. */
#define COUNTS_MAX 8192u
/* Counter values replayed to a new subscriber; all others are in the store. */
#define LAST_COUNTS 8192u
#define NOTES_MAX   ((size_t)64 << 10)
/* Bytes of output that wait for one update, and that a new subscriber gets. */
#define OUTPUT_PENDING_MAX ((size_t)64 << 10)
#define OUTPUT_LAST_MAX    ((size_t)64 << 10)

/* ---- arriving data ---- */

static void say_full(struct live_run *r)
{
	if (r->full)
		return;
	r->full = true;
	live_run_note(r,
		      "The live graph has reached its size limit: new functions are added to their "
		      "nearest known caller. The stored run contains everything.");
}

/* Turns new stacks into nodes of the tree at once, so that the profile can forget them. */
static void add_stacks(struct live_run *r)
{
	struct profile *p = &r->profile;

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_stack *s = &p->stacks.items[i];
		uint32_t node;

		/* If the caller was forgotten, use the root: a new node below it would seem to
		 * have no caller. */
		if (live_stacks_find(&r->stacks, s->parent.n, &node))
			node = call_path_below(&r->paths, p, node, s->frame.n, NODES_MAX);
		live_stacks_add(&r->stacks, p->stacks_forgotten + i, node);
	}
	profile_forget_stacks(p);
	profile_forget_threads(p);
}

void live_run_dictionary(struct live_run *r, const void *bytes, size_t size)
{
	struct bus_topic *topic = bus_topic_lock(r->live->host->bus, r->topic);

	if (!r->broken)
		r->broken = (r->closed ? dictionary_apply_stacks
				       : dictionary_apply)(&r->profile, bytes, size, NULL) < 0;
	if (!r->broken)
		add_stacks(r);
	r->closed |= r->profile.frames.len > FRAMES_MAX || r->profile.strings.bytes.len > TEXT_MAX;
	if (r->closed || r->paths.nodes.len >= NODES_MAX)
		say_full(r);
	bus_topic_unlock(r->live->host->bus, topic);
}

static uint32_t node_of(struct live_run *r, uint32_t stack)
{
	uint32_t node;

	live_stacks_find(&r->stacks, stack, &node);
	return node;
}

static void add_sample(struct live_run *r, uint32_t event, uint32_t node, uint64_t weight)
{
	struct live_event *e;
	struct live_gain *gain;

	vec_grow(&r->events, event + 1);
	e = &r->events.items[event];
	vec_grow(&e->pending, node + 1);
	vec_grow(&e->total, node + 1);
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
	topic = bus_topic_lock(r->live->host->bus, r->topic);
	for (size_t i = 0; i < c.rows; i++)
		if (c.event[i] < r->profile.events.len && c.event[i] < EVENTS_MAX) {
			add_sample(r, c.event[i], node_of(r, c.stack[i]), c.weight[i]);
			live_rates_add(&r->rates, c.event[i], live_since_start(r, c.time_ns[i]));
		}
	if (c.rows && c.time_ns[c.rows - 1] > r->to_ns)
		r->to_ns = c.time_ns[c.rows - 1];
	bus_topic_unlock(r->live->host->bus, topic);
	sample_columns_release(&c);
}

/* Merges consecutive values of each counter in pairs. */
static void thin_counts(struct live_run *r)
{
	VEC(uint32_t)
	first = {}; /* by counter: 1 + index of the first value of a pair; 0: none */
	size_t out = 0;

	vec_reserve(&first, r->profile.counters.len);
	memset(first.items, 0, r->profile.counters.len * sizeof(*first.items));
	for (size_t i = 0; i < r->counts.len; i++) {
		struct live_count c = r->counts.items[i];
		uint32_t *at = &first.items[c.counter];

		if (*at) {
			struct live_count *one = &r->counts.items[*at - 1];

			one->time_ns = c.time_ns;
			one->duration_ns += c.duration_ns;
			one->value += c.value;
			if (c.running_ppm < one->running_ppm)
				one->running_ppm = c.running_ppm;
			*at = 0;
		} else {
			r->counts.items[out++] = c;
			*at = (uint32_t)out;
		}
	}
	r->counts.len = out;
	vec_release(&first);
}

static void take_counts(struct live_run *r, uint32_t counter, const void *bytes, size_t size)
{
	struct count_columns c;

	if (counter >= r->profile.counters.len || profile_counter_mark(&r->profile, counter) ||
	    chunk_decode_counts(bytes, size, &c, NULL) < 0)
		return;
	for (size_t i = 0; i < c.rows; i++)
		vec_push(&r->counts, (struct live_count){c.time_ns[i], c.duration_ns[i], c.value[i],
							 counter, c.running_ppm[i]});
	if (r->counts.len > COUNTS_MAX && r->counts.len > 4 * r->profile.counters.len)
		thin_counts(r);
	count_columns_release(&c);
}

static void publish_if_due(struct live_run *r)
{
	uint64_t now = clock_monotonic_ns(r->live->host->clock);

	if (live_run_waits(r) && now >= r->sent_ns + LIVE_UPDATE_NS)
		live_run_publish(r, now);
}

void live_run_chunk(struct live_run *r, const void *bytes, size_t size)
{
	struct chunk_info info;

	if (r->broken || chunk_peek(bytes, size, &info, NULL) < 0)
		return;
	if (info.sampled)
		take_samples(r, bytes, size);
	else if (info.schema == SCHEMA_COUNTS)
		take_counts(r, info.partition, bytes, size);
}

void live_run_output(struct live_run *r, int stream, uint64_t time_ns, const void *bytes,
		     size_t size)
{
	struct live_output *o = &r->output[stream == 2];

	(void)time_ns;
	/* Keep only the newest output; all of it is in the store. */
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
	       r->output[1].pending.len || r->ledger_waits;
}

/* ---- publishing; the topic is locked ---- */

static void publish(struct live_run *r, const char *event, const struct buf *text)
{
	bus_publish(r->live->host->bus, r->topic, event, text->s, text->len);
}

/* Lead that another event needs: without it, two equally frequent events would take turns. */
#define EVENT_LEAD(samples) ((samples) / 8)

/* Makes the busiest event so far the default, for subscribers that name no event. */
static void choose_event(struct live_run *r)
{
	uint64_t samples[EVENTS_MAX] = {};
	size_t events = r->events.len;
	uint32_t best;

	for (size_t i = 0; i < events; i++)
		samples[i] = r->events.items[i].samples;
	best = events_busiest(samples, events);
	if (best != r->event && samples[best] > samples[r->event] + EVENT_LEAD(samples[r->event]))
		r->event = best;
}

/* Adds pending samples to the totals that snapshots show. @j NULL: there are no subscribers. */
static void fold_samples(struct live_run *r, struct json *j)
{
	vec_each(&r->dirty, d) {
		struct live_event *e = &r->events.items[d->event];
		struct live_gain *gain = &e->pending.items[d->node];

		if (j)
			live_add_gain(j, d->event, d->node, gain);
		e->total.items[d->node].samples += gain->samples;
		e->samples += gain->samples;
		e->total.items[d->node].weight += gain->weight;
		*gain = (struct live_gain){};
	}
	r->dirty.len = 0;
	choose_event(r);
	live_rates_fold(&r->rates);
	r->sent.names = (uint32_t)r->paths.names.len;
	r->sent.nodes = (uint32_t)r->paths.nodes.len;
	r->sent.events = (uint32_t)r->profile.events.len;
}

static void publish_samples(struct live_run *r)
{
	CLEANUP(buf_release) struct buf text = {};
	struct json j = live_open_message(r, &text);

	live_add_names(r, &j, r->sent.names, (uint32_t)r->paths.names.len);
	live_add_nodes(r, &j, r->sent.nodes, (uint32_t)r->paths.nodes.len);
	live_add_events(r, &j, r->sent.events, (uint32_t)r->profile.events.len);
	jw_key(&j, "gain");
	jw_open(&j, '[');
	fold_samples(r, &j);
	jw_close(&j, ']');
	jw_kv_u64(&j, "event", r->event);
	jw_kv_u64(&j, "to_ns", live_since_start(r, r->to_ns));
	jw_close(&j, '}');
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

static void fold_counts(struct live_run *r)
{
	vec_each(&r->counts, c)
		remember_count(r, c);
	r->counts.len = 0;
	r->sent.counters = (uint32_t)r->profile.counters.len;
}

static void publish_counts(struct live_run *r)
{
	CLEANUP(buf_release) struct buf text = {};
	struct json j = live_open_message(r, &text);

	live_add_counters(r, &j, r->sent.counters, (uint32_t)r->profile.counters.len);
	live_add_counts(r, &j, r->counts.items, 0, r->counts.len, r->counts.len);
	jw_close(&j, '}');
	fold_counts(r);
	publish(r, "counts", &text);
}

/* Returns the number of bytes of an incomplete UTF-8 character at the end of @b. */
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

/* Publishes pending output. An incomplete character at its end stays pending unless @all is set. */
static void publish_output(struct live_run *r, int stream, bool told, bool all)
{
	struct live_output *o = &r->output[stream - 1];
	CLEANUP(buf_release) struct buf text = {};
	size_t cut = all ? 0 : cut_character(&o->pending), len = o->pending.len - cut;

	if (!len)
		return;
	if (told) {
		live_add_output(r, &text, stream, &o->pending, len, o->left_out);
		o->left_out = 0;
	}
	buf_add_mem(&o->last, o->pending.s, len);
	if (o->last.len > 2 * OUTPUT_LAST_MAX)
		buf_cut_front(&o->last, o->last.len - OUTPUT_LAST_MAX);
	buf_cut_front(&o->pending, len);
	if (told)
		publish(r, "output", &text);
}

/* Publishes pending data. Messages are encoded only if there are subscribers: later ones get a snapshot. */
static void publish_all(struct live_run *r, uint64_t now_ns, bool all)
{
	struct bus *bus = r->live->host->bus;
	struct bus_topic *topic = bus_topic_lock(bus, r->topic);
	bool told = bus_is_watched(bus, r->topic);

	if (told && r->dirty.len)
		publish_samples(r);
	if (told && r->counts.len)
		publish_counts(r);
	for (int stream = 1; stream <= 2; stream++)
		publish_output(r, stream, told, all);
	if (!told) {
		fold_samples(r, NULL);
		fold_counts(r);
		bus_topic_gap(bus, r->topic);
	}
	if (told && r->ledger_waits)
		bus_publish(bus, r->topic, "ledger", r->ledger, strlen(r->ledger));
	r->ledger_waits = false;
	r->sent_ns = now_ns;
	bus_topic_unlock(bus, topic);
}

void live_run_publish(struct live_run *r, uint64_t now_ns)
{
	publish_all(r, now_ns, false);
}

void live_run_state(struct live_run *r, const struct buf *json)
{
	struct bus *bus = r->live->host->bus;
	struct bus_topic *topic = bus_topic_lock(bus, r->topic);

	if (live_run_waits(r))
		publish_all(r, clock_monotonic_ns(r->live->host->clock), true);
	free(r->state);
	r->state = xstrdup(json->s);
	publish(r, "state", json);
	bus_topic_unlock(bus, topic);
}

/* The message is the collector's object, with the run's UUID in front and warnings behind. */
void live_run_ledger(struct live_run *r, const char *json)
{
	CLEANUP(buf_release) struct buf text = {};
	json_t *ledger = json_loads(json, 0, NULL);
	struct bus_topic *topic;
	struct json j;

	if (!json_is_object(ledger)) {
		json_decref(ledger);
		return;
	}
	json_object_del(ledger, "run");
	j = live_open_message(r, &text);
	ledger_json_members(&j, ledger);
	jw_close(&j, '}');
	json_decref(ledger);
	/* Send it with the next update: an update of its own would delay those behind it. */
	topic = bus_topic_lock(r->live->host->bus, r->topic);
	free(r->ledger);
	r->ledger = buf_steal(&text);
	r->ledger_waits = true;
	bus_topic_unlock(r->live->host->bus, topic);
}

static void add_note(const struct live_run *r, struct buf *out, const char *text)
{
	struct json j = live_open_message(r, out);

	jw_kv_str(&j, "text", text);
	jw_close(&j, '}');
}

void live_run_note(struct live_run *r, const char *text)
{
	struct bus_topic *topic = bus_topic_lock(r->live->host->bus, r->topic);
	CLEANUP(buf_release) struct buf out = {};

	if (r->notes.len < NOTES_MAX)
		buf_add_mem(&r->notes, text, strlen(text) + 1);
	add_note(r, &out, text);
	publish(r, "note", &out);
	bus_topic_unlock(r->live->host->bus, topic);
}

/* ---- snapshots for new subscribers ---- */

static void snapshot_samples(const struct live_run *r, struct buf *out)
{
	struct json j = live_open_message(r, out);

	live_add_names(r, &j, 1, r->sent.names);
	live_add_nodes(r, &j, 1, r->sent.nodes);
	live_add_events(r, &j, 0, r->sent.events);
	jw_key(&j, "gain");
	jw_open(&j, '[');
	for (uint32_t event = 0; event < r->events.len; event++)
		for (uint32_t node = 0; node < r->events.items[event].total.len; node++) {
			const struct live_gain *gain = &r->events.items[event].total.items[node];

			if (gain->samples)
				live_add_gain(&j, event, node, gain);
		}
	jw_close(&j, ']');
	live_rates_text(&r->rates, &j);
	jw_kv_u64(&j, "event", r->event);
	jw_kv_u64(&j, "to_ns", live_since_start(r, r->to_ns));
	jw_close(&j, '}');
}

static void snapshot(void *ctx,
		     void (*message)(void *to, const char *event, const char *json, size_t len),
		     void *to)
{
	const struct live_run *r = ctx;
	CLEANUP(buf_release) struct buf text = {};

	if (r->state)
		message(to, "state", r->state, strlen(r->state));
	if (r->sent.nodes > 1 || r->sent.events) {
		snapshot_samples(r, &text);
		message(to, "samples", text.s, text.len);
	}
	if (r->sent.counters > 1) {
		struct json j;

		buf_clear(&text);
		j = live_open_message(r, &text);
		live_add_counters(r, &j, 1, r->sent.counters);
		live_add_counts(r, &j, r->last_counts.items, r->last_counts.first,
				r->last_counts.len, LAST_COUNTS);
		jw_close(&j, '}');
		message(to, "counts", text.s, text.len);
	}
	for (int stream = 1; stream <= 2; stream++) {
		const struct buf *last = &r->output[stream - 1].last;

		if (!last->len)
			continue;
		buf_clear(&text);
		live_add_output(r, &text, stream, last, last->len, 0);
		message(to, "output", text.s, text.len);
	}
	if (r->ledger)
		message(to, "ledger", r->ledger, strlen(r->ledger));
	for (size_t at = 0; at < r->notes.len; at += strlen(r->notes.s + at) + 1) {
		buf_clear(&text);
		add_note(r, &text, r->notes.s + at);
		message(to, "note", text.s, text.len);
	}
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
	bus_topic_snapshot(l->host->bus, r->topic, snapshot, r);
	return r;
}

void live_run_end(struct live_run *r)
{
	struct live *l = r->live;

	if (live_run_waits(r))
		publish_all(r, clock_monotonic_ns(r->live->host->clock), true);
	bus_topic_end(l->host->bus, r->topic);
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
	live_rates_release(&r->rates);
	vec_release(&r->counts);
	free(r->last_counts.items);
	for (int i = 0; i < 2; i++) {
		buf_release(&r->output[i].pending);
		buf_release(&r->output[i].last);
	}
	free(r->state);
	free(r->ledger);
	buf_release(&r->notes);
	call_paths_release(&r->paths);
	live_stacks_release(&r->stacks);
	profile_release(&r->profile);
	free(r);
}
