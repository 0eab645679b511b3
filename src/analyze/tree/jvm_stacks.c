#include "analyze/tree/jvm_stacks.h"

#include <string.h>

/* Fewer samples prove nothing, and some stacks are always cut, in prologues and stubs. */
#define SAMPLES_MIN 20
#define CUT_PCT     30
/* Ignore deeper stacks: those cut by the kernel's own limit (127) are not broken. */
#define DEPTH_MAX 120

/* ---- main() ---- */

/* Stages on the way from the start of the thread to main(). */
enum stage { STAGE_NONE, STAGE_LAUNCHER, STAGE_CALL, STAGE_STUB, STAGE_MAIN };

static enum stage next_stage(enum stage before, const char *name)
{
	if (!strcmp(name, "JavaMain"))
		return STAGE_LAUNCHER;
	if (before == STAGE_LAUNCHER)
		return !strncmp(name, "jni_CallStaticVoidMethod", 24) ? STAGE_CALL : STAGE_NONE;
	if (before == STAGE_CALL && !strncmp(name, "StubRoutines", 12))
		return STAGE_STUB;
	/* Skip jni_invoke_static and its callees, whatever their names are. */
	if (before == STAGE_CALL && strcmp(name, "Interpreter"))
		return STAGE_CALL;
	if (before == STAGE_STUB && !strcmp(name, "Interpreter"))
		return STAGE_MAIN;
	return STAGE_NONE;
}

long jvm_find_main(const char *const *names, size_t count)
{
	enum stage stage = STAGE_NONE;

	for (size_t i = 0; i < count; i++) {
		stage = next_stage(stage, names[i]);
		if (stage == STAGE_MAIN)
			return (long)i;
	}
	return -1;
}

/* Goes through all functions of a frame. */
static enum stage stage_of_frame(const struct profile *p, enum stage stage, frame_id id)
{
	const struct profile_frame *frame = &p->frames.items[id.n];

	if (!frame->name_count)
		return stage == STAGE_CALL ? STAGE_CALL : STAGE_NONE;
	for (uint32_t i = 0; i < frame->name_count; i++)
		stage = next_stage(stage, function_text(p, names_of(p, id)[i].function));
	return stage;
}

/* A quick test: most profiles are not of Java programs. */
static bool has_launcher(const struct profile *p)
{
	vec_each(&p->functions, f)
		if (!strcmp(profile_text(p, f->name), "JavaMain"))
			return true;
	return false;
}

size_t jvm_name_main(struct profile *p)
{
	CLEANUP(free_ptr) uint8_t *stages = xcalloc(p->stacks.len, 1);
	frame_id frame = {};
	size_t named = 0;

	if (!has_launcher(p))
		return 0;
	for (size_t i = 1; i < p->stacks.len; i++) {
		struct profile_stack *stack = &p->stacks.items[i];
		enum stage stage = stage_of_frame(p, stages[stack->parent.n], stack->frame);

		stages[i] = (uint8_t)stage;
		if (stage != STAGE_MAIN)
			continue;
		if (!frame.n)
			frame = profile_frame_named(p, JVM_MAIN_NAME, strlen(JVM_MAIN_NAME),
						    CODE_JIT);
		if (!frame.n)
			break;
		stack->frame = frame;
		named++;
	}
	return named;
}

/* ---- whole or cut ---- */

struct walk {
	uint8_t *depth;    /* by stack, up to 255 */
	bool *from_native; /* by stack: has a frame of libjvm.so */
	bool *is_libjvm;   /* by module */
};

static void walk_stacks(const struct profile *p, struct walk *w)
{
	w->depth = xcalloc(p->stacks.len, 1);
	w->from_native = xcalloc(p->stacks.len, sizeof(bool));
	for (size_t i = 1; i < p->stacks.len; i++) {
		const struct profile_stack *s = &p->stacks.items[i];
		module_id module = p->frames.items[s->frame.n].module;

		w->depth[i] = (uint8_t)(w->depth[s->parent.n] + (w->depth[s->parent.n] < 255));
		w->from_native[i] = w->from_native[s->parent.n] || w->is_libjvm[module.n];
	}
}

