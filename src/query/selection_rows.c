/* Reads the chunks of a selection, decodes them in parallel, keeps and visits their rows. */
#include "query/selection_internal.h"
#include "base/number.h"
#include "base/parallel.h"
#include "profile/packed.h"
#include "profile/summary.h"

#include <errno.h>

#define DECODE_THREADS_MAX 4u
#define BATCH_CHUNKS       32u /* read before they are decoded in parallel */
#define BATCH_ROWS_CHUNKS  8u  /* the same where all rows are wanted: they take more memory */

/* ---- reading ---- */

/* Reads and decodes one chunk of a batch. */
struct job {
	struct run_chunk *chunk;
	struct buf bytes; /* of the summary if `summary`, else of the chunk */
	bool summary;
	const struct run_rows *rows;
	struct run_rows *own; /* the same as `rows`, if there was no room to keep them */
	struct err e;
	int rc;
};

struct batch {
	struct run_data *d;
	struct store *s;
	struct job jobs[BATCH_CHUNKS];
	size_t count;
	struct node_scratch scratch[DECODE_THREADS_MAX];
};

static int read_job(struct job *j, struct store *s, struct err *e)
{
	return run_chunk_read(s, j->chunk, j->summary ? NULL : &j->bytes,
			      j->summary ? &j->bytes : NULL, e);
}

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		buf_release(&b->jobs[i].bytes);
		run_rows_free(b->jobs[i].own);
		b->jobs[i] = (struct job){};
	}
	b->count = 0;
}

static void batch_release(struct batch *b)
{
	batch_clear(b);
	for (size_t i = 0; i < DECODE_THREADS_MAX; i++)
		node_scratch_release(&b->scratch[i]);
}

static int batch_error(const struct batch *b, struct err *e)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->jobs[i].rc < 0)
			return run_chunk_failed(b->s, b->jobs[i].chunk, b->jobs[i].rc,
						&b->jobs[i].e, e);
	return 0;
}

/* Whoever counts by event relies on this. Threads and stacks that are not in the tables are number 0. */
static int check_events(const struct run_data *d, const uint32_t *event, size_t count,
			struct err *e)
{
	size_t events = d->profile.events.len;

	for (size_t i = 0; i < count; i++)
		if (event[i] >= events)
			return err_set(e, EBADMSG,
				       "it has a sample of event number %u, and the run has %zu "
				       "events",
				       event[i], events);
	return 0;
}

/* Summaries of spans have other parts, too. One without a histogram of all rows is refused as damaged. */
static int decode_summary(const struct job *j, struct histogram *ret, struct err *e)
{
	struct chunk_piece part = {"", 0};
	uint64_t samples = 0;
	int rc;

	summary_part(buf_str(&j->bytes), j->bytes.len, PACKED_HISTOGRAM, 0, &part);
	rc = histogram_decode(part.bytes, part.size, ret, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ret->len; i++)
		samples += ret->samples[i];
	if (samples == j->chunk->stored.info.rows)
		return 0;
	histogram_release(ret);
	return err_set(e, EBADMSG, "the stored histogram is not that of its chunk");
}

static void decode_histogram(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];
	struct node_histogram *made, *known = NULL;
	struct sample_columns columns = {};
	struct histogram h = {};

	if (j->summary) {
		j->rc = decode_summary(j, &h, &j->e);
	} else {
		j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &columns, &j->e);
		if (j->rc == 0)
			histogram_make(&columns, &h);
		sample_columns_release(&columns);
	}
	if (j->rc == 0)
		j->rc = check_events(b->d, h.event, h.len, &j->e);
	if (j->rc < 0) {
		histogram_release(&h);
		return;
	}
	made = xcalloc(1, sizeof(*made));
	node_histogram_make(made, &h, &b->d->paths, &b->scratch[thread]);
	histogram_release(&h);
	if (__atomic_compare_exchange_n(&j->chunk->nodes, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&b->d->bytes, node_histogram_bytes(made), __ATOMIC_RELAXED);
		return;
	}
	node_histogram_release(made);
	free(made);
}

static const struct run_rows *rows_of(const struct run_chunk *c)
{
	return __atomic_load_n(&c->rows, __ATOMIC_ACQUIRE);
}

