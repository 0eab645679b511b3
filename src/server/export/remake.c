#include "server/export/remake.h"

#include "perfdata/build_id_table.h"
#include "perfdata/features_machine.h"
#include "server/export/remake_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define ROUND_BYTES (1u << 20)

struct remake {
	struct remake_options o;
	const struct profile *p;
	remade_modules modules;
	VEC(struct writer_event) events;
	VEC(uint64_t) ids; /* one per event */
	struct feature_set features;
	struct writer *writer;
	struct writer_lane *lane;
	struct buf records; /* not yet passed to the writer */
	bool with_chains;
	/* Tasks and mappings that have records already: */
	struct slots task_slots;    /* by thread id: the name that it had last, */
	VEC(thread_id) tasks;       /* number n of the slots is item n - 1 */
	struct slots mapping_slots; /* by (process, module) */
	VEC(struct told_mapping { uint32_t pid, module; }) mappings;
	uint32_t *stack_pid; /* by stack: pid + 1 of the process that it was last mapped in */
	uint64_t seed, first_ns, last_ns, samples, cut;
	uint64_t chain[REMADE_CHAIN_MAX];
};

/* ---- opening ---- */

static bool has_chains(const struct profile *p)
{
	vec_each(&p->stacks, stack)
		if (stack->parent.n)
			return true;
	return false;
}

static void add_event(struct remake *r, uint32_t n)
{
	static const struct remake_event unknown = {.type = PERF_TYPE_SOFTWARE,
						    .config = PERF_COUNT_SW_DUMMY};
	const struct remake_event *known = n < r->o.event_count ? &r->o.events[n] : &unknown;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = known->type,
		.config = known->config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1,
		.freq = known->frequency != 0,
		.sample_freq = known->frequency ? known->frequency : known->period,
		.comm = !n,
		.mmap = !n,
		.mmap2 = !n,
		.build_id = !n,
		.ksymbol = !n,
		.use_clockid = r->o.monotonic,
		.clockid = r->o.monotonic ? CLOCK_MONOTONIC : 0,
	};

	/* All zeros stand for an unknown event, but would mean "cycles" in the attr. */
	if (!known->type && !known->config && !known->period && !known->frequency) {
		attr.type = unknown.type;
		attr.config = unknown.config;
	}
	if (r->o.addresses)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	if (r->with_chains)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	vec_push(&r->events, (struct writer_event){
				     .name = profile_text(r->p, r->p->events.items[n].name),
				     .attr = attr,
				     .id_count = 1,
			     });
}

static void set_text(struct remake *r, enum feature feature, const char *text)
{
	if (text && *text)
		feature_add_str(feature_set_begin(&r->features, feature), text);
}

static void add_features(struct remake *r)
{
	const struct remake_options *o = &r->o;
	struct buf *b;

	set_text(r, FEATURE_HOSTNAME, o->hostname);
	set_text(r, FEATURE_OSRELEASE, o->os_release);
	/* The version is the only text of our choice that every reader of a header shows. */
	set_text(r, FEATURE_VERSION,
		 "tacho " TACHO_VERSION " (made from a stored run: load addresses are not the real "
		 "ones; no registers, copies of stacks, branches, raw data, forks, exits)");
	set_text(r, FEATURE_ARCH, o->arch);
	set_text(r, FEATURE_CPUDESC, o->cpu);
	if (o->argc) {
		b = feature_set_begin(&r->features, FEATURE_CMDLINE);
		feature_add_u32(b, (uint32_t)o->argc);
		for (size_t i = 0; i < o->argc; i++)
			feature_add_str(b, o->argv[i]);
	}
	features_events(&r->features, r->events.items, r->events.len);
	if (!o->monotonic)
		return;
	feature_add_u64(feature_set_begin(&r->features, FEATURE_CLOCKID), 1);
	if (!o->wall_ns)
		return;
	b = feature_set_begin(&r->features, FEATURE_CLOCK_DATA);
	feature_add_u32(b, 1);
	feature_add_u32(b, CLOCK_MONOTONIC);
	feature_add_u64(b, o->wall_ns);
	feature_add_u64(b, o->clock_ns);
}

static void release(struct remake *r)
{
	if (r->lane)
		writer_lane_free(r->lane);
	vec_release(&r->modules);
	vec_release(&r->events);
	vec_release(&r->ids);
	feature_set_release(&r->features);
	buf_release(&r->records);
	slots_release(&r->task_slots);
	vec_release(&r->tasks);
	slots_release(&r->mapping_slots);
	vec_release(&r->mappings);
	free(r->stack_pid);
	free(r);
}

