/* Questions about stacks: flame graphs of all kinds, functions, differences, filters. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/tree/diff.h"
#include "analyze/paths/frame_filter.h"
#include "analyze/paths/path_flame.h"
#include "analyze/paths/path_functions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A profile with what each node weighs. */
struct sample_set {
	struct profile p;
	struct call_paths c;
	VEC(uint64_t) self, samples;
};

/* "a;b>c" is a that calls b, into which c is inlined; then the weight, in samples of weight 2. */
static void add(struct sample_set *s, const char *path, uint64_t count)
{
	struct profile *p = &s->p;
	module_id module = profile_module(p, "/bin/x", NULL, CODE_USER);
	stack_id stack = {};
	uint32_t node;

	while (*path) {
		size_t len = strcspn(path, ";");
		struct frame_name levels[8];
		uint32_t levels_count = 0;
		frame_id frame = profile_frame(p, module, hash_bytes(path, len, 1));

		for (size_t at = 0; at < len;) {
			size_t part = strcspn(path + at, ";>");
			struct profile_function f = {.name = profile_string_n(p, path + at, part),
						     .module = module,
						     .kind = CODE_USER,
						     .named = true};

			levels[levels_count] = (struct frame_name){profile_function(p, &f),
								   .inlined = levels_count > 0};
			levels_count++;
			at += part + 1;
		}
		profile_name_frame(p, frame, levels, levels_count);
		stack = profile_stack(p, stack, frame);
		path += len + (path[len] == ';');
	}
	node = call_path_of(&s->c, p, stack.n);
	while (s->self.len < s->c.nodes.len) {
		vec_push(&s->self, 0);
		vec_push(&s->samples, 0);
	}
	s->self.items[node] += 2 * count;
	s->samples.items[node] += count;
}

static void set_init(struct sample_set *s)
{
	*s = (struct sample_set){};
	profile_init(&s->p);
	call_paths_init(&s->c);
}

static void set_release(struct sample_set *s)
{
	call_paths_release(&s->c);
	profile_release(&s->p);
	vec_release(&s->self);
	vec_release(&s->samples);
}

static void write_node(const struct path_flame *f, const struct sample_set *s, uint32_t n,
		       int depth, struct buf *out)
{
	const struct flame_node *node = &f->nodes.items[n];

	buf_addf(out, "%*s%s%s %llu %llu\n", depth, "", node->inlined ? ">" : "",
		 node->name ? profile_text(&s->p, s->c.names.items[node->name].label) : "all",
		 (unsigned long long)node->total, (unsigned long long)node->self);
	for (uint32_t i = 1; i < f->nodes.len; i++)
		if (f->nodes.items[i].parent == n && i != n)
			write_node(f, s, i, depth + 1, out);
}

static void assert_flame(struct path_flame *f, const struct sample_set *s, const char *expected)
{
	struct buf text = {};

	for (uint32_t i = 1; i < f->nodes.len; i++)
		assert_true(f->nodes.items[i].parent < i);
	write_node(f, s, 0, 0, &text);
	assert_string_equal(buf_str(&text), expected);
	buf_release(&text);
	path_flame_release(f);
}

static void fill(struct sample_set *s)
{
	set_init(s);
	add(s, "main;parse", 2);
	add(s, "main;emit;write", 6);
	add(s, "main;emit", 1);
	add(s, "main;parse;write", 1);
	add(s, "start;parse", 10);
}

static void plain_and_inverted(void **state)
{
	struct sample_set s;
	struct path_flame f;

	(void)state;
	fill(&s);
	path_flame_plain(&f, &s.c, s.self.items, &(struct flame_options){});
	assert_flame(
		&f, &s,
		"all 40 0\n main 20 0\n  parse 6 4\n   write 2 2\n  emit 14 2\n   write 12 12\n"
		" start 20 0\n  parse 20 20\n");
	path_flame_inverted(&f, &s.c, s.self.items, &(struct flame_options){});
	assert_flame(&f, &s,
		     "all 40 0\n parse 24 0\n  main 4 4\n  start 20 20\n emit 2 0\n  main 2 2\n"
		     " write 14 0\n  emit 12 0\n   main 12 12\n  parse 2 0\n   main 2 2\n");
	set_release(&s);
}

