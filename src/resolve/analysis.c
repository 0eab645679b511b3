#include "resolve/analysis.h"
#include "base/clock.h"
#include "resolve/jit_code.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define WORKERS_MAX 64
#define FORGET_NS   (30ull * NS_PER_SEC) /* samples that come late are not that late */
/* How often, at most: to go through all that is there takes some milliseconds. */
#define FORGET_PAUSE_NS (5ull * NS_PER_SEC)
#define FORGET_NODES    (64u << 10)

static uint16_t machine_of(const struct perfdata_facts *facts)
{
	struct utsname here = {};
	const char *arch = facts->arch;

	if (!arch && !uname(&here))
		arch = here.machine;
	if (arch && !strcmp(arch, "aarch64"))
		return EM_AARCH64;
	return arch && !strcmp(arch, "x86_64") ? EM_X86_64 : EM_NONE;
}

static unsigned worker_count(const struct resolve_options *o)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned count = o->threads ? o->threads : online > 0 ? (unsigned)online : 1;

	return count < WORKERS_MAX ? count : WORKERS_MAX;
}

static void add_events(struct analysis *a, size_t count)
{
	const struct stream *s = &a->file->stream;

	for (size_t i = a->profile->events.len; i < count; i++) {
		const struct stream_event *event = &s->events.items[i];
		struct profile_event added = {};

		added.name = profile_string(a->profile, perfdata_event_name(event));
		if (event->unit)
			added.unit = profile_string(a->profile, event->unit);
		vec_push(&a->profile->events, added);
	}
}

/* A member of a group has no period either, but a part in the samples of its leader. */
static bool only_counted(const struct stream_event *event)
{
	return !event->attr.sample_period && !(event->attr.sample_type & PERF_SAMPLE_READ);
}

void analysis_add_events(struct analysis *a)
{
	const struct stream *s = &a->file->stream;
	size_t count = s->events.len;

	a->events = count;
	while (a->options.no_counted && count && only_counted(&s->events.items[count - 1]))
		count--;
	add_events(a, count);
}

/* Whatever a file says of an event that has samples. */
static void take_sample(struct analysis *a, const struct record *r,
			const struct stream_event *event, uint32_t number, uint64_t time_ns,
			uint64_t weight)
{
	if (number >= a->profile->events.len)
		add_events(a, (size_t)number + 1);
	resolver_sample(&a->resolver, r, event, number, time_ns, weight);
}

static void tell_loss(void *ctx, uint64_t time_ns, uint32_t cpu, uint64_t count)
{
	const struct analysis *a = ctx;

	a->options.on_loss(a->options.loss_ctx, time_ns, cpu, count);
}

int analysis_init(struct analysis *a, struct perfdata *file, struct modules *modules,
		  const struct resolve_options *o, struct profile *profile, struct err *e)
{
	*a = (struct analysis){.file = file, .profile = profile, .options = *o};
	a->options.threads = worker_count(o);
	history_init(&a->history, profile);
	a->shared = (struct resolve_shared){
		.history = &a->history,
		.modules = modules,
		.options = &a->options,
		.facts = &file->facts,
		.machine = machine_of(&file->facts),
		.base_ns = file->facts.first_sample_ns,
		.grows = true,
		.seed = hash_seed(),
		.nowhere = profile_module(profile, "[unknown]", NULL, CODE_UNKNOWN),
	};
	resolver_init(&a->resolver, &a->shared, profile);
	a->history.on_jitdump = jit_code_announce;
	a->history.on_loss = o->on_loss ? tell_loss : NULL;
	a->history.ctx = a;
	namer_init(&a->namer, &a->resolver);
	analysis_add_events(a);
	profile->bucket_ns = o->bucket_ns;
	return filter_make(&a->shared.filter, &o->filter, &file->facts, e);
}

void analysis_release(struct analysis *a)
{
	namer_release(&a->namer);
	resolver_release(&a->resolver);
	filter_release(&a->shared.filter);
	history_release(&a->history);
	group_counts_release(&a->counts);
}

uint64_t analysis_weight(const struct record *r, const struct stream_event *event)
{
	return event->attr.sample_type & PERF_SAMPLE_PERIOD ? r->sample.period
							    : event->attr.sample_period;
}

/* The event's own data is that of the leader, which was sampled: @leader. */
static void take_members(struct analysis *a, const struct record *r,
			 const struct stream_event *leader, uint64_t time_ns)
{
	struct stream *stream = &a->file->stream;
	struct record bare = *r;

	bare.sample.raw.size = 0;
	for (uint64_t i = 0; i < r->sample.read.count; i++) {
		struct read_value v = read_values_get(&r->sample.read, i);
		struct stream_event *event = stream_find_id(stream, v.id);
		uint64_t counted;

		if (!event)
			continue;
		counted = group_count_since(&a->counts, v.id, v.value);
		if (counted)
			take_sample(a, event == leader ? r : &bare, event,
				    (uint32_t)(event - stream->events.items), time_ns, counted);
	}
}

bool analysis_record(struct analysis *a, const struct stream_record *raw)
{
	const char *reason = "";
	uint64_t time_ns = raw->time_ns;
	struct record r;

	if (!raw->event)
		return true;
	if (a->events < a->file->stream.events.len)
		analysis_add_events(a);
	if (record_decode(&raw->event->layout, raw->header, &r, &reason) < 0) {
		stream_damage(&a->file->stream, raw->file_offset, "%s", reason);
		return true;
	}
	history_catch_up(&a->history, raw->time_ns);
	/* An event can be recorded without times beside others that have them: its samples were taken
	 * about when the record before them was written, not when the clock began. */
	if (!time_ns && r.type == PERF_RECORD_SAMPLE)
		time_ns = a->file->stream.last_ns;
	if (!(raw->event->attr.sample_type & PERF_SAMPLE_CPU) && r.type != PERF_RECORD_SAMPLE)
		r.id.cpu = ~0u; /* it does not say which */
	if (r.type != PERF_RECORD_SAMPLE)
		history_record(&a->history, &r, time_ns);
	else if ((raw->event->attr.sample_type & PERF_SAMPLE_READ) && r.sample.read.has_id)
		take_members(a, &r, raw->event, time_ns);
	else
		take_sample(a, &r, raw->event, raw->event_index, time_ns,
			    analysis_weight(&r, raw->event));
	return true;
}

void analysis_forget(struct analysis *a, uint64_t time_ns)
{
	struct history *h = &a->history;

	if (h->maps.nodes.len + h->era_count < a->forget_nodes ||
	    time_ns < a->forgot_ns + FORGET_PAUSE_NS || time_ns < FORGET_NS)
		return;
	a->forgot_ns = time_ns;
	/* The first time there is only a look at how much there is. */
	if (a->forget_nodes) {
		history_forget(h, time_ns - FORGET_NS, time_ns);
		memset(a->resolver.places, 0, sizeof(a->resolver.places));
	}
	/* Half as much again, so that it costs little for each of them. */
	a->forget_nodes = (h->maps.nodes.len + h->era_count) * 3 / 2 + FORGET_NODES;
}

void analysis_name(struct analysis *a)
{
	if (a->shared.grows)
		resolver_deliver(&a->resolver, a->profile);
	if (!a->options.no_names)
		namer_run(&a->namer, &a->resolver.report);
}