/* Keeps decoded rows for later queries, as long as there is room. */
static void keep_rows(struct run_data *d, struct job *j, struct run_rows *made)
{
	struct run_rows *known = NULL;

	j->rows = made;
	if (__atomic_load_n(&d->rows_bytes, __ATOMIC_RELAXED) >= d->rows_bytes_max) {
		j->own = made;
		return;
	}
	if (__atomic_compare_exchange_n(&j->chunk->rows, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, run_rows_bytes(made), __ATOMIC_RELAXED);
		__atomic_add_fetch(&d->rows_bytes, run_rows_bytes(made), __ATOMIC_RELAXED);
		return;
	}
	run_rows_free(made);
	j->rows = known;
}

static void decode_rows(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];
	struct sample_columns columns;

	(void)thread;
	if (j->rows)
		return;
	j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &columns, &j->e);
	if (j->rc < 0)
		return;
	j->rc = check_events(b->d, columns.event, columns.rows, &j->e);
	if (j->rc == 0)
		keep_rows(b->d, j,
			  run_rows_make(&columns, (uint32_t)b->d->profile.events.len,
					(uint32_t)b->d->profile.threads.len));
	sample_columns_release(&columns);
}

static bool all_known(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (!b->jobs[i].rows)
			return false;
	return true;
}

static int batch_decode(struct batch *b, void (*work)(void *, size_t, unsigned), struct err *e)
{
	parallel_each(b->count, parallel_cpus(DECODE_THREADS_MAX), work, b);
	return batch_error(b, e);
}

/* ---- windows ---- */

bool selection_touches(const struct selection *sel, const struct run_chunk *c)
{
	return c->stored.info.sampled && c->stored.info.last_ns >= sel->from_ns &&
	       c->stored.info.first_ns < sel->to_ns;
}

bool selection_whole(const struct selection *sel, const struct run_chunk *c)
{
	return !sel->cpus && c->stored.info.first_ns >= sel->from_ns &&
	       c->stored.info.last_ns < sel->to_ns;
}

const struct node_histogram *selection_nodes(const struct run_chunk *c)
{
	return __atomic_load_n(&c->nodes, __ATOMIC_ACQUIRE);
}

int selection_histograms(const struct selection *sel, struct run_data *d, struct store *s,
			 struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	b->s = s;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];
		struct job *j = &b->jobs[b->count];

		if (!selection_touches(sel, c) || !selection_whole(sel, c) || selection_nodes(c))
			continue;
		*j = (struct job){.chunk = c, .summary = c->stored.merged};
		rc = read_job(j, s, e);
		b->count++;
		if (rc == 0 && b->count == BATCH_CHUNKS) {
			rc = batch_decode(b, decode_histogram, e);
			batch_clear(b);
		}
	}
	if (rc == 0)
		rc = batch_decode(b, decode_histogram, e);
	batch_release(b);
	free(b);
	return rc;
}

/* ---- visiting ---- */

/* State of passing rows to a visitor. */
struct visit {
	const struct selection *sel;
	const struct call_paths *paths;
	const struct row_visitor *visitor;
	selection_kept kept;
	bool *wanted; /* by kind of the chunk */
	size_t room;
	struct row_block block;
};

/* Sets *ret to the selected kinds of rows, or to NULL if all are. Returns false if none is. */
static bool choose_kinds(struct visit *v, const struct run_rows *rows, const bool **ret)
{
	const struct selection *sel = v->sel;
	const struct row_kind *kinds;
	size_t count = run_rows_kinds(rows, &kinds), found = 0;

	if (v->room < count) {
		v->wanted = xrealloc(v->wanted, count, sizeof(*v->wanted));
		v->room = count;
	}
	for (size_t i = 0; i < count; i++) {
		const struct row_kind *k = &kinds[i];

		v->wanted[i] = (v->visitor->event < 0 || v->visitor->event == k->event) &&
			       selection_has_thread(sel, k->thread) &&
			       selection_has_cpu(sel, k->cpu);
		found += v->wanted[i];
	}
	*ret = found < count ? v->wanted : NULL;
	return found > 0;
}

