/* Shared by the files of `tacho run`: run.c makes the plan and submits it, run_follow.c
 * watches it. */
#ifndef TACHO_CMD_SERVER_RUN_H
#define TACHO_CMD_SERVER_RUN_H

#include "cmd/server/client.h"

/* Until it has ended: passes its output through, shows how far it is, cancels it at Ctrl-C. Gives the
 * status to exit with. */
int run_follow(struct connection *c, const json_t *run, bool quiet);

#endif
