/* Keys and weights of samples from the fields of their tracepoint. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/trace_fields.h"
#include "resolve/trace_key.h"

/* perf/record.h has a struct of this name, too. */
#define sample traced
#include "format_sample.h"

#include <errno.h>

struct fixture {
	struct perfdata_facts facts;
	struct stream stream;
	struct tracepoint_fact fact;
	struct profile profile;
	struct trace_key_options o;
};

static void set_up(struct fixture *f)
{
	struct stream_event event = {};

	*f = (struct fixture){};
	event.attr.type = PERF_TYPE_TRACEPOINT;
	event.attr.config = 7;
	f->fact = (struct tracepoint_fact){
		.id = 7,
		.system = xstrdup("test"),
		.name = xstrdup("all"),
		.format = sample_format("\"i=%d h=%s, s=%s\", REC->i, "
					"__print_symbolic(REC->h, { 0xbeef, \"BEEF\" }), REC->s")};
	vec_push(&f->facts.tracepoints, f->fact);
	vec_push(&f->stream.events, event);
	f->o.option = "--sort";
	f->o.others = "comm, pid";
	profile_init(&f->profile);
}

static void tear_down(struct fixture *f)
{
	vec_release(&f->facts.tracepoints);
	vec_release(&f->stream.events);
	free(f->fact.system);
	free(f->fact.name);
	free(f->fact.format);
	strvec_release(&f->o.fields);
	profile_release(&f->profile);
}

static const char *text_of(struct buf *b, const char *text, size_t len)
{
	buf_clear(b);
	buf_add_mem(b, text, len);
	return buf_str(b);
}

static struct sample sample_with(int32_t i, uint16_t h)
{
	struct sample s = sample;

	s.i = i;
	s.h = h;
	return s;
}

static enum trace_key_result take(struct fixture *f, struct trace_keys *k, const struct sample *s,
				  size_t size, string_id *ret_key, uint64_t *ret_weight)
{
	CLEANUP(free_ptr) unsigned char *copy = xcalloc(1, size ? size : 1);
	struct bytes_view raw = {.data = copy, .size = (uint32_t)size};

	memcpy(copy, s, size);
	return trace_keys_sample(k, &f->stream.events.items[0], 0, &raw, NULL, &f->profile, ret_key,
				 ret_weight);
}

static void test_cells_have_values_and_what_is_printed(void **state)
{
	CLEANUP(buf_release) struct buf b = {};
	struct trace_keys *k;
	struct trace_cell c;
	struct fixture f;
	string_id key = {}, same = {}, other = {};
	struct sample s = sample_with(-5, 0xbeef), t = sample_with(-6, 0xbeef);
	const char *text;

	(void)state;
	set_up(&f);
	vec_push(&f.o.fields, xstrdup("i"));
	vec_push(&f.o.fields, xstrdup("test:all.h"));
	vec_push(&f.o.fields, xstrdup("s"));
	vec_push(&f.o.fields, xstrdup("other:event.h"));
	vec_push(&f.o.fields, xstrdup("trace"));
	vec_push(&f.o.fields, xstrdup("p"));
	k = trace_keys_new(&f.o, &f.facts);
	assert_int_equal(take(&f, k, &s, sizeof(s), &key, NULL), TRACE_KEY_OK);
	take(&f, k, &s, sizeof(s), &same, NULL);
	take(&f, k, &t, sizeof(t), &other, NULL);
	assert_int_equal(key.n, same.n);
	assert_int_not_equal(key.n, other.n);
	text = profile_text(&f.profile, key);
	assert_true(trace_key_cell(text, 0, &c));
	assert_int_equal(c.kind, TRACE_CELL_SIGNED);
	assert_int_equal((int64_t)c.number, -5);
	assert_string_equal(text_of(&b, c.shown, c.shown_len), "-5");
	assert_true(trace_key_cell(text, 1, &c));
	assert_int_equal(c.number, 0xbeef);
	assert_string_equal(text_of(&b, c.shown, c.shown_len), "BEEF");
	assert_true(trace_key_cell(text, 2, &c));
	assert_int_equal(c.kind, TRACE_CELL_TEXT);
	assert_string_equal(text_of(&b, c.text, c.text_len), "hello");
	assert_true(trace_key_cell(text, 3, &c));
	assert_int_equal(c.kind, TRACE_CELL_NONE);
	assert_true(trace_key_cell(text, 4, &c));
	assert_string_equal(text_of(&b, c.shown, c.shown_len), "i=-5 h=BEEF, s=hello");
	assert_true(trace_key_cell(text, 5, &c));
	assert_int_equal(c.kind, TRACE_CELL_ADDRESS);
	assert_string_equal(text_of(&b, c.shown, c.shown_len), "0xffffffff81000000");
	assert_false(trace_key_cell(text, 6, &c));
	trace_keys_free(k);
	tear_down(&f);
}

static void test_raw_values_have_no_names(void **state)
{
	CLEANUP(buf_release) struct buf b = {};
	struct trace_keys *k;
	struct trace_cell c;
	struct fixture f;
	string_id key = {};
	struct sample s = sample_with(-5, 0xbeef);

	(void)state;
	set_up(&f);
	f.o.raw = f.o.all_fields = true;
	k = trace_keys_new(&f.o, &f.facts);
	take(&f, k, &s, sizeof(s), &key, NULL);
	assert_true(trace_key_cell_named(profile_text(&f.profile, key), 0, "h", &c));
	assert_string_equal(text_of(&b, c.shown, c.shown_len), "48879");
	assert_false(trace_key_cell_named(profile_text(&f.profile, key), 5, "h", &c));
	assert_false(trace_key_cell_named(profile_text(&f.profile, key), 0, "none", &c));
	trace_keys_free(k);
	tear_down(&f);
}

