/* A bar on standard error for work that takes longer than a second; nothing in a pipe. */
#ifndef TACHO_CMD_TERMINAL_PROGRESS_H
#define TACHO_CMD_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* "reading" */
	uint64_t begun_ns;
	bool off, shown;
};

struct progress progress_of(const char *what);
/* A callback for struct perfdata_options; @ctx is a struct progress. */
void progress_show(void *ctx, uint64_t done, uint64_t total);
void progress_clear(struct progress *p);

#endif
