/* Chunks: what goes in comes out in the order of time, and damaged bytes are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/chunk.h"
#include "profile/columns.h"
#include "profile/packed.h"
#include "profile/schema.h"
#include "profile/spans.h"
#include "profile/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Reproducible noise. */
static uint64_t noise(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void same_column(const uint64_t *values, size_t rows)
{
	CLEANUP(buf_release) struct buf out = {};
	CLEANUP(free_ptr) uint64_t *back = xcalloc(rows + 1, sizeof(*back));
	struct cursor c;

	column_encode(values, rows, &out);
	c = cursor_of(out.s, out.len);
	assert_true(column_decode(&c, rows, UINT64_MAX, back));
	assert_int_equal(c.at, c.size);
	assert_memory_equal(values, back, rows * sizeof(*values));
	/* Each cut is noticed. */
	for (size_t cut = 0; cut < out.len && cut < 100; cut++) {
		c = cursor_of(out.s, cut);
		assert_false(column_decode(&c, rows, UINT64_MAX, back));
		assert_true(c.failed);
	}
}

static void test_columns(void **state)
{
	uint64_t values[1000], seed = 88172645463325252ull;

	(void)state;
	for (size_t rows = 1; rows <= 1000; rows += rows < 40 ? 1 : 119) {
		for (size_t i = 0; i < rows; i++)
			values[i] = UINT64_MAX;
		same_column(values, rows);
		for (size_t i = 0; i < rows; i++)
			values[i] = noise(&seed);
		same_column(values, rows);
		for (size_t i = 0; i < rows; i++)
			values[i] = (noise(&seed) % 3) << 60;
		same_column(values, rows);
		for (size_t i = 0; i < rows; i++)
			values[i] = UINT64_MAX - 500 + i;
		same_column(values, rows);
		for (size_t i = 0; i < rows; i++)
			values[i] = i % 2 ? 0 : UINT64_MAX;
		same_column(values, rows);
	}
}

static void test_column_limit(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	uint64_t values[] = {1, 7, 3}, back[3];
	struct cursor c;

	(void)state;
	column_encode(values, 3, &out);
	c = cursor_of(out.s, out.len);
	assert_true(column_decode(&c, 3, 7, back));
	c = cursor_of(out.s, out.len);
	assert_false(column_decode(&c, 3, 6, back));
}

static void make_samples(struct sample_row *rows, size_t count, bool addresses)
{
	uint64_t seed = 42;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct sample_row){
			.time_ns = 1000000000000ull + i * 1000 + noise(&seed) % 5000,
			.weight = 1000000 + noise(&seed) % 3,
			.address = addresses && i % 3 ? noise(&seed) : 0,
			.event = (uint32_t)(noise(&seed) % 2),
			.thread = (uint32_t)(noise(&seed) % 40),
			.stack = (uint32_t)(noise(&seed) % 5000),
			.cpu = (uint32_t)(noise(&seed) % 8),
		};
}

/* Each row is found, and rows of the same time keep their order. */
static void check_samples(const struct sample_row *rows, size_t count,
			  const struct sample_columns *c)
{
	CLEANUP(free_ptr) bool *seen = xcalloc(count, sizeof(*seen));

	assert_int_equal(c->rows, count);
	for (size_t i = 0; i < count; i++) {
		size_t at = 0;

		/* Rows are nearly in order: the first that was not seen is near. */
		for (at = i > 16 ? i - 16 : 0; at < count; at++)
			if (!seen[at] && rows[at].time_ns == c->time_ns[i])
				break;
		assert_true(at < count);
		seen[at] = true;
		assert_int_equal(rows[at].weight, c->weight[i]);
		assert_int_equal(rows[at].address, c->address ? c->address[i] : 0);
		assert_int_equal(rows[at].event, c->event[i]);
		assert_int_equal(rows[at].thread, c->thread[i]);
		assert_int_equal(rows[at].stack, c->stack[i]);
		assert_int_equal(rows[at].cpu, c->cpu[i]);
		assert_true(!i || c->time_ns[i] >= c->time_ns[i - 1]);
	}
}

