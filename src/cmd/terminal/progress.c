#include "cmd/terminal/progress.h"
#include "base/clock.h"
#include "base/term.h"
#include "cmd/command.h"

#include <unistd.h>

#define BAR_COLUMNS 30
#define WAIT_NS     NS_PER_SEC

struct progress progress_of(const char *what)
{
	return (struct progress){
		.what = what,
		.begun_ns = clock_now_ns(),
		.off = !term_of(STDERR_FILENO).tty,
	};
}

void progress_show(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;
	CLEANUP(buf_release) struct buf line = {};

	if (p->off || clock_now_ns() - p->begun_ns < WAIT_NS)
		return;
	buf_addf(&line, "\r%s ", p->what);
	if (total && done <= total) {
		size_t filled = (size_t)((double)done / (double)total * BAR_COLUMNS);

		buf_add_char(&line, '[');
		buf_pad(&line, filled, '#');
		buf_pad(&line, BAR_COLUMNS - filled, '.');
		buf_addf(&line, "] %3.0f %%", 100.0 * (double)done / (double)total);
	} else {
		buf_add_size(&line, done);
	}
	buf_add(&line, "\033[K");
	p->shown = command_flush(&line, STDERR_FILENO);
}

void progress_clear(struct progress *p)
{
	CLEANUP(buf_release) struct buf line = {};

	if (!p->shown)
		return;
	buf_add(&line, "\r\033[K");
	command_flush(&line, STDERR_FILENO);
	p->shown = false;
}
