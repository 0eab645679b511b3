#include "cmd/script/script.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Enough for all columns of fixed width. */
#define START_ROOM (THREAD_COMM_SIZE + 256)
/* Bytes for "\t", an address, an offset, marks and the newline; names need more. */
#define FRAME_ROOM 72

/*
 * Text from the recording must not control the terminal: control characters and invalid UTF-8
 * become '?', in a pipe too, so that the output is the same everywhere.
 */
static bool is_plain(const char *text, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain &= text[i] >= 0x20 && text[i] < 0x7f;
	return plain;
}

void script_printable(struct buf *out, const char *text, size_t len)
{
	CLEANUP(free_ptr) char *copy = NULL;

	if (is_plain(text, len)) {
		buf_add_mem(out, text, len);
		return;
	}
	copy = xstrndup(text, len);
	text_add_printable(out, copy);
}

/* ---- the columns that every line begins with ---- */

static char *put_time(const struct script *s, char *p, uint64_t time_ns)
{
	uint64_t seconds = time_ns / NS_PER_SEC, rest = time_ns % NS_PER_SEC;

	p = put_u64_right(p, seconds, 5);
	*p++ = '.';
	p = s->o.ns ? put_digits(p, rest, 9) : put_digits(p, rest / 1000, 6);
	return put_lit(p, ": ");
}

static char *put_shown_time(struct script *s, char *p, uint64_t time_ns)
{
	uint64_t shown = time_ns;

	if (s->o.reltime) {
		if (!s->first_ns)
			s->first_ns = time_ns;
		shown = time_ns - s->first_ns;
	} else if (s->o.deltatime) {
		shown = s->previous_ns ? time_ns - s->previous_ns : 0;
		s->previous_ns = time_ns;
	}
	return put_time(s, p, shown);
}

static char *put_wall_time(const struct script *s, char *p, uint64_t time_ns)
{
	const struct perfdata_facts *facts = &s->data->facts;
	uint64_t wall_ns = facts->wall_ns + (time_ns - facts->clock_ns);
	time_t seconds = (time_t)(wall_ns / NS_PER_SEC);
	uint64_t rest = wall_ns % NS_PER_SEC;
	struct tm local;

	if (!localtime_r(&seconds, &local))
		return put_lit(p, "failed ");
	p += strftime(p, 64, "%F %H:%M:%S", &local);
	*p++ = '.';
	p = s->o.ns ? put_digits(p, rest, 9) : put_digits(p, rest / 1000, 6);
	*p++ = ' ';
	return p;
}

