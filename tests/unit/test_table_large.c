/*
 * Queries about a table of many chunks and blocks answer what counting by hand gives: pages far behind the
 * beginning, sums, rounded distributions; whether columns are in memory or find no room there.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "query_fixture.h"
#include "base/bits.h"

#include <math.h>

#define ROWS  720000u
#define CHUNK 60000u

enum field { SIZE, RESULT, RATIO, PATH, FIELDS };
enum column { TIME, THREAD, CPU, STACK, FIRST_FIELD };

static const struct column_schema columns[] = {
	{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"size", "bytes", "", SCHEMA_TAG_OWN + SIZE, VALUE_UNSIGNED, AS_VALUE, 8},
	{"result", "", "", SCHEMA_TAG_OWN + RESULT, VALUE_SIGNED, AS_VALUE, 4},
	{"ratio", "", "", SCHEMA_TAG_OWN + RATIO, VALUE_FLOAT, AS_VALUE, 8},
	{"path", "", "", SCHEMA_TAG_OWN + PATH, VALUE_STRING, AS_VALUE, 8},
};

static uint64_t cells[ARRAY_LEN(columns)][ROWS];

/* ---- the table ---- */

static void make_rows(void)
{
	static const char *const names[] = {"zebra", "", "ant", "mole"};
	uint64_t texts[ARRAY_LEN(names)];

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		texts[i] = profile_string(&made, names[i]).n;
	for (size_t i = 0; i < ROWS; i++) {
		/* Chunks overlap. */
		cells[TIME][i] = START + (i / CHUNK) * 1000 * MS + dice(1500 * MS);
		cells[THREAD][i] = 1 + dice(3);
		cells[CPU][i] = dice(4);
		cells[STACK][i] = stacks[dice(4)].n;
		/* Nearly all different; of each chunk in a range of its own. */
		cells[FIRST_FIELD + SIZE][i] = ((uint64_t)(i / CHUNK) << 36) + dice(1ull << 37);
		/* Nearly all the same, some negative. */
		cells[FIRST_FIELD + RESULT][i] = dice(50) ? 7 : (uint64_t)((int64_t)dice(40) - 20);
		cells[FIRST_FIELD + RATIO][i] = bits_of_double(((double)dice(1 << 20) - 4e5) / 3);
		cells[FIRST_FIELD + PATH][i] = texts[dice(ARRAY_LEN(names))];
	}
}

static void store_chunk(uint32_t schema, size_t from)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));

	c->info = (struct chunk_info){.schema = schema, .sampled = true};
	c->rows = CHUNK;
	for (; c->count < ARRAY_LEN(columns); c->count++)
		c->columns[c->count] =
			(struct chunk_column){columns[c->count].tag, &cells[c->count][from]};
	store_columns(c);
	free(c);
}

static void make_table(void)
{
	const struct table_schema table = {.name = "test:large",
					   .meaning = "made here",
					   .sampled = true,
					   .column_count = ARRAY_LEN(columns)};
	uint32_t schema;

	make_rows();
	schema = profile_schema_add(&made, &table, columns);
	store_all_tables();
	for (size_t from = 0; from < ROWS; from += CHUNK)
		store_chunk(schema, from);
	set_state(STATE_DONE);
}

static int begin_table(void **state)
{
	begin(state);
	make_table();
	return 0;
}

/* ---- asking ---- */

struct asking {
	struct selection sel;
	struct run_data *d;
	struct table_query q;
};

static void open_query(struct asking *a, const char *where)
{
	a->sel = (struct selection){.to_ns = UINT64_MAX, .event = -1};
	OK(run_cache_get(server.cache, store, &run, &a->d, &error));
	OK(table_query_open(&a->q, a->d, store, &a->sel, "test:large", where, &error));
}

static void close_query(struct asking *a)
{
	table_query_close(&a->q);
	run_cache_put(server.cache, a->d);
}

/* ---- pages ---- */

static size_t sorted_by;
static uint32_t sorted[ROWS];

static int by_cell(const void *a, const void *b)
{
	return compare_values(columns[sorted_by].type, cells[sorted_by][*(const uint32_t *)a],
			      cells[sorted_by][*(const uint32_t *)b]);
}