/* Removes rows that the filter on functions excludes. Columns not asked for are NULL. */
static void choose_nodes(const struct visit *v, struct sample_columns *c)
{
	bool meant[RUN_ROWS_BLOCK];
	size_t kept = 0;

	/* Look up all rows first: so the CPU need not wait for one lookup after the other. */
	for (size_t i = 0; i < c->rows; i++)
		meant[i] = selection_has_stack(v->sel, v->paths, c->stack[i]);
	for (size_t i = 0; i < c->rows; i++) {
		if (!meant[i])
			continue;
		c->stack[kept] = c->stack[i];
		if (c->time_ns)
			c->time_ns[kept] = c->time_ns[i];
		if (c->weight)
			c->weight[kept] = c->weight[i];
		if (c->address)
			c->address[kept] = c->address[i];
		if (c->event) {
			c->event[kept] = c->event[i];
			c->thread[kept] = c->thread[i];
			c->cpu[kept] = c->cpu[i];
		}
		kept++;
	}
	c->rows = kept;
}

static void visit_rows(struct visit *v, const struct run_rows *rows)
{
	size_t at = run_rows_at(rows, v->sel->from_ns), to = run_rows_at(rows, v->sel->to_ns);
	const bool *wanted;

	if (at >= to || !choose_kinds(v, rows, &wanted))
		return;
	if (v->kept && v->kept(v->visitor->ctx, rows, at, to, wanted))
		return;
	while (at < to) {
		at += run_rows_block(rows, at, to, wanted, v->visitor->columns, &v->block);
		if (v->sel->nodes)
			choose_nodes(v, &v->block.columns);
		if (v->block.columns.rows)
			v->visitor->visit(v->visitor->ctx, &v->block.columns);
	}
}

static int visit_batch(struct visit *v, struct batch *b, struct err *e)
{
	int rc = all_known(b) ? 0 : batch_decode(b, decode_rows, e);

	for (size_t i = 0; i < b->count && rc == 0; i++)
		visit_rows(v, b->jobs[i].rows);
	batch_clear(b);
	return rc;
}

static int add_job(struct batch *b, struct run_chunk *c, struct store *s, struct err *e)
{
	struct job *j = &b->jobs[b->count++];

	*j = (struct job){.chunk = c, .rows = rows_of(c)};
	return j->rows ? 0 : read_job(j, s, e);
}

/* @only NULL: all chunks of the run. */
static int visit_chunks(const struct selection *sel, struct run_data *d, struct store *s,
			const struct run_chunk *only, bool edges, const struct row_visitor *visitor,
			selection_kept kept, struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	struct visit *v = xcalloc(1, sizeof(*v));
	int rc = 0;

	b->d = d;
	b->s = s;
	v->sel = sel;
	v->paths = &d->paths;
	v->visitor = visitor;
	v->kept = kept;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];

		if ((only && c != only) || !selection_touches(sel, c) ||
		    (edges && selection_whole(sel, c)))
			continue;
		rc = add_job(b, c, s, e);
		if (rc == 0 && b->count == BATCH_ROWS_CHUNKS)
			rc = visit_batch(v, b, e);
	}
	if (rc == 0)
		rc = visit_batch(v, b, e);
	batch_release(b);
	free(b);
	free(v->wanted);
	free(v);
	return rc;
}

int selection_rows(const struct selection *sel, struct run_data *d, struct store *s, bool edges,
		   const struct row_visitor *visitor, selection_kept kept, struct err *e)
{
	return visit_chunks(sel, d, s, NULL, edges, visitor, kept, e);
}

int selection_each(const struct selection *sel, struct run_data *d, struct store *s,
		   const struct row_visitor *visitor, struct err *e)
{
	return visit_chunks(sel, d, s, NULL, false, visitor, NULL, e);
}

int selection_chunk(const struct selection *sel, struct run_data *d, struct store *s,
		    struct run_chunk *c, const struct row_visitor *visitor, struct err *e)
{
	return visit_chunks(sel, d, s, c, false, visitor, NULL, e);
}

int selection_summary(struct store *s, struct run_chunk *c, struct histogram *ret, struct err *e)
{
	struct job j = {.chunk = c, .summary = true};
	int rc = read_job(&j, s, e);

	if (rc == 0)
		rc = store_chunk_name(s, &c->stored, decode_summary(&j, ret, e), e);
	buf_release(&j.bytes);
	return rc;
}
