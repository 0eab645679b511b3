/* Reads the rows of a page, which may be spread over many chunks. */
#include "query/table_scan.h"
#include "base/parallel.h"

#define READ_CHUNKS 8u /* decoded in parallel */

struct page_read {
	const struct table_query *q;
	const struct table_page *page;
	struct chunk_columns *columns; /* the rows of the page, in order */
	struct table_tags tags;
	struct table_job jobs[READ_CHUNKS];
	size_t count;
};

static void decode_chunk(void *ctx, size_t item, unsigned thread)
{
	struct page_read *r = ctx;

	(void)thread;
	table_job_decode(r->q, &r->tags, &r->jobs[item]);
}

/* Copies the rows of the page from a chunk. */
static void copy_rows(struct page_read *r, const struct table_job *j)
{
	for (size_t i = 0; i < r->page->rows.len; i++) {
		const struct table_place *place = &r->page->rows.items[i];

		if (place->chunk != j->chunk)
			continue;
		for (size_t c = 0; c < r->columns->count; c++)
			r->columns->columns[c].values[i] =
				kept_column_value(j->columns[c], place->row);
	}
}

static int read_chunks(struct page_read *r, struct err *e)
{
	int rc = 0;

	parallel_each(r->count, table_threads(), decode_chunk, r);
	for (size_t i = 0; i < r->count; i++) {
		struct table_job *j = &r->jobs[i];

		if (rc == 0)
			rc = table_job_error(r->q, j, e);
		if (rc == 0)
			copy_rows(r, j);
		table_job_release(j, &r->tags);
	}
	r->count = 0;
	return rc;
}

static void list_page_tags(struct page_read *r)
{
	table_tags_add(&r->tags, TAG_TIME, false);
	vec_each(&r->q->columns, c)
		if (r->tags.count < CHUNK_COLUMNS_MAX)
			table_tags_add(&r->tags, c->schema.tag, false);
	for (size_t i = 0; i < r->tags.count; i++)
		r->columns->columns[r->columns->count++] = (struct chunk_column){
			r->tags.tags[i], xcalloc(r->page->rows.len + 1, sizeof(uint64_t))};
}

int table_page_each(const struct table_query *q, const struct table_page *p,
		    void (*row)(void *ctx, const struct chunk_columns *columns, uint32_t row),
		    void *ctx, struct err *e)
{
	CLEANUP(free_ptr) bool *read = xcalloc(q->d->chunks.len + 1, sizeof(*read));
	struct page_read r = {.q = q, .page = p, .columns = xcalloc(1, sizeof(*r.columns))};
	int rc = 0;

	list_page_tags(&r);
	for (size_t i = 0; i < p->rows.len && rc == 0; i++) {
		uint32_t chunk = p->rows.items[i].chunk;

		if (read[chunk])
			continue;
		read[chunk] = true;
		table_job_open(q, &r.tags, chunk, &r.jobs[r.count]);
		rc = table_job_read(q, &r.tags, &r.jobs[r.count++], e);
		if (rc == 0 && r.count == READ_CHUNKS)
			rc = read_chunks(&r, e);
	}
	if (rc == 0)
		rc = read_chunks(&r, e);
	for (size_t i = 0; i < r.count; i++)
		table_job_release(&r.jobs[i], &r.tags);
	for (uint32_t i = 0; i < p->rows.len && rc == 0; i++)
		row(ctx, r.columns, i);
	chunk_columns_release(r.columns);
	free(r.columns);
	table_tags_release(&r.tags);
	return rc;
}
