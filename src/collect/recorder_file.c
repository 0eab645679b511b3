/* The parts of a file that the kernel does not write: records about processes that run already, and
 * the features. */
#include "collect/recorder.h"
#include "base/clock.h"
#include "base/text.h"
#include "collect/tree.h"
#include "perf/synth.h"
#include "perfdata/features_machine.h"
#include "perfdata/tracing_data.h"
#include "symbol/kernel_hidden.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Limits of describing running processes: very many of them must not delay the start for ever. */
#define SYNTH_BYTES_MAX ((uint64_t)256 << 20)
#define SYNTH_NS_MAX    (10 * NS_PER_SEC)
#define LATER_FILES_MAX 4096u
/* How long completing a file may wait for build ids that are missing. */
#define LAST_CATCH_UP_NS NS_PER_SEC

bool recorder_clock(const struct recorder *r, uint64_t *ret_wall_ns, uint64_t *ret_clock_ns)
{
	const struct buf *section = &r->features.sections[FEATURE_CLOCK_DATA];
	struct cursor c = cursor_of(section->s, section->len);

	cursor_u32(&c); /* version */
	cursor_u32(&c); /* which clock */
	*ret_wall_ns = cursor_u64(&c);
	*ret_clock_ns = cursor_u64(&c);
	return !c.failed;
}

/* ---- processes that run already ---- */

static int take_records(void *ctx, const void *records, size_t size)
{
	buf_add_mem(ctx, records, size);
	return 0;
}

/* The process that a thread belongs to, 0 if it is gone. */
static pid_t process_of(pid_t tid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", (int)tid);
	CLEANUP(free_ptr) char *text = NULL;
	char value[32];

	if (fs_read(path, 1 << 16, &text) < 0 || !text_field(text, "Tgid", value, sizeof(value)))
		return 0;
	return (pid_t)atoi(value);
}

static int by_number(const void *a, const void *b)
{
	return (*(const pid_t *)a > *(const pid_t *)b) - (*(const pid_t *)a < *(const pid_t *)b);
}

/* Whether the workload is what is recorded. Beside attached tasks, a command only says how long to
 * record them. */
static bool watches_workload(const struct recorder *r)
{
	return r->workload && r->target.tasks.len == 1 && r->target.tasks.items[0] == r->workload;
}

/* Lists the processes of the watched tasks, each once. */
static void list_watched(const struct recorder *r, pid_list *ret)
{
	size_t kept = 0;

	if (watches_workload(r)) {
		/* Before the exec there is nothing to describe; later files find it running. */
		if (r->running)
			tree_list(getpid(), ret);
		return;
	}
	vec_each(&r->target.tasks, task) {
		pid_t pid = process_of(*task);

		if (pid)
			vec_push(ret, pid);
	}
	if (!ret->len)
		return;
	qsort(ret->items, ret->len, sizeof(*ret->items), by_number);
	for (size_t i = 0; i < ret->len; i++)
		if (!i || ret->items[i] != ret->items[kept - 1])
			ret->items[kept++] = ret->items[i];
	ret->len = kept;
}

static int synthesise(struct recorder *r, struct synth *synth)
{
	pid_list pids = {};
	int result = synth_kernel(synth);

	if (result == 0 && !r->target.tasks.len)
		return synth_all(synth);
	list_watched(r, &pids);
	for (size_t i = 0; i < pids.len && result == 0; i++) {
		result = synth_process(synth, pids.items[i]);
		if (result == -ESRCH)
			result = 0;
	}
	vec_release(&pids);
	return result;
}

static const struct sampling_row *tracking_row(const struct recorder *r)
{
	const struct sampling_row *found = r->sampling.rows.items;

	vec_each(&r->sampling.rows, row)
		if (row->tracking)
			found = row;
	return found;
}

void recorder_show_keeper(struct recorder *r, const struct perf_event_attr *attr,
			  const struct buf *records)
{
	struct layout layout;
	size_t at = 0;

	layout_init(&layout, attr);
	while (r->keeper && records->len - at >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *header = (const void *)(records->s + at);
		struct record record;
		const char *reason;

		if (header->size < sizeof(*header) || header->size > records->len - at)
			return;
		if (header->type == PERF_RECORD_MMAP2 &&
		    record_decode(&layout, header, &record, &reason) == 0)
			keeper_see(r->keeper, &record);
		at += header->size;
	}
}

static bool samples_kernel(const struct recorder *r)
{
	vec_each(&r->sampling.rows, row)
		if (!row->attr.exclude_kernel && (row->attr.type != PERF_TYPE_SOFTWARE ||
						  row->attr.config != PERF_COUNT_SW_DUMMY))
			return true;
	return false;
}

/* Tells the user while it can still be changed: readers of the recording only see missing names. */
static void tell_hidden_kernel(struct recorder *r)
{
	CLEANUP(free_ptr) char *remedy = NULL, *text = NULL;

	if (r->kernel_told || !samples_kernel(r))
		return;
	r->kernel_told = true;
	remedy = kernel_hidden_remedy(r->plan->sampling.roots->proc);
	text = xasprintf("the kernel hides its addresses, so its functions will have no names: %s",
			 remedy);
	recorder_say(r, MESSAGE_NOTE, text);
}

