/*
 * Reads what a collector has sent (frames of collect/channel.h, one after the other) from standard
 * input, puts dictionary and chunks together as the server would, and prints as JSON what they say:
 * events, counters with their values, functions with self and total samples, threads.
 */
#include "base/json.h"
#include "wire/run_messages.h"
#include "profile/schema.h"
#include "profile/chunk.h"
#include "profile/code.h"
#include "profile/dictionary.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct total {
	uint64_t samples, weight;
};

struct counter_values {
	VEC(struct count_row) rows;
};

struct dump {
	struct profile profile;
	VEC(struct sample_row) samples;
	VEC(struct counter_values) counters;
	size_t pieces, chunks, codes, bytes;
};

static int fail(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s\n", what, e->text);
	return 1;
}

static int take_samples(struct dump *d, const void *bytes, size_t size, struct err *e)
{
	struct sample_columns c;

	if (chunk_decode_samples(bytes, size, &c, e) < 0)
		return -1;
	for (size_t i = 0; i < c.rows; i++) {
		struct sample_row row = {c.time_ns[i], c.weight[i], c.address ? c.address[i] : 0,
					 c.event[i],   c.thread[i], c.stack[i],
					 c.cpu[i]};

		if (row.event >= d->profile.events.len || row.thread >= d->profile.threads.len ||
		    row.stack >= d->profile.stacks.len)
			return err_set(e, 1, "a sample refers to what was not sent before it");
		vec_push(&d->samples, row);
	}
	sample_columns_release(&c);
	return 0;
}

static int take_counts(struct dump *d, const void *bytes, size_t size, uint32_t counter,
		       struct err *e)
{
	struct count_columns c;

	if (counter >= d->profile.counters.len)
		return err_set(e, 1, "a counter that was not sent before");
	if (chunk_decode_counts(bytes, size, &c, e) < 0)
		return -1;
	while (d->counters.len <= counter)
		vec_push(&d->counters, (struct counter_values){});
	for (size_t i = 0; i < c.rows; i++)
		vec_push(&d->counters.items[counter].rows,
			 (struct count_row){c.time_ns[i], c.duration_ns[i], c.value[i],
					    c.running_ppm[i]});
	count_columns_release(&c);
	return 0;
}

static int take(struct dump *d, const struct message *m, struct err *e)
{
	const void *bytes = m->body.data;
	size_t size = m->body.size;
	struct chunk_info info;
	struct code code;

	d->bytes += size;
	switch (m->type) {
	case RUN_DICTIONARY:
		d->pieces++;
		return dictionary_apply(&d->profile, bytes, size, e);
	case RUN_CHUNK:
		d->chunks++;
		if (chunk_peek(bytes, size, &info, e) < 0)
			return -1;
		return info.schema == SCHEMA_SAMPLES
			       ? take_samples(d, bytes, size, e)
			       : take_counts(d, bytes, size, info.partition, e);
	case RUN_CODE:
		d->codes++;
		if (code_decode(bytes, size, &code, e) < 0)
			return -1;
		code_release(&code);
		return 0;
	default:
		return 0;
	}
}

