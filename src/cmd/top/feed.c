#include "cmd/top/feed.h"
#include "base/clock.h"
#include "perf/synth.h"
#include "perfdata/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* How often new samples reach the table; the window is as exact as this. */
#define SLICE_NS (250 * NS_PER_MSEC)

/*
 * Every new stack, process and mapping adds to the profile and to the history of mappings, so over
 * hours they would grow without end. Beyond these sizes a new epoch begins: both are freed, and the
 * running tasks are read again from /proc. Past samples are in the table, which has limits of its
 * own, and names stay cached in the modules, which stay open.
 */
#define EPOCH_STACKS   (256u << 10)
#define EPOCH_ROWS     (128u << 10)
#define EPOCH_MAPPINGS (128u << 10)
#define EPOCH_THREADS  (32u << 10)
#define EPOCH_STRINGS  (16u << 20)

/*
 * Runtimes keep adding names of the code that they generate, but their map is read only once. If
 * more than one sample in JIT_SHARE is in generated code without a name, a new epoch reads the maps
 * again, at growing intervals, because the runtime may write no names at all.
 */
#define JIT_SHARE        50
#define JIT_PAUSE_NS     (3 * NS_PER_SEC)
#define JIT_PAUSE_NS_MAX (60 * NS_PER_SEC)

#define SYNTH_BYTES_MAX ((uint64_t)64 << 20)
#define SYNTH_NS_MAX    (2 * NS_PER_SEC)
#define JOIN_MS         300

/* ---- from the profile to the table ---- */

/* Addresses without a symbol are one line for each module: "[libx.so]". */
static uint32_t table_function(struct top_feed *f, function_id id)
{
	const struct profile *p = &f->profile;
	const struct profile_function *function = function_of(p, id);
	const struct profile_module *module = &p->modules.items[function->module.n];
	const char *name = function->named ? function_text(p, id) : function_label(p, id);
	uint32_t *known;

	vec_grow(&f->functions, p->functions.len);
	known = &f->functions.items[id.n];
	if (!*known)
		*known = top_function(&f->table, profile_text(p, module->name), name,
				      function->kind);
	return *known;
}

/* A frame of the profile becomes a node for its function and for each one inlined there. */
static uint32_t through_frame(void *ctx, uint32_t node, uint32_t frame)
{
	struct top_feed *f = ctx;
	const struct frame_name *names = names_of(&f->profile, (frame_id){frame});

	for (uint32_t i = 0; i < f->profile.frames.items[frame].name_count; i++)
		node = top_node(&f->table, node, table_function(f, names[i].function));
	return node;
}

static uint32_t table_node(struct top_feed *f, stack_id leaf)
{
	return stack_nodes_walk(&f->stacks, &f->profile, leaf.n, through_frame, f);
}

static uint32_t table_process(struct top_feed *f, thread_id id)
{
	const struct profile *p = &f->profile;
	const struct profile_thread *thread = &p->threads.items[id.n];
	uint32_t *known;

	vec_grow(&f->processes, p->threads.len);
	known = &f->processes.items[id.n];
	if (!*known)
		*known = top_process(&f->table, thread->pid, profile_text(p, thread->comm));
	return *known;
}

static void forget_numbers(struct top_feed *f)
{
	f->stacks.of_stack.len = f->functions.len = f->processes.len = 0;
	f->generation = f->table.generation;
}

static void note_events(struct top_feed *f)
{
	const struct profile *p = &f->profile;

	for (size_t i = f->events.len; i < p->events.len; i++)
		vec_push(&f->events, xstrdup(profile_text(p, p->events.items[i].name)));
}

static bool is_unnamed_jit(const struct profile *p, stack_id stack)
{
	frame_id frame = p->stacks.items[stack.n].frame;
	const struct profile_function *f;

	if (!p->frames.items[frame.n].name_count)
		return false;
	f = function_of(p, names_of(p, frame)->function);
	return f->kind == CODE_JIT && !f->named;
}

