/*
 * The part of a profile that is shown: one event, optionally grouped by task or CPU, as a call tree
 * with the names that functions are shown by. Exporters and differences use it.
 *
 * view_build() adds the names of groups to the profile; the view refers to it until view_release().
 */
#ifndef TACHO_ANALYZE_TREE_VIEW_H
#define TACHO_ANALYZE_TREE_VIEW_H

#include "analyze/tree/calltree.h"
#include "analyze/tree/shown_names.h"

/* The first level of the tree. */
enum view_group {
	GROUP_NONE,
	GROUP_COMM,
	GROUP_PID,
	GROUP_TID,
	GROUP_CPU,
	GROUP_EVENT, /* all events, one group each */
};

struct view_options {
	enum view_group group;
	enum name_style style;
	event_id event; /* whose samples are shown; ignored with GROUP_EVENT */
	bool reverse;   /* from the leaf to the root; the group stays first */
	bool join_inlined;
	bool no_ends; /* without frames that only say how a stack ended (profile/stack_end.h) */
};

struct view {
	const struct profile *profile;
	struct view_options options;
	struct shown_names names;
	struct calltree tree;
	function_id *groups; /* by thread, CPU or event */
	size_t group_count;
};

void view_build(struct view *v, struct profile *p, const struct view_options *o);
void view_release(struct view *v);

static inline const char *view_name(const struct view *v, const struct call_node *node)
{
	return shown_name(&v->names, call_function(node));
}

#endif
