/* The instructions of an entry: a table of rules, written as the differences from row to row. */
#include "unwind/cfi_entry.h"
#include "unwind/leb128.h"

#include <string.h>

/* Those above 0x3f have an operand in their low six bits. */
enum {
	CFA_NOP,
	CFA_SET_LOC,
	CFA_ADVANCE_LOC1,
	CFA_ADVANCE_LOC2,
	CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED,
	CFA_UNDEFINED,
	CFA_SAME_VALUE,
	CFA_REGISTER,
	CFA_REMEMBER_STATE,
	CFA_RESTORE_STATE,
	CFA_DEF_CFA,
	CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION,
	CFA_EXPRESSION,
	CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF,
	CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
};

struct rules {
	struct cfi_rule cfa;
	struct cfi_rule regs[CFI_REGISTERS];
	bool return_signed;
};

struct program {
	const struct cfi_bytes *bytes;
	const struct cfi_fde *fde;
	struct cursor c;
	uint64_t address;  /* whose rules are wanted */
	uint64_t location; /* from where on the rules at hand hold */
	uint64_t next;     /* up to where, once it is known */
	struct rules now, initial;
	struct rules remembered[CFI_REMEMBER_MAX];
	unsigned remembered_count;
};

/* Rules of registers that nobody asks for go to a place that nobody reads. */
static void set_rule(struct program *p, uint64_t reg, struct cfi_rule rule)
{
	if (reg < CFI_REGISTERS)
		p->now.regs[reg] = rule;
}

static void set_offset(struct program *p, uint64_t reg, enum cfi_how how, int64_t offset)
{
	set_rule(p, reg, (struct cfi_rule){.how = (uint8_t)how, .offset = offset});
}

static int64_t scaled(const struct program *p, uint64_t value)
{
	return (int64_t)(value * (uint64_t)p->fde->cie.data_align);
}

static struct cfi_rule take_expression(struct program *p, enum cfi_how how)
{
	uint64_t size = leb128_unsigned(&p->c);
	struct cfi_rule rule = {.how = (uint8_t)how, .expression = p->c.data + p->c.at};

	cursor_skip(&p->c, size);
	rule.expression_size = p->c.failed ? 0 : (uint32_t)size;
	return rule;
}

static void restore(struct program *p, uint64_t reg)
{
	if (reg < CFI_REGISTERS)
		p->now.regs[reg] = p->initial.regs[reg];
}

/* False: the row at hand is the one for the address. */
static bool advance(struct program *p, uint64_t to)
{
	if (to > p->address) {
		p->next = to;
		return false;
	}
	p->location = to;
	return true;
}

static bool advance_by(struct program *p, uint64_t distance)
{
	return advance(p, p->location + distance * p->fde->cie.code_align);
}

static void define_cfa(struct program *p, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGISTERS)
		p->c.failed = true;
	p->now.cfa = (struct cfi_rule){.how = CFI_REGISTER, .reg = (uint8_t)reg, .offset = offset};
}

static void remember(struct program *p)
{
	if (p->remembered_count == CFI_REMEMBER_MAX)
		p->c.failed = true;
	else
		p->remembered[p->remembered_count++] = p->now;
}

static void recall(struct program *p)
{
	if (!p->remembered_count)
		p->c.failed = true;
	else
		p->now = p->remembered[--p->remembered_count];
}

/* Of an offset alone or a register alone, the other half must be there. */
static void change_cfa(struct program *p, uint8_t op)
{
	if (p->now.cfa.how != CFI_REGISTER)
		p->c.failed = true;
	else if (op == CFA_DEF_CFA_REGISTER)
		define_cfa(p, leb128_unsigned(&p->c), p->now.cfa.offset);
	else
		p->now.cfa.offset = (int64_t)leb128_unsigned(&p->c);
}

static void run_cfa(struct program *p, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = leb128_unsigned(&p->c);
		define_cfa(p, reg, (int64_t)leb128_unsigned(&p->c));
		break;
	case CFA_DEF_CFA_SF:
		reg = leb128_unsigned(&p->c);
		define_cfa(p, reg, scaled(p, (uint64_t)leb128_signed(&p->c)));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		if (p->now.cfa.how != CFI_REGISTER)
			p->c.failed = true;
		p->now.cfa.offset = scaled(p, (uint64_t)leb128_signed(&p->c));
		break;
	case CFA_DEF_CFA_EXPRESSION:
		p->now.cfa = take_expression(p, CFI_EXPRESSION);
		break;
	default:
		change_cfa(p, op);
	}
}