static void test_samples(void **state)
{
	size_t sizes[] = {1, 2, 3, 17, 100, 1000, CHUNK_ROWS_MAX};
	CLEANUP(free_ptr) struct sample_row *rows = xcalloc(CHUNK_ROWS_MAX, sizeof(*rows));

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		CLEANUP(buf_release) struct buf out = {};
		size_t count = sizes[i / 2];
		struct chunk_info info, peeked;
		struct sample_columns c;

		make_samples(rows, count, i % 2);
		buf_add(&out, "before");
		chunk_encode_samples(rows, count, &out, &info);
		assert_int_equal(chunk_peek(out.s + 6, out.len - 6, &peeked, NULL), 0);
		assert_int_equal(info.schema, peeked.schema);
		assert_int_equal(info.rows, peeked.rows);
		assert_int_equal(info.partition, peeked.partition);
		assert_true(info.first_ns == peeked.first_ns && info.last_ns == peeked.last_ns);
		assert_int_equal(info.rows, count);
		assert_int_equal(info.schema, SCHEMA_SAMPLES);
		assert_int_equal(chunk_decode_samples(out.s + 6, out.len - 6, &c, NULL), 0);
		assert_true(!c.address == !(i % 2 && count > 1));
		assert_int_equal(c.time_ns[0], info.first_ns);
		assert_int_equal(c.time_ns[count - 1], info.last_ns);
		check_samples(rows, count, &c);
		sample_columns_release(&c);
	}
}

static void test_counts(void **state)
{
	struct count_row rows[1000];
	struct count_columns c;
	struct chunk_info info;
	uint64_t seed = 7;

	(void)state;
	for (size_t count = 1; count <= 1000; count += 333) {
		CLEANUP(buf_release) struct buf out = {};

		for (size_t i = 0; i < count; i++)
			rows[i] = (struct count_row){
				.time_ns = 5000 + i * 10000000 + noise(&seed) % 100,
				.duration_ns = i % 10 ? 10000000 + noise(&seed) % 200 : 3,
				.value = noise(&seed) % 1000000,
				.running_ppm = i % 2 ? 1000000 : 500000,
			};
		chunk_encode_counts(12, rows, count, &out, &info);
		assert_int_equal(info.partition, 12);
		assert_int_equal(chunk_decode_counts(out.s, out.len, &c, NULL), 0);
		assert_int_equal(c.rows, count);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(c.time_ns[i], rows[i].time_ns);
			assert_int_equal(c.duration_ns[i], rows[i].duration_ns);
			assert_int_equal(c.value[i], rows[i].value);
			assert_int_equal(c.running_ppm[i], rows[i].running_ppm);
		}
		count_columns_release(&c);
	}
}

static void test_order_is_stable(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct sample_row rows[64];
	struct sample_columns c;
	struct chunk_info info;

	(void)state;
	for (uint32_t i = 0; i < 64; i++)
		rows[i] = (struct sample_row){.time_ns = 63 - i / 2 * 2, .stack = i};
	chunk_encode_samples(rows, 64, &out, &info);
	assert_int_equal(chunk_decode_samples(out.s, out.len, &c, NULL), 0);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(c.stack[i], i % 2 ? 63 - i + 1 : 62 - i);
	sample_columns_release(&c);
}

static void test_damage(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct sample_row rows[50];
	struct sample_columns c;
	struct count_columns counts;
	struct chunk_info info;
	struct err e = {};

	(void)state;
	make_samples(rows, 50, true);
	chunk_encode_samples(rows, 50, &out, &info);
	for (size_t i = 0; i < out.len; i++) {
		assert_int_equal(chunk_decode_samples(out.s, i, &c, &e), -EBADMSG);
		out.s[i] ^= 0x10;
		assert_int_equal(chunk_decode_samples(out.s, out.len, &c, &e), -EBADMSG);
		assert_null(c.memory);
		out.s[i] ^= 0x10;
	}
	assert_int_equal(chunk_decode_counts(out.s, out.len, &counts, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "another table"));
}

