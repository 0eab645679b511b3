#include "resolve/resolver.h"
#include "base/open_table.h"
#include "resolve/image.h"
#include "unwind/lbr.h"

#include <stdio.h>
#include <string.h>

#define MAX_STACK_DEFAULT 127

/* ---- chains ---- */

static unsigned max_stack(const struct resolver *r)
{
	return r->shared->options->max_stack ? r->shared->options->max_stack : MAX_STACK_DEFAULT;
}

/* The maps that a sample's addresses are looked up in. */
struct chain_roots {
	uint32_t user, kernel;
};

static bool holds(const struct answer_span *span, uint64_t time_ns)
{
	return time_ns >= span->from_ns && time_ns < span->until_ns;
}

static bool is_kernel(uint16_t misc)
{
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_HYPERVISOR;
}

/* Samples come in runs of one task on one CPU: what was found for the last one mostly holds. */
static struct chain_roots roots_of(struct resolver *r, const struct record *sample,
				   uint64_t time_ns)
{
	const struct history *h = r->shared->history;
	bool grows = r->shared->grows;
	uint32_t pid = sample->id.pid;

	if (grows && is_kernel(sample->misc))
		history_need_kernel(r->shared->history);

	if (grows || r->last_space.pid != pid || !holds(&r->last_space.span, time_ns)) {
		r->last_space.pid = pid;
		r->last_space.root = history_space(h, pid, time_ns, &r->last_space.span);
	}
	if (grows || !holds(&r->last_kernel.span, time_ns))
		r->last_kernel.root = history_kernel(h, time_ns, &r->last_kernel.span);
	return (struct chain_roots){r->last_space.root, r->last_kernel.root | KERNEL_ROOT};
}

/*
 * A recorded chain; false if it has a mark that no kernel sets: nothing of it can be trusted.
 * @calls: in user code it has the calls themselves, not where they return to. Every sample comes
 * through here with all of its frames, so it is written for speed.
 */
static bool recorded_chain(struct resolver *r, const uint64_t *chain, uint64_t len, bool calls,
			   const struct chain_roots *roots, bool *ret_has_user)
{
	const uint64_t marks = (uint64_t)PERF_CONTEXT_MAX;
	uint32_t root = roots->user;
	struct chain_step *to, *end;
	/* A return address belongs to the call before it, which may be the last of its function. */
	uint32_t back = 0;

	vec_reserve(&r->steps, max_stack(r));
	to = r->steps.items;
	end = to + max_stack(r);
	for (uint64_t i = 0; i < len && to < end; i++) {
		uint64_t ip = chain[i];

		if (ip < marks) {
			to->ip = ip;
			to->back = ip ? back : 0;
			resolver_set_place(r, to++, root);
			back = !(calls && root == roots->user);
			continue;
		}
		if (ip == (uint64_t)PERF_CONTEXT_KERNEL || ip == (uint64_t)PERF_CONTEXT_HV)
			root = roots->kernel;
		else if (ip == (uint64_t)PERF_CONTEXT_USER)
			root = roots->user;
		else
			return false;
		back = 0;
	}
	r->steps.len = (size_t)(to - r->steps.items);
	/* User code is the outermost part. */
	*ret_has_user = r->steps.len && root == roots->user && chain[len - 1] < marks;
	return true;
}

struct lookup_ctx {
	struct resolver *resolver;
	uint32_t root;
};

static struct module *find_module(void *ctx, uint64_t runtime_address, uint64_t *ret_address)
{
	const struct lookup_ctx *c = ctx;
	struct chain_step step = resolver_step(c->resolver, runtime_address, c->root);
	struct module *m;

	if (!step.image)
		return NULL;
	m = resolver_module(c->resolver, step.image);
	*ret_address = module_address(m, step.offset, runtime_address);
	return m;
}

static bool is_executable(void *ctx, uint64_t runtime_address)
{
	const struct lookup_ctx *c = ctx;
	const struct history *h = c->resolver->shared->history;
	uint32_t mapping;

	return maps_find(&h->maps, c->root & ~KERNEL_ROOT, runtime_address, &mapping) &&
	       !h->mappings.items[mapping].data;
}

