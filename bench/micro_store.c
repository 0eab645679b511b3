/*
 * How fast samples go into the store, and how much room they take there: encoded as small chunks, as
 * a collector sends them, stored in a transaction every half second of it, merged, deleted.
 *
 * usage: micro_store DIRECTORY SAMPLES ROWS      one JSON object on stdout
 */
#include "micro.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "runs/tidy_run.h"

#include <stdio.h>

/* A collector that sends every 20 ms sends so many until the server commits. */
#define CHUNKS_A_COMMIT 25
#define STACKS          20000u

/* Few stacks have most of the samples, many have one each, as in real programs. */
static uint32_t any_stack(uint64_t *seed)
{
	uint64_t r = next_random(seed);
	uint32_t among = STACKS >> (r % 12);

	return 1 + (uint32_t)(r >> 32) % (among ? among : 1);
}

struct bench {
	struct store *store;
	int64_t run;
	uint64_t samples, rows;
	uint64_t encoded_bytes;
	double encode_s, store_s;
};

static void make_rows(struct sample_row *rows, size_t count, uint64_t *time_ns, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++) {
		*time_ns += 500 + next_random(seed) % 1000;
		rows[i] = (struct sample_row){.time_ns = *time_ns,
					      .weight = 1000000 + next_random(seed) % 100,
					      .thread = 1 + (uint32_t)(next_random(seed) % 8),
					      .stack = any_stack(seed),
					      .cpu = (uint32_t)(next_random(seed) % 4)};
	}
}

static void ingest(struct bench *b)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct sample_row *rows = xcalloc(b->rows, sizeof(*rows));
	uint64_t seed = BENCH_SEED, time_ns = 1000000000, chunks = 0;
	struct chunk_info info;

	must(store_begin(b->store, &error));
	for (uint64_t done = 0; done < b->samples; done += b->rows) {
		uint64_t start;
		double cpu;

		make_rows(rows, b->rows, &time_ns, &seed);
		buf_clear(&bytes);
		cpu = cpu_s();
		chunk_encode_samples(rows, b->rows, &bytes, &info);
		b->encode_s += cpu_s() - cpu;
		b->encoded_bytes += bytes.len;
		start = clock_now_ns();
		must(store_chunk_add(b->store, b->run, 0, &info, bytes.s, bytes.len, NULL, 0, NULL,
				     &error));
		if (++chunks % CHUNKS_A_COMMIT == 0) {
			must(store_commit(b->store, &error));
			must(store_begin(b->store, &error));
		}
		b->store_s += (double)(clock_now_ns() - start) / 1e9;
	}
	must(store_commit(b->store, &error));
	free(rows);
}

/* Everything once more, by a connection that has nothing in its cache; the system's has it all. */
static double read_back(struct bench *b, const char *directory)
{
	struct store_options options = {.directory = directory, .read_only = true};
	struct store *store = NULL;
	stored_chunks chunks = {};
	struct buf bytes = {}, summary = {};
	uint64_t start;

	must(store_open(&store, &options, &error));
	start = clock_now_ns();
	must(store_chunks(store, b->run, &(struct chunk_query){}, &chunks, &error));
	vec_each(&chunks, c) {
		buf_clear(&bytes);
		buf_clear(&summary);
		must(store_chunk_read(store, c, &bytes, &summary, &error));
	}
	start = clock_now_ns() - start;
	store_close(store);
	vec_release(&chunks);
	buf_release(&bytes);
	buf_release(&summary);
	return (double)start / 1e9;
}

static void add_size(struct json *j, const char *name, struct bench *b)
{
	uint64_t bytes, unused;

	while (store_shrink(b->store, 64 << 20))
		;
	must(store_size(b->store, &bytes, &unused, &error));
	jw_kv_u64(j, name, bytes);
}

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf out = {};
	struct json j = jw_to(&out);
	struct bench b = {};
	struct stored_run run = {.command = (char *)"bench"};
	struct tidy_run work = {.clock = &system_clock};
	uint64_t start;
	bool more = true;

	if (argc != 4 || !parse_u64(argv[2], &b.samples) || !parse_u64(argv[3], &b.rows) ||
	    !b.rows || b.rows > CHUNK_ROWS_MAX) {
		fprintf(stderr, "usage: micro_store DIRECTORY SAMPLES ROWS\n");
		return 2;
	}
	b.store = open_bench_store(argv[1], &run);
	b.run = run.id;
	jw_open(&j, '{');
	add_size(&j, "empty_bytes", &b);
	ingest(&b);
	jw_kv_u64(&j, "samples", b.samples);
	jw_kv_double(&j, "encode_cpu_s", b.encode_s);
	jw_kv_double(&j, "store_s", b.store_s);
	jw_kv_u64(&j, "encoded_bytes", b.encoded_bytes);
	add_size(&j, "small_bytes", &b);
	start = clock_now_ns();
	while (tidy_run_merge(&work, b.store, b.run, true, &error) > 0)
		;
	jw_kv_double(&j, "merge_s", (double)(clock_now_ns() - start) / 1e9);
	add_size(&j, "merged_bytes", &b);
	jw_kv_double(&j, "read_s", read_back(&b, argv[1]));
	start = clock_now_ns();
	must(store_run_delete(b.store, b.run, &error));
	while (more)
		must(store_purge(b.store, 0, 4 << 20, &more, &error));
	add_size(&j, "deleted_bytes", &b);
	jw_kv_double(&j, "delete_s", (double)(clock_now_ns() - start) / 1e9);
	jw_close(&j, '}');
	puts(buf_str(&out));
	tidy_run_release(&work);
	store_close(b.store);
	return 0;
}