static void test_bytes_that_separate_cells_are_not_taken_from_samples(void **state)
{
	struct trace_keys *k;
	struct trace_cell c;
	struct fixture f;
	string_id key = {};
	struct sample s = sample;

	(void)state;
	set_up(&f);
	memcpy(s.s, "\x1f\x1e\x03t", 5);
	vec_push(&f.o.fields, xstrdup("s"));
	vec_push(&f.o.fields, xstrdup("i"));
	k = trace_keys_new(&f.o, &f.facts);
	take(&f, k, &s, sizeof(s), &key, NULL);
	assert_true(trace_key_cell(profile_text(&f.profile, key), 0, &c));
	assert_memory_equal(c.text, "???t", 4);
	assert_true(trace_key_cell(profile_text(&f.profile, key), 1, &c));
	assert_int_equal((int64_t)c.number, -5);
	trace_keys_free(k);
	tear_down(&f);
}

static void test_the_weight_is_the_value_of_a_number(void **state)
{
	struct sample positive = sample_with(5, 1), negative = sample_with(-5, 1);
	struct trace_keys *k;
	struct fixture f;
	string_id key = {};
	uint64_t weight = 99;

	(void)state;
	set_up(&f);
	f.o.sum = "all.i";
	k = trace_keys_new(&f.o, &f.facts);
	assert_int_equal(take(&f, k, &positive, sizeof(positive), &key, &weight), TRACE_KEY_OK);
	assert_int_equal(weight, 5);
	assert_int_equal(take(&f, k, &negative, sizeof(negative), &key, &weight),
			 TRACE_KEY_NEGATIVE);
	assert_int_equal(weight, 0);
	assert_int_equal(take(&f, k, &positive, 12, &key, &weight), TRACE_KEY_NO_FIELD);
	assert_int_equal(take(&f, k, &positive, 0, &key, &weight), TRACE_KEY_NO_FIELD);
	assert_int_equal(key.n, 0);
	trace_keys_free(k);
	tear_down(&f);
}

static void test_names_are_checked(void **state)
{
	static const struct {
		const char *field, *sum, *told;
	} cases[] = {
		{"i", NULL, NULL},
		{"trace", NULL, NULL},
		{"*.i", NULL, NULL},
		{"test:*.i", "b", NULL},
		{"macc", NULL, "did you mean 'mac'"},
		{"comn", NULL, "did you mean 'comm'"},
		{"nest:all.i", NULL, "did you mean 'test:all.i'"},
		{NULL, "s", "'s' is text"},
		{NULL, "mask_of", "no tracepoint of the recording has a field 'mask_of'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fixture f;
		struct err e = {};
		int r;

		set_up(&f);
		if (cases[i].field)
			vec_push(&f.o.fields, xstrdup(cases[i].field));
		f.o.sum = cases[i].sum;
		r = trace_key_check(&f.o, &f.facts, &f.stream, &e);
		assert_int_equal(r, cases[i].told ? -EINVAL : 0);
		if (cases[i].told && !strstr(e.text, cases[i].told))
			fail_msg("%s", e.text);
		tear_down(&f);
	}
}

static size_t column_named(const struct trace_fields *f, const char *name)
{
	for (size_t i = 0; i < trace_fields_count(f); i++)
		if (!strcmp(trace_fields_column(f, i).name, name))
			return i;
	fail_msg("there is no column %s", name);
	return 0;
}

/* A run whose limit of texts is reached must not lose the names of threads that it knows. */
static void test_known_texts_are_read_when_no_more_are_added(void **state)
{
	struct fixture f;
	struct trace_fields *fields;
	struct sample other = sample;
	uint64_t values[32], again[32];
	size_t strings, s, i;

	(void)state;
	set_up(&f);
	fields = trace_fields_new(&f.facts, &f.stream.events.items[0]);
	assert_non_null(fields);
	assert_true(trace_fields_count(fields) <= ARRAY_LEN(values));
	s = column_named(fields, "s");
	i = column_named(fields, "i");
	assert_true(trace_fields_read(fields, &sample, sizeof(sample), &f.profile, true, values));
	assert_string_equal(profile_text(&f.profile, (string_id){(uint32_t)values[s]}), "hello");
	strings = f.profile.strings.starts.len;
	assert_true(trace_fields_read(fields, &sample, sizeof(sample), &f.profile, false, again));
	assert_memory_equal(again, values, trace_fields_count(fields) * sizeof(*values));
	memcpy(other.s, "unknown", sizeof("unknown"));
	other.i = 77;
	assert_true(trace_fields_read(fields, &other, sizeof(other), &f.profile, false, again));
	assert_int_equal(again[s], 0);
	assert_int_equal(again[i], 77);
	assert_int_equal(f.profile.strings.starts.len, strings);
	trace_fields_free(fields);
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells_have_values_and_what_is_printed),
		cmocka_unit_test(test_raw_values_have_no_names),
		cmocka_unit_test(test_bytes_that_separate_cells_are_not_taken_from_samples),
		cmocka_unit_test(test_the_weight_is_the_value_of_a_number),
		cmocka_unit_test(test_names_are_checked),
		cmocka_unit_test(test_known_texts_are_read_when_no_more_are_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