/* Moves the samples of the profile's rows to the table; while frozen, drops them. */
static void take_rows(struct top_feed *f)
{
	vec_each(&f->profile.rows, row) {
		if (!row->samples)
			continue;
		f->jit_samples += row->samples;
		if (is_unnamed_jit(&f->profile, row->stack))
			f->jit_unnamed += row->samples;
		if (!f->frozen)
			top_add(&f->table, row->event.n, table_process(f, row->thread),
				table_node(f, row->stack), row->samples, row->weight);
		row->samples = row->weight = 0;
	}
}

static void end_slice(struct top_feed *f, uint64_t now)
{
	analysis_name(&f->analysis);
	pthread_mutex_lock(&f->lock);
	if (f->table.generation != f->generation)
		forget_numbers(f);
	note_events(f);
	take_rows(f);
	if (!f->frozen)
		top_end_slice(&f->table, now);
	f->samples += f->new_samples;
	f->lost += f->new_lost;
	f->last_ns = now;
	if (!f->first_ns)
		f->first_ns = now;
	pthread_mutex_unlock(&f->lock);
	f->new_samples = f->new_lost = 0;
	f->last_slice_ns = now;
}

/* ---- epochs ---- */

static bool is_large(const struct top_feed *f)
{
	return f->profile.stacks.len > EPOCH_STACKS || f->profile.rows.len > EPOCH_ROWS ||
	       f->analysis.history.mappings.len > EPOCH_MAPPINGS ||
	       f->profile.threads.len > EPOCH_THREADS ||
	       f->profile.strings.bytes.len > EPOCH_STRINGS;
}

static int take_synthesised(void *ctx, const void *records, size_t size)
{
	struct top_feed *f = ctx;
	const struct stream_event *event = f->file->stream.events.items;
	struct perf_event_header header;
	const char *reason;

	for (size_t at = 0; size - at >= sizeof(header); at += header.size) {
		struct record r;

		memcpy(&header, (const char *)records + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		if (!record_decode(&event->layout, (const char *)records + at, &r, &reason))
			history_record(&f->analysis.history, &r, 0);
	}
	return 0;
}

static void describe_tasks(struct top_feed *f)
{
	const struct stream_event *event = f->file->stream.events.items;
	struct synth_options o = {.roots = f->options.roots,
				  .attr = &event->attr,
				  .id = event->ids.len ? event->ids.items[0] : 0,
				  .build_ids = true, /* so that modules are found again */
				  .limit_bytes = SYNTH_BYTES_MAX,
				  .deadline_ns = clock_now_ns() + SYNTH_NS_MAX,
				  .sink = take_synthesised,
				  .ctx = f};
	struct synth *synth = synth_new(&o);

	synth_kernel(synth);
	if (!f->options.task_count)
		synth_all(synth);
	for (size_t i = 0; i < f->options.task_count; i++)
		synth_process(synth, f->options.tasks[i]);
	synth_free(synth);
}

/* If true, the modules have to be opened again too: the maps they have read are out of date. */
static bool is_jit_stale(struct top_feed *f, uint64_t now)
{
	bool many = f->jit_unnamed && f->jit_unnamed * JIT_SHARE > f->jit_samples;

	if (now < f->next_jit_ns)
		return false;
	f->jit_samples = f->jit_unnamed = 0;
	f->jit_pause_ns = many ? f->jit_pause_ns * 2 : JIT_PAUSE_NS;
	if (f->jit_pause_ns > JIT_PAUSE_NS_MAX)
		f->jit_pause_ns = JIT_PAUSE_NS_MAX;
	f->next_jit_ns = now + f->jit_pause_ns;
	return many;
}

/* Records that are not read yet are resolved with the new description of the tasks, although they
 * are older than it, by less than half a second. */
static void begin_epoch(struct top_feed *f, bool new_modules)
{
	analysis_release(&f->analysis);
	profile_release(&f->profile);
	if (new_modules) {
		modules_free(f->modules);
		f->modules = modules_new(&f->options.resolve.symbols);
	}
	profile_init(&f->profile);
	analysis_init(&f->analysis, f->file, f->modules, &f->options.resolve, &f->profile, NULL);
	forget_numbers(f);
	describe_tasks(f);
	f->epochs++;
}

/* ---- reading ---- */

static uint64_t lost_in(const struct stream_record *raw)
{
	const char *reason;
	struct record r;

	if (raw->header->type != PERF_RECORD_LOST || !raw->event ||
	    record_decode(&raw->event->layout, raw->header, &r, &reason) < 0)
		return 0;
	return r.lost.lost;
}

static bool on_record(void *ctx, const struct stream_record *raw)
{
	struct top_feed *f = ctx;

	f->new_samples += raw->header->type == PERF_RECORD_SAMPLE;
	f->new_lost += lost_in(raw);
	return analysis_record(&f->analysis, raw) && !__atomic_load_n(&f->stop, __ATOMIC_RELAXED);
}

/* FINISHED_ROUND records come even without samples, so they are also the clock. */
static void on_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	struct top_feed *f = ctx;
	const struct perf_event_header *header = (const void *)bytes;
	uint64_t now;
	bool stale;

	(void)file_offset;
	(void)ret_skip;
	if (header->type != USER_FINISHED_ROUND)
		return;
	now = clock_now_ns();
	if (now < f->last_slice_ns + SLICE_NS)
		return;
	end_slice(f, now);
	stale = is_jit_stale(f, now);
	if (stale || is_large(f))
		begin_epoch(f, stale);
}