/*
 * Maps the kernel's code at the beginning, for all processes. Its records have no room for build
 * ids, which are in the header instead.
 */
static void add_kernel(struct remake *r)
{
	struct remade_stamp stamp = {.pid = UINT32_MAX, .id = 1};
	struct build_id_table *table = build_id_table_new();

	for (uint32_t n = 1; n < r->modules.len; n++) {
		const struct profile_module *m = &r->p->modules.items[n];
		struct build_id id = remade_build_id(r->p, m);

		if (r->modules.items[n].kind != REMADE_KERNEL &&
		    r->modules.items[n].kind != REMADE_SYMBOL)
			continue;
		remade_mapping(&r->records, r->p, n, &r->modules.items[n], &stamp);
		if (id.size && r->modules.items[n].kind == REMADE_KERNEL)
			build_id_table_add(table, -1, PERF_RECORD_MISC_KERNEL, &id,
					   profile_text(r->p, m->path));
	}
	build_id_table_feature(table, &r->features);
	build_id_table_free(table);
}

int remake_open(struct remake **ret, const struct remake_options *o, struct err *e)
{
	struct remake *r;
	struct writer_options options = {.path = o->path};
	int err;

	if (!o->profile->events.len)
		return err_set(
			e, ENOENT,
			"The run has no recording: it took no samples that a perf.data could "
			"hold. Its other formats (csv, jsonl, h5) have what it counted.");
	r = xcalloc(1, sizeof(*r));
	r->o = *o;
	r->p = o->profile;
	r->seed = hash_seed();
	r->with_chains = has_chains(r->p);
	r->stack_pid = xcalloc(r->p->stacks.len, sizeof(*r->stack_pid));
	remake_layout(r->p, &r->modules);
	for (uint32_t n = 0; n < r->p->events.len; n++) {
		add_event(r, n);
		vec_push(&r->ids, n + 1);
	}
	for (uint32_t n = 0; n < r->events.len; n++)
		r->events.items[n].ids = &r->ids.items[n];
	add_features(r);
	options.events = r->events.items;
	options.event_count = r->events.len;
	options.features = &r->features;
	err = writer_open(&r->writer, &options, e);
	if (err) {
		release(r);
		return err;
	}
	r->lane = writer_lane_new(r->writer);
	add_kernel(r);
	*ret = r;
	return 0;
}

/* ---- samples ---- */

static int put_round(struct remake *r, struct err *e)
{
	int err = writer_append(r->lane, r->records.s, r->records.len, NULL, 0, e);

	buf_clear(&r->records);
	return err ? err : writer_round(r->writer, e);
}

/* Writes a COMM record if the thread is new or has changed its name. */
static void tell_task(struct remake *r, thread_id thread, const struct remade_stamp *stamp)
{
	const struct profile_thread *t = &r->p->threads.items[thread.n];
	uint64_t hash = hash_mix(r->seed, t->tid);
	size_t at = slots_begin(&r->task_slots, hash);
	uint32_t n;

	while ((n = slots_next(&r->task_slots, hash, &at)))
		if (r->p->threads.items[r->tasks.items[n - 1].n].tid == t->tid)
			break;
	if (n && r->tasks.items[n - 1].n == thread.n)
		return;
	if (n) {
		r->tasks.items[n - 1] = thread;
	} else {
		vec_push(&r->tasks, thread);
		slots_add(&r->task_slots, hash, (uint32_t)r->tasks.len);
	}
	remade_comm(&r->records, profile_text(r->p, t->comm), stamp);
}

static void tell_mapping(struct remake *r, uint32_t module, const struct remade_stamp *stamp)
{
	const struct remade_module *m = &r->modules.items[module];
	uint64_t hash = hash_mix(r->seed ^ stamp->pid, module);
	size_t at = slots_begin(&r->mapping_slots, hash);
	uint32_t n;

	if (m->kind != REMADE_FILE && m->kind != REMADE_RUNTIME)
		return;
	while ((n = slots_next(&r->mapping_slots, hash, &at)))
		if (r->mappings.items[n - 1].pid == stamp->pid &&
		    r->mappings.items[n - 1].module == module)
			return;
	vec_push(&r->mappings, (struct told_mapping){stamp->pid, module});
	slots_add(&r->mapping_slots, hash, (uint32_t)r->mappings.len);
	remade_mapping(&r->records, r->p, module, m, stamp);
}

