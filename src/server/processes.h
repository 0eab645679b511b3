/* Lists the processes of this machine, from /proc, for choosing one to attach to. Any thread. */
#ifndef TACHO_SERVER_PROCESSES_H
#define TACHO_SERVER_PROCESSES_H

#include "base/as_user.h"
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

struct process_query {
	/* Must occur in the command, name or user, or equal the pid. NULL: all. */
	const char *search;
	int before; /* only pids below; 0: any */
	unsigned limit;
	uid_t mine;                    /* whom workloads run as */
	const struct user_ids *viewer; /* only processes that this user sees; NULL: that we see */
};

/* Adds processes, largest pid first. Sets *ret_more if more match than the limit allows. */
void processes_read(const struct process_query *q, process_rows *ret, bool *ret_more);
void processes_release(process_rows *rows);

#endif
