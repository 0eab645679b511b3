#include "analyze/plot/gaps.h"
#include "base/alloc.h"

#include <string.h>

enum { GAP_NAME = 1, GAP_MODULE = 2 };

static unsigned char gap_of(const struct profile *p, frame_id id)
{
	const struct profile_function *f;
	const struct frame_name *names;
	struct frame_name own;
	uint32_t count;

	names = frame_names(p, id.n, &own, &count);
	if (!count)
		return 0;
	/* The outermost function is the one that has a symbol. */
	f = function_of(p, names->function);
	if (!strcmp(profile_text(p, f->name), "[unknown]"))
		return GAP_NAME | GAP_MODULE;
	return f->named ? 0 : GAP_NAME;
}

void profile_gaps(const struct profile *p, struct profile_gaps *ret)
{
	size_t count = profile_frame_count(p);
	unsigned char *frames = xcalloc(count, 1);
	unsigned char *callers = xcalloc(p->stacks.len, 1);

	*ret = (struct profile_gaps){};
	for (uint32_t i = 1; i < count; i++)
		frames[i] = gap_of(p, (frame_id){i});
	/* Parents have smaller numbers. */
	for (size_t i = 1; i < p->stacks.len; i++) {
		uint32_t parent = p->stacks.items[i].parent.n;

		callers[i] = callers[parent] | frames[p->stacks.items[parent].frame.n];
	}
	vec_each(&p->rows, row) {
		uint32_t stack = row->stack.n;

		ret->samples += row->samples;
		if (frames[p->stacks.items[stack].frame.n]) {
			ret->unnamed += row->samples;
		} else if (callers[stack]) {
			ret->unnamed_callers += row->samples;
			if (callers[stack] & GAP_MODULE)
				ret->lost_callers += row->samples;
		}
	}
	free(frames);
	free(callers);
}
