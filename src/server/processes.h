/* Lists the processes of this machine, from /proc, for choosing one to attach to. Any thread. */
#ifndef TACHO_SERVER_PROCESSES_H
#define TACHO_SERVER_PROCESSES_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process_row {
	int pid;
	char *command; /* command line, quoted as for a shell; kernel threads: name in brackets */
	char *comm;
	char *user;
	unsigned threads;
	double cpu_s;
	int64_t started_ms; /* wall clock */
	bool mine;          /* of the user that workloads run as, too */
};

typedef VEC(struct process_row) process_rows;

/*
 * Adds at most @limit processes with pids below @before (0: any), largest pid first. @search (NULL:
 * all) must occur in the command, name or user, or equal the pid. Sets *ret_more if more processes
 * match. @mine: whom workloads run as.
 */
void processes_read(const char *search, uid_t mine, int before, unsigned limit, process_rows *ret,
		    bool *ret_more);
void processes_release(process_rows *rows);

#endif
