/*
 * Spans in windows, groups and lanes are what counting by hand gives: 10,000 random questions about tables
 * of spans from no length to a minute. TACHO_SEED repeats a case, TACHO_CASES does more of them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "query_fixture.h"
#include "base/number.h"
#include "profile/packed.h"
#include "profile/spans.h"

#define CASES     10000u
#define ROWS      4000u
#define THREADS   40u
#define CPUS      6u
#define CELLS     300u
#define S         (1000 * MS)
#define LANES_END 70000u /* lane numbers are below */

struct span {
	uint64_t start_ns, end_ns, thread, cpu, event, stack, key, number;
	bool kept;
};

/* How the spans of a table are made, and how they are stored. */
struct shape {
	const char *name;
	bool sampled, keyed; /* samples, too; with a column TAG_KEY */
	uint64_t cpus, threads;
	unsigned longest_bits; /* of the duration in us */
	bool back_to_back;
	bool one_class; /* chunks of one class have spans of all */
	size_t batch;   /* rows encoded at once */
	size_t merge;   /* chunks that become one, 0: none does */
	size_t keyless; /* chunks of the first rows have no column TAG_KEY, though the table has */
};

static const struct shape shapes[] = {
	{"mixed", false, true, CPUS, THREADS, 26, false, false, 500, 50},
	{"slices", false, false, 2, 5, 10, true, false, 2000, 2},
	{"liars", false, true, CPUS, 3, 26, false, true, 1500, 2, 3000},
	{"small", false, false, CPUS, THREADS, 20, false, false, 90, 0},
	{"alone", true, false, 1, 1, 12, true, false, ROWS, 1},
};

#define TABLES ARRAY_LEN(shapes)

static struct span spans[TABLES][ROWS];
static uint32_t schemas[TABLES];

/* ---- tables ---- */

static const struct column_schema columns[] = {
	{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"end", "ns", "", TAG_END, VALUE_TIME, AS_END, 8},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"event", "", "", TAG_EVENT, VALUE_EVENT, AS_KEY, 4},
	{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"number", "", "", SCHEMA_TAG_OWN, VALUE_UNSIGNED, AS_VALUE, 4},
	{"what", "", "", TAG_KEY, VALUE_UNSIGNED, AS_KEY, 8},
};

static uint64_t value_of(const struct span *s, size_t column)
{
	const uint64_t values[] = {s->start_ns, s->end_ns, s->thread, s->cpu,
				   s->event,    s->stack,  s->number, s->key};

	return values[column];
}

static uint64_t any_duration(const struct shape *shape)
{
	if (!dice(12))
		return 0;
	/* From a microsecond to a minute; many have the same. */
	return (1 + dice(1ull << dice(shape->longest_bits))) * (dice(2) ? 1000 : 997);
}

static void make_spans(const struct shape *shape, struct span *to)
{
	uint64_t last_ns = START;

	for (uint64_t i = 0; i < ROWS; i++) {
		uint64_t start_ns = START + (dice(3) ? dice(100 * S) : dice(100) * S);

		if (shape->back_to_back)
			start_ns = last_ns + (dice(4) ? 0 : dice(2000) * 1000);
		last_ns = start_ns + any_duration(shape);
		if (last_ns - start_ns > 60 * S)
			last_ns = start_ns + 60 * S;
		to[i] = (struct span){
			.start_ns = start_ns,
			.end_ns = last_ns,
			.thread = 1 + dice(shape->threads),
			.cpu = dice(shape->cpus),
			.event = dice(2),
			.stack = stacks[dice(4)].n,
			.key = shape->keyed && i >= shape->keyless ? dice(5) << dice(40) : 0,
			.number = i,
		};
		/* Numbers that the run does not have. */
		if (shape->one_class && !dice(50))
			to[i].cpu = dice(2) ? CPU_LIMIT + dice(9) : 1ull << 40;
		if (shape->one_class && !dice(50))
			to[i].thread = dice(2) ? 1000000 + dice(9) : UINT64_MAX - dice(3);
	}
}