/* ---- version 1 ---- */

static void add_column_1(struct buf *body, const uint64_t *values, size_t rows)
{
	column_encode(values, rows, body);
}

static void seal_1(uint32_t kind, uint32_t counter, const uint64_t *time_ns, uint32_t rows,
		   const struct buf *body, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {};

	put_u32(&head, kind);
	put_u32(&head, rows);
	put_u32(&head, counter);
	put_u64(&head, time_ns[0]);
	put_u64(&head, time_ns[rows - 1]);
	packed_seal(PACKED_CHUNK, &head, body, out);
}

static void test_version_1_is_read(void **state)
{
	CLEANUP(buf_release) struct buf body = {}, out = {}, merged = {};
	const uint64_t columns[7][3] = {{5, 6, 9}, {1, 2, 3},    {0, 77, 0},  {0, 1, 0},
					{4, 4, 2}, {10, 11, 12}, {0, 3, 1000}};
	struct chunk_piece pieces[2];
	struct sample_columns c;
	struct chunk_info info;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		add_column_1(&body, columns[i], 3);
	seal_1(SCHEMA_SAMPLES, 0, columns[0], 3, &body, &out);
	assert_int_equal(chunk_peek(out.s, out.len, &info, NULL), 0);
	assert_true(info.sampled && info.schema == SCHEMA_SAMPLES && info.rows == 3);
	/* By itself, and merged with itself, which is written in the present version. */
	pieces[0] = pieces[1] = (struct chunk_piece){out.s, out.len};
	assert_int_equal(chunks_merge(pieces, 2, &merged, &info, NULL), 0);
	assert_memory_equal(merged.s, PACKED_ROWS, 4);
	for (size_t twice = 0; twice < 2; twice++) {
		const struct buf *b = twice ? &merged : &out;
		size_t each = twice + 1;

		assert_int_equal(chunk_decode_samples(b->s, b->len, &c, NULL), 0);
		assert_int_equal(c.rows, 3 * each);
		for (size_t i = 0; i < c.rows; i++) {
			assert_int_equal(c.time_ns[i], columns[0][i / each]);
			assert_int_equal(c.weight[i], columns[1][i / each]);
			assert_int_equal(c.address[i], columns[2][i / each]);
			assert_int_equal(c.event[i], columns[3][i / each]);
			assert_int_equal(c.thread[i], columns[4][i / each]);
			assert_int_equal(c.stack[i], columns[5][i / each]);
			assert_int_equal(c.cpu[i], columns[6][i / each]);
		}
		sample_columns_release(&c);
	}
}

static void test_version_1_counts_are_read(void **state)
{
	CLEANUP(buf_release) struct buf body = {}, out = {}, merged = {};
	const uint64_t time_ns[] = {100, 110, 125}, gaps[] = {0, 0, 5}, value[] = {7, 8, 9},
		       ppm[] = {1000000, 1000000, 500000}, durations[] = {40, 10, 10};
	struct chunk_piece piece;
	struct count_columns c;
	struct chunk_info info;

	(void)state;
	add_column_1(&body, time_ns, 3);
	varint_add(&body, 40);
	add_column_1(&body, gaps, 3);
	add_column_1(&body, value, 3);
	add_column_1(&body, ppm, 3);
	seal_1(SCHEMA_COUNTS, 4, time_ns, 3, &body, &out);
	piece = (struct chunk_piece){out.s, out.len};
	assert_int_equal(chunks_merge(&piece, 1, &merged, &info, NULL), 0);
	assert_int_equal(info.partition, 4);
	for (size_t twice = 0; twice < 2; twice++) {
		const struct buf *b = twice ? &merged : &out;

		assert_int_equal(chunk_decode_counts(b->s, b->len, &c, NULL), 0);
		for (size_t i = 0; i < 3; i++) {
			assert_int_equal(c.time_ns[i], time_ns[i]);
			assert_int_equal(c.duration_ns[i], durations[i]);
			assert_int_equal(c.value[i], value[i]);
			assert_int_equal(c.running_ppm[i], ppm[i]);
		}
		count_columns_release(&c);
	}
}

