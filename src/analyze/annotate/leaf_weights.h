/*
 * What a selection of samples has in the functions themselves, by address: the samples' innermost
 * frames. One pass over the selection, then any function can be annotated. One thread; the profile
 * must stay as it is.
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

/* Numbers of stacks come out of chunks: one that does not exist counts for the whole only. */
void leaf_weights_add(struct leaf_weights *l, uint32_t stack, uint64_t samples, uint64_t weight);

/*
 * The function of this name (or label), the heaviest if there are several; of a module, by its path or
 * its last part, unless that is NULL. Number 0: the profile has none, hit or not.
 */
function_id leaf_weights_find(const struct leaf_weights *l, const char *name, const char *module);

/* Initialises @ret and fills it. @code NULL: there is none, and @problem says why. */
void leaf_weights_annotate(const struct leaf_weights *l, event_id event, function_id function,
			   const struct code *code, const char *problem, struct annotation *ret);

#endif
