#include "runs/tidy_run.h"
#include "base/clock.h"
#include "profile/dictionary.h"
#include "profile/summary.h"

#include <errno.h>

/* Chunks listed at once; more are listed after these are done. */
#define CANDIDATES_MAX 200000u

void tidy_run_release(struct tidy_run *t)
{
	vec_release(&t->damaged);
	vec_release(&t->todo);
}

/* ---- chunks ---- */

/* Chunks that are to become one, and their bytes. */
struct merge {
	VEC(int64_t) ids;
	VEC(const struct stored_chunk *) chunks; /* the same, in the list */
	VEC(size_t) sizes;
	struct buf bytes;
	uint64_t rows;
	uint32_t source;
	bool whole; /* the result gets a summary and is not merged again */
};

static void merge_release(struct merge *m)
{
	vec_release(&m->ids);
	vec_release(&m->chunks);
	vec_release(&m->sizes);
	buf_release(&m->bytes);
}

static bool is_damaged(const struct tidy_run *t, int64_t id)
{
	vec_each(&t->damaged, known) {
		if (*known == id)
			return true;
	}
	return false;
}

static bool same_table(const struct stored_chunk *a, const struct stored_chunk *b)
{
	return a->source == b->source && a->info.schema == b->info.schema &&
	       a->info.sampled == b->info.sampled && a->info.partition == b->info.partition;
}

/* Chooses the next chunks of one table, as many as one chunk can hold. Returns false if there are
 * too few to merge. */
static bool choose(struct tidy_run *t, bool ended, struct merge *m)
{
	const struct stored_chunk *first = &t->todo.items[t->at];
	bool full = false;

	for (; t->at < t->todo.len && same_table(first, &t->todo.items[t->at]); t->at++) {
		const struct stored_chunk *c = &t->todo.items[t->at];

		if (is_damaged(t, c->id))
			continue;
		full = m->rows + c->info.rows > CHUNK_ROWS_MAX;
		if (full)
			break;
		vec_push(&m->ids, c->id);
		vec_push(&m->chunks, c);
		m->rows += c->info.rows;
	}
	m->source = first->source;
	m->whole = full || m->rows == CHUNK_ROWS_MAX || ended;
	return m->ids.len && (m->whole || m->ids.len >= TIDY_CHUNKS_MAX);
}

/* A chunk that is not what the database says of it is damaged: choose() leaves it out from now on. */
static int read_all(struct tidy_run *t, struct store *s, struct merge *m, struct err *e)
{
	int result = 0;

	vec_each(&m->chunks, chunk) {
		size_t before = m->bytes.len;

		result = store_chunk_read(s, *chunk, &m->bytes, NULL, e);
		if (result == -EBADMSG)
			vec_push(&t->damaged, (*chunk)->id);
		if (result < 0)
			break;
		vec_push(&m->sizes, m->bytes.len - before);
	}
	return result;
}

static void list_pieces(const struct merge *m, struct chunk_piece *pieces)
{
	size_t at = 0;

	for (size_t i = 0; i < m->sizes.len; i++) {
		pieces[i] = (struct chunk_piece){buf_str(&m->bytes) + at, m->sizes.items[i]};
		at += m->sizes.items[i];
	}
}

/* Finds the chunks that cannot be decoded: choose() leaves them out from now on. */
static void find_damaged(struct tidy_run *t, const struct merge *m,
			 const struct chunk_piece *pieces)
{
	for (size_t i = 0; i < m->ids.len; i++) {
		CLEANUP(buf_release) struct buf summary = {};

		if (chunk_summarize(&pieces[i], &summary, NULL) < 0)
			vec_push(&t->damaged, m->ids.items[i]);
	}
}

/* Adds a summary to a single chunk, whose bytes stay as they are. */
static int summarize(struct store *s, int64_t run, const struct merge *m,
		     const struct chunk_piece *piece, struct err *e)
{
	CLEANUP(buf_release) struct buf summary = {};
	int result = chunk_summarize(piece, &summary, e);

	return result < 0 ? result : store_chunk_summarize(s, run, m->ids.items[0], &summary, e);
}

static int make_one(struct store *s, int64_t run, const struct merge *m,
		    const struct chunk_piece *pieces, struct err *e)
{
	CLEANUP(buf_release) struct buf chunk = {};
	CLEANUP(buf_release) struct buf summary = {};
	struct chunk_info info;
	int result = chunks_merge(pieces, m->ids.len, &chunk, &info, e);

	if (result == 0 && m->whole)
		result = chunk_summarize(&(struct chunk_piece){chunk.s, chunk.len}, &summary, e);
	return result < 0 ? result
			  : store_chunks_replace(s, run, m->ids.items, m->ids.len, m->source, &info,
						 &chunk, m->whole ? &summary : NULL, e);
}

