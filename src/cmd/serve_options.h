/* Options of `tacho serve`, known to both programs. */
#ifndef TACHO_CMD_SERVE_OPTIONS_H
#define TACHO_CMD_SERVE_OPTIONS_H

#include "cmd/command.h"

struct serve_options {
	const char *listen, *data;
};

#endif
