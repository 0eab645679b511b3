/* What %s prints: strings, flags by name, dumps. */
#include "event/format/program.h"

#include <string.h>

static uint64_t as_unsigned(struct value v)
{
	return format_number(v.number, v.bits ? v.bits : 64, false).number;
}

static void put_item(struct format_run *run, const struct node_item *item)
{
	format_put(run, buf_str(&run->program->text) + item->text, item->text_len);
}

static const struct node_item *item_at(const struct format_run *run, uint32_t index_plus_1)
{
	return index_plus_1 ? &run->program->items.items[index_plus_1 - 1] : NULL;
}

static bool is_unknown(const struct format_run *run, const struct node_item *item)
{
	return run->program->nodes.items[item->node].is_unknown;
}

static void put_flags(struct format_run *run, const struct node *n)
{
	uint64_t left = as_unsigned(format_eval(run, n->kid[0]));
	const char *delimiter = buf_str(&run->program->text) + n->text;
	bool first = true;

	for (const struct node_item *item = item_at(run, n->item); item && left;
	     item = item_at(run, item->next)) {
		uint64_t mask = is_unknown(run, item) ? 0 : format_eval(run, item->node).number;

		if (!mask || (left & mask) != mask)
			continue;
		if (!first)
			format_put(run, delimiter, n->text_len);
		first = false;
		put_item(run, item);
		left &= ~mask;
	}
	if (!left)
		return;
	if (!first)
		format_put(run, delimiter, n->text_len);
	format_putf(run, "0x%llx", (unsigned long long)left);
}

static void put_symbolic(struct format_run *run, const struct node *n)
{
	struct value v = format_eval(run, n->kid[0]);

	for (const struct node_item *item = item_at(run, n->item); item;
	     item = item_at(run, item->next)) {
		if (!is_unknown(run, item) && format_eval(run, item->node).number == v.number) {
			put_item(run, item);
			return;
		}
	}
	format_putf(run, "0x%llx", (unsigned long long)as_unsigned(v));
}

static void put_hex(struct format_run *run, const struct node *n)
{
	struct value v = format_eval(run, n->kid[0]);
	uint64_t count = format_eval(run, n->kid[1]).number;

	for (size_t i = 0; v.bytes && i < v.len && i < count; i++)
		format_putf(run, "%s%02x", i && n->kind == NODE_HEX ? " " : "", v.bytes[i]);
}

static void put_array(struct format_run *run, const struct node *n)
{
	struct value v = format_eval(run, n->kid[0]);
	uint64_t count = format_eval(run, n->kid[1]).number;
	uint64_t unit = format_eval(run, n->kid[2]).number;

	if (!v.bytes || (unit != 1 && unit != 2 && unit != 4 && unit != 8))
		return;
	v.unit = (uint8_t)unit;
	v.unit_signed = false;
	for (size_t i = 0; i < v.len / unit && i < count; i++)
		format_putf(run, "%s%llu", i ? " " : "",
			    (unsigned long long)format_element(run, v, i).number);
}

static struct value in_field(const struct format_run *run, const struct node *n)
{
	const struct tracepoint_field *field = &run->fmt->fields.items[n->field];
	struct value v = {.in_place = true, .unit = 1};

	v.bytes = tracepoint_field_bytes(run->fmt, field, run->raw, run->raw_size, &v.len);
	return v;
}

static void put_value(struct format_run *run, const struct node *n, uint32_t node, size_t max)
{
	struct value v = format_eval(run, node);
	const char *s = NULL;

	if (v.in_place) {
		if (v.bytes)
			format_put(run, (const char *)v.bytes,
				   strnlen((const char *)v.bytes, v.len < max ? v.len : max));
		return;
	}
	/* A string in the kernel: the sample has only its address. */
	if (run->ctx->string && v.number)
		s = run->ctx->string(run->ctx->arg, v.number);
	if (s)
		format_put(run, s, strnlen(s, max));
	else if (n->kind == NODE_FIELD || v.number)
		format_putf(run, "%llx", (unsigned long long)as_unsigned(v));
	else
		format_put(run, "(null)", max < 6 ? 0 : 6);
}

static void put_node(struct format_run *run, uint32_t node, size_t max)
{
	const struct node *n = &run->program->nodes.items[node];

	while (n->kind == NODE_CHOICE) {
		node = n->kid[format_truth(format_eval(run, n->kid[0])) ? 1 : 2];
		n = &run->program->nodes.items[node];
	}
	switch (n->kind) {
	case NODE_FLAGS:
		put_flags(run, n);
		break;
	case NODE_SYMBOLIC:
		put_symbolic(run, n);
		break;
	case NODE_HEX:
	case NODE_HEX_STR:
		put_hex(run, n);
		break;
	case NODE_ARRAY:
		put_array(run, n);
		break;
	case NODE_BITMASK:
		format_put_bitmask(run, in_field(run, n));
		break;
	case NODE_SOCKADDR:
		format_put_sockaddr(run, in_field(run, n), true);
		break;
	default:
		put_value(run, n, node, max);
		break;
	}
}

void format_put_text(struct format_run *run, uint32_t node, size_t max)
{
	struct format_run cut = *run;

	if (max < cut.limit && run->out->len + max < cut.limit)
		cut.limit = run->out->len + max;
	put_node(&cut, node, max);
}
