/* Which rows of a table are selected, and walks over them: in blocks by several threads, or by chunk. */
#include "query/table_scan.h"
#include "base/number.h"
#include "base/parallel.h"
#include "profile/spans.h"

#include <string.h>

_Static_assert(KEPT_BLOCK == PREDICATE_BLOCK, "a block is tested as it is kept");

#define BATCH_READ 8u   /* chunks that are read before they are decoded in parallel */
#define BATCH_JOBS 512u /* chunks in memory that are visited in parallel */

/* ---- what a query needs ---- */

/* Where values of a column of the query come from. */
struct source {
	const struct table_column *column;
	size_t tag;  /* in the plan's tags */
	bool mapped; /* derived from the value of that tag alone, */
	bool other;  /* or from several columns */
	bool is_time;
};

struct plan {
	const struct table_query *q;
	struct table_tags tags;
	struct source *fields; /* of the condition, by its number of the field; others are zeros */
	struct source wants[TABLE_WANTS_MAX];
	size_t want_count;
	bool want_raw[TABLE_WANTS_MAX];
	bool has_other; /* some source is derived from several columns */
};

static struct source source_of(struct plan *p, size_t column)
{
	const struct table_column *c = &p->q->columns.items[column];
	struct source s = {.column = c};

	s.mapped = table_column_maps(c);
	s.other = c->derived && !s.mapped;
	s.is_time = !c->derived && c->schema.type == VALUE_TIME;
	p->has_other |= s.other;
	table_tags_add(&p->tags, c->schema.tag, false);
	s.tag = table_tags_find(&p->tags, c->schema.tag);
	return s;
}

