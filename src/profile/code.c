#include "profile/code.h"

#include "profile/columns.h"
#include "profile/packed.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define HEAD_SIZE       4u /* u32 function */
#define BODY_BYTES_MAX  (64u << 20)
#define INSTRUCTION_MAX 64u /* bytes; no machine has longer ones */

void code_init(struct code *c)
{
	*c = (struct code){};
	vec_push(&c->pool, '\0');
}

void code_release(struct code *c)
{
	vec_release(&c->pool);
	vec_release(&c->notes);
	vec_release(&c->instructions);
	vec_release(&c->rows);
	vec_release(&c->lines);
}

uint32_t code_string(struct code *c, const char *text, size_t len)
{
	size_t at = c->pool.len;

	if (!len || len >= CODE_TEXT_MAX - at)
		return 0;
	vec_reserve(&c->pool, at + len + 1);
	memcpy(c->pool.items + at, text, len);
	c->pool.items[at + len] = '\0';
	c->pool.len = at + len + 1;
	return (uint32_t)at;
}

uint32_t code_stringf(struct code *c, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	return code_string(c, buf_str(&text), text.len);
}

/* ---- bytes ---- */

#define ADD_COLUMN(body, table, value)                                                             \
	do {                                                                                       \
		CLEANUP(free_ptr) uint64_t *v_ = xrealloc(NULL, (table)->len + 1, sizeof(*v_));    \
		for (size_t i_ = 0; i_ < (table)->len; i_++) {                                     \
			__typeof__((table)->items + 0) at = (table)->items + i_;                   \
			v_[i_] = (value);                                                          \
		}                                                                                  \
		column_encode(v_, (table)->len, (body));                                           \
	} while (0)

void code_encode(const struct code *c, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {};

	put_u32(&head, c->function);
	varint_add(&body, c->start);
	varint_add(&body, c->end);
	varint_add(&body, c->problem);
	varint_add(&body, c->build_id);
	varint_add(&body, c->pool.len);
	buf_add_mem(&body, c->pool.items, c->pool.len);
	varint_add(&body, c->notes.len);
	ADD_COLUMN(&body, &c->notes, *at);
	varint_add(&body, c->instructions.len);
	ADD_COLUMN(&body, &c->instructions, at->address);
	ADD_COLUMN(&body, &c->instructions, at->target);
	ADD_COLUMN(&body, &c->instructions, at->size);
	ADD_COLUMN(&body, &c->instructions, (uint64_t)at->flow << 1 | at->bad);
	ADD_COLUMN(&body, &c->instructions, at->text);
	ADD_COLUMN(&body, &c->instructions, at->comment);
	varint_add(&body, c->rows.len);
	ADD_COLUMN(&body, &c->rows, at->address);
	ADD_COLUMN(&body, &c->rows, at->file);
	ADD_COLUMN(&body, &c->rows, at->line);
	ADD_COLUMN(&body, &c->rows, at->scope);
	varint_add(&body, c->lines.len);
	ADD_COLUMN(&body, &c->lines, at->file);
	ADD_COLUMN(&body, &c->lines, at->number);
	ADD_COLUMN(&body, &c->lines, at->text);
	packed_seal(PACKED_CODE, &head, &body, out);
}

/* A number of entries, and zeroed room for them. */
#define TAKE_TABLE(from, table)                                                                    \
	do {                                                                                       \
		uint64_t len_ = varint_take(from);                                                 \
		if ((from)->failed || len_ > CODE_ENTRIES_MAX)                                     \
			return false;                                                              \
		vec_reserve((table), len_ + 1);                                                    \
		memset((table)->items, 0, len_ * sizeof(*(table)->items));                         \
		(table)->len = len_;                                                               \
	} while (0)

#define TAKE_COLUMN(from, table, max, target)                                                      \
	do {                                                                                       \
		CLEANUP(free_ptr) uint64_t *v_ = xrealloc(NULL, (table)->len + 1, sizeof(*v_));    \
		if (!column_decode((from), (table)->len, (max), v_))                               \
			return false;                                                              \
		for (size_t i_ = 0; i_ < (table)->len; i_++) {                                     \
			__typeof__((table)->items + 0) at = (table)->items + i_;                   \
			uint64_t v = v_[i_];                                                       \
			target;                                                                    \
		}                                                                                  \
	} while (0)

