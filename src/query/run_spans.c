#include "query/run_spans.h"

#include "base/number.h"
#include "base/parallel.h"
#include "profile/packed.h"
#include "profile/schema.h"
#include "query/run_cache.h"

#include <errno.h>

#define DECODE_THREADS_MAX 4u
#define BATCH_CHUNKS       16u /* read before they are decoded in parallel */

/* ---- rows ---- */

static void set_last(struct span_rows *s, const uint64_t *start_ns, const uint64_t *duration_ns)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct lane_span span = {duration_ns[i], start_ns[i], 0};
		uint64_t *last_ns = &s->last_ns[i / RUN_ROWS_BLOCK];

		if (i % RUN_ROWS_BLOCK == 0 || lane_last_ns(&span) > *last_ns)
			*last_ns = lane_last_ns(&span);
	}
}

static uint32_t *narrow(const uint64_t *values, size_t rows)
{
	uint32_t *ret = xcalloc(rows, sizeof(*ret));

	for (size_t i = 0; values && i < rows; i++)
		ret[i] = lane_number(values[i]);
	return ret;
}

/* A chunk without ends has spans without length. */
struct span_rows *span_rows_make(const struct chunk_columns *c)
{
	size_t blocks = (c->rows + RUN_ROWS_BLOCK - 1) / RUN_ROWS_BLOCK;
	struct span_rows *ret = xcalloc(1, sizeof(*ret) + blocks * sizeof(ret->last_ns[0]));
	uint64_t *start_ns = c->columns[0].values, *end_ns = chunk_column(c, TAG_END);
	CLEANUP(free_ptr) uint64_t *duration_ns = xcalloc(c->rows, sizeof(*duration_ns));
	CLEANUP(free_ptr) uint32_t *none = xcalloc(c->rows, sizeof(*none));
	CLEANUP(free_ptr) uint32_t *thread = narrow(chunk_column(c, TAG_THREAD), c->rows);
	CLEANUP(free_ptr) uint32_t *cpu = narrow(chunk_column(c, TAG_CPU), c->rows);
	struct sample_columns columns = {
		.rows = c->rows,
		.time_ns = start_ns,
		.weight = duration_ns,
		.address = chunk_column(c, TAG_KEY),
		.event = none,
		.thread = thread,
		.cpu = cpu,
	};

	for (size_t i = 0; end_ns && i < c->rows; i++)
		duration_ns[i] = end_ns[i] > start_ns[i] ? end_ns[i] - start_ns[i] : 0;
	ret->count = c->rows;
	set_last(ret, start_ns, duration_ns);
	ret->rows = run_rows_make(&columns, UINT32_MAX, UINT32_MAX);
	ret->bytes = sizeof(*ret) + blocks * sizeof(ret->last_ns[0]) + run_rows_bytes(ret->rows);
	return ret;
}

void span_rows_free(struct span_rows *s)
{
	if (s)
		run_rows_free(s->rows);
	free(s);
}

/* ---- what is kept ---- */

static void level_free(struct lane_level *l)
{
	if (l)
		lane_level_release(l);
	free(l);
}

void run_spans_free(struct run_spans *s)
{
	if (!s)
		return;
	for (int by = 0; by < LANES_BY_COUNT; by++)
		for (size_t i = 0; i < s->level_count[by]; i++)
			level_free(s->levels[by][i].level);
	span_rows_free(s->rows);
	free(s);
}

size_t run_spans_bytes(const struct run_spans *s)
{
	size_t bytes = sizeof(*s) + (s->rows ? s->rows->bytes : 0);

	for (int by = 0; by < LANES_BY_COUNT; by++)
		for (size_t i = 0; i < s->level_count[by]; i++)
			if (s->levels[by][i].level)
				bytes += lane_level_bytes(s->levels[by][i].level);
	return bytes;
}

/* ---- what is not read any more ---- */

/* Rows or a level that are kept: one of both is set. */
struct kept {
	uint64_t used;
	size_t bytes;
	struct span_rows **rows;
	struct lane_level **level;
};

typedef VEC(struct kept) kept_list;

static void list_kept(struct run_spans *s, kept_list *ret)
{
	if (s->rows)
		vec_push(ret, (struct kept){s->rows_used, s->rows->bytes, .rows = &s->rows});
	for (int by = 0; by < LANES_BY_COUNT; by++)
		for (size_t i = 0; i < s->level_count[by]; i++) {
			struct kept_level *l = &s->levels[by][i];

			if (l->level)
				vec_push(ret, (struct kept){l->used, lane_level_bytes(l->level),
							    .level = &l->level});
		}
}