static void light_nodes_are_folded_away(void **state)
{
	struct sample_set s;
	struct path_flame f;

	(void)state;
	fill(&s);
	path_flame_plain(&f, &s.c, s.self.items, &(struct flame_options){.min_share = 0.2});
	assert_int_equal(f.hidden_nodes, 2);
	assert_int_equal(f.hidden_weight, 6); /* parse, with what lies below it */
	assert_flame(&f, &s,
		     "all 40 0\n main 20 0\n  emit 14 2\n   write 12 12\n start 20 0\n"
		     "  parse 20 20\n");
	path_flame_inverted(&f, &s.c, s.self.items, &(struct flame_options){.min_share = 0.2});
	assert_int_equal(f.hidden_nodes, 3);
	assert_int_equal(f.hidden_weight, 8);
	assert_flame(&f, &s,
		     "all 40 0\n parse 24 0\n  start 20 20\n write 14 0\n  emit 12 0\n"
		     "   main 12 12\n");
	path_flame_plain(&f, &s.c, s.self.items, &(struct flame_options){.limit = 5});
	assert_int_equal(f.hidden_nodes, 3);
	assert_int_equal(f.hidden_weight, 18);
	assert_flame(&f, &s, "all 40 0\n main 20 0\n  emit 14 2\n start 20 0\n  parse 20 20\n");
	/* Three weigh the same, two of them have room. */
	path_flame_plain(&f, &s.c, s.self.items, &(struct flame_options){.limit = 3});
	assert_int_equal(f.hidden_nodes, 5);
	assert_flame(&f, &s, "all 40 0\n main 20 0\n start 20 0\n");
	set_release(&s);
}

static bool *named(const struct sample_set *s, const char *name)
{
	bool *wanted = xcalloc(s->c.names.len, sizeof(*wanted));

	for (size_t i = 1; i < s->c.names.len; i++)
		wanted[i] = !strcmp(profile_text(&s->p, s->c.names.items[i].label), name);
	return wanted;
}

static void light_callees_are_folded_away(void **state)
{
	struct sample_set s;
	struct path_flame f;
	bool *wanted;

	(void)state;
	fill(&s);
	wanted = named(&s, "main");
	/* What weighs as much as the least weight stays. */
	path_flame_callees(&f, &s.c, s.self.items, wanted,
			   &(struct flame_options){.min_share = 0.6});
	assert_int_equal(f.hidden_nodes, 2);
	assert_int_equal(f.hidden_weight, 6);
	assert_flame(&f, &s, "main 20 0\n emit 14 2\n  write 12 12\n");
	free(wanted);
	set_release(&s);
}

static void sandwich(void **state)
{
	struct sample_set s;
	struct path_flame f;
	bool *wanted;

	(void)state;
	fill(&s);
	add(&s, "main;parse;list;parse;write", 3); /* parse calls itself */
	wanted = named(&s, "parse");
	path_flame_callers(&f, &s.c, s.self.items, wanted, &(struct flame_options){});
	assert_flame(&f, &s, "parse 32 0\n main 12 12\n start 20 20\n");
	path_flame_callees(&f, &s.c, s.self.items, wanted, &(struct flame_options){});
	assert_flame(&f, &s, "parse 32 24\n write 2 2\n list 6 0\n  parse 6 0\n   write 6 6\n");
	free(wanted);
	wanted = named(&s, "nobody");
	path_flame_callers(&f, &s.c, s.self.items, wanted, &(struct flame_options){});
	assert_flame(&f, &s, "all 0 0\n");
	free(wanted);
	set_release(&s);
}

