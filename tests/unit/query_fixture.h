/*
 * For tests of questions: a stored run whose samples are known, asking the handlers about it, and the
 * same counted by hand. Include it after cmocka.h.
 */
#ifndef TACHO_TESTS_QUERY_FIXTURE_H
#define TACHO_TESTS_QUERY_FIXTURE_H

#include "base/bits.h"
#include "profile/schema.h"
#include "profile/dictionary.h"
#include "profile/summary.h"
#include "query/table.h"
#include "server/api/question.h"
#include "store_support.h"

#define MS      1000000ull
#define START   (1000 * NS_A_S)
#define NS_A_S  1000000000ull
#define SAMPLES 10000u /* one a millisecond */

static struct store *store;
static struct server server;
static struct api api;
static struct stored_run run;
static struct profile made;
static unsigned directories;

/* ---- a run ---- */

static const char *const leaves[] = {"hot", "cold", "late", "late"};
static stack_id stacks[4];

/* Two phases of five seconds; in the second everything is late, called by main or by way. */
static uint32_t leaf_of(uint32_t i)
{
	return i < SAMPLES / 2 ? i % 10 >= 7 : 2 + (i % 4 == 0);
}

static struct sample_row sample(uint32_t i)
{
	return (struct sample_row){.time_ns = START + i * MS,
				   .weight = i % 5 == 4 ? 1 : 100,
				   .event = i % 5 == 4,
				   .thread = 1 + i % 3,
				   .stack = stacks[leaf_of(i)].n,
				   .cpu = i % 2};
}

static frame_id named_frame(module_id module, uint64_t address, const char *name)
{
	struct profile_function f = {.name = profile_string(&made, name),
				     .module = module,
				     .start = address & ~0xffull,
				     .size = 0x100,
				     .kind = CODE_USER,
				     .named = true};
	frame_id frame = profile_frame(&made, module, address);

	profile_name_frame(&made, frame, &(struct frame_name){profile_function(&made, &f)}, 1);
	return frame;
}

static void make_profile(void)
{
	module_id module;
	stack_id root, way;

	profile_init(&made);
	module = profile_module(&made, "/bin/x", "ab", CODE_USER);
	profile_event(&made, "cpu-clock");
	profile_event(&made, "faults");
	for (uint32_t i = 0; i < 3; i++)
		profile_thread(&made, 100, 100 + i, profile_string(&made, i ? "worker" : "main"));
	root = profile_stack(&made, (stack_id){}, named_frame(module, 0x1010, "main"));
	way = profile_stack(&made, root, named_frame(module, 0x5010, "way"));
	for (uint32_t i = 0; i < 4; i++)
		stacks[i] = profile_stack(
			&made, i == 3 ? way : root,
			named_frame(module, 0x2000 + 0x1000 * (i < 3 ? i : 2) + i, leaves[i]));
	/* So many that what is worked out is stored. */
	for (uint32_t i = 0; i < 5000; i++)
		profile_stack(&made, way, profile_frame(&made, module, 0x100000 + i));
	profile_counter(&made, &(struct profile_counter){.name = profile_string(&made, "ticks,x"),
							 .scale = 0.5,
							 .cpu = -1});
	profile_counter(&made, &(struct profile_counter){.name = profile_string(&made, "idle"),
							 .unit = profile_string(&made, "J"),
							 .scale = 1,
							 .cpu = 1});
}

static void store_tables(struct dictionary_writer *w)
{
	struct buf piece = {};

	while (dictionary_encode(w, &made, &piece)) {
		OK(store_dictionary_add(store, run.id, 0, piece.s, piece.len, &error));
		buf_clear(&piece);
	}
	buf_release(&piece);
}

/* All tables of a run that gets no more entries. */
static __attribute__((unused)) void store_all_tables(void)
{
	struct dictionary_writer w;

	dictionary_writer_init(&w);
	store_tables(&w);
	dictionary_writer_release(&w);
}

static void store_samples(uint32_t from, uint32_t to)
{
	struct sample_row *rows = xcalloc(to - from, sizeof(*rows));
	struct buf bytes = {};
	struct chunk_info info;
	int64_t id;

	for (uint32_t i = from; i < to; i++)
		rows[i - from] = sample(i);
	chunk_encode_samples(rows, to - from, &bytes, &info);
	OK(store_chunk_add(store, run.id, 0, &info, bytes.s, bytes.len, NULL, 0, &id, &error));
	buf_release(&bytes);
	free(rows);
}

