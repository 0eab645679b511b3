/* The model and the call tree over it: profiles written as text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/tree/calltree.h"

#include <stdio.h>
#include <string.h>

/* "a;b;c" with a weight, by thread 1 or another. */
static void add(struct profile *p, const char *path, uint64_t weight, uint32_t tid)
{
	stack_id stack = {};

	while (*path) {
		size_t len = strcspn(path, ";");

		stack = profile_stack(p, stack, profile_frame_named(p, path, len, CODE_USER));
		path += len + (path[len] == ';');
	}
	profile_add(p, &(struct profile_row){
			       .thread = profile_thread(p, tid, tid, (string_id){}),
			       .stack = stack,
			       .samples = 1,
			       .weight = weight,
		       });
}

/* A line a node, children as they stand: "  name total self". */
static void write_node(const struct calltree *t, uint32_t n, int depth, char *out, size_t room)
{
	const struct call_node *node = &t->nodes.items[n];
	size_t len = strlen(out);

	snprintf(out + len, room - len, "%*s%s %llu %llu\n", depth, "",
		 n ? function_text(t->profile, call_function(node)) : "all",
		 (unsigned long long)node->total, (unsigned long long)call_self(t, n).weight);
	for (uint32_t c = node->first_child; c; c = t->nodes.items[c].next_sibling)
		write_node(t, c, depth + 1, out, room);
}

static void assert_tree(const struct profile *p, const struct calltree_options *o,
			enum calltree_sort order, const char *expected)
{
	char text[2048] = "";
	struct calltree t;

	calltree_build(&t, p, o);
	calltree_sort(&t, order);
	write_node(&t, 0, 0, text, sizeof(text));
	assert_string_equal(text, expected);
	calltree_release(&t);
}

static void stacks_merge_from_the_root(void **state)
{
	struct profile p;

	(void)state;
	profile_init(&p);
	add(&p, "main;parse", 3, 1);
	add(&p, "main;emit;write", 7, 1);
	add(&p, "main;emit", 5, 2);
	add(&p, "main;parse", 1, 1);
	assert_tree(&p, &(struct calltree_options){}, CALLTREE_BY_TOTAL,
		    "all 16 0\n main 16 0\n  emit 12 5\n   write 7 7\n  parse 4 4\n");
	assert_tree(&p, &(struct calltree_options){}, CALLTREE_BY_NAME,
		    "all 16 0\n main 16 0\n  emit 12 5\n   write 7 7\n  parse 4 4\n");
	assert_tree(&p, &(struct calltree_options){.reverse = true}, CALLTREE_BY_NAME,
		    "all 16 0\n emit 5 0\n  main 5 5\n parse 4 0\n  main 4 4\n"
		    " write 7 0\n  emit 7 0\n   main 7 7\n");
	profile_release(&p);
}

static function_id root_by_thread(void *ctx, const struct profile_row *row)
{
	function_id *roots = ctx;

	return roots[row->thread.n];
}

static void a_level_above_keeps_stacks_apart(void **state)
{
	struct profile p;
	function_id roots[3];

	(void)state;
	profile_init(&p);
	add(&p, "main;work", 2, 1);
	add(&p, "main;work", 3, 2);
	add(&p, "main", 4, 1);
	for (uint32_t i = 1; i < 3; i++)
		roots[i] = profile_function(
			&p,
			&(struct profile_function){.name = profile_string(&p, i == 1 ? "A" : "B")});
	assert_tree(&p, &(struct calltree_options){.root = root_by_thread, .ctx = roots},
		    CALLTREE_BY_NAME,
		    "all 9 0\n A 6 0\n  main 6 4\n   work 2 2\n B 3 0\n  main 3 0\n   work 3 3\n");
	profile_release(&p);
}

/* One address stands for three functions, two of them inlined. */
static void inlined_functions_are_levels(void **state)
{
	static const char *const names[] = {"outer", "middle", "inner"};
	struct frame_name levels[3] = {};
	struct profile p;
	frame_id frame;

	(void)state;
	profile_init(&p);
	frame = profile_frame(&p, profile_module(&p, "/bin/x", NULL, CODE_USER), 0x1234);
	for (size_t i = 0; i < 3; i++) {
		struct profile_function f = {.name = profile_string(&p, names[i])};

		levels[i] = (struct frame_name){profile_function(&p, &f), .inlined = i > 0};
	}
	profile_name_frame(&p, frame, levels, 3);
	profile_add(&p, &(struct profile_row){.stack = profile_stack(&p, (stack_id){}, frame),
					      .samples = 1,
					      .weight = 9});
	assert_tree(&p, &(struct calltree_options){}, CALLTREE_BY_NAME,
		    "all 9 0\n outer 9 0\n  middle 9 0\n   inner 9 9\n");
	assert_tree(&p, &(struct calltree_options){.reverse = true}, CALLTREE_BY_NAME,
		    "all 9 0\n inner 9 0\n  middle 9 0\n   outer 9 9\n");
	assert_tree(&p, &(struct calltree_options){.no_inlines = true}, CALLTREE_BY_NAME,
		    "all 9 0\n outer 9 9\n");
	profile_release(&p);
}

static void equal_things_get_equal_numbers(void **state)
{
	struct profile p;
	module_id module;

	(void)state;
	profile_init(&p);
	module = profile_module(&p, "/usr/lib/x.so", "ab12", CODE_USER);
	assert_int_equal(profile_module(&p, "/usr/lib/x.so", "ab12", CODE_USER).n, module.n);
	assert_int_not_equal(profile_module(&p, "/usr/lib/x.so", "cd34", CODE_USER).n, module.n);
	assert_string_equal(profile_text(&p, p.modules.items[module.n].name), "x.so");
	assert_int_equal(profile_frame(&p, module, 1).n, profile_frame(&p, module, 1).n);
	assert_int_not_equal(profile_frame(&p, module, 1).n, profile_frame(&p, module, 2).n);
	assert_int_equal(profile_string(&p, "").n, 0);
	/* One is the beginning of the other, and the last in the table. */
	assert_int_not_equal(profile_string(&p, "abcdef").n, profile_string(&p, "abc").n);
	for (int i = 0; i < 5000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "s%d", i);
		profile_string(&p, text);
	}
	assert_string_equal(profile_text(&p, profile_string(&p, "s4321")), "s4321");
	profile_release(&p);
}

/* Three keys, many parents: each child is found again under its own number. */
static void children_stay_known_while_the_index_grows(void **state)
{
	enum { COUNT = 300000 };

	(void)state;
	for (int reserved = 0; reserved < 2; reserved++) {
		struct children c = {};

		assert_int_equal(children_known(&c, 0, 0), 0);
		if (reserved)
			children_reserve(&c, COUNT);
		for (uint32_t n = 1; n <= COUNT; n++) {
			uint32_t *child = children_at(&c, n / 3, n % 3);

			assert_int_equal(*child, 0);
			*child = n;
		}
		for (uint32_t n = 1; n <= COUNT; n++) {
			assert_int_equal(children_known(&c, n / 3, n % 3), n);
			assert_int_equal(*children_at(&c, n / 3, n % 3), n);
			assert_int_equal(children_known(&c, n / 3, 3), 0);
		}
		assert_int_equal(c.count, COUNT);
		assert_true(c.count < c.mask);
		children_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_merge_from_the_root),
		cmocka_unit_test(a_level_above_keeps_stacks_apart),
		cmocka_unit_test(inlined_functions_are_levels),
		cmocka_unit_test(children_stay_known_while_the_index_grows),
		cmocka_unit_test(equal_things_get_equal_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
