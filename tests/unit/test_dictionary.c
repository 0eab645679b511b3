/* Dictionaries: piece by piece the same tables with the same numbers, and nothing else is taken. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/dictionary.h"
#include "profile/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct profile from, to;
static struct dictionary_writer writer;

static int set_up(void **state)
{
	(void)state;
	profile_init(&from);
	profile_init(&to);
	dictionary_writer_init(&writer);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	profile_release(&from);
	profile_release(&to);
	dictionary_writer_release(&writer);
	return 0;
}

/* All that is new; how many pieces it took. */
static unsigned send(void)
{
	unsigned pieces = 0;

	for (;; pieces++) {
		CLEANUP(buf_release) struct buf out = {};
		struct err e = {};

		if (!dictionary_encode(&writer, &from, &out)) {
			assert_int_equal(out.len, 0);
			return pieces;
		}
		assert_true(out.len <= DICTIONARY_BYTES_MAX);
		if (dictionary_apply(&to, out.s, out.len, &e))
			fail_msg("%s", e.text);
	}
}

#define SAME_TABLE(table)                                                                          \
	do {                                                                                       \
		assert_int_equal(from.table.len, to.table.len);                                    \
		assert_memory_equal(from.table.items, to.table.items,                              \
				    from.table.len * sizeof(*from.table.items));                   \
	} while (0)

static void check_same(void)
{
	assert_int_equal(from.strings.starts.len, to.strings.starts.len);
	for (uint32_t i = 0; i < from.strings.starts.len; i++)
		assert_string_equal(profile_text(&from, (string_id){i}),
				    profile_text(&to, (string_id){i}));
	SAME_TABLE(stacks);
	SAME_TABLE(threads);
	assert_int_equal(from.modules.len, to.modules.len);
	for (size_t i = 0; i < from.modules.len; i++) {
		const struct profile_module *a = &from.modules.items[i], *b = &to.modules.items[i];

		assert_int_equal(a->path.n, b->path.n);
		assert_int_equal(a->name.n, b->name.n);
		assert_int_equal(a->build_id.n, b->build_id.n);
		assert_int_equal(a->problem.n, b->problem.n);
		assert_int_equal(a->kind, b->kind);
		assert_true(a->bias == b->bias);
		assert_int_equal(a->found_id.n, b->found_id.n);
	}
	assert_int_equal(from.functions.len, to.functions.len);
	for (size_t i = 0; i < from.functions.len; i++) {
		const struct profile_function *a = &from.functions.items[i],
					      *b = &to.functions.items[i];

		assert_int_equal(a->name.n, b->name.n);
		assert_int_equal(a->label.n, b->label.n);
		assert_int_equal(a->module.n, b->module.n);
		assert_int_equal(a->start, b->start);
		assert_int_equal(a->size, b->size);
		assert_int_equal(a->kind, b->kind);
		assert_int_equal(a->named, b->named);
	}
	assert_int_equal(from.frames.len, to.frames.len);
	for (size_t i = 0; i < from.frames.len; i++) {
		const struct profile_frame *a = &from.frames.items[i], *b = &to.frames.items[i];

		assert_int_equal(a->module.n, b->module.n);
		assert_int_equal(a->address, b->address);
		assert_int_equal(a->names, b->names);
		assert_int_equal(a->name_count, b->name_count);
	}
	assert_int_equal(from.names.len, to.names.len);
	for (size_t i = 0; i < from.names.len; i++) {
		const struct frame_name *a = &from.names.items[i], *b = &to.names.items[i];

		assert_int_equal(a->function.n, b->function.n);
		assert_int_equal(a->file.n, b->file.n);
		assert_int_equal(a->line, b->line);
		assert_int_equal(a->inlined, b->inlined);
	}
}

/* A frame with an inlined function in it, @salt makes them different. */
static frame_id add_frame(uint32_t salt, bool named)
{
	char path[64], name[64];
	module_id module;
	frame_id frame;

	snprintf(path, sizeof(path), "/usr/lib/lib%u.so", salt % 7);
	module = profile_module(&from, path, salt % 2 ? "aabbcc" : NULL, CODE_USER);
	frame = profile_frame(&from, module, 0x1000 + 16ull * salt);
	snprintf(name, sizeof(name), "function_%u", salt / 3);
	if (named) {
		struct profile_function f = {
			.name = profile_string(&from, name),
			.module = module,
			.start = 0x1000,
			.size = salt,
			.kind = CODE_USER,
			.named = true,
		};
		struct frame_name names[2] = {
			{.function = profile_function(&from, &f),
			 .file = profile_string(&from, "main.c"),
			 .line = salt},
			{.inlined = true},
		};

		f.start = 0;
		names[1].function = profile_function(&from, &f);
		profile_name_frame(&from, frame, names, 1 + salt % 2);
	}
	return frame;
}

