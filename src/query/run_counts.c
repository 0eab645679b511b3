/* Values of counters: blocks of a chunk, and the single values where a query needs them. */
#include "profile/schema.h"
#include "query/selection.h"

#include <errno.h>
#include <string.h>

#define COUNTERS_MAX 256u /* in one answer */

/* ---- decoded data of a chunk ---- */

static void keep_counts(struct run_data *d, struct run_chunk *c, struct count_columns *made,
			struct kept_counts *ret)
{
	struct count_columns *known = NULL;
	size_t bytes = made->rows * sizeof(struct count_row);

	ret->columns = made;
	if (__atomic_load_n(&d->counts_bytes, __ATOMIC_RELAXED) >= d->counts_bytes_max) {
		ret->own = made;
		return;
	}
	if (__atomic_compare_exchange_n(&c->counts, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, bytes, __ATOMIC_RELAXED);
		__atomic_add_fetch(&d->counts_bytes, bytes, __ATOMIC_RELAXED);
		return;
	}
	count_columns_release(made);
	free(made);
	ret->columns = known;
}

void kept_counts_release(struct kept_counts *k)
{
	if (k->own)
		count_columns_release(k->own);
	free(k->own);
	*k = (struct kept_counts){};
}

static const count_blocks *keep_blocks(struct run_data *d, struct run_chunk *c, count_blocks *made)
{
	count_blocks *known = NULL;

	if (__atomic_compare_exchange_n(&c->blocks, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, made->cap * sizeof(*made->items), __ATOMIC_RELAXED);
		return made;
	}
	vec_release(made);
	free(made);
	return known;
}

int run_counts(struct run_data *d, struct store *s, struct run_chunk *c, struct kept_counts *ret,
	       struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct count_columns *made;
	int rc;

	*ret = (struct kept_counts){.columns = __atomic_load_n(&c->counts, __ATOMIC_ACQUIRE)};
	if (ret->columns)
		return 0;
	rc = run_chunk_read(s, c, &bytes, NULL, e);
	if (rc < 0)
		return rc;
	made = xcalloc(1, sizeof(*made));
	rc = store_chunk_name(s, &c->stored,
			      chunk_decode_counts(buf_str(&bytes), bytes.len, made, e), e);
	if (rc < 0)
		free(made);
	else
		keep_counts(d, c, made, ret);
	return rc;
}

/* Blocks must be those of all rows: block i has what rows from i * SUMMARY_BLOCK_ROWS on have. */
static int read_blocks(const struct run_chunk *c, const struct buf *bytes, count_blocks *ret,
		       struct err *e)
{
	uint32_t rows = c->stored.info.rows;
	int rc = count_blocks_decode(buf_str(bytes), bytes->len, ret, e);

	if (rc < 0)
		return rc;
	vec_each(ret, b) {
		uint32_t want = rows < SUMMARY_BLOCK_ROWS ? rows : SUMMARY_BLOCK_ROWS;

		rc = b->rows == want ? rc : -EBADMSG;
		rows -= want;
	}
	if (rc == 0 && !rows)
		return 0;
	vec_release(ret);
	return err_set(e, EBADMSG, "the stored summary of counts is not that of its chunk");
}

/* Reads the blocks stored with a merged chunk; makes those of other chunks. */
static int make_blocks(struct run_data *d, struct store *s, struct run_chunk *c, count_blocks *ret,
		       struct err *e)
{
	CLEANUP(kept_counts_release) struct kept_counts rows = {};
	CLEANUP(buf_release) struct buf bytes = {};
	int rc;

	if (c->stored.merged) {
		rc = run_chunk_read(s, c, NULL, &bytes, e);
		return rc < 0 ? rc
			      : store_chunk_name(s, &c->stored, read_blocks(c, &bytes, ret, e), e);
	}
	rc = run_counts(d, s, c, &rows, e);
	if (rc == 0)
		count_blocks_make(rows.columns, ret);
	return rc;
}

int run_blocks(struct run_data *d, struct store *s, struct run_chunk *c, const count_blocks **ret,
	       struct err *e)
{
	count_blocks *made;
	int rc;

