/*
 * Shared by the files of selections: selection_rows.c reads chunks and visits their rows,
 * selection_weigh.c and selection_cells.c add up. As with selection.h, the run must be held.
 */
#ifndef TACHO_QUERY_SELECTION_INTERNAL_H
#define TACHO_QUERY_SELECTION_INTERNAL_H

#include "query/selection.h"

/* Returns true for a chunk of samples that overlaps the window. */
bool selection_touches(const struct selection *sel, const struct run_chunk *c);
/* Returns true if the histogram of the chunk is enough: all of it is in the window, and CPUs,
 * which a histogram does not know, are not filtered. */
bool selection_whole(const struct selection *sel, const struct run_chunk *c);

/* Decodes the histograms of all whole chunks, for selection_nodes(). */
int selection_histograms(const struct selection *sel, struct run_data *d, struct store *s,
			 struct err *e);
const struct node_histogram *selection_nodes(const struct run_chunk *c);

/*
 * Visits rows of chunks; with @edges only of those that are not whole. @kept, if not NULL, is
 * called first for each chunk, with the wanted kinds (NULL: all). If it returns true, it has
 * handled the chunk.
 */
typedef bool (*selection_kept)(void *ctx, const struct run_rows *rows, size_t from, size_t to,
			       const bool *wanted);
int selection_rows(const struct selection *sel, struct run_data *d, struct store *s, bool edges,
		   const struct row_visitor *visitor, selection_kept kept, struct err *e);
/* Visits the rows of one chunk. */
int selection_chunk(const struct selection *sel, struct run_data *d, struct store *s,
		    struct run_chunk *c, const struct row_visitor *visitor, struct err *e);
/* Reads the histogram that is stored with a merged chunk; the caller releases it. */
int selection_summary(struct store *s, struct run_chunk *c, struct histogram *ret, struct err *e);

#endif