static void tell_mappings(struct remake *r, uint32_t stack, const struct remade_stamp *stamp)
{
	if (r->stack_pid[stack] == stamp->pid + 1)
		return;
	r->stack_pid[stack] = stamp->pid + 1;
	for (; stack; stack = r->p->stacks.items[stack].parent.n)
		tell_mapping(r, r->p->frames.items[r->p->stacks.items[stack].frame.n].module.n,
			     stamp);
}

/*
 * Turns a stack into a call chain. Marks separate the kernel's part from the program's, which also
 * gets frames without an address. The first entry after a mark is the interrupted address itself.
 * All others are return addresses: the stored address of a call is the byte before.
 */
static size_t make_chain(struct remake *r, uint32_t stack)
{
	uint64_t context = 0;
	size_t len = 0;

	for (; stack; stack = r->p->stacks.items[stack].parent.n) {
		const struct profile_frame *f =
			&r->p->frames.items[r->p->stacks.items[stack].frame.n];
		enum remade_kind kind = r->modules.items[f->module.n].kind;
		bool kernel = kind == REMADE_KERNEL || kind == REMADE_SYMBOL;
		uint64_t mark = (uint64_t)(kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER);
		uint64_t ip = remade_ip(&r->modules, f);

		/* A frame without a module tells how the stack ended, and is no place in code. */
		if (!f->module.n && len)
			continue;
		if (len + 2 > REMADE_CHAIN_MAX) {
			r->cut++;
			break;
		}
		if (mark != context) {
			r->chain[len++] = context = mark;
			r->chain[len++] = ip;
		} else {
			r->chain[len++] = ip ? ip + 1 : 0;
		}
	}
	return len;
}

int remake_sample(struct remake *r, const struct sample_row *row, struct err *e)
{
	uint32_t stack = row->stack < r->p->stacks.len ? row->stack : 0;
	thread_id thread = {profile_thread_number(r->p, row->thread)};
	const struct profile_thread *t = &r->p->threads.items[thread.n];
	struct remade_sample s = {
		.stamp = {.pid = t->pid,
			  .tid = t->tid,
			  .cpu = row->cpu,
			  .time_ns = row->time_ns,
			  .id = (row->event < r->ids.len ? row->event : 0) + 1},
		.address = row->address,
		.period = row->weight,
		.chain = r->chain,
		.with_address = r->o.addresses,
		.with_chain = r->with_chains,
	};

	if (!r->samples++)
		r->first_ns = row->time_ns;
	r->last_ns = row->time_ns;
	tell_task(r, thread, &s.stamp);
	tell_mappings(r, stack, &s.stamp);
	s.chain_len = make_chain(r, stack);
	s.ip = s.chain_len > 1 ? r->chain[1] : 0;
	s.kernel = s.chain_len && r->chain[0] == (uint64_t)PERF_CONTEXT_KERNEL;
	remade_sample(&r->records, &s);
	return r->records.len >= ROUND_BYTES ? put_round(r, e) : 0;
}

/* ---- the end ---- */

static void say_what_is_missing(const struct remake *r, struct buf *lacks)
{
	uint64_t unknown = 0;

	for (uint32_t n = 1; n < r->p->modules.len; n++)
		unknown += r->p->modules.items[n].problem.n != 0;
	buf_add(lacks, "Made from the stored run: load addresses are not the real ones; registers, "
		       "copies of stacks, branches, raw data of tracepoints, forks, exits and "
		       "counted values are not in it; names come from the programs as they are "
		       "now.");
	if (unknown)
		buf_addf(lacks, " %llu of its files could not be read for names even then.",
			 (unsigned long long)unknown);
	if (r->cut)
		buf_addf(lacks, " %llu stacks were cut at %u frames.", (unsigned long long)r->cut,
			 REMADE_CHAIN_MAX);
}

int remake_finish(struct remake *r, struct buf *lacks, struct err *e)
{
	struct remade_stamp stamp = {.time_ns = r->last_ns, .id = 1};
	int err, finished;

	if (r->o.lost)
		remade_lost(&r->records, r->o.lost, &stamp);
	if (r->samples)
		features_sample_time(&r->features, r->first_ns, r->last_ns);
	err = put_round(r, e);
	writer_lane_free(r->lane);
	r->lane = NULL;
	finished = writer_finish(r->writer, err ? NULL : e);
	if (lacks)
		say_what_is_missing(r, lacks);
	release(r);
	return err ? err : finished;
}
