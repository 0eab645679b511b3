/*
 * A small store with a run of every state and a row of every kind, for targets that change it. Written
 * through the store's own functions, so that it is what a server has.
 */
#ifndef TACHO_TESTS_STORE_SEED_H
#define TACHO_TESTS_STORE_SEED_H

#include "profile/code.h"
#include "profile/dictionary.h"
#include "profile/schema.h"
#include "profile/spans.h"
#include "profile/summary.h"
#include "query/run_derived.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_START (1000ull * 1000000000)
#define SEED_MS    1000000ull
#define SEED_ROWS  300u
#define SEED_RUNS  4u

/* A merged run, one with small chunks, one that a crash has cut off, one that waits. */
static const char *const seed_uuids[SEED_RUNS] = {
	"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002",
	"00000000-0000-4000-8000-000000000003", "00000000-0000-4000-8000-000000000004"};
static const enum run_state seed_states[SEED_RUNS] = {STATE_DONE, STATE_DONE, STATE_RUNNING,
						      STATE_QUEUED};

struct seed {
	struct store *store;
	struct profile profile;
	uint32_t stacks[3], spans, table;
	char session[UUID_BYTES];
};

/* Without its store there is nothing to test. */
static void seed_ok(int r, const struct err *e)
{
	if (r >= 0)
		return;
	fprintf(stderr, "the store of the target cannot be made: %s\n", e->text);
	abort();
}

#define SEED_OK(call)                                                                              \
	do {                                                                                       \
		struct err e = {};                                                                 \
		seed_ok(call, &e);                                                                 \
	} while (0)

static const struct column_schema seed_columns[] = {
	{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"end", "ns", "", TAG_END, VALUE_TIME, AS_END, 8},
	{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"event", "", "", TAG_EVENT, VALUE_EVENT, AS_KEY, 4},
	{"size", "bytes", "", SCHEMA_TAG_OWN, VALUE_UNSIGNED, AS_VALUE, 8},
	{"ratio", "", "", SCHEMA_TAG_OWN + 1, VALUE_FLOAT, AS_VALUE, 8},
	{"path", "", "", SCHEMA_TAG_OWN + 2, VALUE_STRING, AS_VALUE, 8},
};

static uint64_t seed_value(const struct seed *s, uint32_t tag, uint32_t i)
{
	switch (tag) {
	case TAG_TIME:
		return SEED_START + i * SEED_MS;
	case TAG_END:
		return SEED_START + i * SEED_MS + (i % 7) * (i % 5) * 100000;
	case TAG_THREAD:
		return 1 + i % 3;
	case TAG_STACK:
		return s->stacks[i % 3];
	case SCHEMA_TAG_OWN + 1: {
		double ratio = (double)i / 8;
		uint64_t bits;

		memcpy(&bits, &ratio, sizeof(bits));
		return bits;
	}
	case SCHEMA_TAG_OWN + 2:
		return 1 + i % 4;
	default:
		return i % 2;
	}
}

static void seed_profile(struct seed *s)
{
	static const char *const names[] = {"main", "hot", "cold"};
	struct profile *p = &s->profile;
	module_id module;
	stack_id at = {};

	profile_init(p);
	module = profile_module(p, "/bin/x", "ab", CODE_USER);
	profile_event(p, "cpu-clock");
	profile_event(p, "faults");
	for (uint32_t i = 0; i < 3; i++)
		profile_thread(p, 100, 100 + i, profile_string(p, i ? "worker" : "main"));
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_function f = {.name = profile_string(p, names[i]),
					     .module = module,
					     .start = 0x1000 * i,
					     .size = 0x100,
					     .kind = CODE_USER,
					     .named = true};
		frame_id frame = profile_frame(p, module, 0x1000 * i + 0x10);

		profile_name_frame(p, frame, &(struct frame_name){profile_function(p, &f)}, 1);
		at = profile_stack(p, i < 2 ? at : (stack_id){}, frame);
		s->stacks[i] = at.n;
	}
	profile_counter(p, &(struct profile_counter){
				   .name = profile_string(p, "ticks"), .scale = 0.5, .cpu = -1});
	s->spans = profile_schema_add(
		p,
		&(struct table_schema){
			.name = "slices", .meaning = "spans", .is_span = true, .column_count = 6},
		seed_columns);
	s->table = profile_schema_add(
		p,
		&(struct table_schema){.name = "test:table",
				       .meaning = "rows",
				       .sampled = true,
				       .column_count = ARRAY_LEN(seed_columns) - 2},
		seed_columns + 2);
}

