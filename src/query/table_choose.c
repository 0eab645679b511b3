#include "query/table_choose.h"
#include "base/number.h"
#include "profile/spans.h"

#include <string.h>

_Static_assert(KEPT_BLOCK == PREDICATE_BLOCK, "a block is tested as it is kept");

/* ---- what a query needs ---- */

static struct table_source source_of(struct table_plan *p, size_t column)
{
	const struct table_column *c = &p->q->columns.items[column];
	struct table_source s = {.column = c};

	s.mapped = table_column_maps(c);
	s.other = c->derived && !s.mapped;
	s.is_time = !c->derived && c->schema.type == VALUE_TIME;
	p->has_other |= s.other;
	table_tags_add(&p->tags, c->schema.tag, false);
	s.tag = table_tags_find(&p->tags, c->schema.tag);
	return s;
}

void table_plan_open(struct table_plan *p, const struct table_query *q,
		     const struct table_want *wants, size_t count, bool with_times)
{
	const struct selection *sel = q->sel;
	const unsigned *fields = NULL;
	size_t field_count = 0;

	*p = (struct table_plan){.q = q, .want_count = count};
	/* Must be the first columns: visitors of chunks rely on it. */
	table_tags_add(&p->tags, TAG_TIME, !with_times);
	table_tags_add(&p->tags, TAG_END, !with_times);
	for (size_t i = 0; i < count; i++) {
		p->wants[i] = source_of(p, wants[i].column);
		p->want_raw[i] = wants[i].raw;
	}
	if (q->where)
		fields = predicate_fields(q->where, &field_count);
	p->fields = xcalloc(q->columns.len + 1, sizeof(*p->fields));
	for (size_t i = 0; i < field_count; i++)
		p->fields[fields[i]] = source_of(p, fields[i]);
	if (p->has_other) {
		table_tags_add(&p->tags, TAG_TIME, false);
		table_tags_add(&p->tags, TAG_END, false);
	}
	if (sel->threads)
		table_tags_add(&p->tags, TAG_THREAD, false);
	if (sel->cpus)
		table_tags_add(&p->tags, TAG_CPU, false);
	if (sel->nodes)
		table_tags_add(&p->tags, TAG_STACK, false);
	if (sel->event >= 0)
		table_tags_add(&p->tags, TAG_EVENT, false);
}

void table_plan_close(struct table_plan *p)
{
	table_tags_release(&p->tags);
	free(p->fields);
}

/* ---- ranges ---- */

struct ranges {
	const struct table_plan *plan;
	const struct table_job *job;
};

static bool field_range(const void *ctx, unsigned field, struct predicate_range *ret)
{
	const struct ranges *r = ctx;
	const struct table_source *s = &r->plan->fields[field];
	const struct kept_column *c = r->job->columns[s->tag];
	int64_t start = s->is_time ? (int64_t)r->plan->q->d->start_ns : 0;

	if (!c || s->column->derived)
		return false;
	*ret = (struct predicate_range){c->range.min, c->range.max, c->range.signed_min,
					c->range.signed_max};
	return !__builtin_sub_overflow(ret->signed_min, start, &ret->signed_min) &&
	       !__builtin_sub_overflow(ret->signed_max, start, &ret->signed_max);
}

unsigned table_chunk_may(const struct table_plan *p, const struct table_job *j)
{
	const struct ranges r = {p, j};

	return p->q->where ? predicate_may(p->q->where, field_range, &r) : PREDICATE_MAY_HOLD;
}

/* ---- blocks ---- */

struct table_view *table_view_new(const struct table_plan *p)
{
	struct table_view *v = xcalloc(1, sizeof(*v));

	v->plan = p;
	v->stored = xcalloc(p->tags.count, sizeof(*v->stored));
	v->is_stored = xcalloc(p->tags.count, sizeof(*v->is_stored));
	v->wants = xcalloc(p->want_count + 1, sizeof(*v->wants));
	if (p->q->where) {
		v->fields = xcalloc(p->q->columns.len, sizeof(*v->fields));
		v->is_field = xcalloc(p->q->columns.len, sizeof(*v->is_field));
		v->scratch = predicate_scratch_new(p->q->where);
	}
	if (p->has_other)
		v->columns = xcalloc(1, sizeof(*v->columns));
	return v;
}

void table_view_free(struct table_view *v)
{
	if (!v)
		return;
	free(v->stored);
	free(v->is_stored);
	free(v->wants);
	free(v->fields);
	free(v->is_field);
	free(v->columns);
	predicate_scratch_free(v->scratch);
	free(v);
}

