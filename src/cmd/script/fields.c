#include "cmd/script/script.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t field;
} field_table[] = {
#define X(name, text) [FIELD_NUMBER_##name] = {text, FIELD_##name},
	FIELD_LIST(X)
#undef X
};

/* Fields of perf script that tacho cannot print. */
static const char *const missing_fields[] = {
	"srccode", "callindent", "insn",           "insnlen", "brstackinsn",
	"metric",  "ipc",        "brstackinsnlen", "flags",   "machine_pid",
	"vcpu",    "dsoff",      "brstackdisasm",  "disasm",  "brcntr",
};

static const char *const type_names[TYPE_COUNT] = {
	[TYPE_HW] = "hw",   [TYPE_SW] = "sw",       [TYPE_TRACE] = "trace",
	[TYPE_RAW] = "raw", [TYPE_BREAK] = "break", [TYPE_SYNTH] = "synth",
};

#define FIELDS_START  (FIELD_COMM | FIELD_TID | FIELD_CPU | FIELD_TIME | FIELD_EVENT)
#define FIELDS_NAMES  (FIELD_IP | FIELD_SYM | FIELD_SYMOFF | FIELD_DSO)
#define FIELDS_SAMPLE (FIELDS_START | FIELDS_NAMES | FIELD_PERIOD)

static uint32_t invalid_fields(enum script_type type)
{
	switch (type) {
	case TYPE_SW:
		return FIELD_TRACE;
	case TYPE_TRACE:
		return 0;
	default:
		return FIELD_TRACE | FIELD_BPF_OUTPUT;
	}
}

void script_fields_init(struct script *s)
{
	for (int type = 0; type < TYPE_COUNT; type++)
		s->types[type].fields = FIELDS_SAMPLE;
	s->types[TYPE_SW].fields |= FIELD_BPF_OUTPUT;
	s->types[TYPE_TRACE].fields = FIELDS_START | FIELD_TRACE;
	s->types[TYPE_RAW].fields |= FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_PHYS_ADDR |
				     FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE | FIELD_INS_LAT;
	s->types[TYPE_SYNTH].fields = FIELDS_START | FIELDS_NAMES | FIELD_SYNTH;
}

/* Longer event names do not widen their column. */
#define NAME_WIDTH_MAX 256

/* ---- -F ---- */

static int unknown_field(const struct script *s, const char *name, struct err *e)
{
	CLEANUP(strvec_release) strvec fields = {};
	CLEANUP(buf_release) struct buf hint = {};
	struct suggest near = {.wanted = name};

	for (size_t i = 0; i < ARRAY_LEN(field_table); i++)
		suggest_offer(&near, field_table[i].name);
	trace_key_names(&s->data->facts, &s->data->stream, &fields);
	vec_each(&fields, field)
		suggest_offer(&near, *field);
	suggest_sentence(&near, &hint);
	suggest_release(&near);
	return err_set(e, EINVAL, "-F: there is no field '%s'%s", name,
		       hint.len ? buf_str(&hint) : " (--help lists them)");
}

int script_fields_check(const struct script *s, struct err *e)
{
	vec_each(&s->named, name) {
		bool known = false;

		vec_each(&s->plans, plan)
			known |= plan->format && trace_key_field(plan->format, *name);
		if (!known)
			return unknown_field(s, *name, e);
	}
	return 0;
}

/* Sets *@ret_field to 0 for what may be a field of a tracepoint: the recording will tell. */
static int find_field(const char *name, uint32_t *ret_field, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(field_table); i++)
		if (!strcmp(name, field_table[i].name)) {
			*ret_field = field_table[i].field;
			return 0;
		}
	for (size_t i = 0; i < ARRAY_LEN(missing_fields); i++)
		if (!strcmp(name, missing_fields[i]))
			return err_set(e, EINVAL,
				       "-F: field '%s' is not available yet; leave it out", name);
	*ret_field = 0;
	return 0;
}