static int store_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct chunk_info whole = *info;

	(void)ctx;
	OK(store_chunk_add(store, run.id, 0, &whole, bytes->s, bytes->len, NULL, 0, NULL, &error));
	return 0;
}

static void store_spans(size_t table, size_t from, size_t to)
{
	const struct shape *shape = &shapes[table];
	struct chunk_columns *c = xcalloc(1, sizeof(*c));

	c->info = (struct chunk_info){.schema = schemas[table], .sampled = shape->sampled};
	c->rows = to - from;
	for (; c->count < ARRAY_LEN(columns) - (!shape->keyed || from < shape->keyless);
	     c->count++) {
		uint64_t *values = xcalloc(c->rows, sizeof(*values));

		for (size_t i = from; i < to; i++)
			values[i - from] = value_of(&spans[table][i], c->count);
		c->columns[c->count] = (struct chunk_column){columns[c->count].tag, values};
	}
	if (shape->one_class) {
		c->info.partition = 1;
		store_columns(c);
	} else {
		assert_int_equal(span_chunks_encode(c, store_chunk, NULL), 0);
	}
	chunk_columns_release(c);
	free(c);
}

static void make_tables(void)
{
	for (uint32_t i = 3; i < THREADS; i++)
		profile_thread(&made, 200 + i / 10, 200 + i, profile_string(&made, "more"));
	for (size_t t = 0; t < TABLES; t++)
		schemas[t] = profile_schema_add(
			&made,
			&(struct table_schema){.name = shapes[t].name,
					       .meaning = "made here",
					       .is_span = true,
					       .sampled = shapes[t].sampled,
					       .column_count =
						       ARRAY_LEN(columns) - !shapes[t].keyed},
			columns);
	OK(store_begin(store, &error));
	store_all_tables();
	for (size_t t = 0; t < TABLES; t++) {
		make_spans(&shapes[t], spans[t]);
		for (size_t from = 0, to; from < ROWS; from = to) {
			to = from + shapes[t].batch < ROWS ? from + shapes[t].batch : ROWS;
			store_spans(t, from, to);
		}
		for (uint32_t class = 0; shapes[t].merge && class < SPAN_CLASSES; class ++)
			merge_class(schemas[t], class, shapes[t].merge);
	}
	OK(store_commit(store, &error));
	set_state(STATE_DONE);
}

/* ---- questions ---- */

struct question_case {
	size_t table;
	struct selection sel;
	struct table_query query;
	struct run_data *d;
	char where[100];
};

static struct span *any_span(size_t table)
{
	return &spans[table][dice(ROWS)];
}

/* Any time, often one at which a span begins or ends. */
static uint64_t any_time(size_t table)
{
	switch (dice(5)) {
	case 0:
		return any_span(table)->start_ns;
	case 1:
		return any_span(table)->end_ns;
	case 2:
		return any_span(table)->start_ns + dice(3) - 1;
	case 3:
		return START + dice(300 * S); /* also beyond all data */
	default:
		return START - dice(3 * S);
	}
}

static void choose_window(struct question_case *t)
{
	uint64_t a = any_time(t->table), b = any_time(t->table);

	if (!dice(3))
		b = a + (1ull << dice(38));
	if (!dice(30))
		b = a; /* empty */
	t->sel.from_ns = a < b ? a : b;
	t->sel.to_ns = a < b ? b : a;
}

/* By hand, as docs/API.md says it: half open, and points where they are. */
static bool lies_in(const struct span *s, uint64_t from_ns, uint64_t to_ns)
{
	if (s->end_ns <= s->start_ns)
		return s->start_ns >= from_ns && s->start_ns < to_ns;
	return s->end_ns > from_ns && s->start_ns < to_ns;
}

