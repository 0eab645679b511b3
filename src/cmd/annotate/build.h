/*
 * Builds the annotation of a function from its code (collect/run/code_build.h) and its samples in a
 * profile. Each command that shows functions (annotate, the browser of report) has one builder. One
 * thread.
 *
 *	annotate_builder_init(&b, &input, &options);
 *	annotate_function(&b, event, function, &annotation);  // never fails
 *	… annotation_release(&annotation);
 *	annotate_builder_release(&b);
 */
#ifndef TACHO_CMD_ANNOTATE_BUILD_H
#define TACHO_CMD_ANNOTATE_BUILD_H

#include "analyze/annotate/annotate.h"
#include "cmd/input/profile_input.h"
#include "collect/run/code_build.h"

struct annotate_builder {
	const struct profile_input *in;
	struct code_builder code;
};

/* Takes the architecture from the recording if that names one, else from @o. */
void annotate_builder_init(struct annotate_builder *b, const struct profile_input *in,
			   const struct code_options *o);
void annotate_builder_release(struct annotate_builder *b);

/* Initialises and fills @ret. Never fails: annotation.problem says why there is no code. */
void annotate_function(struct annotate_builder *b, event_id event, function_id function,
		       struct annotation *ret);

#endif