int recorder_begin_file(void *ctx, struct buf *out, struct err *e)
{
	struct recorder *r = ctx;
	const struct sampling_row *row = tracking_row(r);
	struct synth_options options;
	struct synth *synth;
	int result;

	/* Counts alone do not refer to processes. */
	if (!r->drain)
		return 0;
	options = (struct synth_options){.roots = r->plan->sampling.roots,
					 .attr = &row->attr,
					 .id = row->ids.items[0],
					 .build_ids = true,
					 .limit_bytes = SYNTH_BYTES_MAX,
					 .deadline_ns = clock_now_ns() + SYNTH_NS_MAX,
					 .sink = take_records,
					 .ctx = out};
	synth = synth_new(&options);
	result = synthesise(r, synth);
	if (synth_cut(synth))
		recorder_say(r, MESSAGE_NOTE,
			     "too many processes are running to describe all of them: some have no "
			     "names or mappings in the recording");
	if (synth_kernel_hidden(synth))
		tell_hidden_kernel(r);
	synth_free(synth);
	if (result < 0)
		return err_set(e, -result, "cannot describe the processes that run already");
	build_id_table_see(r->build_ids, out->s, out->len);
	recorder_show_keeper(r, &row->attr, out);
	return 0;
}

/* ---- features ---- */

static void list_groups(const struct recorder *r, struct feature_group *groups, size_t *ret_count)
{
	*ret_count = 0;
	for (size_t i = 0; i < r->sampling.rows.len; i++) {
		uint32_t count = 1;

		for (size_t k = i + 1; k < r->sampling.rows.len; k++)
			count += r->sampling.rows.items[k].leader == (int)i;
		if (count > 1)
			groups[(*ret_count)++] =
				(struct feature_group){.leader = (uint32_t)i, .count = count};
	}
}

static int add_tracepoints(struct recorder *r, struct err *e)
{
	VEC(const char *) names = {};
	int result = 0;

	vec_each(&r->plan->events->events, event)
		if (event->tracepoint)
			vec_push(&names, event->tracepoint);
	if (names.len)
		result = tracing_data_add(&r->features, r->plan->sampling.roots, names.items,
					  names.len, e);
	vec_release(&names);
	return result;
}

int recorder_add_features(struct recorder *r, struct err *e)
{
	const struct perf_event_attr *first = &r->events[0].attr;
	struct feature_group *groups = xcalloc(r->event_count, sizeof(*groups));
	struct feature_facts facts = {.roots = r->plan->sampling.roots,
				      .argv = (const char *const *)r->plan->whole_argv,
				      .events = r->events,
				      .event_count = r->sampling.rows.len ? r->sampling.rows.len
									  : r->event_count,
				      .groups = groups,
				      .branch_stack = first->sample_type & PERF_SAMPLE_BRANCH_STACK,
				      .use_clockid = first->use_clockid,
				      .clockid = first->clockid};

	while (facts.argv[facts.argc])
		facts.argc++;
	list_groups(r, groups, &facts.group_count);
	features_of_machine(&r->features, &facts);
	free(groups);
	build_id_table_add_kernel(r->build_ids, r->plan->sampling.roots);
	return add_tracepoints(r, e);
}

/* Estimates for recorder_room(): of an entry in the build id table, most of which with their padded
 * names (build_id_table_feature()) are not longer; of the header's tables and the last round
 * marks. */
#define BUILD_ID_ENTRY_BYTES 164u
#define TABLES_BYTES         1024u

uint64_t recorder_room(const struct recorder *r)
{
	uint64_t taken = sink_bytes(r->sink) + TABLES_BYTES +
			 BUILD_ID_ENTRY_BYTES * build_id_table_count(r->build_ids);

	for (size_t i = 0; i < ARRAY_LEN(r->features.sections); i++)
		if (i != FEATURE_BUILD_ID)
			taken += r->features.sections[i].len;
	return r->plan->max_bytes > taken ? r->plan->max_bytes - taken : 0;
}

void recorder_remember_file(struct recorder *r, const struct record *record)
{
	struct later_file file = {.record = *record};

	if (!record->mmap.inode || !(record->mmap.prot & PROT_EXEC) ||
	    r->later.len >= LATER_FILES_MAX)
		return;
	file.name = xstrdup(record->mmap.filename);
	file.record.mmap.filename = file.name;
	vec_push(&r->later, file);
}

static void add_later_ids(struct recorder *r)
{
	struct build_id id;

	if (r->keeper)
		keeper_catch_up(r->keeper, LAST_CATCH_UP_NS, false);
	vec_each(&r->later, file)
		if (r->keeper && keeper_build_id(r->keeper, &file->record, &id))
			build_id_table_add(r->build_ids, -1, PERF_RECORD_MISC_USER, &id,
					   file->name);
}

void recorder_end_file(void *ctx, const struct sample_span *samples)
{
	struct recorder *r = ctx;
	struct sample_span since_last = {};

	if (r->drain)
		since_last = drain_take_span(r->drain);

	if (!samples)
		samples = &since_last;
	add_later_ids(r);
	build_id_table_feature(r->build_ids, &r->features);
	feature_set_drop(&r->features, FEATURE_SAMPLE_TIME);
	if (samples->last_ns)
		features_sample_time(&r->features, samples->first_ns, samples->last_ns);
}
