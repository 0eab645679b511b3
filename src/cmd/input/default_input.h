/*
 * Chooses the recording to read when the user names none: a pipe on standard input, else perf.data
 * in the current directory, as perf does. One thread.
 */
#ifndef TACHO_CMD_INPUT_DEFAULT_INPUT_H
#define TACHO_CMD_INPUT_DEFAULT_INPUT_H

#include "base/err.h"

/*
 * Sets *@ret to @given, or if that is NULL to "-" or "perf.data". Waits for the first byte of a
 * pipe, and says so on stderr if none comes soon: scripts, cron and ssh often leave an unused pipe
 * on standard input. Returns -ENODATA for a pipe that was closed without a byte.
 */
int default_input(const char *given, const char **ret, struct err *e);

#endif
