/*
 * Lanes of spans per pixel: how fast windows of many spans are drawn, and what the spans take. Slices of
 * threads on CPUs go into a store as a collector sends them, are tidied, and are asked for.
 *
 * usage: micro_lanes DIRECTORY SPANS [WINDOWS]      one JSON object on stdout
 */
#include "micro.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "profile/dictionary.h"
#include "profile/spans.h"
#include "query/table.h"
#include "runs/tidy_run.h"

#include <stdio.h>

#define CPUS             8u
#define THREADS          200u
#define ROWS_A_BATCH     8192u
#define BATCHES_A_COMMIT 50
#define PIXELS           2000u
#define LANES            64u
#define START_NS         1000000000000ull
#define COLD_ROUNDS      3

struct bench {
	struct store *store;
	struct stored_run run;
	uint32_t schema;
	uint64_t spans, windows, seed;
	uint64_t end_ns[CPUS], last_ns;
	uint64_t chunk_bytes, summary_bytes, chunks;
	double encode_s, tidy_s;
};

static uint64_t any_number(struct bench *b)
{
	return next_random(&b->seed) >> 11;
}

/* ---- making them ---- */

static const struct column_schema columns[] = {
	{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"end", "ns", "", TAG_END, VALUE_TIME, AS_END, 8},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"state", "", "", SCHEMA_TAG_OWN, VALUE_UNSIGNED, AS_VALUE, 1},
};

static void add_tables(struct bench *b)
{
	struct dictionary_writer w;
	struct buf piece = {};
	struct profile p;

	profile_init(&p);
	for (uint32_t i = 0; i < THREADS; i++)
		profile_thread(&p, 100 + i / 10, 100 + i, profile_string(&p, "worker"));
	b->schema = profile_schema_add(&p,
				       &(struct table_schema){.name = "slices",
							      .meaning = "",
							      .is_span = true,
							      .column_count = ARRAY_LEN(columns)},
				       columns);
	dictionary_writer_init(&w);
	while (dictionary_encode(&w, &p, &piece)) {
		must(store_dictionary_add(b->store, b->run.id, 0, piece.s, piece.len, &error));
		buf_clear(&piece);
	}
	dictionary_writer_release(&w);
	buf_release(&piece);
	profile_release(&p);
}

/* Most slices are short, few take most of the time: from a microsecond to seconds. */
static uint64_t any_duration(struct bench *b)
{
	uint64_t r = any_number(b);
	unsigned bits = 10 + (unsigned)(r % 11);

	if (r / 16 % 100 == 0)
		bits += 1 + (unsigned)(r / 4096 % 11);
	return (1ull << bits) + (any_number(b) & ((1ull << bits) - 1));
}

/* The next slice of the CPU that is free first. */
static void make_span(struct bench *b, struct chunk_columns *c, size_t row)
{
	uint64_t r = any_number(b);
	uint32_t cpu = 0;

	for (uint32_t i = 1; i < CPUS; i++)
		if (b->end_ns[i] < b->end_ns[cpu])
			cpu = i;
	c->columns[0].values[row] = b->end_ns[cpu] + (r % 4 ? 0 : r / 8 % 20000);
	b->end_ns[cpu] = c->columns[0].values[row] + any_duration(b);
	c->columns[1].values[row] = b->end_ns[cpu];
	c->columns[2].values[row] = 1 + (r >> 20) % (THREADS >> (r >> 40) % 5);
	c->columns[3].values[row] = cpu;
	c->columns[4].values[row] = r >> 50 & 3;
	b->last_ns = b->end_ns[cpu] > b->last_ns ? b->end_ns[cpu] : b->last_ns;
}

static int add_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct bench *b = ctx;

	return store_chunk_add(b->store, b->run.id, 0, info, bytes->s, bytes->len, NULL, 0, NULL,
			       &error);
}