static void unwound_chain(struct resolver *r, const struct sample *s, uint32_t root)
{
	struct lookup_ctx ctx = {r, root};
	struct unwind_input in = {
		.machine = r->shared->machine,
		.regs = &s->regs_user,
		.stack = &s->stack_user,
		.space = {find_module, &ctx, is_executable},
	};
	size_t limit = max_stack(r), room = limit > r->steps.len ? limit - r->steps.len : 0, count;
	enum unwind_end end;

	if (room > ARRAY_LEN(r->ips))
		room = ARRAY_LEN(r->ips);
	if (!room)
		return;
	if (!r->unwinder)
		r->unwinder = unwinder_new();
	end = unwind_stack(r->unwinder, &in, r->ips, room, &count);
	for (size_t i = 0; i < count; i++)
		vec_push(&r->steps, resolver_step(r, r->ips[i], root));
	r->end = end;
	r->ends[end]++;
	if (!unwind_end_text(end))
		return;
	r->report.cut_stacks++;
	if (!r->shared->options->no_end_frames)
		vec_push(&r->steps, (struct chain_step){.offset = end, .image = IMAGE_MARK});
}

void resolver_chain(struct resolver *r, const struct record *sample,
		    const struct stream_event *event, uint64_t time_ns)
{
	struct chain_roots roots = roots_of(r, sample, time_ns);
	const struct sample *s = &sample->sample;
	const uint64_t *chain = s->chain;
	uint64_t len = s->chain_len;
	bool has_user = false, calls = s->branches.count && lbr_is_call_stack(&event->attr);

	r->steps.len = 0;
	r->end = UNWIND_COMPLETE;
	if (calls) {
		len = lbr_chain(s, r->ips, ARRAY_LEN(r->ips));
		chain = r->ips;
	}
	if (!recorded_chain(r, chain, len, calls, &roots, &has_user))
		r->steps.len = 0;
	if (!has_user && (event->attr.sample_type & PERF_SAMPLE_STACK_USER) && s->regs_user.abi)
		unwound_chain(r, s, roots.user);
}

/* What is sampled without a chain, or with one that cannot be used, is at least somewhere. */
void resolver_leaf(struct resolver *r, const struct record *sample,
		   const struct stream_event *event, uint64_t time_ns)
{
	struct chain_roots roots = roots_of(r, sample, time_ns);

	r->steps.len = 0;
	if (event->attr.sample_type & PERF_SAMPLE_IP)
		vec_push(&r->steps,
			 resolver_step(r, sample->sample.ip,
				       is_kernel(sample->misc) ? roots.kernel : roots.user));
}

/* ---- rows ---- */

static size_t row_slot(const struct known_rows *k, uint64_t hash)
{
	size_t at = hash & k->mask;

	while (k->slots[at].row && k->slots[at].hash != hash)
		at = (at + 1) & k->mask;
	return at;
}

static bool row_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct known_row *known = slot;

	(void)seed;
	*ret_hash = known->hash;
	return known->row;
}

/*
 * Two different chains with the same hash of 64 seeded bits would be taken for one: among ten
 * million different ones the chance of any is 1 in 400,000.
 */
static uint64_t hash_of_steps(struct resolver *r)
{
	uint64_t h = r->shared->seed;

	for (size_t i = r->steps.len; i-- > 0;)
		h = resolver_hash_step(r, h, &r->steps.items[i]);
	return h;
}

static uint64_t row_hash(const struct profile_row *keys, uint64_t chain)
{
	return hash_mix(chain ^ ((uint64_t)keys->thread.n << 32 | keys->event.n),
			((uint64_t)keys->cpu << 32 | keys->bucket) ^
				keys->key.n * 0x9e3779b97f4a7c15ull);
}

static void tell_sample(struct resolver *r, const struct pending_sample *p)
{
	struct found_stack found = resolver_stack(r, &p->steps, p->hash);
	struct sample_row sample = {
		.time_ns = p->time_ns,
		.weight = p->weight,
		.address = p->address,
		.event = p->keys.event.n,
		.thread = p->keys.thread.n,
		.stack = found.stack,
		.cpu = p->cpu,
		.leaf = found.leaf,
		.raw = p->raw.s,
		.raw_size = (uint32_t)p->raw.len,
	};

	r->on_sample(r->sample_ctx, &sample);
}

