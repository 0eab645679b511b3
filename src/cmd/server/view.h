/*
 * The private server of `tacho view`. A process of its own, the keeper, starts it and waits: when we end,
 * in whatever way, it ends the server and removes the directory with all that is in it. It has a
 * session of its own, so that Ctrl-C on the terminal does not reach it. A keeper that is killed takes
 * the server with it; we, or the next `tacho view`, remove what it left.
 */
#ifndef TACHO_CMD_SERVER_VIEW_H
#define TACHO_CMD_SERVER_VIEW_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct private_server {
	char *directory;
	char *url; /* with the token */
	pid_t keeper;
	int keeper_fd; /* closed: it cleans up. End of file: it has gone. */
};

/* Where there is room for @bytes. */
int private_server_start(struct private_server *s, uint64_t bytes, struct err *e);
/* Until all of it is gone. */
void private_server_stop(struct private_server *s);

#endif
