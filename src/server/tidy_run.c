#include "server/tidy_run.h"
#include "profile/dictionary.h"
#include "profile/summary.h"

#include <errno.h>

/* Looked at in one step: small ones that are fewer rows than a whole chunk are more than enough. */
#define CANDIDATES_MAX 8192u

void tidy_run_release(struct tidy_run *t)
{
	vec_release(&t->damaged);
}

/* ---- chunks ---- */

/* The ones that are to become one, and their bytes. */
struct merge {
	VEC(int64_t) ids;
	VEC(size_t) sizes;
	struct buf bytes;
	uint64_t rows;
	bool whole; /* it gets a summary, and is not looked at again */
};

static void merge_release(struct merge *m)
{
	vec_release(&m->ids);
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

/* Which of them: as many as one chunk can hold. False: not enough to be worth it. */
static bool choose(const struct tidy_run *t, const stored_chunks *candidates, bool ended,
		   struct merge *m)
{
	bool full = false;

	vec_each(candidates, c) {
		if (is_damaged(t, c->id))
			continue;
		if (m->rows + c->info.rows > CHUNK_ROWS_MAX) {
			full = true;
			break;
		}
		vec_push(&m->ids, c->id);
		m->rows += c->info.rows;
	}
	m->whole = full || m->rows == CHUNK_ROWS_MAX || (ended && candidates->len < CANDIDATES_MAX);
	return m->ids.len && (m->whole || m->ids.len >= TIDY_CHUNKS_MAX);
}

static int read_all(struct store *s, struct merge *m, struct err *e)
{
	int result = 0;

	vec_each(&m->ids, id) {
		size_t before = m->bytes.len;

		result = store_chunk_read(s, *id, &m->bytes, NULL, e);
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

/* One of them cannot be decoded: those are left out from now on. */
static void find_damaged(struct tidy_run *t, const struct merge *m,
			 const struct chunk_piece *pieces)
{
	for (size_t i = 0; i < m->ids.len; i++) {
		CLEANUP(buf_release) struct buf chunk = {};
		CLEANUP(buf_release) struct buf summary = {};
		struct chunk_info info;

		if (chunks_merge(&pieces[i], 1, &chunk, &summary, &info, NULL) < 0)
			vec_push(&t->damaged, m->ids.items[i]);
	}
}

static int merge_chosen(struct tidy_run *t, struct store *s, int64_t run, uint32_t source,
			struct merge *m, struct err *e)
{
	CLEANUP(free_ptr) struct chunk_piece *pieces = NULL;
	CLEANUP(buf_release) struct buf chunk = {};
	CLEANUP(buf_release) struct buf summary = {};
	struct chunk_info info;
	size_t damaged = t->damaged.len;
	int result = read_all(s, m, e);

	if (result < 0)
		return result;
	pieces = xcalloc(m->ids.len, sizeof(*pieces));
	list_pieces(m, pieces);
	result = chunks_merge(pieces, m->ids.len, &chunk, &summary, &info, e);
	if (result < 0) {
		find_damaged(t, m, pieces);
		return t->damaged.len > damaged ? 1 : result;
	}
	result = store_chunks_replace(s, run, m->ids.items, m->ids.len, source, &info, &chunk,
				      m->whole ? &summary : NULL, e);
	if (result < 0)
		return result;
	t->merges++;
	t->merged_chunks += m->ids.len;
	return 1;
}

static int merge_group(struct tidy_run *t, struct store *s, int64_t run,
		       const struct chunk_group *group, bool ended, struct err *e)
{
	CLEANUP(merge_release) struct merge m = {};
	stored_chunks candidates = {};
	int result;

	/* Most of the time there is not enough yet, and this is all that is done. */
	if (!ended && group->rows < CHUNK_ROWS_MAX && group->chunks < TIDY_CHUNKS_MAX)
		return 0;
	result = store_chunks_to_merge(s, run, group, CANDIDATES_MAX, &candidates, e);
	if (!result && choose(t, &candidates, ended, &m))
		result = merge_chosen(t, s, run, group->source, &m, e);
	vec_release(&candidates);
	return result;
}

int tidy_run_merge(struct tidy_run *t, struct store *s, int64_t run, bool ended, struct err *e)
{
	chunk_groups groups = {};
	int result = store_chunk_groups(s, run, &groups, e);

	vec_each(&groups, g) {
		if (result)
			break;
		result = merge_group(t, s, run, g, ended, e);
	}
	vec_release(&groups);
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