static void inlined_and_recursive_functions(void **state)
{
	struct sample_set s;
	path_functions functions = {};
	struct buf text = {};

	(void)state;
	set_init(&s);
	add(&s, "main;fact;fact;fact", 5);
	add(&s, "main;fact", 1);
	add(&s, "main;step>add>carry", 3);
	path_functions_make(&functions, &s.c, s.self.items, s.samples.items);
	vec_each(&functions, f)
		buf_addf(&text, "%s %llu %llu %llu %llu\n",
			 profile_text(&s.p, s.c.names.items[f->name].label),
			 (unsigned long long)f->self, (unsigned long long)f->total,
			 (unsigned long long)f->self_samples, (unsigned long long)f->total_samples);
	assert_string_equal(buf_str(&text), "fact 12 12 6 6\nstep 6 6 3 3\nmain 0 18 0 9\n"
					    "add 0 6 0 3\ncarry 0 6 0 3\n");
	buf_release(&text);
	vec_release(&functions);
	set_release(&s);
}

static const struct diff_function *changed(const struct diff *d, const struct diff_table *t,
					   const char *name)
{
	vec_each(&t->functions, f)
		if (!strcmp(diff_text(d, f->name), name))
			return f;
	return NULL;
}

static void differences_meet_by_name(void **state)
{
	struct sample_set a, b;
	struct diff_table table;
	struct diff d;

	(void)state;
	set_init(&a);
	set_init(&b);
	add(&a, "main;hot", 70);
	add(&a, "main;cold", 30);
	add(&b, "main;new", 10); /* so that its numbers are others */
	add(&b, "main;hot", 20);
	add(&b, "main;cold", 10);
	diff_init(&d);
	diff_add_paths(&d, &a.c, &a.p,
		       (struct diff_weights[2]){{a.self.items, a.samples.items}, {}});
	diff_add_paths(&d, &b.c, &b.p,
		       (struct diff_weights[2]){{}, {b.self.items, b.samples.items}});
	diff_finish(&d, true);
	diff_table_make(&table, &d);
	assert_int_equal(d.nodes.len, 5);
	assert_int_equal(d.nodes.items[0].total[DIFF_BEFORE], 200);
	assert_int_equal(d.nodes.items[0].total[DIFF_AFTER], 80);
	assert_int_equal(d.nodes.items[0].samples[DIFF_AFTER], 40);
	assert_true(fabs(changed(&d, &table, "hot")->self[DIFF_BEFORE] - 0.7) < 1e-9);
	assert_true(fabs(changed(&d, &table, "hot")->self[DIFF_AFTER] - 0.5) < 1e-9);
	assert_true(fabs(changed(&d, &table, "new")->total[DIFF_AFTER] - 0.25) < 1e-9);
	assert_true(changed(&d, &table, "new")->total[DIFF_BEFORE] == 0);
	diff_table_release(&table);
	diff_release(&d);
	set_release(&a);
	set_release(&b);
}

/* Two parts of one run, one of which lacks a function. */
static void differences_of_one_run(void **state)
{
	struct sample_set s;
	struct diff_table table;
	struct diff d;
	uint64_t *later, *samples;

	(void)state;
	set_init(&s);
	add(&s, "main;again;again", 60);
	add(&s, "main;gone", 40);
	later = calloc(s.c.nodes.len, sizeof(*later));
	samples = calloc(s.c.nodes.len, sizeof(*samples));
	assert_true(later && samples);
	for (size_t i = 0; i < s.c.nodes.len; i++) {
		const char *name =
			profile_text(&s.p, s.c.names.items[s.c.nodes.items[i].name].label);

		later[i] = strcmp(name, "gone") ? s.self.items[i] / 2 : 0;
		samples[i] = strcmp(name, "gone") ? s.samples.items[i] : 0;
	}
	diff_init(&d);
	diff_add_paths(&d, &s.c, &s.p,
		       (struct diff_weights[2]){{s.self.items, s.samples.items}, {later, samples}});
	diff_finish(&d, true);
	diff_table_make(&table, &d);
	assert_int_equal(d.nodes.len, 5);
	assert_true(fabs(changed(&d, &table, "again")->total[DIFF_BEFORE] - 0.6) < 1e-9);
	assert_true(fabs(changed(&d, &table, "again")->total[DIFF_AFTER] - 1) < 1e-9);
	assert_true(fabs(changed(&d, &table, "gone")->self[DIFF_BEFORE] - 0.4) < 1e-9);
	assert_true(changed(&d, &table, "gone")->total[DIFF_AFTER] == 0);
	assert_true(fabs(changed(&d, &table, "main")->total[DIFF_AFTER] - 1) < 1e-9);
	diff_table_release(&table);
	diff_release(&d);
	set_release(&s);
	free(later);
	free(samples);
}

