/*
 * From a function of a profile to its annotation: code bytes and lines of the module that it lies in,
 * instructions, source. Whoever shows functions (annotate, the browser of report) has one builder,
 * which keeps source files and disassemblers between functions. One thread.
 *
 *	annotate_builder_init(&b, &input, &options);
 *	annotate_function(&b, event, function, &annotation);  // what is missing is said inside
 *	… annotation_release(&annotation);
 *	annotate_builder_release(&b);
 */
#ifndef TACHO_CMD_ANNOTATE_BUILD_H
#define TACHO_CMD_ANNOTATE_BUILD_H

#include "analyze/annotate.h"
#include "cmd/profile_input.h"
#include "symbol/disasm.h"
#include "symbol/source.h"

struct annotate_build_options {
	const struct symbol_options *symbols; /* for the paths of sources */
	bool intel, no_source, no_demangle;
};

struct annotate_builder {
	const struct profile_input *in;
	struct annotate_build_options o;
	struct sources *sources;
	struct disasm *disasm; /* of `machine` */
	uint16_t machine;
};

void annotate_builder_init(struct annotate_builder *b, const struct profile_input *in,
			   const struct annotate_build_options *o);
void annotate_builder_release(struct annotate_builder *b);

/* Initialises and fills @ret. Never fails: annotation.problem says why there is no code. */
void annotate_function(struct annotate_builder *b, event_id event, function_id function,
		       struct annotation *ret);

#endif
