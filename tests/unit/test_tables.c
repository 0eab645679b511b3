/*
 * Queries about tables answer what counting by hand gives: 10,000 random selections, conditions, orders and
 * groups over random rows. TACHO_SEED repeats a case, TACHO_CASES does more of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "query_fixture.h"
#include "base/bits.h"
#include "base/number.h"

#include <math.h>

#define ROWS  600u
#define TEXTS 5u
#define CASES 10000u

enum field { SIZE, RESULT, RATIO, PATH, NUMBER, FIELDS };

/* A row as it was stored, with the texts that its numbers stand for. */
struct row {
	uint64_t time_ns, thread, cpu, stack, event;
	uint64_t fields[FIELDS];
	bool kept; /* in the selection that is asked for */
	uint64_t order;
};

static struct row rows[ROWS];
static uint32_t table_number_in_run;
static uint64_t texts[TEXTS]; /* numbers of strings, not in the order of the alphabet */

/* ---- the table ---- */

static const struct column_schema columns[] = {
	{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"event", "", "", TAG_EVENT, VALUE_EVENT, AS_KEY, 4},
	{"size", "bytes", "", SCHEMA_TAG_OWN + SIZE, VALUE_UNSIGNED, AS_VALUE, 8},
	{"result", "", "", SCHEMA_TAG_OWN + RESULT, VALUE_SIGNED, AS_VALUE, 4},
	{"ratio", "", "", SCHEMA_TAG_OWN + RATIO, VALUE_FLOAT, AS_VALUE, 8},
	{"path", "", "", SCHEMA_TAG_OWN + PATH, VALUE_STRING, AS_VALUE, 8},
	{"number", "", "", SCHEMA_TAG_OWN + NUMBER, VALUE_UNSIGNED, AS_VALUE, 4},
};

static uint64_t *cell(struct row *r, size_t column)
{
	uint64_t *common[] = {&r->time_ns, &r->thread, &r->cpu, &r->stack, &r->event};

	return column < ARRAY_LEN(common) ? common[column] : &r->fields[column - ARRAY_LEN(common)];
}

static void make_row(struct row *r, uint32_t number)
{
	*r = (struct row){
		.time_ns = START + dice(1000) * MS, /* many have the same */
		.thread = 1 + dice(3),
		.cpu = dice(3),
		.stack = stacks[dice(4)].n,
		.event = dice(2),
	};
	r->fields[SIZE] = dice(4) ? dice(20) : dice(1ull << (1 + dice(60)));
	r->fields[RESULT] = dice(3) ? dice(10) : -dice(1ull << (1 + dice(30)));
	r->fields[RATIO] = bits_of_double(((double)dice(2000) - 1000) / 8);
	r->fields[PATH] = texts[dice(TEXTS)];
	r->fields[NUMBER] = number;
}

/* Rows [@from, @to) as a chunk of their own. */
static void store_rows(size_t from, size_t to)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));

	c->info = (struct chunk_info){.schema = table_number_in_run, .sampled = true};
	c->rows = to - from;
	for (; c->count < ARRAY_LEN(columns); c->count++) {
		uint64_t *values = xcalloc(c->rows, sizeof(*values));

		for (size_t i = from; i < to; i++)
			values[i - from] = *cell(&rows[i], c->count);
		c->columns[c->count] = (struct chunk_column){columns[c->count].tag, values};
	}
	store_columns(c);
	chunk_columns_release(c);
	free(c);
}

static void make_table(void)
{
	static const char *const names[TEXTS] = {"/usr/lib", "", "/etc/passwd", "/a", "/usr/b*"};
	size_t to;

	for (size_t i = 0; i < TEXTS; i++)
		texts[i] = profile_string(&made, names[i]).n;
	table_number_in_run =
		profile_schema_add(&made,
				   &(struct table_schema){.name = "test:table",
							  .meaning = "made here",
							  .sampled = true,
							  .column_count = ARRAY_LEN(columns)},
				   columns);
	store_all_tables();
	for (uint32_t i = 0; i < ROWS; i++)
		make_row(&rows[i], i);
	for (size_t from = 0; from < ROWS; from = to) {
		to = from + 1 + dice(90);
		to = to < ROWS ? to : ROWS;
		store_rows(from, to);
	}
	/* Some chunks become one, as the tidying thread does it. */
	merge_chunks((int)table_number_in_run, 0, 1 + dice(4));
	set_state(STATE_DONE);
}

