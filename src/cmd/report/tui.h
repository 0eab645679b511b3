/*
 * The interactive browser of `tacho report --tui`: a list of entries whose chains can be opened.
 * The list of visible lines is rebuilt whenever something is opened, closed or filtered.
 */
#ifndef TACHO_CMD_REPORT_TUI_H
#define TACHO_CMD_REPORT_TUI_H

#include "cmd/report/report.h"

/* The chains of an entry, built when it is first opened. */
struct tui_chains {
	struct chains chains;
	bool *open; /* by node; node 0 is the entry itself */
};

struct tui_line {
	uint32_t entry; /* index in report.entries */
	uint32_t node;  /* of the entry's chains; 0: the entry itself */
	uint32_t indent;
	bool straight; /* only child with all of its parent's weight: shown without a share */
};

struct tui {
	struct report_view *view;
	size_t section;             /* index in report.sections */
	struct tui_chains **opened; /* by entry; NULL: never opened */
	VEC(struct tui_line) lines;
	size_t top, cursor; /* lines */
	char *zoom_comm, *zoom_dso, *find;
	struct buf status; /* message in the last row, until the next key */
	bool quit;
};

static inline const struct report_section *tui_section(const struct tui *t)
{
	return &t->view->report.sections.items[t->section];
}

/* tui.c: the lines, and which chains are open */
void tui_make_lines(struct tui *t);
bool tui_can_open(struct tui *t, const struct tui_line *line);
bool tui_is_open(const struct tui *t, const struct tui_line *line);
void tui_open(struct tui *t, const struct tui_line *line, bool open);
void tui_open_all(struct tui *t, uint32_t entry, bool open);
/* Builds the report again. Call this after the filters or the order have changed. */
void tui_rebuild(struct tui *t);

/* tui_draw.c */
void tui_draw(struct tui *t);
void tui_help(void);

/* tui_keys.c */
void tui_key(struct tui *t, int key);

#endif
