/*
 * Weights of a selection of samples by innermost frame, and so by address. After one pass over the
 * selection any function can be annotated. One thread; the profile must not change meanwhile.
 */
#ifndef TACHO_ANALYZE_ANNOTATE_LEAF_WEIGHTS_H
#define TACHO_ANALYZE_ANNOTATE_LEAF_WEIGHTS_H

#include "analyze/annotate/code.h"

struct leaf_weights {
	const struct profile *p;
	uint64_t *weight, *samples; /* by frame */
	uint64_t all_weight, all_samples;
};

void leaf_weights_init(struct leaf_weights *l, const struct profile *p);
void leaf_weights_release(struct leaf_weights *l);

/* @stack comes from a chunk: a stack that does not exist counts for the totals only. */
void leaf_weights_add(struct leaf_weights *l, uint32_t stack, uint64_t samples, uint64_t weight);

/*
 * Finds the function of this name (or label), the heaviest if there are several. @module, unless
 * NULL, is the path of its module or the last part of that. Returns number 0 if the profile has
 * no such function, hit or not.
 */
function_id leaf_weights_find(const struct leaf_weights *l, const char *name, const char *module);

/* Initialises @ret and fills it. If there is no code, @code is NULL and @problem says why. */
void leaf_weights_annotate(const struct leaf_weights *l, event_id event, function_id function,
			   const struct code *code, const char *problem, struct annotation *ret);

#endif
