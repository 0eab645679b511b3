/*
 * The code of functions that were hit, taken from their file, kept as bytes, and annotated from these
 * alone: with the test itself as the program that was recorded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/annotate/leaf_weights.h"
#include "collect/run/code_collect.h"
#include "server/api/annotation.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int work_to_look_at(int rounds);
int other_work(int rounds);

__attribute__((noinline)) int work_to_look_at(int rounds)
{
	volatile int sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += i * 3; /* the line to find */
	return sum;
}

__attribute__((noinline)) int other_work(int rounds)
{
	return work_to_look_at(rounds) + 1;
}

static struct profile profile;
static struct modules *modules;
static struct symbol_options symbols;
static struct code_options options = {.symbols = &symbols};
static struct buf kept[16]; /* by function */

static const struct symbol *symbol_of(struct module *m, const char *name)
{
	const struct symtab *t = module_symbols(m);

	for (size_t i = 0; t && i < t->symbols.len; i++)
		if (!strcmp(symtab_name(t, &t->symbols.items[i]), name))
			return &t->symbols.items[i];
	fail_msg("no symbol '%s'", name);
	return NULL;
}

/* A sample in each of the first @count bytes of a function. */
static function_id hit(struct module *m, const char *path, const char *name, unsigned count,
		       uint64_t weight)
{
	const struct symbol *s = symbol_of(m, name);
	module_id module = profile_module(&profile, path, NULL, CODE_USER);
	struct profile_function f = {
		.name = profile_string(&profile, name),
		.module = module,
		.start = s->start,
		.size = s->end - s->start,
		.kind = CODE_USER,
		.named = true,
	};
	struct frame_name n = {.function = profile_function(&profile, &f)};

	for (unsigned i = 0; i < count; i++) {
		frame_id frame = profile_frame(&profile, module, s->start + i);

		profile_name_frame(&profile, frame, &n, 1);
		profile_add(&profile, &(struct profile_row){
					      .stack = profile_stack(&profile, (stack_id){}, frame),
					      .samples = 1,
					      .weight = weight,
				      });
	}
	return n.function;
}

static int set_up(void **state)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct module *m;

	(void)state;
	if (len < 0)
		return -1;
	path[len] = '\0';
	profile_init(&profile);
	profile_event(&profile, "cycles");
	modules = modules_new(&symbols);
	m = modules_get(modules, &(struct module_request){.kind = MODULE_ELF, .path = path});
	assert_int_equal(hit(m, path, "work_to_look_at", 10, 100).n, 1);
	assert_int_equal(hit(m, path, "other_work", 1, 5).n, 2);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		buf_release(&kept[i]);
	modules_free(modules);
	profile_release(&profile);
	return 0;
}

static bool keep(void *ctx, function_id function, const struct buf *bytes)
{
	unsigned *order = ctx;

	order[0]++;
	order[order[0]] = function.n;
	buf_clear(&kept[function.n]);
	buf_add_mem(&kept[function.n], bytes->s, bytes->len);
	return true;
}

static void test_hottest_first(void **state)
{
	struct code_limits limits = CODE_LIMITS_DEFAULT;
	struct code_report report;
	unsigned order[8] = {};

	(void)state;
	code_collect(&profile, modules, &options, &limits, keep, order, &report);
	assert_int_equal(report.taken, 2);
	assert_int_equal(report.left, 0);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 2);
	memset(order, 0, sizeof(order));
	limits.functions = 1;
	code_collect(&profile, modules, &options, &limits, keep, order, &report);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 1);
	limits.bytes = 10;
	code_collect(&profile, modules, &options, &limits, keep, order, &report);
	assert_int_equal(report.taken, 0);
	assert_int_equal(report.left, 1);
}

static void keep_all(void)
{
	struct code_limits limits = CODE_LIMITS_DEFAULT;
	struct code_report report;
	unsigned order[8] = {};

	code_collect(&profile, modules, &options, &limits, keep, order, &report);
}

static json_t *ask(const char *name, const char *module)
{
	CLEANUP(buf_release) struct buf out = {};
	struct leaf_weights l;
	function_id function;
	json_t *answer;

	leaf_weights_init(&l, &profile);
	vec_each(&profile.rows, row)
		leaf_weights_add(&l, row->stack.n, row->samples, row->weight);
	leaf_weights_add(&l, 12345, 1, 995); /* a stack that does not exist */
	function = leaf_weights_find(&l, name, module);
	if (!function.n) {
		leaf_weights_release(&l);
		return NULL;
	}
	assert_int_equal(
		annotation_answer(&l, (event_id){0}, function, &kept[function.n], &out, NULL), 0);
	leaf_weights_release(&l);
	answer = json_loads(out.s, 0, NULL);
	assert_non_null(answer);
	return answer;
}

static void test_annotated_from_bytes(void **state)
{
	json_t *all, *f, *entry;
	uint64_t weight = 0;
	bool found = false;
	size_t i;

	(void)state;
	keep_all();
	all = ask("work_to_look_at", NULL);
	assert_int_equal(json_integer_value(json_object_get(all, "weight")), 2000);
	f = json_array_get(json_object_get(all, "functions"), 0);
	assert_int_equal(json_integer_value(json_object_get(f, "weight")), 1000);
	assert_null(json_object_get(f, "problem"));
	json_array_foreach(json_object_get(f, "instructions"), i, entry) weight +=
		(uint64_t)json_integer_value(json_object_get(entry, "weight"));
	assert_int_equal(weight, 1000);
	json_array_foreach(json_object_get(f, "lines"), i, entry)
	{
		const char *text = json_string_value(json_object_get(entry, "text"));

		found = found || (text && strstr(text, "the line to find"));
	}
	assert_true(found);
	json_decref(all);
}

static void test_names(void **state)
{
	json_t *all;

	(void)state;
	keep_all();
	assert_null(ask("no_such_function", NULL));
	assert_null(ask("other_work", "/bin/false"));
	all = ask("other_work", profile_text(&profile, profile.modules.items[1].name));
	assert_non_null(all);
	json_decref(all);
}

static void test_not_kept(void **state)
{
	json_t *all = ask("work_to_look_at", NULL), *f;

	(void)state;
	f = json_array_get(json_object_get(all, "functions"), 0);
	assert_non_null(strstr(json_string_value(json_object_get(f, "problem")), "not stored"));
	assert_int_equal(json_integer_value(json_object_get(f, "weight")), 1000);
	json_decref(all);
}

static void test_damaged(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct leaf_weights l;
	struct err e;

	(void)state;
	keep_all();
	kept[1].s[30] ^= 1;
	leaf_weights_init(&l, &profile);
	assert_int_equal(annotation_answer(&l, (event_id){0}, (function_id){1}, &kept[1], &out, &e),
			 -EBADMSG);
	leaf_weights_release(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hottest_first), TEST(test_annotated_from_bytes),
		TEST(test_names),         TEST(test_not_kept),
		TEST(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