static uint64_t thread_of(const struct span *s)
{
	return s->thread < made.threads.len ? s->thread : 0;
}

/* Which rows are selected, but for the window. */
static void choose_rows(struct question_case *t)
{
	uint64_t limit = dice(ROWS), longest_ns = 1ull << dice(36);
	bool where = !dice(4), none = dice(2), by_duration = dice(2);

	if (!none && !dice(3)) {
		t->sel.threads = xcalloc(made.threads.len, sizeof(bool));
		t->sel.thread_count = made.threads.len;
		for (int i = 0; i < 8; i++)
			t->sel.threads[dice(made.threads.len)] = true;
	}
	if (!none && !dice(3)) {
		t->sel.cpus = xcalloc(CPU_LIMIT, sizeof(bool));
		t->sel.cpus[dice(CPUS)] = t->sel.cpus[dice(CPUS)] = true;
	}
	if (!none && !dice(5))
		t->sel.event = (int64_t)dice(2);
	if (!none && !dice(5)) {
		t->sel.nodes = xcalloc(t->d->paths.nodes.len, sizeof(bool));
		t->sel.nodes[call_path_known(&t->d->paths, stacks[3].n)] = true;
	}
	if (none || !where)
		t->where[0] = '\0';
	else if (by_duration)
		snprintf(t->where, sizeof(t->where), "duration < %llu",
			 (unsigned long long)longest_ns);
	else
		snprintf(t->where, sizeof(t->where), "number < %llu", (unsigned long long)limit);
	for (size_t i = 0; i < ROWS; i++) {
		struct span *s = &spans[t->table][i];

		s->kept = (!t->sel.threads || t->sel.threads[thread_of(s)]) &&
			  (!t->sel.cpus || (s->cpu < CPU_LIMIT && t->sel.cpus[s->cpu])) &&
			  (t->sel.event < 0 || s->event == (uint64_t)t->sel.event) &&
			  (!t->sel.nodes || s->stack == stacks[3].n) &&
			  (!t->where[0] || (by_duration ? s->end_ns - s->start_ns < longest_ns
							: s->number < limit));
	}
}

/* ---- windows and groups ---- */

struct seen_rows {
	const struct question_case *t;
	size_t number;
	uint64_t count;
	bool seen[ROWS];
};

static void see_row(void *ctx, const struct chunk_columns *c, uint32_t row)
{
	struct seen_rows *w = ctx;
	const struct table_query *q = &w->t->query;
	uint64_t number = table_value(q, &q->columns.items[w->number], c, row);
	const struct span *s = &spans[w->t->table][number];

	assert_true(number < ROWS && !w->seen[number] && s->kept &&
		    lies_in(s, w->t->sel.from_ns, w->t->sel.to_ns));
	for (size_t i = 0; i < q->table.column_count; i++)
		assert_true(table_value(q, &q->columns.items[i], c, row) == value_of(s, i));
	assert_true(table_value(q, &q->columns.items[column_named(q, "duration")], c, row) ==
		    s->end_ns - s->start_ns);
	w->seen[number] = true;
	w->count++;
}

static uint64_t count_by_hand(const struct question_case *t, uint64_t cpu, uint64_t *ret_sum)
{
	uint64_t count = 0;

	*ret_sum = 0;
	for (size_t i = 0; i < ROWS; i++) {
		const struct span *s = &spans[t->table][i];

		if (!s->kept || (cpu != UINT64_MAX && s->cpu != cpu) ||
		    !lies_in(s, t->sel.from_ns, t->sel.to_ns))
			continue;
		count++;
		*ret_sum += s->number;
	}
	return count;
}

