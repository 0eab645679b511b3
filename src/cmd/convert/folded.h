/* tacho convert --to folded. */
#ifndef TACHO_CMD_CONVERT_FOLDED_H
#define TACHO_CMD_CONVERT_FOLDED_H

#include "cmd/input/profile_input.h"

struct fold_options {
	struct profile_options profile; /* its member input is unused */
	bool kernel, all;               /* append _[k] to kernel functions; also _[i] and _[j] */
};

/* Reports errors on stderr. Returns the exit status. */
int convert_folded(const char *input, const char *output, struct fold_options *o);

#endif
