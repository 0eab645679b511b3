/*
 * What the two parts of selections share: selection_rows.c reads chunks and visits their rows,
 * selection_weigh.c adds up. As with selection.h, the run is held.
 */
#ifndef TACHO_QUERY_SELECTION_INTERNAL_H
#define TACHO_QUERY_SELECTION_INTERNAL_H

#include "query/selection.h"

/* A chunk of samples that the window has a part of. */
bool selection_touches(const struct selection *sel, const struct run_chunk *c);
/* All its samples are meant, and its histogram can say which thread they are of. */
bool selection_whole(const struct selection *sel, const struct run_chunk *c);

/* Histograms of all chunks that are whole are there afterwards. */
int selection_histograms(const struct selection *sel, struct run_data *d, struct store *s,
			 struct err *e);
const struct node_histogram *selection_nodes(const struct run_chunk *c);

/*
 * Visits rows of chunks; with @edges only of those that are not whole. @kept, if there is one, is
 * asked first, with the kinds that are wanted (NULL: all); true: it has done it without looking at each.
 */
typedef bool (*selection_kept)(void *ctx, const struct run_rows *rows, size_t from, size_t to,
			       const bool *wanted);
int selection_rows(const struct selection *sel, struct run_data *d, struct store *s, bool edges,
		   const struct row_visitor *visitor, selection_kept kept, struct err *e);
/* Those of one chunk. */
int selection_chunk(const struct selection *sel, struct run_data *d, struct store *s,
		    struct run_chunk *c, const struct row_visitor *visitor, struct err *e);
/* The histogram that is stored beside a merged chunk; the caller releases it. */
int selection_summary(struct store *s, struct run_chunk *c, struct histogram *ret, struct err *e);

#endif