static void grow(uint32_t salt, uint32_t count)
{
	stack_id stack = {};

	for (uint32_t i = 0; i < count; i++) {
		stack = profile_stack(&from, i % 10 ? stack : (stack_id){},
				      add_frame(salt + i, true));
		profile_thread(&from, salt, salt + i / 100, profile_string(&from, "worker"));
	}
}

static void test_pieces(void **state)
{
	(void)state;
	assert_int_equal(send(), 0);
	profile_event(&from, "cpu-clock");
	grow(1, 1);
	assert_int_equal(send(), 1);
	check_same();
	assert_int_equal(send(), 0);
	for (uint32_t i = 0; i < 20; i++) {
		grow(i * 100, 1 + i * 30);
		assert_int_equal(send(), 1);
		check_same();
	}
	profile_event(&from, "page-faults");
	from.events.items[1].unit = profile_string(&from, "faults");
	profile_counter(&from, &(struct profile_counter){.name = profile_string(&from, "power"),
							 .unit = profile_string(&from, "J"),
							 .scale = 2.3283064365386962890625e-10,
							 .cpu = -1,
							 .thread = {1}});
	assert_int_equal(send(), 1);
	check_same();
	assert_int_equal(to.events.len, 2);
	assert_string_equal(profile_text(&to, to.events.items[1].unit), "faults");
	assert_int_equal(to.counters.len, 2);
	assert_true(to.counters.items[1].scale == from.counters.items[1].scale);
	assert_int_equal(to.counters.items[1].cpu, -1);
	assert_int_equal(to.counters.items[1].thread.n, 1);
	assert_string_equal(profile_text(&to, to.counters.items[1].unit), "J");
}

static void test_names_come_later(void **state)
{
	frame_id frame = add_frame(5, false);

	(void)state;
	profile_stack(&from, (stack_id){}, frame);
	assert_int_equal(send(), 1);
	assert_int_equal(to.frames.items[frame.n].names, 0);
	assert_int_equal(send(), 0);
	add_frame(5, true);
	assert_int_equal(send(), 1);
	check_same();
	assert_int_equal(to.frames.items[frame.n].name_count, 2);
	/* Another name, as one who reads a JIT's map at the end has it. */
	from.frames.items[frame.n].names = 0;
	profile_name_frame(&from, frame, &(struct frame_name){.function = {1}, .line = 9}, 1);
	dictionary_renamed(&writer, &frame, 1);
	assert_int_equal(send(), 1);
	check_same();
	assert_int_equal(names_of(&to, frame)->line, 9);
}

static void test_without_stacks(void **state)
{
	CLEANUP(buf_release) struct buf out = {};

	(void)state;
	profile_event(&from, "cpu-clock");
	grow(1, 50);
	profile_counter(&from, &(struct profile_counter){.name = profile_string(&from, "power"),
							 .scale = 1,
							 .cpu = -1,
							 .thread = {1}});
	assert_true(dictionary_encode_stackless(&writer, &from, &out));
	assert_int_equal(dictionary_apply(&to, out.s, out.len, NULL), 0);
	assert_int_equal(to.counters.len, 2);
	assert_string_equal(profile_text(&to, to.counters.items[1].name), "power");
	assert_int_equal(to.frames.len, 1);
	assert_int_equal(to.stacks.len, 1);
	buf_clear(&out);
	assert_false(dictionary_encode_stackless(&writer, &from, &out));
	assert_int_equal(send(), 1);
	check_same();
}

static void test_problems(void **state)
{
	(void)state;
	grow(0, 3);
	send();
	from.modules.items[2].problem = profile_string(&from, "The file is gone.");
	from.modules.items[3].bias = 0x400000;
	from.modules.items[1].found_id = profile_string(&from, "abcd");
	assert_int_equal(send(), 1);
	check_same();
	assert_int_equal(send(), 0);
}

static void test_large(void **state)
{
	stack_id stack = {};
	CLEANUP(free_ptr) char *text = xcalloc(3u << 20, 1);

	(void)state;
	for (uint32_t i = 0; i < 700000; i++)
		stack = profile_stack(&from, i % 100 ? stack : (stack_id){},
				      profile_frame(&from, (module_id){}, i % 300000 * 3ull));
	memset(text, 'x', (3u << 20) - 1);
	profile_string(&from, text);
	assert_in_range(send(), 2, 10);
	assert_int_equal(from.stacks.len, to.stacks.len);
	SAME_TABLE(stacks);
	/* A string of megabytes is cut. */
	assert_int_equal(strlen(profile_text(&to, (string_id){1})), 1u << 20);
	assert_int_equal(send(), 0);
}

