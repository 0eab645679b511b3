/* Shared by the files of `tacho run`: run.c makes the plan and submits it, run_follow.c
 * follows the run. */
#ifndef TACHO_CMD_SERVER_RUN_H
#define TACHO_CMD_SERVER_RUN_H

#include "cmd/server/client.h"

/* Follows @run until it ends: passes its output through, shows its progress, cancels it at Ctrl-C.
 * Returns the status to exit with. */
int run_follow(struct connection *c, const json_t *run, bool quiet);

#endif
