#include "query/row_walk.h"
#include "base/number.h"
#include "profile/schema.h"
#include "profile/spans.h"

#include <errno.h>

#define SOURCE 0 /* runs have one collector */

/* Columns that selections are about; decoded whether the visitor reads them or not. */
enum { BY_END, BY_EVENT, BY_THREAD, BY_CPU, BY_STACK, BY_COUNT };
static const uint32_t select_tags[BY_COUNT] = {TAG_END, TAG_EVENT, TAG_THREAD, TAG_CPU, TAG_STACK};

/* A chunk that is being read. */
struct open_chunk {
	struct chunk_columns columns;
	uint64_t order; /* of chunks whose next rows have the same time */
	size_t at;
	const uint64_t *select[BY_COUNT];
	const uint64_t *values[]; /* by number in row_walk.tags */
};

struct walk {
	const struct row_walk *how;
	size_t tag_count;
	VEC(uint32_t) wanted; /* how->tags and select_tags, ended by 0 */
	stored_chunks chunks; /* by first_ns */
	size_t next;
	VEC(struct open_chunk *) heap; /* the chunk with the oldest next row first */
};

/* ---- chunks ---- */

int row_walk_chunks(const struct row_walk *w, stored_chunks *ret, struct err *e)
{
	struct chunk_query which = w->which;

	which.from_ns = w->sel->from_ns;
	which.to_ns = w->sel->to_ns == UINT64_MAX ? 0 : w->sel->to_ns;
	return store_chunks(w->store, w->run, &which, ret, e);
}

static int read_chunk(struct walk *w, const struct stored_chunk *chunk, struct chunk_columns *ret,
		      struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = {};
	int rc = store_chunk_read(w->how->store, chunk, &bytes, NULL, e);

	if (rc == 0)
		rc = store_chunk_name(
			w->how->store, chunk,
			chunk_decode(buf_str(&bytes), bytes.len, w->wanted.items, ret, e), e);
	return rc == -ENOENT ? -ESTALE : rc;
}

static void close_chunk(struct open_chunk *o)
{
	chunk_columns_release(&o->columns);
	free(o);
}

/* ---- the heap ---- */

static uint64_t next_time(const struct open_chunk *o)
{
	return o->columns.columns[0].values[o->at];
}

static bool is_before(const struct open_chunk *a, const struct open_chunk *b)
{
	uint64_t time_a = next_time(a), time_b = next_time(b);

	return time_a != time_b ? time_a < time_b : a->order < b->order;
}

static void sift_up(struct walk *w, size_t at)
{
	struct open_chunk **heap = w->heap.items, *moved = heap[at];

	for (; at && is_before(moved, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moved;
}

/* Puts the first chunk, whose next row is a later one now, where it belongs. */
static void sift_down(struct walk *w)
{
	struct open_chunk **heap = w->heap.items, *moved = heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < w->heap.len) {
		if (child + 1 < w->heap.len && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static int open_next(struct walk *w, struct err *e)
{
	size_t number = w->next++;
	const struct stored_chunk *chunk = &w->chunks.items[number];
	struct open_chunk *o;
	int rc;

	if (chunk->source != SOURCE)
		return 0;
	o = xcalloc(1, sizeof(*o) + w->tag_count * sizeof(o->values[0]));
	rc = read_chunk(w, chunk, &o->columns, e);
	if (rc < 0) {
		free(o);
		return rc;
	}
	o->order = (uint64_t)chunk->info.partition << 32 | number;
	for (size_t i = 0; i < BY_COUNT; i++)
		o->select[i] = chunk_column(&o->columns, select_tags[i]);
	for (size_t i = 0; i < w->tag_count; i++)
		o->values[i] = chunk_column(&o->columns, w->how->tags[i]);
	vec_push(&w->heap, o);
	sift_up(w, w->heap.len - 1);
	return 0;
}

/* Opens all chunks that may have a row that is older than the first one of the heap. */
static int fill(struct walk *w, struct err *e)
{
	int rc = 0;

	while (rc == 0 && w->next < w->chunks.len &&
	       (!w->heap.len ||
		w->chunks.items[w->next].info.first_ns <= next_time(w->heap.items[0])))
		rc = open_next(w, e);
	return rc;
}

static void advance(struct walk *w)
{
	struct open_chunk *o = w->heap.items[0];

	if (++o->at == o->columns.rows) {
		w->heap.items[0] = w->heap.items[--w->heap.len];
		close_chunk(o);
	}
	if (w->heap.len)
		sift_down(w);
}

/* ---- rows ---- */

static uint64_t value_of(const struct open_chunk *o, int by)
{
	return o->select[by] ? o->select[by][o->at] : 0;
}

static bool is_selected(const struct walk *w, const struct open_chunk *o)
{
	const struct selection *sel = w->how->sel;
	uint64_t start = next_time(o), end = o->select[BY_END] ? value_of(o, BY_END) : start;

	if (!span_in_window(start, end, sel->from_ns, sel->to_ns))
		return false;
	return w->how->any_thread || (selection_has_event(sel, value_of(o, BY_EVENT)) &&
				      selection_has_thread(sel, value_of(o, BY_THREAD)) &&
				      selection_has_cpu(sel, value_of(o, BY_CPU)) &&
				      selection_detached_has_stack(sel, value_of(o, BY_STACK)));
}

static int visit_first(struct walk *w, row_visit *visit, void *ctx)
{
	const struct open_chunk *o = w->heap.items[0];
	struct walked_row row = {
		.info = &o->columns.info,
		.time_ns = next_time(o),
		.values = o->values,
		.at = o->at,
	};

	return is_selected(w, o) ? visit(ctx, &row) : 0;
}

int row_walk_each(const struct row_walk *how, row_visit *visit, void *ctx, struct err *e)
{
	struct walk w = {.how = how};
	int rc;

	for (; how->tags[w.tag_count]; w.tag_count++)
		vec_push(&w.wanted, how->tags[w.tag_count]);
	for (size_t i = 0; i < BY_COUNT; i++)
		vec_push(&w.wanted, select_tags[i]);
	vec_push(&w.wanted, 0);
	rc = row_walk_chunks(how, &w.chunks, e);
	while (rc == 0) {
		rc = fill(&w, e);
		if (rc < 0 || !w.heap.len)
			break;
		rc = visit_first(&w, visit, ctx);
		advance(&w);
	}
	vec_each(&w.heap, o)
		close_chunk(*o);
	vec_release(&w.heap);
	vec_release(&w.wanted);
	vec_release(&w.chunks);
	return rc;
}
