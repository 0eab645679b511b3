#include "collect/run/sched_events.h"
#include "base/alloc.h"
#include "resolve/trace_fields.h"

#include <string.h>

/* Bits of common_flags, the same since they exist: the kernel's TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI. */
#define IN_INTERRUPT (0x08u | 0x10u | 0x40u)

/* The fields that are read, by the kind of event. */
enum {
	PREV_TID,
	PREV_PRIO,
	PREV_STATE,
	NEXT_TID,
	NEXT_PRIO,
	SWITCH_FIELDS,

	CURRENT_TID = 0,
	CURRENT_FLAGS,
	WOKEN_TID,
	WAKEUP_FIELDS,
};

static const char *const switch_fields[SWITCH_FIELDS] = {"prev_pid", "prev_prio", "prev_state",
							 "next_pid", "next_prio"};
static const char *const wakeup_fields[WAKEUP_FIELDS] = {"common_pid", "common_flags", "pid"};

struct sched_event {
	enum sched_kind kind;
	struct trace_fields *reader;
	const struct tracepoint_format *format; /* of the reader */
	const struct tracepoint_field *fields[SWITCH_FIELDS];
};

enum sched_kind sched_kind_of(const struct perfdata_facts *facts, const struct stream_event *event)
{
	static const char *const names[] = {
		[TRACE_SWITCH] = "sched_switch",
		[TRACE_WAKING] = "sched_waking",
		[TRACE_WAKEUP] = "sched_wakeup",
		[TRACE_WAKEUP_NEW] = "sched_wakeup_new",
	};
	const struct tracepoint_fact *fact = event->attr.type == PERF_TYPE_TRACEPOINT
						     ? facts_tracepoint(facts, event->attr.config)
						     : NULL;

	if (!fact || !fact->system || !fact->name || strcmp(fact->system, "sched") != 0)
		return TRACE_OTHER;
	for (unsigned i = TRACE_SWITCH; i < ARRAY_LEN(names); i++)
		if (!strcmp(fact->name, names[i]))
			return (enum sched_kind)i;
	return TRACE_OTHER;
}

const char *sched_event_problem(const struct stream_event *event)
{
	const uint64_t needed =
		PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;

	if (event->attr.freq || event->attr.sample_period != 1)
		return "not each switch was recorded (period 1 does that)";
	if ((event->attr.sample_type & needed) != needed)
		return "its samples lack time, thread, CPU or fields";
	return NULL;
}

static bool find_fields(struct sched_event *e)
{
	bool is_switch = e->kind == TRACE_SWITCH;
	const char *const *names = is_switch ? switch_fields : wakeup_fields;
	size_t count = is_switch ? ARRAY_LEN(switch_fields) : ARRAY_LEN(wakeup_fields);

	for (size_t i = 0; i < count; i++) {
		e->fields[i] = tracepoint_format_field(e->format, names[i]);
		if (!e->fields[i])
			return false;
	}
	return true;
}

struct sched_event *sched_event_new(const struct perfdata_facts *facts,
				    const struct stream_event *event)
{
	enum sched_kind kind = sched_kind_of(facts, event);
	struct sched_event *e;

	if (kind == TRACE_OTHER || sched_event_problem(event))
		return NULL;
	e = xcalloc(1, sizeof(*e));
	e->kind = kind;
	e->reader = trace_fields_new(facts, event);
	if (e->reader)
		e->format = trace_fields_format(e->reader);
	if (!e->reader || !find_fields(e)) {
		sched_event_free(e);
		return NULL;
	}
	return e;
}

void sched_event_free(struct sched_event *e)
{
	if (!e)
		return;
	trace_fields_free(e->reader);
	free(e);
}

enum sched_kind sched_event_kind(const struct sched_event *e)
{
	return e->kind;
}

static bool read_fields(const struct sched_event *e, const void *raw, size_t raw_size,
			uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!tracepoint_field_value(e->format, e->fields[i], raw, raw_size, &values[i]))
			return false;
	return true;
}

bool sched_event_switch(const struct sched_event *e, const void *raw, size_t raw_size,
			struct slice_switch *ret, uint64_t *ret_state)
{
	uint64_t values[SWITCH_FIELDS];

	if (!read_fields(e, raw, raw_size, values, SWITCH_FIELDS))
		return false;
	ret->prev_tid = (uint32_t)values[PREV_TID];
	ret->prev_prio = (int32_t)values[PREV_PRIO];
	ret->next_tid = (uint32_t)values[NEXT_TID];
	ret->next_prio = (int32_t)values[NEXT_PRIO];
	*ret_state = values[PREV_STATE];
	return true;
}

bool sched_event_wakeup(const struct sched_event *e, const void *raw, size_t raw_size,
			struct slice_wakeup *ret, bool *ret_interrupt)
{
	uint64_t values[WAKEUP_FIELDS];

	if (!read_fields(e, raw, raw_size, values, WAKEUP_FIELDS))
		return false;
	ret->tid = (uint32_t)values[WOKEN_TID];
	ret->current_tid = (uint32_t)values[CURRENT_TID];
	ret->kind = e->kind == TRACE_WAKING   ? WAKING
		    : e->kind == TRACE_WAKEUP ? WAKEUP
					      : WAKEUP_NEW;
	*ret_interrupt = values[CURRENT_FLAGS] & IN_INTERRUPT;
	return true;
}

/* ---- states ---- */

/* A sample of nothing but the state is printed: names of threads could look like one. */
void sched_event_state(const struct sched_event *e, uint64_t state, struct buf *out)
{
	const struct tracepoint_field *field = e->fields[PREV_STATE];
	CLEANUP(buf_release) struct buf text = {};
	unsigned char *raw;
	const char *value;
	size_t size = 0, len;

	vec_each(&e->format->fields, f)
		if ((size_t)f->offset + f->size > size)
			size = (size_t)f->offset + f->size;
	if (!e->format->print || size > FORMAT_OUTPUT_LIMIT || field->size > sizeof(state))
		return;
	raw = xcalloc(1, size);
	for (size_t i = 0; i < field->size; i++) {
		bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != e->format->abi.swap;
		size_t shift = big ? field->size - 1 - i : i;

		raw[field->offset + i] = (unsigned char)(state >> (8 * shift));
	}
	tracepoint_format_print(e->format, raw, size, NULL, &text);
	free(raw);
	value = tracepoint_printed_value(buf_str(&text), field->name, &len);
	if (value)
		buf_add_mem(out, value, len);
}

const char *sched_state_meaning(const char *letters, uint64_t state, enum slice_stop *ret)
{
	/* As in the kernel's task_state_array[]. */
	static const struct {
		char letter;
		enum slice_stop stop;
		const char *meaning;
	} meanings[] = {
		{'R', STOP_READY, "preempted"},
		{'S', STOP_WAITS, "sleeping"},
		{'D', STOP_WAITS, "uninterruptible"},
		{'T', STOP_WAITS, "stopped"},
		{'t', STOP_WAITS, "traced"},
		{'X', STOP_EXITED, "exited"},
		{'Z', STOP_EXITED, "exited"},
		{'P', STOP_WAITS, "parked"},
		{'I', STOP_WAITS, "idle"},
	};

	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (*letters == meanings[i].letter) {
			*ret = meanings[i].stop;
			return meanings[i].meaning;
		}
	/* A running thread has state 0 in every kernel. */
	*ret = !*letters && !state ? STOP_READY : STOP_WAITS;
	return *ret == STOP_READY ? "preempted" : "waiting";
}