static int by_used(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

void run_spans_trim(struct run_data *d)
{
	kept_list kept = {};
	size_t freed = 0;

	vec_each(&d->chunks, chunk)
		if (chunk->spans)
			list_kept(chunk->spans, &kept);
	if (kept.len)
		qsort(kept.items, kept.len, sizeof(*kept.items), by_used);
	vec_each(&kept, k) {
		if (d->rows_bytes - freed <= d->rows_bytes_max / 2)
			break;
		freed += k->bytes;
		if (k->rows) {
			span_rows_free(*k->rows);
			*k->rows = NULL;
		} else {
			level_free(*k->level);
			*k->level = NULL;
		}
	}
	__atomic_sub_fetch(&d->bytes, freed, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&d->rows_bytes, freed, __ATOMIC_RELAXED);
	vec_release(&kept);
}

/* ---- reading ---- */

/* A chunk that is being visited. What it has found is that of the run, or its own. */
struct job {
	struct run_chunk *chunk;
	struct run_spans *spans;
	bool totals; /* are wanted, and the chunk lies in the window as a whole */
	struct buf bytes;
	struct chunk_piece part; /* of the bytes: the level; its size is 0 if rows are wanted */
	struct spans_found found;
	struct kept_level *kept_level; /* where the level is kept */
	struct lane_level *own_level;
	struct span_rows *own_rows;
	struct err e;
	int rc;
};

struct batch {
	struct run_data *d;
	struct store *s;
	const struct spans_wanted *wanted;
	struct job jobs[BATCH_CHUNKS];
	size_t count;
};

static void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->count; i++) {
		buf_release(&b->jobs[i].bytes);
		level_free(b->jobs[i].own_level);
		span_rows_free(b->jobs[i].own_rows);
		b->jobs[i] = (struct job){};
	}
	b->count = 0;
}

