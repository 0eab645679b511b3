/*
 * Lanes of spans. For a chunk whose summary has a level with cells no wider than those of the drawing,
 * the level is read, otherwise its rows. Both give exact cells.
 */
#include "query/table.h"
#include "profile/spans.h"

#include <errno.h>
#include <string.h>

/* Totals of a lane without cells. */
struct lane_total {
	uint64_t covered_ns, starts;
	bool any;
};

struct drawing {
	const struct table_query *q;
	struct table_lanes *to;
	const struct selection *sel;
	uint32_t key;               /* tag of the column of keys */
	uint64_t first_ns, last_ns; /* of all cells together */
	uint32_t limit;
	uint32_t *slot; /* by lane: 1 + index in `sums`; 0: none */
	size_t slots;
	VEC(struct lane_sum) sums;
	VEC(uint32_t) numbers;     /* lanes of `sums` */
	struct lane_total *totals; /* by lane, in a first pass; NULL: sum up cells */
	bool chosen;               /* the lanes with sums are known: ignore all others */
	struct by_kind {
		struct lane_sum *sum;
		struct lane_total *total;
		uint64_t key;         /* unless keys are a column */
		uint64_t duration_ns; /* unless durations differ between rows of the kind */
	} * kinds; /* by kind of the chunk's rows; neither sum nor total: not selected */
};

/* Result: there are more lanes than the limit, so the busiest must be found in a pass of its own. */
#define TOO_MANY_LANES 1

/* ---- lanes ---- */

static uint32_t lane_in_run(const struct drawing *g, uint32_t number)
{
	if (g->to->by == LANES_THREAD)
		return profile_thread_number(&g->q->d->profile, number);
	return number < CPU_LIMIT ? number : TABLE_LANE_OTHER_CPUS;
}

static bool lane_is_selected(const struct drawing *g, uint32_t number)
{
	if (g->chosen && !g->slot[lane_in_run(g, number)])
		return false;
	return g->to->by == LANES_THREAD ? selection_has_thread(g->sel, number)
					 : selection_has_cpu(g->sel, number);
}

/* Returns the cells of a lane, or NULL if there are more lanes than the limit. */
static struct lane_sum *sum_of(struct drawing *g, uint32_t number)
{
	uint32_t lane = lane_in_run(g, number);

	if (!g->slot[lane]) {
		if (g->chosen || g->sums.len == g->limit)
			return NULL;
		vec_push(&g->sums, (struct lane_sum){});
		vec_push(&g->numbers, lane);
		g->slot[lane] = (uint32_t)g->sums.len;
		lane_sum_init(&g->sums.items[g->sums.len - 1], g->to->shift, g->to->first,
			      g->to->cell_count);
	}
	return &g->sums.items[g->slot[lane] - 1];
}

static void add_total(struct drawing *g, uint32_t number, uint64_t covered_ns, uint64_t starts)
{
	struct lane_total *t = &g->totals[lane_in_run(g, number)];

	t->any = true;
	t->covered_ns = lane_add_ns(t->covered_ns, covered_ns);
	t->starts += starts;
}

/* ---- levels ---- */

/* Returns the index of the first cell of a lane that is @cell or later on the clock. */
static size_t find_cell(const struct lane_level *l, size_t lane, uint64_t cell)
{
	size_t low = l->begin[lane], high = l->begin[lane + 1];

	/* The common case: the chunk begins within the window. */
	if (l->first + l->cells[low].cell >= cell)
		return low;
	if (l->first + l->cells[high - 1].cell < cell)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->first + l->cells[middle].cell < cell)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void merge_cells(const struct drawing *g, const struct lane_level *l, size_t from, size_t to,
			struct lane_sum *sum)
{
	unsigned finer = g->to->shift - l->shift;

	for (size_t i = from; i < to; i++)
		lane_cell_merge(&sum->cells[((l->first + l->cells[i].cell) >> finer) - sum->first],
				&l->cells[i]);
}

static int add_level(struct drawing *g, const struct lane_level *l)
{
	for (size_t lane = 0; lane < l->lane_count; lane++) {
		size_t from, to;

		if (!lane_is_selected(g, l->lanes[lane]))
			continue;
		from = find_cell(l, lane, g->first_ns >> l->shift);
		to = g->last_ns == UINT64_MAX ? l->begin[lane + 1]
					      : find_cell(l, lane, (g->last_ns >> l->shift) + 1);
		if (from == to)
			continue;
		if (g->totals) {
			for (size_t i = from; i < to; i++)
				add_total(g, l->lanes[lane], l->cells[i].covered_ns,
					  l->cells[i].starts);
		} else {
			struct lane_sum *sum = sum_of(g, l->lanes[lane]);

			if (!sum)
				return TOO_MANY_LANES;
			merge_cells(g, l, from, to, sum);
		}
	}
	return 0;
}

