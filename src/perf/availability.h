/*
 * Can an event be opened here and now? Found out by opening it. Tracepoints are asked once for
 * all of them, and in a way that the kernel answers without setting one up: to take a tracepoint
 * down again would make us wait for tens of milliseconds.
 */
#ifndef TACHO_PERF_AVAILABILITY_H
#define TACHO_PERF_AVAILABILITY_H

#include "event/catalog.h"

struct availability {
	const struct roots *roots;
	bool tracepoint_known;
	int tracepoint_code;
};

/* 0 if it can be opened, else a positive errno. -1: not tested (another machine's files). */
int availability_of(struct availability *a, const struct catalog_entry *entry);

#endif
