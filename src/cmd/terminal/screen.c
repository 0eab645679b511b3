#include "cmd/terminal/screen.h"
#include "base/io.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/terminal/screen_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* More than any terminal has; limits what a hostile window size makes us allocate. */
#define SCREEN_CELLS_MAX (1u << 20)

struct cell {
	uint32_t code; /* 0: not drawn yet; differs from every character */
	uint32_t style;
};

static struct {
	int fd; /* of the terminal; < 0: not open */
	size_t width, height;
	struct cell *want, *seen;
	struct buf out;
	bool colors;
	struct termios before;
} screen = {.fd = -1};

static volatile sig_atomic_t resized, active;

/* Switch to the alternate page without cursor and line wrapping, and back to the usual state. */
static const char enter[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char leave[] = "\033[0m\033[?7h\033[?25h\033[?1049l";

/* ---- taking the terminal and giving it back ---- */

/* Restores the terminal. Runs in signal handlers: only async-signal-safe calls. */
static void give_back(void)
{
	if (!active)
		return;
	active = 0;
	io_write(screen.fd, leave, sizeof(leave) - 1);
	tcsetattr(screen.fd, TCSANOW, &screen.before);
}

static void take(void)
{
	struct termios raw = screen.before;

	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
	raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG | IEXTEN);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	active = 1;
	tcsetattr(screen.fd, TCSANOW, &raw);
	io_write(screen.fd, enter, sizeof(enter) - 1);
	resized = 1;
}

static void on_fatal(int number)
{
	int saved = errno;

	give_back();
	errno = saved;
	/* SA_RESETHAND has removed this handler: now the signal ends the process. */
	raise(number);
}

static void on_resize(int number)
{
	(void)number;
	resized = 1;
}

static const int fatal_signals[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
				    SIGABRT, SIGBUS,  SIGFPE, SIGILL,  SIGPIPE};

static void handle_signals(void)
{
	struct sigaction fatal = {.sa_handler = on_fatal, .sa_flags = SA_RESETHAND | SA_NODEFER};
	struct sigaction quiet = {.sa_handler = on_resize}, old;

	for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++)
		/* Code that handles a signal already must close the screen itself. */
		if (!sigaction(fatal_signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &fatal, NULL);
	sigaction(SIGWINCH, &quiet, NULL);
	sigaction(SIGCONT, &quiet, NULL);
}

static void release_signals(void)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, old;

	for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++)
		if (!sigaction(fatal_signals[i], NULL, &old) && old.sa_handler == on_fatal)
			sigaction(fatal_signals[i], &usual, NULL);
	sigaction(SIGWINCH, &usual, NULL);
	sigaction(SIGCONT, &usual, NULL);
}

static void measure(void)
{
	struct winsize size = {};
	size_t cells;

	screen.width = 80;
	screen.height = 24;
	if (!ioctl(screen.fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row &&
	    (size_t)size.ws_col * size.ws_row <= SCREEN_CELLS_MAX) {
		screen.width = size.ws_col;
		screen.height = size.ws_row;
	}
	cells = screen.width * screen.height;
	screen.want = xrealloc(screen.want, cells, sizeof(*screen.want));
	screen.seen = xrealloc(screen.seen, cells, sizeof(*screen.seen));
	memset(screen.seen, 0, cells * sizeof(*screen.seen));
	screen_clear();
}

int screen_open(struct err *e)
{
	const char *kind = getenv("TERM"), *plain = getenv("NO_COLOR");
	static bool at_exit;

	if (kind && !strcmp(kind, "dumb"))
		return err_set(e, ENOTTY,
			       "this terminal (TERM=dumb) cannot show an interactive screen");
	screen.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (screen.fd < 0 || tcgetattr(screen.fd, &screen.before)) {
		if (screen.fd >= 0)
			close(screen.fd);
		screen.fd = -1;
		return err_set(e, ENOTTY, "an interactive screen needs a terminal");
	}
	screen.colors = !(plain && *plain);
	if (!at_exit)
		atexit(screen_close);
	at_exit = true;
	handle_signals();
	take();
	measure();
	resized = 0;
	return 0;
}

void screen_close(void)
{
	if (screen.fd < 0)
		return;
	give_back();
	release_signals();
	close(screen.fd);
	screen.fd = -1;
	free(screen.want);
	free(screen.seen);
	screen.want = screen.seen = NULL;
	buf_release(&screen.out);
}

size_t screen_width(void)
{
	return screen.width;
}

size_t screen_height(void)
{
	return screen.height;
}

int screen_fd(void)
{
	return screen.fd;
}

/* ---- drawing ---- */

void screen_clear(void)
{
	for (size_t i = 0; i < screen.width * screen.height; i++)
		screen.want[i] = (struct cell){' ', SCREEN_PLAIN};
}

/* Characters that take two cells, or none; they are drawn as '?'. */
static bool is_odd(uint32_t code)
{
	return (code >= 0x300 && code < 0x370) || (code >= 0x1100 && code < 0x1160) ||
	       (code >= 0x200b && code < 0x2010) || (code >= 0x2028 && code < 0x202f) ||
	       (code >= 0x2e80 && code < 0xa4d0) || (code >= 0xac00 && code < 0xd7a4) ||
	       (code >= 0xf900 && code < 0xfb00) || (code >= 0xfe00 && code < 0xfe70) ||
	       (code >= 0xff00 && code < 0xff61) || code >= 0x1f000;
}

static uint32_t next_code(const unsigned char **at)
{
	const unsigned char *s = *at;
	size_t len = text_utf8_len(s);
	uint32_t code;

	*at += len ? len : 1;
	if (!len || *s < 0x20 || *s == 0x7f)
		return '?';
	if (len == 1)
		return *s;
	code = *s & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3fu);
	return code < 0xa0 || is_odd(code) ? '?' : code;
}

