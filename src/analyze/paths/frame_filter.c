#include "analyze/paths/frame_filter.h"
#include "base/clock.h"
#include "base/pattern.h"

#include <errno.h>
#include <string.h>

/* CPU time limit, because others wait for the worker. Two million usual names take less. */
#define LOOKING_NS_MAX (2 * NS_PER_SEC)
#define NAMES_A_LOOK   64u /* most names between two looks at the clock */

static int match_names(struct pattern *pattern, const struct call_paths *c, const struct profile *p,
		       bool *names, struct err *e)
{
	uint64_t end_ns = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) + LOOKING_NS_MAX;
	size_t bytes = 0;

	for (size_t i = 1; i < c->names.len; i++) {
		const char *label = profile_text(p, c->names.items[i].label);

		names[i] = pattern_found(pattern, label);
		/* Count bytes, too: one name can be as long as many. */
		bytes += NAMES_A_LOOK + strlen(label);
		if (bytes < NAMES_A_LOOK * NAMES_A_LOOK)
			continue;
		bytes = 0;
		if (clock_ns_of(CLOCK_THREAD_CPUTIME_ID) > end_ns)
			return err_set(e, EINVAL,
				       "The regular expression takes too long for the names of "
				       "this run: make it simpler.");
	}
	return 0;
}

int frame_filter_make(bool **ret, const struct call_paths *c, const struct profile *p,
		      const char *expression, struct err *e)
{
	CLEANUP(free_ptr) bool *names = NULL;
	struct pattern *pattern;
	bool *nodes;
	int rc = pattern_new(&pattern, expression, e);

	if (rc < 0)
		return rc;
	names = xcalloc(c->names.len, sizeof(*names));
	rc = match_names(pattern, c, p, names, e);
	pattern_free(pattern);
	if (rc < 0)
		return rc;
	nodes = xcalloc(c->nodes.len, sizeof(*nodes));
	for (size_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];

		nodes[i] = nodes[n->parent] || names[n->name];
	}
	*ret = nodes;
	return 0;
}
