/* What a report counts, by hand and against a slow and simple way of counting the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyze/report/report.h"
#include "base/buf.h"
#include "base/text.h"

#include <string.h>

#define SYM  (1u << REPORT_SYM)
#define DSO  (1u << REPORT_DSO)
#define COMM (1u << REPORT_COMM)

/* "lib:name"; every name has a module, "t" if none is written. */
static struct frame_name name_of(struct profile *p, const char *text)
{
	const char *colon = strchr(text, ':');
	CLEANUP(free_ptr)
	char *module = colon ? xstrndup(text, (size_t)(colon - text)) : xstrdup("t");
	struct profile_function f = {
		.name = profile_string(p, colon ? colon + 1 : text),
		.module = profile_module(p, module, NULL, CODE_USER),
		.start = 0x1000,
		.kind = CODE_USER,
		.named = true,
	};

	return (struct frame_name){.function = profile_function(p, &f)};
}

/* "main;work+inlined+deeper;leaf": from the outermost, '+' before what is inlined. */
static stack_id stack_of(struct profile *p, const char *text)
{
	CLEANUP(strvec_release) strvec frames = {};
	stack_id stack = {};

	text_split(text, ";", &frames);
	vec_each(&frames, frame) {
		CLEANUP(strvec_release) strvec words = {};
		struct frame_name names[8];
		uint32_t count = 0;
		frame_id id = profile_frame(p, (module_id){}, profile_string(p, *frame).n);

		text_split(*frame, "+", &words);
		vec_each(&words, word) {
			names[count] = name_of(p, *word);
			names[count].inlined = count > 0;
			names[count].file = profile_string(p, "/src/x.c");
			names[count].line = 10 + count;
			count++;
		}
		profile_name_frame(p, id, names, count);
		stack = profile_stack(p, stack, id);
	}
	return stack;
}

static void add(struct profile *p, const char *event, const char *comm, const char *stack,
		uint64_t weight)
{
	struct profile_row row = {.event = profile_event(p, event),
				  .thread = profile_thread(p, 7, 8, profile_string(p, comm)),
				  .stack = stack_of(p, stack),
				  .samples = 1,
				  .weight = weight};

	profile_add(p, &row);
}

static void entry_name(const struct report *r, const struct report_entry *e, struct buf *out)
{
	const struct profile *p = r->profile;
	const struct report_place *place = &r->places.items[e->place];

	buf_clear(out);
	buf_addf(out, "%s/%s/%s%s", profile_text(p, r->groups.items[e->group].comm),
		 profile_text(p, place->module), function_text(p, place->function),
		 place->inlined ? "+" : "");
}

static const struct report_entry *find(const struct report *r, const char *name)
{
	CLEANUP(buf_release) struct buf b = {};

	vec_each(&r->sections, s)
		vec_each(&s->entries, n) {
			entry_name(r, &r->entries.items[*n], &b);
			if (!strcmp(buf_str(&b), name))
				return &r->entries.items[*n];
		}
	return NULL;
}

static void check(const struct report *r, const char *name, uint64_t total, uint64_t self)
{
	const struct report_entry *e = find(r, name);

	if (!e)
		fail_msg("there is no entry '%s'", name);
	if (e->total != total || e->self != self)
		fail_msg("%s has %llu and %llu of its own", name, (unsigned long long)e->total,
			 (unsigned long long)e->self);
}

/* Chains as text, "a;b=7 a;c=3": each node with what ends there, in the order of the nodes. */
static void chain_text(const struct report *r, const struct chains *c, struct buf *out)
{
	for (uint32_t i = 1; i < c->nodes.len; i++) {
		const char *names[128];
		size_t count = 0;

		for (uint32_t n = i; n; n = c->nodes.items[n].parent)
			names[count++] = function_text(r->profile, c->nodes.items[n].function);
		if (c->nodes.items[i].weight == c->nodes.items[i].below)
			continue;
		buf_add(out, out->len ? " " : "");
		while (count-- > 0)
			buf_addf(out, "%s%s", names[count], count ? ";" : "=");
		buf_add_u64(out, c->nodes.items[i].weight - c->nodes.items[i].below);
	}
}

