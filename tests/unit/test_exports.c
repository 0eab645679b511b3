/* Downloads of a stored run: what is in the store comes out of every format, whatever the chunks are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "profile/dictionary.h"
#include "profile/spans.h"
#include "server/export/formats.h"
#include "server/export/h5_file.h"
#include "server/export/table.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START 1000000000ull

struct fixture {
	char directory[64];
	struct server server;
	struct api api;
	struct stored_session session;
	struct stored_run run;
	struct profile profile;
	stack_id main_stack, work_stack;
	thread_id thread;
	struct dictionary_writer writer;
};

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static frame_id frame_of(struct profile *p, const char *name, uint64_t address)
{
	module_id module = profile_module(p, "/bin/a,\"b\"", "", CODE_USER);
	frame_id frame = profile_frame(p, module, address);
	function_id function =
		profile_function(p, &(struct profile_function){.name = profile_string(p, name),
							       .label = profile_string(p, name),
							       .module = module,
							       .start = address,
							       .kind = CODE_USER,
							       .named = true});

	profile_name_frame(p, frame, &(struct frame_name){.function = function}, 1);
	return frame;
}

static void send_dictionary(struct fixture *f)
{
	CLEANUP(buf_release) struct buf piece = {};

	while (dictionary_encode(&f->writer, &f->profile, &piece)) {
		assert_int_equal(
			store_dictionary_add(f->api.store, f->run.id, 0, piece.s, piece.len, NULL),
			0);
		buf_clear(&piece);
	}
}

static void add_dictionary(struct fixture *f)
{
	struct profile *p = &f->profile;

	profile_init(p);
	f->main_stack = profile_stack(p, (stack_id){0}, frame_of(p, "main", 16));
	f->work_stack = profile_stack(p, f->main_stack, frame_of(p, "<work> & \"more\"", 32));
	f->thread = profile_thread(p, 70, 71, profile_string(p, "a, b"));
	profile_event(p, "cpu-clock");
	profile_event(p, "page-faults");
	profile_counter(p, &(struct profile_counter){.name = profile_string(p, "task-clock"),
						     .unit = profile_string(p, "ms"),
						     .scale = 1e-6,
						     .cpu = -1});
	profile_counter(p, &(struct profile_counter){.name = profile_string(p, "uncore/reads/"),
						     .scale = 1,
						     .cpu = 3});
	dictionary_writer_init(&f->writer);
	send_dictionary(f);
}

static void add_samples(struct fixture *f, uint64_t first, uint64_t step, size_t count)
{
	struct sample_row *rows = xcalloc(count, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct sample_row){
			.time_ns = START + first + i * step,
			.weight = 10,
			.event = i % 10 == 9,
			.thread = f->thread.n,
			.stack = i % 2 ? f->work_stack.n : f->main_stack.n,
			.cpu = (uint32_t)(i % 4),
		};
	chunk_encode_samples(rows, count, &bytes, &info);
	assert_int_equal(store_chunk_add(f->api.store, f->run.id, 0, &info, bytes.s, bytes.len,
					 NULL, 0, NULL, NULL),
			 0);
	free(rows);
}

/* A sample of a thread and a stack that do not exist. */
static void add_damaged_sample(struct fixture *f)
{
	const struct sample_row row = {
		.time_ns = START + 1, .weight = 10, .thread = 999999, .stack = 999999};
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	chunk_encode_samples(&row, 1, &bytes, &info);
	assert_int_equal(store_chunk_add(f->api.store, f->run.id, 0, &info, bytes.s, bytes.len,
					 NULL, 0, NULL, NULL),
			 0);
}

