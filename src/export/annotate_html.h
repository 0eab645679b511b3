/*
 * Annotations as one page of HTML that needs nothing else: source and code side by side, or one after
 * the other on a narrow screen, with keys to go from one hot place to the next. Everything that came
 * from outside is escaped, and the page forbids itself to load anything. Pure; any thread.
 */
#ifndef TACHO_EXPORT_ANNOTATE_HTML_H
#define TACHO_EXPORT_ANNOTATE_HTML_H

#include "analyze/annotate/annotate.h"
#include "base/buf.h"

struct annotate_page {
	const char *title; /* of the recording */
	enum percent_type percent;
	bool no_source;
};

void annotate_html(const struct annotation *all, size_t count, const struct annotate_page *page,
		   struct buf *out);

#endif