static void put_events(struct dump *d, struct json *j)
{
	struct total *totals = xcalloc(d->profile.events.len + 1, sizeof(*totals));

	vec_each(&d->samples, s) {
		totals[s->event].samples++;
		totals[s->event].weight += s->weight;
	}
	jw_key(j, "events");
	jw_open(j, '[');
	for (size_t i = 0; i < d->profile.events.len; i++) {
		jw_open(j, '{');
		jw_kv_str(j, "name", profile_text(&d->profile, d->profile.events.items[i].name));
		jw_kv_u64(j, "samples", totals[i].samples);
		jw_kv_u64(j, "weight", totals[i].weight);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	free(totals);
}

static void put_counters(struct dump *d, struct json *j)
{
	jw_key(j, "counters");
	jw_open(j, '[');
	for (size_t i = 1; i < d->profile.counters.len; i++) {
		const struct profile_counter *c = &d->profile.counters.items[i];

		jw_open(j, '{');
		jw_kv_str(j, "name", profile_text(&d->profile, c->name));
		jw_kv_str(j, "unit", profile_text(&d->profile, c->unit));
		jw_kv_double(j, "scale", c->scale);
		jw_key(j, "rows");
		jw_open(j, '[');
		if (i < d->counters.len)
			vec_each(&d->counters.items[i].rows, row) {
				jw_open(j, '[');
				jw_u64(j, row->time_ns);
				jw_u64(j, row->duration_ns);
				jw_u64(j, row->value);
				jw_u64(j, row->running_ppm);
				jw_close(j, ']');
			}
		jw_close(j, ']');
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

static void add_sample(struct dump *d, const struct sample_row *s, struct total *self,
		       struct total *all, uint32_t *seen, uint32_t mark, uint64_t *unnamed)
{
	const struct profile *p = &d->profile;
	bool leaf = true;

	for (uint32_t n = s->stack; n; n = p->stacks.items[n].parent.n) {
		const struct profile_frame *frame = &p->frames.items[p->stacks.items[n].frame.n];

		*unnamed += !frame->name_count;
		for (uint32_t i = frame->name_count; i-- > 0;) {
			uint32_t f = p->names.items[frame->names + i].function.n;

			if (leaf)
				self[f].samples++;
			leaf = false;
			if (seen[f] != mark)
				all[f].samples++;
			seen[f] = mark;
		}
	}
}

static void put_functions(struct dump *d, struct json *j)
{
	const struct profile *p = &d->profile;
	struct total *self = xcalloc(p->functions.len + 1, sizeof(*self));
	struct total *all = xcalloc(p->functions.len + 1, sizeof(*all));
	uint32_t *seen = xcalloc(p->functions.len + 1, sizeof(*seen)), mark = 0;
	uint64_t unnamed = 0;

	vec_each(&d->samples, s)
		add_sample(d, s, self, all, seen, ++mark, &unnamed);
	jw_kv_u64(j, "unnamed_frames", unnamed);
	jw_key(j, "functions");
	jw_open(j, '[');
	for (size_t i = 1; i < p->functions.len; i++) {
		if (!all[i].samples)
			continue;
		jw_open(j, '{');
		jw_kv_str(j, "name", profile_text(p, p->functions.items[i].name));
		jw_kv_u64(j, "self", self[i].samples);
		jw_kv_u64(j, "total", all[i].samples);
		jw_kv_bool(j, "named", p->functions.items[i].named);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	free(self);
	free(all);
	free(seen);
}

static void put_threads(struct dump *d, struct json *j)
{
	const struct profile *p = &d->profile;

	jw_key(j, "threads");
	jw_open(j, '[');
	for (size_t i = 1; i < p->threads.len; i++) {
		jw_open(j, '[');
		jw_u64(j, p->threads.items[i].pid);
		jw_u64(j, p->threads.items[i].tid);
		jw_str(j, profile_text(p, p->threads.items[i].comm));
		jw_close(j, ']');
	}
	jw_close(j, ']');
}

static void put_times(struct dump *d, struct json *j)
{
	uint64_t first = 0, last = 0;

	vec_each(&d->samples, s) {
		first = !first || s->time_ns < first ? s->time_ns : first;
		last = s->time_ns > last ? s->time_ns : last;
	}
	jw_kv_u64(j, "samples", d->samples.len);
	jw_kv_u64(j, "first_ns", first);
	jw_kv_u64(j, "last_ns", last);
	jw_kv_u64(j, "pieces", d->pieces);
	jw_kv_u64(j, "chunks", d->chunks);
	jw_kv_u64(j, "codes", d->codes);
	jw_kv_u64(j, "bytes", d->bytes);
}

static void release(struct dump *d)
{
	vec_each(&d->counters, counter)
		vec_release(&counter->rows);
	vec_release(&d->counters);
	vec_release(&d->samples);
	profile_release(&d->profile);
}

int main(void)
{
	struct dump d = {};
	struct channel channel;
	struct message m;
	struct err e = {};
	struct buf out = {};
	struct json j = jw_to(&out);
	int r;

	profile_init(&d.profile);
	channel_init(&channel, STDIN_FILENO);
	channel.body_max = RUN_MESSAGE_BYTES_MAX;
	while ((r = channel_receive(&channel, &m)) >= 0) {
		if (r == 0) {
			poll(&(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
			continue;
		}
		if (take(&d, &m, &e) < 0)
			return fail("what was sent", &e);
	}
	jw_open(&j, '{');
	put_times(&d, &j);
	put_events(&d, &j);
	put_counters(&d, &j);
	put_functions(&d, &j);
	put_threads(&d, &j);
	jw_close(&j, '}');
	puts(buf_str(&out));
	release(&d);
	channel_release(&channel);
	buf_release(&out);
	return 0;
}