static void count_row(struct resolver *r, struct pending_sample *p)
{
	struct known_rows *k = &r->rows;
	uint64_t hash = row_hash(&p->keys, p->hash);
	struct known_row *row = &k->slots[row_slot(k, hash)];

	if (!row->row) {
		p->keys.stack.n = resolver_stack(r, &p->steps, p->hash).stack;
		row->row = profile_row(r->profile, &p->keys);
		if (!row->row)
			return;
		row->hash = hash;
		k->count++;
	}
	row->samples++;
	row->weight += p->weight;
}

static struct pending_sample *pending(struct resolver *r, size_t number)
{
	return &r->pending[number % PENDING_SAMPLES];
}

static void flush_one(struct resolver *r)
{
	struct pending_sample *p = pending(r, r->pending_begin++);

	if (r->on_sample)
		tell_sample(r, p);
	else
		count_row(r, p);
}

void resolver_flush(struct resolver *r)
{
	while (r->pending_begin < r->pending_end)
		flush_one(r);
}

/* What the sample will be looked up in is brought into the caches. */
static void fetch_sample(struct resolver *r, const struct pending_sample *p)
{
	struct known_rows *k = &r->rows;

	if (r->on_sample) {
		resolver_fetch_stack(r, p->hash);
		return;
	}
	if (!k->slots || k->count * 3 > k->mask * 2)
		k->slots = open_table_grow(k->slots, &k->mask, sizeof(*k->slots), row_home, 0);
	__builtin_prefetch(&k->slots[row_hash(&p->keys, p->hash) & k->mask]);
}

/* r->steps are the sample's chain. */
static void count_sample(struct resolver *r, const struct profile_row *keys,
			 const struct record *sample, uint64_t time_ns, uint64_t weight)
{
	struct pending_sample *p = pending(r, r->pending_end);
	chain_steps spare;
	struct buf raw;

	if (r->pending_end - r->pending_begin == PENDING_SAMPLES)
		flush_one(r);
	r->pending_end++;
	spare = p->steps;
	raw = p->raw;
	*p = (struct pending_sample){
		.steps = r->steps,
		.keys = *keys,
		.hash = hash_of_steps(r),
		.weight = weight,
		.time_ns = time_ns,
		.address = sample->sample.addr,
		.cpu = sample->id.cpu,
		.raw = raw,
	};
	if (r->shared->options->raw) {
		buf_clear(&p->raw);
		if (sample->sample.raw.size)
			buf_add_mem(&p->raw, sample->sample.raw.data, sample->sample.raw.size);
	}
	r->steps = spare;
	r->steps.len = 0;
	fetch_sample(r, p);
}

/* Counts stay beside the hashes while samples come, because rows lie elsewhere in memory. */
static void deliver_counts(struct resolver *r)
{
	for (size_t i = 0; r->rows.slots && i <= r->rows.mask; i++) {
		struct known_row *known = &r->rows.slots[i];
		struct profile_row *row;

		if (!known->samples)
			continue;
		row = &r->profile->rows.items[known->row - 1];
		row->samples += known->samples;
		row->weight += known->weight;
		known->samples = 0;
		known->weight = 0;
	}
}

void resolver_count_all(struct resolver *r)
{
	resolver_flush(r);
	deliver_counts(r);
}

/* ---- samples ---- */

static uint8_t ask_filter(const struct resolver *r, thread_id thread)
{
	const struct profile *p = r->shared->history->profile;
	const struct profile_thread *t = &p->threads.items[thread.n];

	return filter_task(&r->shared->filter, t->pid, t->tid, profile_text(p, t->comm)) ? 2 : 1;
}

static thread_id first_of_comm(struct resolver *r, thread_id thread)
{
	uint32_t comm = r->shared->history->profile->threads.items[thread.n].comm.n;

	while (r->comm_threads.len <= comm)
		vec_push(&r->comm_threads, 0);
	if (!r->comm_threads.items[comm])
		r->comm_threads.items[comm] = thread.n;
	return (thread_id){r->comm_threads.items[comm]};
}