	*ret = __atomic_load_n(&c->blocks, __ATOMIC_ACQUIRE);
	if (*ret)
		return 0;
	made = xcalloc(1, sizeof(*made));
	rc = make_blocks(d, s, c, made, e);
	if (rc < 0)
		free(made);
	else
		*ret = keep_blocks(d, c, made);
	return rc;
}

/* ---- choosing counters ---- */

/* Length of the counter name at the start of @list ("a,b,c"); names may contain commas. 0: none. */
static size_t name_at(const struct profile *p, const char *list)
{
	size_t longest = 0;

	for (size_t i = 1; i < p->counters.len; i++) {
		const char *name = profile_text(p, p->counters.items[i].name);
		size_t len = strlen(name);

		if (len > longest && !strncmp(list, name, len) && (list[len] == ',' || !list[len]))
			longest = len;
	}
	return longest;
}

int counters_choose(const struct profile *p, const char *list, bool *wanted, struct err *e)
{
	size_t count = 0;

	if (!list) {
		for (size_t i = 1; i < p->counters.len && count < COUNTERS_MAX; i++) {
			wanted[i] = !profile_counter_mark(p, i);
			count += wanted[i];
		}
		return 0;
	}
	while (*list) {
		size_t len = name_at(p, list);

		if (!len)
			return err_set(e, EINVAL, "The run has no counter '%.100s'.", list);
		for (size_t i = 1; i < p->counters.len; i++) {
			const char *name = profile_text(p, p->counters.items[i].name);

			if (strlen(name) != len || strncmp(name, list, len) || wanted[i])
				continue;
			if (count++ == COUNTERS_MAX)
				return err_set(e, EINVAL,
					       "The list selects more than %u counters. Name fewer "
					       "of them.",
					       COUNTERS_MAX);
			wanted[i] = true;
		}
		list += len + (list[len] == ',');
	}
	return 0;
}

int counters_each_chunk(struct run_data *d, const bool *wanted, uint64_t from_ns, uint64_t to_ns,
			counts_visitor visit, void *ctx, struct err *e)
{
	/* The first interval of the first chunk after the window may begin inside it. */
	CLEANUP(free_ptr) bool *done = xcalloc(d->profile.counters.len, sizeof(*done));
	int rc = 0;

	for (size_t i = 0; i < d->chunks.len && rc == 0; i++) {
		struct run_chunk *c = &d->chunks.items[i];
		const struct chunk_info *info = &c->stored.info;

		if (info->schema != SCHEMA_COUNTS || info->partition >= d->profile.counters.len ||
		    !wanted[info->partition] || done[info->partition] || info->last_ns < from_ns)
			continue;
		done[info->partition] = info->first_ns >= to_ns;
		rc = visit(ctx, c, e);
	}
	return rc;
}

/* ---- at the resolution of a screen ---- */

struct drawing {
	struct run_data *d;
	struct store *s;
	struct timeline *by_counter;
};

static int draw_chunk(void *ctx, struct run_chunk *c, struct err *e)
{
	struct drawing *draw = ctx;
	struct timeline *t = &draw->by_counter[c->stored.info.partition];
	struct kept_counts rows = {};
	const count_blocks *blocks;
	int rc = run_blocks(draw->d, draw->s, c, &blocks, e);

	for (size_t i = 0; rc == 0 && i < blocks->len; i++) {
		const struct count_block *b = &blocks->items[i];

		if (b->last_ns <= t->from_ns || b->first_ns >= t->to_ns)
			continue;
		if (timeline_takes_block(t, b)) {
			timeline_add_block(t, b);
			continue;
		}
		if (!rows.columns)
			rc = run_counts(draw->d, draw->s, c, &rows, e);
		if (rc == 0)
			timeline_add_rows(t, rows.columns, i * SUMMARY_BLOCK_ROWS,
					  (i + 1) * SUMMARY_BLOCK_ROWS);
	}
	kept_counts_release(&rows);
	return rc;
}

int counters_draw(struct run_data *d, struct store *s, const bool *wanted, uint64_t from_ns,
		  uint64_t to_ns, struct timeline *by_counter, struct err *e)
{
	struct drawing draw = {d, s, by_counter};

	return counters_each_chunk(d, wanted, from_ns, to_ns, draw_chunk, &draw, e);
}
