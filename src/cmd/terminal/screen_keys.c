#include "cmd/terminal/screen_keys.h"
#include "cmd/terminal/screen.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* Time for the rest of a sequence to follow ESC; after that it was the Escape key itself. */
#define ESCAPE_MS 40

static struct {
	unsigned char bytes[64];
	size_t at, len;
} input;

/* Returns the next byte, -1 if none comes in time, or -2 if the terminal has gone. */
static int next_byte(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n;

	if (input.at < input.len)
		return input.bytes[input.at++];
	if (poll(&p, 1, timeout_ms) <= 0)
		return -1;
	n = read(fd, input.bytes, sizeof(input.bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return -1;
	/* With VMIN 0 a read of 0 bytes is not the end: only a hang-up or an error is. */
	if (n <= 0)
		return n < 0 || (p.revents & (POLLHUP | POLLERR)) ? -2 : -1;
	input.at = 1;
	input.len = (size_t)n;
	return input.bytes[0];
}

/* ESC [ number ~ */
static int numbered_key(unsigned number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 3:
		return KEY_DELETE;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	default:
		return KEY_UNKNOWN;
	}
}

static int lettered_key(int letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'M':
		return KEY_ENTER;
	default:
		return KEY_UNKNOWN;
	}
}

/* Reads what follows "ESC [": numbers, then the final byte. Modifiers are ignored. */
static int control_sequence(int fd)
{
	unsigned number = 0;
	bool first = true;

	for (;;) {
		int c = next_byte(fd, ESCAPE_MS);

		if (c < 0)
			return KEY_UNKNOWN;
		if (c >= '0' && c <= '9') {
			if (first && number < 1000)
				number = number * 10 + (unsigned)(c - '0');
		} else if (c == ';') {
			first = false;
		} else if (c >= 0x40 && c <= 0x7e) {
			return c == '~' ? numbered_key(number) : lettered_key(c);
		}
	}
}

static int escape_sequence(int fd)
{
	int c = next_byte(fd, ESCAPE_MS);

	if (c < 0)
		return KEY_ESCAPE;
	if (c == '[')
		return control_sequence(fd);
	if (c == 'O')
		return lettered_key(next_byte(fd, ESCAPE_MS));
	return KEY_UNKNOWN; /* Alt with a key */
}

static int utf8_key(int fd, int first)
{
	int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	int code = first & (0x3f >> more);

	while (more-- > 0) {
		int c = next_byte(fd, ESCAPE_MS);

		if (c < 0 || (c & 0xc0) != 0x80)
			return KEY_UNKNOWN;
		code = code << 6 | (c & 0x3f);
	}
	return code < 0x110000 ? code : KEY_UNKNOWN;
}

int keys_read(int fd, int timeout_ms)
{
	int c = next_byte(fd, timeout_ms);

	if (c == -1)
		return KEY_NONE;
	if (c == -2)
		return KEY_GONE;
	if (c == KEY_ESCAPE)
		return escape_sequence(fd);
	if (c == '\n')
		return KEY_ENTER;
	if (c == '\b')
		return KEY_BACKSPACE;
	return c >= 0xc0 && c < 0xf8 ? utf8_key(fd, c) : c >= 0x80 ? KEY_UNKNOWN : c;
}
