/*
 * CSV. Counters: one row per interval, one column per counter, empty if the counter was not read.
 * Samples and rows of any other table: one row each, by time, with the names of its thread, its
 * function and its whole stack (export/table.h). Values are in the counter's or column's unit, if it
 * has one; times are seconds since the run began.
 */
#include "base/bits.h"
#include "base/digits.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/export/formats.h"
#include "server/export/table.h"

#include <errno.h>
#include <string.h>

/* Whether a spreadsheet would run the text as a formula. "-[Class method]" is a name. */
static bool is_formula(const char *text)
{
	return *text == '=' || *text == '@' || ((*text == '+' || *text == '-') && text[1] != '[');
}

/* Whether the text needs no quotes: nearly all texts do not. */
static bool is_plain(const char *text)
{
	if (is_formula(text))
		return false;
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == ',' || *text == '"')
			return false;
	return true;
}

/* Names come from programs: replaces control characters and invalid UTF-8, disarms formulas. */
static void add_field(struct buf *out, const char *text)
{
	CLEANUP(buf_release) struct buf clean = {};

	if (is_plain(text)) {
		buf_add(out, text);
		return;
	}
	text_add_printable(&clean, text);
	buf_add_char(out, '"');
	if (is_formula(text))
		buf_add_char(out, '\'');
	for (text = buf_str(&clean); *text; text++) {
		if (*text == '"')
			buf_add_char(out, '"');
		buf_add_char(out, *text);
	}
	buf_add_char(out, '"');
}

struct csv {
	struct export_run *run;
	struct export_target *target;
	struct export_stacks *stacks;
	struct export_table table;
};

/* ---- counters ---- */

/* A heading: the name, and the unit in brackets. */
static void add_head(struct buf *out, const char *text, const char *unit)
{
	CLEANUP(free_ptr) char *head = *unit ? xasprintf("%s [%s]", text, unit) : xstrdup(text);

	add_field(out, head);
}

static void counter_heads(struct csv *c)
{
	struct buf *out = &c->target->out.buf;
	const struct profile *p = &c->run->profile;

	buf_add(out, "time_s,interval_s");
	for (uint32_t i = 1; i < p->counters.len; i++) {
		CLEANUP(buf_release) struct buf name = {};

		export_counter_name(c->run, i, &name);
		buf_add_char(out, ',');
		add_head(out, buf_str(&name), profile_text(p, p->counters.items[i].unit));
	}
	buf_add_char(out, '\n');
}

static int write_tick(void *ctx, const struct export_count *counts, size_t count)
{
	struct csv *c = ctx;
	const struct profile *p = &c->run->profile;
	struct buf *out = &c->target->out.buf;
	char *at = buf_room(out, 4 * DIGITS_MAX);
	size_t n = 0;

	at = export_put_seconds(at, export_since_start(c->run, counts[0].row.time_ns));
	*at++ = ',';
	at = export_put_seconds(at, counts[0].row.duration_ns);
	buf_commit(out, at);
	for (uint32_t i = 1; i < p->counters.len; i++) {
		buf_add_char(out, ',');
		if (n == count || counts[n].counter != i)
			continue;
		if (p->counters.items[i].scale == 1)
			buf_add_u64(out, counts[n].row.value);
		else
			buf_addf(out, "%.15g",
				 (double)counts[n].row.value * p->counters.items[i].scale);
		n++;
	}
	buf_add_char(out, '\n');
	return export_flush_full(&c->target->out) ? 0 : -EIO;
}

/* ---- tables ---- */

static void table_heads(struct csv *c)
{
	struct buf *out = &c->target->out.buf;

	vec_each(&c->table.columns, column) {
		if (column != c->table.columns.items)
			buf_add_char(out, ',');
		/* The name of times has the unit. */
		add_head(out, column->name, column->kind == EXPORT_SECONDS ? "" : column->unit);
	}
	buf_add_char(out, '\n');
}

static void add_number(struct csv *c, const struct export_column *column, uint64_t value)
{
	struct buf *out = &c->target->out.buf;
	char *at = buf_room(out, 2 * DIGITS_MAX + 2);

	if (column->kind == EXPORT_SECONDS)
		at = export_put_seconds(at, export_since_start(c->run, value));
	else if (column->kind == EXPORT_PID)
		at = put_u64(at, export_thread(c->run, value)->pid);
	else if (column->kind == EXPORT_TID)
		at = put_u64(at, export_thread(c->run, value)->tid);
	else if (column->kind == EXPORT_ADDRESS)
		at = put_hex(put_lit(at, "0x"), value);
	else if (column->kind == EXPORT_SIGNED && (int64_t)value < 0)
		at = put_u64(put_lit(at, "-"), -value);
	else
		at = put_u64(at, value);
	buf_commit(out, at);
}

static void add_value(struct csv *c, const struct export_column *column, uint64_t value)
{
	const struct profile *p = &c->run->profile;
	struct buf *out = &c->target->out.buf;
	uint32_t stack = export_stack(c->run, value);
	const struct buf *text;

	switch (column->kind) {
	case EXPORT_COMM:
		add_field(out, profile_text(p, export_thread(c->run, value)->comm));
		break;
	case EXPORT_TEXT:
		add_field(out, export_text(c->run, column, value));
		break;
	case EXPORT_FLOAT:
		buf_addf(out, "%.17g", double_of_bits(value));
		break;
	case EXPORT_FUNCTION:
		add_field(out, profile_text(p, export_leaf(c->run, stack)->name));
		break;
	case EXPORT_MODULE:
		add_field(out,
			  profile_text(
				  p, p->modules.items[export_leaf(c->run, stack)->module.n].name));
		break;
	case EXPORT_STACK:
		text = export_stacks_text(c->stacks, stack);
		buf_add_mem(out, buf_str(text), text->len);
		break;
	default:
		/* Most samples have no address of data. */
		if (column->tag != TAG_ADDRESS || value)
			add_number(c, column, value);
	}
}

static int write_row(void *ctx, const struct walked_row *row)
{
	struct csv *c = ctx;

	vec_each(&c->table.columns, column) {
		if (column != c->table.columns.items)
			buf_add_char(&c->target->out.buf, ',');
		add_value(c, column, walked_value(row, column->value));
	}
	buf_add_char(&c->target->out.buf, '\n');
	return export_flush_full(&c->target->out) ? 0 : -EIO;
}

static int write_table(struct csv *c, const char *name, struct err *e)
{
	int rc = export_table_find(&c->table, c->run, name, e);

	if (rc < 0)
		return rc;
	c->stacks = export_stacks_new(c->run, add_field);
	table_heads(c);
	rc = export_table_each(c->run, &c->table, write_row, c, e);
	export_stacks_free(c->stacks);
	export_table_close(&c->table);
	return rc;
}

static int write_csv(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e)
{
	struct csv c = {.run = x, .target = t};
	const char *what = http_query(r, "what");

	if (what && strcmp(what, "counters"))
		return write_table(&c, what, e);
	counter_heads(&c);
	return export_counts_each(x, write_tick, &c, e);
}

static const char *const parameters[] = {"what", NULL};

const struct export_format format_csv = {
	.extension = "csv",
	.type = "text/csv; charset=utf-8",
	.parameters = parameters,
	.write = write_csv,
};
