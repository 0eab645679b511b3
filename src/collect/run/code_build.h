/*
 * Builds the code (profile/code.h) of a function of a profile: instructions, lines and source, read
 * from the module that it lies in. Each user (a collector before its run ends, annotate) has one
 * builder, which keeps source files and the disassembler between functions. One thread.
 *
 *	code_builder_init(&b, &profile, modules, &options);
 *	code_build(&b, function, &code);  // the code says what is missing
 *	… code_release(&code);
 *	code_builder_release(&b);
 */
#ifndef TACHO_COLLECT_RUN_CODE_BUILD_H
#define TACHO_COLLECT_RUN_CODE_BUILD_H

#include "profile/code.h"
#include "profile/profile.h"
#include "symbol/disasm.h"
#include "symbol/module/module.h"
#include "symbol/source.h"

struct code_options {
	const struct symbol_options *symbols; /* for the paths of sources */
	const char *arch; /* of the recorded machine, as uname gives it; NULL: of this one */
	bool intel, no_source, no_demangle;
};

struct code_builder {
	const struct profile *profile;
	struct modules *modules; /* NULL: no files are known */
	struct code_options o;
	struct sources *sources;
	struct disasm *disasm; /* of `machine` */
	uint16_t machine;
};

void code_builder_init(struct code_builder *b, const struct profile *p, struct modules *modules,
		       const struct code_options *o);
void code_builder_release(struct code_builder *b);

/* Initialises and fills @ret. Never fails: code.problem says why there are no instructions. */
void code_build(struct code_builder *b, function_id function, struct code *ret);

#endif