static void check_window(struct question_case *t)
{
	const struct table_order_by by = {.column = -1};
	struct seen_rows w = {.t = t, .number = column_named(&t->query, "number")};
	uint64_t sum, expected = count_by_hand(t, UINT64_MAX, &sum);
	size_t cpu = column_named(&t->query, "cpu");
	struct table_groups groups;
	struct table_page page;

	OK(table_page_find(&t->query, &by, 0, dice(4) ? 20 : ROWS, &page, &error));
	assert_int_equal(page.matched, expected);
	OK(table_page_each(&t->query, &page, see_row, &w, &error));
	assert_int_equal(w.count, page.rows.len);
	table_page_release(&page);
	OK(table_group(&t->query, &cpu, 1, (int)w.number, false, &groups, &error));
	assert_int_equal(groups.matched, expected);
	for (size_t i = 0; i < groups.groups.len && i < 3; i++) {
		const struct table_group *g = &groups.groups.items[i];

		assert_int_equal(g->count, count_by_hand(t, g->keys[0], &sum));
		assert_true(g->sum == sum);
	}
	table_groups_release(&groups);
}

/* ---- lanes ---- */

struct hand_cell {
	uint64_t covered_ns, starts, longest_ns, start_ns, key;
	bool any;
};

struct hand_lane {
	struct hand_cell cells[CELLS];
	uint64_t covered_ns, starts;
	bool any;
};

