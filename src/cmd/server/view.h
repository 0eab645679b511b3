/*
 * The private server of `tacho view`. A separate process, the keeper, starts the server and waits:
 * when `tacho view` ends, in whatever way, the keeper ends the server and removes its directory.
 * The keeper has a session of its own, so that Ctrl-C on the terminal does not reach it. If the
 * keeper is killed, the server ends too, and this or the next `tacho view` removes the directory.
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
	int keeper_fd; /* closing it makes the keeper clean up; end of file: the keeper ended */
};

/* Puts the server's directory where there is room for @bytes. */
int private_server_start(struct private_server *s, uint64_t bytes, struct err *e);
/* Returns when the server and its directory are gone. */
void private_server_stop(struct private_server *s);

#endif
