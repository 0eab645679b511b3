/* What several workers have found, brought together. */
#include "resolve/resolver.h"

#include <string.h>

static frame_id *merge_frames(struct profile *to, const struct profile *from)
{
	frame_id *map = xcalloc(from->frames.len, sizeof(*map));

	for (size_t i = 1; i < from->frames.len; i++) {
		const struct profile_frame *f = &from->frames.items[i];
		const struct profile_function *named;
		const char *text;

		if (!f->names) {
			map[i] = profile_frame(to, f->module, f->address);
			continue;
		}
		named = function_of(from, from->names.items[f->names].function);
		text = profile_text(from, named->name);
		map[i] = profile_frame_named(to, text, strlen(text), named->kind);
	}
	return map;
}

static stack_id *merge_stacks(struct profile *to, const struct profile *from,
			      const frame_id *frames)
{
	stack_id *map = xcalloc(from->stacks.len, sizeof(*map));

	for (size_t i = 1; i < from->stacks.len; i++) {
		const struct profile_stack *s = &from->stacks.items[i];

		map[i] = profile_stack(to, map[s->parent.n], frames[s->frame.n]);
	}
	return map;
}

static thread_id merge_thread(struct profile *to, const struct profile *from, thread_id thread)
{
	const struct profile_thread *t;

	if (!(thread.n & OWN_THREAD))
		return thread;
	t = &from->threads.items[thread.n & ~OWN_THREAD];
	return profile_thread(to, t->pid, t->tid, profile_string(to, profile_text(from, t->comm)));
}

static void merge_rows(struct profile *to, const struct profile *from)
{
	CLEANUP(free_ptr) frame_id *frames = merge_frames(to, from);
	CLEANUP(free_ptr) stack_id *stacks = merge_stacks(to, from, frames);

	vec_each(&from->rows, row) {
		struct profile_row moved = *row;

		moved.stack = stacks[row->stack.n];
		moved.thread = merge_thread(to, from, row->thread);
		profile_add(to, &moved);
	}
	to->refused += from->refused;
}

void resolver_deliver(struct resolver *from, struct profile *to)
{
	resolver_count_all(from);
	if (from->profile != to)
		merge_rows(to, from->profile);
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
