/*
 * Annotates a function of a stored run with the samples of a selection. The answer is the JSON of
 * `tacho annotate --json` (docs/FORMATS.md). Reads only the store.
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

/* @code: bytes from the store, or empty. Adds to @out. Returns -EBADMSG if @code is damaged. */
int annotation_answer(const struct leaf_weights *l, event_id event, function_id function,
		      const struct buf *code, struct buf *out, struct err *e);

#endif
