/* What a person types into a search box, for LIKE. */
#ifndef TACHO_STORE_SEARCH_H
#define TACHO_STORE_SEARCH_H

#include "base/buf.h"
#include "base/err.h"

#define SEARCH_BYTES_MAX 1000

/* A pattern for `LOWER(x) LIKE pattern ESCAPE '\'`; NULL or "" finds everything. */
int search_pattern(const char *search, struct buf *out, struct err *e);

#endif
