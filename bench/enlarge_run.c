/*
 * Makes a stored run large: its samples are repeated, each time later, until there are so many, and a
 * counter with so many values is added; or the rows of one of its tables are repeated. All of it goes
 * through the store as a collector's would.
 *
 * usage: enlarge-run DATA-DIRECTORY RUN SAMPLES POINTS
 *        enlarge-run DATA-DIRECTORY RUN TABLE ROWS
 */
#include "profile/dictionary.h"
#include "profile/schema.h"
#include "profile/summary.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define POINT_NAME "bench-points"

static struct err error;

static void check(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "enlarge-run: %s: %s\n", what, error.text);
	exit(1);
}

struct samples {
	VEC(struct sample_row) rows;
	uint64_t first_ns, last_ns;
};

static void read_samples(struct store *s, int64_t run, struct samples *to)
{
	struct chunk_query q = {.schema = SCHEMA_SAMPLES};
	stored_chunks chunks = {};

	check(store_chunks(s, run, &q, &chunks, &error), "chunks");
	vec_each(&chunks, chunk) {
		struct buf bytes = {};
		struct sample_columns c;

		check(store_chunk_read(s, chunk, &bytes, NULL, &error), "chunk");
		check(chunk_decode_samples(bytes.s, bytes.len, &c, &error), "chunk");
		for (size_t i = 0; i < c.rows; i++)
			vec_push(&to->rows,
				 (struct sample_row){c.time_ns[i], c.weight[i],
						     c.address ? c.address[i] : 0, c.event[i],
						     c.thread[i], c.stack[i], c.cpu[i]});
		if (!to->first_ns || chunk->info.first_ns < to->first_ns)
			to->first_ns = chunk->info.first_ns;
		if (chunk->info.last_ns > to->last_ns)
			to->last_ns = chunk->info.last_ns;
		sample_columns_release(&c);
		buf_release(&bytes);
	}
	vec_release(&chunks);
}

/* As a merged one: with its summary. */
static void add_chunk(struct store *s, int64_t run, struct buf *bytes)
{
	struct chunk_piece piece = {bytes->s, bytes->len};
	struct buf summary = {};
	struct chunk_info info;
	int64_t id;

	check(chunk_peek(bytes->s, bytes->len, &info, &error), "looking at a chunk");
	check(chunk_summarize(&piece, &summary, &error), "summarizing");
	check(store_chunk_add(s, run, 0, &info, bytes->s, bytes->len, summary.s, summary.len, &id,
			      &error),
	      "storing");
	buf_release(&summary);
	buf_clear(bytes);
}

/* Gives when the last one is. */
static uint64_t repeat_samples(struct store *s, int64_t run, const struct samples *from,
			       uint64_t wanted)
{
	struct sample_row *rows = xcalloc(CHUNK_ROWS_MAX, sizeof(*rows));
	uint64_t round_ns = from->last_ns - from->first_ns + 1;
	struct buf bytes = {};
	struct chunk_info info;
	size_t filled = 0;

	for (uint64_t n = from->rows.len; n < wanted; n++) {
		rows[filled] = from->rows.items[n % from->rows.len];
		rows[filled++].time_ns += n / from->rows.len * round_ns;
		if (filled < CHUNK_ROWS_MAX && n + 1 < wanted)
			continue;
		chunk_encode_samples(rows, filled, &bytes, &info);
		add_chunk(s, run, &bytes);
		filled = 0;
	}
	buf_release(&bytes);
	free(rows);
	return from->last_ns + (wanted - 1) / from->rows.len * round_ns;
}

static int apply(void *ctx, int64_t number, const void *bytes, size_t size)
{
	(void)number;
	return dictionary_apply(ctx, bytes, size, &error);
}

/* A piece of dictionary with one counter more. */
static uint32_t add_counter(struct store *s, int64_t run)
{
	struct dictionary_writer w;
	struct buf piece = {};
	struct profile p;
	uint32_t counter;

	profile_init(&p);
	check(store_dictionary_each(s, run, 0, 0, apply, &p, &error), "dictionary");
	dictionary_writer_init(&w);
	while (dictionary_encode(&w, &p, &piece))
		buf_clear(&piece);
	counter = profile_counter(
		&p, &(struct profile_counter){
			    .name = profile_string(&p, POINT_NAME), .scale = 1, .cpu = -1});
	while (dictionary_encode(&w, &p, &piece)) {
		check(store_dictionary_add(s, run, 0, piece.s, piece.len, &error), "dictionary");
		buf_clear(&piece);
	}
	buf_release(&piece);
	dictionary_writer_release(&w);
	profile_release(&p);
	return counter;
}

/* Over the same time as the samples. */
static void add_points(struct store *s, int64_t run, uint64_t first_ns, uint64_t last_ns,
		       uint64_t points)
{
	uint64_t point_ns = points ? (last_ns - first_ns) / points : 0;
	struct count_row *rows = xcalloc(CHUNK_ROWS_MAX, sizeof(*rows));
	uint32_t counter = add_counter(s, run), seed = 1;
	struct buf bytes = {};
	struct chunk_info info;
	size_t filled = 0;

	for (uint64_t n = 0; n < points; n++) {
		seed = seed * 1664525u + 1013904223u;
		rows[filled++] = (struct count_row){first_ns + (n + 1) * point_ns, point_ns,
						    100000 + (seed >> 17), 1000000};
		if (filled < CHUNK_ROWS_MAX && n + 1 < points)
			continue;
		chunk_encode_counts(counter, rows, filled, &bytes, &info);
		add_chunk(s, run, &bytes);
		filled = 0;
	}
	buf_release(&bytes);
	free(rows);
}

/* ---- rows of a table ---- */

