/* Long text on a terminal goes through $PAGER (or less); in a pipe it is simply written. */
#ifndef TACHO_CMD_PAGER_H
#define TACHO_CMD_PAGER_H

#include "base/buf.h"

/* Writes @text to standard output and empties it; false if the reader went away. */
bool pager_show(struct buf *text);

#endif