/* ---- any table ---- */

#define OWN (SCHEMA_FIRST_OWN + 4)

/* Encodes @rows rows with some columns, of which the last has @tag. */
static void make_table(uint64_t first_ns, size_t rows, uint32_t tag, struct buf *out,
		       struct chunk_info *ret)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	const uint32_t tags[] = {TAG_TIME, TAG_END, TAG_CPU, TAG_WEIGHT, SCHEMA_TAG_OWN, tag};

	c->info = (struct chunk_info){.schema = OWN, .partition = 3};
	c->rows = rows;
	for (; c->count < ARRAY_LEN(tags); c->count++) {
		uint64_t *values = xcalloc(rows, sizeof(*values));

		/* Times descend; the first row, which will be the last, is the longest. */
		for (size_t i = 0; i < rows; i++)
			values[i] = c->count == 0   ? first_ns + 10 * (rows - i)
				    : c->count == 1 ? first_ns + 10 * (rows - i) + (i ? 3 : 5000)
				    : c->count <= 3 ? 0
						    : tags[c->count] * 1000 + i;
		c->columns[c->count] = (struct chunk_column){tags[c->count], values};
	}
	chunk_encode(c, out, ret);
	chunk_columns_release(c);
	free(c);
}

static void test_spans_and_columns_of_any_table(void **state)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	CLEANUP(buf_release) struct buf out = {};
	const uint32_t wanted[] = {SCHEMA_TAG_OWN, 0};
	struct chunk_info info, peeked;
	struct sample_columns samples;
	struct err e = {};

	(void)state;
	make_table(1000, 20, 99, &out, &info);
	assert_int_equal(chunk_peek(out.s, out.len, &peeked, NULL), 0);
	assert_true(info.first_ns == peeked.first_ns && info.last_ns == peeked.last_ns);
	assert_true(info.rows == peeked.rows && info.partition == peeked.partition);
	assert_true(info.schema == peeked.schema && info.sampled == peeked.sampled);
	assert_int_equal(info.first_ns, 1010);
	assert_int_equal(info.last_ns, 1200 + 5000);
	assert_int_equal(info.schema, OWN);
	assert_int_equal(info.partition, 3);
	assert_int_equal(chunk_decode(out.s, out.len, NULL, c, NULL), 0);
	/* A column of zeros is not stored, but for those that lanes of spans are made from. */
	assert_null(chunk_column(c, TAG_WEIGHT));
	assert_non_null(chunk_column(c, TAG_CPU));
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(chunk_column(c, TAG_TIME)[i], 1010 + 10 * i);
		assert_int_equal(chunk_column(c, TAG_END)[i], 1010 + 10 * i + (i < 19 ? 3 : 5000));
		assert_int_equal(chunk_column(c, 99)[i], 99000 + 19 - i);
	}
	chunk_columns_release(c);
	assert_int_equal(chunk_decode(out.s, out.len, wanted, c, NULL), 0);
	assert_int_equal(c->count, 2);
	assert_non_null(chunk_column(c, SCHEMA_TAG_OWN));
	assert_null(chunk_column(c, 99));
	chunk_columns_release(c);
	assert_int_equal(chunk_decode_samples(out.s, out.len, &samples, &e), -EBADMSG);
	for (size_t i = 0; i < out.len; i++) {
		assert_int_equal(chunk_decode(out.s, i, NULL, c, &e), -EBADMSG);
		out.s[i] ^= 0x10;
		assert_int_equal(chunk_decode(out.s, out.len, NULL, c, &e), -EBADMSG);
		assert_int_equal(c->count, 0);
		out.s[i] ^= 0x10;
	}
	free(c);
}

