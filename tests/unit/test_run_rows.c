/* Samples as they are kept in memory: what comes out is what went in. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "query/run_rows.h"

#include <stdlib.h>
#include <string.h>

#define ROWS    5000u
#define EVENTS  3u
#define THREADS 40u
#define ALL     (ROWS_TIME | ROWS_WEIGHT | ROWS_KIND)

struct made {
	struct sample_columns c;
	uint64_t time_ns[ROWS], weight[ROWS], address[ROWS];
	uint32_t event[ROWS], thread[ROWS], stack[ROWS], cpu[ROWS];
};

/* @step_ns: at most so much between two. */
static struct made *make(size_t rows, uint64_t step_ns, bool weights, bool addresses)
{
	struct made *m = calloc(1, sizeof(*m));
	uint64_t now = 1ull << 40;

	assert_non_null(m);
	srandom((unsigned)(rows + weights));
	m->c = (struct sample_columns){.rows = rows,
				       .time_ns = m->time_ns,
				       .weight = m->weight,
				       .address = addresses ? m->address : NULL,
				       .event = m->event,
				       .thread = m->thread,
				       .stack = m->stack,
				       .cpu = m->cpu};
	for (size_t i = 0; i < rows; i++) {
		now += (uint64_t)random() % step_ns;
		m->time_ns[i] = now;
		m->event[i] = (uint32_t)random() % EVENTS;
		m->thread[i] = (uint32_t)random() % THREADS;
		m->cpu[i] = (uint32_t)random() % 64;
		m->stack[i] = (uint32_t)random();
		m->weight[i] = weights ? (uint64_t)random() : 1000 + m->event[i];
		m->address[i] = (uint64_t)random();
	}
	return m;
}

static void compare_row(const struct sample_columns *got, size_t at, const struct made *m,
			size_t row)
{
	assert_true(got->time_ns[at] == m->time_ns[row]);
	assert_true(got->weight[at] == m->weight[row]);
	assert_int_equal(got->event[at], m->event[row]);
	assert_int_equal(got->thread[at], m->thread[row]);
	assert_int_equal(got->cpu[at], m->cpu[row]);
	assert_int_equal(got->stack[at], m->stack[row]);
	assert_int_equal(got->address != NULL, m->c.address != NULL);
	if (got->address)
		assert_true(got->address[at] == m->address[row]);
}

static void compare(const struct made *m, size_t from, size_t to)
{
	struct run_rows *r = run_rows_make(&m->c, EVENTS, THREADS);
	struct row_block *b = malloc(sizeof(*b));
	size_t at = from;

	assert_non_null(b);
	while (at < to) {
		size_t count = run_rows_block(r, at, to, NULL, ALL, b);

		assert_in_range(count, 1, RUN_ROWS_BLOCK);
		assert_int_equal(b->columns.rows, count);
		for (size_t i = 0; i < count; i++)
			compare_row(&b->columns, i, m, at + i);
		at += count;
	}
	assert_int_equal(at, to);
	for (size_t i = 0; i < m->c.rows; i += 7) {
		size_t first = run_rows_at(r, m->time_ns[i]);

		assert_true(m->time_ns[first] == m->time_ns[i]);
		assert_true(!first || m->time_ns[first - 1] < m->time_ns[i]);
		assert_int_equal(run_rows_at(r, m->time_ns[m->c.rows - 1] + 1), m->c.rows);
	}
	assert_int_equal(run_rows_at(r, 0), 0);
	assert_int_equal(run_rows_at(r, UINT64_MAX), m->c.rows);
	free(b);
	run_rows_free(r);
}

static void what_went_in(void **state)
{
	static const size_t sizes[] = {1, 2, RUN_ROWS_BLOCK, RUN_ROWS_BLOCK + 1, ROWS};

	(void)state;
	for (unsigned form = 0; form < 8; form++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			/* Close together (also at the same time), or hours apart. */
			struct made *m =
				make(sizes[i], form & 1 ? 3 : 1ull << 42, form & 2, form & 4);

			compare(m, 0, sizes[i]);
			compare(m, sizes[i] / 3, sizes[i] - sizes[i] / 4);
			free(m);
		}
}

/* Only kinds that are wanted, and only the columns that were asked for. */
static void kinds_that_are_wanted(void **state)
{
	struct made *m = make(ROWS, 3, true, true);
	struct run_rows *r = run_rows_make(&m->c, EVENTS, THREADS);
	struct row_block *b = malloc(sizeof(*b));
	const struct row_kind *kinds;
	size_t count = run_rows_kinds(r, &kinds), row = 100;
	bool *wanted = calloc(count, sizeof(*wanted));

	(void)state;
	assert_true(b && wanted);
	assert_true(run_rows_weights_differ(r));
	for (size_t i = 0; i < count; i++)
		wanted[i] = kinds[i].event == 1 && kinds[i].cpu < 9;
	for (size_t at = 100; at < ROWS - 50;) {
		at += run_rows_block(r, at, ROWS - 50, wanted, ALL, b);
		for (size_t i = 0; i < b->columns.rows; i++, row++) {
			while (m->event[row] != 1 || m->cpu[row] >= 9)
				row++;
			compare_row(&b->columns, i, m, row);
		}
	}
	for (; row < ROWS - 50; row++)
		assert_true(m->event[row] != 1 || m->cpu[row] >= 9);
	run_rows_block(r, 0, 10, NULL, ROWS_WEIGHT, b);
	assert_int_equal(b->columns.rows, 10);
	assert_true(b->columns.weight && !b->columns.time_ns && !b->columns.event);
	free(wanted);
	free(b);
	run_rows_free(r);
	free(m);
}

