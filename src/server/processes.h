/* The processes of this machine, from /proc, for those who want to attach to one. Any thread. */
#ifndef TACHO_SERVER_PROCESSES_H
#define TACHO_SERVER_PROCESSES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct process_row {
	int pid;
	char *command; /* as it could be typed; of a kernel thread its name in brackets */
	char *comm;
	char *user;
	unsigned threads;
	double cpu_s;
	int64_t started_ms; /* wall clock */
	bool mine;          /* runs as the server's own user */
};

typedef VEC(struct process_row) process_rows;

/*
 * Adds at most @limit of those with pids below @before (0: all), largest pid first, that have
 * @search (NULL: all) in command, name, user or as pid. *ret_more: there are others behind them.
 */
void processes_read(const char *search, int before, unsigned limit, process_rows *ret,
		    bool *ret_more);
void processes_release(process_rows *rows);

#endif
