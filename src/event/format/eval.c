/* Evaluates expressions by the rules of C: promotion, signs, sizes. */
#include "event/format/program.h"
#include "base/cursor.h"

static uint64_t extended(uint64_t v, unsigned bits, bool is_signed)
{
	if (bits >= 64)
		return v;
	v &= (1ull << bits) - 1;
	if (is_signed && v >> (bits - 1))
		v |= ~0ull << bits;
	return v;
}

struct value format_number(uint64_t number, unsigned bits, bool is_signed)
{
	return (struct value){.number = extended(number, bits, is_signed),
			      .bits = (uint8_t)bits,
			      .is_signed = is_signed};
}

bool format_truth(struct value v)
{
	return v.in_place ? v.bytes != NULL : v.number != 0;
}

/* Integer promotion. In-place data becomes 0: its address in our memory must not be printed. */
static struct value promoted(struct value v)
{
	if (v.in_place)
		return format_number(0, 64, false);
	return v.bits < 32 ? format_number(v.number, 32, true) : v;
}

struct value format_unary(int op, struct value a)
{
	if (op == '!')
		return format_number(!format_truth(a), 32, true);
	a = promoted(a);
	return format_number(op == '-'   ? -a.number
			     : op == '~' ? ~a.number
					 : a.number,
			     a.bits, a.is_signed);
}

/* Division by zero gives 0. Division by -1 negates: INT64_MIN / -1 would trap. */
static uint64_t divided(int op, struct value a, struct value b)
{
	bool is_signed = a.is_signed && b.is_signed;

	if (!b.number)
		return 0;
	if (!is_signed)
		return op == '/' ? a.number / b.number : a.number % b.number;
	if ((int64_t)b.number == -1)
		return op == '/' ? -a.number : 0;
	return op == '/' ? (uint64_t)((int64_t)a.number / (int64_t)b.number)
			 : (uint64_t)((int64_t)a.number % (int64_t)b.number);
}

static bool less(struct value a, struct value b)
{
	return a.is_signed ? (int64_t)a.number < (int64_t)b.number : a.number < b.number;
}

/* A shift has the type of its left operand. As on CPUs, only the low bits of the count are used. */
static struct value shifted(int op, struct value a, struct value b)
{
	bool negative = a.is_signed && (int64_t)a.number < 0;
	unsigned count = (unsigned)b.number & (a.bits - 1u);
	uint64_t v;

	if (op == OP_SHL)
		v = a.number << count;
	else
		v = negative ? ~(~a.number >> count) : a.number >> count;
	return format_number(v, a.bits, a.is_signed);
}

static bool compare(int op, struct value a, struct value b)
{
	switch (op) {
	case OP_EQ:
		return a.number == b.number;
	case OP_NE:
		return a.number != b.number;
	case '<':
		return less(a, b);
	case '>':
		return less(b, a);
	case OP_LE:
		return !less(b, a);
	default:
		return !less(a, b);
	}
}

static uint64_t arithmetic(int op, struct value a, struct value b)
{
	switch (op) {
	case '+':
		return a.number + b.number;
	case '-':
		return a.number - b.number;
	case '*':
		return a.number * b.number;
	case '&':
		return a.number & b.number;
	case '|':
		return a.number | b.number;
	case '^':
		return a.number ^ b.number;
	default:
		return divided(op, a, b);
	}
}

struct value format_binary(int op, struct value a, struct value b)
{
	unsigned bits;
	bool is_signed;

	if (op == OP_AND)
		return format_number(format_truth(a) && format_truth(b), 32, true);
	if (op == OP_OR)
		return format_number(format_truth(a) || format_truth(b), 32, true);
	/* A comparison with in-place data, such as != NULL, only asks whether it exists. */
	if ((op == OP_EQ || op == OP_NE) && (a.in_place || b.in_place))
		return format_number((format_truth(a) == format_truth(b)) == (op == OP_EQ), 32,
				     true);
	a = promoted(a);
	b = promoted(b);
	if (op == OP_SHL || op == OP_SHR)
		return shifted(op, a, b);
	bits = a.bits > b.bits ? a.bits : b.bits;
	is_signed = (a.is_signed || a.bits < bits) && (b.is_signed || b.bits < bits);
	a = format_number(a.number, bits, is_signed);
	b = format_number(b.number, bits, is_signed);
	if (op == '<' || op == '>' || op == OP_LE || op == OP_GE || op == OP_EQ || op == OP_NE)
		return format_number(compare(op, a, b), 32, true);
	return format_number(arithmetic(op, a, b), bits, is_signed);
}