static void check_chains(struct report *r, const char *name, bool caller, uint64_t min,
			 const char *want)
{
	struct chain_options o = {.caller = caller, .min = min};
	CLEANUP(buf_release) struct buf b = {};
	struct chains c;

	report_chains(r, find(r, name), &o, &c);
	chain_text(r, &c, &b);
	assert_string_equal(buf_str(&b), want);
	chains_release(&c);
}

static void recursion_counts_once(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "main;f;f;g;f", 5);
	add(&p, "cycles", "a", "main;f;g", 3);
	add(&p, "cycles", "a", "main", 2);
	report_build(&r, &p,
		     &(struct report_options){.keys = SYM, .children = true, .chains = true});
	check(&r, "//main", 10, 2);
	check(&r, "//f", 8, 5);
	check(&r, "//g", 8, 3);
	assert_int_equal(r.sections.items[0].weight, 10);
	assert_int_equal(r.sections.items[0].samples, 3);
	/* Samples of f itself are shown from main on, those below it from the outermost f. */
	check_chains(&r, "//f", true, 0, "f;g=3 main;f;f;g;f=5");
	/* From below: each from the innermost f up. */
	check_chains(&r, "//f", false, 0, "f;main=3 f;g;f;f;main=5");
	check_chains(&r, "//g", true, 0, "g;f=5 main;f;g=3");
	report_release(&r);
	profile_release(&p);
}

static void equal_shares_put_callers_first(void **state)
{
	struct profile p;
	struct report r;
	CLEANUP(buf_release) struct buf b = {};

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "z;m;a", 4);
	report_build(&r, &p, &(struct report_options){.keys = SYM, .children = true});
	vec_each(&r.sections.items[0].entries, n) {
		CLEANUP(buf_release) struct buf one = {};

		entry_name(&r, &r.entries.items[*n], &one);
		buf_add(&b, buf_str(&one));
	}
	assert_string_equal(buf_str(&b), "//z//m//a");
	report_release(&r);
	profile_release(&p);
}

static void without_children(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "main;f", 5);
	add(&p, "cycles", "a", "main;g;f", 3);
	add(&p, "cycles", "a", "main;g", 2);
	for (int chains = 0; chains < 2; chains++) {
		report_build(&r, &p, &(struct report_options){.keys = SYM | DSO, .chains = chains});
		assert_int_equal(r.sections.items[0].entries.len, 2);
		check(&r, "/t/f", 8, 8);
		check(&r, "/t/g", 2, 2);
		if (chains) {
			check_chains(&r, "/t/f", false, 0, "f;main=5 f;g;main=3");
			check_chains(&r, "/t/f", true, 0, "main;f=5 main;g;f=3");
			check_chains(&r, "/t/f", false, 4, "f;main=5 f;g=3");
		}
		report_release(&r);
	}
	profile_release(&p);
}

static void keys(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "main;x:f;x:g", 5);
	add(&p, "cycles", "b", "main;y:f", 3);
	report_build(&r, &p, &(struct report_options){.keys = DSO, .children = true});
	check(&r, "/t/", 8, 0);
	check(&r, "/x/", 5, 5);
	check(&r, "/y/", 3, 3);
	report_release(&r);
	report_build(&r, &p, &(struct report_options){.keys = COMM, .children = true});
	check(&r, "a//", 5, 5);
	check(&r, "b//", 3, 3);
	assert_int_equal(r.sections.items[0].entries.len, 2);
	report_release(&r);
	/* Functions of one name in two libraries are two. */
	report_build(&r, &p, &(struct report_options){.keys = COMM | SYM | DSO});
	check(&r, "a/x/g", 5, 5);
	check(&r, "b/y/f", 3, 3);
	report_release(&r);
	profile_release(&p);
}

static void events_are_sections(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "f", 90);
	add(&p, "cycles", "a", "g", 10);
	add(&p, "faults", "a", "g", 2);
	report_build(&r, &p, &(struct report_options){.keys = SYM});
	assert_int_equal(r.sections.len, 2);
	assert_int_equal(r.sections.items[0].entries.len, 2);
	assert_int_equal(r.sections.items[1].entries.len, 1);
	assert_int_equal(r.sections.items[1].weight, 2);
	report_release(&r);
	report_build(
		&r, &p,
		&(struct report_options){.keys = SYM | 1u << REPORT_EVENT, .one_section = true});
	assert_int_equal(r.sections.len, 1);
	assert_int_equal(r.sections.items[0].entries.len, 3);
	/* All of the faults is more than most of the cycles. */
	assert_int_equal(r.entries.items[r.sections.items[0].entries.items[0]].self, 2);
	assert_int_equal(report_whole(&r, &r.entries.items[r.sections.items[0].entries.items[0]]),
			 2);
	report_release(&r);
	profile_release(&p);
}

