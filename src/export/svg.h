/*
 * The frame of every graph that we draw: one SVG document that needs nothing from outside. Frames are
 * placed by shares of the width, so that the document follows its window; flame.css has the colours
 * for light and dark, flame.js zoom, search and keys. Without a script it is still a picture.
 *
 *	svg_begin(&s, sections, count);
 *	svg_section_begin(&s, 0); svg_frame(&s, &frame)…; svg_section_end(&s);
 *	svg_end(&s, legend, note);
 *
 * Frames of a section are given parent first, siblings from left to right: the script counts on it.
 */
#ifndef TACHO_EXPORT_SVG_H
#define TACHO_EXPORT_SVG_H

#include "export/exporter.h"

#define SVG_ROW_PX       18
#define SVG_MARGIN_PX    10
#define SVG_HEADER_PX    62
#define SVG_HEADING_PX   30 /* above a section that has one */
#define SVG_FOOTER_PX    52
#define SVG_SHADES       8
#define SVG_DEPTH_MAX    1500   /* rows of a section; what is deeper is left out */
#define SVG_FRAMES_MAX   200000 /* of a document */
#define SVG_NARROWEST_PX 0.1

struct svg_section {
	const char *heading; /* NULL: none */
	unsigned rows;
	unsigned y; /* set by svg_begin() */
};

struct svg {
	struct export_out *out;
	const char *title, *subtitle;
	double width;
	bool icicle;
	struct svg_section *sections;
	size_t section_count, section;
	unsigned height;
	uint64_t frames;
};

struct svg_frame {
	double x, width; /* shares of the whole */
	unsigned row;    /* 0: the root */
	char kind;       /* a class of flame.css, with a shade */
	unsigned shade;
	const char *name;
	const char *detail; /* further lines; escaped */
};

void svg_begin(struct svg *s, struct svg_section *sections, size_t count);
void svg_section_begin(struct svg *s, size_t section);
/* False: stop, nobody reads. */
bool svg_frame(struct svg *s, const struct svg_frame *f);
void svg_section_end(struct svg *s);
/* @legend: pairs of a class and its meaning, ended by NULL. @note may be NULL. */
void svg_end(struct svg *s, const char *const *legend, const char *note);

/* Text that came from outside. */
void svg_add_escaped(struct buf *out, const char *text);
/* "12.34 %" */
void svg_add_pct(struct buf *out, double share);
/* The same for a name in every graph. */
unsigned svg_shade_of(const char *name);
/* How much of the whole a frame must be to be drawn. */
double svg_least_share(const struct export_options *o);
/* "12 frames below 0.0085 % are not drawn" */
void svg_add_omitted(struct buf *out, uint64_t frames, const struct export_options *o);

#endif