/* ---- cases ---- */

struct test_case {
	struct selection sel;
	struct table_query query;
	struct run_data *d;
	char where[200];
};

static const char *comm_of(const struct row *r)
{
	return profile_text(&made, made.threads.items[r->thread].comm);
}

/* Chooses a condition, and takes the rows that do not meet it out of the selection. */
static void choose_where(struct test_case *t)
{
	uint64_t how = dice(8), limit = dice(30);
	int64_t result = (int64_t)dice(20) - 10;

	switch (how) {
	case 0:
		snprintf(t->where, sizeof(t->where), "size < %llu", (unsigned long long)limit);
		break;
	case 1:
		snprintf(t->where, sizeof(t->where), "result >= %lld && cpu != 1",
			 (long long)result);
		break;
	case 2:
		snprintf(t->where, sizeof(t->where), "path ~ \"/usr/*\" || size & 0x%llx",
			 (unsigned long long)limit);
		break;
	case 3:
		snprintf(t->where, sizeof(t->where), "!(comm == \"worker\") && number > %llu",
			 (unsigned long long)limit * 10);
		break;
	case 4:
		snprintf(t->where, sizeof(t->where), "tid == %llu",
			 100 + (unsigned long long)limit % 4);
		break;
	case 5: /* milliseconds since the run began */
		snprintf(t->where, sizeof(t->where), "time >= %llu",
			 (unsigned long long)(limit * 10 * MS));
		break;
	default:
		t->where[0] = '\0';
	}
	for (size_t i = 0; i < ROWS; i++) {
		struct row *r = &rows[i];
		const char *path = text_at(r->fields[PATH]);

		r->kept &= how == 0   ? r->fields[SIZE] < limit
			   : how == 1 ? (int64_t)r->fields[RESULT] >= result && r->cpu != 1
			   : how == 2 ? !strncmp(path, "/usr/", 5) || (r->fields[SIZE] & limit)
			   : how == 3
				   ? strcmp(comm_of(r), "worker") && r->fields[NUMBER] > limit * 10
			   : how == 4 ? made.threads.items[r->thread].tid == 100 + limit % 4
			   : how == 5 ? r->time_ns - START >= limit * 10 * MS
				      : true;
	}
}

static bool leads_through_way(const struct row *r)
{
	return r->stack == stacks[3].n;
}

static void choose_selection(struct test_case *t)
{
	t->sel = (struct selection){.to_ns = UINT64_MAX, .event = -1};
	if (dice(2)) {
		t->sel.from_ns = START + dice(1000) * MS;
		t->sel.to_ns = t->sel.from_ns + 1 + dice(700) * MS;
	}
	if (!dice(3)) {
		t->sel.threads = xcalloc(made.threads.len, sizeof(bool));
		t->sel.thread_count = made.threads.len;
		t->sel.threads[1 + dice(3)] = t->sel.threads[1 + dice(3)] = true;
	}
	if (!dice(3)) {
		t->sel.cpus = xcalloc(CPU_LIMIT, sizeof(bool));
		t->sel.cpus[dice(3)] = true;
	}
	if (!dice(4))
		t->sel.event = (int64_t)dice(2);
	if (!dice(4)) {
		t->sel.nodes = xcalloc(t->d->paths.nodes.len, sizeof(bool));
		t->sel.nodes[call_path_known(&t->d->paths, stacks[3].n)] = true;
	}
	for (size_t i = 0; i < ROWS; i++) {
		struct row *r = &rows[i];

		r->kept = r->time_ns >= t->sel.from_ns && r->time_ns < t->sel.to_ns &&
			  (!t->sel.threads || t->sel.threads[r->thread]) &&
			  (!t->sel.cpus || t->sel.cpus[r->cpu]) &&
			  (t->sel.event < 0 || r->event == (uint64_t)t->sel.event) &&
			  (!t->sel.nodes || leads_through_way(r));
	}
}

/* ---- pages ---- */

static size_t sorted_by;
static bool sorted_down;

static int compare_cells(struct row *x, struct row *y)
{
	return compare_values(columns[sorted_by].type, *cell(x, sorted_by), *cell(y, sorted_by));
}

static int by_cells(const void *a, const void *b)
{
	int order = compare_cells(*(struct row *const *)a, *(struct row *const *)b);

	return sorted_down ? -order : order;
}

struct page_walk {
	const struct test_case *t;
	struct row *expected[ROWS];
	size_t at, number;
	bool seen[ROWS];
};