/*
 * Chunks that cannot become one, because they would be too large or have too many columns: half of them
 * may, and one by itself only gets its summary. Then they are whole, and not looked at again.
 */
static int merge_fewer(struct tidy_run *t, struct store *s, struct merge *m,
		       const struct chunk_piece *pieces, struct err *e)
{
	int result = -E2BIG;

	m->whole = true;
	while (m->ids.len > 1 && (result == -E2BIG || result == -EINVAL)) {
		m->ids.len /= 2;
		result = m->ids.len == 1 ? summarize(s, t->run, m, pieces, e)
					 : make_one(s, t->run, m, pieces, e);
	}
	/* Read the list again for the rest. */
	t->run = 0;
	return result;
}

static int merge_chosen(struct tidy_run *t, struct store *s, struct merge *m, struct err *e)
{
	CLEANUP(free_ptr) struct chunk_piece *pieces = NULL;
	size_t damaged = t->damaged.len;
	int result = read_all(t, s, m, e);

	if (result == -EBADMSG) {
		/* Read the list again and merge without the damaged chunk. */
		t->run = 0;
		return 1;
	}
	if (result < 0)
		return result;
	pieces = xcalloc(m->ids.len, sizeof(*pieces));
	list_pieces(m, pieces);
	result = m->ids.len == 1 ? summarize(s, t->run, m, pieces, e)
				 : make_one(s, t->run, m, pieces, e);
	if (m->ids.len > 1 && (result == -E2BIG || result == -EINVAL))
		result = merge_fewer(t, s, m, pieces, e);
	if (result == -EBADMSG) {
		find_damaged(t, m, pieces);
		if (t->damaged.len == damaged)
			return result;
		/* Read the list again and merge without the damaged chunks. */
		t->run = 0;
		return 1;
	}
	if (result < 0)
		return result;
	t->merges++;
	t->merged_chunks += m->ids.len;
	return 1;
}

static int load(struct tidy_run *t, struct store *s, int64_t run, struct err *e)
{
	uint64_t start_ns = clock_monotonic_ns(t->clock);
	int result;

	if (t->run == run)
		return 0;
	t->run = run;
	t->at = t->todo.len = 0;
	t->merges_before = t->merges;
	result = store_chunks_to_merge(s, run, CANDIDATES_MAX, &t->todo, e);
	t->scan_ns = clock_monotonic_ns(t->clock) - start_ns;
	return result;
}

int tidy_run_merge(struct tidy_run *t, struct store *s, int64_t run, bool ended, struct err *e)
{
	int result = load(t, s, run, e);

	while (!result && t->at < t->todo.len) {
		CLEANUP(merge_release) struct merge m = {};

		if (choose(t, ended, &m))
			result = merge_chosen(t, s, &m, e);
	}
	if (result > 0)
		return result;
	t->run = 0;
	if (!result && t->todo.len == CANDIDATES_MAX && t->merges > t->merges_before)
		return 1;
	return result;
}

/* ---- dictionaries ---- */

struct gathering {
	struct profile profile;
	int64_t last;
	struct err *e;
};

static int apply_piece(void *ctx, int64_t number, const void *bytes, size_t size)
{
	struct gathering *g = ctx;

	g->last = number;
	return dictionary_apply(&g->profile, bytes, size, g->e);
}

typedef VEC(struct buf) pieces_list;

static void pieces_release(pieces_list *pieces)
{
	vec_each(pieces, p)
		buf_release(p);
	vec_release(pieces);
}

static int merge_dictionary(struct store *s, int64_t run, uint32_t source, uint64_t had,
			    struct err *e)
{
	CLEANUP(pieces_release) pieces_list pieces = {};
	struct gathering g = {.e = e};
	struct dictionary_writer w;
	struct buf piece = {};
	int result;

	profile_init(&g.profile);
	dictionary_writer_init(&w);
	result = store_dictionary_each(s, run, source, 0, apply_piece, &g, e);
	while (!result && dictionary_encode(&w, &g.profile, &piece)) {
		vec_push(&pieces, piece);
		piece = (struct buf){};
	}
	buf_release(&piece);
	dictionary_writer_release(&w);
	profile_release(&g.profile);
	if (!result && pieces.len < had)
		result = store_dictionary_replace(s, run, source, g.last, pieces.items, pieces.len,
						  e);
	return result;
}

int tidy_run_dictionaries(struct store *s, int64_t run, struct err *e)
{
	dictionary_counts counts = {};
	int result = store_dictionary_counts(s, run, &counts, e), done = 0;

	vec_each(&counts, c) {
		if (result || c->pieces <= TIDY_PIECES_MAX)
			continue;
		result = merge_dictionary(s, run, c->source, c->pieces, e);
		done = 1;
	}
	vec_release(&counts);
	return result ? result : done;
}