/* Two pieces, each with a column that the other does not have: a newer version may have written one. */
static void test_merging_keeps_unknown_columns(void **state)
{
	CLEANUP(buf_release) struct buf one = {}, two = {}, merged = {};
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct chunk_piece pieces[2];
	struct chunk_info info;

	(void)state;
	make_table(5000, 10, 70000, &one, &info);
	make_table(1000, 10, 70001, &two, &info);
	pieces[0] = (struct chunk_piece){one.s, one.len};
	pieces[1] = (struct chunk_piece){two.s, two.len};
	assert_int_equal(chunks_merge(pieces, 2, &merged, &info, NULL), 0);
	assert_int_equal(info.rows, 20);
	assert_int_equal(info.last_ns, 5100 + 5000);
	assert_int_equal(chunk_decode(merged.s, merged.len, NULL, c, NULL), 0);
	for (size_t i = 0; i < 20; i++) {
		assert_int_equal(chunk_column(c, 70001)[i], i < 10 ? 70001000 + 9 - i : 0);
		assert_int_equal(chunk_column(c, 70000)[i], i < 10 ? 0 : 70000000 + 19 - i);
	}
	chunk_columns_release(c);
	free(c);
}

/* Spans without a length have an end, too. */
static void test_merging_spans_of_no_length(void **state)
{
	CLEANUP(buf_release) struct buf points = {}, spans = {}, merged = {};
	uint64_t start[] = {500}, end[] = {500};
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct chunk_piece pieces[2];
	struct chunk_info info;

	(void)state;
	c->info = (struct chunk_info){.schema = OWN, .partition = 3};
	c->rows = 1;
	c->count = 2;
	c->columns[0] = (struct chunk_column){TAG_TIME, start};
	c->columns[1] = (struct chunk_column){TAG_END, end};
	assert_true(chunk_encode(c, &points, &info));
	make_table(1000, 10, 99, &spans, &info);
	pieces[0] = (struct chunk_piece){points.s, points.len};
	pieces[1] = (struct chunk_piece){spans.s, spans.len};
	assert_int_equal(chunks_merge(pieces, 2, &merged, &info, NULL), 0);
	assert_int_equal(chunk_decode(merged.s, merged.len, NULL, c, NULL), 0);
	assert_int_equal(chunk_column(c, TAG_END)[0], 500);
	assert_int_equal(chunk_column(c, TAG_END)[1], 1010 + 3);
	chunk_columns_release(c);
	free(c);
}

/* ---- duration classes ---- */

#define SPANS 70000u

struct class_chunks {
	bool seen[SPANS];
	size_t rows, chunks;
	uint32_t last_class;
};

static int check_class(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct class_chunks *all = ctx;

	assert_int_equal(chunk_decode(bytes->s, bytes->len, NULL, c, NULL), 0);
	assert_int_equal(info->schema, OWN);
	assert_true(info->partition >= all->last_class && info->partition < SPAN_CLASSES);
	for (size_t i = 0; i < c->rows; i++) {
		uint64_t duration_ns = chunk_column(c, TAG_END)[i] - chunk_column(c, TAG_TIME)[i];
		uint64_t number = chunk_column(c, SCHEMA_TAG_OWN)[i];

		assert_int_equal(span_class(duration_ns), info->partition);
		assert_true(duration_ns >= span_class_least_ns(info->partition));
		assert_true(number < SPANS && !all->seen[number]);
		assert_int_equal(chunk_column(c, TAG_TIME)[i], 1000 + (SPANS - number) * 3);
		all->seen[number] = true;
	}
	all->rows += c->rows;
	all->chunks++;
	all->last_class = info->partition;
	chunk_columns_release(c);
	free(c);
	return 0;
}

static int refuse_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	(void)bytes;
	(void)info;
	++*(int *)ctx;
	return -7;
}

/* More rows than a chunk may have, each with @columns columns of noise. */
static struct chunk_columns *make_spans(size_t columns)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	uint64_t noise = 88172645463325252ull;

	c->info.schema = OWN;
	c->rows = SPANS;
	for (; c->count < 3 + columns; c->count++) {
		uint64_t *values = xcalloc(SPANS, sizeof(*values));

		for (uint64_t i = 0; i < SPANS; i++) {
			uint64_t start_ns = 1000 + (SPANS - i) * 3;

			noise = noise * 6364136223846793005ull + 1442695040888963407ull;
			values[i] = c->count == 0   ? start_ns
				    : c->count == 1 ? start_ns + (i % 100 ? i % 50000
									  : 1ull << i / 100 % 62)
				    : c->count == 2 ? i
						    : noise;
		}
		c->columns[c->count] = (struct chunk_column){
			c->count == 0   ? TAG_TIME
			: c->count == 1 ? TAG_END
					: SCHEMA_TAG_OWN + (uint32_t)c->count - 2,
			values};
	}
	return c;
}