/* Instructions whose first operand is a register. */
static void run_register(struct program *p, uint8_t op)
{
	uint64_t reg = leb128_unsigned(&p->c), other;

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_offset(p, reg, CFI_SAVED, scaled(p, leb128_unsigned(&p->c)));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		set_offset(p, reg, CFI_SAVED, scaled(p, (uint64_t)leb128_signed(&p->c)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		set_offset(p, reg, CFI_SAVED, -scaled(p, leb128_unsigned(&p->c)));
		break;
	case CFA_VAL_OFFSET:
		set_offset(p, reg, CFI_OFFSET, scaled(p, leb128_unsigned(&p->c)));
		break;
	case CFA_VAL_OFFSET_SF:
		set_offset(p, reg, CFI_OFFSET, scaled(p, (uint64_t)leb128_signed(&p->c)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(p, reg);
		break;
	case CFA_UNDEFINED:
		set_offset(p, reg, CFI_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set_offset(p, reg, CFI_SAME, 0);
		break;
	case CFA_REGISTER:
		other = leb128_unsigned(&p->c);
		set_rule(p, reg,
			 (struct cfi_rule){.how = other < CFI_REGISTERS ? CFI_REGISTER
									: CFI_UNDEFINED,
					   .reg = (uint8_t)other});
		break;
	case CFA_EXPRESSION:
		set_rule(p, reg, take_expression(p, CFI_SAVED_EXPRESSION));
		break;
	case CFA_VAL_EXPRESSION:
		set_rule(p, reg, take_expression(p, CFI_EXPRESSION));
		break;
	default:
		p->c.failed = true;
	}
}

static bool run_advance(struct program *p, uint8_t op)
{
	uint64_t to;

	switch (op) {
	case CFA_ADVANCE_LOC1:
		return advance_by(p, cursor_u8(&p->c));
	case CFA_ADVANCE_LOC2:
		return advance_by(p, cursor_u16(&p->c));
	case CFA_ADVANCE_LOC4:
		return advance_by(p, cursor_u32(&p->c));
	case CFA_ADVANCE_LOC8:
		return advance_by(p, cursor_u64(&p->c));
	default: {
		const struct cfi_section *s = &p->bytes->section;
		uint64_t address = s->address + (uint64_t)(p->c.data - s->data);

		if (!cfi_pointer(p->bytes, &p->c, address, p->fde->cie.encoding,
				 p->fde->cie.address_size, p->fde->start, &to)) {
			p->c.failed = true;
			return false;
		}
		return advance(p, to);
	}
	}
}

/* False: the row is complete, or the program is not valid. */
static bool run_one(struct program *p)
{
	uint8_t op = cursor_u8(&p->c), low = op & 0x3f;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance_by(p, low);
	case CFA_OFFSET:
		set_offset(p, low, CFI_SAVED, scaled(p, leb128_unsigned(&p->c)));
		return true;
	case CFA_RESTORE:
		restore(p, low);
		return true;
	}
	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOC:
	case CFA_ADVANCE_LOC1:
	case CFA_ADVANCE_LOC2:
	case CFA_ADVANCE_LOC4:
	case CFA_ADVANCE_LOC8:
		return run_advance(p, op);
	case CFA_REMEMBER_STATE:
		remember(p);
		return true;
	case CFA_RESTORE_STATE:
		recall(p);
		return true;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_EXPRESSION:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF:
		run_cfa(p, op);
		return true;
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC:
		p->now.return_signed = !p->now.return_signed;
		return true;
	case CFA_GNU_ARGS_SIZE:
		leb128_unsigned(&p->c);
		return true;
	default:
		run_register(p, op);
		return true;
	}
}

static bool run_all(struct program *p, struct cursor code)
{
	if (code.size > CFI_PROGRAM_BYTES_MAX)
		return false;
	p->c = code;
	while (!cursor_done(&p->c))
		if (!run_one(p))
			break;
	return !p->c.failed;
}

bool cfi_run(const struct cfi_bytes *b, const struct cfi_fde *fde, uint64_t address,
	     struct cfi_row *ret)
{
	struct program p; /* large; the remembered states are written before they are read */

	p.bytes = b;
	p.fde = fde;
	p.address = address;
	p.location = fde->start;
	p.next = fde->end;
	p.remembered_count = 0;
	p.now = (struct rules){};
	p.initial = p.now;
	if (!run_all(&p, fde->cie.program))
		return false;
	p.initial = p.now;
	p.location = fde->start;
	p.next = fde->end;
	if (!run_all(&p, fde->program) || p.now.cfa.how == CFI_UNSET)
		return false;
	ret->start = p.location;
	ret->end = p.next < fde->end ? p.next : fde->end;
	ret->cfa = p.now.cfa;
	memcpy(ret->regs, p.now.regs, sizeof(ret->regs));
	ret->return_register = fde->cie.return_register;
	ret->signal_frame = fde->cie.signal_frame;
	ret->return_signed = p.now.return_signed;
	return true;
}