/* @type TYPE_COUNT means all kinds for which the field makes sense. */
static int change_field(struct script *s, enum script_type type, uint32_t field, const char *name,
			bool remove, struct err *e)
{
	if (type != TYPE_COUNT && (invalid_fields(type) & field))
		return err_set(e, EINVAL, "-F: %s events have no field '%s'", type_names[type],
			       name);
	for (int i = 0; i < TYPE_COUNT; i++) {
		struct script_type_fields *t = &s->types[i];

		if ((type != TYPE_COUNT && type != (enum script_type)i) ||
		    (invalid_fields((enum script_type)i) & field))
			continue;
		t->by_user = true;
		if (remove) {
			t->fields &= ~field;
			t->asked &= ~field;
			t->refused |= field;
		} else {
			t->fields |= field;
			t->asked |= field;
			t->refused &= ~field;
		}
	}
	return 0;
}

static int parse_type(const char *text, size_t len, enum script_type *ret_type, struct err *e)
{
	for (int i = 0; i < TYPE_COUNT; i++)
		if (type_names[i] && strlen(type_names[i]) == len &&
		    !strncmp(text, type_names[i], len)) {
			*ret_type = (enum script_type)i;
			return 0;
		}
	return err_set(e, EINVAL,
		       "-F: '%.*s' is not a kind of event (hw, sw, trace, raw, break, synth)",
		       (int)len, text);
}

/* "hw:ip,sym" begins with a kind of event, "sched:sched_switch.next_pid" with a tracepoint. */
static bool begins_with_type(const char *colon)
{
	return colon && strcspn(colon, ".") >= strcspn(colon, ",");
}

/* Notes a field of tracepoints: its values are printed in the place of the whole text. */
static int name_trace_field(struct script *s, const char *name, bool remove, struct err *e)
{
	if (remove || !*name)
		return err_set(e, EINVAL, "-F: '%s' is not among the usual fields", name);
	vec_push(&s->named, xstrdup(name));
	return 0;
}

int script_fields_parse(struct script *s, const char *text, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};
	const char *colon = strchr(text, ':');
	enum script_type type = TYPE_COUNT;
	bool change;

	if (begins_with_type(colon)) {
		if (parse_type(text, (size_t)(colon - text), &type, e) < 0)
			return -EINVAL;
		text = colon + 1;
	}
	text_split(text, ",", &words);
	if (!words.len && type == TYPE_COUNT)
		return err_set(e, EINVAL, "-F: no field is named, so nothing would be printed");
	change = words.len && strchr("+-", words.items[0][0]);
	for (int i = 0; i < TYPE_COUNT && !change; i++)
		if (type == TYPE_COUNT || type == (enum script_type)i)
			s->types[i] = (struct script_type_fields){.by_user = true};
	vec_each(&words, word) {
		bool sign = strchr("+-", (*word)[0]) != NULL;
		const char *name = *word + sign;
		uint32_t field = 0;

		if (sign != change)
			return err_set(
				e, EINVAL,
				"-F: a list of fields, or changes to the usual ones (+x,-y), "
				"but not both ('%s')",
				*word);
		if (find_field(name, &field, e) < 0)
			return -EINVAL;
		if (!field && name_trace_field(s, name, (*word)[0] == '-', e) < 0)
			return -EINVAL;
		if (field && change_field(s, type, field, name, (*word)[0] == '-', e) < 0)
			return -EINVAL;
	}
	return 0;
}

/* ---- plans ---- */

static enum script_type type_of(const struct perf_event_attr *attr)
{
	/* The types of events that perf synthesizes begin here. */
	const uint32_t synth = 0x7fffffff;

	if (attr->type < TYPE_SYNTH)
		return (enum script_type)attr->type;
	return attr->type - synth < 16 ? TYPE_SYNTH : TYPE_OTHER;
}

