#include "cmd/script/script.h"
#include "base/digits.h"

#include <string.h>

/* ---- registers ---- */

static const char *const x86_regs[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
	"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15",
};

static const char *const x86_vector_regs[] = {
	"XMM0", "XMM1", "XMM2",  "XMM3",  "XMM4",  "XMM5",  "XMM6",  "XMM7",
	"XMM8", "XMM9", "XMM10", "XMM11", "XMM12", "XMM13", "XMM14", "XMM15",
};

static const char *const arm64_regs[] = {
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",
};

const char *script_reg_name(unsigned reg, const char *arch)
{
	if (arch && !strncmp(arch, "aarch64", 7)) {
		if (reg == 46)
			return "vg";
		return reg < ARRAY_LEN(arm64_regs) ? arm64_regs[reg] : "unknown";
	}
	if (arch && strncmp(arch, "x86", 3) && strncmp(arch, "i", 1))
		return "unknown";
	if (reg < ARRAY_LEN(x86_regs))
		return x86_regs[reg];
	/* Vector registers take two numbers each. */
	if (reg >= 32 && reg < 64)
		return x86_vector_regs[(reg - 32) / 2];
	return "unknown";
}

void script_regs(struct buf *out, const struct regs_view *regs, const char *arch)
{
	unsigned i = 0;

	if (!regs->values)
		return;
	buf_addf(out, " ABI:%llu ", (unsigned long long)regs->abi);
	for (unsigned reg = 0; reg < 64; reg++)
		if (regs->mask >> reg & 1) {
			const char *name = script_reg_name(reg, arch);
			size_t len = strlen(name);
			char *p = buf_room(out, 48);

			p = put_blanks(p, len < 5 ? 5 - len : 0);
			p = put_mem(p, name, len);
			p = put_lit(p, ":0x");
			p = put_hex(p, regs->values[i++]);
			*p++ = ' ';
			buf_commit(out, p);
		}
}

/* ---- branches ---- */

static const char *branch_type_name(uint64_t flags)
{
	static const char *const names[] = {
		"",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const more[] = {
		"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
		"ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5",
	};
	unsigned type = flags >> 20 & 15, new_type = flags >> 26 & 15;

	if (type < ARRAY_LEN(names))
		return names[type];
	return new_type < ARRAY_LEN(more) ? more[new_type] : "";
}

static char *put_branch_flags(char *p, uint64_t flags)
{
	const char *type = branch_type_name(flags);

	*p++ = '/';
	*p++ = flags & 2 ? 'P' : flags & 1 ? 'M' : '-';
	*p++ = '/';
	*p++ = flags & 4 ? 'X' : '-';
	*p++ = '/';
	*p++ = flags & 8 ? 'A' : '-';
	*p++ = '/';
	p = put_u64(p, flags >> 4 & 0xffff);
	*p++ = '/';
	p = put_mem(p, type, strlen(type));
	*p++ = ' ';
	return p;
}

/* Adds one end of a branch: the recorded address, the symbol, or the address in its module. */
static void add_branch_end(struct script *s, uint64_t address, const struct record *r,
			   uint32_t fields)
{
	struct chain_step step = script_names_step(&s->names, address, r->id.pid, r->id.time_ns);
	uint32_t count = 0;
	frame_id frame = {};
	const struct frame_text *t = NULL;
	char *p;

	if (!(fields & FIELD_BRSTACK) || (fields & FIELD_DSO))
		t = script_names_of(&s->names, &step, &frame, &count);
	/* The last text is the function that contains the code; inlined ones come before it. */
	if (count)
		t += count - 1;
	p = buf_room(&s->out, 128 + (count ? t->symbol_len + t->module_len : 0));
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKOFF)) {
		p = put_lit(p, "0x");
		p = put_hex(p, fields & FIELD_BRSTACK || !count
				       ? address
				       : s->names.profile.frames.items[frame.n].address);
	} else if (count) {
		p = put_mem(p, s->names.bytes.s + t->symbol, t->symbol_len);
		if (t->start) {
			p = put_lit(p, "+0x");
			p = put_hex(p, frame_text_offset(&s->names, t, frame, &step));
		}
	} else {
		p = put_lit(p, "[unknown]");
	}
	if (fields & FIELD_DSO) {
		*p++ = '(';
		p = count ? put_mem(p, s->names.bytes.s + t->module, t->module_len)
			  : put_lit(p, "[unknown]");
		*p++ = ')';
	}
	buf_commit(&s->out, p);
}

void script_branches(struct script *s, const struct record *r, uint32_t fields)
{
	const struct branch_view *branches = &r->sample.branches;

	/* The same preference as perf's: raw, then by symbol, then by offset. */
	if ((fields & FIELD_BRSTACKSYM) && !(fields & FIELD_BRSTACK))
		fields &= ~(uint32_t)FIELD_BRSTACKOFF;
	for (uint64_t i = 0; i < branches->count; i++) {
		const struct branch_entry *entry = &branches->entries[i];

		if (fields & (FIELD_BRSTACK | FIELD_BRSTACKOFF))
			buf_add_char(&s->out, ' ');
		add_branch_end(s, entry->from, r, fields);
		buf_add_char(&s->out, '/');
		add_branch_end(s, entry->to, r, fields);
		buf_commit(&s->out, put_branch_flags(buf_room(&s->out, 64), entry->flags));
	}
}

/* ---- memory ---- */