struct value format_cast(struct ctype type, struct value a)
{
	if (a.in_place) {
		/* A cast to a pointer changes the element type; others change nothing, for %s. */
		if (type.pointers == 1 && type.bytes) {
			a.unit = type.bytes;
			a.unit_signed = type.is_signed;
		}
		return a;
	}
	if (type.pointers || !type.bytes)
		return a;
	if (type.is_bool)
		return format_number(a.number != 0, 8, false);
	return format_number(a.number, type.bytes * 8u, type.is_signed);
}

struct value format_element(const struct format_run *run, struct value array, uint64_t index)
{
	struct cursor c = cursor_of(array.bytes, array.bytes ? array.len : 0);
	uint64_t v;

	if (!array.in_place)
		return format_number(0, 32, true);
	c.swap = run->fmt->abi.swap;
	cursor_skip(&c, index > array.len ? array.len + 1 : index * array.unit);
	switch (array.unit) {
	case 1:
		v = cursor_u8(&c);
		break;
	case 2:
		v = cursor_u16(&c);
		break;
	case 4:
		v = cursor_u32(&c);
		break;
	default:
		v = cursor_u64(&c);
		break;
	}
	return format_number(v, array.unit * 8u, array.unit_signed);
}

static struct value field_in_place(const struct format_run *run, const struct tracepoint_field *f)
{
	struct value v = {.in_place = true, .unit = f->unit_bytes, .unit_signed = f->is_signed};

	v.bytes = tracepoint_field_bytes(run->fmt, f, run->raw, run->raw_size, &v.len);
	return v;
}

static struct value field_value(const struct format_run *run, const struct tracepoint_field *f)
{
	uint64_t number = 0;

	if (f->is_array || f->place != FIELD_HERE)
		return field_in_place(run, f);
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return field_in_place(run, f);
	tracepoint_field_value(run->fmt, f, run->raw, run->raw_size, &number);
	return format_number(number, f->size * 8, f->is_signed);
}

/* Evaluates &field and &field[index]. */
static struct value address_of(const struct format_run *run, const struct node *of)
{
	struct value v, index;
	uint64_t skip;

	if (of->kind == NODE_FIELD)
		return field_in_place(run, &run->fmt->fields.items[of->field]);
	if (of->kind != NODE_INDEX)
		return format_number(0, 64, false);
	v = format_eval(run, of->kid[0]);
	index = format_eval(run, of->kid[1]);
	if (!v.in_place)
		return format_number(0, 64, false);
	skip = index.number > v.len ? v.len + 1 : index.number * v.unit;
	if (!v.bytes || skip > v.len) {
		v.bytes = NULL;
		v.len = 0;
		return v;
	}
	v.bytes += skip;
	v.len -= skip;
	return v;
}

static struct value choice(const struct format_run *run, const struct node *n)
{
	return format_eval(run, n->kid[format_truth(format_eval(run, n->kid[0])) ? 1 : 2]);
}

/* The parser limits the height of trees, so recursion ends after FORMAT_DEPTH_LIMIT steps. */
struct value format_eval(const struct format_run *run, uint32_t node)
{
	const struct node *n = &run->program->nodes.items[node];
	struct value v;

	switch (n->kind) {
	case NODE_NUMBER:
		return n->number;
	case NODE_TEXT:
		return (struct value){.in_place = true,
				      .unit = 1,
				      .bytes = (const unsigned char *)buf_str(&run->program->text) +
					       n->text,
				      .len = n->text_len};
	case NODE_FIELD:
		return field_value(run, &run->fmt->fields.items[n->field]);
	case NODE_UNARY:
		return format_unary(n->op, format_eval(run, n->kid[0]));
	case NODE_BINARY:
		return format_binary(n->op, format_eval(run, n->kid[0]),
				     format_eval(run, n->kid[1]));
	case NODE_CHOICE:
		return choice(run, n);
	case NODE_CAST:
		return format_cast(n->type, format_eval(run, n->kid[0]));
	case NODE_INDEX:
		v = format_eval(run, n->kid[0]);
		return format_element(run, v, format_eval(run, n->kid[1]).number);
	case NODE_ADDRESS:
		return address_of(run, &run->program->nodes.items[n->kid[0]]);
	case NODE_BYTES:
		return field_in_place(run, &run->fmt->fields.items[n->field]);
	case NODE_BYTES_LEN:
		v = field_in_place(run, &run->fmt->fields.items[n->field]);
		return format_number(v.len, 32, true);
	default:
		return format_number(0, 32, true);
	}
}