/* ---- rows ---- */

static uint64_t covered_ns(const struct drawing *g, const struct lane_span *s)
{
	uint64_t from_ns = s->start_ns, end_ns = lane_last_ns(s);

	if (!s->duration_ns)
		return 0;
	from_ns = from_ns > g->first_ns ? from_ns : g->first_ns;
	end_ns = end_ns < g->last_ns ? end_ns : g->last_ns;
	return lane_add_ns(end_ns - from_ns, 1);
}

static bool in_drawing(const struct drawing *g, const struct lane_span *s)
{
	return s->start_ns <= g->last_ns && lane_last_ns(s) >= g->first_ns;
}

static void add_span(const struct drawing *g, const struct by_kind *to, const struct lane_span *s)
{
	if (to->sum) {
		lane_sum_add(to->sum, s);
	} else if (in_drawing(g, s)) {
		to->total->any = true;
		to->total->covered_ns = lane_add_ns(to->total->covered_ns, covered_ns(g, s));
		to->total->starts += s->start_ns >= g->first_ns;
	}
}

/* Finds where the rows of a lane are added. */
static int find_target(struct drawing *g, uint32_t number, struct by_kind *ret)
{
	*ret = (struct by_kind){};
	if (g->totals)
		ret->total = &g->totals[lane_in_run(g, number)];
	else
		ret->sum = sum_of(g, number);
	return ret->sum || ret->total ? 0 : TOO_MANY_LANES;
}

/* Finds where each kind of rows is added. Two rounds, because adding to `sums` may move its items. */
static int find_targets(struct drawing *g, const struct run_rows *rows)
{
	const struct row_kind *kinds;
	size_t count = run_rows_kinds(rows, &kinds);
	int rc = 0;

	for (int found = 0; found < 2; found++)
		for (size_t i = 0; i < count && rc == 0; i++) {
			uint32_t number = g->to->by == LANES_CPU ? kinds[i].cpu : kinds[i].thread;
			struct by_kind *to = &g->kinds[i];

			*to = (struct by_kind){};
			if (!lane_is_selected(g, number) ||
			    !selection_has_thread(g->sel, kinds[i].thread) ||
			    !selection_has_cpu(g->sel, kinds[i].cpu))
				continue;
			rc = find_target(g, number, to);
			to->duration_ns = kinds[i].weight;
			to->key = g->key == TAG_THREAD ? kinds[i].thread
				  : g->key == TAG_CPU  ? kinds[i].cpu
						       : 0;
		}
	return rc;
}

/* Adds the rows of one block. */
static void add_block(const struct drawing *g, const struct run_rows_view *v, size_t from,
		      size_t to)
{
	uint64_t base_ns = v->offset_ns ? v->base_ns[from / RUN_ROWS_BLOCK] : 0;
	bool keyed = g->key == TAG_KEY;

	for (size_t i = from; i < to; i++) {
		const struct by_kind *kind = &g->kinds[v->kind[i]];
		struct lane_span span;

		if (!kind->sum && !kind->total)
			continue;
		span.start_ns = v->offset_ns ? base_ns + v->offset_ns[i] : v->time_ns[i];
		span.duration_ns =
			v->weights_differ ? run_number(&v->weight, i) : kind->duration_ns;
		span.key = keyed ? run_number(&v->address, i) : kind->key;
		add_span(g, kind, &span);
	}
}

/* Adds rows that start before the end of the window. Skips blocks in which all spans end before it begins. */
static int add_rows(struct drawing *g, const struct span_rows *s)
{
	size_t end = g->last_ns == UINT64_MAX ? s->count : run_rows_at(s->rows, g->last_ns + 1);
	struct run_rows_view view = run_rows_view(s->rows);
	int rc = end ? find_targets(g, s->rows) : 0;

	for (size_t at = 0; at < end && rc == 0; at += RUN_ROWS_BLOCK)
		if (s->last_ns[at / RUN_ROWS_BLOCK] >= g->first_ns)
			add_block(g, &view, at,
				  end - at < RUN_ROWS_BLOCK ? end : at + RUN_ROWS_BLOCK);
	return rc;
}

static int add_found(void *ctx, const struct spans_found *found)
{
	return found->level ? add_level(ctx, found->level) : add_rows(ctx, found->rows);
}

