/*
 * Builds the annotation of a function from its code, saved with the recording or read now, and the
 * samples of a selection:
 *
 *	annotation_init(&a);
 *	annotation_set_names(&a, profile, event, function);
 *	… a.weight, a.all_weight and so on; annotation_add_weight() for each address
 *	annotation_of_code(&a, &code);
 */
#ifndef TACHO_ANALYZE_ANNOTATE_CODE_H
#define TACHO_ANALYZE_ANNOTATE_CODE_H

#include "analyze/annotate/annotate.h"
#include "profile/code.h"

/* Sets the names of the function, its module and the event. */
void annotation_set_names(struct annotation *a, const struct profile *p, event_id event,
			  function_id function);

/* Adds everything that comes from the code, and finishes the annotation. */
void annotation_of_code(struct annotation *a, const struct code *code);

#endif
