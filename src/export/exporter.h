/*
 * Formats that a view can be written in. To add one: write src/export/NAME.c with
 * `const struct exporter export_NAME = {…}`, declare it below, and add it to exporters[] in exporter.c
 * and to meson.build; `tacho flame --format` and its help know it then.
 *
 * An exporter only reads the view. It writes through struct export_out, which the caller owns.
 */
#ifndef TACHO_EXPORT_EXPORTER_H
#define TACHO_EXPORT_EXPORTER_H

#include "analyze/tree/view.h"
#include "base/buf.h"
#include "base/err.h"

/* Where bytes go. Exporters add to `buf` and call export_flush_full() now and then. */
struct export_out {
	struct buf buf;
	bool (*write)(void *ctx, struct buf *bytes); /* empties it; false: nobody reads any more */
	void *ctx;
	bool failed;
};

enum export_palette { PALETTE_KIND, PALETTE_MODULE, PALETTE_GREY };

struct export_options {
	const char *title, *subtitle;
	double width;         /* SVG: pixels that it is laid out for, 0: 1200 */
	double min_pct;       /* frames below are left out; 0: by the width */
	bool all;             /* however narrow they are */
	bool icicle;          /* SVG: the root on top */
	bool annotate;        /* folded: _[k], _[j] and _[i] behind names; */
	bool annotate_kernel; /* or only _[k] */
	enum export_palette palette;
};

struct exporter {
	const char *name, *summary;
	const char *extension;
	enum name_style style; /* that the view has to be built with */
	int (*run)(const struct view *v, const struct export_options *o, struct export_out *out,
		   struct err *e);
};

extern const struct exporter export_folded, export_json, export_svg;
extern const struct exporter *const exporters[]; /* ended by NULL */

const struct exporter *exporter_find(const char *name);

#define EXPORT_BLOCK_BYTES (256u << 10)

/* Hands on what has gathered, if it is much; false: stop, nobody reads. */
static inline bool export_flush_full(struct export_out *out)
{
	if (out->buf.len >= EXPORT_BLOCK_BYTES && !out->write(out->ctx, &out->buf))
		out->failed = true;
	return !out->failed;
}

#endif
