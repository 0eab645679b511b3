/* -D: every record with its file offset, its bytes and its decoded parts. */
#include "cmd/script/script.h"

#include <string.h>

#define LLU(v) ((unsigned long long)(v))

static void add_bytes(struct buf *out, const unsigned char *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += 16) {
		buf_addf(out, "  .%04zx: ", at);
		for (size_t i = at; i < at + 16; i++)
			if (i < size)
				buf_addf(out, " %02x", bytes[i]);
			else
				buf_add(out, "   ");
		buf_add(out, "  ");
		for (size_t i = at; i < at + 16 && i < size; i++)
			buf_add_char(out,
				     bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.');
		buf_add_char(out, '\n');
	}
}

static void add_title(struct buf *out, const struct perf_event_header *h, uint64_t file_offset)
{
	const char *name = perfdata_record_name(h->type);

	buf_addf(out, "%#llx [%u] ", LLU(file_offset), h->size);
	if (name)
		buf_add(out, name);
	else
		buf_addf(out, "type %u", h->type);
	buf_addf(out, " misc %#x", h->misc);
}

static void add_chain(struct buf *out, const uint64_t *chain, uint64_t len)
{
	buf_addf(out, "  callchain: %llu\n", LLU(len));
	for (uint64_t i = 0; i < len; i++)
		buf_addf(out, "    %3llu: %016llx\n", LLU(i), LLU(chain[i]));
}

static void add_read(struct buf *out, const struct read_view *read)
{
	buf_addf(out, "  read: %llu, enabled %llu ns, running %llu ns\n", LLU(read->count),
		 LLU(read->enabled_ns), LLU(read->running_ns));
	for (uint64_t i = 0; i < read->count; i++) {
		struct read_value v = read_values_get(read, i);

		buf_addf(out, "    id %llu: value %llu, lost %llu\n", LLU(v.id), LLU(v.value),
			 LLU(v.lost));
	}
}

static void add_branches(struct buf *out, const struct branch_view *branches)
{
	buf_addf(out, "  branches: %llu\n", LLU(branches->count));
	for (uint64_t i = 0; i < branches->count; i++)
		buf_addf(out, "    %3llu: %016llx -> %016llx flags %#llx\n", LLU(i),
			 LLU(branches->entries[i].from), LLU(branches->entries[i].to),
			 LLU(branches->entries[i].flags));
}

static void add_regs(struct buf *out, const char *title, const struct regs_view *regs,
		     const char *arch)
{
	unsigned i = 0;

	buf_addf(out, "  %s: abi %llu, mask %#llx\n", title, LLU(regs->abi), LLU(regs->mask));
	for (unsigned reg = 0; reg < 64 && regs->values; reg++)
		if (regs->mask >> reg & 1)
			buf_addf(out, "    %-5s %#018llx\n", script_reg_name(reg, arch),
				 LLU(regs->values[i++]));
}

static void add_sample(struct buf *out, const struct script *s, const struct record *r,
		       const struct stream_event *event)
{
	const struct sample *sample = &r->sample;
	uint64_t parts = event->attr.sample_type;
	const char *arch = s->data->facts.arch;

	buf_addf(out, "  ip %#llx, period %llu, addr %#llx\n", LLU(sample->ip),
		 LLU(parts & PERF_SAMPLE_PERIOD ? sample->period : event->attr.sample_period),
		 LLU(sample->addr));
	if (parts & PERF_SAMPLE_READ)
		add_read(out, &sample->read);
	if (parts & PERF_SAMPLE_CALLCHAIN)
		add_chain(out, sample->chain, sample->chain_len);
	if (parts & PERF_SAMPLE_RAW)
		buf_addf(out, "  raw: %llu bytes\n", LLU(sample->raw.size));
	if (parts & PERF_SAMPLE_BRANCH_STACK)
		add_branches(out, &sample->branches);
	if (parts & PERF_SAMPLE_REGS_USER)
		add_regs(out, "user registers", &sample->regs_user, arch);
	if (parts & PERF_SAMPLE_STACK_USER)
		buf_addf(out, "  user stack: %llu bytes\n", LLU(sample->stack_user.size));
	if (parts & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		buf_addf(out, "  weight %llu, %u, %u\n", LLU(sample->weight), sample->weight_mid,
			 sample->weight_high);
	if (parts & PERF_SAMPLE_DATA_SRC)
		buf_addf(out, "  data_src %#llx\n", LLU(sample->data_src));
	if (parts & PERF_SAMPLE_TRANSACTION)
		buf_addf(out, "  transaction %#llx\n", LLU(sample->transaction));
	if (parts & PERF_SAMPLE_REGS_INTR)
		add_regs(out, "registers", &sample->regs_intr, arch);
	if (parts & PERF_SAMPLE_PHYS_ADDR)
		buf_addf(out, "  phys_addr %#llx\n", LLU(sample->phys_addr));
	if (parts & PERF_SAMPLE_CGROUP)
		buf_addf(out, "  cgroup %llu\n", LLU(sample->cgroup));
	if (parts & (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE))
		buf_addf(out, "  page sizes: data %llu, code %llu\n", LLU(sample->data_page_size),
			 LLU(sample->code_page_size));
	if (parts & PERF_SAMPLE_AUX)
		buf_addf(out, "  aux: %llu bytes\n", LLU(sample->aux.size));
}

void script_dump(struct script *s, const struct record *r, const struct stream_record *raw)
{
	struct buf *out = &s->out;

	add_title(out, raw->header, raw->file_offset);
	buf_add(out, ", event ");
	script_printable(out, perfdata_event_name(raw->event),
			 strlen(perfdata_event_name(raw->event)));
	if (r->has_id)
		buf_addf(out, ", time %llu, pid %d, tid %d, cpu %d, id %llu", LLU(r->id.time_ns),
			 (int)r->id.pid, (int)r->id.tid, (int)r->id.cpu, LLU(r->id.id));
	buf_add_char(out, '\n');
	add_bytes(out, (const unsigned char *)raw->header, raw->header->size);
	if (r->type == PERF_RECORD_SAMPLE) {
		add_sample(out, s, r, raw->event);
	} else {
		buf_add(out, "  ");
		script_record_body(out, r);
	}
	buf_add_char(out, '\n');
}

void script_dump_user(struct script *s, const unsigned char *bytes, uint64_t file_offset)
{
	const struct perf_event_header *h = (const void *)bytes;

	add_title(&s->out, h, file_offset);
	buf_add_char(&s->out, '\n');
	add_bytes(&s->out, bytes, h->size);
	buf_add_char(&s->out, '\n');
}