void table_view_move(struct table_view *v, const struct table_job *j, uint32_t block)
{
	uint32_t rows = v->plan->q->d->chunks.items[j->chunk].stored.info.rows;
	uint32_t first = block * KEPT_BLOCK;

	v->job = j;
	v->block = block;
	v->rows = rows - first < KEPT_BLOCK ? rows - first : KEPT_BLOCK;
	memset(v->is_stored, 0, v->plan->tags.count * sizeof(*v->is_stored));
	if (v->is_field)
		memset(v->is_field, 0, v->plan->q->columns.len * sizeof(*v->is_field));
}

const uint64_t *table_stored_values(struct table_view *v, size_t tag)
{
	if (!v->is_stored[tag])
		kept_column_block(v->job->columns[tag], v->block, v->stored[tag]);
	v->is_stored[tag] = true;
	return v->stored[tag];
}

static const uint64_t *tag_values(struct table_view *v, uint32_t tag)
{
	return table_stored_values(v, table_tags_find(&v->plan->tags, tag));
}

/* Derives values that depend on several columns, row by row. */
static void derive_other(struct table_view *v, const struct table_source *s, uint64_t *ret)
{
	const struct table_tags *tags = &v->plan->tags;
	struct chunk_columns *c = v->columns;

	c->rows = v->rows;
	c->count = 0;
	for (size_t i = 0; i < tags->count && i < CHUNK_COLUMNS_MAX; i++) {
		table_stored_values(v, i);
		c->columns[c->count++] = (struct chunk_column){tags->tags[i], v->stored[i]};
	}
	for (uint32_t i = 0; i < v->rows; i++)
		ret[i] = table_value(v->plan->q, s->column, c, i);
}

const uint64_t *table_source_values(struct table_view *v, const struct table_source *s,
				    uint64_t *room)
{
	const uint64_t *stored = table_stored_values(v, s->tag);

	if (s->mapped)
		table_derive(v->plan->q, s->column, stored, v->rows, room);
	else if (s->other)
		derive_other(v, s, room);
	else
		return stored;
	return room;
}

/* ---- choosing rows ---- */

static const uint64_t *field_values(const void *ctx, unsigned field)
{
	struct table_view *v = (struct table_view *)ctx;
	const struct table_source *s = &v->plan->fields[field];
	uint64_t *room = v->fields[field];
	const uint64_t *values;

	if (v->is_field[field])
		return room;
	values = table_source_values(v, s, room);
	if (!s->is_time)
		return values;
	/* Conditions have times since the run began, as answers do. */
	for (uint32_t i = 0; i < v->rows; i++)
		room[i] = values[i] - v->plan->q->d->start_ns;
	v->is_field[field] = true;
	return room;
}

static const char *field_text(const void *ctx, unsigned field, uint64_t number)
{
	const struct table_view *v = ctx;

	return table_text(v->plan->q, v->plan->fields[field].column, number);
}

static void keep_window(struct table_view *v, const struct selection *sel)
{
	const uint64_t *start_ns = tag_values(v, TAG_TIME), *end_ns = tag_values(v, TAG_END);

	/* Points have no column of ends: their end is 0, and span_in_window() takes them as points. */
	for (uint32_t i = 0; i < v->rows; i++)
		v->keep[i] &= span_in_window(start_ns[i], end_ns[i], sel->from_ns, sel->to_ns);
}

static void keep_selected(struct table_view *v, const struct selection *sel)
{
	const struct run_data *d = v->plan->q->d;
	const uint64_t *values;

	if (sel->threads) {
		values = tag_values(v, TAG_THREAD);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= selection_has_thread(sel, values[i]);
	}
	if (sel->cpus) {
		values = tag_values(v, TAG_CPU);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= selection_has_cpu(sel, values[i]);
	}
	if (sel->nodes) {
		values = tag_values(v, TAG_STACK);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= selection_has_stack(sel, &d->paths, values[i]);
	}
	if (sel->event >= 0) {
		values = tag_values(v, TAG_EVENT);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= selection_has_event(sel, values[i]);
	}
}

size_t table_choose(struct table_view *v, bool tested, bool *ret_all)
{
	const struct table_query *q = v->plan->q;
	const struct predicate_block b = {v->rows, field_values, field_text, v};
	size_t count = 0;

	*ret_all = !v->job->edge && !selection_filters(q->sel) && !tested;
	if (*ret_all)
		return v->rows;
	memset(v->keep, true, sizeof(v->keep));
	if (v->job->edge)
		keep_window(v, q->sel);
	keep_selected(v, q->sel);
	if (tested && memchr(v->keep, true, v->rows))
		predicate_test_block(q->where, v->scratch, &b, v->keep);
	for (uint32_t i = 0; i < v->rows; i++) {
		v->place[count] = (uint16_t)i;
		count += v->keep[i];
	}
	*ret_all = count == v->rows;
	return count;
}