static void test_chunks_of_duration_classes(void **state)
{
	int calls = 0;

	(void)state;
	/* With noise even as many rows as a chunk may have are too large for one. */
	for (size_t columns = 0; columns <= 40; columns += 40) {
		struct class_chunks *all = xcalloc(1, sizeof(*all));
		struct chunk_columns *c = make_spans(columns);

		assert_int_equal(span_chunks_encode(c, check_class, all), 0);
		assert_int_equal(all->rows, SPANS);
		assert_int_equal(all->chunks, SPAN_CLASSES + (columns ? 2 : 1));
		/* The first failure ends it. */
		if (columns)
			assert_int_equal(span_chunks_encode(c, refuse_chunk, &calls), -7);
		chunk_columns_release(c);
		/* Without ends these are no spans. */
		c->rows = 0;
		assert_int_equal(span_chunks_encode(c, refuse_chunk, &calls), -EINVAL);
		free(c);
		free(all);
	}
	assert_int_equal(calls, 1);
}

/* Many wide columns of noise: what is written can be read, or the writer is told. */
static void test_too_large(void **state)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	CLEANUP(buf_release) struct buf merged = {};
	struct buf half[2] = {};
	struct chunk_piece pieces[2];
	struct chunk_info info;
	uint64_t seed = 3;
	struct err e = {};

	(void)state;
	c->info = (struct chunk_info){.schema = OWN};
	for (; c->count < 40; c->count++) {
		uint64_t *values = xcalloc(CHUNK_ROWS_MAX, sizeof(*values));

		for (size_t i = 0; i < CHUNK_ROWS_MAX; i++)
			values[i] = c->count ? noise(&seed) : i;
		c->columns[c->count] = (struct chunk_column){
			c->count ? SCHEMA_TAG_OWN + (uint32_t)c->count : TAG_TIME, values};
	}
	c->rows = CHUNK_ROWS_MAX / 2;
	for (size_t i = 0; i < 2; i++) {
		assert_true(chunk_encode(c, &half[i], &info));
		pieces[i] = (struct chunk_piece){half[i].s, half[i].len};
	}
	assert_int_equal(chunks_merge(pieces, 2, &merged, &info, &e), -E2BIG);
	buf_clear(&merged);
	c->rows = CHUNK_ROWS_MAX;
	assert_false(chunk_encode(c, &merged, &info));
	buf_release(&half[0]);
	buf_release(&half[1]);
	chunk_columns_release(c);
	free(c);
}

static void test_other_tables_do_not_merge(void **state)
{
	CLEANUP(buf_release) struct buf one = {}, two = {}, merged = {};
	struct sample_row row = {.time_ns = 4};
	struct chunk_piece pieces[2];
	struct chunk_info info;
	struct err e = {};

	(void)state;
	make_table(5000, 10, 99, &one, &info);
	chunk_encode_samples(&row, 1, &two, &info);
	pieces[0] = (struct chunk_piece){one.s, one.len};
	pieces[1] = (struct chunk_piece){two.s, two.len};
	assert_int_equal(chunks_merge(pieces, 2, &merged, &info, &e), -EINVAL);
	assert_non_null(strstr(e.text, "different tables"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_column_limit),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_order_is_stable),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_version_1_is_read),
		cmocka_unit_test(test_version_1_counts_are_read),
		cmocka_unit_test(test_spans_and_columns_of_any_table),
		cmocka_unit_test(test_merging_keeps_unknown_columns),
		cmocka_unit_test(test_chunks_of_duration_classes),
		cmocka_unit_test(test_merging_spans_of_no_length),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_other_tables_do_not_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
