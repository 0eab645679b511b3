/*
 * A function of a stored run with the samples of a selection, as the API answers it: the JSON of
 * `tacho annotate --json` (docs/FORMATS.md). Nothing but the store is asked.
 *
 *	leaf_weights_init(&l, profile);
 *	leaf_weights_add(&l, stack, samples, weight);     // for all of the selection
 *	function = leaf_weights_find(&l, name, module);   // number 0: 404
 *	store_code_get(…, function.n, &code, …);          // -ENOENT: code stays empty
 *	annotation_answer(&l, event, function, &code, &out, &e);
 */
#ifndef TACHO_SERVER_API_ANNOTATION_H
#define TACHO_SERVER_API_ANNOTATION_H

#include "analyze/annotate/leaf_weights.h"

/* @code: the bytes that the store has, or empty. -EBADMSG: they are damaged. Adds to @out. */
int annotation_answer(const struct leaf_weights *l, event_id event, function_id function,
		      const struct buf *code, struct buf *out, struct err *e);

#endif