static void plan_open(struct plan *p, const struct table_query *q, const struct table_want *wants,
		      size_t count, bool with_times)
{
	const struct selection *sel = q->sel;
	const unsigned *fields = NULL;
	size_t field_count = 0;

	*p = (struct plan){.q = q, .want_count = count};
	/* The first ones are those of spans and points: visitors of chunks expect them. */
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

static void plan_close(struct plan *p)
{
	table_tags_release(&p->tags);
	free(p->fields);
}

/* ---- ranges ---- */

struct ranges {
	const struct plan *plan;
	const struct table_job *job;
};

static bool field_range(const void *ctx, unsigned field, struct predicate_range *ret)
{
	const struct ranges *r = ctx;
	const struct source *s = &r->plan->fields[field];
	const struct kept_column *c = r->job->columns[s->tag];
	int64_t start = s->is_time ? (int64_t)r->plan->q->d->start_ns : 0;

	if (!c || s->column->derived)
		return false;
	*ret = (struct predicate_range){c->range.min, c->range.max, c->range.signed_min,
					c->range.signed_max};
	return !__builtin_sub_overflow(ret->signed_min, start, &ret->signed_min) &&
	       !__builtin_sub_overflow(ret->signed_max, start, &ret->signed_max);
}

/* Which results the condition may have in the chunk. */
static unsigned chunk_may(const struct plan *p, const struct table_job *j)
{
	const struct ranges r = {p, j};

	return p->q->where ? predicate_may(p->q->where, field_range, &r) : PREDICATE_MAY_HOLD;
}

/* ---- blocks ---- */

typedef uint64_t block_values[KEPT_BLOCK];

/* What a thread needs to look at a block. */
struct view {
	const struct plan *plan;
	const struct table_job *job;
	uint32_t block, rows; /* rows that the block has */
	block_values *stored; /* by tag */
	bool *is_stored;      /* of the block */
	block_values *fields; /* by number in the condition's list of fields */
	bool *is_field;
	block_values *wants;           /* derived, or only of the selected rows */
	struct chunk_columns *columns; /* of the block, for columns that are derived from several */
	struct predicate_scratch *scratch;
	bool keep[KEPT_BLOCK];
	uint16_t place[KEPT_BLOCK];
};

static struct view *view_new(const struct plan *p)
{
	struct view *v = xcalloc(1, sizeof(*v));

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

static void view_free(struct view *v)
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

static void view_move(struct view *v, const struct table_job *j, uint32_t block)
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

static const uint64_t *stored_values(struct view *v, size_t tag)
{
	if (!v->is_stored[tag])
		kept_column_block(v->job->columns[tag], v->block, v->stored[tag]);
	v->is_stored[tag] = true;
	return v->stored[tag];
}

static const uint64_t *tag_values(struct view *v, uint32_t tag)
{
	return stored_values(v, table_tags_find(&v->plan->tags, tag));
}

/* Derives values from several columns, row by row. */
static void derive_other(struct view *v, const struct source *s, uint64_t *ret)
{
	const struct table_tags *tags = &v->plan->tags;
	struct chunk_columns *c = v->columns;

	c->rows = v->rows;
	c->count = 0;
	for (size_t i = 0; i < tags->count && i < CHUNK_COLUMNS_MAX; i++) {
		stored_values(v, i);
		c->columns[c->count++] = (struct chunk_column){tags->tags[i], v->stored[i]};
	}
	for (uint32_t i = 0; i < v->rows; i++)
		ret[i] = table_value(v->plan->q, s->column, c, i);
}

static const uint64_t *source_values(struct view *v, const struct source *s, uint64_t *room)
{
	const uint64_t *stored = stored_values(v, s->tag);

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
	struct view *v = (struct view *)ctx;
	const struct source *s = &v->plan->fields[field];
	uint64_t *room = v->fields[field];
	const uint64_t *values;

	if (v->is_field[field])
		return room;
	values = source_values(v, s, room);
	if (!s->is_time)
		return values;
	/* People know times since the run began, as answers have them. */
	for (uint32_t i = 0; i < v->rows; i++)
		room[i] = values[i] - v->plan->q->d->start_ns;
	v->is_field[field] = true;
	return room;
}

static const char *field_text(const void *ctx, unsigned field, uint64_t number)
{
	const struct view *v = ctx;

	return table_text(v->plan->q, v->plan->fields[field].column, number);
}

static void keep_window(struct view *v, const struct selection *sel)
{
	const uint64_t *start_ns = tag_values(v, TAG_TIME), *end_ns = tag_values(v, TAG_END);

	/* Points have no end: it is 0, which is before the window or makes no difference. */
	for (uint32_t i = 0; i < v->rows; i++)
		v->keep[i] &= span_in_window(start_ns[i], end_ns[i], sel->from_ns, sel->to_ns);
}

static void keep_selected(struct view *v, const struct selection *sel)
{
	const struct run_data *d = v->plan->q->d;
	const uint64_t *values;

	if (sel->threads) {
		values = tag_values(v, TAG_THREAD);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &=
				sel->threads[values[i] < d->profile.threads.len ? values[i] : 0];
	}
	if (sel->cpus) {
		values = tag_values(v, TAG_CPU);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= values[i] < CPU_LIMIT && sel->cpus[values[i]];
	}
	if (sel->nodes) {
		values = tag_values(v, TAG_STACK);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= sel->nodes[call_path_known(&d->paths, (uint32_t)values[i])];
	}
	if (sel->event >= 0) {
		values = tag_values(v, TAG_EVENT);
		for (uint32_t i = 0; i < v->rows; i++)
			v->keep[i] &= values[i] == (uint64_t)sel->event;
	}
}

static bool is_filtered(const struct selection *sel)
{
	return sel->threads || sel->cpus || sel->nodes || sel->event >= 0;
}

/* Chooses the rows of the block. Their places are v->place, unless all are: then *ret_all is true. */
static size_t choose(struct view *v, bool tested, bool *ret_all)
{
	const struct table_query *q = v->plan->q;
	const struct predicate_block b = {v->rows, field_values, field_text, v};
	size_t count = 0;

	*ret_all = !v->job->edge && !is_filtered(q->sel) && !tested;
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

static uint32_t blocks_of(const struct run_chunk *c)
{
	return (c->stored.info.rows + KEPT_BLOCK - 1) / KEPT_BLOCK;
}

/* ---- scans ---- */

struct scanning {
	struct plan plan;
	const struct table_scan *scan;
	struct table_job *jobs;
	size_t count;
	struct view *views[TABLE_THREADS_MAX];
};

static const struct run_chunk *chunk_of(const struct scanning *s, const struct table_job *j)
{
	return &s->plan.q->d->chunks.items[j->chunk];
}

static void visit_block(struct scanning *s, struct view *v, unsigned thread, bool tested)
{
	struct table_block b = {.chunk = v->job->chunk, .first = v->block * KEPT_BLOCK};
	const struct plan *p = &s->plan;
	bool all;

	b.count = choose(v, tested, &all);
	if (!b.count)
		return;
	b.place = all ? NULL : v->place;
	for (size_t w = 0; w < p->want_count; w++) {
		const uint64_t *values = p->want_raw[w]
						 ? stored_values(v, p->wants[w].tag)
						 : source_values(v, &p->wants[w], v->wants[w]);

		if (!all) {
			for (size_t i = 0; i < b.count; i++)
				v->wants[w][i] = values[v->place[i]];
			values = v->wants[w];
		}
		b.values[w] = values;
	}
	s->scan->visit(s->scan->ctx, thread, &b);
}

/* Blocks of points before or behind the window need not be looked at: times ascend. */
static bool is_beside(const struct plan *p, const struct table_job *j, uint32_t block,
		      uint32_t blocks)
{
	const struct kept_column *time = j->columns[0], *end = j->columns[1];

	if (!j->edge)
		return false;
	return time->base[block] >= p->q->sel->to_ns ||
	       (!end->range.max && block + 1 < blocks &&
		time->base[block + 1] < p->q->sel->from_ns);
}

/* Ranges of what is wanted are known. */
static bool describe(const struct scanning *scanning, const struct table_job *j, unsigned may,
		     struct table_part *ret)
{
	const struct plan *p = &scanning->plan;
	const struct chunk_info *info = &chunk_of(scanning, j)->stored.info;

	*ret = (struct table_part){
		.chunk = j->chunk,
		.rows = info->rows,
		.whole = !j->edge && !is_filtered(p->q->sel) && may == PREDICATE_MAY_HOLD,
	};
	ret->times = (struct kept_range){info->first_ns, info->last_ns, (int64_t)info->first_ns,
					 (int64_t)info->last_ns};
	for (size_t w = 0; w < p->want_count; w++) {
		const struct source *s = &p->wants[w];
		const struct kept_column *c = j->columns[s->tag];
		bool stored = p->want_raw[w] || !s->column->derived;

		/* Times are known without decoding. */
		if (!c && s->column->schema.tag != TAG_TIME)
			return false;
		if (stored)
			ret->ranges[w] = c ? &c->range : &ret->times;
	}
	return true;
}

static void scan_job(void *ctx, size_t item, unsigned thread)
{
	struct scanning *s = ctx;
	struct table_job *j = &s->jobs[item];
	unsigned may = chunk_may(&s->plan, j);
	uint32_t blocks = blocks_of(chunk_of(s, j));
	struct table_part part;
	bool begun = describe(s, j, may, &part);

	if (may == PREDICATE_MAY_FAIL ||
	    (begun && s->scan->begin && !s->scan->begin(s->scan->ctx, thread, &part)))
		return;
	if (table_job_decode(s->plan.q, &s->plan.tags, j) < 0)
		return;
	may = chunk_may(&s->plan, j);
	if (may == PREDICATE_MAY_FAIL)
		return;
	if (!begun && describe(s, j, may, &part) && s->scan->begin &&
	    !s->scan->begin(s->scan->ctx, thread, &part))
		return;
	if (!s->views[thread])
		s->views[thread] = view_new(&s->plan);
	for (uint32_t block = 0; block < blocks; block++) {
		if (is_beside(&s->plan, j, block, blocks))
			continue;
		view_move(s->views[thread], j, block);
		visit_block(s, s->views[thread], thread, may & PREDICATE_MAY_FAIL);
	}
}

static int jobs_error(const struct table_query *q, const struct table_job *jobs, size_t count,
		      struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++)
		r = table_job_error(q, &jobs[i], e);
	return r;
}

static int scan_batch(struct scanning *s, struct err *e)
{
	int r;

	parallel_each(s->count, s->scan->threads, scan_job, s);
	r = jobs_error(s->plan.q, s->jobs, s->count, e);
	for (size_t i = 0; i < s->count; i++)
		table_job_release(&s->jobs[i], &s->plan.tags);
	s->count = 0;
	return r;
}

unsigned table_threads(void)
{
	return parallel_cpus(TABLE_THREADS_MAX);
}

int table_scan(const struct table_query *q, const struct table_scan *scan, struct err *e)
{
	struct scanning s = {.scan = scan};
	size_t read = 0, chunks = q->d->chunks.len;
	int r = 0;

	__atomic_add_fetch(&q->d->table_questions, 1, __ATOMIC_RELAXED);
	plan_open(&s.plan, q, scan->wants, scan->count, false);
	s.jobs = xcalloc(BATCH_JOBS, sizeof(*s.jobs));
	for (size_t i = 0; i < chunks && r == 0; i++) {
		uint32_t chunk = (uint32_t)(scan->backwards ? chunks - 1 - i : i);
		struct table_job *j = &s.jobs[s.count];

		if (!table_touches(q, &q->d->chunks.items[chunk]))
			continue;
		table_job_open(q, &s.plan.tags, chunk, j);
		s.count++;
		if (chunk_may(&s.plan, j) == PREDICATE_MAY_FAIL) {
			table_job_release(j, &s.plan.tags);
			s.count--;
			continue;
		}
		r = table_job_read(q, &s.plan.tags, j, e);
		read += j->read;
		if (r == 0 && (read == BATCH_READ || s.count == BATCH_JOBS)) {
			r = scan_batch(&s, e);
			read = 0;
		}
	}
	if (r == 0)
		r = scan_batch(&s, e);
	for (size_t i = 0; i < s.count; i++)
		table_job_release(&s.jobs[i], &s.plan.tags);
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++)
		view_free(s.views[i]);
	free(s.jobs);
	plan_close(&s.plan);
	return r;
}

/* ---- rows by chunk ---- */

/* A chunk whose rows were chosen, with its columns as one array each. */
struct whole_chunk {
	struct chunk_columns *columns;
	uint32_t *row;
	size_t count;
};

struct walking {
	struct plan plan;
	struct table_job jobs[BATCH_READ];
	struct whole_chunk chunks[BATCH_READ];
	size_t count;
};

/* Columns of the chunk, in whole blocks, for visitors. */
static void fill_columns(const struct plan *p, const struct table_job *j, struct whole_chunk *w,
			 uint32_t blocks)
{
	const struct chunk_info *info = &p->q->d->chunks.items[j->chunk].stored.info;

	w->columns = xcalloc(1, sizeof(*w->columns));
	w->columns->info = *info;
	w->columns->rows = info->rows;
	for (size_t i = 0; i < p->tags.count && i < CHUNK_COLUMNS_MAX; i++) {
		const struct kept_column *c = j->columns[i];
		uint64_t *values;

		/* What is 0 in all rows need not be there. */
		if (i && !c->width && !c->range.max && !c->range.min)
			continue;
		values = xrealloc(NULL, (size_t)blocks * KEPT_BLOCK, sizeof(*values));
		for (uint32_t b = 0; b < blocks; b++)
			kept_column_block(c, b, values + (size_t)b * KEPT_BLOCK);
		w->columns->columns[w->columns->count++] =
			(struct chunk_column){p->tags.tags[i], values};
	}
}

static void choose_job(void *ctx, size_t item, unsigned thread)
{
	struct walking *w = ctx;
	struct table_job *j = &w->jobs[item];
	struct whole_chunk *to = &w->chunks[item];
	uint32_t blocks = blocks_of(&w->plan.q->d->chunks.items[j->chunk]);
	struct view *v;
	unsigned may;

	(void)thread;
	if (table_job_decode(w->plan.q, &w->plan.tags, j) < 0)
		return;
	may = chunk_may(&w->plan, j);
	if (may == PREDICATE_MAY_FAIL)
		return;
	v = view_new(&w->plan);
	to->row = xrealloc(NULL, (size_t)blocks * KEPT_BLOCK, sizeof(*to->row));
	for (uint32_t block = 0; block < blocks; block++) {
		size_t count;
		bool all;

		view_move(v, j, block);
		count = choose(v, may & PREDICATE_MAY_FAIL, &all);
		for (size_t i = 0; i < count; i++)
			to->row[to->count++] =
				block * KEPT_BLOCK + (all ? (uint32_t)i : v->place[i]);
	}
	if (to->count)
		fill_columns(&w->plan, j, to, blocks);
	view_free(v);
}

static void walk_clear(struct walking *w)
{
	for (size_t i = 0; i < w->count; i++) {
		if (w->chunks[i].columns)
			chunk_columns_release(w->chunks[i].columns);
		free(w->chunks[i].columns);
		free(w->chunks[i].row);
		w->chunks[i] = (struct whole_chunk){};
		table_job_release(&w->jobs[i], &w->plan.tags);
	}
	w->count = 0;
}

static int visit_batch(struct walking *w, table_visitor visit, void *ctx, struct err *e)
{
	int r;

	parallel_each(w->count, table_threads(), choose_job, w);
	r = jobs_error(w->plan.q, w->jobs, w->count, e);
	for (size_t i = 0; i < w->count && r == 0; i++) {
		const struct whole_chunk *c = &w->chunks[i];
		struct table_rows rows = {c->columns, c->row, c->count, w->jobs[i].chunk};

		if (c->count)
			r = visit(ctx, &rows, e);
	}
	walk_clear(w);
	return r;
}

static void walk_open(struct walking *w, const struct table_query *q, const int *columns)
{
	plan_open(&w->plan, q, NULL, 0, true);
	for (size_t i = 0; columns && columns[i] >= 0; i++)
		table_tags_add(&w->plan.tags, q->columns.items[columns[i]].schema.tag, false);
	for (size_t i = 0; !columns && i < q->columns.len; i++)
		table_tags_add(&w->plan.tags, q->columns.items[i].schema.tag, false);
}

/* @only UINT32_MAX: all chunks. */
static int each(const struct table_query *q, uint32_t only, const int *columns, table_visitor visit,
		void *ctx, struct err *e)
{
	struct walking *w = xcalloc(1, sizeof(*w));
	int r = 0;

	__atomic_add_fetch(&q->d->table_questions, 1, __ATOMIC_RELAXED);
	walk_open(w, q, columns);
	for (uint32_t i = 0; i < q->d->chunks.len && r == 0; i++) {
		if ((only != UINT32_MAX && i != only) || !table_touches(q, &q->d->chunks.items[i]))
			continue;
		table_job_open(q, &w->plan.tags, i, &w->jobs[w->count]);
		r = table_job_read(q, &w->plan.tags, &w->jobs[w->count++], e);
		if (r == 0 && w->count == BATCH_READ)
			r = visit_batch(w, visit, ctx, e);
	}
	if (r == 0)
		r = visit_batch(w, visit, ctx, e);
	walk_clear(w);
	plan_close(&w->plan);
	free(w);
	return r;
}

int table_each(const struct table_query *q, const int *columns, table_visitor visit, void *ctx,
	       struct err *e)
{
	return each(q, UINT32_MAX, columns, visit, ctx, e);
}

int table_each_of(const struct table_query *q, uint32_t chunk, const int *columns,
		  table_visitor visit, void *ctx, struct err *e)
{
	return each(q, chunk, columns, visit, ctx, e);
}
