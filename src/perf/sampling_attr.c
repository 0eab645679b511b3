/* What is asked of the kernel for one event, and what to ask for when it says no. */
#include "perf/sampling.h"
#include "base/number.h"
#include "perf/open.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* What kernels have learned over time, the latest first: given up in this order. */
enum {
	LACKS_LOST = 1 << 0,  /* 6.0 */
	LACKS_CODE = 1 << 1,  /* 5.1: ksymbol, bpf_event */
	LACKS_CLOCK = 1 << 2, /* 4.1 */
	LACKS_END = 1 << 3,
};

#if defined(__x86_64__)
/* All but DS, ES, FS and GS, which it does not give. */
#define USER_REGISTERS 0xff0fffull
#elif defined(__aarch64__)
#define USER_REGISTERS ((1ull << 33) - 1)
#else
#define USER_REGISTERS 0ull
#endif

uint64_t sampling_rate_max(void)
{
	long long rate;

	return fs_number(&rate, "/proc/sys/kernel/perf_event_max_sample_rate") && rate > 0
		       ? (uint64_t)rate
		       : 0;
}

uint32_t sampling_wakeup_bytes(const struct sampling *s)
{
	size_t quarter = s->ring_bytes / 4, wanted = s->options->wakeup_bytes;

	return (uint32_t)(wanted && wanted < quarter ? wanted : quarter);
}

/* The event's own terms win over the options, and both over what is usual for its kind. */
static void set_rate(const struct sampling_options *o, const struct sampling_row *row,
		     struct perf_event_attr *attr)
{
	bool tracepoint = row->unit.type == PERF_TYPE_TRACEPOINT;

	if (!row->event || o->no_samples || (row->leader >= 0 && row->event->sample_read)) {
		attr->freq = 0;
		attr->sample_period = 0;
	} else if (attr->sample_period) {
		return;
	} else if (tracepoint && !o->rate_chosen) {
		attr->sample_period = 1;
	} else if (o->period) {
		attr->sample_period = o->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = o->freq_hz;
	}
}

/* A depth of stacks without saying how they are found asks for the cheapest way, as with perf. */
enum call_graph sampling_calls(const struct sampling_options *o, const struct event *event)
{
	if (event->calls_chosen)
		return event->calls;
	return event->max_stack && o->calls == CALLS_NONE ? CALLS_FP : o->calls;
}

bool sampling_has_calls(const struct sampling_options *o, const struct event_list *events,
			enum call_graph calls)
{
	vec_each(&events->events, event) {
		enum call_graph found = sampling_calls(o, event);

		if (calls == CALLS_NONE ? found != CALLS_NONE : found == calls)
			return true;
	}
	return false;
}

static uint32_t stack_bytes(const struct sampling_options *o, const struct event *event)
{
	return event->stack_bytes ? event->stack_bytes
	       : o->stack_bytes   ? o->stack_bytes
				  : STACK_BYTES_DEFAULT;
}

static void set_calls(const struct sampling_options *o, const struct event *event,
		      struct perf_event_attr *attr)
{
	enum call_graph calls = sampling_calls(o, event);