static bool only_a(void *ctx, const struct profile_thread *t)
{
	return !strcmp(profile_text(ctx, t->comm), "a");
}

static bool only_x(void *ctx, const struct profile_function *f)
{
	struct profile *p = ctx;

	return !strcmp(profile_text(p, p->modules.items[f->module.n].name), "x");
}

static void filters(void **state)
{
	struct profile p;
	struct report r;
	struct report_options o = {.keys = SYM, .children = true, .ctx = &p};

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "main;x:f;g", 5);
	add(&p, "cycles", "a", "main;x:f", 1);
	add(&p, "cycles", "b", "main;h", 4);
	o.want_thread = only_a;
	report_build(&r, &p, &o);
	check(&r, "//main", 6, 0);
	assert_null(find(&r, "//h"));
	assert_int_equal(r.sections.items[0].weight, 10);
	report_release(&r);
	o.relative = true;
	report_build(&r, &p, &o);
	assert_int_equal(r.sections.items[0].weight, 6);
	report_release(&r);
	o = (struct report_options){
		.keys = COMM, .children = true, .ctx = &p, .want_function = only_x};
	report_build(&r, &p, &o);
	check(&r, "a//", 6, 1);
	assert_null(find(&r, "b//"));
	report_release(&r);
	profile_release(&p);
}

static void inlined_functions_own_nothing(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	add(&p, "cycles", "a", "main;f+in+deep", 5);
	add(&p, "cycles", "a", "main;f+in;g", 3);
	report_build(&r, &p,
		     &(struct report_options){.keys = SYM, .children = true, .chains = true});
	check(&r, "//f", 8, 5);
	check(&r, "//in+", 8, 0);
	check(&r, "//deep+", 5, 0);
	check_chains(&r, "//f", true, 0, "f;in;g=3 main;f;in;deep=5");
	check_chains(&r, "//f", false, 0, "f;main=3 deep;in;f;main=5");
	report_release(&r);
	report_build(&r, &p,
		     &(struct report_options){.keys = SYM, .children = true, .no_inlines = true});
	check(&r, "//f", 8, 5);
	assert_null(find(&r, "//in+"));
	report_release(&r);
	/* Without a function beside them, lines are those of the code itself. */
	report_build(&r, &p, &(struct report_options){.keys = 1u << REPORT_SRCLINE});
	assert_int_equal(r.sections.items[0].entries.len, 2);
	assert_int_equal(
		r.places.items[r.entries.items[r.sections.items[0].entries.items[0]].place].line,
		12);
	report_release(&r);
	profile_release(&p);
}

static void samples_without_stacks(void **state)
{
	struct profile p;
	struct report r;

	(void)state;
	profile_init(&p);
	report_build(&r, &p,
		     &(struct report_options){.keys = SYM, .children = true, .chains = true});
	assert_int_equal(r.sections.items[0].entries.len, 0);
	report_release(&r);
	add(&p, "cycles", "a", "", 5);
	add(&p, "cycles", "a", "f", 3);
	for (int children = 0; children < 2; children++) {
		report_build(&r, &p,
			     &(struct report_options){
				     .keys = SYM, .children = children, .chains = children});
		check(&r, "//", 5, 5);
		check(&r, "//f", 3, 3);
		if (children)
			check_chains(&r, "//", false, 0, "");
		report_release(&r);
	}
	profile_release(&p);
}

/* ---- the slow way ---- */

#define FUNCTIONS 5
#define DEPTH_MAX 7

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 16) % sides;
}

struct sample {
	uint32_t function[DEPTH_MAX]; /* from the outermost */
	uint32_t depth, comm, weight;
};

