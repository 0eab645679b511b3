/*
 * JSON lines: one object a record. Addresses are strings ("0xffffffff81000000"), because many
 * readers keep numbers as doubles; times, counts and ids are numbers.
 */
#include "cmd/script/script.h"
#include "base/digits.h"
#include "base/json.h"

#include <stdio.h>
#include <string.h>

static void add_address(struct json *j, uint64_t address)
{
	char text[24] = "0x";

	*put_hex(text + 2, address) = '\0';
	jw_str(j, text);
}

static void kv_address(struct json *j, const char *key, uint64_t address)
{
	jw_key(j, key);
	add_address(j, address);
}

static void kv_i32(struct json *j, const char *key, uint32_t v)
{
	jw_key(j, key);
	jw_i64(j, (int32_t)v);
}

static void kv_hex(struct json *j, const char *key, const unsigned char *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < size; i++)
		buf_addf(&text, "%02x", bytes[i]);
	jw_kv_str(j, key, buf_str(&text));
}

/* ---- parts of a sample ---- */

static const char *context_name(uint64_t ip)
{
	switch ((int64_t)ip) {
	case PERF_CONTEXT_HV:
		return "hypervisor";
	case PERF_CONTEXT_KERNEL:
		return "kernel";
	case PERF_CONTEXT_USER:
		return "user";
	case PERF_CONTEXT_GUEST:
		return "guest";
	case PERF_CONTEXT_GUEST_KERNEL:
		return "guest kernel";
	case PERF_CONTEXT_GUEST_USER:
		return "guest user";
	default:
		return "unknown";
	}
}

/* Adds the frames in the order of the record, each with its mode (user, kernel …). They are most of
 * the output, so for speed they bypass the jw_ functions. */
static void add_chain(struct json *j, const uint64_t *chain, uint64_t len)
{
	const char *context = NULL;
	bool first = true;
	char *p;

	jw_key(j, "callchain");
	jw_open(j, '[');
	p = buf_room(j->out, len * 64);
	for (uint64_t i = 0; i < len; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			context = context_name(chain[i]);
			continue;
		}
		if (!first)
			*p++ = ',';
		first = false;
		p = put_lit(p, "{\"ip\":\"0x");
		p = put_hex(p, chain[i]);
		if (context) {
			p = put_lit(p, "\",\"context\":\"");
			p = put_mem(p, context, strlen(context));
		}
		p = put_lit(p, "\"}");
	}
	buf_commit(j->out, p);
	jw_close(j, ']');
}