static void make_all(struct bench *b)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct tidy_run work = {.clock = &system_clock};
	uint64_t batches = 0;
	double cpu;

	c->info.schema = b->schema;
	c->rows = ROWS_A_BATCH;
	for (; c->count < ARRAY_LEN(columns); c->count++)
		c->columns[c->count] = (struct chunk_column){columns[c->count].tag,
							     xcalloc(c->rows, sizeof(uint64_t))};
	for (uint32_t i = 0; i < CPUS; i++)
		b->end_ns[i] = START_NS + i;
	must(store_begin(b->store, &error));
	for (uint64_t done = 0; done < b->spans; done += c->rows) {
		for (size_t i = 0; i < c->rows; i++)
			make_span(b, c, i);
		cpu = cpu_s();
		must(span_chunks_encode(c, add_chunk, b));
		b->encode_s += cpu_s() - cpu;
		if (++batches % BATCHES_A_COMMIT == 0) {
			must(store_commit(b->store, &error));
			must(store_begin(b->store, &error));
		}
	}
	must(store_commit(b->store, &error));
	b->spans = batches * c->rows;
	cpu = cpu_s();
	while (tidy_run_merge(&work, b->store, b->run.id, true, &error) > 0)
		;
	b->tidy_s = cpu_s() - cpu;
	tidy_run_release(&work);
	chunk_columns_release(c);
	free(c);
}

static void count_bytes(struct bench *b)
{
	struct buf bytes = {}, summary = {};
	stored_chunks chunks = {};

	must(store_chunks(b->store, b->run.id, &(struct chunk_query){}, &chunks, &error));
	vec_each(&chunks, c) {
		buf_clear(&bytes);
		buf_clear(&summary);
		must(store_chunk_read(b->store, c, &bytes, &summary, &error));
		b->chunk_bytes += bytes.len;
		b->summary_bytes += summary.len;
	}
	b->chunks = chunks.len;
	buf_release(&bytes);
	buf_release(&summary);
	vec_release(&chunks);
}

/* ---- asking ---- */

struct cost {
	double ms, cpu_ms;
	uint64_t cells;
};

static struct cost ask(struct bench *b, struct run_cache *cache, enum lanes_by by, uint64_t from_ns,
		       uint64_t to_ns)
{
	struct selection all = {.to_ns = UINT64_MAX, .event = -1};
	uint64_t start = clock_now_ns();
	double cpu = cpu_s();
	struct table_lanes lanes;
	struct table_query q;
	struct run_data *d;
	struct cost ret;

	must(run_cache_get(cache, b->store, &b->run, &d, &error));
	must(table_query_open(&q, d, b->store, &all, "slices", NULL, &error));
	must(table_lanes_make(&q, by, from_ns, to_ns, PIXELS, LANES, &lanes, &error));
	ret = (struct cost){(double)(clock_now_ns() - start) / 1e6, (cpu_s() - cpu) * 1e3,
			    lanes.cells.len};
	table_lanes_release(&lanes);
	table_query_close(&q);
	run_cache_put(cache, d);
	return ret;
}

static int by_ms(const void *a, const void *b)
{
	double x = ((const struct cost *)a)->ms, y = ((const struct cost *)b)->ms;

	return (x > y) - (x < y);
}

static void window(struct bench *b, double part, uint64_t *ret_from, uint64_t *ret_to)
{
	double length = (double)(b->last_ns - START_NS) * part;
	double room = (double)(b->last_ns - START_NS) - length;

	*ret_from = START_NS + (uint64_t)(room * (double)(any_number(b) % 10000) / 1e4);
	*ret_to = *ret_from + (uint64_t)length;
}

/* The first question of a server, the least disturbed of some. */
static struct cost cold(struct bench *b, enum lanes_by by, uint64_t from_ns, uint64_t to_ns)
{
	struct cost best = {1e9, 1e9, 0};

	for (int i = 0; i < COLD_ROUNDS; i++) {
		struct run_cache *cache = run_cache_new(0);
		struct cost c = ask(b, cache, by, from_ns, to_ns);

		best = c.ms < best.ms ? c : best;
		run_cache_free(cache);
	}
	return best;
}