struct hand_lanes {
	uint64_t width, first, count; /* cells are [n * width, (n + 1) * width) */
	struct hand_lane *lanes[LANES_END];
	uint32_t numbers[LANES_END]; /* of the lanes that there are */
	size_t len;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void take_longest(struct hand_cell *c, const struct span *s, uint64_t key)
{
	uint64_t duration_ns = s->end_ns - s->start_ns;
	bool better = !c->any || duration_ns > c->longest_ns;

	if (c->any && duration_ns == c->longest_ns)
		better = s->start_ns < c->start_ns || (s->start_ns == c->start_ns && key < c->key);
	if (!better)
		return;
	c->longest_ns = duration_ns;
	c->start_ns = s->start_ns;
	c->key = key;
	c->any = true;
}

static void add_by_hand(struct hand_lanes *h, const struct span *s, uint32_t number, uint64_t key)
{
	uint64_t from = most(s->start_ns / h->width, h->first);
	uint64_t to = least(s->end_ns / h->width, h->first + h->count - 1);

	for (uint64_t n = from; n <= to; n++) {
		uint64_t begin = n * h->width, end = begin + h->width;
		struct hand_lane **lane = &h->lanes[number];
		struct hand_cell *c;

		if (!lies_in(s, begin, end))
			continue;
		if (!*lane) {
			*lane = xcalloc(1, sizeof(**lane));
			h->numbers[h->len++] = number;
		}
		c = &(*lane)->cells[n - h->first];
		c->covered_ns += least(s->end_ns, end) - most(s->start_ns, begin);
		(*lane)->covered_ns += least(s->end_ns, end) - most(s->start_ns, begin);
		if (s->start_ns >= begin && s->start_ns < end) {
			c->starts++;
			(*lane)->starts++;
		}
		take_longest(c, s, key);
	}
}

static struct hand_lanes *lanes_by_hand(const struct question_case *t, enum lanes_by by,
					uint32_t cells)
{
	struct hand_lanes *h = xcalloc(1, sizeof(*h));
	uint64_t last = t->sel.to_ns > t->sel.from_ns ? t->sel.to_ns - 1 : t->sel.from_ns;

	for (h->width = 1; last / h->width - t->sel.from_ns / h->width + 1 > cells; h->width *= 2)
		;
	h->first = t->sel.from_ns / h->width;
	h->count = last / h->width - h->first + 1;
	for (size_t i = 0; i < ROWS; i++) {
		const struct span *s = &spans[t->table][i];
		uint64_t cpu = least(s->cpu, CPU_LIMIT);
		uint64_t key = shapes[t->table].keyed ? s->key
			       : by == LANES_CPU      ? s->thread
						      : s->cpu;

		if (s->kept)
			add_by_hand(h, s, (uint32_t)(by == LANES_CPU ? cpu : thread_of(s)), key);
	}
	return h;
}

static const struct hand_lanes *sorted;

static int by_covered(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct hand_lane *p = sorted->lanes[x], *q = sorted->lanes[y];

	if (p->covered_ns != q->covered_ns)
		return p->covered_ns > q->covered_ns ? -1 : 1;
	if (p->starts != q->starts)
		return p->starts > q->starts ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void check_lane(const struct table_lanes *got, const struct table_lane *lane,
		       const struct hand_lanes *h)
{
	const struct hand_lane *expected = h->lanes[lane->number];
	size_t at = lane->first;

	assert_true(lane->covered_ns == expected->covered_ns);
	assert_true(lane->starts == expected->starts);
	for (uint32_t i = 0; i < h->count; i++) {
		const struct hand_cell *e = &expected->cells[i];
		const struct lane_cell *c = &got->cells.items[at];

		if (!e->any)
			continue;
		assert_true(at < lane->first + lane->count);
		assert_int_equal(c->cell, i);
		assert_true(c->covered_ns == e->covered_ns);
		assert_true(c->starts == e->starts);
		assert_true(c->longest.duration_ns == e->longest_ns);
		assert_true(c->longest.start_ns == e->start_ns);
		assert_true(c->longest.key == e->key);
		at++;
	}
	assert_int_equal(at, lane->first + lane->count);
}

static void check_lanes(struct question_case *t)
{
	enum lanes_by by = (enum lanes_by)dice(LANES_BY_COUNT);
	uint32_t cells = 2 + (uint32_t)dice(CELLS - 1), limit = 1 + (uint32_t)dice(50);
	struct hand_lanes *h = lanes_by_hand(t, by, cells);
	struct table_lanes got;
	uint64_t rest_ns = 0, rest_starts = 0;

	OK(table_lanes_make(&t->query, by, t->sel.from_ns, t->sel.to_ns, cells, limit, &got,
			    &error));
	assert_true(1ull << got.shift == h->width && got.first == h->first);
	assert_int_equal(got.cell_count, h->count);
	sorted = h;
	qsort(h->numbers, h->len, sizeof(h->numbers[0]), by_covered);
	assert_int_equal(got.lanes_in_all, h->len);
	assert_int_equal(got.lanes.len, least(h->len, limit));
	for (size_t i = 0; i < h->len; i++) {
		if (i >= limit) {
			rest_ns += h->lanes[h->numbers[i]]->covered_ns;
			rest_starts += h->lanes[h->numbers[i]]->starts;
			continue;
		}
		assert_int_equal(got.lanes.items[i].number, h->numbers[i]);
		check_lane(&got, &got.lanes.items[i], h);
	}
	assert_true(got.rest_covered_ns == rest_ns && got.rest_starts == rest_starts);
	table_lanes_release(&got);
	for (size_t i = 0; i < h->len; i++)
		free(h->lanes[h->numbers[i]]);
	free(h);
}

/* ---- all of it ---- */

/* @room 0: that of the cache. */
static void one_case(size_t room)
{
	struct question_case t = {.table = dice(TABLES), .sel = {.event = -1}};
	size_t column_bytes = 0;

	OK(run_cache_get(server.cache, store, &run, &t.d, &error));
	if (room)
		t.d->rows_bytes_max = room;
	choose_window(&t);
	choose_rows(&t);
	OK(table_query_open(&t.query, t.d, store, &t.sel, shapes[t.table].name, t.where, &error));
	if (dice(3))
		check_lanes(&t);
	else
		check_window(&t);
	table_query_close(&t.query);
	selection_release(&t.sel);
	run_cache_put(server.cache, t.d);
	/* Spans that were not read lately have made room. Columns that rows were just chosen by may stay. */
	if (!room)
		return;
	vec_each(&t.d->chunks, c)
		column_bytes += kept_columns_bytes(c->columns);
	assert_true(t.d->rows_bytes - column_bytes < room);
}

static void test_as_by_hand(void **state)
{
	uint64_t cases = from_environment("TACHO_CASES", CASES);
	size_t room;

	(void)state;
	seed_from_environment(cases);
	make_tables();
	for (uint64_t i = 0; i < cases; i++) {
		if (i == cases / 3)
			forget();
		room = i > cases / 3 ? 100000 : 0;
		/* Without room to keep anything. */
		if (i == 2 * (cases / 3)) {
			run_cache_free(server.cache);
			server.cache = run_cache_new(1);
		}
		one_case(i < 2 * (cases / 3) ? room : 0);
	}
}

/* The chunks that the tables above rely on: levels of both kinds, of several widths. */
static void test_summaries_have_lanes(void **state)
{
	stored_chunks chunks = {};
	size_t levels[LANES_BY_COUNT] = {};

	(void)state;
	seed_dice(5);
	make_tables();
	OK(store_chunks(store, run.id, &(struct chunk_query){.schema = schemas[4]}, &chunks,
			&error));
	for (size_t i = 0; i < chunks.len; i++) {
		struct buf summary = {};
		struct chunk_piece part;
		struct lane_level level;

		OK(store_chunk_read(store, &chunks.items[i], NULL, &summary, &error));
		/* Those of spans that are samples have a histogram, too. */
		assert_true(summary_part(summary.s, summary.len, PACKED_HISTOGRAM, 0, &part));
		for (size_t n = 0; summary_part(summary.s, summary.len, PACKED_LANES, n, &part);
		     n++) {
			OK(lane_level_decode(part.bytes, part.size, &level, &error));
			assert_in_range(level.cell_count, 1,
					chunks.items[i].info.rows / LANES_CELL_ROWS);
			levels[level.by]++;
			lane_level_release(&level);
		}
		buf_release(&summary);
	}
	assert_true(levels[LANES_CPU] >= 2 && levels[LANES_THREAD] >= 2);
	vec_release(&chunks);
}

/* Questions about samples are about spans that are samples. */
static void test_spans_are_samples(void **state)
{
	uint64_t samples = 0;
	json_t *json;

	(void)state;
	seed_dice(99);
	make_tables();
	json = ask("functions?event=faults");
	for (size_t t = 0; t < TABLES; t++)
		for (size_t i = 0; i < ROWS; i++)
			samples += shapes[t].sampled && spans[t][i].event == 1;
	assert_int_equal(number(json, "samples"), samples);
	json_decref(json);
}

/* ---- the answer ---- */

static uint64_t sum_column(const json_t *json, const char *key)
{
	const json_t *column = json_object_get(json, key), *value;
	uint64_t sum = 0;
	size_t i;

	json_array_foreach(column, i, value) sum += (uint64_t)json_integer_value(value);
	return sum;
}

static void check_answer(const json_t *json)
{
	const json_t *lanes = json_object_get(json, "lanes"), *lane;
	uint64_t covered_ns = 0, starts = 0, cells = 0;
	size_t i;

	assert_true(json_array_size(lanes) > 0);
	json_array_foreach(lanes, i, lane)
	{
		assert_int_equal(number(lane, "first"), cells);
		cells += (uint64_t)number(lane, "count");
		covered_ns += (uint64_t)number(lane, "covered_ns");
		starts += (uint64_t)number(lane, "starts");
	}
	assert_int_equal(cells, json_array_size(json_object_get(json, "cell")));
	assert_true(covered_ns == sum_column(json, "covered_ns"));
	assert_true(starts == sum_column(json, "starts"));
	assert_true(number(json, "pixels") * number(json, "cell_ns") ==
		    number(json, "to_ns") - number(json, "from_ns"));
}

static void test_answer(void **state)
{
	const struct hand_lane *hand;
	struct hand_lanes *h;
	struct question_case t = {.table = 1, .sel = {.event = -1}};
	json_t *json, *lane, *key;
	size_t at;

	(void)state;
	seed_dice(7);
	make_tables();
	for (size_t i = 0; i < ROWS; i++)
		spans[1][i].kept = true;
	t.sel.from_ns = START + 10 * MS;
	t.sel.to_ns = START + 1000 * MS;
	h = lanes_by_hand(&t, LANES_THREAD, 100);
	json = ask("table/slices/lanes?by=thread&pixels=100&limit=2&from=10ms&to=1s");
	check_answer(json);
	assert_int_equal(number(json, "pixels"), h->count);
	assert_int_equal(number(json, "lanes_in_all"), h->len);
	assert_int_equal(json_array_size(json_object_get(json, "lanes")), 2);
	sorted = h;
	qsort(h->numbers, h->len, sizeof(h->numbers[0]), by_covered);
	hand = h->lanes[h->numbers[1]];
	lane = json_array_get(json_object_get(json, "lanes"), 1);
	assert_int_equal(number(lane, "covered_ns"), hand->covered_ns);
	key = json_object_get(lane, "thread");
	assert_int_equal(json_integer_value(json_array_get(key, 1)),
			 made.threads.items[h->numbers[1]].tid);
	assert_string_equal(json_string_value(json_object_get(json, "key")), "cpu");
	at = (size_t)number(lane, "first");
	for (size_t i = 0; i < h->count; i++) {
		const struct hand_cell *c = &hand->cells[i];

		if (!c->any)
			continue;
		assert_int_equal(element(json, "cell", at), i);
		assert_int_equal(element(json, "longest_ns", at), c->longest_ns);
		assert_int_equal(element(json, "longest_start_ns", at), c->start_ns - START);
		assert_int_equal(element(json, "keys", (size_t)element(json, "longest_key", at)),
				 c->key);
		at++;
	}
	json_decref(json);
	for (size_t i = 0; i < h->len; i++)
		free(h->lanes[h->numbers[i]]);
	free(h);
	/* The name of the thread, of lanes by CPU. */
	json = ask("table/slices/lanes?by=cpu&pixels=2");
	check_answer(json);
	key = json_array_get(json_object_get(json, "keys"), 0);
	assert_int_equal(json_array_size(key), 3);
	assert_true(json_is_string(json_array_get(key, 2)));
	json_decref(json);
	/* A condition, and a column of names of its own. */
	json = ask("table/mixed/lanes?where=number < 100");
	check_answer(json);
	assert_int_equal(sum_column(json, "starts") + (uint64_t)number(json, "rest_starts"), 100);
	assert_string_equal(json_string_value(json_object_get(json, "key")), "what");
	json_decref(json);
	refuses("table/slices/lanes?by=core", EINVAL, "cpu or thread");
	refuses("table/slices/lanes?pixels=1", EINVAL, "at least 2");
	refuses("table/slices/lanes?limit=0", EINVAL, "at least 1");
	refuses("table/nothing/lanes", ENOENT, "no table");
}

/* Points are spans without length: a table of samples has lanes, too. */
static void test_points(void **state)
{
	json_t *json;

	(void)state;
	whole_run(20);
	json = ask("table/samples/lanes?by=cpu");
	check_answer(json);
	assert_int_equal(sum_column(json, "starts"), SAMPLES);
	assert_int_equal(sum_column(json, "covered_ns"), 0);
	assert_int_equal(number(json, "lanes_in_all"), 2);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_by_hand, begin, end),
		cmocka_unit_test_setup_teardown(test_summaries_have_lanes, begin, end),
		cmocka_unit_test_setup_teardown(test_spans_are_samples, begin, end),
		cmocka_unit_test_setup_teardown(test_answer, begin, end),
		cmocka_unit_test_setup_teardown(test_points, begin, end),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