/* Adds rows that were chosen by a condition. */
static int add_tested(void *ctx, const struct table_rows *rows, struct err *e)
{
	struct drawing *g = ctx;
	const struct chunk_columns *c = rows->columns;
	const uint64_t *start_ns = c->columns[0].values, *end_ns = chunk_column(c, TAG_END);
	const uint64_t *lane = chunk_column(c, g->to->by == LANES_CPU ? TAG_CPU : TAG_THREAD);
	const uint64_t *key = g->key ? chunk_column(c, g->key) : NULL;
	int rc = 0;

	(void)e;
	for (size_t i = 0; i < rows->count && rc == 0; i++) {
		uint32_t row = rows->row[i], number = lane ? lane_number(lane[row]) : 0;
		bool has_length = end_ns && end_ns[row] > start_ns[row];
		struct by_kind to;
		const struct lane_span span = {
			.duration_ns = has_length ? end_ns[row] - start_ns[row] : 0,
			.start_ns = start_ns[row],
			.key = key ? lane_key(g->key, key[row]) : 0,
		};

		if (g->chosen && !g->slot[lane_in_run(g, number)])
			continue;
		rc = find_target(g, number, &to);
		if (rc == 0)
			add_span(g, &to, &span);
	}
	return rc;
}

/* ---- a pass over all spans ---- */

static size_t column_of(const struct table_query *q, uint32_t tag)
{
	size_t i = 0;

	while (i < q->table.column_count && q->columns.items[i].schema.tag != tag)
		i++;
	return i;
}

static int pass_tested(struct drawing *g, struct err *e)
{
	struct selection widened = *g->sel;
	struct table_query q = *g->q;
	size_t lane = column_of(&q, g->to->by == LANES_CPU ? TAG_CPU : TAG_THREAD);
	int columns[3] = {(int)lane, g->to->key, -1};

	widened.from_ns = g->first_ns;
	widened.to_ns = g->last_ns == UINT64_MAX ? UINT64_MAX : g->last_ns + 1;
	q.sel = &widened;
	return table_each(&q, columns, add_tested, g, e);
}

static int pass(struct drawing *g, struct err *e)
{
	const struct selection *sel = g->sel;
	struct spans_wanted wanted = {
		.by = g->to->by,
		.key = g->key,
		.shift = g->to->shift,
		.totals = g->totals,
		.rows_only = g->to->by == LANES_CPU ? sel->threads : sel->cpus,
	};

	if (g->q->where || sel->nodes || sel->event >= 0)
		return pass_tested(g, e);
	return run_spans_each(g->q->d, g->q->s, g->q->table.number, g->first_ns, g->last_ns,
			      &wanted, add_found, g, e);
}

/* ---- too many lanes ---- */

