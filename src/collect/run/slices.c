/* The table of run slices, derived from samples of the scheduler's tracepoints as they arrive. */
#include "base/clock.h"
#include "collect/run/feed.h"
#include "collect/run/sched_events.h"
#include "profile/schema.h"
#include "profile/spans.h"

#include <string.h>

/* Each duration class of slices has chunks of its own. To avoid tiny chunks, rows wait until there are
 * ROWS_MIN, or until the first of them has waited for PATIENCE_NS. */
#define ROWS_MIN    512u
#define PATIENCE_NS (250 * NS_PER_MSEC)

enum {
	COLUMN_TIME,
	COLUMN_END,
	COLUMN_THREAD,
	COLUMN_CPU,
	COLUMN_STACK,
	COLUMN_WHOLE,
	COLUMN_BEGAN,
	COLUMN_ENDED,
	COLUMN_STATE,
	COLUMN_WAIT,
	COLUMN_WAITED,
	COLUMN_WAKER,
	COLUMN_PRIO,
	COLUMNS,
};

#define OWN(n) (SCHEMA_TAG_OWN + (n))

static const struct column_schema columns[COLUMNS] = {
	[COLUMN_TIME] = {"time", "ns", "when it began to run, or is known to have run", TAG_TIME,
			 VALUE_TIME, AS_TIME, 8},
	[COLUMN_END] = {"end", "ns", "when it stopped, or until when it is known to have run",
			TAG_END, VALUE_TIME, AS_END, 8},
	[COLUMN_THREAD] = {"thread", "", "that ran", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	[COLUMN_CPU] = {"cpu", "", "that it ran on", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	[COLUMN_STACK] = {"stack", "", "where it stopped", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	[COLUMN_WHOLE] = {"whole", "", "1: both ends were seen; 0: it may have run for longer",
			  OWN(0), VALUE_UNSIGNED, AS_VALUE, 1},
	[COLUMN_BEGAN] = {"began", "", "'switch': the switch to it was seen; 'unseen': it was not",
			  OWN(1), VALUE_STRING, AS_KEY, 4},
	[COLUMN_ENDED] = {"ended", "",
			  "why it stopped: preempted (or it yielded), sleeping, uninterruptible, "
			  "exited…; 'lost': not seen; 'open': it still ran at the end",
			  OWN(2), VALUE_STRING, AS_KEY, 4},
	[COLUMN_STATE] = {"state", "", "its state then, in the kernel's letters", OWN(3),
			  VALUE_STRING, AS_KEY, 4},
	[COLUMN_WAIT] = {"wait", "ns",
			 "how long it was ready before it ran; not known, and 0, where "
			 "'waited' is empty",
			 OWN(4), VALUE_DURATION, AS_VALUE, 8},
	[COLUMN_WAITED] = {"waited", "",
			   "what the wait began with: wakeup, creation, preemption; empty: not "
			   "known",
			   OWN(5), VALUE_STRING, AS_KEY, 4},
	[COLUMN_WAKER] = {"waker", "", "who woke or created it; none: an interrupt, or not known",
			  OWN(6), VALUE_THREAD, AS_KEY, 4},
	[COLUMN_PRIO] = {"prio", "",
			 "the kernel's priority of it: 120 is nice 0, below 100 is real time",
			 OWN(7), VALUE_SIGNED, AS_VALUE, 4},
};

/* How a thread stopped, by its value of prev_state. */
struct known_state {
	uint64_t value;
	string_id letters;
	string_id meaning;
	enum slice_stop stop;
};
#define STATES_MAX 64u /* the kernel has about ten */

struct feed_slices {
	struct run_feed *feed;
	struct run_slices *machine;       /* NULL: the recording has no usable switches */
	VEC(struct slice_source) sources; /* by event */
	VEC(struct known_state) states;
	uint32_t schema;
	uint32_t switch_event; /* the event that slices are made from */
	bool waits;            /* all CPUs are recorded, so waits are known */
	bool other_tids;       /* tids of fields and of samples are of different pid namespaces */
	string_id began[2], ended[SLICE_OPEN + 1], waited[WAIT_PREEMPTED + 1];
	VEC(uint64_t) rows[COLUMNS]; /* not sent yet; by column, all of the same length */
	uint64_t waits_since_ns;
};

struct slice_source {
	struct sched_event *event; /* NULL: not an event of the scheduler, or not usable */
	bool looked;
};

/* ---- rows ---- */

/* Returns the thread with a tid at @time_ns; 0: unknown. */
static uint32_t thread_at(struct feed_slices *s, uint32_t tid, uint64_t time_ns)
{
	struct history *h = &s->feed->analysis.history;
	thread_id known;

	if (s->other_tids)
		return 0;
	known = history_thread_now(h, tid, time_ns, NULL);
	/* No record has mentioned the thread. One that comes later adds its process. */
	return known.n ? known.n : history_add_thread(h, ~0u, tid, time_ns).n;
}

static void take_slice(void *ctx, const struct run_slice *slice)
{
	struct feed_slices *s = ctx;
	enum slice_wait wait = s->waits ? slice->wait : WAIT_UNKNOWN;
	bool ended = slice->end == SLICE_ENDED;
	uint64_t row[COLUMNS] = {
		[COLUMN_TIME] = slice->start_ns,
		[COLUMN_END] = slice->end_ns,
		[COLUMN_THREAD] =
			slice->thread ? slice->thread : thread_at(s, slice->tid, slice->end_ns),
		[COLUMN_CPU] = slice->cpu,
		[COLUMN_STACK] = ended ? slice->stack : 0,
		[COLUMN_WHOLE] = slice->begun && ended,
		[COLUMN_BEGAN] = s->began[slice->begun].n,
		[COLUMN_ENDED] =
			ended ? s->states.items[slice->state].meaning.n : s->ended[slice->end].n,
		[COLUMN_STATE] = ended ? s->states.items[slice->state].letters.n : 0,
		[COLUMN_WAIT] = wait ? slice->wait_ns : 0,
		[COLUMN_WAITED] = s->waited[wait].n,
		[COLUMN_WAKER] = wait ? slice->waker : 0,
		[COLUMN_PRIO] = (uint64_t)(int64_t)slice->prio,
	};

	if (!s->rows[0].len)
		s->waits_since_ns = clock_now_ns();
	s->feed->table_rows++;
	for (size_t i = 0; i < COLUMNS; i++)
		vec_push(&s->rows[i], row[i]);
}

static int send_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct run_feed *f = ctx;

	(void)info;
	f->ended |= !runner_send_patiently(f->runner, RUN_CHUNK, bytes);
	return f->ended;
}

void feed_slices_send(struct run_feed *f, bool all)
{
	struct feed_slices *s = f->slices;
	CLEANUP(free_ptr) struct chunk_columns *c = NULL;

	if (!s || !s->rows[0].len ||
	    (!all && s->rows[0].len < ROWS_MIN && clock_now_ns() - s->waits_since_ns < PATIENCE_NS))
		return;
	c = xcalloc(1, sizeof(*c));
	c->info.schema = s->schema;
	c->rows = s->rows[0].len;
	for (; c->count < COLUMNS; c->count++)
		c->columns[c->count] =
			(struct chunk_column){columns[c->count].tag, s->rows[c->count].items};
	span_chunks_encode(c, send_chunk, f);
	f->table_rows -= c->rows;
	for (size_t i = 0; i < COLUMNS; i++)
		s->rows[i].len = 0;
}

/* ---- which events ---- */

/* Whether samples were filtered, as far as the recording's command line tells: its events do not. */
static bool was_filtered(const struct run_feed *f)
{
	if (!f->runner->order.import)
		return f->runner->order.plan.filter;
	vec_each(&f->file->facts.cmdline, word)
		if (!strcmp(*word, "--filter") || !strncmp(*word, "--filter=", 9))
			return true;
	return false;
}

/* Returns why an event's switches cannot be used for slices, or NULL if they can. */
static const char *problem_of(const struct run_feed *f, const struct stream_event *event)
{
	return was_filtered(f) ? "a filter has left out switches" : sched_event_problem(event);
}

bool feed_slices_wanted(const struct run_feed *f)
{
	const struct perfdata *file = f->file;

	vec_each(&file->stream.events, event)
		if (sched_kind_of(&file->facts, event) == TRACE_SWITCH && !problem_of(f, event))
			return true;
	return false;
}

/* Whether all CPUs are recorded. If not, a thread may run unseen while it seems to wait. */
static bool knows_all_cpus(const struct run_feed *f, const struct stream_event *event)
{
	uint32_t cpus = f->file->facts.cpus_online;

	return f->runner->order.import ? cpus && event->ids.len >= cpus
				       : !f->runner->order.plan.cpus;
}

/* Whether all switches of the recorded CPUs are recorded, whatever task runs. For imports this is known only if
 * `tacho run` made the recording: options of other commands cannot be told from those of their workload. */
static bool records_cpus(const struct run_feed *f)
{
	const struct runner_order *o = &f->runner->order;
	const strvec *words = &f->file->facts.cmdline;

	if (!o->import)
		return o->plan.system_wide || o->plan.cpus;
	return words->len > 2 && !strcmp(words->items[0], "tacho") &&
	       !strcmp(words->items[1], "run") &&
	       (!strcmp(words->items[2], "-a") || !strcmp(words->items[2], "-C"));
}

static void add_schema(struct feed_slices *s)
{
	static const char *const ended[] = {[SLICE_LOST] = "lost", [SLICE_OPEN] = "open"};
	static const char *const waited[] = {[WAIT_WOKEN] = "wakeup",
					     [WAIT_CREATED] = "creation",
					     [WAIT_PREEMPTED] = "preemption"};
	struct profile *p = &s->feed->profile;
	const struct table_schema table = {
		.name = SLICES_TABLE,
		.meaning = "when each thread ran on which CPU, by sched:sched_switch",
		.is_span = true,
		.column_count = COLUMNS,
	};

	s->schema = profile_schema_add(p, &table, columns);
	s->began[false] = profile_string(p, "unseen");
	s->began[true] = profile_string(p, "switch");
	for (size_t i = SLICE_LOST; i < ARRAY_LEN(ended); i++)
		s->ended[i] = profile_string(p, ended[i]);
	for (size_t i = WAIT_WOKEN; i < ARRAY_LEN(waited); i++)
		s->waited[i] = profile_string(p, waited[i]);
}

static struct sched_event *source_of(struct feed_slices *s, uint32_t number)
{
	const struct perfdata *file = s->feed->file;
	struct slice_source *source;

	while (s->sources.len <= number)
		vec_push(&s->sources, (struct slice_source){});
	source = &s->sources.items[number];
	if (!source->looked && number < file->stream.events.len) {
		const struct stream_event *event = &file->stream.events.items[number];
		enum sched_kind kind = sched_kind_of(&file->facts, event);

		source->looked = true;
		if (kind != TRACE_OTHER && (kind != TRACE_SWITCH || number == s->switch_event))
			source->event = sched_event_new(&file->facts, event);
	}
	return source->event;
}

static void use_switches(struct feed_slices *s, uint32_t number)
{
	const struct stream_event *event = &s->feed->file->stream.events.items[number];
	const char *problem = problem_of(s->feed, event);
	CLEANUP(free_ptr) char *note = NULL;

	s->switch_event = number;
	if (!problem && !source_of(s, number))
		problem = "the recording does not describe all fields that are needed";
	if (problem) {
		note = xasprintf("There is no table of run slices: of sched:sched_switch %s.",
				 problem);
		runner_note(s->feed->runner, note);
		return;
	}
	add_schema(s);
	if (!s->schema)
		return;
	s->machine = run_slices_new(records_cpus(s->feed), take_slice, s);
	s->waits = knows_all_cpus(s->feed, event);
}

/* Uses the first event of switches; any other has the same switches again. */
static void find_switches(struct feed_slices *s)
{
	const struct perfdata *file = s->feed->file;

	for (uint32_t i = 0; i < file->stream.events.len; i++)
		if (sched_kind_of(&file->facts, &file->stream.events.items[i]) == TRACE_SWITCH) {
			use_switches(s, i);
			return;
		}
}

/* ---- events ---- */

/* Returns the index of a state in s->states. Only damaged or forged recordings have more than STATES_MAX: all
 * further states share one entry without a meaning. */
static uint32_t state_of(struct feed_slices *s, const struct sched_event *e, uint64_t value)
{
	struct profile *p = &s->feed->profile;
	CLEANUP(buf_release) struct buf letters = {};
	struct known_state state = {.value = value};

	for (uint32_t i = 0; i < s->states.len; i++)
		if (s->states.items[i].value == value)
			return i;
	if (s->states.len > STATES_MAX)
		return STATES_MAX;
	if (s->states.len < STATES_MAX)
		sched_event_state(e, value, &letters);
	state.letters = profile_string(p, buf_str(&letters));
	state.meaning =
		profile_string(p, sched_state_meaning(buf_str(&letters), value, &state.stop));
	vec_push(&s->states, state);
	return (uint32_t)s->states.len - 1;
}

/* Returns the thread that stops, which is that of the sample unless its tid is -1 because it has exited. In a
 * recording made inside a pid namespace, samples have tids of that namespace, and fields those of the host. */
static uint32_t stopped_thread(struct feed_slices *s, const struct sample_row *row, uint32_t tid)
{
	const struct profile *p = &s->feed->profile;
	uint32_t at = row->thread - p->threads_forgotten;
	uint32_t sampled = at < p->threads.len ? p->threads.items[at].tid : ~0u;

	if (sampled == ~0u)
		return thread_at(s, tid, row->time_ns);
	s->other_tids |= sampled != tid;
	return row->thread;
}

static bool take_switch(struct feed_slices *s, const struct sched_event *e,
			const struct sample_row *row)
{
	struct slice_switch to = {.time_ns = row->time_ns, .cpu = row->cpu, .stack = row->stack};
	uint64_t state;

	if (!sched_event_switch(e, row->raw, row->raw_size, &to, &state))
		return false;
	to.state = state_of(s, e, state);
	to.stop = s->states.items[to.state].stop;
	to.prev_thread = stopped_thread(s, row, to.prev_tid);
	run_slices_switch(s->machine, &to);
	return true;
}

static bool take_wakeup(struct feed_slices *s, const struct sched_event *e,
			const struct sample_row *row)
{
	struct slice_wakeup to = {
		.time_ns = row->time_ns, .cpu = row->cpu, .current_thread = row->thread};
	bool interrupt;

	if (!sched_event_wakeup(e, row->raw, row->raw_size, &to, &interrupt))
		return false;
	/* The idle task is not the waker: it carries out a wakeup that another CPU has requested. */
	to.waker = interrupt || !to.current_tid ? 0 : row->thread;
	run_slices_wakeup(s->machine, &to);
	return true;
}

static bool take_event(struct feed_slices *s, const struct sched_event *e,
		       const struct sample_row *row)
{
	if (!row->time_ns || !row->raw_size)
		return false;
	return sched_event_kind(e) == TRACE_SWITCH ? take_switch(s, e, row)
						   : take_wakeup(s, e, row);
}

void feed_slices_take(struct run_feed *f, const struct sample_row *row)
{
	struct sched_event *e;

	if (!f->slices) {
		f->slices = xcalloc(1, sizeof(*f->slices));
		f->slices->feed = f;
		find_switches(f->slices);
	}
	if (!f->slices->machine)
		return;
	e = source_of(f->slices, row->event);
	/* Treat an event that cannot be decoded as lost. */
	if (e && !take_event(f->slices, e, row))
		run_slices_lost(f->slices->machine, row->cpu);
}

void feed_slices_lost(struct run_feed *f, uint32_t cpu)
{
	if (!f->slices || !f->slices->machine)
		return;
	/* The resolver may still hold samples from before the loss. */
	resolver_flush(&f->analysis.resolver);
	run_slices_lost(f->slices->machine, cpu);
}

/* ---- the end ---- */

static void tell_what_is_missing(struct feed_slices *s)
{
	static const char of_tasks[] = "sched:sched_switch was recorded for single tasks: the "
				       "kernel tells when such a task "
				       "stops, but not when it begins to run. In the table "
				       "run_slices only those slices are "
				       "whole that follow another recorded task.";
	/* Not for reported losses: these end the slices. */
	static const char away_and_back[] =
		" A whole one is too long if its thread stopped and went "
		"on without any event that tells so.";
	const struct slice_counts *c = run_slices_counts(s->machine);
	CLEANUP(free_ptr) char *note = NULL;

	if (!c->losses && !c->broken && !c->late)
		return;
	if (!c->whole_cpus && !s->feed->runner->order.import) {
		runner_note(s->feed->runner, of_tasks);
		return;
	}
	note = xasprintf("Switches of threads are missing in this recording%s (%llu losses, %llu "
			 "contradictions, %llu too late): in the table run_slices %llu of %llu "
			 "slices are not whole, they last at least as long as is shown.%s",
			 c->whole_cpus ? "" : ", or it is one of single tasks",
			 (unsigned long long)c->losses, (unsigned long long)c->broken,
			 (unsigned long long)c->late, (unsigned long long)c->partial,
			 (unsigned long long)c->slices, c->broken || c->late ? away_and_back : "");
	runner_note(s->feed->runner, note);
}

void feed_slices_end(struct run_feed *f)
{
	struct feed_slices *s = f->slices;

	if (!s || !s->machine)
		return;
	resolver_flush(&f->analysis.resolver);
	run_slices_end(s->machine, f->newest_ns, run_slices_counts(s->machine)->whole_cpus);
	tell_what_is_missing(s);
}

void feed_slices_release(struct run_feed *f)
{
	struct feed_slices *s = f->slices;

	if (!s)
		return;
	run_slices_free(s->machine);
	vec_each(&s->sources, source)
		sched_event_free(source->event);
	vec_release(&s->sources);
	vec_release(&s->states);
	for (size_t i = 0; i < COLUMNS; i++)
		vec_release(&s->rows[i]);
	free(s);
}
