/* tacho convert --to folded. */
#ifndef TACHO_CMD_CONVERT_FOLDED_H
#define TACHO_CMD_CONVERT_FOLDED_H

#include "cmd/input/profile_input.h"

struct fold_options {
	struct profile_options profile; /* its input is not used */
	bool kernel, all;               /* marks behind names */
};

/* The exit status; what went wrong is said. */
int convert_folded(const char *input, const char *output, struct fold_options *o);

#endif