/* Rows that are equal in the column may come in the order of the chunks: only their cells must agree. */
static void check_row(void *ctx, const struct chunk_columns *c, uint32_t row)
{
	struct page_walk *w = ctx;
	uint64_t number = table_value(&w->t->query, &w->t->query.columns.items[w->number], c, row);

	assert_true(number < ROWS && rows[number].kept && !w->seen[number]);
	w->seen[number] = true;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		assert_true(table_value(&w->t->query, &w->t->query.columns.items[i], c, row) ==
			    *cell(&rows[number], i));
	assert_int_equal(compare_cells(&rows[number], w->expected[w->at]), 0);
	w->at++;
}

static void check_page(struct test_case *t)
{
	static const size_t sortable[] = {0, 2, 5, 6, 7, 8, 9};
	struct page_walk w = {.t = t, .number = column_named(&t->query, "number")};
	uint64_t offset = dice(3) ? dice(40) : dice(ROWS), limit = dice(60), wanted;
	struct table_page page;
	size_t count = 0;

	sorted_by = sortable[dice(ARRAY_LEN(sortable))];
	sorted_down = dice(2);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].kept)
			w.expected[count++] = &rows[i];
	qsort(w.expected, count, sizeof(w.expected[0]), by_cells);
	OK(table_page_find(
		&t->query,
		&(struct table_order_by){(int)column_named(&t->query, columns[sorted_by].name),
					 sorted_down},
		offset, limit, &page, &error));
	assert_int_equal(page.matched, count);
	wanted = offset >= count ? 0 : count - offset < limit ? count - offset : limit;
	assert_int_equal(page.rows.len, wanted);
	w.at = offset;
	OK(table_page_each(&t->query, &page, check_row, &w, &error));
	assert_int_equal(w.at, offset + wanted);
	table_page_release(&page);
}

/* ---- groups ---- */

/* The value of a column as the query gives it. */
static uint64_t value_by_hand(struct row *r, const char *name)
{
	if (!strcmp(name, "comm"))
		return made.threads.items[r->thread].comm.n;
	if (!strcmp(name, "tid"))
		return made.threads.items[r->thread].tid;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (!strcmp(columns[i].name, name))
			return *cell(r, i);
	fail_msg("no column %s", name);
	return 0;
}

/* Texts have other numbers in the run that was read from the store: they are compared as texts. */
static bool same_key(const struct test_case *t, size_t column, uint64_t theirs, uint64_t ours)
{
	const struct table_column *c = &t->query.columns.items[column];

	if (!table_column_is_text(c) || c->schema.type == VALUE_EVENT)
		return theirs == ours;
	return !strcmp(table_text(&t->query, c, theirs), text_at(ours));
}

static void check_percentile(double theirs, const double *sorted, size_t count, double share)
{
	size_t rank = (size_t)ceil(share * (double)count);
	double exact = sorted[(rank ? rank : 1) - 1];

	if (fabs(theirs - exact) > fabs(exact) * TABLE_BIN_WIDTH / 2 + 1e-9)
		fail_msg("percentile %g of %zu values is %g, not %g", share, count, exact, theirs);
}

static void check_group(const struct test_case *t, const struct table_group *g,
			const char *const *names, const size_t *keys, size_t key_count,
			const char *value, size_t value_column)
{
	const struct table_column *c = &t->query.columns.items[value_column];
	double values[ROWS], min = INFINITY, max = -INFINITY;
	__int128 sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < ROWS; i++) {
		bool same = rows[i].kept;

		for (size_t k = 0; k < key_count && same; k++)
			same = same_key(t, keys[k], g->keys[k], value_by_hand(&rows[i], names[k]));
		if (!same)
			continue;
		values[count] = table_number(c, value_by_hand(&rows[i], value));
		sum += c->schema.type == VALUE_SIGNED
			       ? (__int128)(int64_t)value_by_hand(&rows[i], value)
			       : (__int128)value_by_hand(&rows[i], value);
		min = fmin(min, values[count]);
		max = fmax(max, values[count]);
		count++;
	}
	assert_int_equal(g->count, count);
	assert_true(table_number(c, g->min) == min && table_number(c, g->max) == max);
	assert_true(c->schema.type == VALUE_FLOAT || g->sum == sum);
	qsort(values, count, sizeof(values[0]), compare_doubles);
	check_percentile(g->p50, values, count, 0.5);
	check_percentile(g->p90, values, count, 0.9);
	check_percentile(g->p99, values, count, 0.99);
}