static void count_bytes(struct run_data *d, size_t bytes)
{
	__atomic_add_fetch(&d->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_add_fetch(&d->rows_bytes, bytes, __ATOMIC_RELAXED);
}

static bool has_room(const struct run_data *d)
{
	return __atomic_load_n(&d->rows_bytes, __ATOMIC_RELAXED) < d->rows_bytes_max;
}

/* Which levels a summary has. One that makes no sense has none: its rows are read. */
static void list_levels(struct run_spans *s, const struct buf *summary)
{
	struct chunk_piece part;
	struct lane_level head;

	for (size_t n = 0; summary_part(buf_str(summary), summary->len, PACKED_LANES, n, &part);
	     n++) {
		size_t at;

		if (lane_level_peek(part.bytes, part.size, &head, NULL) < 0 ||
		    s->level_count[head.by] == LANES_LEVELS_MAX)
			continue;
		at = s->level_count[head.by]++;
		s->levels[head.by][at].shift = head.shift;
		s->levels[head.by][at].key = head.key;
	}
}

/* What is known of a chunk. Its levels are listed by the first question, from the summary, which *summary
 * has then. */
static int find_spans(struct batch *b, struct job *j, struct buf *summary, struct err *e)
{
	struct run_spans *made, *known = __atomic_load_n(&j->chunk->spans, __ATOMIC_ACQUIRE);
	int rc = 0;

	j->spans = known;
	if (known)
		return 0;
	if (j->chunk->stored.merged)
		rc = run_chunk_read(b->s, j->chunk, NULL, summary, e);
	if (rc < 0)
		return rc;
	made = xcalloc(1, sizeof(*made));
	list_levels(made, summary);
	if (__atomic_compare_exchange_n(&j->chunk->spans, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		j->spans = made;
		count_bytes(b->d, sizeof(*made));
		return 0;
	}
	free(made);
	j->spans = known;
	return 0;
}

/* The level with the widest cells up to 2^@shift ns, only among those in memory if @kept. */
static struct kept_level *widest(const struct spans_wanted *w, struct run_spans *s, unsigned shift,
				 bool kept)
{
	for (size_t i = 0; i < s->level_count[w->by]; i++) {
		struct kept_level *l = &s->levels[w->by][i];

		if (l->shift <= shift && l->key == w->key &&
		    (!kept || __atomic_load_n(&l->level, __ATOMIC_ACQUIRE)))
			return l;
	}
	return NULL;
}

/* For totals any level of a whole chunk will do: one that need not be read, or else the one that cells are
 * going to be read from. */
static struct kept_level *choose_level(const struct spans_wanted *w, const struct job *j)
{
	struct kept_level *ret = NULL;

	if (j->totals)
		ret = widest(w, j->spans, 63, true);
	if (!ret)
		ret = widest(w, j->spans, w->shift, false);
	return ret || !j->totals ? ret : widest(w, j->spans, 63, false);
}

/* Sets the part of the summary that has a level; leaves it empty if there is none. */
static void find_part(enum lanes_by by, unsigned shift, const struct buf *summary,
		      struct chunk_piece *ret)
{
	struct chunk_piece part;
	struct lane_level head;

	for (size_t n = 0; summary_part(buf_str(summary), summary->len, PACKED_LANES, n, &part);
	     n++)
		if (lane_level_peek(part.bytes, part.size, &head, NULL) == 0 && head.by == by &&
		    head.shift == shift) {
			*ret = part;
			return;
		}
}

/* Finds a level that will do, in memory or in the summary. False: there is none. */
static bool find_level(const struct spans_wanted *w, struct job *j, const struct buf *summary)
{
	if (!j->kept_level)
		j->kept_level = choose_level(w, j);
	if (!j->kept_level)
		return false;
	j->found.level = __atomic_load_n(&j->kept_level->level, __ATOMIC_ACQUIRE);
	if (!j->found.level)
		find_part(w->by, j->kept_level->shift, summary, &j->part);
	return true;
}

static int read_job(struct batch *b, struct job *j, struct err *e)
{
	int rc = find_spans(b, j, &j->bytes, e);
	bool level;

	if (rc < 0)
		return rc;
	level = !b->wanted->rows_only && find_level(b->wanted, j, &j->bytes);
	/* The summary was not read just now. */
	if (level && !j->found.level && !j->part.size) {
		rc = run_chunk_read(b->s, j->chunk, NULL, &j->bytes, e);
		if (rc == 0)
			find_level(b->wanted, j, &j->bytes);
	}
	if (rc < 0)
		return rc;
	__atomic_store_n(level ? &j->kept_level->used : &j->spans->rows_used,
			 __atomic_load_n(&b->d->used, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	if (level)
		return 0;
	j->found.rows = __atomic_load_n(&j->spans->rows, __ATOMIC_ACQUIRE);
	buf_clear(&j->bytes);
	return j->found.rows ? 0 : run_chunk_read(b->s, j->chunk, &j->bytes, NULL, e);
}

/* ---- decoding ---- */

static void decode_level(struct batch *b, struct job *j)
{
	struct lane_level *made = xcalloc(1, sizeof(*made)), *known = NULL;

	j->rc = lane_level_decode(j->part.bytes, j->part.size, made, &j->e);
	j->own_level = made;
	j->found.level = made;
	if (j->rc < 0 || !has_room(b->d))
		return;
	if (__atomic_compare_exchange_n(&j->kept_level->level, &known, made, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		j->own_level = NULL;
		count_bytes(b->d, lane_level_bytes(made));
	}
}

static void decode_rows(struct batch *b, struct job *j)
{
	static const uint32_t wanted[] = {TAG_END, TAG_CPU, TAG_THREAD, TAG_KEY, 0};
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct span_rows *known = NULL;

	j->rc = chunk_decode(buf_str(&j->bytes), j->bytes.len, wanted, c, &j->e);
	if (j->rc == 0)
		j->found.rows = j->own_rows = span_rows_make(c);
	chunk_columns_release(c);
	free(c);
	if (j->rc < 0 || !has_room(b->d))
		return;
	if (__atomic_compare_exchange_n(&j->spans->rows, &known, j->own_rows, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		count_bytes(b->d, j->own_rows->bytes);
		j->own_rows = NULL;
	}
}

static void decode_job(void *ctx, size_t item, unsigned thread)
{
	struct batch *b = ctx;
	struct job *j = &b->jobs[item];

	(void)thread;
	if (j->found.level || j->found.rows)
		return;
	if (j->part.size)
		decode_level(b, j);
	else
		decode_rows(b, j);
	buf_release(&j->bytes);
}

static bool all_found(const struct batch *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (!b->jobs[i].found.level && !b->jobs[i].found.rows)
			return false;
	return true;
}

static int visit_batch(struct batch *b, spans_visitor visit, void *ctx, struct err *e)
{
	int rc = 0;

	if (!all_found(b))
		parallel_each(b->count, parallel_cpus(DECODE_THREADS_MAX), decode_job, b);
	for (size_t i = 0; i < b->count && rc == 0; i++)
		rc = b->jobs[i].rc < 0 ? run_chunk_failed(b->s, b->jobs[i].chunk, b->jobs[i].rc,
							  &b->jobs[i].e, e)
				       : visit(ctx, &b->jobs[i].found);
	batch_clear(b);
	return rc;
}

int run_spans_each(struct run_data *d, struct store *s, uint32_t schema, uint64_t from_ns,
		   uint64_t last_ns, const struct spans_wanted *wanted, spans_visitor visit,
		   void *ctx, struct err *e)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	int rc = 0;

	/* Columns that this question does not need make room for its spans: see run_data_renew(). */
	__atomic_add_fetch(&d->table_questions, 1, __ATOMIC_RELAXED);
	b->d = d;
	b->s = s;
	b->wanted = wanted;
	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];
		const struct chunk_info *info = &c->stored.info;

		if (info->schema != schema || info->first_ns > last_ns || info->last_ns < from_ns)
			continue;
		b->jobs[b->count] = (struct job){
			.chunk = c,
			.totals = wanted->totals && info->first_ns >= from_ns &&
				  info->last_ns <= last_ns,
		};
		rc = read_job(b, &b->jobs[b->count++], e);
		if (rc == 0 && b->count == BATCH_CHUNKS)
			rc = visit_batch(b, visit, ctx, e);
	}
	if (rc == 0)
		rc = visit_batch(b, visit, ctx, e);
	batch_clear(b);
	free(b);
	return rc;
}