struct page_check {
	const struct asking *a;
	size_t at, count;
	bool down;
	uint64_t last[2]; /* size and time of the row before: pages have no row twice */
};

static void check_row(void *ctx, const struct chunk_columns *c, uint32_t row)
{
	struct page_check *k = ctx;
	const struct table_query *q = &k->a->q;
	uint64_t value = table_value(q, &q->columns.items[sorted_by], c, row);
	uint64_t expected = cells[sorted_by][sorted[k->down ? k->count - 1 - k->at : k->at]];
	uint64_t this[2] = {table_value(q, &q->columns.items[FIRST_FIELD + SIZE], c, row),
			    table_value(q, &q->columns.items[TIME], c, row)};

	if (compare_values(columns[sorted_by].type, value, expected))
		fail_msg("row %zu in the order of %s is not the right one", k->at,
			 columns[sorted_by].name);
	assert_memory_not_equal(this, k->last, sizeof(this));
	memcpy(k->last, this, sizeof(this));
	k->at++;
}

static void check_page(const struct asking *a, size_t count, uint64_t offset, bool down)
{
	struct page_check k = {.a = a, .at = offset, .count = count, .down = down};
	uint64_t wanted = offset >= count ? 0 : count - offset < 100 ? count - offset : 100;
	struct table_page page;

	OK(table_page_find(&a->q, &(struct table_order_by){(int)sorted_by, down}, offset, 100,
			   &page, &error));
	assert_int_equal(page.matched, count);
	assert_int_equal(page.rows.len, wanted);
	OK(table_page_each(&a->q, &page, check_row, &k, &error));
	assert_int_equal(k.at, offset + wanted);
	table_page_release(&page);
}

static void check_pages(const char *where, bool (*holds)(size_t row))
{
	static const size_t by[] = {TIME, FIRST_FIELD + SIZE, FIRST_FIELD + RESULT,
				    FIRST_FIELD + RATIO, FIRST_FIELD + PATH};
	struct asking a;

	for (size_t n = 0; n < ARRAY_LEN(by); n++) {
		size_t count = 0;

		for (uint32_t i = 0; i < ROWS; i++)
			if (!holds || holds(i))
				sorted[count++] = i;
		sorted_by = by[n];
		qsort(sorted, count, sizeof(sorted[0]), by_cell);
		for (int down = 0; down < 2; down++) {
			const uint64_t offsets[] = {0, 4000, 5000, count / 3, count - 50, count};

			open_query(&a, where);
			/* Now and then nothing can be kept. */
			a.d->rows_bytes_max = down && n % 2 ? 0 : 128 << 20;
			for (size_t i = 0; i < ARRAY_LEN(offsets); i++)
				check_page(&a, count, offsets[i], down);
			close_query(&a);
		}
	}
}

static void any_page_is_right(void **state)
{
	(void)state;
	check_pages(NULL, NULL);
}

static bool is_large(size_t row)
{
	return cells[FIRST_FIELD + SIZE][row] >= 500000000000ull && cells[CPU][row] != 2;
}

static void any_page_of_chosen_rows_is_right(void **state)
{
	(void)state;
	check_pages("size >= 500000000000 && cpu != 2", is_large);
}

/* Each row is on one page, whatever rows are equal in the column. */
struct collected {
	const struct asking *a;
	uint64_t sum, rows;
};

static void add_size(void *ctx, const struct chunk_columns *c, uint32_t row)
{
	struct collected *to = ctx;

	to->sum += table_value(&to->a->q, &to->a->q.columns.items[FIRST_FIELD + SIZE], c, row);
	to->rows++;
}

