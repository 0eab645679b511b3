/*
 * From the code of a function, taken when it was recorded or just now, and the samples of a selection
 * to its annotation:
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

/* The names of the function, its module and the event. */
void annotation_set_names(struct annotation *a, const struct profile *p, event_id event,
			  function_id function);

/* Fills in all that comes from the code, and finishes the annotation. */
void annotation_of_code(struct annotation *a, const struct code *code);

#endif