/* One letter for each flag of the record, padded to six. */
static char *put_misc(char *p, uint32_t type, uint16_t misc)
{
	char *start = p;
	uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;

	/* The modes are numbers, but perf tests them like bits; so do we. */
	if ((mode & PERF_RECORD_MISC_KERNEL) == PERF_RECORD_MISC_KERNEL)
		*p++ = 'K';
	if ((mode & PERF_RECORD_MISC_USER) == PERF_RECORD_MISC_USER)
		*p++ = 'U';
	if ((mode & PERF_RECORD_MISC_HYPERVISOR) == PERF_RECORD_MISC_HYPERVISOR)
		*p++ = 'H';
	if ((mode & PERF_RECORD_MISC_GUEST_KERNEL) == PERF_RECORD_MISC_GUEST_KERNEL)
		*p++ = 'G';
	if ((mode & PERF_RECORD_MISC_GUEST_USER) == PERF_RECORD_MISC_GUEST_USER)
		*p++ = 'g';
	if ((type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2) &&
	    (misc & PERF_RECORD_MISC_MMAP_DATA))
		*p++ = 'M';
	else if (type == PERF_RECORD_COMM && (misc & PERF_RECORD_MISC_COMM_EXEC))
		*p++ = 'E';
	else if ((type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) &&
		 (misc & PERF_RECORD_MISC_SWITCH_OUT)) {
		*p++ = 'S';
		if (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
			*p++ = 'p';
	}
	/* At least one blank. */
	return put_blanks(p, p - start < 5 ? (size_t)(6 - (p - start)) : 1);
}

/* Returns where to continue after the name. */
static char *put_comm(struct script *s, const struct script_plan *plan, const char *comm,
		      size_t len)
{
	char *p = buf_room(&s->out, START_ROOM);

	if (!plan->chains && len < 16)
		p = put_blanks(p, 16 - len);
	if (is_plain(comm, len)) {
		p = put_mem(p, comm, len);
	} else {
		buf_commit(&s->out, p);
		script_printable(&s->out, comm, len);
		p = buf_room(&s->out, START_ROOM);
	}
	*p++ = ' ';
	return p;
}

void script_start(struct script *s, const struct script_plan *plan, const char *comm,
		  size_t comm_len, uint32_t type, uint16_t misc, const struct record_id *id)
{
	uint32_t fields = plan->fields;
	char *p;

	p = fields & FIELD_COMM ? put_comm(s, plan, comm, comm_len) : buf_room(&s->out, START_ROOM);
	if ((fields & (FIELD_PID | FIELD_TID)) == (FIELD_PID | FIELD_TID)) {
		p = put_i32(p, (int32_t)id->pid, 5);
		*p++ = '/';
		p = put_i32(p, (int32_t)id->tid, -5);
		*p++ = ' ';
	} else if (fields & (FIELD_PID | FIELD_TID)) {
		p = put_i32(p, (int32_t)(fields & FIELD_PID ? id->pid : id->tid), 5);
		*p++ = ' ';
	}
	if (fields & FIELD_CPU) {
		*p++ = '[';
		if (id->cpu < 1000)
			p = put_digits(p, id->cpu, 3);
		else
			p = put_i32(p, (int32_t)id->cpu, 0);
		p = put_lit(p, "] ");
	}
	if (fields & FIELD_MISC)
		p = put_misc(p, type, misc);
	if (fields & FIELD_TOD)
		p = put_wall_time(s, p, id->time_ns);
	if (fields & FIELD_TIME)
		p = put_shown_time(s, p, id->time_ns);
	buf_commit(&s->out, p);
}

/* ---- addresses ---- */

static const char *bytes_at(const struct script *s, uint32_t at)
{
	return s->names.bytes.s + at;
}

/* Puts one function of a step, " name+0x12 (module)", with the parts that @fields select. */
static char *put_names(const struct script *s, char *p, const struct frame_text *t, frame_id frame,
		       const struct chain_step *step, uint32_t fields)
{
	if (fields & FIELD_SYM) {
		*p++ = ' ';
		p = put_mem(p, bytes_at(s, t->symbol), t->symbol_len);
		if ((fields & FIELD_SYMOFF) && t->start) {
			p = put_lit(p, "+0x");
			p = put_hex(p, frame_text_offset(&s->names, t, frame, step));
		}
	}
	if ((fields & FIELD_DSO) && !t->inlined) {
		p = put_lit(p, " (");
		p = put_mem(p, bytes_at(s, t->module), t->module_len);
		*p++ = ')';
	}
	if (t->inlined)
		p = put_lit(p, " (inlined)");
	if ((fields & FIELD_SRCLINE) && t->line_len) {
		p = put_lit(p, "\n  ");
		p = put_mem(p, bytes_at(s, t->line), t->line_len);
	}
	return p;
}

static size_t names_room(const struct frame_text *t)
{
	return FRAME_ROOM + t->symbol_len + t->module_len + t->line_len;
}

/* Adds a step, one line for each of its functions. */
static void add_step_lines(struct script *s, const struct chain_step *step, uint32_t fields)
{
	frame_id frame;
	uint32_t count;
	const struct frame_text *t = script_names_of(&s->names, step, &frame, &count);

	for (uint32_t i = 0; i < count; i++, t++) {
		char *p = buf_room(&s->out, names_room(t));

		*p++ = '\t';
		p = put_hex_right(p, step->ip);
		p = put_names(s, p, t, frame, step, fields);
		*p++ = '\n';
		buf_commit(&s->out, p);
	}
}

/*
 * Adds the names of a single address as perf does: the function in the symbol table, because offset
 * and module refer to it, and the source line of the innermost function, inlined or not.
 */
static void add_names(struct script *s, const struct chain_step *step, uint32_t fields)
{
	frame_id frame;
	uint32_t count;
	const struct frame_text *levels = script_names_of(&s->names, step, &frame, &count);
	struct frame_text t;

	if (!count)
		return;
	t = levels[count - 1];
	t.line = levels[0].line;
	t.line_len = levels[0].line_len;
	buf_commit(&s->out,
		   put_names(s, buf_room(&s->out, names_room(&t)), &t, frame, step, fields));
}

#define NAME_FIELDS (FIELD_SYM | FIELD_DSO | FIELD_SRCLINE)

/* Adds only the addresses of a chain; without looking up names this is fast. */
static void add_plain_chain(struct script *s)
{
	const struct resolver *r = &s->names.analysis.resolver;
	char *p = buf_room(&s->out, r->steps.len * FRAME_ROOM + 2);

	vec_each(&r->steps, step) {
		*p++ = '\t';
		p = put_hex_right(p, step->ip);
		*p++ = '\n';
	}
	buf_commit(&s->out, p);
}

static void add_chain(struct script *s, const struct record *r, const struct stream_event *event,
		      uint32_t fields)
{
	const struct resolver *resolver = &s->names.analysis.resolver;

	buf_add_char(&s->out, '\n');
	script_names_chain(&s->names, r, event, r->id.time_ns);
	if (!(fields & NAME_FIELDS))
		add_plain_chain(s);
	else
		vec_each(&resolver->steps, step)
			add_step_lines(s, step, fields);
}

static void add_ip(struct script *s, const struct record *r, uint32_t fields)
{
	struct chain_step step =
		script_names_step(&s->names, r->sample.ip, r->id.pid, r->id.time_ns);
	char *p = buf_room(&s->out, FRAME_ROOM);

	*p++ = ' ';
	buf_commit(&s->out, put_hex_right(p, r->sample.ip));
	if (fields & NAME_FIELDS)
		add_names(s, &step, fields);
}

/* ---- one sample ---- */

static bool addr_has_symbol(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void add_addr(struct script *s, const struct record *r, const struct stream_event *event,
		     uint32_t fields)
{
	struct chain_step step =
		script_names_step(&s->names, r->sample.addr, r->id.pid, r->id.time_ns);

	buf_commit(&s->out, put_hex_right(buf_room(&s->out, FRAME_ROOM), r->sample.addr));
	if (addr_has_symbol(&event->attr) && (fields & NAME_FIELDS))
		add_names(s, &step, fields);
}

/* Text of tracepoints keeps its tabs, unlike names. */
static void make_printable(struct script *s, size_t from)
{
	for (char *c = s->out.s + from; c < s->out.s + s->out.len; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			*c = '?';
}

static void add_trace(struct script *s, const struct sample *sample, const struct script_plan *plan)
{
	struct format_context context = script_format_context(s);
	size_t from = s->out.len;

	if (!plan->format || !sample->raw.size)
		return;
	tracepoint_format_print(plan->format, sample->raw.data, sample->raw.size, &context,
				&s->out);
	make_printable(s, from);
}

/* "name=value name=value": numbers as the text of the tracepoint has them, like perf report. */
static void add_named(struct script *s, const struct sample *sample, const struct script_plan *plan)
{
	struct format_context context = script_format_context(s);
	CLEANUP(buf_release) struct buf text = {};
	size_t from = s->out.len, len;

	if (!sample->raw.size)
		return;
	tracepoint_format_print(plan->format, sample->raw.data, sample->raw.size, &context, &text);
	vec_each(&plan->named, field) {
		const char *value =
			(*field)->is_array
				? NULL
				: tracepoint_printed_value(buf_str(&text), (*field)->name, &len);

		buf_addf(&s->out, "%s%s=", field == plan->named.items ? "" : " ", (*field)->name);
		if (value)
			buf_add_mem(&s->out, value, len);
		else
			tracepoint_format_print_field(plan->format, *field, sample->raw.data,
						      sample->raw.size, &s->out);
	}
	make_printable(s, from);
}

static void add_number(struct script *s, uint64_t number, bool hex)
{
	char *p = buf_room(&s->out, FRAME_ROOM);

	buf_commit(&s->out, hex ? put_hex_right(p, number) : put_u64_right(p, number, 16));
}

static void add_cgroup(struct script *s, uint64_t id)
{
	const char *path = script_cgroup_path(s, id);

	buf_add_char(&s->out, ' ');
	if (!path)
		path = "unknown";
	script_printable(&s->out, path, strlen(path));
}

/* Columns between the event's name and the address. */
static void add_memory_parts(struct script *s, const struct record *r,
			     const struct stream_event *event, uint32_t fields)
{
	const struct sample *sample = &r->sample;

	if (fields & FIELD_ADDR)
		add_addr(s, r, event, fields);
	if (fields & FIELD_DATA_SRC)
		script_data_src(&s->out, sample->data_src, &s->data_src_width);
	if (fields & FIELD_WEIGHT)
		add_number(s, sample->weight, false);
	if (fields & FIELD_INS_LAT)
		add_number(s, sample->weight_mid, false);
	if (fields & FIELD_RETIRE_LAT)
		add_number(s, sample->weight_high, false);
	if (fields & FIELD_CGROUP)
		add_cgroup(s, sample->cgroup);
}

/* Columns after the address. */
static void add_last_parts(struct script *s, const struct record *r,
			   const struct stream_event *event, uint32_t fields)
{
	const struct sample *sample = &r->sample;
	const char *arch = s->data->facts.arch;

	if (fields & FIELD_IREGS)
		script_regs(&s->out, &sample->regs_intr, arch);
	if (fields & FIELD_UREGS)
		script_regs(&s->out, &sample->regs_user, arch);
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF))
		script_branches(s, r, fields);
	if ((fields & FIELD_BPF_OUTPUT) && event->attr.type == PERF_TYPE_SOFTWARE &&
	    event->attr.config == PERF_COUNT_SW_BPF_OUTPUT)
		script_bpf_output(&s->out, &sample->raw);
	if (fields & FIELD_PHYS_ADDR)
		add_number(s, sample->phys_addr, true);
	if (fields & FIELD_DATA_PAGE_SIZE)
		script_page_size(&s->out, sample->data_page_size);
	if (fields & FIELD_CODE_PAGE_SIZE)
		script_page_size(&s->out, sample->code_page_size);
}

#define MEMORY_FIELDS                                                                              \
	(FIELD_ADDR | FIELD_DATA_SRC | FIELD_WEIGHT | FIELD_INS_LAT | FIELD_RETIRE_LAT |           \
	 FIELD_CGROUP)
#define LAST_FIELDS                                                                                \
	(FIELD_IREGS | FIELD_UREGS | FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF |         \
	 FIELD_BPF_OUTPUT | FIELD_PHYS_ADDR | FIELD_DATA_PAGE_SIZE | FIELD_CODE_PAGE_SIZE)

void script_sample(struct script *s, const struct record *r, const struct stream_event *event,
		   const struct script_plan *plan, const struct thread *thread, uint64_t period)
{
	uint32_t fields = plan->fields;
	const struct sample *sample = &r->sample;
	char *p;

	if (!fields && !plan->named.len)
		return;
	script_start(s, plan, thread->comm, thread->comm_len, r->type, r->misc, &r->id);
	p = buf_room(&s->out, 32 + plan->name.len);
	if (fields & FIELD_PERIOD) {
		p = put_u64_right(p, period, 10);
		*p++ = ' ';
	}
	if (fields & FIELD_EVENT)
		p = put_mem(p, plan->name.s, plan->name.len);
	buf_commit(&s->out, p);
	if (fields & FIELD_TRACE)
		add_trace(s, sample, plan);
	if (plan->named.len) {
		buf_add(&s->out, fields & FIELD_TRACE ? " " : "");
		add_named(s, sample, plan);
	}
	if (fields & MEMORY_FIELDS)
		add_memory_parts(s, r, event, fields);
	if ((fields & FIELD_IP) && sample->chain && !s->o.hide_chains)
		add_chain(s, r, event, fields);
	else if (fields & FIELD_IP)
		add_ip(s, r, fields);
	if (fields & LAST_FIELDS)
		add_last_parts(s, r, event, fields);
	buf_add_char(&s->out, '\n');
}
