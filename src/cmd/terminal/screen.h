/*
 * The terminal as a grid of cells, for `report --tui` and `top`: text is put into the grid, and
 * screen_show() sends what has changed. Keys come one at a time. It speaks the control sequences
 * that all of today's terminals share, so nothing has to be loaded at the start.
 *
 * There is one screen a process: everything here is for the main thread. The terminal is given back
 * by screen_close(), at exit, and by any signal that ends the process, a crash included. Standard
 * input and output are left alone, because a recording may come through them.
 */
#ifndef TACHO_CMD_TERMINAL_SCREEN_H
#define TACHO_CMD_TERMINAL_SCREEN_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A style is a colour with any of the bits behind it. With NO_COLOR only the bits are seen. */
enum screen_style {
	SCREEN_PLAIN,
	SCREEN_RED,
	SCREEN_GREEN,
	SCREEN_YELLOW,
	SCREEN_BLUE,
	SCREEN_MAGENTA,
	SCREEN_CYAN,
	SCREEN_WHITE,
	SCREEN_COLORS = 7, /* mask of the above */
	SCREEN_BOLD = 8,
	SCREEN_DIM = 16,
	SCREEN_REVERSE = 32,
	SCREEN_UNDERLINE = 64,
};

/* Keys are characters (Unicode), or one of these. */
enum screen_key {
	KEY_NONE = -1, /* the time is over */
	KEY_TAB = 9,
	KEY_ENTER = 13,
	KEY_CTRL_C = 3, /* the user wants to end it */
	KEY_CTRL_L = 12,
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_DELETE,
	KEY_RESIZE, /* the size has changed, or all was overwritten: draw again */
	KEY_GONE,   /* the terminal has gone away */
	KEY_UNKNOWN,
};

/* -ENOTTY without a terminal, or with one that cannot move its cursor. */
int screen_open(struct err *e);
void screen_close(void);

size_t screen_width(void);
size_t screen_height(void);

/* Empties the grid; nothing is seen before screen_show(). */
void screen_clear(void);
/*
 * Puts text at a place, cut off at the right edge, and returns the column behind it. Controls and
 * what is not UTF-8 become '?'. Rows and columns outside are ignored.
 */
size_t screen_put(size_t row, size_t column, unsigned style, const char *text);
size_t screen_putf(size_t row, size_t column, unsigned style, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* The rest of a row, from a column on, in one style. */
void screen_fill(size_t row, size_t column, unsigned style);
void screen_show(void);

/* Waits for a key; @timeout_ms < 0: for as long as it takes. Ctrl-Z is taken care of here. */
int screen_key(int timeout_ms);
/* Becomes readable with a key, for a poll(2) of one's own; then ask screen_key(0). */
int screen_fd(void);

/*
 * Asks for a line of text in the given row; @text is what stands there first, and what was typed.
 * False if the user pressed Escape.
 */
bool screen_ask(size_t row, const char *label, struct buf *text);

#endif