/* ---- chunks ---- */

struct seed_adding {
	struct seed *s;
	int64_t run;
	bool summary;
};

static int seed_add(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct seed_adding *a = ctx;
	CLEANUP(buf_release) struct buf summary = {};

	if (a->summary)
		SEED_OK(chunk_summarize(&(struct chunk_piece){bytes->s, bytes->len}, &summary, &e));
	SEED_OK(store_chunk_add(a->s->store, a->run, 0, info, bytes->s, bytes->len, summary.s,
				summary.len, NULL, &e));
	return 0;
}

static void seed_samples(struct seed_adding *a, uint32_t from, uint32_t to)
{
	CLEANUP(free_ptr) struct sample_row *rows = xcalloc(to - from, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (uint32_t i = from; i < to; i++)
		rows[i - from] = (struct sample_row){
			.time_ns = seed_value(a->s, TAG_TIME, i),
			.weight = 100,
			.event = i % 2,
			.thread = (uint32_t)seed_value(a->s, TAG_THREAD, i),
			.stack = (uint32_t)seed_value(a->s, TAG_STACK, i),
			.cpu = i % 2,
		};
	chunk_encode_samples(rows, to - from, &bytes, &info);
	seed_add(a, &bytes, &info);
}

static void seed_counts(struct seed_adding *a, uint32_t from, uint32_t to)
{
	CLEANUP(free_ptr) struct count_row *rows = xcalloc(to - from, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (uint32_t i = from; i < to; i++)
		rows[i - from] =
			(struct count_row){SEED_START + (i + 1) * SEED_MS, SEED_MS, i % 9, 1000000};
	chunk_encode_counts(1, rows, to - from, &bytes, &info);
	seed_add(a, &bytes, &info);
}

/* Rows of the table of spans or of the other one. */
static void seed_table(struct seed_adding *a, bool spans, uint32_t from, uint32_t to)
{
	const struct column_schema *columns = spans ? seed_columns : seed_columns + 2;
	size_t count = spans ? 6 : ARRAY_LEN(seed_columns) - 2;
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	c->info =
		(struct chunk_info){.schema = spans ? a->s->spans : a->s->table, .sampled = !spans};
	c->rows = to - from;
	for (size_t n = spans ? 0 : SIZE_MAX; n + 1 < count + 1; n++) {
		uint32_t tag = n == SIZE_MAX ? TAG_TIME : columns[n].tag;
		uint64_t *values = xcalloc(c->rows, sizeof(*values));

		for (uint32_t i = from; i < to; i++)
			values[i - from] = seed_value(a->s, tag, i);
		c->columns[c->count++] = (struct chunk_column){tag, values};
	}
	if (spans)
		span_chunks_encode(c, seed_add, a);
	else if (chunk_encode(c, &bytes, &info))
		seed_add(a, &bytes, &info);
	chunk_columns_release(c);
	free(c);
}

static void seed_chunks(struct seed *s, int64_t run, bool merged)
{
	struct seed_adding a = {s, run, merged};
	uint32_t step = merged ? SEED_ROWS : SEED_ROWS / 3;

	for (uint32_t i = 0; i < SEED_ROWS; i += step) {
		seed_samples(&a, i, i + step);
		seed_counts(&a, i, i + step);
		seed_table(&a, true, i, i + step);
		seed_table(&a, false, i, i + step);
	}
}

/* ---- the rest of a run ---- */

static void seed_code(struct seed *s, int64_t run)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct code c;

	code_init(&c);
	c.function = 1;
	c.start = 0x1000;
	c.end = 0x1020;
	for (uint64_t i = 0; i < 4; i++)
		vec_push(&c.instructions,
			 (struct code_instruction){.address = 0x1000 + 8 * i,
						   .size = 8,
						   .text = code_string(&c, "nop", 3)});
	vec_push(&c.rows, (struct code_row){0x1000, code_string(&c, "x.c", 3), 7, 0});
	vec_push(&c.lines, (struct code_line){c.rows.items[0].file, 7, code_string(&c, "f();", 4)});
	code_encode(&c, &bytes);
	SEED_OK(store_code_add(s->store, run, 0, c.function, bytes.s, bytes.len, &e));
	code_release(&c);
}

static void seed_derived(struct seed *s, int64_t run)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct call_paths paths;

	call_paths_init(&paths);
	call_paths_all(&paths, &s->profile);
	run_derived_encode(&paths, &s->profile, &bytes);
	SEED_OK(store_derived_put(s->store, run, DERIVED_PATHS, bytes.s, bytes.len, &e));
	call_paths_release(&paths);
}