static void add_counts(struct fixture *f, uint32_t counter, uint64_t first, size_t count)
{
	struct count_row *rows = xcalloc(count, sizeof(*rows));
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct count_row){
			.time_ns = START + first + i * 100000000,
			.duration_ns = 100000000,
			.value = counter == 1 ? 50000000 : i,
			.running_ppm = 1000000,
		};
	chunk_encode_counts(counter, rows, count, &bytes, &info);
	assert_int_equal(store_chunk_add(f->api.store, f->run.id, 0, &info, bytes.s, bytes.len,
					 NULL, 0, NULL, NULL),
			 0);
	free(rows);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = {};

	strcpy(f->directory, "/tmp/tacho-exports-XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	f->server.config.data = f->directory;
	f->server.cache = run_cache_new(0);
	f->api.server = &f->server;
	assert_int_equal(
		store_open(&f->api.store, &(struct store_options){.directory = f->directory}, &e),
		0);
	assert_int_equal(store_session_add(f->api.store, "a", &f->session, &e), 0);
	f->run = (struct stored_run){.session_id = f->session.id,
				     .state = STATE_DONE,
				     .user = xstrdup("me"),
				     .description = xstrdup(""),
				     .command = xstrdup("<script>alert(1)</script>"),
				     .plan = xstrdup("{\"tool\":\"both\",\"note\":\"</td><b>\"}"),
				     .tags = xstrdup("[]"),
				     .ledger = xstrdup("{\"samples\":150,\"lost\":3}"),
				     .started_ms = 1000,
				     .ended_ms = 3000,
				     .start_ns = (int64_t)START};
	uuid_make(f->run.uuid);
	assert_int_equal(store_run_add(f->api.store, &f->run, &e), 0);
	f->run.start_ns = (int64_t)START;
	assert_int_equal(store_run_update(f->api.store, &f->run, &e), 0);
	add_dictionary(f);
	/* Two chunks of samples whose times overlap, added in the wrong order. */
	add_samples(f, 500000000, 10000000, 50);
	add_samples(f, 0, 10000000, 100);
	add_counts(f, 1, 100000000, 5);
	add_counts(f, 1, 600000000, 5);
	add_counts(f, 2, 200000000, 3);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	stored_run_release(&f->run);
	stored_session_release(&f->session);
	profile_release(&f->profile);
	dictionary_writer_release(&f->writer);
	run_cache_free(f->server.cache);
	store_close(f->api.store);
	nftw(f->directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

/* The whole of a format, with parameters "name", "value" …, ended by NULL. */
static int export_as(struct fixture *f, const struct export_format *format, struct buf *ret,
		     struct err *e, const char *const *parameters)
{
	struct http_request r = {};
	struct export_target t;
	struct export_run x;
	char block[4096];
	ssize_t n;
	int rc;

	for (; parameters && *parameters; parameters += 2)
		vec_push(&r.query,
			 (struct http_pair){(char *)parameters[0], (char *)parameters[1]});
	assert_int_equal(export_target_open(&t, &f->api, e), 0);
	rc = export_run_open(&x, &f->api, f->run.uuid, format->whole ? NULL : &r, e);
	if (rc == 0) {
		rc = format->write(&x, &r, &t, e);
		if (rc == 0)
			rc = export_target_flush(&t, e);
		export_run_close(&x);
	}
	lseek(t.fd, 0, SEEK_SET);
	while ((n = read(t.fd, block, sizeof(block))) > 0)
		buf_add_mem(ret, block, (size_t)n);
	export_target_close(&t);
	vec_release(&r.query);
	return rc;
}

static size_t lines_of(const struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->s[i] == '\n';
	return n;
}

static void test_counters_csv(void **state)
{
	CLEANUP(buf_release) struct buf text = {};

	assert_int_equal(export_as(*state, &format_csv, &text, NULL, NULL), 0);
	assert_int_equal(lines_of(&text), 11);
	assert_non_null(strstr(text.s, "time_s,interval_s,task-clock [ms],uncore/reads/@cpu3\n"
				       "0.100000000,0.100000000,50,\n"
				       "0.200000000,0.100000000,50,0\n"));
	assert_non_null(
		strstr(text.s, "\n0.400000000,0.100000000,50,2\n0.500000000,0.100000000,50,\n"));
}

static void test_samples_csv(void **state)
{
	static const char *const samples[] = {"what", "samples", NULL};
	static const char *const some[] = {"what",  "samples",   "from", "500ms", "to", "1s",
					   "event", "cpu-clock", "cpus", "1,3",   NULL};
	static const char *const nobody[] = {"what", "samples", "threads", "70", NULL};
	static const char *const wrong[] = {"what", "all", NULL};
	CLEANUP(buf_release) struct buf text = {};
	double last = -1;
	struct err e = {};

	assert_int_equal(export_as(*state, &format_csv, &text, NULL, samples), 0);
	assert_int_equal(lines_of(&text), 151);
	/* By time, although the chunks overlap. */
	for (const char *line = strchr(text.s, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		double now = strtod(line, NULL);

		assert_true(now >= last);
		last = now;
	}
	assert_non_null(strstr(text.s, "0.010000000,cpu-clock,70,71,\"a, b\",1,10,,\"<work> & "
				       "\"\"more\"\"\",\"a,\"\"b\"\"\",\"main;<work> & "
				       "\"\"more\"\"\"\n"));
	buf_clear(&text);
	assert_int_equal(export_as(*state, &format_csv, &text, NULL, some), 0);
	/* Odd CPUs in half a second of two chunks, without every tenth sample. */
	assert_int_equal(lines_of(&text), 1 + 50 - 10);
	buf_clear(&text);
	assert_int_equal(export_as(*state, &format_csv, &text, NULL, nobody), 0);
	assert_int_equal(lines_of(&text), 1);
	assert_int_equal(export_as(*state, &format_csv, &text, &e, wrong), -EINVAL);
	assert_string_equal(e.text, "The run has no table 'all'; it has counters and samples.");
}

/* They count as number 0, as in questions. Rows of a run that goes on may be of later threads. */
static void test_damaged_numbers(void **state)
{
	static const char *const unknown[] = {"what", "samples", "threads", "0", NULL};
	static const char *const known[] = {"what", "samples", "threads", "71", NULL};
	static const char *const frames[] = {"what", "samples", "frames", "main", NULL};
	struct fixture *f = *state;

	for (int running = 0; running < 2; running++) {
		CLEANUP(buf_release) struct buf text = {};

		if (!running)
			add_damaged_sample(f);
		f->run.state = running ? STATE_RUNNING : STATE_DONE;
		assert_int_equal(store_run_update(f->api.store, &f->run, NULL), 0);
		assert_int_equal(export_as(f, &format_csv, &text, NULL, unknown), 0);
		assert_int_equal(lines_of(&text), running ? 1 : 2);
		buf_clear(&text);
		assert_int_equal(export_as(f, &format_csv, &text, NULL, known), 0);
		assert_int_equal(lines_of(&text), 1 + 150);
		buf_clear(&text);
		assert_int_equal(export_as(f, &format_csv, &text, NULL, frames), 0);
		assert_int_equal(lines_of(&text), 1 + 150);
	}
}

/* ---- tables of the run's own ---- */

/* A table with a column of each type, and fields that are called as columns of all tables are. */
static uint32_t add_table(struct fixture *f, const char *name)
{
	static const struct column_schema columns[] = {
		{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
		{"thread", "", "", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
		{"stack", "", "", TAG_STACK, VALUE_STACK, AS_STACK, 4},
		{"pid", "", "", 32, VALUE_SIGNED, AS_VALUE, 1},
		{"rate/s", "MB", "", 33, VALUE_FLOAT, AS_VALUE, 8},
		{"at", "", "", 34, VALUE_ADDRESS, AS_VALUE, 8},
		{"a", "", "", 35, VALUE_STRING, AS_VALUE, 8},
		{"a", "", "", 36, VALUE_UNSIGNED, AS_VALUE, 8},
		{"waker", "", "", 37, VALUE_THREAD, AS_VALUE, 4},
		{"since", "ns", "", 38, VALUE_TIME, AS_VALUE, 8},
		{"took", "ns", "", 39, VALUE_DURATION, AS_VALUE, 8},
	};

	return profile_schema_add(&f->profile,
				  &(struct table_schema){.name = name,
							 .meaning = "of a test",
							 .sampled = true,
							 .event = 1,
							 .column_count = ARRAY_LEN(columns)},
				  columns);
}

/* Rows at START + first_ns + n * step_ns, whose second column "a" counts on from @number. */
static void add_rows(struct fixture *f, uint32_t schema, uint64_t first_ns, uint64_t step_ns,
		     size_t count, uint64_t number)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	string_id text = profile_string(&f->profile, "=a,\"\xc3\xbc\"");
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;
	double rate = 0.1;

	c->info = (struct chunk_info){.schema = schema, .sampled = true};
	c->rows = count;
	for (uint32_t tag = 0; tag < 11; tag++) {
		static const uint32_t tags[] = {TAG_TIME, TAG_THREAD, TAG_STACK, 32, 33, 34,
						35,       36,         37,        38, 39};
		uint64_t *values = xcalloc(count, sizeof(*values));

		c->columns[c->count++] = (struct chunk_column){tags[tag], values};
		for (size_t i = 0; i < count; i++) {
			uint64_t row[] = {START + first_ns + i * step_ns,
					  f->thread.n,
					  f->work_stack.n,
					  (uint64_t)-3,
					  0,
					  0xffffffff81000000,
					  text.n,
					  number + i,
					  f->thread.n,
					  START + 5,
					  7};

			memcpy(&row[4], &rate, sizeof(rate));
			values[i] = row[tag];
		}
	}
	chunk_encode(c, &bytes, &info);
	chunk_columns_release(c);
	free(c);
	send_dictionary(f);
	assert_int_equal(store_chunk_add(f->api.store, f->run.id, 0, &info, bytes.s, bytes.len,
					 NULL, 0, NULL, NULL),
			 0);
}

static void test_table_has_every_column(void **state)
{
	static const char *const what[] = {"what", "sched:it", NULL};
	struct fixture *f = *state;
	CLEANUP(buf_release) struct buf csv = {}, lines = {};

	add_rows(f, add_table(f, "sched:it"), 2000, 1, 1, UINT64_MAX);
	assert_int_equal(export_as(f, &format_csv, &csv, NULL, what), 0);
	assert_string_equal(
		csv.s,
		"time_s,pid,tid,comm,field_pid,rate|s [MB],at,a,a#8,waker_pid,waker_tid,"
		"waker_comm,since_s,took [ns],function,module,stack\n"
		"0.000002000,70,71,\"a, b\",-3,0.10000000000000001,0xffffffff81000000,"
		"\"'=a,\"\"\xc3\xbc\"\"\",18446744073709551615,70,71,\"a, b\",0.000000005,7,"
		"\"<work> & \"\"more\"\"\",\"a,\"\"b\"\"\",\"main;<work> & \"\"more\"\"\"\n");
	assert_int_equal(export_as(f, &format_jsonl, &lines, NULL, what), 0);
	assert_string_equal(
		lines.s,
		"{\"time_s\":0.000002000,\"pid\":70,\"tid\":71,\"comm\":\"a, b\",\"field_pid\":-3,"
		"\"rate|s\":0.1,\"at\":\"0xffffffff81000000\",\"a\":\"=a,\\\"\xc3\xbc\\\"\","
		"\"a#8\":18446744073709551615,\"waker_pid\":70,\"waker_tid\":71,"
		"\"waker_comm\":\"a, b\",\"since_s\":0.000000005,\"took\":7,"
		"\"function\":\"<work> & \\\"more\\\"\",\"module\":\"a,\\\"b\\\"\","
		"\"stack\":\"main;<work> & \\\"more\\\"\"}\n");
}

static int keep_chunk(void *ctx, const struct buf *bytes, const struct chunk_info *info)
{
	struct fixture *f = ctx;

	return store_chunk_add(f->api.store, f->run.id, 0, info, bytes->s, bytes->len, NULL, 0,
			       NULL, NULL);
}

/* Side by side, of different classes, two without length. */
static void add_spans(struct fixture *f)
{
	static const struct column_schema columns[] = {
		{"time", "ns", "", TAG_TIME, VALUE_TIME, AS_TIME, 8},
		{"end", "ns", "", TAG_END, VALUE_TIME, AS_END, 8},
		{"cpu", "", "", TAG_CPU, VALUE_CPU, AS_CPU, 4},
		{"what", "", "", TAG_KEY, VALUE_STRING, AS_KEY, 4},
	};
	enum { MS = 1000000 };
	uint64_t start[] = {START, START + 10 * MS, START + 10 * MS, START + 20 * MS},
		 end[] = {START + 10 * MS, START + 20 * MS, START + 10 * MS, START + 20 * MS},
		 cpu[] = {0, 1, 2, 3}, what[4];
	struct chunk_columns *c = xcalloc(1, sizeof(*c));

	for (size_t i = 0; i < 4; i++)
		what[i] = profile_string(&f->profile, i % 2 ? "read" : "write").n;
	c->info.schema = profile_schema_add(
		&f->profile,
		&(struct table_schema){
			.name = "calls", .meaning = "", .is_span = true, .column_count = 4},
		columns);
	send_dictionary(f);
	c->rows = c->count = 4;
	c->columns[0] = (struct chunk_column){TAG_TIME, start};
	c->columns[1] = (struct chunk_column){TAG_END, end};
	c->columns[2] = (struct chunk_column){TAG_CPU, cpu};
	c->columns[3] = (struct chunk_column){TAG_KEY, what};
	assert_int_equal(span_chunks_encode(c, keep_chunk, f), 0);
	free(c);
}

static void test_spans(void **state)
{
	static const char *const all[] = {"what", "calls", NULL};
	static const char *const part[] = {"what", "calls", "from", "10ms", "to", "20ms", NULL};
	struct fixture *f = *state;
	CLEANUP(buf_release) struct buf csv = {}, lines = {};

	add_spans(f);
	assert_int_equal(export_as(f, &format_csv, &csv, NULL, all), 0);
	assert_string_equal(csv.s, "time_s,end_s,cpu,what\n"
				   "0.000000000,0.010000000,0,write\n"
				   "0.010000000,0.010000000,2,write\n"
				   "0.010000000,0.020000000,1,read\n"
				   "0.020000000,0.020000000,3,read\n");
	/* What ends where the window begins is not in it, nor what begins where it ends. */
	assert_int_equal(export_as(f, &format_jsonl, &lines, NULL, part), 0);
	assert_string_equal(
		lines.s,
		"{\"time_s\":0.010000000,\"end_s\":0.010000000,\"cpu\":2,\"what\":\"write\"}\n"
		"{\"time_s\":0.010000000,\"end_s\":0.020000000,\"cpu\":1,\"what\":\"read\"}\n");
}

static int note_number(void *ctx, const struct walked_row *row)
{
	struct buf *out = ctx;

	buf_addf(out, "%llu ", (unsigned long long)walked_value(row, 0));
	return 0;
}

/* Chunks of many tables that all overlap, stored in another order than that of their times. */
static void test_walk_is_by_time(void **state)
{
	enum { TABLES = 100, ROWS = 7 };
	static const uint32_t tags[] = {36, 0};
	struct fixture *f = *state;
	CLEANUP(buf_release) struct buf found = {}, expected = {};
	struct export_run x;
	struct row_walk walk;

	for (uint32_t i = 0; i < TABLES; i++) {
		uint32_t at = i * 37 % TABLES;
		char name[16];

		snprintf(name, sizeof(name), "t%u", at);
		/* After all samples of the fixture, whose "a" is 0. */
		for (uint32_t part = 0, schema = add_table(f, name); part < 2; part++)
			add_rows(f, schema, 2 * NS_PER_SEC + part * ROWS * TABLES + at, TABLES,
				 ROWS, 1000);
	}
	for (int i = 0; i < 150; i++)
		buf_add(&expected, "0 ");
	for (int i = 0; i < 2 * ROWS * TABLES; i++)
		buf_addf(&expected, "%d ", 1000 + i / TABLES % ROWS);
	assert_int_equal(export_run_open(&x, &f->api, f->run.uuid, NULL, NULL), 0);
	walk = export_walk(&x, (struct chunk_query){.sampled = true}, tags);
	assert_int_equal(row_walk_each(&walk, note_number, &found, NULL), 0);
	export_run_close(&x);
	assert_string_equal(found.s, expected.s);
}

static void test_folded(void **state)
{
	static const char *const window[] = {"from", "900ms", NULL};
	static const char *const unknown[] = {"event", "cycles", NULL};
	static const char *const frames[] = {"frames", "more", NULL};
	CLEANUP(buf_release) struct buf text = {};
	struct err e = {};

	assert_int_equal(export_as(*state, &format_folded, &text, NULL, NULL), 0);
	assert_string_equal(text.s, "a,_b;main 750\na,_b;main;<work> & more 600\n");
	buf_clear(&text);
	assert_int_equal(export_as(*state, &format_folded, &text, NULL, window), 0);
	assert_string_equal(text.s, "a,_b;main 100\na,_b;main;<work> & more 80\n");
	buf_clear(&text);
	assert_int_equal(export_as(*state, &format_folded, &text, NULL, frames), 0);
	assert_string_equal(text.s, "a,_b;main;<work> & more 600\n");
	assert_int_equal(export_as(*state, &format_folded, &text, &e, unknown), -EINVAL);
	assert_non_null(strstr(e.text, "'cycles'"));
}

static void test_pictures(void **state)
{
	CLEANUP(buf_release) struct buf svg = {}, html = {};

	assert_int_equal(export_as(*state, &format_svg, &svg, NULL, NULL), 0);
	assert_non_null(strstr(svg.s, "&lt;work&gt; &amp;"));
	assert_null(strstr(svg.s, "<work>"));
	assert_int_equal(export_as(*state, &format_html, &html, NULL, NULL), 0);
	assert_non_null(strstr(html.s, "&lt;script&gt;alert(1)&lt;/script&gt;"));
	assert_null(strstr(html.s, "<script>alert"));
	assert_null(strstr(html.s, "</td><b>"));
	assert_non_null(strstr(html.s, "data:image/svg+xml;base64,PD94"));
	assert_non_null(strstr(html.s, "3 of 153 samples were lost"));
	assert_non_null(strstr(html.s, "task-clock"));
	assert_non_null(strstr(html.s, "class=\"mean\" d=\"M"));
}

static void test_log(void **state)
{
	static const char *const out[] = {"stream", "stdout", NULL};
	static const char *const later[] = {"stream", "stderr", "offset", "4", NULL};
	static const char *const wrong[] = {"offset", "4", NULL};
	struct fixture *f = *state;
	CLEANUP(buf_release) struct buf text = {};
	struct err e = {};

	store_output_add(f->api.store, f->run.id, 1, 1, "one\ntw", 6, NULL);
	store_output_add(f->api.store, f->run.id, 2, 2, "bad\0\xff\n", 6, NULL);
	store_output_add(f->api.store, f->run.id, 1, 3, "o\n", 2, NULL);
	assert_int_equal(export_as(f, &format_log, &text, NULL, NULL), 0);
	assert_int_equal(text.len, 6 + 1 + 9 + 6 + 2);
	assert_memory_equal(text.s, "one\ntw\n[stderr] bad\0\xff\no\n", text.len);
	buf_clear(&text);
	assert_int_equal(export_as(f, &format_log, &text, NULL, out), 0);
	assert_string_equal(text.s, "one\ntwo\n");
	buf_clear(&text);
	assert_int_equal(export_as(f, &format_log, &text, NULL, later), 0);
	assert_int_equal(text.len, 2);
	assert_memory_equal(text.s, "\xff\n", 2);
	assert_int_equal(export_as(f, &format_log, &text, &e, wrong), -EINVAL);
}

/* What Python makes of it is a test of its own; here: that it is one, and that twice is fine. */
static void test_h5(void **state)
{
	CLEANUP(buf_release) struct buf bytes = {}, again = {};
	struct err e = {};
	int rc = export_as(*state, &format_h5, &bytes, &e, NULL);

	if (rc == -ENOTSUP) {
		print_message("# SKIP built without libhdf5\n");
		skip();
	}
	assert_int_equal(rc, 0);
	assert_memory_equal(bytes.s, "\211HDF\r\n\032\n", 8);
	assert_int_equal(export_as(*state, &format_h5, &again, &e, NULL), 0);
	assert_true(again.len > 4096);
}

/* More than the description of a row has room for: they come one below the other. */
static void test_h5_of_many_counters(void **state)
{
	struct fixture *f = *state;
	CLEANUP(buf_release) struct buf bytes = {};
	struct err e = {};
	int rc;

	for (int i = 0; i < 2000; i++)
		profile_counter(
			&f->profile,
			&(struct profile_counter){
				.name = profile_string(&f->profile, "a-counter-of-some-length"),
				.scale = 1,
				.cpu = i,
			});
	send_dictionary(f);
	add_counts(f, 1900, 0, 5);
	rc = export_as(f, &format_h5, &bytes, &e, NULL);
	if (rc == -ENOTSUP) {
		print_message("# SKIP built without libhdf5\n");
		skip();
	}
	assert_int_equal(rc, 0);
	assert_memory_equal(bytes.s, "\211HDF\r\n\032\n", 8);
}

static void test_kept_data(void **state)
{
	struct fixture *f = *state;
	CLEANUP(free_ptr) char *name = xasprintf("raw/%s.data", f->run.uuid);
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", f->directory, name);
	CLEANUP(free_ptr) char *raw = xasprintf("%s/raw", f->directory);
	CLEANUP(buf_release) struct buf bytes = {};
	struct err e = {};
	FILE *file;

	assert_int_equal(mkdir(raw, 0700), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("PERFILE2", file);
	fclose(file);
	f->run.raw_path = xstrdup(name);
	assert_int_equal(store_run_update(f->api.store, &f->run, &e), 0);
	assert_int_equal(export_as(f, &format_data, &bytes, &e, NULL), 0);
	assert_string_equal(bytes.s, "PERFILE2");
}

static void test_span(void **state)
{
	struct fixture *f = *state;
	uint64_t from, to;
	struct export_run x;
	struct err e = {};

	assert_int_equal(export_run_open(&x, &f->api, f->run.uuid, NULL, &e), 0);
	assert_int_equal(export_run_span(&x, &from, &to, &e), 0);
	assert_int_equal(from, START);
	assert_int_equal(to, START + 1000000000);
	export_run_close(&x);
	assert_int_equal(export_run_open(&x, &f->api, "nobody", NULL, &e), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_counters_csv),
		TEST(test_table_has_every_column),
		TEST(test_damaged_numbers),
		TEST(test_walk_is_by_time),
		TEST(test_samples_csv),
		TEST(test_folded),
		TEST(test_pictures),
		TEST(test_log),
		TEST(test_h5),
		TEST(test_h5_of_many_counters),
		TEST(test_kept_data),
		TEST(test_span),
		TEST(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