size_t screen_put(size_t row, size_t column, unsigned style, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (row >= screen.height)
		return column;
	while (*s && column < screen.width)
		screen.want[row * screen.width + column++] = (struct cell){next_code(&s), style};
	return column;
}

size_t screen_putf(size_t row, size_t column, unsigned style, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	return screen_put(row, column, style, buf_str(&text));
}

void screen_fill(size_t row, size_t column, unsigned style)
{
	if (row >= screen.height)
		return;
	for (; column < screen.width; column++)
		screen.want[row * screen.width + column] = (struct cell){' ', style};
}

static void add_code(struct buf *out, uint32_t code)
{
	if (code < 0x80) {
		buf_add_char(out, (char)code);
	} else if (code < 0x800) {
		buf_add_char(out, (char)(0xc0 | code >> 6));
		buf_add_char(out, (char)(0x80 | (code & 0x3f)));
	} else {
		if (code < 0x10000) {
			buf_add_char(out, (char)(0xe0 | code >> 12));
		} else {
			buf_add_char(out, (char)(0xf0 | code >> 18));
			buf_add_char(out, (char)(0x80 | (code >> 12 & 0x3f)));
		}
		buf_add_char(out, (char)(0x80 | (code >> 6 & 0x3f)));
		buf_add_char(out, (char)(0x80 | (code & 0x3f)));
	}
}

static void add_style(struct buf *out, uint32_t style)
{
	buf_add(out, "\033[0");
	if (style & SCREEN_BOLD)
		buf_add(out, ";1");
	if (style & SCREEN_DIM)
		buf_add(out, ";2");
	if (style & SCREEN_UNDERLINE)
		buf_add(out, ";4");
	if (style & SCREEN_REVERSE)
		buf_add(out, ";7");
	if ((style & SCREEN_COLORS) && screen.colors)
		buf_addf(out, ";3%u", style & SCREEN_COLORS);
	buf_add_char(out, 'm');
}

void screen_show(void)
{
	struct buf *out = &screen.out;
	uint32_t style = ~0u;
	size_t cells = screen.width * screen.height, cursor = cells;

	buf_clear(out);
	for (size_t i = 0; i < cells; i++) {
		if (screen.want[i].code == screen.seen[i].code &&
		    screen.want[i].style == screen.seen[i].style)
			continue;
		/* The cursor does not wrap at the end of a row: always address a new row. */
		if (i != cursor || i % screen.width == 0)
			buf_addf(out, "\033[%zu;%zuH", i / screen.width + 1, i % screen.width + 1);
		if (screen.want[i].style != style)
			add_style(out, style = screen.want[i].style);
		add_code(out, screen.want[i].code);
		cursor = i + 1;
		screen.seen[i] = screen.want[i];
	}
	if (style != ~0u)
		add_style(out, SCREEN_PLAIN);
	io_write(screen.fd, buf_str(out), out->len);
}

/* ---- keys ---- */

static void suspend(void)
{
	give_back();
	raise(SIGSTOP);
	take();
}

int screen_key(int timeout_ms)
{
	for (;;) {
		int key;

		if (resized) {
			resized = 0;
			measure();
			return KEY_RESIZE;
		}
		key = keys_read(screen.fd, timeout_ms);
		if (key == 26) {
			suspend();
			continue;
		}
		if (key == KEY_CTRL_L) {
			memset(screen.seen, 0, screen.width * screen.height * sizeof(*screen.seen));
			return KEY_RESIZE;
		}
		if (key != KEY_NONE || !resized)
			return key;
	}
}

static void drop_last(struct buf *text)
{
	while (text->len && ((unsigned char)text->s[text->len - 1] & 0xc0) == 0x80)
		text->s[--text->len] = '\0';
	if (text->len)
		text->s[--text->len] = '\0';
}

bool screen_ask(size_t row, const char *label, struct buf *text)
{
	for (;;) {
		size_t column = screen_put(row, 0, SCREEN_BOLD, label);
		int key;

		column = screen_put(row, column, SCREEN_PLAIN, buf_str(text));
		column = screen_put(row, column, SCREEN_REVERSE, " ");
		screen_fill(row, column, SCREEN_PLAIN);
		screen_show();
		key = screen_key(-1);
		if (key == KEY_ENTER)
			return true;
		if (key == KEY_ESCAPE || key == KEY_CTRL_C || key == KEY_GONE)
			return false;
		if (key == KEY_BACKSPACE)
			drop_last(text);
		else if (key == 21) /* Ctrl-U, as in a shell */
			buf_clear(text);
		else if (key >= 0x20 && key < KEY_UP)
			add_code(text, (uint32_t)key);
	}
}