static int read_records(struct top_feed *f, struct err *e)
{
	static const struct stream_visitor visitor = {.record = on_record, .user = on_user};
	int r = perfdata_open_fd(&f->file, f->data_fd, "the live recording", NULL, e);

	if (r < 0)
		return r;
	f->modules = modules_new(&f->options.resolve.symbols);
	profile_init(&f->profile);
	r = analysis_init(&f->analysis, f->file, f->modules, &f->options.resolve, &f->profile, e);
	if (r == 0) {
		f->last_slice_ns = clock_now_ns();
		f->jit_pause_ns = JIT_PAUSE_NS;
		f->next_jit_ns = f->last_slice_ns + JIT_PAUSE_NS;
		r = perfdata_read(f->file, &visitor, f, e);
		end_slice(f, clock_now_ns());
	}
	analysis_release(&f->analysis);
	profile_release(&f->profile);
	modules_free(f->modules);
	pthread_mutex_lock(&f->lock);
	perfdata_close(f->file);
	f->closed = true;
	pthread_mutex_unlock(&f->lock);
	return r;
}

static void *feed_main(void *arg)
{
	struct top_feed *f = arg;
	struct err e = {};
	int r = read_records(f, &e);

	pthread_mutex_lock(&f->lock);
	if (r < 0)
		f->error = e;
	f->ended = f->closed = true;
	pthread_mutex_unlock(&f->lock);
	return NULL;
}

int top_feed_start(struct top_feed *f, int data_fd, const struct top_feed_options *o, struct err *e)
{
	sigset_t all, before;
	int code;

	*f = (struct top_feed){.options = *o, .data_fd = data_fd};
	pthread_mutex_init(&f->lock, NULL);
	top_table_init(&f->table, o->window_ns, NULL);
	/* Only the main thread takes signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&f->thread, NULL, feed_main, f);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!code)
		return 0;
	top_table_release(&f->table);
	close(data_fd);
	return err_set(e, code, "cannot start a thread: %s", strerror(code));
}

/*
 * Replaces the descriptor instead of closing it: the thread may be about to read from it, and gets
 * end of file then. A collector that waits for room in the pipe sees that the reader has gone.
 */
void top_feed_stop(struct top_feed *f)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	__atomic_store_n(&f->stop, true, __ATOMIC_RELAXED);
	pthread_mutex_lock(&f->lock);
	if (!f->closed && null >= 0)
		dup2(null, f->data_fd);
	pthread_mutex_unlock(&f->lock);
	if (null >= 0)
		close(null);
}

/* Waits JOIN_MS at most: a thread that is busy with the symbols of a huge program ends with the
 * process. */
void top_feed_release(struct top_feed *f)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += JOIN_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	if (pthread_timedjoin_np(f->thread, NULL, &until))
		return;
	top_table_release(&f->table);
	strvec_release(&f->events);
	stack_nodes_release(&f->stacks);
	vec_release(&f->functions);
	vec_release(&f->processes);
	pthread_mutex_destroy(&f->lock);
}