static void seed_dictionary(struct seed *s, int64_t run)
{
	struct dictionary_writer w;
	struct buf piece = {};

	dictionary_writer_init(&w);
	while (dictionary_encode(&w, &s->profile, &piece)) {
		SEED_OK(store_dictionary_add(s->store, run, 0, piece.s, piece.len, &e));
		buf_clear(&piece);
	}
	buf_release(&piece);
	dictionary_writer_release(&w);
}

static void seed_run(struct seed *s, int64_t session, unsigned number)
{
	struct stored_run run = {
		.session_id = session,
		.state = seed_states[number],
		.position = number + 1,
		.user = (char *)"ann",
		.description = (char *)"a run",
		.command = (char *)"make all",
		.plan = (char *)"{\"workload\": \"make all\", \"keep_raw\": true, \"duration_s\": "
				"2}",
		.opened = (char *)"{\"environment\": {\"cpus\": 2}, \"clock\": \"monotonic\"}",
		.ledger = (char *)"{\"lost\": 3, \"samples\": 300}",
		.ended = (char *)"{\"status\": 0, \"end_ns\": 1000300000000}",
		.note = (char *)"a note",
		.tags = (char *)"[\"one\"]",
		.created_ms = 1700000000000,
		.started_ms = 1700000001000,
		.ended_ms = seed_states[number] == STATE_DONE ? 1700000002000 : 0,
		.start_ns = SEED_START,
		.duration_ms = 300,
		.samples = SEED_ROWS,
	};

	memcpy(run.uuid, seed_uuids[number], UUID_BYTES);
	SEED_OK(store_run_add(s->store, &run, &e));
	if (seed_states[number] == STATE_QUEUED)
		return;
	seed_dictionary(s, run.id);
	seed_chunks(s, run.id, number == 0);
	seed_code(s, run.id);
	if (number == 0)
		seed_derived(s, run.id);
	SEED_OK(store_output_add(s->store, run.id, 1, SEED_START + 5, "output\n", 7, &e));
	SEED_OK(store_note_add(s->store, run.id, SEED_START + 6, "a note of tacho", &e));
}

/* Makes the store in @directory, and closes it: all of it is in one file then. */
static void seed_make(const char *directory, char ret_session[UUID_BYTES])
{
	struct stored_session session = {};
	struct seed s = {};

	SEED_OK(store_open(&s.store, &(struct store_options){.directory = directory}, &e));
	seed_profile(&s);
	SEED_OK(store_session_add(s.store, "a session", &session, &e));
	memcpy(ret_session, session.uuid, UUID_BYTES);
	for (unsigned i = 0; i < SEED_RUNS; i++)
		seed_run(&s, session.id, i);
	SEED_OK(store_setting_put(s.store, "server-id", "0123abcd", &e));
	SEED_OK(store_user_add(
		s.store,
		&(struct stored_user){.name = (char *)"ann", .role = 2, .token_hash = "1234"}, &e));
	stored_session_release(&session);
	profile_release(&s.profile);
	store_close(s.store);
}

#endif
