/*
 * A difference as a flame graph: red where there is more than before, blue where there is less. What
 * exists only on the other side has no width there, so it is a second graph below the first.
 */
#ifndef TACHO_EXPORT_SVG_DIFF_H
#define TACHO_EXPORT_SVG_DIFF_H

#include "analyze/tree/diff.h"
#include "export/exporter.h"

struct diff_svg_options {
	struct export_options export;
	const char *names[2]; /* what the two are called */
	bool negate;          /* widths are those of before; the second graph is of what is new */
};

void export_diff_svg(const struct diff *d, const struct diff_svg_options *o,
		     struct export_out *out);

#endif