/* Returns the parts of a sample of which a field needs at least one; 0: it needs none. */
static uint64_t needed_part(uint32_t field)
{
	switch (field) {
	case FIELD_IP:
		return PERF_SAMPLE_IP;
	case FIELD_ADDR:
		return PERF_SAMPLE_ADDR;
	case FIELD_TID:
	case FIELD_PID:
		return PERF_SAMPLE_TID;
	case FIELD_TIME:
		return PERF_SAMPLE_TIME;
	case FIELD_CPU:
		return PERF_SAMPLE_CPU;
	case FIELD_IREGS:
		return PERF_SAMPLE_REGS_INTR;
	case FIELD_UREGS:
		return PERF_SAMPLE_REGS_USER;
	case FIELD_DATA_SRC:
		return PERF_SAMPLE_DATA_SRC;
	case FIELD_WEIGHT:
		return PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;
	case FIELD_INS_LAT:
	case FIELD_RETIRE_LAT:
		return PERF_SAMPLE_WEIGHT_STRUCT;
	case FIELD_PHYS_ADDR:
		return PERF_SAMPLE_PHYS_ADDR;
	case FIELD_DATA_PAGE_SIZE:
		return PERF_SAMPLE_DATA_PAGE_SIZE;
	case FIELD_CODE_PAGE_SIZE:
		return PERF_SAMPLE_CODE_PAGE_SIZE;
	case FIELD_CGROUP:
		return PERF_SAMPLE_CGROUP;
	default:
		return 0;
	}
}

static bool is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Fields that the first event of a kind did not record are not printed for any of that kind. */
static int examine(struct script *s, struct script_type_fields *t, const struct stream_event *event,
		   struct err *e)
{
	uint64_t parts = event->attr.sample_type;

	t->examined = true;
	for (size_t i = 0; i < ARRAY_LEN(field_table); i++) {
		uint32_t field = field_table[i].field;
		uint64_t needed = needed_part(field);

		if (!(t->fields & field) || !needed || (parts & needed))
			continue;
		if (t->asked & field)
			return err_set(
				e, EINVAL,
				"the samples of event '%s' were recorded without '%s'; leave "
				"the field out, or record it",
				perfdata_event_name(event), field_table[i].name);
		t->fields &= ~field;
	}
	if ((t->fields & FIELD_TOD) && !s->data->facts.has_clock)
		return err_set(e, EINVAL,
			       "field 'tod' needs a file recorded with -k (CLOCK_MONOTONIC, say): "
			       "this one does not tell the time of day");
	/* An offset without a name would be meaningless. */
	if (!(t->fields & FIELD_SYM))
		t->fields &= ~(uint32_t)FIELD_SYMOFF;
	return 0;
}