static void check_groups(struct test_case *t)
{
	static const char *const groupable[] = {"cpu", "path", "comm", "tid", "event", "result"};
	static const char *const numbers[] = {"size", "result", "ratio"};
	const char *names[3], *value = numbers[dice(3)];
	size_t keys[3], key_count = 1 + dice(3), value_column = column_named(&t->query, value);
	uint64_t total = 0, kept = 0;
	struct table_groups groups;

	for (size_t k = 0; k < key_count; k++) {
		names[k] = groupable[dice(ARRAY_LEN(groupable))];
		keys[k] = column_named(&t->query, names[k]);
	}
	OK(table_group(&t->query, keys, key_count, (int)value_column, true, &groups, &error));
	for (size_t i = 0; i < ROWS; i++)
		kept += rows[i].kept;
	assert_int_equal(groups.matched, kept);
	for (size_t i = 0; i < groups.groups.len; i++) {
		const struct table_group *g = &groups.groups.items[i];

		total += g->count;
		assert_true(!i || g->count <= g[-1].count);
		/* All of them now and then: each costs a walk over all rows. */
		if (i < 3)
			check_group(t, g, names, keys, key_count, value, value_column);
	}
	assert_int_equal(total, kept);
	table_groups_release(&groups);
}

/* ---- distributions ---- */

/* Each value with its count is all rows that have it. */
static void check_counts(const struct value_list *values, const double *sorted, size_t count)
{
	size_t counted = 0;

	assert_int_equal(values->counts.len, values->values.len);
	for (size_t i = 0; i < values->values.len; i++) {
		uint64_t same = 0;

		for (size_t row = 0; row < count; row++)
			same += sorted[row] == values->values.items[i];
		assert_int_equal(values->counts.items[i], same);
		counted += same;
	}
	assert_int_equal(counted, count);
}

static void check_values(struct test_case *t)
{
	static const char *const numbers[] = {"size", "result", "ratio"};
	const char *name = numbers[dice(3)];
	size_t column = column_named(&t->query, name), count = 0;
	const struct table_column *c = &t->query.columns.items[column];
	struct table_heat h = {.columns = 1 + (uint32_t)dice(20),
			       .rows = 1 + (uint32_t)dice(20),
			       .from_ns = START,
			       .to_ns = START + 1000 * MS,
			       .log = dice(2)};
	struct value_list values = {};
	double expected[ROWS];
	uint64_t cells = 0;

	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].kept)
			expected[count++] = table_number(c, value_by_hand(&rows[i], name));
	OK(table_values(&t->query, column, &values, &error));
	qsort(expected, count, sizeof(expected[0]), compare_doubles);
	check_counts(&values, expected, count);
	value_list_release(&values);
	OK(table_heat_make(&t->query, column, &h, &error));
	assert_int_equal(h.matched, count);
	if (count)
		assert_true(h.min == expected[0] && h.max == expected[count - 1]);
	for (size_t i = 0; i < (size_t)h.columns * h.rows; i++)
		cells += h.cells[i];
	assert_int_equal(cells, count);
	free(h.cells);
}

static void one_case(void)
{
	struct test_case t = {};

	OK(run_cache_get(server.cache, store, &run, &t.d, &error));
	choose_selection(&t);
	choose_where(&t);
	OK(table_query_open(&t.query, t.d, store, &t.sel, "test:table", t.where, &error));
	switch (dice(3)) {
	case 0:
		check_page(&t);
		break;
	case 1:
		check_groups(&t);
		break;
	default:
		check_values(&t);
	}
	table_query_close(&t.query);
	selection_release(&t.sel);
	run_cache_put(server.cache, t.d);
}

static void test_as_by_hand(void **state)
{
	uint64_t cases = from_environment("TACHO_CASES", CASES);

	(void)state;
	seed_from_environment(cases);
	make_table();
	for (uint64_t i = 0; i < cases; i++) {
		/* As after a start of the server: what was worked out is read, not the dictionary. */
		if (i == cases / 2)
			forget();
		one_case();
	}
}

/* ---- what is refused ---- */