struct expected {
	const struct made *m;
	size_t from, to, seen;
};

static void compare_sum(void *ctx, const struct kind_sum *sum)
{
	struct expected *x = ctx;
	uint64_t samples = 0, weight = 0, first = 0, last = 0;

	for (size_t i = x->from; i < x->to; i++) {
		if (x->m->event[i] != sum->kind->event || x->m->thread[i] != sum->kind->thread ||
		    x->m->cpu[i] != sum->kind->cpu)
			continue;
		first = samples++ ? first : x->m->time_ns[i];
		last = x->m->time_ns[i];
		weight += x->m->weight[i];
	}
	assert_true(sum->samples == samples && sum->weight == weight);
	assert_true(sum->first_ns == first && sum->last_ns == last);
	x->seen += samples;
}

static void sums_of_kinds(void **state)
{
	struct kind_scratch scratch = {};

	(void)state;
	for (unsigned form = 0; form < 4; form++) {
		struct made *m = make(ROWS, form & 1 ? 3 : 1ull << 42, form & 2, false);
		struct run_rows *r = run_rows_make(&m->c, EVENTS, THREADS);
		struct expected x = {m, 100, 400, 0};

		run_rows_sum(r, x.from, x.to, NULL, &scratch, compare_sum, &x);
		assert_int_equal(x.seen, 300);
		/* Nothing of it is left over. */
		x = (struct expected){m, 4000, 4100, 0};
		run_rows_sum(r, x.from, x.to, NULL, &scratch, compare_sum, &x);
		assert_int_equal(x.seen, 100);
		run_rows_free(r);
		free(m);
	}
	kind_scratch_release(&scratch);
}

static void numbers_that_are_not_there(void **state)
{
	struct made *m = make(100, 10, false, false);
	struct row_block *b = malloc(sizeof(*b));
	struct run_rows *r;

	(void)state;
	assert_non_null(b);
	m->thread[3] = THREADS;
	m->event[4] = UINT32_MAX;
	r = run_rows_make(&m->c, EVENTS, THREADS);
	run_rows_block(r, 0, 100, NULL, ALL, b);
	assert_int_equal(b->columns.thread[3], 0);
	assert_int_equal(b->columns.event[4], 0);
	assert_int_equal(b->columns.thread[5], m->thread[5]);
	run_rows_free(r);
	free(b);
	free(m);
}

/* As many kinds as a number of 16 bits can tell apart. */
static void every_row_of_its_kind(void **state)
{
	struct sample_row *rows = calloc(CHUNK_ROWS_MAX, sizeof(*rows));
	struct row_block *b = malloc(sizeof(*b));
	struct sample_columns c = {};
	struct chunk_info info;
	CLEANUP(buf_release) struct buf bytes = {};
	struct run_rows *r;

	(void)state;
	assert_non_null(rows);
	assert_non_null(b);
	for (uint32_t i = 0; i < CHUNK_ROWS_MAX; i++)
		rows[i] = (struct sample_row){.time_ns = i, .thread = i, .weight = 1, .stack = i};
	chunk_encode_samples(rows, CHUNK_ROWS_MAX, &bytes, &info);
	assert_int_equal(chunk_decode_samples(bytes.s, bytes.len, &c, NULL), 0);
	r = run_rows_make(&c, 1, CHUNK_ROWS_MAX);
	for (uint32_t at = 0; at < CHUNK_ROWS_MAX; at += RUN_ROWS_BLOCK) {
		assert_int_equal(run_rows_block(r, at, CHUNK_ROWS_MAX, NULL, ALL, b),
				 RUN_ROWS_BLOCK);
		for (uint32_t i = 0; i < RUN_ROWS_BLOCK; i++)
			assert_int_equal(b->columns.thread[i], at + i);
	}
	run_rows_free(r);
	sample_columns_release(&c);
	free(rows);
	free(b);
}

static void much_smaller(void **state)
{
	struct made *m = make(ROWS, 1000, false, false);
	struct run_rows *r = run_rows_make(&m->c, EVENTS, THREADS);

	(void)state;
	/* Decoded, a row has 32 bytes; kinds are few in real ones. */
	assert_true(run_rows_bytes(r) > 10 * ROWS);
	for (size_t i = 0; i < ROWS; i++)
		m->cpu[i] = m->thread[i] = 1;
	run_rows_free(r);
	r = run_rows_make(&m->c, EVENTS, THREADS);
	assert_true(run_rows_bytes(r) < 11 * ROWS);
	run_rows_free(r);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_went_in),
		cmocka_unit_test(numbers_that_are_not_there),
		cmocka_unit_test(every_row_of_its_kind),
		cmocka_unit_test(much_smaller),
		cmocka_unit_test(kinds_that_are_wanted),
		cmocka_unit_test(sums_of_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
