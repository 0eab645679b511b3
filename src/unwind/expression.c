#include "unwind/expression.h"

#include "unwind/cfi.h"
#include "unwind/leb128.h"

#include <errno.h>

/* Names of DWARF's numbers, as far as they occur here. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_REGX = 0x90,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct expression_input *in;
	struct cursor c;
	uint64_t stack[EXPRESSION_STACK_MAX];
	unsigned depth;
	int error;
};

static void fail(struct machine *m, int error)
{
	if (!m->error)
		m->error = error;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == EXPRESSION_STACK_MAX)
		fail(m, -EINVAL);
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		fail(m, -EINVAL);
		return 0;
	}
	return m->stack[--m->depth];
}

/* A copy of the @index-th from the top. */
static void pick(struct machine *m, unsigned index)
{
	if (index >= m->depth)
		fail(m, -EINVAL);
	else
		push(m, m->stack[m->depth - 1 - index]);
}

static void push_register(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGISTERS)
		fail(m, -EINVAL);
	else if (!(m->in->known >> reg & 1))
		fail(m, -ENODATA);
	else
		push(m, m->in->regs[reg] + (uint64_t)offset);
}

static void dereference(struct machine *m, unsigned size)
{
	uint64_t address = pop(m), value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		fail(m, -EINVAL);
	else if (!m->error && !m->in->load(m->in->ctx, address, size, &value))
		fail(m, -ENODATA);
	else
		push(m, value);
}

static void jump(struct machine *m, int16_t distance)
{
	int64_t to = (int64_t)m->c.at + distance;

	if (to < 0 || (uint64_t)to > m->c.size)
		fail(m, -EINVAL);
	else
		m->c.at = (size_t)to;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b, bool want_rest)
{
	if (!b) {
		fail(m, -EINVAL);
		return 0;
	}
	if (want_rest)
		return a % b;
	if (b == ~0ull) /* the lowest number has no negative */
		return -a;
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_right_signed(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
}

static uint64_t binary(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_DIV:
	case OP_MOD:
		return divide(m, a, b, op == OP_MOD);
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b > 63 ? 0 : a << b;
	case OP_SHR:
		return b > 63 ? 0 : a >> b;
	case OP_SHRA:
		return shift_right_signed(a, b);
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	case OP_NE:
		return a != b;
	default:
		fail(m, -EINVAL);
		return 0;
	}
}

/* 08…0f: sizes double, unsigned before signed. */
static uint64_t fixed_constant(struct machine *m, uint8_t op)
{
	unsigned size = 1u << (op - OP_CONST1U) / 2;
	uint64_t value = cursor_sized(&m->c, size);

	return (op - OP_CONST1U) % 2 ? sign_extended(value, size) : value;
}

static void reorder(struct machine *m, uint8_t op)
{
	uint64_t top = pop(m), second = pop(m);

	if (op == OP_SWAP) {
		push(m, top);
		push(m, second);
	} else {
		uint64_t third = pop(m);

		push(m, top);
		push(m, third);
		push(m, second);
	}
}

static void step_other(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case OP_ABS:
		a = pop(m);
		push(m, (int64_t)a < 0 ? -a : a);
		break;
	case OP_NEG:
		push(m, -pop(m));
		break;
	case OP_NOT:
		push(m, ~pop(m));
		break;
	case OP_PLUS_UCONST:
		a = pop(m);
		push(m, a + leb128_unsigned(&m->c));
		break;
	case OP_BRA:
	case OP_SKIP:
		a = cursor_u16(&m->c);
		if (op == OP_SKIP || pop(m))
			jump(m, (int16_t)a);
		break;
	case OP_NOP:
		break;
	default:
		b = pop(m);
		a = pop(m);
		push(m, binary(m, op, a, b));
	}
}

static void step(struct machine *m)
{
	uint8_t op = cursor_u8(&m->c);
	uint64_t reg;

	if (op >= OP_CONST1U && op <= OP_CONST8S) {
		push(m, fixed_constant(m, op));
	} else if (op >= OP_LIT0 && op < OP_REG0) {
		push(m, op - OP_LIT0);
	} else if (op >= OP_REG0 && op < OP_BREG0) {
		push_register(m, op - OP_REG0, 0);
	} else if (op >= OP_BREG0 && op < OP_REGX) {
		push_register(m, op - OP_BREG0, leb128_signed(&m->c));
	} else {
		switch (op) {
		case OP_ADDR:
			push(m, cursor_sized(&m->c, m->in->address_size));
			break;
		case OP_DEREF:
			dereference(m, m->in->address_size);
			break;
		case OP_DEREF_SIZE:
			dereference(m, cursor_u8(&m->c));
			break;
		case OP_CONSTU:
			push(m, leb128_unsigned(&m->c));
			break;
		case OP_CONSTS:
			push(m, (uint64_t)leb128_signed(&m->c));
			break;
		case OP_DUP:
			pick(m, 0);
			break;
		case OP_DROP:
			pop(m);
			break;
		case OP_OVER:
			pick(m, 1);
			break;
		case OP_PICK:
			pick(m, cursor_u8(&m->c));
			break;
		case OP_SWAP:
		case OP_ROT:
			reorder(m, op);
			break;
		case OP_REGX:
			push_register(m, leb128_unsigned(&m->c), 0);
			break;
		case OP_BREGX:
			reg = leb128_unsigned(&m->c);
			push_register(m, reg, leb128_signed(&m->c));
			break;
		default:
			step_other(m, op);
		}
	}
}

int expression_run(const struct expression_input *in, uint64_t *ret)
{
	struct machine m = {.in = in, .c = cursor_of(in->bytes, in->size)};
	unsigned steps = 0;

	m.c.swap = in->swap;
	if (in->has_initial)
		push(&m, in->initial);
	while (!cursor_done(&m.c) && !m.error && steps++ < EXPRESSION_STEPS_MAX)
		step(&m);
	if (m.c.failed || (!m.error && !cursor_done(&m.c)))
		return -EINVAL;
	*ret = pop(&m);
	return m.error;
}
