/* What the handlers of the API share: parameters, bodies, sessions and runs as JSON. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/number.h"
#include "server/api/api.h"
#include "server/emap.h"
#include "server/processes.h"

static struct http_request with_query(const char *name, const char *value)
{
	struct http_request r = {.method = "GET", .path = "/", .upload_fd = -1};

	vec_push(&r.query, (struct http_pair){(char *)name, (char *)value});
	return r;
}

static void times_have_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"0", 0},
		{"1500", 1500},
		{"1500ns", 1500},
		{"1.5us", 1500},
		{"200ms", 200000000},
		{"1.5s", 1500000000},
		{"2m", 120000000000},
		{"1h", 3600000000000},
		{"9007199254740993", 9007199254740993}, /* more than a double can hold */
	};
	static const char *const bad[] = {
		"",    "-1",  "-1s", "s",    "1 s",          "1sec", "1.5", "1..5s",
		"nan", "inf", "0x",  "1e5s", "99999999999h", "1s ",  ".",   "18446744073709551616"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(parse_time_ns(good[i].text, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (parse_time_ns(bad[i], &ns))
			fail_msg("'%s' was taken for %llu ns", bad[i], (unsigned long long)ns);
}

static void pages_have_limits(void **state)
{
	static const char *const bad[] = {
		"0", "1001", "-1", "x", "", "1.5", "99999999999999999999"};
	struct http_request none = {};
	struct page page = {};

	(void)state;
	assert_int_equal(api_page(&none, &page, NULL), 0);
	assert_int_equal(page.limit, API_LIMIT);
	assert_int_equal(page.before, 0);
	assert_null(page.search);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct http_request r = with_query("limit", bad[i]);

		assert_int_equal(api_page(&r, &page, NULL), -EINVAL);
		vec_release(&r.query);
	}
}

static void unknown_parameters_are_named(void **state)
{
	static const char *const known[] = {"search", "limit", NULL};
	static const char *const none[] = {NULL};
	struct http_request r = with_query("serach", "x");
	struct err e = {};

	(void)state;
	assert_int_equal(api_params_known(&r, known, &e), -EINVAL);
	assert_non_null(strstr(e.text, "'serach'"));
	assert_non_null(strstr(e.text, "'search'"));
	assert_int_equal(api_params_known(&r, none, &e), -EINVAL);
	r.query.items[0].name = (char *)"token";
	assert_int_equal(api_params_known(&r, none, &e), 0);
	vec_release(&r.query);
}

static int parse_body(const char *text, json_t **ret, struct err *e)
{
	struct http_request r = {};
	int rc;

	buf_add(&r.body, text);
	rc = api_body(&r, ret, e);
	buf_release(&r.body);
	return rc;
}

static void bodies_are_objects(void **state)
{
	static const char *const bad[] = {
		"[]", "1", "\"x\"", "{", "{\"a\":1}x", "{\"a\":1,\"a\":2}", "{\"a\":\"\xff\"}",
		"nul"};
	CLEANUP(buf_release) struct buf deep = {};
	json_t *body = NULL;
	struct err e = {};

	(void)state;
	assert_int_equal(parse_body("", &body, &e), 0);
	assert_int_equal(json_object_size(body), 0);
	json_decref(body);
	assert_int_equal(parse_body("{\"a\": {\"b\": [1]}}", &body, &e), 0);
	json_decref(body);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(parse_body(bad[i], &body, &e), -EINVAL);
	buf_add(&deep, "{\"a\":");
	buf_pad(&deep, 100000, '[');
	assert_int_equal(parse_body(buf_str(&deep), &body, &e), -EINVAL);
	assert_non_null(strstr(e.text, "deeper"));
	/* Brackets in a string are none. */
	assert_int_equal(parse_body("{\"a\": \"[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[\"}", &body, &e), 0);
	json_decref(body);
}

static void fields_are_checked(void **state)
{
	static const char *const known[] = {"title", "note", NULL};
	json_t *body = json_pack("{s:s, s:i, s:n}", "title", "abc", "number", 5, "nothing");
	const char *text = "untouched";
	struct err e = {};

	(void)state;
	assert_int_equal(api_fields_known(body, known, &e), -EINVAL);
	assert_int_equal(api_field_str(body, "title", 3, &text, &e), 0);
	assert_string_equal(text, "abc");
	assert_int_equal(api_field_str(body, "title", 2, &text, &e), -E2BIG);
	assert_int_equal(api_field_str(body, "number", 9, &text, &e), -EINVAL);
	assert_int_equal(api_field_str(body, "nothing", 9, &text, &e), 0);
	assert_null(text);
	assert_int_equal(api_field_str(body, "missing", 9, &text, &e), 0);
	assert_null(text);
	json_decref(body);
}

/* A name of a megabyte is neither shown nor compared as a whole. */
static void long_names_are_cut(void **state)
{
	static const char *const known[] = {"title", NULL};
	CLEANUP(buf_release) struct buf name = {};
	json_t *body = json_object();
	struct err e = {};

	(void)state;
	buf_pad(&name, 1 << 20, 'x');
	json_object_set_new(body, buf_str(&name), json_null());
	assert_int_equal(api_fields_known(body, known, &e), -EINVAL);
	assert_true(strlen(e.text) < 200);
	json_decref(body);
}

static json_t *run_as_json(struct stored_run *run)
{
	CLEANUP(buf_release) struct buf out = {};
	struct json j = jw_to(&out);
	json_t *value;

	run_json(&j, run, NULL);
	value = json_loads(buf_str(&out), JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(value);
	return value;
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static void a_run_has_every_field_of_its_plan(void **state)
{
	struct stored_run run = {
		.uuid = "u",
		.session_uuid = "s",
		.state = STATE_FAILED,
		.user = (char *)"ann",
		.note = (char *)"",
		.plan = (char *)"{\"workload\": \"echo 'a b'\", \"user\": \"bob\", \"note\": "
				"\"old\", "
				"\"tool\": \"stat\", \"tags\": [\"old\"], \"state\": \"done\"}",
		.tags = (char *)"[\"new\"]",
		.ended = (char *)"{\"status\": 3, \"error\": \"it said no\"}",
		.started_ms = 1000,
		.ended_ms = 2500,
	};
	json_t *json = run_as_json(&run);

	(void)state;
	assert_string_equal(text_of(json, "state"), "failed");
	assert_string_equal(text_of(json, "user"), "ann");
	assert_string_equal(text_of(json, "run_as"), "bob");
	assert_string_equal(text_of(json, "tool"), "stat");
	assert_string_equal(text_of(json, "error"), "it said no");
	assert_string_equal(text_of(json, "started_at"), "1970-01-01T00:00:01.000Z");
	assert_true(json_is_null(json_object_get(json, "note")));
	assert_true(json_is_null(json_object_get(json, "ledger")));
	assert_int_equal(json_array_size(json_object_get(json, "argv")), 2);
	assert_string_equal(json_string_value(json_array_get(json_object_get(json, "tags"), 0)),
			    "new");
	assert_int_equal(json_integer_value(json_object_get(json, "exit_status")), 3);
	assert_true(json_real_value(json_object_get(json, "duration_s")) == 1.5);
	json_decref(json);
}

/* A store that was damaged, or written by another version, must not make answers that do not parse. */
static void a_run_with_nonsense_is_still_json(void **state)
{
	struct stored_run run = {.plan = (char *)"{\"workload\": ",
				 .tags = (char *)"{}",
				 .ledger = (char *)"]",
				 .opened = (char *)"[1]",
				 .ended = (char *)"7"};
	json_t *json = run_as_json(&run);

	(void)state;
	assert_true(json_is_array(json_object_get(json, "tags")));
	assert_true(json_is_null(json_object_get(json, "ledger")));
	assert_true(json_is_null(json_object_get(json, "environment")));
	json_decref(json);
}

static void events_are_found_and_shared(void **state)
{
	struct emap *m = emap_new();
	struct emap_list *first = emap_get(m), *second = emap_get(m);
	const struct emap_event *faults = NULL;

	(void)state;
	assert_ptr_equal(first, second);
	vec_each(&first->events, event)
		if (!strcmp(event->name, "page-faults"))
			faults = event;
	assert_non_null(faults);
	assert_int_equal(faults->kind, KIND_SW);
	assert_true(emap_matches(faults, NULL));
	assert_true(emap_matches(faults, "PAGE fault"));
	assert_false(emap_matches(faults, "page nothing"));
	emap_put(m, second);
	emap_put(m, first);
	emap_free(m);
}

static void processes_include_us(void **state)
{
	process_rows rows = {};
	char pid[16];
	struct process_query query = {.search = pid, .limit = 1000, .mine = geteuid()};
	bool more, found = false;

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	processes_read(&query, &rows, &more);
	assert_false(more);
	vec_each(&rows, row)
		if (row->pid == getpid()) {
			found = true;
			assert_true(row->mine);
			assert_true(row->threads >= 1);
			assert_non_null(strstr(row->command, "test_api"));
		}
	assert_true(found);
	processes_release(&rows);
	processes_read(&(struct process_query){.limit = 1}, &rows, &more);
	assert_int_equal(rows.len, 1);
	assert_true(more);
	processes_release(&rows);
}

/* What may take long is not among the requests that always find a worker. */
static void questions_are_slow(void **state)
{
	static const char *const quick[] = {".json", "/ledger"};
	unsigned slow = 0;

	(void)state;
	for (size_t t = 0; api_tables[t]; t++)
		for (const struct http_route *r = api_tables[t]; r->path; r++) {
			const char *run = strstr(r->path, "/benchmark/{id}"),
				   *of = run ? run + 15 : "";
			bool expected = *of || strstr(r->path, ".h5") || strstr(r->path, "/diff") ||
					strstr(r->path, "/emap");

			for (size_t i = 0; i < ARRAY_LEN(quick); i++)
				expected = expected && strcmp(of, quick[i]) != 0;
			expected = expected && !strcmp(r->method, "GET");
			if (r->slow != expected)
				fail_msg("%s %s", r->method, r->path);
			slow += r->slow;
		}
	assert_true(slow > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_units),
		cmocka_unit_test(pages_have_limits),
		cmocka_unit_test(unknown_parameters_are_named),
		cmocka_unit_test(bodies_are_objects),
		cmocka_unit_test(fields_are_checked),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(a_run_has_every_field_of_its_plan),
		cmocka_unit_test(a_run_with_nonsense_is_still_json),
		cmocka_unit_test(events_are_found_and_shared),
		cmocka_unit_test(processes_include_us),
		cmocka_unit_test(questions_are_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