/* A chunk of any table. */
static __attribute__((unused)) void store_columns(const struct chunk_columns *c)
{
	struct buf bytes = {};
	struct chunk_info info;

	assert_true(chunk_encode(c, &bytes, &info));
	OK(store_chunk_add(store, run.id, 0, &info, bytes.s, bytes.len, NULL, 0, NULL, &error));
	buf_release(&bytes);
}

/* 10 every 10 ms, from the reading number @first on; a spike at 3 s; nothing from 6 to 7 s. */
static void store_counts_from(uint32_t counter, uint32_t first)
{
	struct count_row rows[1000];
	struct buf bytes = {};
	struct chunk_info info;
	size_t count = 0;
	int64_t id;

	for (uint32_t i = first; i < 1000; i++)
		if (i < 600 || i >= 700)
			rows[count++] = (struct count_row){START + (i + 1) * 10 * MS, 10 * MS,
							   i == 300 ? 1000 : 10, 1000000};
	chunk_encode_counts(counter, rows, count, &bytes, &info);
	OK(store_chunk_add(store, run.id, 0, &info, bytes.s, bytes.len, NULL, 0, &id, &error));
	buf_release(&bytes);
}

static void store_counts(uint32_t counter)
{
	store_counts_from(counter, 0);
}

/* As the tidying thread does it. */
static void merge_listed(stored_chunks chunks, size_t at_once)
{
	for (size_t i = 0; i < chunks.len; i += at_once) {
		size_t count = chunks.len - i < at_once ? chunks.len - i : at_once;
		struct buf bytes[64] = {}, merged = {}, summary = {};
		struct chunk_piece pieces[64];
		struct chunk_info info;
		int64_t old[64];

		for (size_t n = 0; n < count; n++) {
			old[n] = chunks.items[i + n].id;
			OK(store_chunk_read(store, &chunks.items[i + n], &bytes[n], NULL, &error));
			pieces[n] = (struct chunk_piece){bytes[n].s, bytes[n].len};
		}
		OK(chunks_merge(pieces, count, &merged, &info, &error));
		OK(chunk_summarize(&(struct chunk_piece){merged.s, merged.len}, &summary, &error));
		OK(store_chunks_replace(store, run.id, old, count, 0, &info, &merged, &summary,
					&error));
		for (size_t n = 0; n < count; n++)
			buf_release(&bytes[n]);
		buf_release(&merged);
		buf_release(&summary);
	}
	vec_release(&chunks);
}

static void merge_chunks(int kind, uint32_t counter, size_t at_once)
{
	stored_chunks chunks = {};
	struct chunk_query q = {.schema = kind, .partition = counter};

	OK(store_chunks(store, run.id, &q, &chunks, &error));
	merge_listed(chunks, at_once);
}

/* Those of one duration class; a query of partition 0 means all. */
static __attribute__((unused)) void merge_class(uint32_t schema, uint32_t class, size_t at_once)
{
	stored_chunks chunks = {};
	size_t count = 0;

	OK(store_chunks(store, run.id, &(struct chunk_query){.schema = schema}, &chunks, &error));
	for (size_t i = 0; i < chunks.len; i++)
		if (chunks.items[i].info.partition == class)
			chunks.items[count++] = chunks.items[i];
	chunks.len = count;
	merge_listed(chunks, at_once);
}

static void set_state(enum run_state state)
{
	run.state = state;
	OK(store_run_update(store, &run, &error));
}

static int begin(void **state)
{
	struct stored_session session = {};
	char directory[300];

	(void)state;
	snprintf(directory, sizeof(directory), "%s/%u", support_dir, directories++);
	make_profile();
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
	OK(store_session_add(store, "s", &session, &error));
	run = (struct stored_run){.session_id = session.id,
				  .state = STATE_RUNNING,
				  .user = (char *)"ann",
				  .command = (char *)"x",
				  .plan = (char *)"{}",
				  .tags = (char *)"[]",
				  .ledger = (char *)"{\"lost\": 3}",
				  .start_ns = (int64_t)START};
	OK(store_run_add(store, &run, &error));
	stored_session_release(&session);
	server.cache = run_cache_new(0);
	api = (struct api){&server, store};
	return 0;
}