/* Adds the address fields to a kind of event whose samples have call chains. */
static void show_chains(struct script *s, enum script_type type, const struct stream_event *event)
{
	struct script_type_fields *t = &s->types[type];

	if (s->o.hide_chains || !(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	if (s->data->pipe)
		t->fields |= (FIELD_IP | FIELD_SYM) & ~t->refused;
	else if (type == TYPE_TRACE && !t->by_user)
		t->fields |= FIELDS_NAMES;
}

static struct tracepoint_format *find_format(struct script *s, const struct stream_event *event)
{
	const struct perfdata_facts *facts = &s->data->facts;
	const struct tracepoint_fact *fact;
	struct tracepoint_format *format;
	struct tracepoint_abi abi = {
		/* Not the file's byte order: converting a recording leaves raw data unchanged. */
		.swap = facts->tracing_swap,
		.long_bytes = (uint8_t)(facts->tracing_long_size ? facts->tracing_long_size : 8),
	};

	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return NULL;
	fact = facts_tracepoint(facts, event->attr.config);
	if (!fact || !fact->format)
		return NULL;
	format = xcalloc(1, sizeof(*format));
	if (tracepoint_format_parse(format, fact->system, fact->format, strlen(fact->format), abi,
				    NULL) == 0)
		return format;
	free(format);
	return NULL;
}

static const char *kernel_string(void *arg, uint64_t address)
{
	const struct script *s = arg;

	return facts_string(&s->data->facts, address);
}

static const char *kernel_symbol(void *arg, uint64_t address, uint64_t *ret_offset)
{
	struct script *s = arg;

	return script_names_kernel(&s->names, address, ret_offset);
}

struct format_context script_format_context(const struct script *s)
{
	return (struct format_context){
		.arg = (void *)(uintptr_t)s,
		.string = kernel_string,
		.symbol = kernel_symbol,
	};
}

static void make_plan(struct script *s, size_t number, size_t name_width)
{
	const struct stream_event *event = &s->data->stream.events.items[number];
	struct script_plan *plan = &s->plans.items[number];
	const char *name = perfdata_event_name(event);
	size_t len = strlen(name);
	uint64_t parts = event->attr.sample_type;

	plan->fields = s->types[type_of(&event->attr)].fields;
	for (size_t i = 0; i < ARRAY_LEN(field_table); i++)
		if (needed_part(field_table[i].field) && !is_dummy(&event->attr) &&
		    !(parts & needed_part(field_table[i].field)))
			plan->fields &= ~field_table[i].field;
	plan->chains =
		!s->o.hide_chains && (plan->fields & FIELD_IP) && (parts & PERF_SAMPLE_CALLCHAIN);
	buf_clear(&plan->name);
	buf_pad(&plan->name, name_width > len ? name_width - len : 0, ' ');
	script_printable(&plan->name, name, len);
	buf_add(&plan->name, ": ");
	if (!plan->format)
		plan->format = find_format(s, event);
	plan->named.len = 0;
	vec_each(&s->named, wanted) {
		const struct tracepoint_field *field =
			plan->format ? trace_key_field(plan->format, *wanted) : NULL;

		if (field)
			vec_push(&plan->named, field);
	}
	/* The named fields are in the place of the whole text. */
	if (plan->named.len && !(s->types[TYPE_TRACE].asked & FIELD_TRACE))
		plan->fields &= ~(uint32_t)FIELD_TRACE;
}

int script_plans_make(struct script *s, bool all, struct err *e)
{
	const struct stream *stream = &s->data->stream;
	size_t from = all ? 0 : s->plans.len, width = all ? 0 : s->name_width;
	uint32_t trace_fields = s->types[TYPE_TRACE].fields;

	for (size_t i = from; i < stream->events.len; i++) {
		const struct stream_event *event = &stream->events.items[i];
		enum script_type type = type_of(&event->attr);
		size_t len = strlen(perfdata_event_name(event));

		if (len > width && len <= NAME_WIDTH_MAX)
			width = len;
		if (is_dummy(&event->attr))
			continue;
		/* Tracepoints with and without call chains may be mixed. */
		if (!s->types[type].examined || (type == TYPE_TRACE && !s->data->pipe))
			show_chains(s, type, event);
		if (!s->types[type].examined && examine(s, &s->types[type], event, e) < 0)
			return -EINVAL;
	}
	/* Remake all plans only if a column changes: else many events would take quadratic time. */
	if (width != s->name_width || s->types[TYPE_TRACE].fields != trace_fields)
		from = 0;
	s->name_width = width;
	while (s->plans.len < stream->events.len)
		vec_push(&s->plans, (struct script_plan){});
	for (size_t i = from; i < s->plans.len; i++)
		make_plan(s, i, width);
	return 0;
}

void script_plans_release(struct script *s)
{
	vec_each(&s->plans, plan) {
		buf_release(&plan->name);
		vec_release(&plan->named);
		if (plan->format)
			tracepoint_format_release(plan->format);
		free(plan->format);
	}
	vec_release(&s->plans);
}