/* Marks the modules that are libjvm.so. Returns false if there are none. */
static bool find_libjvm(const struct profile *p, struct walk *w)
{
	bool found = false;

	w->is_libjvm = xcalloc(p->modules.len, sizeof(bool));
	for (size_t i = 1; i < p->modules.len; i++) {
		w->is_libjvm[i] = !strcmp(profile_text(p, p->modules.items[i].name), "libjvm.so");
		found |= w->is_libjvm[i];
	}
	return found;
}

/* Whether the sample is in code made at run time, not in the kernel on behalf of it. */
static bool leaf_is_java(const struct profile *p, stack_id id)
{
	const struct profile_frame *leaf = &p->frames.items[p->stacks.items[id.n].frame.n];
	enum code_kind kind = leaf->name_count
				      ? function_of(p, p->names.items[leaf->names].function)->kind
				      : p->modules.items[leaf->module.n].kind;

	return kind == CODE_JIT;
}

struct tally {
	struct jvm_stacks counts;
	bool jvm, deep; /* has frames of libjvm.so; has stacks with callers */
};

static void count_row(const struct profile *p, const struct walk *w, const struct profile_row *row,
		      struct tally *t)
{
	uint32_t n = row->stack.n;

	t->jvm |= w->from_native[n];
	t->deep |= w->depth[n] > 1;
	if (!n || w->depth[n] >= DEPTH_MAX || !leaf_is_java(p, row->stack))
		return;
	t->counts.java_samples += row->samples;
	if (!w->from_native[n])
		t->counts.cut += row->samples;
}

static int by_pid(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return x->counts.pid < y->counts.pid ? -1 : x->counts.pid > y->counts.pid;
}

/* Sorts by process, adds up each process in its first thread and empties the other threads. */
static void sum_up(struct tally *tallies, size_t count)
{
	struct tally *first = tallies;

	qsort(tallies, count, sizeof(*tallies), by_pid);
	for (size_t i = 1; i < count; i++) {
		struct tally *t = &tallies[i];

		if (t->counts.pid != first->counts.pid) {
			first = t;
			continue;
		}
		first->jvm |= t->jvm;
		first->deep |= t->deep;
		first->counts.java_samples += t->counts.java_samples;
		first->counts.cut += t->counts.cut;
		*t = (struct tally){.counts.pid = t->counts.pid};
	}
}

bool jvm_stacks_cut(const struct profile *p, struct jvm_stacks *ret)
{
	struct tally *tallies = NULL;
	struct walk w = {};

	*ret = (struct jvm_stacks){};
	if (find_libjvm(p, &w)) {
		walk_stacks(p, &w);
		tallies = xcalloc(p->threads.len, sizeof(*tallies));
		for (size_t i = 0; i < p->threads.len; i++)
			tallies[i].counts.pid = p->threads.items[i].pid;
		vec_each(&p->rows, row)
			count_row(p, &w, row, &tallies[row->thread.n]);
		sum_up(tallies, p->threads.len);
		for (size_t i = 0; i < p->threads.len; i++)
			if (tallies[i].jvm && tallies[i].deep &&
			    tallies[i].counts.java_samples >= SAMPLES_MIN &&
			    tallies[i].counts.cut > ret->cut)
				*ret = tallies[i].counts;
	}
	free(tallies);
	free(w.depth);
	free(w.from_native);
	free(w.is_libjvm);
	return ret->java_samples;
}

char *jvm_stacks_problem(const struct profile *p)
{
	struct jvm_stacks s;

	if (!jvm_stacks_cut(p, &s) || s.cut * 100 <= s.java_samples * CUT_PCT)
		return NULL;
	return xasprintf("%.0f %% of the Java stacks of process %u are cut, because that JVM keeps "
			 "no frame pointers: start it with -XX:+PreserveFramePointer (JVMs that "
			 "tacho record starts get it)",
			 100.0 * (double)s.cut / (double)s.java_samples, s.pid);
}
