/*
 * The names that functions are shown by. Functions without a name are shown as their module,
 * "[libx.so]", so that they make one block and not thousands. Functions that then have the same
 * name are merged: `as` gives the one that represents each.
 *
 * Valid for one profile, as it was when the names were made. Any number of threads may read.
 */
#ifndef TACHO_ANALYZE_TREE_SHOWN_NAMES_H
#define TACHO_ANALYZE_TREE_SHOWN_NAMES_H

#include "base/buf.h"
#include "profile/profile.h"

enum name_style {
	NAMES_PLAIN, /* as they are; functions of different modules stay apart */
	/*
	 * As the usual folding scripts write them: without parameters, quotes and semicolons;
	 * "[[kernel.kallsyms]]" has double brackets.
	 */
	NAMES_FOLDED,
	NAMES_FOLDED_KINDS, /* the same, but functions of different kinds stay apart */
};

struct shown_names {
	const struct profile *profile;
	struct buf text;  /* of names that are not shown as the profile has them */
	uint32_t *starts; /* in text, by function; 0: as the profile has it. NULL: all are */
	function_id *as;  /* NULL: no two are merged */
	size_t count;
};

void shown_names_make(struct shown_names *n, const struct profile *p, enum name_style style);
void shown_names_release(struct shown_names *n);

static inline const char *shown_name(const struct shown_names *n, function_id f)
{
	uint32_t start;

	if (n->as)
		f = n->as[f.n];
	start = n->starts ? n->starts[f.n] : 0;
	return start ? n->text.s + start : function_text(n->profile, f);
}

/* Appends the name of a function as folding scripts would write it. */
void add_folded_name(struct buf *out, const char *name, bool jit);

#endif
