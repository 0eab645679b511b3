/*
 * JSON lines: an object for each row, by time, its keys the columns of export/table.h. Numbers are
 * numbers, of 64 bits too; addresses are text, 0x…; null: there is none. Counters come as an object
 * for each value.
 */
#include "base/bits.h"
#include "base/digits.h"
#include "base/json.h"
#include "server/api/api.h"
#include "server/export/formats.h"
#include "server/export/table.h"

#include <errno.h>
#include <string.h>

struct jsonl {
	struct export_run *run;
	struct export_target *target;
	struct json j;
	struct export_stacks *stacks;
	struct export_table table;
};

static int end_line(struct jsonl *l)
{
	jw_close(&l->j, '}');
	buf_add_char(l->j.out, '\n');
	return export_flush_full(&l->target->out) ? 0 : -EIO;
}

static void begin_line(struct jsonl *l)
{
	l->j = jw_to(&l->target->out.buf);
	jw_open(&l->j, '{');
}

static void add_seconds(struct json *j, uint64_t ns)
{
	char text[2 * DIGITS_MAX + 2];

	*export_put_seconds(text, ns) = '\0';
	jw_raw(j, text);
}

static void add_address(struct json *j, uint64_t value)
{
	char text[2 + DIGITS_MAX];

	*put_hex(put_lit(text, "0x"), value) = '\0';
	jw_str(j, text);
}

/* ---- counters ---- */

static int write_counts(void *ctx, const struct export_count *counts, size_t count)
{
	struct jsonl *l = ctx;
	const struct profile *p = &l->run->profile;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++) {
		const struct profile_counter *c = &p->counters.items[counts[i].counter];
		const struct count_row *row = &counts[i].row;
		CLEANUP(buf_release) struct buf name = {};
		const char *unit = profile_text(p, c->unit);

		export_counter_name(l->run, counts[i].counter, &name);
		begin_line(l);
		jw_key(&l->j, "time_s");
		add_seconds(&l->j, export_since_start(l->run, row->time_ns));
		jw_key(&l->j, "interval_s");
		add_seconds(&l->j, row->duration_ns);
		jw_kv_str(&l->j, "counter", buf_str(&name));
		jw_kv_str(&l->j, "unit", *unit ? unit : NULL);
		if (c->scale == 1)
			jw_kv_u64(&l->j, "value", row->value);
		else
			jw_kv_double(&l->j, "value", (double)row->value * c->scale);
		jw_kv_u64(&l->j, "running_ppm", row->running_ppm);
		rc = end_line(l);
	}
	return rc;
}

/* ---- tables ---- */

static void encode_stack(struct buf *out, const char *text)
{
	struct json j = jw_to(out);

	jw_str(&j, *text ? text : NULL);
}

static void add_name(struct json *j, const char *name)
{
	jw_str(j, *name ? name : NULL);
}

static void add_value(struct jsonl *l, const struct export_column *c, uint64_t value)
{
	const struct profile *p = &l->run->profile;
	uint32_t stack = export_stack(l->run, value);

	switch (c->kind) {
	case EXPORT_SECONDS:
		add_seconds(&l->j, export_since_start(l->run, value));
		break;
	case EXPORT_PID:
		jw_u64(&l->j, export_thread(l->run, value)->pid);
		break;
	case EXPORT_TID:
		jw_u64(&l->j, export_thread(l->run, value)->tid);
		break;
	case EXPORT_COMM:
		jw_str(&l->j, profile_text(p, export_thread(l->run, value)->comm));
		break;
	case EXPORT_UNSIGNED:
		jw_u64(&l->j, value);
		break;
	case EXPORT_SIGNED:
		jw_i64(&l->j, (int64_t)value);
		break;
	case EXPORT_FLOAT:
		jw_double(&l->j, double_of_bits(value));
		break;
	case EXPORT_ADDRESS:
		if (c->tag == TAG_ADDRESS && !value)
			jw_null(&l->j);
		else
			add_address(&l->j, value);
		break;
	case EXPORT_TEXT:
		jw_str(&l->j, export_text(l->run, c, value));
		break;
	case EXPORT_FUNCTION:
		add_name(&l->j, profile_text(p, export_leaf(l->run, stack)->name));
		break;
	case EXPORT_MODULE:
		add_name(&l->j,
			 profile_text(p,
				      p->modules.items[export_leaf(l->run, stack)->module.n].name));
		break;
	case EXPORT_STACK:
		jw_raw(&l->j, buf_str(export_stacks_text(l->stacks, stack)));
		break;
	}
}

static int write_row(void *ctx, const struct walked_row *row)
{
	struct jsonl *l = ctx;

	begin_line(l);
	vec_each(&l->table.columns, c) {
		jw_key(&l->j, c->name);
		add_value(l, c, walked_value(row, c->value));
	}
	return end_line(l);
}

static int write_jsonl(struct export_run *x, const struct http_request *r, struct export_target *t,
		       struct err *e)
{
	struct jsonl l = {.run = x, .target = t};
	const char *what = http_query(r, "what");
	int rc;

	if (what && !strcmp(what, "counters"))
		return export_counts_each(x, write_counts, &l, e);
	rc = export_table_find(&l.table, x, what ? what : "samples", e);
	if (rc < 0)
		return rc;
	l.stacks = export_stacks_new(x, encode_stack);
	rc = export_table_each(x, &l.table, write_row, &l, e);
	export_stacks_free(l.stacks);
	export_table_close(&l.table);
	return rc;
}

static const char *const parameters[] = {"what", NULL};

const struct export_format format_jsonl = {
	.extension = "jsonl",
	.type = "application/x-ndjson",
	.parameters = parameters,
	.write = write_jsonl,
};
