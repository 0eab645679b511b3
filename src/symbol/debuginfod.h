/*
 * Fetches files by build id from the servers in $DEBUGINFOD_URLS. Uses libdebuginfod, which is
 * loaded when first needed. A server that does not answer costs a bounded time, once: after that
 * no more requests are sent.
 *
 * Any thread; requests are sent one after the other. The caller frees the path.
 */
#ifndef TACHO_SYMBOL_DEBUGINFOD_H
#define TACHO_SYMBOL_DEBUGINFOD_H

#include "perf/build_id.h"

#define DEBUGINFOD_ANSWER_S   10  /* for a server to begin to send */
#define DEBUGINFOD_DOWNLOAD_S 120 /* for one file */

enum debuginfod_kind {
	DEBUGINFOD_PROGRAM,
	DEBUGINFOD_DEBUG,
};

bool debuginfod_is_wanted(void); /* $DEBUGINFOD_URLS is set */

/* Returns a path in the library's own cache; NULL if no server has the file, or none answers. */
char *debuginfod_find(const struct build_id *id, enum debuginfod_kind kind);

#endif