static int end(void **state)
{
	(void)state;
	run_cache_free(server.cache);
	store_close(store);
	profile_release(&made);
	return 0;
}

/* All of it, ended; chunks of 100 samples, merged by @merge if that is not 0. */
static __attribute__((unused)) void whole_run(size_t merge)
{
	store_all_tables();
	for (uint32_t i = 0; i < SAMPLES; i += 100)
		store_samples(i, i + 100);
	store_counts(1);
	store_counts(2);
	if (merge) {
		merge_chunks(SCHEMA_SAMPLES, 0, merge);
		merge_chunks(SCHEMA_COUNTS, 1, 1);
	}
	set_state(STATE_DONE);
}

static __attribute__((unused)) void forget(void)
{
	run_cache_free(server.cache);
	server.cache = run_cache_new(0);
}

/* ---- asking ---- */

static void add_params(struct http_request *r, char *text)
{
	for (char *save, *pair = strtok_r(text, "&", &save); pair;
	     pair = strtok_r(NULL, "&", &save)) {
		char *equals = strchr(pair, '=');

		*equals = '\0';
		vec_push(&r->query, (struct http_pair){pair, equals + 1});
	}
}

static int ask_by(struct api *by, const char *question, struct http_reply *reply, struct err *e)
{
	char *text = xstrdup(question), *params = strchr(text, '?'), *part;
	struct http_request r = {.method = "GET", .args = {run.uuid}};
	int rc = -ENOSYS;

	if (params) {
		*params = '\0';
		add_params(&r, params + 1);
	}
	*reply = (struct http_reply){.status = 200, .fd = -1};
	/* Questions about a table, whose paths end alike, are table/NAME/QUESTION. */
	part = strrchr(text, '/');
	if (part) {
		*part++ = '\0';
		r.args[1] = text + strlen("table/");
	}
	for (const struct http_route *route = query_routes; route->path; route++)
		if (!strcmp(strrchr(route->path, '/') + 1, part ? part : text) &&
		    !strstr(route->path, "{name}") == !part)
			rc = route->handle(by, &r, reply, e);
	vec_release(&r.query);
	free(text);
	return rc;
}

static int ask_bytes(const char *question, struct http_reply *reply)
{
	return ask_by(&api, question, reply, &error);
}

static void reply_release(struct http_reply *reply)
{
	vec_each(&reply->headers, pair) {
		free(pair->name);
		free(pair->value);
	}
	vec_release(&reply->headers);
	buf_release(&reply->body);
}

static json_t *ask(const char *fmt, ...)
{
	char question[1000];
	struct http_reply reply;
	json_error_t why;
	json_t *json;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(question, sizeof(question), fmt, ap);
	va_end(ap);
	error.text[0] = '\0';
	if (ask_bytes(question, &reply) < 0)
		fail_msg("%s: %s", question, error.text);
	json = json_loads(buf_str(&reply.body), 0, &why);
	if (!json)
		fail_msg("%s: %s in %.300s", question, why.text, buf_str(&reply.body));
	assert_int_equal(reply.immutable, run.state == STATE_DONE);
	reply_release(&reply);
	return json;
}

/* The same as text, to be freed. */
static __attribute__((unused)) char *ask_text(const char *question)
{
	struct http_reply reply;
	char *text;

	assert_int_equal(ask_bytes(question, &reply), 0);
	text = buf_steal(&reply.body);
	reply_release(&reply);
	return text;
}

static __attribute__((unused)) void refuses(const char *question, int code, const char *part)
{
	struct http_reply reply;

	assert_int_equal(ask_bytes(question, &reply), -code);
	if (!strstr(error.text, part))
		fail_msg("'%s' is not in '%s'", part, error.text);
	reply_release(&reply);
}

static double number(const json_t *json, const char *key)
{
	const json_t *value = json_object_get(json, key);

	if (!json_is_number(value))
		fail_msg("%s is no number", key);
	return json_number_value(value);
}