	if (calls == CALLS_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = event->max_stack ? event->max_stack : o->max_stack;
	if (calls == CALLS_FP || attr->exclude_user)
		return;
	/* The user's part is found from what is taken along instead. */
	attr->exclude_callchain_user = 1;
	if (calls == CALLS_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = USER_REGISTERS;
		attr->sample_stack_user = stack_bytes(o, event);
	} else {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}

static void set_contents(const struct sampling_options *o, const struct sampling_row *row,
			 struct perf_event_attr *attr)
{
	attr->sample_type = SAMPLE_ALWAYS;
	if (!row->event)
		return;
	set_calls(o, row->event, attr);
	if (o->branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type |= o->branches;
	}
	if (row->unit.type == PERF_TYPE_TRACEPOINT || o->raw)
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (o->address)
		attr->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
	if (o->weight)
		attr->sample_type |= PERF_SAMPLE_WEIGHT;
	if (o->cgroups)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	if (row->event->sample_read && row->event->group >= 0)
		attr->sample_type |= PERF_SAMPLE_READ;
}

/*
 * The kernel makes a sample of every hit of a software event, tracepoint or breakpoint if samples are to
 * say their period and it is fixed. Readers take the fixed period from the attr instead.
 */
static bool period_must_be_left_out(const struct perf_event_attr *attr)
{
	bool clock = attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
							  attr->config == PERF_COUNT_SW_TASK_CLOCK);
	bool by_hits = attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
		       attr->type == PERF_TYPE_BREAKPOINT;

	/* Clocks have a timer. */
	return by_hits && !clock && !attr->freq && attr->sample_period > 1;
}

static void set_tracking(const struct sampling *s, struct perf_event_attr *attr)
{
	const struct sampling_options *o = s->options;

	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
	/* Unwinding looks for its tables in read-only data. */
	attr->mmap_data = o->address || sampling_has_calls(o, s->events, CALLS_DWARF);
	attr->context_switch = o->switches;
	attr->namespaces = o->namespaces;
	attr->cgroup = o->cgroups;
	/* Not build_id: Linux (5.12 to 6.18 at least) then marks the MMAP2 records of everybody who
	 * watches the same process, and perf record aborts on them. The collector puts the ids in. */
	attr->ksymbol = attr->bpf_event = !(s->lacking & LACKS_CODE);
}

/* Gives up what the kernel is known to lack. */
static void set_kernel(const struct sampling *s, const struct sampling_row *row,
		       struct perf_event_attr *attr)
{
	attr->read_format =
		PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	/* Readers of the values in samples need not know about the newest of them. */
	if (attr->sample_type & PERF_SAMPLE_READ)
		attr->read_format |= PERF_FORMAT_GROUP;
	else if (!(s->lacking & LACKS_LOST))
		attr->read_format |= PERF_FORMAT_LOST;
	attr->use_clockid = !(s->lacking & LACKS_CLOCK);
	attr->clockid = attr->use_clockid ? CLOCK_MONOTONIC : 0;
	if (row->tracking)
		set_tracking(s, attr);
}

void sampling_prepare(const struct sampling *s, struct sampling_row *row, bool on_task)
{
	const struct sampling_options *o = s->options;
	struct perf_event_attr *attr = &row->attr;

	*attr = row->event ? row->event->attr : (struct perf_event_attr){};
	attr->type = row->unit.type;
	attr->size = sizeof(*attr);
	if (!row->event) {
		attr->config = PERF_COUNT_SW_DUMMY;
		attr->exclude_kernel = attr->exclude_hv = 1;
	} else if (row->event->precise_max) {
		attr->precise_ip = 3;
	}
	if (attr->precise_ip && !attr->exclude_host)
		attr->exclude_guest = 1;
	set_contents(o, row, attr);
	set_rate(o, row, attr);
	if (period_must_be_left_out(attr))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	attr->sample_id_all = 1;
	attr->inherit = s->target->inherit && on_task && !(row->event && row->event->inherit < 0);
	attr->disabled = row->leader < 0 && row->event;
	attr->enable_on_exec = attr->disabled && s->target->on_exec && on_task && !o->delayed;
	attr->watermark = 1;
	attr->wakeup_watermark = sampling_wakeup_bytes(s);
	set_kernel(s, row, attr);
}

/* One more thing that this kernel may not know, if it would make a difference. */
static bool give_up_newest(struct sampling *s, struct sampling_row *row)
{
	for (unsigned bit = 1; bit < LACKS_END; bit <<= 1) {
		struct perf_event_attr before = row->attr;

		if (s->lacking & bit)
			continue;
		s->lacking |= bit;
		set_kernel(s, row, &row->attr);
		if (memcmp(&before, &row->attr, sizeof(before)))
			return true;
	}
	return false;
}

bool sampling_retreat(struct sampling *s, struct sampling_row *row, int code)
{
	struct perf_event_attr *attr = &row->attr;
	uint64_t rate_max = sampling_rate_max();

	if (row->event && row->event->precise_max && attr->precise_ip &&
	    (code == EINVAL || perf_open_is_absent(code))) {
		attr->precise_ip = (attr->precise_ip - 1) & 3;
		return true;
	}
	if (code != EINVAL)
		return false;
	/* The kernel lowers its limit by itself when samples take long. */
	if (attr->freq && rate_max && attr->sample_freq > rate_max) {
		attr->sample_freq = rate_max;
		return true;
	}
	if (attr->inherit && attr->sample_type & PERF_SAMPLE_READ) {
		attr->inherit = 0;
		vec_push(&s->notes, xstrdup("this kernel cannot read groups (:S) across processes: "
					    "child processes are not recorded"));
		return true;
	}
	return give_up_newest(s, row);
}

int sampling_refused(const struct sampling_row *row, int code, bool system_wide, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = {};

	if (row->attr.sample_type & PERF_SAMPLE_BRANCH_STACK && code != EACCES && code != EPERM &&
	    !(row->event && row->event->no_pmu && perf_open_is_absent(code)))
		buf_add(&reason, "branches cannot be recorded with it here (the CPU or the virtual "
				 "machine has no branch records)");
	else
		perf_open_reason(code, &row->attr, system_wide,
				 row->event ? row->event->no_pmu : NULL, &reason);
	return err_set(e, code, "cannot record '%s': %s", row->name, buf_str(&reason));
}

int call_graph_parse(const char *text, struct sampling_options *ret, struct err *e)
{
	const char *comma = strchr(text, ',');
	size_t len = comma ? (size_t)(comma - text) : strlen(text);
	uint64_t bytes = STACK_BYTES_DEFAULT;
	enum call_graph calls = CALLS_NONE;

	if (!call_graph_find(text, len, &calls))
		return err_set(e, EINVAL,
			       "call stacks are taken by fp, dwarf, dwarf,SIZE or lbr, not '%s'",
			       text);
	if (comma && (calls != CALLS_DWARF || !parse_bytes(comma + 1, 1, &bytes) || bytes < 8 ||
		      bytes > STACK_BYTES_MAX))
		return err_set(e, EINVAL,
			       "'%s': only dwarf takes a size, of 8 to %u bytes of stack", text,
			       STACK_BYTES_MAX);
	ret->calls = calls;
	ret->stack_bytes = (uint32_t)(bytes + 7) & ~7u;
	return 0;
}
