/* What the output stream can do: width, colours. Colours are off in a pipe and with NO_COLOR. */
#ifndef TACHO_BASE_TERM_H
#define TACHO_BASE_TERM_H

#include <stdbool.h>
#include <stddef.h>

struct term {
	bool tty;
	bool utf8;
	size_t width, height;
	/* Escape sequences, or empty strings. */
	const char *bold, *dim, *red, *green, *yellow, *blue, *reset;
};

struct term term_of(int fd);

#endif
