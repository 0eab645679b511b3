/* Provides columns of chunks to queries about tables: from memory, or by reading, decoding and keeping them. */
#include "query/table_scan.h"

#include <errno.h>

/* ---- tags ---- */

void table_tags_add(struct table_tags *t, uint32_t tag, bool at_edges)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->tags[i] == tag) {
			t->at_edges[i] = t->at_edges[i] && at_edges;
			return;
		}
	t->tags = xrealloc(t->tags, t->count + 1, sizeof(*t->tags));
	t->at_edges = xrealloc(t->at_edges, t->count + 1, sizeof(*t->at_edges));
	t->tags[t->count] = tag;
	t->at_edges[t->count++] = at_edges;
}

void table_tags_release(struct table_tags *t)
{
	free(t->tags);
	free(t->at_edges);
	*t = (struct table_tags){};
}

size_t table_tags_find(const struct table_tags *t, uint32_t tag)
{
	size_t i = 0;

	while (i + 1 < t->count && t->tags[i] != tag)
		i++;
	return i;
}

/* ---- jobs ---- */

/* Spans belong to the window if they overlap it. */
bool table_touches(const struct table_query *q, const struct run_chunk *c)
{
	return c->stored.info.schema == q->table.number &&
	       c->stored.info.first_ns < q->sel->to_ns && c->stored.info.last_ns >= q->sel->from_ns;
}

void table_job_open(const struct table_query *q, const struct table_tags *t, uint32_t chunk,
		    struct table_job *j)
{
	struct run_chunk *c = &q->d->chunks.items[chunk];
	uint32_t question = __atomic_load_n(&q->d->table_questions, __ATOMIC_RELAXED);

	*j = (struct table_job){.chunk = chunk};
	j->edge = c->stored.info.first_ns < q->sel->from_ns ||
		  c->stored.info.last_ns >= q->sel->to_ns;
	j->columns = xcalloc(t->count, sizeof(*j->columns));
	j->own = xcalloc(t->count, sizeof(*j->own));
	for (size_t i = 0; i < t->count; i++) {
		j->columns[i] = kept_columns_find(&c->columns, t->tags[i]);
		if (j->columns[i])
			__atomic_store_n(&j->columns[i]->used, question, __ATOMIC_RELAXED);
	}
}

void table_job_release(struct table_job *j, const struct table_tags *t)
{
	buf_release(&j->bytes);
	for (size_t i = 0; j->own && i < t->count; i++)
		if (j->own[i])
			kept_column_free(j->own[i]);
	free(j->own);
	free(j->columns);
	*j = (struct table_job){};
}

static bool is_missing(const struct table_tags *t, const struct table_job *j, size_t i)
{
	return !kept_column_readable(j->columns[i]) && (j->edge || !t->at_edges[i]);
}

int table_job_read(const struct table_query *q, const struct table_tags *t, struct table_job *j,
		   struct err *e)
{
	for (size_t i = 0; i < t->count && !j->read; i++)
		j->read = is_missing(t, j, i);
	return j->read ? run_chunk_read(q->s, &q->d->chunks.items[j->chunk], &j->bytes, NULL, e)
		       : 0;
}

int table_job_error(const struct table_query *q, const struct table_job *j, struct err *e)
{
	return j->rc < 0 ? run_chunk_failed(q->s, &q->d->chunks.items[j->chunk], j->rc, &j->e, e)
			 : 0;
}

/* ---- keeping ---- */

/* Returns false if another thread has added a column with this tag meanwhile. */
static bool add_column(struct run_data *d, struct run_chunk *c, struct kept_column *column)
{
	/* Ask before adding: another thread may use the column once it is in the list. */
	size_t bytes = kept_column_bytes(column);

	if (!kept_columns_add(&c->columns, column))
		return false;
	__atomic_add_fetch(&d->bytes, bytes, __ATOMIC_RELAXED);
	__atomic_add_fetch(&d->rows_bytes, bytes, __ATOMIC_RELAXED);
	return true;
}

/* Keeps a column for later questions; without room for its values, only their range. */
static void keep(const struct table_query *q, struct table_job *j, size_t i,
		 struct kept_column *column)
{
	struct run_data *d = q->d;
	struct run_chunk *c = &d->chunks.items[j->chunk];
	struct kept_column *range;

	j->columns[i] = column;
	column->used = __atomic_load_n(&d->table_questions, __ATOMIC_RELAXED);
	if (__atomic_load_n(&d->rows_bytes, __ATOMIC_RELAXED) < d->rows_bytes_max) {
		if (!add_column(d, c, column))
			j->own[i] = column;
		return;
	}
	__atomic_store_n(&d->columns_wait, true, __ATOMIC_RELAXED);
	j->own[i] = column;
	range = kept_column_make(column->tag, NULL, 0);
	kept_column_forget(range);
	range->range = column->range;
	range->rows = column->rows;
	if (!add_column(d, c, range))
		kept_column_free(range);
}

int table_job_decode(const struct table_query *q, const struct table_tags *t, struct table_job *j)
{
	uint32_t *wanted;
	struct chunk_columns *c;
	size_t count = 0;

	if (!j->read || j->rc < 0)
		return j->rc;
	wanted = xcalloc(t->count + 1, sizeof(*wanted));
	c = xcalloc(1, sizeof(*c));
	for (size_t i = 0; i < t->count; i++)
		if (is_missing(t, j, i))
			wanted[count++] = t->tags[i];
	j->rc = chunk_decode(buf_str(&j->bytes), j->bytes.len, wanted, c, &j->e);
	for (size_t i = 0; i < t->count && j->rc == 0; i++)
		if (is_missing(t, j, i))
			keep(q, j, i,
			     kept_column_make(t->tags[i], chunk_column(c, t->tags[i]),
					      (uint32_t)c->rows));
	buf_release(&j->bytes);
	chunk_columns_release(c);
	free(c);
	free(wanted);
	return j->rc;
}