static void pages_have_each_row_once(void **state)
{
	uint64_t expected = 0, rows = 0;
	struct asking a;
	struct collected k = {.a = &a};

	(void)state;
	open_query(&a, "result < 0");
	for (size_t i = 0; i < ROWS; i++) {
		bool chosen = (int64_t)cells[FIRST_FIELD + RESULT][i] < 0;

		rows += chosen;
		expected += chosen ? cells[FIRST_FIELD + SIZE][i] : 0;
	}
	for (uint64_t offset = 0; offset < rows; offset += 1000) {
		struct table_page page;

		OK(table_page_find(
			&a.q, &(struct table_order_by){(int)column_named(&a.q, "result"), false},
			offset, 1000, &page, &error));
		OK(table_page_each(&a.q, &page, add_size, &k, &error));
		table_page_release(&page);
	}
	assert_int_equal(k.rows, rows);
	assert_int_equal(k.sum, expected);
	close_query(&a);
}

/* ---- sums ---- */

static void sums_are_those_of_the_rows(void **state)
{
	struct table_groups groups;
	struct asking a;
	size_t keys[2];

	(void)state;
	open_query(&a, NULL);
	a.sel.from_ns = START + 700 * MS;
	a.sel.to_ns = START + 5250 * MS;
	keys[0] = column_named(&a.q, "cpu");
	keys[1] = column_named(&a.q, "tid");
	OK(table_group(&a.q, keys, 2, (int)column_named(&a.q, "result"), true, &groups, &error));
	assert_int_equal(groups.groups.len, 12);
	vec_each(&groups.groups, g) {
		int64_t sum = 0;
		uint64_t count = 0;

		for (size_t i = 0; i < ROWS; i++) {
			if (cells[CPU][i] != g->keys[0] || 99 + cells[THREAD][i] != g->keys[1] ||
			    cells[TIME][i] < a.sel.from_ns || cells[TIME][i] >= a.sel.to_ns)
				continue;
			sum += (int64_t)cells[FIRST_FIELD + RESULT][i];
			count++;
		}
		assert_int_equal(g->count, count);
		assert_true(g->sum == sum);
		assert_true(g->p50 == 7);
	}
	table_groups_release(&groups);
	close_query(&a);
}

/* As many groups as find room, and the rest told; the same with any number of threads. */
static void groups_without_room_are_told(void **state)
{
	struct table_groups groups;
	uint64_t counted = 0;
	struct asking a;
	size_t key;

	(void)state;
	open_query(&a, NULL);
	key = column_named(&a.q, "size");
	OK(table_group(&a.q, &key, 1, (int)key, true, &groups, &error));
	assert_int_equal(groups.groups.len, TABLE_GROUPS_MAX);
	vec_each(&groups.groups, g)
		counted += g->count;
	assert_int_equal(groups.matched, ROWS);
	assert_int_equal(counted + groups.left_out, ROWS);
	table_groups_release(&groups);
	close_query(&a);
}

/* ---- distributions ---- */

static void check_distribution(const char *name, double (*as_number)(uint64_t value))
{
	double *expected = xcalloc(ROWS, sizeof(*expected));
	struct value_histogram h;
	struct value_list list = {};
	uint64_t counted = 0;
	struct asking a;
	size_t column;

	open_query(&a, NULL);
	column = column_named(&a.q, name);
	for (size_t i = 0; i < ROWS; i++)
		expected[i] = as_number(cells[column][i]);
	qsort(expected, ROWS, sizeof(*expected), compare_doubles);
	OK(table_values(&a.q, column, &list, &error));
	/* Memory does not grow with rows. */
	assert_true(list.values.len < ROWS);
	for (size_t i = 0; i < list.counts.len; i++)
		counted += list.counts.items[i];
	assert_int_equal(counted, ROWS);
	value_histogram_make(&h, &list, 10, false);
	assert_int_equal(h.count, ROWS);
	assert_true(h.min == expected[0] && h.max == expected[ROWS - 1]);
	assert_true(fabs(h.p50 - expected[ROWS / 2 - 1]) <=
		    fabs(expected[ROWS / 2 - 1]) * TABLE_VALUES_ERROR);
	assert_true(fabs(h.p99 - expected[(size_t)(ROWS * 0.99) - 1]) <=
		    fabs(expected[(size_t)(ROWS * 0.99) - 1]) * TABLE_VALUES_ERROR);
	value_histogram_release(&h);
	value_list_release(&list);
	free(expected);
	close_query(&a);
}

