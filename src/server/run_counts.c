/* Values of counters: blocks of a chunk, and its rows where somebody looks that closely. */
#include "server/selection.h"

#include <errno.h>

static int read_bytes(struct store *s, const struct run_chunk *c, bool summary, struct buf *ret,
		      struct err *e)
{
	int rc = store_chunk_read(s, c->stored.id, summary ? NULL : ret, summary ? ret : NULL, e);

	return rc == -ENOENT ? -ESTALE : rc;
}

static const struct count_columns *keep_rows(struct run_data *d, struct run_chunk *c,
					     struct count_columns *made)
{
	struct count_columns *known = NULL;

	if (__atomic_compare_exchange_n(&c->counts, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, made->rows * sizeof(struct count_row),
				   __ATOMIC_RELAXED);
		return made;
	}
	count_columns_release(made);
	free(made);
	return known;
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

static int need_rows(struct run_data *d, struct store *s, struct run_chunk *c,
		     const struct count_columns **ret, struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct count_columns *made;
	int rc;

	*ret = __atomic_load_n(&c->counts, __ATOMIC_ACQUIRE);
	if (*ret)
		return 0;
	rc = read_bytes(s, c, false, &bytes, e);
	if (rc < 0)
		return rc;
	made = xcalloc(1, sizeof(*made));
	rc = chunk_decode_counts(buf_str(&bytes), bytes.len, made, e);
	if (rc < 0)
		free(made);
	else
		*ret = keep_rows(d, c, made);
	return rc;
}

int run_counts(struct run_data *d, struct store *s, struct run_chunk *c,
	       const count_blocks **ret_blocks, const struct count_columns **ret_rows,
	       struct err *e)
{
	CLEANUP(buf_release) struct buf bytes = {};
	const struct count_columns *rows = NULL;
	count_blocks *made;
	int rc = 0;

	*ret_blocks = __atomic_load_n(&c->blocks, __ATOMIC_ACQUIRE);
	if (ret_rows || (!*ret_blocks && !c->stored.merged))
		rc = need_rows(d, s, c, &rows, e);
	if (rc == 0 && !*ret_blocks) {
		made = xcalloc(1, sizeof(*made));
		if (rows) {
			count_blocks_make(rows, made);
		} else {
			rc = read_bytes(s, c, true, &bytes, e);
			if (rc == 0)
				rc = count_blocks_decode(buf_str(&bytes), bytes.len, made, e);
		}
		if (rc < 0)
			free(made);
		else
			*ret_blocks = keep_blocks(d, c, made);
	}
	if (rc == 0 && ret_rows)
		*ret_rows = rows;
	return rc;
}