static void add_read(struct json *j, const struct stream *stream, const struct read_view *read)
{
	jw_key(j, "read");
	jw_open(j, '[');
	for (uint64_t i = 0; i < read->count; i++) {
		struct read_value v = read_values_get(read, i);
		struct stream_event *event =
			read->has_id ? stream_find_id((struct stream *)stream, v.id) : NULL;

		jw_open(j, '{');
		if (event)
			jw_kv_str(j, "event", perfdata_event_name(event));
		jw_kv_u64(j, "value", v.value);
		if (read->has_id)
			jw_kv_u64(j, "id", v.id);
		if (read->has_lost)
			jw_kv_u64(j, "lost", v.lost);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_kv_u64(j, "time_enabled_ns", read->enabled_ns);
	jw_kv_u64(j, "time_running_ns", read->running_ns);
}

static void add_branches(struct json *j, const struct branch_view *branches)
{
	jw_key(j, "branches");
	jw_open(j, '[');
	for (uint64_t i = 0; i < branches->count; i++) {
		const struct branch_entry *b = &branches->entries[i];

		jw_open(j, '{');
		kv_address(j, "from", b->from);
		kv_address(j, "to", b->to);
		jw_kv_bool(j, "predicted", b->flags & 2);
		jw_kv_bool(j, "mispredicted", b->flags & 1);
		jw_kv_bool(j, "in_transaction", b->flags & 4);
		jw_kv_bool(j, "abort", b->flags & 8);
		jw_kv_u64(j, "cycles", b->flags >> 4 & 0xffff);
		if (branches->counters)
			jw_kv_u64(j, "counters", branches->counters[i]);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

/* Keys must be unique: unnamed registers get a number, upper halves of vectors "_high". */
static void add_reg(struct json *j, unsigned reg, const char *arch, uint64_t value)
{
	const char *name = script_reg_name(reg, arch);
	char key[32];

	if (!strcmp(name, "unknown"))
		snprintf(key, sizeof(key), "reg%u", reg);
	else
		snprintf(key, sizeof(key), "%s%s", name,
			 reg % 2 && !strcmp(name, script_reg_name(reg - 1, arch)) ? "_high" : "");
	kv_address(j, key, value);
}

static void add_regs(struct json *j, const char *key, const struct regs_view *regs,
		     const char *arch)
{
	unsigned i = 0;

	if (!regs->values)
		return;
	jw_key(j, key);
	jw_open(j, '{');
	jw_kv_u64(j, "abi", regs->abi);
	for (unsigned reg = 0; reg < 64; reg++)
		if (regs->mask >> reg & 1)
			add_reg(j, reg, arch, regs->values[i++]);
	jw_close(j, '}');
}

static void add_field(struct json *j, const struct tracepoint_format *f,
		      const struct tracepoint_field *field, const struct bytes_view *raw)
{
	bool text = strstr(field->type, "char") && (field->is_array || field->place != FIELD_HERE);
	const unsigned char *bytes;
	uint64_t value;
	size_t len;

	if (text) {
		const char *s = tracepoint_field_text(f, field, raw->data, raw->size, &len);
		CLEANUP(free_ptr) char *copy = s ? xstrndup(s, len) : NULL;

		jw_kv_str(j, field->name, copy);
	} else if (!field->is_array && field->place == FIELD_HERE &&
		   tracepoint_field_value(f, field, raw->data, raw->size, &value)) {
		jw_key(j, field->name);
		if (field->is_pointer)
			add_address(j, value);
		else if (field->is_signed)
			jw_i64(j, (int64_t)value);
		else
			jw_u64(j, value);
	} else {
		bytes = tracepoint_field_bytes(f, field, raw->data, raw->size, &len);
		kv_hex(j, field->name, bytes ? bytes : raw->data, bytes ? len : 0);
	}
}

static void add_trace(struct json *j, const struct script *s, const struct script_plan *plan,
		      const struct bytes_view *raw)
{
	struct format_context context = script_format_context(s);
	CLEANUP(buf_release) struct buf text = {};

	if (!plan->format) {
		kv_hex(j, "raw", raw->data, raw->size);
		return;
	}
	tracepoint_format_print(plan->format, raw->data, raw->size, &context, &text);
	jw_kv_str(j, "trace", buf_str(&text));
	jw_key(j, "fields");
	jw_open(j, '{');
	vec_each(&plan->named, field)
		add_field(j, plan->format, *field, raw);
	for (size_t i = plan->format->common_count; i < plan->format->fields.len && !s->named.len;
	     i++)
		add_field(j, plan->format, &plan->format->fields.items[i], raw);
	jw_close(j, '}');
}

static void add_memory(struct json *j, const struct script *s, const struct sample *sample,
		       uint64_t parts)
{
	if (parts & PERF_SAMPLE_ADDR)
		kv_address(j, "addr", sample->addr);
	if (parts & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		jw_kv_u64(j, "weight", sample->weight);
	if (parts & PERF_SAMPLE_WEIGHT_STRUCT) {
		jw_kv_u64(j, "ins_lat", sample->weight_mid);
		jw_kv_u64(j, "retire_lat", sample->weight_high);
	}
	if (parts & PERF_SAMPLE_DATA_SRC)
		kv_address(j, "data_src", sample->data_src);
	if (parts & PERF_SAMPLE_TRANSACTION)
		kv_address(j, "transaction", sample->transaction);
	if (parts & PERF_SAMPLE_PHYS_ADDR)
		kv_address(j, "phys_addr", sample->phys_addr);
	if (parts & PERF_SAMPLE_DATA_PAGE_SIZE)
		jw_kv_u64(j, "data_page_size", sample->data_page_size);
	if (parts & PERF_SAMPLE_CODE_PAGE_SIZE)
		jw_kv_u64(j, "code_page_size", sample->code_page_size);
	if (parts & PERF_SAMPLE_CGROUP) {
		jw_kv_u64(j, "cgroup", sample->cgroup);
		if (script_cgroup_path(s, sample->cgroup))
			jw_kv_str(j, "cgroup_path", script_cgroup_path(s, sample->cgroup));
	}
	if (parts & PERF_SAMPLE_AUX)
		jw_kv_u64(j, "aux_bytes", sample->aux.size);
}

static void add_sample(struct json *j, struct script *s, const struct record *r,
		       const struct stream_event *event, const struct script_plan *plan)
{
	const struct sample *sample = &r->sample;
	uint64_t parts = event->attr.sample_type;
	const char *arch = s->data->facts.arch;

	if (parts & PERF_SAMPLE_IP)
		kv_address(j, "ip", sample->ip);
	jw_kv_u64(j, "period",
		  parts & PERF_SAMPLE_PERIOD ? sample->period : event->attr.sample_period);
	if (parts & PERF_SAMPLE_READ)
		add_read(j, &s->data->stream, &sample->read);
	if ((parts & PERF_SAMPLE_CALLCHAIN) && !s->o.hide_chains)
		add_chain(j, sample->chain, sample->chain_len);
	if (parts & PERF_SAMPLE_IP)
		script_names_json(&s->names, j, r, event, s->o.hide_chains);
	if ((parts & PERF_SAMPLE_RAW) && sample->raw.data)
		add_trace(j, s, plan, &sample->raw);
	if (parts & PERF_SAMPLE_BRANCH_STACK)
		add_branches(j, &sample->branches);
	add_regs(j, "user_regs", &sample->regs_user, arch);
	add_regs(j, "intr_regs", &sample->regs_intr, arch);
	if (parts & PERF_SAMPLE_STACK_USER)
		jw_kv_u64(j, "user_stack_bytes", sample->stack_user.size);
	add_memory(j, s, sample, parts);
}

/* ---- other records ---- */

static void add_mmap(struct json *j, const struct record *r)
{
	const struct mmap_view *m = &r->mmap;

	kv_address(j, "start", m->start);
	jw_kv_u64(j, "length", m->length);
	jw_kv_u64(j, "file_offset", m->file_offset);
	jw_kv_str(j, "filename", m->filename);
	if (r->type != PERF_RECORD_MMAP2)
		return;
	if (m->build_id)
		kv_hex(j, "build_id", m->build_id, m->build_id_size);
	else
		jw_kv_u64(j, "inode", m->inode);
	jw_kv_u64(j, "prot", m->prot);
	jw_kv_u64(j, "flags", m->flags);
}

static void kv_task(struct json *j, uint32_t pid, uint32_t tid)
{
	kv_i32(j, "task_pid", pid);
	kv_i32(j, "task_tid", tid);
}

static void add_namespaces(struct json *j, const struct namespaces_view *n)
{
	kv_task(j, n->pid, n->tid);
	jw_key(j, "namespaces");
	jw_open(j, '[');
	for (uint64_t i = 0; i < n->count; i++) {
		jw_open(j, '{');
		jw_kv_u64(j, "device", n->entries[i].device);
		jw_kv_u64(j, "inode", n->entries[i].inode);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

/* Records that describe the kernel itself, and the remaining types. */
static void add_kernel_record(struct json *j, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_KSYMBOL:
		kv_address(j, "address", r->ksymbol.address);
		jw_kv_u64(j, "length", r->ksymbol.length);
		jw_kv_u64(j, "ksymbol_type", r->ksymbol.type);
		jw_kv_u64(j, "flags", r->ksymbol.flags);
		jw_kv_str(j, "name", r->ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		jw_kv_u64(j, "bpf_type", r->bpf.type);
		jw_kv_u64(j, "flags", r->bpf.flags);
		jw_kv_u64(j, "program", r->bpf.id);
		break;
	case PERF_RECORD_CGROUP:
		jw_kv_u64(j, "cgroup", r->cgroup.id);
		jw_kv_str(j, "cgroup_path", r->cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		kv_address(j, "address", r->text_poke.address);
		kv_hex(j, "old", r->text_poke.bytes, r->text_poke.old_size);
		kv_hex(j, "new", r->text_poke.bytes + r->text_poke.old_size, r->text_poke.new_size);
		break;
	case PERF_RECORD_AUX:
		jw_kv_u64(j, "aux_offset", r->aux.offset);
		jw_kv_u64(j, "aux_size", r->aux.size);
		kv_address(j, "flags", r->aux.flags);
		break;
	case RECORD_CALLCHAIN_DEFERRED:
		jw_kv_u64(j, "cookie", r->deferred.cookie);
		add_chain(j, r->deferred.chain, r->deferred.chain_len);
		break;
	default:
		break;
	}
}

static void add_record(struct json *j, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		kv_task(j, r->mmap.pid, r->mmap.tid);
		add_mmap(j, r);
		break;
	case PERF_RECORD_COMM:
		kv_task(j, r->comm.pid, r->comm.tid);
		jw_kv_str(j, "new_comm", r->comm.comm);
		jw_kv_bool(j, "exec", r->misc & PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		kv_task(j, r->task.pid, r->task.tid);
		kv_i32(j, "parent_pid", r->task.parent_pid);
		kv_i32(j, "parent_tid", r->task.parent_tid);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		jw_kv_u64(j, "lost", r->lost.lost);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		kv_i32(j, "other_pid", r->context_switch.pid);
		kv_i32(j, "other_tid", r->context_switch.tid);
		/* fallthrough */
	case PERF_RECORD_SWITCH:
		jw_kv_bool(j, "out", r->misc & PERF_RECORD_MISC_SWITCH_OUT);
		jw_kv_bool(j, "preempted", r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		break;
	case PERF_RECORD_NAMESPACES:
		add_namespaces(j, &r->namespaces);
		break;
	default:
		add_kernel_record(j, r);
		break;
	}
}

void script_json(struct script *s, const struct record *r, const struct stream_record *raw,
		 const struct script_plan *plan)
{
	struct json j = jw_to(&s->out);
	const char *type = perfdata_record_name(r->type);
	uint64_t parts = raw->event->attr.sample_type;

	if (s->document && s->document_begun)
		buf_add_char(&s->out, ',');
	s->document_begun = true;
	jw_open(&j, '{');
	if (type)
		jw_kv_str(&j, "type", type);
	else
		jw_kv_u64(&j, "type", r->type);
	jw_kv_str(&j, "event", perfdata_event_name(raw->event));
	if (r->has_id && (parts & PERF_SAMPLE_TIME))
		jw_kv_u64(&j, "time_ns", r->id.time_ns);
	if (r->has_id && (parts & PERF_SAMPLE_TID)) {
		kv_i32(&j, "pid", r->id.pid);
		kv_i32(&j, "tid", r->id.tid);
		jw_kv_str(&j, "comm", script_thread(s, r->id.pid, r->id.tid)->comm);
	}
	if (r->has_id && (parts & PERF_SAMPLE_CPU))
		jw_kv_u64(&j, "cpu", r->id.cpu);
	if (r->has_id && (parts & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)))
		jw_kv_u64(&j, "id", r->id.id);
	jw_kv_u64(&j, "misc", r->misc);
	jw_kv_u64(&j, "offset", raw->file_offset);
	if (r->type == PERF_RECORD_SAMPLE)
		add_sample(&j, s, r, raw->event, plan);
	else
		add_record(&j, r);
	jw_close(&j, '}');
	buf_add_char(&s->out, '\n');
}
