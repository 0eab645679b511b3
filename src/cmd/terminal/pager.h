/* Long text on a terminal goes through $PAGER (or less); in a pipe it is simply written. */
#ifndef TACHO_CMD_TERMINAL_PAGER_H
#define TACHO_CMD_TERMINAL_PAGER_H

#include "base/buf.h"

#include <sys/types.h>

/* Writes @text to standard output and empties it; false if the reader went away. */
bool pager_show(struct buf *text);

/* For text that comes bit by bit: where to write it, and what ends it. */
struct pager {
	int fd;
	pid_t child; /* 0: there is none, fd is standard output */
};

void pager_begin(struct pager *p);
/* Waits until the user has seen enough. */
void pager_end(struct pager *p);

#endif
