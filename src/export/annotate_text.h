/*
 * An annotation as text: rows, for whoever has a screen of their own, and all of it as one text with
 * the colours of a terminal. Pure functions; any thread.
 */
#ifndef TACHO_EXPORT_ANNOTATE_TEXT_H
#define TACHO_EXPORT_ANNOTATE_TEXT_H

#include "analyze/annotate/annotate.h"
#include "base/buf.h"
#include "base/term.h"

struct annotate_style {
	struct term term; /* colours, UTF-8; its width cuts lines if it is a terminal */
	enum percent_type percent;
	bool no_source;  /* instructions only */
	bool print_line; /* file and line with every change of line, not only the number */
	bool full_paths; /* of files: else the last part */
	bool no_jumps;   /* no arrows */
};

enum annotate_row_kind {
	ROW_TITLE,   /* the function */
	ROW_NOTE,    /* something to know */
	ROW_HEADING, /* of a part */
	ROW_BLANK,
	ROW_LINE,        /* of the source, with its share; `number` is the line's */
	ROW_SOURCE,      /* of the source, between instructions */
	ROW_INSTRUCTION, /* `number` is the instruction's */
};

/* A row without its share. Strings are valid while it is visited, printable, without colours. */
struct annotate_row {
	enum annotate_row_kind kind;
	bool counted; /* it had samples: `share_pct` is shown */
	bool hottest; /* of its part */
	double share_pct;
	uint32_t number;    /* in lines or instructions; of a ROW_SOURCE the line it shows */
	const char *label;  /* line number or address, padded */
	const char *arrows; /* of an instruction */
	const char *text;
	const char *comment; /* a name: of what is called, of what was inlined; may be empty */
};

/* False from @visit ends it. */
void annotate_rows(const struct annotation *a, const struct annotate_style *style,
		   bool (*visit)(void *ctx, const struct annotate_row *row), void *ctx);

void annotate_render(const struct annotation *a, const struct annotate_style *style,
		     struct buf *out);

/* The name of --percent-type, and back; false: there is none of that name. */
const char *percent_type_name(enum percent_type type);
bool percent_type_parse(const char *name, enum percent_type *ret);

#endif
