/*
 * The names that functions are shown by. Functions that nobody could name are those of their module,
 * "[libx.so]", so that they make one block and not thousands. Functions that then look the same are
 * one: `as` says which stands for each.
 *
 * Belongs to one profile, as it was when the names were made. Any number of threads may read.
 */
#ifndef TACHO_ANALYZE_NAMING_H
#define TACHO_ANALYZE_NAMING_H

#include "base/buf.h"
#include "profile/profile.h"

enum naming_style {
	NAMES_PLAIN, /* as they are; functions of different modules stay apart */
	/*
	 * As the usual folding scripts have them: without parameters, quotes and semicolons;
	 * "[[kernel.kallsyms]]" has its brackets twice.
	 */
	NAMES_FOLDED,
	NAMES_FOLDED_KINDS, /* the same, but functions of different kinds stay apart */
};

struct naming {
	struct buf text;
	uint32_t *starts; /* in text, by function */
	function_id *as;
	size_t count;
};

void naming_make(struct naming *n, const struct profile *p, enum naming_style style);
void naming_release(struct naming *n);

static inline const char *naming_of(const struct naming *n, function_id f)
{
	return n->text.s + n->starts[f.n];
}

/* Appends the name of a function as folding scripts would write it. */
void naming_add_folded(struct buf *out, const char *name, bool jit);

#endif