static void test_mistakes(void **state)
{
	const struct selection all = {.to_ns = UINT64_MAX, .event = -1};
	struct table_query q;
	struct run_data *d;
	size_t column;

	(void)state;
	seed_dice(77);
	make_table();
	OK(run_cache_get(server.cache, store, &run, &d, &error));
	assert_int_equal(table_query_open(&q, d, store, &all, "test:tabel", NULL, &error), -ENOENT);
	assert_non_null(strstr(error.text, "test:table"));
	assert_int_equal(table_query_open(&q, d, store, &all, "test:table", "sise == 3", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "size"));
	/* Their rows do not say which counter they are of. */
	assert_int_equal(table_query_open(&q, d, store, &all, "counts", NULL, &error), -ENOENT);
	OK(table_query_open(&q, d, store, &all, "test:table", NULL, &error));
	assert_int_equal(table_column_find(&q, "pahts", &column, &error), -EINVAL);
	assert_non_null(strstr(error.text, "path"));
	table_query_close(&q);
	run_cache_put(server.cache, d);
}

/* Questions about samples are about the rows of this table, too. */
static void test_rows_are_samples(void **state)
{
	uint64_t samples = 0;
	json_t *json;

	(void)state;
	seed_dice(99);
	make_table();
	json = ask("functions?event=faults");
	for (size_t i = 0; i < ROWS; i++)
		samples += rows[i].event == 1;
	assert_int_equal(number(json, "samples"), samples);
	assert_int_equal(of_function(json, "main", "total_samples"), samples);
	json_decref(json);
}

/* ---- spans ---- */

/* Three spans of two threads, the second of which begins after its end: whoever wrote that, it lasts not
 * for centuries. */
static uint64_t span_columns[3][3] = {
	{START, START + MS, START + 2 * MS},
	{START + 5 * MS, START, START + 3 * MS},
	{1, 1, 2},
};

static void make_spans(void)
{
	static const struct column_schema of_spans[] = {
		{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
		{"end", "ns", "", TAG_END, VALUE_TIME, AS_END, 8},
		{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	};
	const struct table_schema table = {
		.name = "spans", .meaning = "", .is_span = true, .column_count = 3};
	struct chunk_columns c = {.rows = 3, .count = 3};

	c.info.schema = profile_schema_add(&made, &table, of_spans);
	for (size_t i = 0; i < 3; i++)
		c.columns[i] = (struct chunk_column){of_spans[i].tag, span_columns[i]};
	store_all_tables();
	store_columns(&c);
	set_state(STATE_DONE);
}

static void test_spans_have_a_duration(void **state)
{
	const struct selection all = {.to_ns = UINT64_MAX, .event = -1};
	struct table_groups groups;
	struct table_query q;
	struct table_page page;
	struct run_data *d;
	size_t duration, tid;

	(void)state;
	make_spans();
	OK(run_cache_get(server.cache, store, &run, &d, &error));
	OK(table_query_open(&q, d, store, &all, "spans", NULL, &error));
	OK(table_column_find(&q, "duration", &duration, &error));
	OK(table_column_find(&q, "tid", &tid, &error));
	assert_true(value_type_is_number(q.columns.items[duration].schema.type));
	OK(table_group(&q, &tid, 1, (int)duration, true, &groups, &error));
	assert_int_equal(groups.groups.len, 2);
	assert_int_equal(groups.groups.items[0].count, 2);
	assert_true(groups.groups.items[0].sum == 5 * MS);
	assert_true(groups.groups.items[1].sum == MS);
	table_groups_release(&groups);
	OK(table_page_find(&q, &(struct table_order_by){(int)duration, true}, 0, 3, &page, &error));
	assert_int_equal(page.rows.items[0].key, ~(5 * MS));
	table_page_release(&page);
	table_query_close(&q);
	OK(table_query_open(&q, d, store, &all, "spans", "duration >= 1000000", &error));
	OK(table_page_find(&q, &(struct table_order_by){.column = -1}, 0, 3, &page, &error));
	assert_int_equal(page.matched, 2);
	table_page_release(&page);
	table_query_close(&q);
	/* Points have none. */
	OK(table_query_open(&q, d, store, &all, "samples", NULL, &error));
	assert_int_equal(table_column_find(&q, "duration", &duration, &error), -EINVAL);
	table_query_close(&q);
	run_cache_put(server.cache, d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_by_hand, begin, end),
		cmocka_unit_test_setup_teardown(test_mistakes, begin, end),
		cmocka_unit_test_setup_teardown(test_rows_are_samples, begin, end),
		cmocka_unit_test_setup_teardown(test_spans_have_a_duration, begin, end),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