static uint32_t find_table(struct store *s, int64_t run, const char *name)
{
	struct table_schema t = {};
	struct profile p;
	uint32_t n;

	profile_init(&p);
	check(store_dictionary_each(s, run, 0, 0, apply, &p, &error), "dictionary");
	for (n = SCHEMA_FIRST_OWN; n < profile_schemas_end(&p); n++)
		if (profile_schema(&p, n, &t) && !strcmp(t.name, name))
			break;
	if (n == profile_schemas_end(&p)) {
		fprintf(stderr, "enlarge-run: the run has no table %s\n", name);
		exit(1);
	}
	profile_release(&p);
	return n;
}

static uint64_t *column_of(struct chunk_columns *to, uint32_t tag, size_t rows)
{
	if (!chunk_column(to, tag))
		to->columns[to->count++] =
			(struct chunk_column){tag, xcalloc(rows, sizeof(*to->columns[0].values))};
	return chunk_column(to, tag);
}

/* All rows of a table, in columns. */
static void read_rows(struct store *s, int64_t run, uint32_t table, struct chunk_columns *to)
{
	struct chunk_query q = {.schema = table};
	stored_chunks chunks = {};
	size_t rows = 0;

	check(store_chunks(s, run, &q, &chunks, &error), "chunks");
	vec_each(&chunks, chunk)
		rows += chunk->info.rows;
	vec_each(&chunks, chunk) {
		struct chunk_columns *c = xcalloc(1, sizeof(*c));
		struct buf bytes = {};

		check(store_chunk_read(s, chunk, &bytes, NULL, &error), "chunk");
		check(chunk_decode(bytes.s, bytes.len, NULL, c, &error), "chunk");
		for (size_t i = 0; i < c->count; i++)
			memcpy(column_of(to, c->columns[i].tag, rows) + to->rows,
			       c->columns[i].values, c->rows * sizeof(*c->columns[i].values));
		to->rows += c->rows;
		to->info = c->info;
		chunk_columns_release(c);
		free(c);
		buf_release(&bytes);
	}
	vec_release(&chunks);
}

static void repeat_rows(struct store *s, int64_t run, const struct chunk_columns *from,
			uint64_t wanted)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	uint64_t first_ns = UINT64_MAX, last_ns = 0, round_ns;
	struct buf bytes = {};
	struct chunk_info info;

	c->info = from->info;
	c->count = from->count;
	for (size_t i = 0; i < from->count; i++)
		c->columns[i] = (struct chunk_column){from->columns[i].tag,
						      xcalloc(CHUNK_ROWS_MAX, sizeof(uint64_t))};
	for (size_t i = 0; i < from->rows; i++) {
		uint64_t at = from->columns[0].values[i];

		first_ns = at < first_ns ? at : first_ns;
		last_ns = at > last_ns ? at : last_ns;
	}
	round_ns = last_ns - first_ns + 1;
	for (uint64_t n = from->rows; n < wanted; n++) {
		for (size_t i = 0; i < from->count; i++)
			c->columns[i].values[c->rows] = from->columns[i].values[n % from->rows];
		c->columns[0].values[c->rows++] += n / from->rows * round_ns;
		if (c->rows < CHUNK_ROWS_MAX && n + 1 < wanted)
			continue;
		chunk_encode(c, &bytes, &info);
		add_chunk(s, run, &bytes);
		c->rows = 0;
	}
	buf_release(&bytes);
	chunk_columns_release(c);
	free(c);
}

static void enlarge_table(struct store *s, int64_t run, const char *name, uint64_t wanted)
{
	struct chunk_columns *rows = xcalloc(1, sizeof(*rows));

	read_rows(s, run, find_table(s, run, name), rows);
	if (!rows->rows) {
		fprintf(stderr, "enlarge-run: the table %s has no rows\n", name);
		exit(1);
	}
	check(store_begin(s, &error), "begin");
	repeat_rows(s, run, rows, wanted);
	check(store_commit(s, &error), "commit");
	printf("%zu rows of %s repeated to %llu\n", rows->rows, name, (unsigned long long)wanted);
	chunk_columns_release(rows);
	free(rows);
}

static void enlarge_samples(struct store *s, int64_t run, const char *wanted, const char *points)
{
	struct samples samples = {};
	uint64_t last_ns;

	read_samples(s, run, &samples);
	if (!samples.rows.len) {
		fprintf(stderr, "enlarge-run: the run has no samples\n");
		exit(1);
	}
	check(store_begin(s, &error), "begin");
	last_ns = repeat_samples(s, run, &samples, strtoull(wanted, NULL, 10));
	add_points(s, run, samples.first_ns, last_ns, strtoull(points, NULL, 10));
	/* What was worked out before does not know the counter. */
	check(store_derived_put(s, run, "paths", NULL, 0, &error), "derived");
	check(store_commit(s, &error), "commit");
	printf("%zu samples repeated to %s, %s points\n", samples.rows.len, wanted, points);
	vec_release(&samples.rows);
}

int main(int argc, char **argv)
{
	struct stored_run run = {};
	struct store *s;

	if (argc != 5) {
		fprintf(stderr, "usage: enlarge-run DATA-DIRECTORY RUN SAMPLES POINTS\n"
				"       enlarge-run DATA-DIRECTORY RUN TABLE ROWS\n");
		return 2;
	}
	check(store_open(&s, &(struct store_options){.directory = argv[1]}, &error), "store");
	check(store_run_get(s, argv[2], &run, &error), "run");
	if (strchr(argv[3], ':'))
		enlarge_table(s, run.id, argv[3], strtoull(argv[4], NULL, 10));
	else
		enlarge_samples(s, run.id, argv[3], argv[4]);
	stored_run_release(&run);
	store_close(s);
	return 0;
}
