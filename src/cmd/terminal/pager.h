/* Long text on a terminal goes through $PAGER (or less); in a pipe it is simply written. */
#ifndef TACHO_CMD_TERMINAL_PAGER_H
#define TACHO_CMD_TERMINAL_PAGER_H

#include "base/buf.h"

#include <sys/types.h>

/* Writes @text to standard output and empties it. Returns false if writing failed. */
bool pager_show(struct buf *text);

/* For text that is written piece by piece, to fd, between pager_begin() and pager_end(). */
struct pager {
	int fd;
	pid_t child; /* 0: no pager, fd is standard output */
};

void pager_begin(struct pager *p);
/* Waits until the user has left the pager. */
void pager_end(struct pager *p);

#endif