void resolver_know_threads(struct resolver *r)
{
	const struct profile *p = r->shared->history->profile;

	for (uint32_t n = (uint32_t)r->wanted.len; n < p->threads.len; n++) {
		vec_push(&r->wanted, n ? ask_filter(r, (thread_id){n}) : 1);
		if (r->shared->options->by_comm)
			vec_push(&r->same_comm, first_of_comm(r, (thread_id){n}));
	}
}

static bool wants_thread(struct resolver *r, thread_id thread)
{
	if (thread.n >= r->wanted.len)
		resolver_know_threads(r);
	return r->wanted.items[thread.n] == 2;
}

/* No record tells of the task. While others look at the history, it cannot be added there: our own
 * profile keeps it, under a number that merging will change. */
static thread_id unknown_thread(struct resolver *r, const struct record_id *id, uint64_t time_ns)
{
	char comm[24];
	thread_id own;

	if (r->shared->grows)
		return history_add_thread(r->shared->history, id->pid, id->tid, time_ns);
	snprintf(comm, sizeof(comm), ":%d", (int)id->tid);
	own = profile_thread(r->profile, id->pid, id->tid, profile_string(r->profile, comm));
	return (thread_id){own.n | OWN_THREAD};
}

static bool wants_unknown(const struct resolver *r, thread_id thread)
{
	const struct profile *p = r->profile;
	const struct profile_thread *t = &p->threads.items[thread.n & ~OWN_THREAD];

	return filter_task(&r->shared->filter, t->pid, t->tid, profile_text(p, t->comm));
}

static bool choose_thread(struct resolver *r, const struct record *sample, uint64_t time_ns,
			  thread_id *ret)
{
	const struct resolve_options *o = r->shared->options;

	if (!r->shared->grows && r->last_thread.tid == sample->id.tid &&
	    holds(&r->last_thread.span, time_ns)) {
		*ret = r->last_thread.thread;
		return r->last_thread.wanted;
	}
	*ret = r->shared->grows ? history_thread_now(r->shared->history, sample->id.tid, time_ns,
						     &r->last_thread.span)
				: history_thread(r->shared->history, sample->id.tid, time_ns,
						 &r->last_thread.span);
	if (!ret->n)
		*ret = unknown_thread(r, &sample->id, time_ns);
	r->last_thread.tid = sample->id.tid;
	r->last_thread.wanted =
		ret->n & OWN_THREAD ? wants_unknown(r, *ret) : wants_thread(r, *ret);
	if (o->no_threads)
		*ret = (thread_id){};
	else if (o->by_comm && !(ret->n & OWN_THREAD))
		*ret = r->same_comm.items[ret->n];
	r->last_thread.thread = *ret;
	return r->last_thread.wanted;
}

static bool wants_event(struct resolver *r, const struct stream_event *event, uint32_t number)
{
	struct wanted_event *w;

	vec_grow(&r->wanted_events, number + 1);
	w = &r->wanted_events.items[number];
	if (!w->wanted)
		w->wanted = filter_event(&r->shared->filter, perfdata_event_name(event)) ? 2 : 1;
	w->seen++;
	return w->wanted == 2;
}

static void count_event(struct resolver *r, uint32_t event, uint64_t weight)
{
	while (r->events.len <= event)
		vec_push(&r->events, (struct profile_event){});
	r->events.items[event].samples++;
	r->events.items[event].weight += weight;
}

/* Names in printed texts of tracepoints: "%pS". */
static const char *kernel_symbol(void *arg, uint64_t address, uint64_t *ret_offset)
{
	struct resolver *r = arg;
	struct chain_step step = resolver_step(
		r, address, history_kernel(r->shared->history, UINT64_MAX, NULL) | KERNEL_ROOT);
	const struct symbol *s;
	const char *name;
	struct module *m;

	if (!step.image || step.image == IMAGE_MARK || r->shared->options->no_names)
		return NULL;
	m = resolver_module(r, step.image);
	address = module_address(m, step.offset, step.ip);
	s = resolver_symbol(m, address, &name);
	if (!s)
		return NULL;
	*ret_offset = address - s->start;
	return name;
}

