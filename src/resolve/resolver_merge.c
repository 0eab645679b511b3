/* What several workers have found, brought together. */
#include "resolve/resolver.h"

#include <string.h>

/* What was added to the worker's tables since the last time. */
static void merge_frames(struct merged_numbers *m, struct profile *to, const struct profile *from)
{
	vec_reserve(&m->frames, from->frames.len);
	if (!m->frames.len)
		vec_push(&m->frames, (frame_id){});
	for (size_t i = m->frames.len; i < from->frames.len; i++) {
		const struct profile_frame *f = &from->frames.items[i];
		const struct profile_function *named;
		const char *text;

		if (!f->names) {
			vec_push(&m->frames, profile_frame(to, f->module, f->address));
			continue;
		}
		named = function_of(from, from->names.items[f->names].function);
		text = profile_text(from, named->name);
		vec_push(&m->frames, profile_frame_named(to, text, strlen(text), named->kind));
	}
}

static void merge_stacks(struct merged_numbers *m, struct profile *to, const struct profile *from)
{
	merge_frames(m, to, from);
	vec_reserve(&m->stacks, from->stacks.len);
	if (!m->stacks.len)
		vec_push(&m->stacks, (stack_id){});
	for (size_t i = m->stacks.len; i < from->stacks.len; i++) {
		const struct profile_stack *s = &from->stacks.items[i];

		vec_push(&m->stacks, profile_stack(to, m->stacks.items[s->parent.n],
						   m->frames.items[s->frame.n]));
	}
}

thread_id resolver_merge_thread(struct profile *to, const struct profile *from, thread_id thread)
{
	const struct profile_thread *t;

	if (!(thread.n & OWN_THREAD))
		return thread;
	t = &from->threads.items[thread.n & ~OWN_THREAD];
	return profile_thread(to, t->pid, t->tid, profile_string(to, profile_text(from, t->comm)));
}

static void merge_rows(struct resolver *r, struct profile *to)
{
	const struct profile *from = r->profile;

	merge_stacks(&r->merged, to, from);
	vec_each(&from->rows, row) {
		struct profile_row moved = *row;

		moved.stack = r->merged.stacks.items[row->stack.n];
		moved.thread = resolver_merge_thread(to, from, row->thread);
		if (row->key.n)
			moved.key = profile_string(to, profile_text(from, row->key));
		profile_add(to, &moved);
	}
	to->refused += from->refused;
}

void resolver_deliver(struct resolver *from, struct profile *to)
{
	resolver_count_all(from);
	if (from->profile != to)
		merge_rows(from, to);
	else
		vec_each(&to->rows, row)
			row->thread.n &= ~OWN_THREAD;
	for (size_t i = 0; i < from->events.len && i < to->events.len; i++) {
		to->events.items[i].samples += from->events.items[i].samples;
		to->events.items[i].weight += from->events.items[i].weight;
	}
	from->events.len = 0;
	if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
}