static int by_busy(const void *a, const void *b)
{
	const struct table_lane *x = a, *y = b;

	if (x->covered_ns != y->covered_ns)
		return x->covered_ns > y->covered_ns ? -1 : 1;
	if (x->starts != y->starts)
		return x->starts > y->starts ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Allocates cells for the busiest lanes, and sums up the others. */
static void choose_lanes(struct drawing *g)
{
	VEC(struct table_lane) lanes = {};

	for (uint32_t i = 0; i < g->slots; i++)
		if (g->totals[i].any)
			vec_push(&lanes, (struct table_lane){i, g->totals[i].covered_ns,
							     g->totals[i].starts});
	if (lanes.len)
		qsort(lanes.items, lanes.len, sizeof(*lanes.items), by_busy);
	for (size_t i = 0; i < lanes.len; i++) {
		const struct table_lane *lane = &lanes.items[i];

		if (i < g->limit) {
			sum_of(g, lane->number);
			continue;
		}
		g->to->rest_covered_ns = lane_add_ns(g->to->rest_covered_ns, lane->covered_ns);
		g->to->rest_starts += lane->starts;
	}
	g->to->lanes_in_all = lanes.len;
	g->chosen = true;
	vec_release(&lanes);
}

static void sums_release(struct drawing *g)
{
	vec_each(&g->sums, sum)
		lane_sum_release(sum);
	vec_release(&g->sums);
	vec_release(&g->numbers);
}

/* Draws in two passes: totals of all lanes, then the cells of the busiest. Cells of all lanes would need too
 * much memory. */
static int draw_busiest(struct drawing *g, struct err *e)
{
	int rc;

	sums_release(g);
	memset(g->slot, 0, g->slots * sizeof(*g->slot));
	g->totals = xcalloc(g->slots, sizeof(*g->totals));
	rc = pass(g, e);
	if (rc == 0)
		choose_lanes(g);
	free(g->totals);
	g->totals = NULL;
	return rc < 0 ? rc : pass(g, e);
}

/* ---- the whole ---- */

/* Lists a lane. Its `first` is the index in `sums` until take_cells(). */
static void add_lane(struct drawing *g, size_t place)
{
	struct lane_sum *sum = &g->sums.items[place];
	struct table_lane lane = {.number = g->numbers.items[place], .first = place};

	lane_sum_finish(sum);
	for (uint32_t i = 0; i < sum->len; i++) {
		const struct lane_cell *cell = &sum->cells[i];

		lane.covered_ns = lane_add_ns(lane.covered_ns, cell->covered_ns);
		lane.starts += cell->starts;
		lane.count += lane_cell_exists(cell);
	}
	/* Skip a lane without spans in the cells. */
	if (lane.count)
		vec_push(&g->to->lanes, lane);
}

static void take_cells(struct drawing *g, struct table_lane *lane)
{
	struct table_lanes *to = g->to;
	struct lane_sum *sum = &g->sums.items[lane->first];

	lane->first = to->cells.len;
	vec_reserve(&to->cells, to->cells.len + lane->count);
	for (uint32_t i = 0; i < sum->len; i++)
		if (lane_cell_exists(&sum->cells[i])) {
			sum->cells[i].cell = i;
			to->cells.items[to->cells.len++] = sum->cells[i];
		}
}

static void take_lanes(struct drawing *g)
{
	struct table_lanes *to = g->to;

	for (size_t i = 0; i < g->sums.len; i++)
		add_lane(g, i);
	if (to->lanes.len)
		qsort(to->lanes.items, to->lanes.len, sizeof(*to->lanes.items), by_busy);
	vec_each(&to->lanes, lane)
		take_cells(g, lane);
	if (!g->chosen)
		to->lanes_in_all = to->lanes.len;
}

static void choose_cells(struct drawing *g, uint64_t from_ns, uint64_t to_ns, uint32_t cells)
{
	struct table_lanes *to = g->to;
	uint64_t last_ns = to_ns > from_ns ? to_ns - 1 : from_ns;

	while ((last_ns >> to->shift) - (from_ns >> to->shift) >= cells)
		to->shift++;
	to->first = from_ns >> to->shift;
	to->cell_count = (uint32_t)((last_ns >> to->shift) - to->first) + 1;
	g->first_ns = to->first << to->shift;
	g->last_ns = (last_ns >> to->shift << to->shift) + ((1ull << to->shift) - 1);
}

/* Finds the columns of lanes and of keys. */
static int find_columns(struct drawing *g, struct err *e)
{
	const struct table_query *q = g->q;
	bool by_cpu = g->to->by == LANES_CPU;
	const uint32_t keys[] = {TAG_KEY, by_cpu ? TAG_THREAD : TAG_CPU};
	size_t columns = q->table.column_count;

	if (column_of(q, by_cpu ? TAG_CPU : TAG_THREAD) == columns)
		return err_set(e, EINVAL,
			       "The table '%.100s' has no column that says which %s a row was on.",
			       q->table.name, by_cpu ? "CPU" : "thread");
	g->to->key = -1;
	for (size_t i = 0; i < ARRAY_LEN(keys) && g->to->key < 0; i++)
		if (column_of(q, keys[i]) < columns) {
			g->to->key = (int)column_of(q, keys[i]);
			g->key = keys[i];
		}
	return 0;
}

int table_lanes_make(const struct table_query *q, enum lanes_by by, uint64_t from_ns,
		     uint64_t to_ns, uint32_t cells, uint32_t limit, struct table_lanes *ret,
		     struct err *e)
{
	struct drawing g = {.q = q, .to = ret, .sel = q->sel, .limit = limit};
	int rc;

	*ret = (struct table_lanes){.by = by};
	rc = find_columns(&g, e);
	if (rc < 0)
		return rc;
	choose_cells(&g, from_ns, to_ns, cells);
	g.slots = by == LANES_CPU ? TABLE_LANE_OTHER_CPUS + 1 : q->d->profile.threads.len + 1;
	g.slot = xcalloc(g.slots, sizeof(*g.slot));
	g.kinds = xcalloc(CHUNK_ROWS_MAX, sizeof(*g.kinds));
	/* Thread 0 does not count: it stands for unknown threads. */
	rc = by == LANES_THREAD && q->d->profile.threads.len > limit + 1 ? TOO_MANY_LANES
									 : pass(&g, e);
	if (rc == TOO_MANY_LANES)
		rc = draw_busiest(&g, e);
	if (rc == 0)
		take_lanes(&g);
	sums_release(&g);
	free(g.slot);
	free(g.kinds);
	return rc;
}

void table_lanes_release(struct table_lanes *l)
{
	vec_release(&l->lanes);
	vec_release(&l->cells);
}