static __attribute__((unused)) double element(const json_t *json, const char *key, size_t i)
{
	return json_number_value(json_array_get(json_object_get(json, key), i));
}

/* The column of a table that a query is about, by its name. */
static __attribute__((unused)) size_t column_named(const struct table_query *q, const char *name)
{
	size_t ret = 0;

	OK(table_column_find(q, name, &ret, &error));
	return ret;
}

/* What a function has in a table of functions. */
static double of_function(const json_t *json, const char *name, const char *key)
{
	size_t i;
	json_t *f;

	json_array_foreach(json_object_get(json, "functions"), i,
			   f) if (!strcmp(json_string_value(json_object_get(f, "name")),
					  name)) return number(f, key);
	return 0;
}

/* ---- by hand ---- */

/* The string with a number in the dictionary of the run. */
static __attribute__((unused)) const char *text_at(uint64_t number)
{
	return profile_text(&made, (string_id){(uint32_t)number});
}

/* The order of two values of a column: texts by the alphabet, numbers by their sign. */
static __attribute__((unused)) int compare_values(enum value_type type, uint64_t a, uint64_t b)
{
	switch (type) {
	case VALUE_STRING:
		return strcmp(text_at(a), text_at(b));
	case VALUE_SIGNED:
		return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
	case VALUE_FLOAT:
		return (double_of_bits(a) > double_of_bits(b)) -
		       (double_of_bits(a) < double_of_bits(b));
	default:
		return (a > b) - (a < b);
	}
}

struct filter {
	uint32_t from, to; /* ms */
	int thread, cpu;   /* -1: all */
	uint32_t event;
	bool way; /* only stacks with it */
};

static void count(const struct filter *f, uint64_t *ret_samples, uint64_t *ret_weight,
		  uint64_t *by_leaf)
{
	*ret_samples = *ret_weight = 0;
	memset(by_leaf, 0, 3 * sizeof(*by_leaf));
	for (uint32_t i = f->from; i < f->to && i < SAMPLES; i++) {
		struct sample_row s = sample(i);
		uint32_t leaf = leaf_of(i);

		if (s.event != f->event ||
		    (f->thread >= 0 && s.thread != (uint32_t)f->thread + 1) ||
		    (f->cpu >= 0 && s.cpu != (uint32_t)f->cpu) || (f->way && leaf != 3))
			continue;
		++*ret_samples;
		*ret_weight += s.weight;
		by_leaf[leaf < 3 ? leaf : 2] += s.weight;
	}
}

static void compare(const struct filter *f)
{
	uint64_t samples, weight, by_leaf[3];
	struct buf question = {};
	json_t *json;

	buf_addf(&question, "functions?from=%ums&to=%ums&event=%s", f->from, f->to,
		 f->event ? "faults" : "cpu-clock");
	if (f->thread >= 0)
		buf_addf(&question, "&threads=%d", 100 + f->thread);
	if (f->cpu >= 0)
		buf_addf(&question, "&cpus=%d", f->cpu);
	if (f->way)
		buf_add(&question, "&frames=^w.y$");
	json = ask("%s", question.s);
	count(f, &samples, &weight, by_leaf);
	assert_int_equal(number(json, "samples"), samples);
	assert_int_equal(number(json, "total"), weight);
	for (int i = 0; i < 3; i++)
		assert_int_equal(of_function(json, leaves[i], "self"), by_leaf[i]);
	assert_int_equal(of_function(json, "main", "total"), weight);
	json_decref(json);
	buf_release(&question);
}

static __attribute__((unused)) void compare_many(void)
{
	uint32_t seed = 5;

	for (int i = 0; i < 60; i++) {
		struct filter f = {.thread = -1, .cpu = -1};

		seed = seed * 1664525u + 1013904223u;
		f.from = (seed >> 8) % SAMPLES;
		f.to = f.from + 1 + (seed >> 5) % SAMPLES;
		f.event = seed >> 31;
		if (i % 3 == 1)
			f.thread = (int)(seed >> 20) % 3;
		if (i % 5 == 2)
			f.cpu = (int)(seed >> 25) % 2;
		f.way = i % 7 == 3;
		compare(&f);
	}
	compare(&(struct filter){0, SAMPLES, -1, -1, 0, false});
}

#endif