static bool take_pool(struct cursor *from, struct code *c)
{
	uint64_t len = varint_take(from);

	if (from->failed || !len || len > from->size - from->at)
		return false;
	vec_reserve(&c->pool, len);
	memcpy(c->pool.items, from->data + from->at, len);
	c->pool.len = len;
	cursor_skip(from, len);
	/* The empty string at the beginning, and an end for the last. */
	return !c->pool.items[0] && !c->pool.items[len - 1];
}

static bool take_instructions(struct cursor *from, struct code *c)
{
	uint64_t string = c->pool.len - 1;

	TAKE_TABLE(from, &c->instructions);
	TAKE_COLUMN(from, &c->instructions, UINT64_MAX, at->address = v);
	TAKE_COLUMN(from, &c->instructions, UINT64_MAX, at->target = v);
	TAKE_COLUMN(from, &c->instructions, INSTRUCTION_MAX, at->size = (uint32_t)v);
	TAKE_COLUMN(from, &c->instructions, CODE_RETURN << 1 | 1,
		    (at->flow = (enum code_flow)(v >> 1), at->bad = v & 1));
	TAKE_COLUMN(from, &c->instructions, string, at->text = (uint32_t)v);
	TAKE_COLUMN(from, &c->instructions, string, at->comment = (uint32_t)v);
	for (size_t i = 1; i < c->instructions.len; i++)
		if (c->instructions.items[i].address <= c->instructions.items[i - 1].address)
			return false;
	return true;
}

static bool take_rows(struct cursor *from, struct code *c)
{
	uint64_t string = c->pool.len - 1;

	TAKE_TABLE(from, &c->rows);
	TAKE_COLUMN(from, &c->rows, UINT64_MAX, at->address = v);
	TAKE_COLUMN(from, &c->rows, string, at->file = (uint32_t)v);
	TAKE_COLUMN(from, &c->rows, UINT32_MAX, at->line = (uint32_t)v);
	TAKE_COLUMN(from, &c->rows, string, at->scope = (uint32_t)v);
	for (size_t i = 1; i < c->rows.len; i++)
		if (c->rows.items[i].address < c->rows.items[i - 1].address)
			return false;
	return true;
}

static bool take_code(struct cursor *from, struct code *c)
{
	uint64_t string;

	c->start = varint_take(from);
	c->end = varint_take(from);
	c->problem = (uint32_t)varint_take(from);
	c->build_id = (uint32_t)varint_take(from);
	if (!take_pool(from, c) || c->problem >= c->pool.len || c->build_id >= c->pool.len ||
	    c->end < c->start)
		return false;
	string = c->pool.len - 1;
	TAKE_TABLE(from, &c->notes);
	TAKE_COLUMN(from, &c->notes, string, *at = (uint32_t)v);
	if (!take_instructions(from, c) || !take_rows(from, c))
		return false;
	TAKE_TABLE(from, &c->lines);
	TAKE_COLUMN(from, &c->lines, string, at->file = (uint32_t)v);
	TAKE_COLUMN(from, &c->lines, UINT32_MAX, at->number = (uint32_t)v);
	TAKE_COLUMN(from, &c->lines, string, at->text = (uint32_t)v);
	return from->at == from->size;
}

int code_decode(const void *bytes, size_t size, struct code *ret, struct err *e)
{
	struct packed p = {};
	int err;

	*ret = (struct code){};
	if (size > CODE_BYTES_MAX)
		return err_set(e, EBADMSG, "code of %zu bytes is too large", size);
	err = packed_open(PACKED_CODE, bytes, size, HEAD_SIZE, BODY_BYTES_MAX, &p, e);
	if (err)
		return err;
	ret->function = cursor_u32(&p.head);
	if (!take_code(&p.body, ret)) {
		code_release(ret);
		err = err_set(e, EBADMSG, "the stored code of a function is damaged");
	}
	packed_release(&p);
	return err;
}