/* Adds the names of the bits set, joined by " or ". Returns @before plus their number. */
static unsigned add_bits(struct buf *out, uint64_t bits, const char *const *names, size_t count,
			 unsigned before)
{
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1) {
			buf_add(out, before++ ? " or " : "");
			buf_add(out, names[i]);
		}
	return before;
}

static void add_level(struct buf *out, union perf_mem_data_src src)
{
	static const char *const levels[] = {
		"N/A",
		"HIT",
		"MISS",
		"L1",
		"LFB",
		"L2",
		"L3",
		"Local RAM",
		"Remote RAM (1 hop)",
		"Remote RAM (2 hops)",
		"Remote Cache (1 hop)",
		"Remote Cache (2 hops)",
		"I/O",
		"Uncached",
	};
	static const char *const numbers[16] = {
		[9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB",
		[13] = "RAM", [14] = "PMEM", [15] = "N/A",
	};
	static const char *const hops[8] = {
		"N/A", "core, same node", "node, same socket", "socket, same board", "board",
	};
	uint64_t bits = src.mem_lvl & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS);
	size_t from = out->len;
	unsigned shown;

	if (src.mem_remote)
		buf_add(out, "Remote ");
	if (src.mem_hops && hops[src.mem_hops])
		buf_addf(out, "%s ", hops[src.mem_hops]);
	shown = add_bits(out, bits, levels, ARRAY_LEN(levels), 0);
	if (src.mem_lvl_num) {
		buf_add(out, shown ? " or " : "");
		if (numbers[src.mem_lvl_num])
			buf_add(out, numbers[src.mem_lvl_num]);
		else
			buf_addf(out, "L%u", (unsigned)src.mem_lvl_num);
	}
	if (out->len == from)
		buf_add(out, "N/A");
	buf_add(out, src.mem_lvl & PERF_MEM_LVL_HIT ? " hit" : "");
	buf_add(out, src.mem_lvl & PERF_MEM_LVL_MISS ? " miss" : "");
}

static void add_snoop_and_tlb(struct buf *out, union perf_mem_data_src src)
{
	static const char *const snoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const more[] = {"Fwd", "Peer"};
	static const char *const tlbs[] = {"N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault"};
	uint64_t tlb = src.mem_dtlb & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS);
	unsigned shown;

	buf_add(out, "|SNP ");
	shown = add_bits(out, src.mem_snoop, snoops, ARRAY_LEN(snoops), 0);
	shown = add_bits(out, src.mem_snoopx, more, ARRAY_LEN(more), shown);
	buf_add(out, shown ? "" : "N/A");
	buf_add(out, "|TLB ");
	buf_add(out, add_bits(out, tlb, tlbs, ARRAY_LEN(tlbs), 0) ? "" : "N/A");
	buf_add(out, src.mem_dtlb & PERF_MEM_TLB_HIT ? " hit" : "");
	buf_add(out, src.mem_dtlb & PERF_MEM_TLB_MISS ? " miss" : "");
}

void script_data_src(struct buf *out, uint64_t data_src, size_t *width)
{
	union perf_mem_data_src src = {.val = data_src};
	uint64_t op = src.mem_op;
	size_t from = out->len, len;

	buf_commit(out, put_hex_right(buf_room(out, 16), data_src));
	buf_add(out, " |OP ");
	buf_add(out, op & PERF_MEM_OP_NA       ? "N/A"
		     : op & PERF_MEM_OP_LOAD   ? "LOAD"
		     : op & PERF_MEM_OP_STORE  ? "STORE"
		     : op & PERF_MEM_OP_PFETCH ? "PFETCH"
		     : op & PERF_MEM_OP_EXEC   ? "EXEC"
					       : "No");
	buf_add(out, "|LVL ");
	add_level(out, src);
	add_snoop_and_tlb(out, src);
	buf_addf(out, "|LCK %s|BLK ",
		 src.mem_lock & PERF_MEM_LOCK_NA       ? "N/A"
		 : src.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
						       : "No");
	if (!src.mem_blk || (src.mem_blk & PERF_MEM_BLK_NA))
		buf_add(out, " N/A");
	buf_add(out, src.mem_blk & PERF_MEM_BLK_DATA ? " Data" : "");
	buf_add(out, src.mem_blk & PERF_MEM_BLK_ADDR ? " Addr" : "");
	/* Pad to the widest text so far, so that the next columns are mostly aligned. */
	len = out->len - from;
	if (len < *width)
		buf_pad(out, *width - len, ' ');
	else
		*width = len;
}

void script_page_size(struct buf *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	unsigned unit = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	if (bytes)
		buf_addf(out, " %llu%c", (unsigned long long)bytes, units[unit]);
	else
		buf_add(out, " N/A");
}

/* ---- what BPF programs write ---- */

void script_bpf_output(struct buf *out, const struct bytes_view *raw)
{
	buf_add_char(out, '\n');
	for (uint64_t at = 0; at < raw->size; at += 8) {
		buf_addf(out, "%17s %04x:", at ? "" : "BPF output:", (unsigned)at);
		for (uint64_t i = at; i < at + 8; i++)
			if (i < raw->size)
				buf_addf(out, " %02x", raw->data[i]);
			else
				buf_add(out, "   ");
		buf_add(out, "  ");
		for (uint64_t i = at; i < at + 8; i++) {
			unsigned char c = i < raw->size ? raw->data[i] : ' ';

			buf_add_char(out, c >= 0x20 && c < 0x7f ? (char)c : '.');
		}
		buf_add_char(out, '\n');
	}
	buf_add_char(out, '\n');
}