static void add_costs(struct bench *b, struct run_cache *cache, struct json *j, enum lanes_by by,
		      double part)
{
	struct cost *warm = xcalloc(b->windows, sizeof(*warm)), worst = {}, c;
	double warm_cpu = 0;
	uint64_t from, to;

	for (uint64_t i = 0; i < b->windows; i++) {
		window(b, part, &from, &to);
		ask(b, cache, by, from, to);
		warm[i] = ask(b, cache, by, from, to);
		c = ask(b, cache, by, from, to);
		warm[i] = c.ms < warm[i].ms ? c : warm[i];
		warm_cpu = warm[i].cpu_ms > warm_cpu ? warm[i].cpu_ms : warm_cpu;
	}
	qsort(warm, b->windows, sizeof(*warm), by_ms);
	for (uint64_t i = 0; i < (part < 1 ? 5 : 1); i++) {
		window(b, part, &from, &to);
		c = cold(b, by, from, to);
		worst = c.ms > worst.ms ? c : worst;
	}
	jw_open(j, '{');
	jw_kv_str(j, "by", by == LANES_CPU ? "cpu" : "thread");
	jw_kv_double(j, "part", part);
	jw_kv_double(j, "warm_ms", warm[b->windows / 2].ms);
	jw_kv_double(j, "warm_worst_ms", warm[b->windows - 1].ms);
	jw_kv_double(j, "warm_worst_cpu_ms", warm_cpu);
	jw_kv_double(j, "cold_ms", worst.ms);
	jw_kv_double(j, "cold_cpu_ms", worst.cpu_ms);
	jw_kv_u64(j, "cells", warm[0].cells);
	jw_close(j, '}');
	free(warm);
}

int main(int argc, char **argv)
{
	static const double parts[] = {1,     0.3,   0.1,    0.03,   0.01,
				       0.003, 0.001, 0.0003, 0.0001, 0.00001};
	CLEANUP(buf_release) struct buf out = {};
	struct bench b = {.seed = BENCH_SEED, .windows = 15};
	struct run_cache *cache = run_cache_new(0);
	struct run_cache_counts counts;
	struct json j = jw_to(&out);

	if (argc < 3 || argc > 4 || !parse_u64(argv[2], &b.spans) ||
	    (argc == 4 && !parse_u64(argv[3], &b.windows)) || !b.windows) {
		fprintf(stderr, "usage: micro_lanes DIRECTORY SPANS [WINDOWS]\n");
		return 2;
	}
	b.run = (struct stored_run){
		.command = (char *)"bench", .state = STATE_DONE, .start_ns = (int64_t)START_NS};
	b.store = open_bench_store(argv[1], &b.run);
	add_tables(&b);
	make_all(&b);
	count_bytes(&b);
	jw_open(&j, '{');
	jw_kv_u64(&j, "spans", b.spans);
	jw_kv_double(&j, "seconds", (double)(b.last_ns - START_NS) / 1e9);
	jw_kv_u64(&j, "chunks", b.chunks);
	jw_kv_double(&j, "encode_cpu_s", b.encode_s);
	jw_kv_double(&j, "tidy_cpu_s", b.tidy_s);
	jw_kv_u64(&j, "chunk_bytes", b.chunk_bytes);
	jw_kv_u64(&j, "summary_bytes", b.summary_bytes);
	jw_key(&j, "windows");
	jw_open(&j, '[');
	for (int by = 0; by < LANES_BY_COUNT; by++)
		for (size_t i = 0; i < ARRAY_LEN(parts); i++)
			add_costs(&b, cache, &j, (enum lanes_by)by, parts[i]);
	jw_close(&j, ']');
	run_cache_counts(cache, &counts);
	jw_kv_u64(&j, "cache_bytes", counts.bytes);
	jw_close(&j, '}');
	puts(buf_str(&out));
	run_cache_free(cache);
	store_close(b.store);
	return 0;
}