/* Tables full of noise: no piece is larger than a reader takes. */
static void test_noise(void **state)
{
	uint64_t noise = 88172645463325252ull;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		struct profile_function f = {.name = {i % 1000}, .kind = CODE_USER};
		char text[24];

		noise ^= noise << 13;
		noise ^= noise >> 7;
		noise ^= noise << 17;
		f.start = noise;
		f.size = noise >> 20;
		snprintf(text, sizeof(text), "%016llx", (unsigned long long)noise);
		profile_string(&from, text);
		profile_function(&from, &f);
		profile_frame(&from, (module_id){}, noise);
		profile_stack(&from, (stack_id){(uint32_t)(noise % from.stacks.len)},
			      (frame_id){(uint32_t)(noise % from.frames.len)});
		profile_thread(&from, (uint32_t)noise, (uint32_t)(noise >> 32), (string_id){});
		profile_counter(&from, &(struct profile_counter){.scale = (double)noise});
	}
	assert_in_range(send(), 2, 20);
	assert_int_equal(from.stacks.len, to.stacks.len);
	SAME_TABLE(stacks);
	SAME_TABLE(threads);
}

/* What was applied can be added to as if it had been interned here. */
static void test_interning_afterwards(void **state)
{
	uint32_t stacks;

	(void)state;
	grow(0, 2000);
	send();
	stacks = (uint32_t)to.stacks.len;
	assert_int_equal(profile_string(&to, "main.c").n, profile_string(&from, "main.c").n);
	for (uint32_t n = 1; n < stacks; n++) {
		const struct profile_stack *s = &to.stacks.items[n];
		const struct profile_frame *f = &to.frames.items[s->frame.n];

		assert_int_equal(profile_frame(&to, f->module, f->address).n, s->frame.n);
		assert_int_equal(profile_stack(&to, s->parent, s->frame).n, n);
	}
	assert_int_equal(to.stacks.len, stacks);
	assert_int_equal(profile_module(&to, "/usr/lib/lib1.so", "aabbcc", CODE_USER).n,
			 profile_module(&from, "/usr/lib/lib1.so", "aabbcc", CODE_USER).n);
	assert_int_equal(profile_stack(&to, (stack_id){stacks - 1}, (frame_id){1}).n, stacks);
}

/* A table that says the same a quarter of a million times does not make looking up slow. */
static void test_equal_entries(void **state)
{
	frame_id frame = profile_frame(&from, (module_id){}, 5);

	(void)state;
	for (unsigned i = 0; i < 250000; i++) {
		vec_push(&from.frames, (struct profile_frame){.address = 5});
		vec_push(&from.threads, (struct profile_thread){.pid = 7});
		vec_push(&from.functions, (struct profile_function){.start = 7});
		vec_push(&from.stacks, (struct profile_stack){.frame = frame});
	}
	assert_in_range(send(), 1, 10);
	assert_int_equal(profile_frame(&to, (module_id){}, 5).n, frame.n);
	assert_int_equal(profile_thread(&to, 7, 0, (string_id){}).n, 1);
	assert_in_range(profile_stack(&to, (stack_id){}, frame).n, 1, 250000);
}

static void test_wrong_pieces(void **state)
{
	CLEANUP(buf_release) struct buf first = {}, second = {};
	struct err e = {};

	(void)state;
	grow(0, 30);
	assert_true(dictionary_encode(&writer, &from, &first));
	grow(500, 30);
	assert_true(dictionary_encode(&writer, &from, &second));
	assert_int_equal(dictionary_apply(&to, second.s, second.len, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "missing"));
	assert_int_equal(dictionary_apply(&to, first.s, first.len, &e), 0);
	assert_int_equal(dictionary_apply(&to, first.s, first.len, &e), -EBADMSG);
	assert_int_equal(dictionary_apply(&to, second.s, second.len, &e), 0);
	check_same();
	for (size_t i = 0; i < first.len; i++) {
		first.s[i] ^= 1;
		assert_int_equal(dictionary_apply(&to, first.s, first.len, &e), -EBADMSG);
		first.s[i] ^= 1;
		assert_int_equal(dictionary_apply(&to, first.s, i, &e), -EBADMSG);
	}
}

/* Who has sent its stacks may forget them: numbers go on, and parents are where they were. One without
 * room reads the stacks alone. */
