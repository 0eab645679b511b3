/* Stacks as nodes by name: merging, inlined functions, growth, many of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/paths/call_paths.h"

#include <stdio.h>
#include <string.h>

static function_id function(struct profile *p, const char *name, const char *path, uint64_t start,
			    enum code_kind kind)
{
	struct profile_function f = {.name = profile_string(p, name),
				     .module = profile_module(p, path, NULL, kind),
				     .start = start,
				     .kind = kind,
				     .named = true};

	return profile_function(p, &f);
}

/* A frame at an address of /bin/x that is one function, or several inlined into each other. */
static frame_id frame(struct profile *p, uint64_t address, const char *names)
{
	struct frame_name levels[8];
	uint32_t count = 0;
	frame_id id = profile_frame(p, profile_module(p, "/bin/x", NULL, CODE_USER), address);

	while (*names) {
		size_t len = strcspn(names, ">");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)len, names);
		levels[count] = (struct frame_name){function(p, name, "/bin/x", 0, CODE_USER),
						    .inlined = count > 0};
		count++;
		names += len + (names[len] == '>');
	}
	profile_name_frame(p, id, levels, count);
	return id;
}

/* The way from the root to a node: "main;parse>lex", with > before what is inlined. */
static const char *path_text(const struct call_paths *c, const struct profile *p, uint32_t node)
{
	static char text[512];
	char rest[512];

	text[0] = '\0';
	for (; node; node = c->nodes.items[node].parent) {
		const struct call_path *n = &c->nodes.items[node];

		snprintf(rest, sizeof(rest), "%s", text);
		snprintf(text, sizeof(text), "%s%.60s%.400s",
			 n->inlined  ? ">"
			 : n->parent ? ";"
				     : "",
			 profile_text(p, c->names.items[n->name].label), rest);
	}
	return text;
}

static void addresses_of_a_function_are_one_node(void **state)
{
	struct profile p;
	struct call_paths c;
	stack_id main_a, main_b, leaf_a, leaf_b;

	(void)state;
	profile_init(&p);
	call_paths_init(&c);
	main_a = profile_stack(&p, (stack_id){}, frame(&p, 0x10, "main"));
	main_b = profile_stack(&p, (stack_id){}, frame(&p, 0x14, "main"));
	leaf_a = profile_stack(&p, main_a, frame(&p, 0x90, "work"));
	leaf_b = profile_stack(&p, main_b, frame(&p, 0x98, "work"));
	assert_int_equal(call_path_of(&c, &p, leaf_a.n), call_path_of(&c, &p, leaf_b.n));
	assert_int_equal(call_path_of(&c, &p, main_a.n), call_path_of(&c, &p, main_b.n));
	assert_string_equal(path_text(&c, &p, call_path_of(&c, &p, leaf_a.n)), "main;work");
	assert_int_equal(c.nodes.len, 3);
	assert_int_equal(c.names.len, 3);
	/* Not stacks of this profile. */
	assert_int_equal(call_path_of(&c, &p, 0), 0);
	assert_int_equal(call_path_of(&c, &p, 4711), 0);
	assert_int_equal(call_path_known(&c, 4711), 0);
	assert_int_equal(call_path_known(&c, leaf_b.n), call_path_of(&c, &p, leaf_a.n));
	call_paths_release(&c);
	profile_release(&p);
}

static void inlined_functions_are_nodes(void **state)
{
	struct profile p;
	struct call_paths c;
	stack_id plain, inlined;

	(void)state;
	profile_init(&p);
	call_paths_init(&c);
	inlined = profile_stack(&p, (stack_id){}, frame(&p, 0x10, "main>outer>inner"));
	plain = profile_stack(&p, (stack_id){}, frame(&p, 0x20, "main"));
	plain = profile_stack(&p, plain, frame(&p, 0x30, "outer"));
	assert_string_equal(path_text(&c, &p, call_path_of(&c, &p, inlined.n)), "main>outer>inner");
	assert_string_equal(path_text(&c, &p, call_path_of(&c, &p, plain.n)), "main;outer");
	assert_int_equal(c.nodes.len, 5);
	call_paths_release(&c);
	profile_release(&p);
}