static const char *kernel_string(void *arg, uint64_t address)
{
	const struct resolver *r = arg;

	return facts_string(r->shared->facts, address);
}

/* Sets what the fields of a sample make of it. Returns false if it does not count. */
static bool take_fields(struct resolver *r, const struct record *sample,
			const struct stream_event *event, struct profile_row *keys,
			uint64_t *weight)
{
	struct format_context ctx = {r, kernel_symbol, kernel_string};
	enum trace_key_result result =
		trace_keys_sample(r->trace_keys, event, keys->event.n, &sample->sample.raw, &ctx,
				  r->profile, &keys->key, weight);

	r->report.no_field += result == TRACE_KEY_NO_FIELD;
	r->report.negative += result == TRACE_KEY_NEGATIVE;
	return result != TRACE_KEY_NO_FIELD;
}

void resolver_sample(struct resolver *r, const struct record *sample,
		     const struct stream_event *event, uint32_t event_index, uint64_t time_ns,
		     uint64_t weight)
{
	const struct resolve_options *o = r->shared->options;
	struct profile_row keys = {.event = {event_index}};

	if (!wants_event(r, event, event_index) || !filter_time(&r->shared->filter, time_ns) ||
	    !filter_cpu(&r->shared->filter, sample->id.cpu))
		return;
	if (!choose_thread(r, sample, time_ns, &keys.thread))
		return;
	if (r->trace_keys && !take_fields(r, sample, event, &keys, &weight))
		return;
	if (o->by_cpu)
		keys.cpu = sample->id.cpu;
	if (o->bucket_ns)
		keys.bucket = (uint32_t)((time_ns - r->shared->base_ns) / o->bucket_ns);
	if (!o->leaf_only)
		resolver_chain(r, sample, event, time_ns);
	if (o->leaf_only || !r->steps.len)
		resolver_leaf(r, sample, event, time_ns);
	count_event(r, event_index, weight);
	if (!r->first_ns || time_ns < r->first_ns)
		r->first_ns = time_ns;
	if (time_ns > r->last_ns)
		r->last_ns = time_ns;
	count_sample(r, &keys, sample, time_ns, weight);
}

/* ---- the whole ---- */

void resolver_init(struct resolver *r, struct resolve_shared *shared, struct profile *profile)
{
	*r = (struct resolver){.shared = shared,
			       .profile = profile,
			       .frames.seed = hash_seed(),
			       .stacks_seen = 1, /* the empty one */
			       .on_sample = shared->options->on_sample,
			       .sample_ctx = shared->options->sample_ctx};
	if (trace_key_wanted(&shared->options->trace))
		r->trace_keys = trace_keys_new(&shared->options->trace, shared->facts);
}

void resolver_release(struct resolver *r)
{
	table_free(r->frames.slots, r->frames.mask + 1, sizeof(*r->frames.slots));
	table_free(r->rows.slots, r->rows.mask + 1, sizeof(*r->rows.slots));
	table_free(r->stacks.slots, r->stacks.mask + 1, sizeof(*r->stacks.slots));
	vec_release(&r->steps);
	for (size_t i = 0; i < PENDING_SAMPLES; i++) {
		vec_release(&r->pending[i].steps);
		buf_release(&r->pending[i].raw);
	}
	vec_release(&r->hashes);
	vec_release(&r->new_chains.steps);
	vec_release(&r->new_chains.hashes);
	vec_release(&r->new_chains.lens);
	vec_release(&r->new_chains.stacks);
	vec_release(&r->modules);
	vec_release(&r->wanted);
	vec_release(&r->same_comm);
	vec_release(&r->comm_threads);
	vec_release(&r->wanted_events);
	vec_release(&r->events);
	vec_release(&r->merged.frames);
	vec_release(&r->merged.stacks);
	trace_keys_free(r->trace_keys);
	if (r->unwinder)
		unwinder_free(r->unwinder);
}