static void test_forgotten_stacks(void **state)
{
	VEC(struct profile_stack) all = {};
	struct profile stacks_only;
	stack_id stack = {};

	(void)state;
	profile_init(&stacks_only);
	vec_push(&all, (struct profile_stack){});
	for (unsigned round = 0; round < 20; round++) {
		CLEANUP(buf_release) struct buf piece = {};
		struct err e = {};

		grow(100 * round, 10);
		for (unsigned i = 0; i < 50; i++) {
			frame_id frame = profile_frame(&from, (module_id){}, 7000 + i);
			stack_id parent = {stack.n / 2};

			stack = profile_stack_new(&from, parent, frame);
			assert_int_equal(stack.n, profile_stacks_end(&from) - 1);
		}
		for (size_t i = 1; i < from.stacks.len; i++)
			vec_push(&all, from.stacks.items[i]);
		assert_int_equal(all.len, profile_stacks_end(&from));
		assert_true(dictionary_encode(&writer, &from, &piece));
		assert_int_equal(dictionary_apply(&to, piece.s, piece.len, &e), 0);
		assert_int_equal(dictionary_apply_stacks(&stacks_only, piece.s, piece.len, &e), 0);
		for (size_t i = 0; i < piece.len; i++)
			assert_int_equal(dictionary_apply_stacks(&stacks_only, piece.s, i, &e),
					 -EBADMSG);
		profile_forget_stacks(&from);
		profile_forget_stacks(&stacks_only);
		assert_int_equal(profile_stacks_end(&stacks_only), all.len);
	}
	assert_int_equal(to.stacks.len, all.len);
	assert_memory_equal(to.stacks.items, all.items, all.len * sizeof(*all.items));
	assert_int_equal(stacks_only.frames.len, 1);
	profile_release(&stacks_only);
	vec_release(&all);
}

static uint32_t add_schema(const char *name, size_t columns)
{
	struct column_schema list[SCHEMA_COLUMNS_MAX];
	struct table_schema table = {.name = name,
				     .meaning = "made for this test",
				     .event = 1,
				     .is_span = columns % 2,
				     .sampled = true,
				     .column_count = columns};

	for (size_t i = 0; i < columns; i++)
		list[i] = (struct column_schema){i % 2 ? "odd" : "even",
						 "bytes",
						 "what it means",
						 SCHEMA_TAG_OWN + (uint32_t)i,
						 i % 2 ? VALUE_SIGNED : VALUE_STRING,
						 i % 3 ? AS_VALUE : AS_KEY,
						 (uint8_t)(1u << i % 4)};
	return profile_schema_add(&from, &table, list);
}

static void check_schemas(void)
{
	assert_int_equal(profile_schemas_end(&from), profile_schemas_end(&to));
	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(&from); n++) {
		struct table_schema a, b;

		assert_true(profile_schema(&from, n, &a) && profile_schema(&to, n, &b));
		assert_string_equal(a.name, b.name);
		assert_string_equal(a.meaning, b.meaning);
		assert_true(a.event == b.event && a.is_span == b.is_span && a.sampled == b.sampled);
		assert_int_equal(a.column_count, b.column_count);
		for (size_t i = 0; i < a.column_count; i++) {
			struct column_schema x = profile_schema_column(&from, n, i);
			struct column_schema y = profile_schema_column(&to, n, i);

			assert_string_equal(x.name, y.name);
			assert_string_equal(x.unit, y.unit);
			assert_string_equal(x.meaning, y.meaning);
			assert_true(x.tag == y.tag && x.type == y.type && x.role == y.role &&
				    x.bytes == y.bytes);
		}
	}
}

static void test_schemas(void **state)
{
	struct table_schema table;

	(void)state;
	profile_event(&from, "sched:sched_switch");
	assert_int_equal(add_schema("sched:sched_switch", 7), SCHEMA_FIRST_OWN);
	send();
	check_schemas();
	assert_int_equal(add_schema("one more", 0), SCHEMA_FIRST_OWN + 1);
	assert_int_equal(add_schema("large", SCHEMA_COLUMNS_MAX), SCHEMA_FIRST_OWN + 2);
	send();
	check_schemas();
	/* Sent once. */
	assert_int_equal(send(), 0);
	assert_false(profile_schema(&to, SCHEMA_FIRST_OWN + 3, &table));
	assert_false(profile_schema(&to, 0, &table));
}

static void test_schemas_that_lie(void **state)
{
	CLEANUP(buf_release) struct buf out = {};
	struct err e = {};

	(void)state;
	profile_event(&from, "sched:sched_switch");
	add_schema("sched:sched_switch", 3);
	from.schemas.items[0].event = 2; /* there is no second event */
	assert_true(dictionary_encode(&writer, &from, &out));
	assert_int_equal(dictionary_apply(&to, out.s, out.len, &e), -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pieces),         TEST(test_names_come_later),
		TEST(test_without_stacks), TEST(test_problems),
		TEST(test_large),          TEST(test_interning_afterwards),
		TEST(test_wrong_pieces),   TEST(test_forgotten_stacks),
		TEST(test_equal_entries),  TEST(test_noise),
		TEST(test_schemas),        TEST(test_schemas_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
