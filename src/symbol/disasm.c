#include "symbol/disasm.h"
#include "base/library.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <string.h>

/* The functions of capstone that we use. */
struct capstone {
	cs_err (*open)(cs_arch, cs_mode, csh *);
	cs_err (*close)(csh *);
	cs_err (*option)(csh, cs_opt_type, size_t);
	bool (*disasm_iter)(csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
	cs_insn *(*malloc)(csh);
	void (*free)(cs_insn *, size_t);
	bool (*insn_group)(csh, const cs_insn *, unsigned);
};

struct disasm {
	struct capstone lib;
	csh handle;
	cs_insn *at; /* capstone's buffer for one instruction */
	bool is_x86;
};

#ifdef TACHO_STATIC
static const char *load(struct capstone *lib)
{
	*lib = (struct capstone){
		cs_open, cs_close, cs_option, cs_disasm_iter, cs_malloc, cs_free, cs_insn_group,
	};
	return NULL;
}
#else
/* Returns NULL, or the name of the missing library or function. */
static const char *load(struct capstone *lib)
{
	static const char *const names[] = {
		"cs_open",   "cs_close", "cs_option",     "cs_disasm_iter",
		"cs_malloc", "cs_free",  "cs_insn_group",
	};

	return LIBRARY_LOAD("libcapstone.so.4", names, lib);
}
#endif

int disasm_open(struct disasm **ret, const struct disasm_options *o, struct err *e)
{
	cs_arch arch = o->machine == EM_AARCH64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode mode = o->machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32;
	struct disasm *d;
	const char *missing;

	if (o->machine != EM_X86_64 && o->machine != EM_386 && o->machine != EM_AARCH64)
		return err_set(e, ENOTSUP,
			       "cannot disassemble code of ELF machine %u: only x86 and arm64 are "
			       "known",
			       o->machine);
	d = xcalloc(1, sizeof(*d));
	missing = load(&d->lib);
	if (missing) {
		free(d);
		return err_set(
			e, ENOSYS,
			"cannot disassemble: %s was not found; install libcapstone4 (or your "
			"distribution's package of capstone 4)",
			missing);
	}
	if (arch == CS_ARCH_ARM64)
		mode = CS_MODE_ARM;
	if (d->lib.open(arch, mode, &d->handle) != CS_ERR_OK) {
		free(d);
		return err_set(e, ENOTSUP, "this capstone cannot disassemble ELF machine %u",
			       o->machine);
	}
	d->is_x86 = arch == CS_ARCH_X86;
	d->lib.option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (d->is_x86)
		d->lib.option(d->handle, CS_OPT_SYNTAX,
			      o->intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	d->at = d->lib.malloc(d->handle);
	if (!d->at)
		abort(); /* out of memory, as in base/alloc */
	*ret = d;
	return 0;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	d->lib.free(d->at, 1);
	d->lib.close(&d->handle);
	free(d);
}

static enum instruction_flow flow_of(const struct disasm *d)
{
	if (d->lib.insn_group(d->handle, d->at, CS_GRP_CALL) ||
	    (!d->is_x86 && (d->at->id == ARM64_INS_BL || d->at->id == ARM64_INS_BLR)))
		return FLOW_CALL;
	if (d->lib.insn_group(d->handle, d->at, CS_GRP_RET) ||
	    (!d->is_x86 && d->at->id == ARM64_INS_RET))
		return FLOW_RETURN;
	if (d->lib.insn_group(d->handle, d->at, CS_GRP_JUMP))
		return FLOW_JUMP;
	return FLOW_NEXT;
}

static void x86_operands(const struct disasm *d, struct instruction *i)
{
	const cs_x86 *x = &d->at->detail->x86;

	for (unsigned n = 0; n < x->op_count && n < ARRAY_LEN(x->operands); n++) {
		const cs_x86_op *op = &x->operands[n];

		if (op->type == X86_OP_IMM && i->flow != FLOW_NEXT && i->flow != FLOW_RETURN)
			i->target = (uint64_t)op->imm;
		else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP &&
			 op->mem.index == X86_REG_INVALID)
			i->reference = i->address + i->size + (uint64_t)op->mem.disp;
	}
}

static void arm64_operands(const struct disasm *d, struct instruction *i)
{
	const cs_arm64 *a = &d->at->detail->arm64;
	bool flows = i->flow == FLOW_JUMP || i->flow == FLOW_CALL;

	/* tbz has a bit number before its target: the last immediate operand counts. */
	for (unsigned n = 0; n < a->op_count && n < ARRAY_LEN(a->operands); n++) {
		if (a->operands[n].type != ARM64_OP_IMM)
			continue;
		if (flows)
			i->target = (uint64_t)a->operands[n].imm;
		else if (d->at->id == ARM64_INS_ADR)
			i->reference = (uint64_t)a->operands[n].imm;
	}
}

/* Describes bytes that are not an instruction: one byte on x86, a whole word on arm64. */
static struct instruction bad_at(const struct disasm *d, uint64_t address, size_t left)
{
	uint32_t size = d->is_x86 ? 1 : 4;

	return (struct instruction){.address = address,
				    .mnemonic = "(bad)",
				    .operands = "",
				    .size = left < size ? (uint32_t)left : size,
				    .bad = true};
}

size_t disasm_range(struct disasm *d, const void *code, size_t size, uint64_t address,
		    bool (*visit)(void *ctx, const struct instruction *i), void *ctx)
{
	const uint8_t *at = code;
	size_t left = size < DISASM_CODE_MAX ? size : DISASM_CODE_MAX, begun = left;

	while (left) {
		size_t before = left;
		struct instruction i = bad_at(d, address, left);

		/* Check that capstone did not consume more than it was given: everything after
		 * that would be wrong. */
		if (d->lib.disasm_iter(d->handle, &at, &left, &address, d->at) && left < before) {
			i = (struct instruction){.address = d->at->address,
						 .mnemonic = d->at->mnemonic,
						 .operands = d->at->op_str,
						 .size = d->at->size,
						 .flow = flow_of(d)};
			if (d->is_x86)
				x86_operands(d, &i);
			else
				arm64_operands(d, &i);
		} else {
			at += i.size;
			left = before - i.size;
			address += i.size;
		}
		if (!visit(ctx, &i))
			break;
	}
	return begun - left;
}
