/*
 * The terminal as a grid of cells, for `report --tui` and `top`: text is put into the grid, and
 * screen_show() sends the cells that have changed. Keys are read one at a time. Only control
 * sequences that all current terminals share are used, so nothing has to be loaded at the start.
 *
 * There is one screen per process, for the main thread only. The terminal is restored by
 * screen_close(), at exit, and by any signal that ends the process, a crash included. Standard
 * input and output are not used, because a recording may come through them.
 */
#ifndef TACHO_CMD_TERMINAL_SCREEN_H
#define TACHO_CMD_TERMINAL_SCREEN_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A style is a colour or-ed with any of the bits below it. NO_COLOR turns the colours off. */
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
	KEY_NONE = -1, /* no key within the timeout */
	KEY_TAB = 9,
	KEY_ENTER = 13,
	KEY_CTRL_C = 3, /* the user wants to quit */
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

/* Returns -ENOTTY without a terminal, or with one that cannot move its cursor (TERM=dumb). */
int screen_open(struct err *e);
void screen_close(void);

size_t screen_width(void);
size_t screen_height(void);

/* Empties the grid; nothing is seen before screen_show(). */
void screen_clear(void);
/*
 * Puts text at a position, cut off at the right edge. Returns the column after it. Control
 * characters, invalid UTF-8 and wide characters become '?'. Positions outside are ignored.
 */
size_t screen_put(size_t row, size_t column, unsigned style, const char *text);
size_t screen_putf(size_t row, size_t column, unsigned style, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Fills a row from @column on with blanks in one style. */
void screen_fill(size_t row, size_t column, unsigned style);
void screen_show(void);

/* Waits for a key; @timeout_ms < 0: without limit. Handles Ctrl-Z (suspend) itself. */
int screen_key(int timeout_ms);
/* For a caller's own poll(2): becomes readable when a key is pressed; then call screen_key(0). */
int screen_fd(void);

/*
 * Asks for a line of text in the given row; @text is the initial text, and then what was typed.
 * Returns false if the user pressed Escape or Ctrl-C.
 */
bool screen_ask(size_t row, const char *label, struct buf *text);

#endif