/* What the entry of @function has, sample by sample. */
static void count(const struct sample *samples, size_t n, uint32_t comm, uint32_t function,
		  uint64_t *total, uint64_t *self)
{
	*total = *self = 0;
	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		bool in = false;

		if (s->comm != comm)
			continue;
		for (uint32_t d = 0; d < s->depth; d++)
			in |= s->function[d] == function;
		*total += in ? s->weight : 0;
		*self += s->function[s->depth - 1] == function ? s->weight : 0;
	}
}

/* The weight of all samples whose chain for @function begins with @chain, names without blanks. */
static uint64_t count_chain(const struct sample *samples, size_t n, uint32_t comm,
			    uint32_t function, bool caller, const uint32_t *chain, uint32_t len)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sample *s = &samples[i];
		uint32_t from = s->depth, last = s->depth - 1;
		bool same = true;

		if (s->comm != comm)
			continue;
		if (caller) {
			for (uint32_t d = s->depth; d-- > 0;)
				from = s->function[d] == function ? d : from;
			if (from < s->depth && s->function[last] == function)
				from = 0;
		} else {
			for (uint32_t d = 0; d < s->depth; d++)
				from = s->function[d] == function ? d : from;
		}
		if (from == s->depth || len > (caller ? s->depth - from : from + 1))
			continue;
		for (uint32_t k = 0; k < len; k++)
			same &= s->function[caller ? from + k : from - k] == chain[k];
		weight += same ? s->weight : 0;
	}
	return weight;
}

static void check_all_chains(struct report *r, const struct report_entry *e,
			     const struct sample *samples, size_t n, uint32_t comm,
			     uint32_t function, bool caller)
{
	struct chain_options o = {.caller = caller};
	uint64_t top = 0;
	struct chains c;

	report_chains(r, e, &o, &c);
	for (uint32_t i = 1; i < c.nodes.len; i++) {
		uint32_t chain[DEPTH_MAX], len = 0, up[DEPTH_MAX];

		for (uint32_t k = i; k; k = c.nodes.items[k].parent)
			up[len++] =
				(uint32_t)(function_text(r->profile, c.nodes.items[k].function)[0] -
					   'a');
		for (uint32_t k = 0; k < len; k++)
			chain[k] = up[len - 1 - k];
		assert_int_equal(c.nodes.items[i].weight,
				 count_chain(samples, n, comm, function, caller, chain, len));
		top += len == 1 ? c.nodes.items[i].weight : 0;
	}
	assert_int_equal(top, e->total);
	chains_release(&c);
}

static void against_the_slow_way(void **state)
{
	uint32_t seed = 42;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct sample samples[40];
		struct profile p;
		struct report r;

		profile_init(&p);
		for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
			struct sample *s = &samples[i];
			CLEANUP(buf_release) struct buf b = {};

			s->depth = 1 + dice(&seed, DEPTH_MAX);
			s->comm = dice(&seed, 2);
			s->weight = 1 + dice(&seed, 9);
			for (uint32_t d = 0; d < s->depth; d++) {
				s->function[d] = dice(&seed, FUNCTIONS);
				buf_addf(&b, "%s%c", d ? ";" : "", 'a' + (char)s->function[d]);
			}
			add(&p, "cycles", s->comm ? "b" : "a", buf_str(&b), s->weight);
		}
		report_build(&r, &p,
			     &(struct report_options){
				     .keys = COMM | SYM, .children = true, .chains = true});
		for (uint32_t comm = 0; comm < 2; comm++)
			for (uint32_t f = 0; f < FUNCTIONS; f++) {
				char name[] = {comm ? 'b' : 'a', '/', '/', 'a' + (char)f, '\0'};
				uint64_t total, self;

				count(samples, ARRAY_LEN(samples), comm, f, &total, &self);
				if (!total) {
					assert_null(find(&r, name));
					continue;
				}
				check(&r, name, total, self);
				for (int caller = 0; caller < 2; caller++)
					check_all_chains(&r, find(&r, name), samples,
							 ARRAY_LEN(samples), comm, f, caller);
			}
		report_release(&r);
		profile_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(equal_shares_put_callers_first),
		cmocka_unit_test(without_children),
		cmocka_unit_test(keys),
		cmocka_unit_test(events_are_sections),
		cmocka_unit_test(filters),
		cmocka_unit_test(inlined_functions_own_nothing),
		cmocka_unit_test(samples_without_stacks),
		cmocka_unit_test(against_the_slow_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
