/* Chunks of a run as selections see them: read, decoded side by side, kept, visited. */
#include "server/selection_internal.h"
#include "base/parallel.h"

#include <errno.h>

#define DECODE_THREADS_MAX 4u
#define BATCH_CHUNKS       32u /* read before they are decoded side by side */
#define BATCH_ROWS_CHUNKS  8u  /* the same where all rows are wanted: they take more memory */

/* ---- reading ---- */

/* A chunk of a batch on its way from the store to what is decoded of it. */
struct job {
	struct run_chunk *chunk;
	struct buf bytes; /* of its summary if that is enough, else of itself */
	bool summary;
	const struct run_rows *rows; /* NULL: there is no room for them, see columns */
	struct sample_columns columns;
	struct err e;
	int rc;
};

struct batch {
	struct run_data *d;
	struct job jobs[BATCH_CHUNKS];
	size_t count;
	struct node_scratch scratch[DECODE_THREADS_MAX];
};

static int read_job(struct job *j, struct store *s, struct err *e)
{
	int rc = store_chunk_read(s, j->chunk->stored.id, j->summary ? NULL : &j->bytes,
				  j->summary ? &j->bytes : NULL, e);

	/* Merged meanwhile: it is in another one now. */
	return rc == -ENOENT ? -ESTALE : rc;
}

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		buf_release(&b->jobs[i].bytes);
		sample_columns_release(&b->jobs[i].columns);
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
			return err_set(e, -b->jobs[i].rc, "%s", b->jobs[i].e.text);
	return 0;
}

static void decode_histogram(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];
	struct node_histogram *made, *known = NULL;
	struct sample_columns columns = {};
	struct histogram h = {};

	if (j->summary) {
		j->rc = histogram_decode(buf_str(&j->bytes), j->bytes.len, &h, &j->e);
	} else {
		j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &columns, &j->e);
		if (j->rc == 0)
			histogram_make(&columns, &h);
		sample_columns_release(&columns);
	}
	if (j->rc < 0)
		return;
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

/* What was decoded once is kept, as long as there is room. */
static void keep_rows(struct run_data *d, struct job *j)
{
	struct run_rows *made, *known = NULL;

	if (__atomic_load_n(&d->rows_bytes, __ATOMIC_RELAXED) >= d->rows_bytes_max)
		return;
	made = run_rows_make(&j->columns, (uint32_t)d->profile.events.len,
			     (uint32_t)d->profile.threads.len);
	sample_columns_release(&j->columns);
	if (__atomic_compare_exchange_n(&j->chunk->rows, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, run_rows_bytes(made), __ATOMIC_RELAXED);
		__atomic_add_fetch(&d->rows_bytes, run_rows_bytes(made), __ATOMIC_RELAXED);
		j->rows = made;
		return;
	}
	run_rows_free(made);
	j->rows = known;
}

static void decode_columns(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];

	(void)thread;
	if (j->rows)
		return;
	j->rc = chunk_decode_samples(buf_str(&j->bytes), j->bytes.len, &j->columns, &j->e);
	if (j->rc == 0)
		keep_rows(b->d, j);
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
	return c->stored.info.kind == CHUNK_SAMPLES && c->stored.info.last_ns >= sel->from_ns &&
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

/* First row at or behind a time. */
static size_t row_at(const struct sample_columns *c, uint64_t ns)
{
	size_t low = 0, high = c->rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->time_ns[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Numbers of a chunk may be anything; what is looked up by them is in the tables. */
static void check_numbers(const struct run_data *d, struct sample_columns *c)
{
	for (size_t i = 0; i < c->rows; i++) {
		if (c->thread[i] >= d->profile.threads.len)
			c->thread[i] = 0;
		if (c->event[i] >= d->profile.events.len)
			c->event[i] = 0;
	}
}

static int visit_kept(const struct selection *sel, const struct run_rows *rows,
		      selection_visitor visit, selection_kept kept, void *ctx)
{
	size_t at = run_rows_at(rows, sel->from_ns), to = run_rows_at(rows, sel->to_ns);
	struct row_block block;
	int rc = 0;

	if (kept) {
		if (at < to)
			kept(ctx, rows, at, to);
		return 0;
	}
	while (at < to && rc == 0) {
		size_t count = run_rows_block(rows, at, to, &block);

		rc = visit(ctx, &block.columns, 0, count);
		at += count;
	}
	return rc;
}

static int visit_batch(const struct selection *sel, struct batch *b, selection_visitor visit,
		       selection_kept kept, void *ctx, struct err *e)
{
	int rc = all_known(b) ? 0 : batch_decode(b, decode_columns, e);

	for (size_t i = 0; i < b->count && rc == 0; i++) {
		struct sample_columns *c = &b->jobs[i].columns;
		size_t from, to;

		if (b->jobs[i].rows) {
			rc = visit_kept(sel, b->jobs[i].rows, visit, kept, ctx);
			continue;
		}
		from = row_at(c, sel->from_ns);
		to = row_at(c, sel->to_ns);
		check_numbers(b->d, c);
		if (from < to)
			rc = visit(ctx, c, from, to);
	}
	batch_clear(b);
	return rc;
}

int selection_rows(const struct selection *sel, struct run_data *d, struct store *s, bool edges,
		   selection_visitor visit, selection_kept kept, void *ctx, struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];

		if (!selection_touches(sel, c) || (edges && selection_whole(sel, c)))
			continue;
		b->jobs[b->count] = (struct job){.chunk = c, .rows = rows_of(c)};
		if (!b->jobs[b->count].rows)
			rc = read_job(&b->jobs[b->count], s, e);
		b->count++;
		if (rc == 0 && b->count == BATCH_ROWS_CHUNKS)
			rc = visit_batch(sel, b, visit, kept, ctx, e);
	}
	if (rc == 0)
		rc = visit_batch(sel, b, visit, kept, ctx, e);
	batch_release(b);
	free(b);
	return rc;
}

int selection_each(const struct selection *sel, struct run_data *d, struct store *s,
		   selection_visitor visit, void *ctx, struct err *e)
{
	return selection_rows(sel, d, s, false, visit, NULL, ctx, e);
}

int selection_chunk(const struct selection *sel, struct run_data *d, struct store *s,
		    struct run_chunk *c, selection_visitor visit, void *ctx, struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	b->d = d;
	b->jobs[0] = (struct job){.chunk = c, .rows = rows_of(c)};
	b->count = 1;
	if (!b->jobs[0].rows)
		rc = read_job(&b->jobs[0], s, e);
	if (rc == 0)
		rc = visit_batch(sel, b, visit, NULL, ctx, e);
	batch_release(b);
	free(b);
	return rc;
}

int selection_summary(struct store *s, struct run_chunk *c, struct histogram *ret, struct err *e)
{
	struct job j = {.chunk = c, .summary = true};
	int rc = read_job(&j, s, e);

	if (rc == 0)
		rc = histogram_decode(buf_str(&j.bytes), j.bytes.len, ret, e);
	buf_release(&j.bytes);
	return rc;
}
