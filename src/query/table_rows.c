/* Walks over the selected rows of a table: in blocks by several threads, or by chunk. */
#include "query/table_choose.h"
#include "base/parallel.h"

#define BATCH_READ 8u   /* chunks read in one go, to be decoded in parallel */
#define BATCH_JOBS 512u /* chunks in memory visited in parallel */

static uint32_t blocks_of(const struct run_chunk *c)
{
	return (c->stored.info.rows + KEPT_BLOCK - 1) / KEPT_BLOCK;
}

/* ---- scans ---- */

struct scanning {
	struct table_plan plan;
	const struct table_scan *scan;
	struct table_job *jobs;
	size_t count;
	struct table_view *views[TABLE_THREADS_MAX];
};

static const struct run_chunk *chunk_of(const struct scanning *s, const struct table_job *j)
{
	return &s->plan.q->d->chunks.items[j->chunk];
}

static void visit_block(struct scanning *s, struct table_view *v, unsigned thread, bool tested)
{
	struct table_block b = {.chunk = v->job->chunk, .first = v->block * KEPT_BLOCK};
	const struct table_plan *p = &s->plan;
	bool all;

	b.count = table_choose(v, tested, &all);
	if (!b.count)
		return;
	b.place = all ? NULL : v->place;
	for (size_t w = 0; w < p->want_count; w++) {
		const uint64_t *values =
			p->want_raw[w] ? table_stored_values(v, p->wants[w].tag)
				       : table_source_values(v, &p->wants[w], v->wants[w]);

		if (!all) {
			for (size_t i = 0; i < b.count; i++)
				v->wants[w][i] = values[v->place[i]];
			values = v->wants[w];
		}
		b.values[w] = values;
	}
	s->scan->visit(s->scan->ctx, thread, &b);
}

/* Whether all rows of a block are before or after the window, by its first time: times ascend. */
static bool is_beside(const struct table_plan *p, const struct table_job *j, uint32_t block,
		      uint32_t blocks)
{
	const struct kept_column *time = j->columns[0], *end = j->columns[1];

	if (!j->edge)
		return false;
	return time->base[block] >= p->q->sel->to_ns ||
	       (!end->range.max && block + 1 < blocks &&
		time->base[block + 1] < p->q->sel->from_ns);
}

/* Describes a chunk to the scan. Returns false if the range of a wanted column is unknown. */
static bool describe(const struct scanning *scanning, const struct table_job *j, unsigned may,
		     struct table_part *ret)
{
	const struct table_plan *p = &scanning->plan;
	const struct chunk_info *info = &chunk_of(scanning, j)->stored.info;

	*ret = (struct table_part){
		.chunk = j->chunk,
		.rows = info->rows,
		.whole = !j->edge && !selection_filters(p->q->sel) && may == PREDICATE_MAY_HOLD,
	};
	ret->times = (struct kept_range){info->first_ns, info->last_ns, (int64_t)info->first_ns,
					 (int64_t)info->last_ns};
	for (size_t w = 0; w < p->want_count; w++) {
		const struct table_source *s = &p->wants[w];
		const struct kept_column *c = j->columns[s->tag];
		bool stored = p->want_raw[w] || !s->column->derived;

		/* The head of the chunk has the range of times. */
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
	unsigned may = table_chunk_may(&s->plan, j);
	uint32_t blocks = blocks_of(chunk_of(s, j));
	struct table_part part;
	bool begun = describe(s, j, may, &part);

	if (may == PREDICATE_MAY_FAIL ||
	    (begun && s->scan->begin && !s->scan->begin(s->scan->ctx, thread, &part)))
		return;
	if (table_job_decode(s->plan.q, &s->plan.tags, j) < 0)
		return;
	may = table_chunk_may(&s->plan, j);
	if (may == PREDICATE_MAY_FAIL)
		return;
	if (!begun && describe(s, j, may, &part) && s->scan->begin &&
	    !s->scan->begin(s->scan->ctx, thread, &part))
		return;
	if (!s->views[thread])
		s->views[thread] = table_view_new(&s->plan);
	for (uint32_t block = 0; block < blocks; block++) {
		if (is_beside(&s->plan, j, block, blocks))
			continue;
		table_view_move(s->views[thread], j, block);
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
	table_plan_open(&s.plan, q, scan->wants, scan->count, false);
	s.jobs = xcalloc(BATCH_JOBS, sizeof(*s.jobs));
	for (size_t i = 0; i < chunks && r == 0; i++) {
		uint32_t chunk = (uint32_t)(scan->backwards ? chunks - 1 - i : i);
		struct table_job *j = &s.jobs[s.count];

		if (!table_touches(q, &q->d->chunks.items[chunk]))
			continue;
		table_job_open(q, &s.plan.tags, chunk, j);
		s.count++;
		if (table_chunk_may(&s.plan, j) == PREDICATE_MAY_FAIL) {
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
		table_view_free(s.views[i]);
	free(s.jobs);
	table_plan_close(&s.plan);
	return r;
}

/* ---- rows by chunk ---- */

/* The chosen rows of a chunk, with each of its columns as one array. */
struct whole_chunk {
	struct chunk_columns *columns;
	uint32_t *row;
	size_t count;
};

struct walking {
	struct table_plan plan;
	struct table_job jobs[BATCH_READ];
	struct whole_chunk chunks[BATCH_READ];
	size_t count;
};

/* Decodes the columns of a chunk for the visitor. */
static void fill_columns(const struct table_plan *p, const struct table_job *j,
			 struct whole_chunk *w, uint32_t blocks)
{
	const struct chunk_info *info = &p->q->d->chunks.items[j->chunk].stored.info;

	w->columns = xcalloc(1, sizeof(*w->columns));
	w->columns->info = *info;
	w->columns->rows = info->rows;
	for (size_t i = 0; i < p->tags.count && i < CHUNK_COLUMNS_MAX; i++) {
		const struct kept_column *c = j->columns[i];
		uint64_t *values;

		/* Columns of zeros may be left out. */
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
	struct table_view *v;
	unsigned may;

	(void)thread;
	if (table_job_decode(w->plan.q, &w->plan.tags, j) < 0)
		return;
	may = table_chunk_may(&w->plan, j);
	if (may == PREDICATE_MAY_FAIL)
		return;
	v = table_view_new(&w->plan);
	to->row = xrealloc(NULL, (size_t)blocks * KEPT_BLOCK, sizeof(*to->row));
	for (uint32_t block = 0; block < blocks; block++) {
		size_t count;
		bool all;

		table_view_move(v, j, block);
		count = table_choose(v, may & PREDICATE_MAY_FAIL, &all);
		for (size_t i = 0; i < count; i++)
			to->row[to->count++] =
				block * KEPT_BLOCK + (all ? (uint32_t)i : v->place[i]);
	}
	if (to->count)
		fill_columns(&w->plan, j, to, blocks);
	table_view_free(v);
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
	table_plan_open(&w->plan, q, NULL, 0, true);
	for (size_t i = 0; columns && columns[i] >= 0; i++)
		table_tags_add(&w->plan.tags, q->columns.items[columns[i]].schema.tag, false);
	for (size_t i = 0; !columns && i < q->columns.len; i++)
		table_tags_add(&w->plan.tags, q->columns.items[i].schema.tag, false);
}

/* Visits the selected rows of all chunks, or of the chunk @only unless that is UINT32_MAX. */
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
	table_plan_close(&w->plan);
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
