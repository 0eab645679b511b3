/* Chunks: what goes in comes out in the order of time, and damaged bytes are refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/chunk.h"
#include "profile/columns.h"

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
		assert_int_equal(info.kind, peeked.kind);
		assert_int_equal(info.rows, peeked.rows);
		assert_int_equal(info.counter, peeked.counter);
		assert_true(info.first_ns == peeked.first_ns && info.last_ns == peeked.last_ns);
		assert_int_equal(info.rows, count);
		assert_int_equal(info.kind, CHUNK_SAMPLES);
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
		assert_int_equal(info.counter, 12);
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
	assert_non_null(strstr(e.text, "another kind"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),         cmocka_unit_test(test_column_limit),
		cmocka_unit_test(test_samples),         cmocka_unit_test(test_counts),
		cmocka_unit_test(test_order_is_stable), cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