static void filters_hold_for_all_below(void **state)
{
	static const char *const bad[] = {"(", "(a{1,200}b{1,200}){3}", "(a)\\1", "[[:nope:]]"};
	struct sample_set s;
	struct path_flame f;
	bool *keep = NULL;
	char *text = xcalloc(300, 1);
	struct err e;

	(void)state;
	fill(&s);
	assert_int_equal(frame_filter_make(&keep, &s.c, &s.p, "^(emit|st)", &e), 0);
	for (size_t i = 0; i < s.c.nodes.len; i++)
		s.self.items[i] *= keep[i];
	free(keep);
	path_flame_plain(&f, &s.c, s.self.items, &(struct flame_options){});
	assert_flame(&f, &s,
		     "all 34 0\n main 14 0\n  emit 14 2\n   write 12 12\n start 20 0\n"
		     "  parse 20 20\n");
	assert_int_equal(frame_filter_make(&keep, &s.c, &s.p, "((a+b*)?c)+", &e), 0);
	free(keep);
	keep = NULL;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(frame_filter_make(&keep, &s.c, &s.p, bad[i], &e), -EINVAL);
		assert_null(keep);
	}
	memset(text, 'a', 299);
	assert_int_equal(frame_filter_make(&keep, &s.c, &s.p, text, &e), -EINVAL);
	free(text);
	set_release(&s);
}

/* Trees that nobody wrote: whatever the way, the whole is the whole. */
static void all_of_it_is_in_every_graph(void **state)
{
	struct sample_set s;
	struct path_flame f;
	uint32_t seed = 7;
	uint64_t whole = 0, below = 0;

	(void)state;
	set_init(&s);
	for (int i = 0; i < 3000; i++) {
		char path[128] = "";

		for (int depth = 0; depth < 3 + (i & 7); depth++) {
			seed = seed * 1664525u + 1013904223u;
			snprintf(path + strlen(path), sizeof(path) - strlen(path), "%sf%u",
				 depth ? ";" : "", (seed >> 24) % 12);
		}
		add(&s, path, 1);
		whole += 2;
	}
	path_flame_inverted(&f, &s.c, s.self.items, &(struct flame_options){});
	assert_int_equal(f.nodes.items[0].total, whole);
	assert_int_equal(f.hidden_nodes, 0);
	for (size_t i = 1; i < f.nodes.len; i++)
		below += f.nodes.items[i].self;
	assert_int_equal(below, whole);
	path_flame_release(&f);
	path_flame_inverted(&f, &s.c, s.self.items, &(struct flame_options){.min_share = 0.01});
	below = f.hidden_weight;
	for (size_t i = 1; i < f.nodes.len; i++)
		below += f.nodes.items[i].self;
	assert_true(f.hidden_nodes > 0);
	assert_int_equal(below, whole);
	path_flame_release(&f);
	set_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_and_inverted),
		cmocka_unit_test(light_nodes_are_folded_away),
		cmocka_unit_test(light_callees_are_folded_away),
		cmocka_unit_test(sandwich),
		cmocka_unit_test(inlined_and_recursive_functions),
		cmocka_unit_test(differences_meet_by_name),
		cmocka_unit_test(differences_of_one_run),
		cmocka_unit_test(filters_hold_for_all_below),
		cmocka_unit_test(all_of_it_is_in_every_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
