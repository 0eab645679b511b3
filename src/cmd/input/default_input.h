/*
 * Which recording a command reads when the user names none: what comes by a pipe on standard input,
 * else perf.data in this directory, as with perf. One thread.
 */
#ifndef TACHO_CMD_INPUT_DEFAULT_INPUT_H
#define TACHO_CMD_INPUT_DEFAULT_INPUT_H

#include "base/err.h"

/*
 * Sets *@ret to @given, or if that is NULL to "-" or "perf.data". For a pipe it waits until the first
 * byte is there, and says on stderr what it waits for if none comes soon: scripts, cron and ssh often
 * leave an unused pipe on standard input. Returns -ENODATA for a pipe that was closed without a byte.
 */
int default_input(const char *given, const char **ret, struct err *e);

#endif