/* Static functions of one name in two libraries stay apart; two at two addresses of one do not. */
static void names_merge_as_they_are_shown(void **state)
{
	struct profile p;
	struct call_paths c;
	function_id f[4];
	uint32_t nodes[4];

	(void)state;
	profile_init(&p);
	call_paths_init(&c);
	f[0] = function(&p, "init", "/lib/a.so", 0x100, CODE_USER);
	f[1] = function(&p, "init", "/lib/a.so", 0x200, CODE_USER);
	f[2] = function(&p, "init", "/lib/b.so", 0x100, CODE_USER);
	f[3] = function(&p, "init", "/other/a.so", 0x300, CODE_USER);
	for (uint32_t i = 0; i < 4; i++) {
		frame_id id = profile_frame(&p, p.functions.items[f[i].n].module, 0x1000 + i);

		profile_name_frame(&p, id, &(struct frame_name){f[i]}, 1);
		nodes[i] = call_path_of(&c, &p, profile_stack(&p, (stack_id){}, id).n);
	}
	assert_int_equal(nodes[0], nodes[1]);
	assert_int_not_equal(nodes[0], nodes[2]);
	assert_int_equal(nodes[0], nodes[3]);
	call_paths_release(&c);
	profile_release(&p);
}

static void frames_without_names_are_their_module(void **state)
{
	struct profile p;
	struct call_paths c;
	frame_id id;
	uint32_t node;

	(void)state;
	profile_init(&p);
	call_paths_init(&c);
	id = profile_frame(&p, profile_module(&p, "/lib/a.so", NULL, CODE_USER), 0x10);
	node = call_path_of(&c, &p, profile_stack(&p, (stack_id){}, id).n);
	assert_string_equal(path_text(&c, &p, node), "a.so");
	call_paths_release(&c);
	profile_release(&p);
}

/* A graph that grows keeps the numbers that it has given out. */
static void growing_changes_no_number(void **state)
{
	struct profile p;
	struct call_paths c, all;
	uint32_t seed = 1, *seen;
	enum { STACKS = 60000 };

	(void)state;
	profile_init(&p);
	call_paths_init(&c);
	call_paths_init(&all);
	seen = calloc(STACKS + 1, sizeof(*seen));
	for (uint32_t i = 1; i <= STACKS; i++) {
		char name[32];
		stack_id parent;

		seed = seed * 1664525u + 1013904223u;
		parent.n = (seed >> 8) % (uint32_t)p.stacks.len;
		snprintf(name, sizeof(name), "f%u", seed >> 24);
		profile_stack(&p, parent, frame(&p, seed >> 16, name));
		seen[i] = call_path_of(&c, &p, (uint32_t)p.stacks.len - 1);
	}
	call_paths_all(&all, &p);
	for (uint32_t i = 1; i < p.stacks.len; i++) {
		char one[512];
		uint32_t node = call_path_of(&c, &p, i);

		snprintf(one, sizeof(one), "%s", path_text(&c, &p, node));
		assert_string_equal(one, path_text(&all, &p, call_path_known(&all, i)));
		assert_true(!node || c.nodes.items[node].parent < node);
	}
	assert_int_equal(seen[STACKS], call_path_of(&c, &p, (uint32_t)p.stacks.len - 1));
	assert_int_equal(c.nodes.len, all.nodes.len);
	free(seen);
	call_paths_release(&c);
	call_paths_release(&all);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_a_function_are_one_node),
		cmocka_unit_test(inlined_functions_are_nodes),
		cmocka_unit_test(names_merge_as_they_are_shown),
		cmocka_unit_test(frames_without_names_are_their_module),
		cmocka_unit_test(growing_changes_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
