#include "base/term.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_utf8(void)
{
	const char *lang = getenv("LC_ALL");

	/* Without setlocale(): loading locales costs a good part of our start-up time. */
	if (!lang || !*lang)
		lang = getenv("LC_CTYPE");
	if (!lang || !*lang)
		lang = getenv("LANG");
	return !lang || strcasestr(lang, "utf-8") || strcasestr(lang, "utf8");
}

struct term term_of(int fd)
{
	struct term t = {.width = 80, .height = 24, .bold = "", .dim = "", .red = "", .green = ""};
	const char *columns = getenv("COLUMNS"), *kind = getenv("TERM");
	const char *plain = getenv("NO_COLOR");
	struct winsize size;

	t.yellow = t.blue = t.reset = "";
	t.tty = isatty(fd);
	t.utf8 = is_utf8();
	if (t.tty && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		t.width = size.ws_col;
		t.height = size.ws_row;
	} else if (columns && atoi(columns) > 20) {
		t.width = (size_t)atoi(columns);
	}
	if (!t.tty || (plain && *plain) || (kind && !strcmp(kind, "dumb")))
		return t;
	t.bold = "\033[1m";
	t.dim = "\033[2m";
	t.red = "\033[31m";
	t.green = "\033[32m";
	t.yellow = "\033[33m";
	t.blue = "\033[34m";
	t.reset = "\033[0m";
	return t;
}