static double plain(uint64_t value)
{
	return (double)value;
}

static double by_sign(uint64_t value)
{
	return (double)(int64_t)value;
}

static void many_values_are_rounded(void **state)
{
	(void)state;
	check_distribution("size", plain);
	check_distribution("ratio", double_of_bits);
	check_distribution("result", by_sign);
}

/* ---- flame graphs ---- */

static void weights_are_those_of_the_stacks(void **state)
{
	struct table_weights w;
	struct asking a;

	(void)state;
	open_query(&a, "cpu == 1");
	OK(table_weigh(&a.q, column_named(&a.q, "result"), &w, &error));
	for (size_t s = 0; s < ARRAY_LEN(stacks); s++) {
		uint32_t node = call_path_known(&a.d->paths, stacks[s].n);
		uint64_t sum = 0, rows = 0;

		for (size_t i = 0; i < ROWS; i++) {
			int64_t result = (int64_t)cells[FIRST_FIELD + RESULT][i];

			if (cells[CPU][i] != 1 || result < 0 ||
			    call_path_known(&a.d->paths, (uint32_t)cells[STACK][i]) != node)
				continue;
			sum += (uint64_t)result;
			rows++;
		}
		assert_int_equal(w.nodes.self[node], sum);
		assert_int_equal(w.nodes.samples[node], rows);
	}
	assert_true(w.left_out > 0);
	node_weights_release(&w.nodes);
	assert_int_equal(table_weigh(&a.q, column_named(&a.q, "ratio"), &w, &error), -EINVAL);
	assert_non_null(strstr(error.text, "floating"));
	assert_int_equal(table_weigh(&a.q, column_named(&a.q, "path"), &w, &error), -EINVAL);
	close_query(&a);
}

/* ---- memory ---- */

static void columns_count_into_the_limit(void **state)
{
	const size_t limit = 4 << 20;
	struct value_list list = {};
	struct asking a;
	size_t kept;

	(void)state;
	open_query(&a, NULL);
	a.d->rows_bytes_max = limit;
	OK(table_values(&a.q, column_named(&a.q, "size"), &list, &error));
	value_list_release(&list);
	kept = a.d->rows_bytes;
	/* A chunk of this column may be what goes beyond it, on each thread. */
	assert_true(kept > 0 && kept < limit + 4 * CHUNK * 9);
	assert_true(a.d->bytes > kept);
	/* Another column finds no room, until nobody asks any more. */
	OK(table_values(&a.q, column_named(&a.q, "time"), &list, &error));
	value_list_release(&list);
	assert_true(a.d->columns_wait && a.d->rows_bytes < kept + CHUNK);
	close_query(&a);
	open_query(&a, NULL);
	assert_false(a.d->columns_wait);
	assert_true(a.d->rows_bytes < kept / 2);
	OK(table_values(&a.q, column_named(&a.q, "time"), &list, &error));
	value_list_release(&list);
	assert_true(a.d->rows_bytes > kept / 4);
	close_query(&a);
	/* Nobody has the run: the limit of all runs may take it away. */
	OK(run_cache_get(server.cache, store, &run, &a.d, &error));
	kept = a.d->bytes;
	assert_true(run_data_trim(a.d));
	assert_int_equal(a.d->rows_bytes, 0);
	assert_true(a.d->bytes < kept);
	run_cache_put(server.cache, a.d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_page_is_right, begin_table, end),
		cmocka_unit_test_setup_teardown(any_page_of_chosen_rows_is_right, begin_table, end),
		cmocka_unit_test_setup_teardown(pages_have_each_row_once, begin_table, end),
		cmocka_unit_test_setup_teardown(sums_are_those_of_the_rows, begin_table, end),
		cmocka_unit_test_setup_teardown(groups_without_room_are_told, begin_table, end),
		cmocka_unit_test_setup_teardown(many_values_are_rounded, begin_table, end),
		cmocka_unit_test_setup_teardown(weights_are_those_of_the_stacks, begin_table, end),
		cmocka_unit_test_setup_teardown(columns_count_into_the_limit, begin_table, end),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
