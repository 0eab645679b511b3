/*
 * Files by build id from the servers of $DEBUGINFOD_URLS, through libdebuginfod, which is loaded when
 * first needed. A server that does not answer costs a bounded time, once: then no more is asked.
 *
 * Any thread; questions are asked one after the other. The caller frees the path.
 */
#ifndef TACHO_SYMBOL_DEBUGINFOD_H
#define TACHO_SYMBOL_DEBUGINFOD_H

#include "perf/build_id.h"

#define DEBUGINFOD_ANSWER_S   10  /* without any byte from a server */
#define DEBUGINFOD_DOWNLOAD_S 120 /* for one file */

enum debuginfod_kind {
	DEBUGINFOD_PROGRAM,
	DEBUGINFOD_DEBUG,
};

bool debuginfod_is_wanted(void); /* servers are set */

/* Path in the library's own cache; NULL: nobody has it. */
char *debuginfod_find(const struct build_id *id, enum debuginfod_kind kind);

#endif
