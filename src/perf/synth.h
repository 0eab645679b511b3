/*
 * Records as the kernel would have sent them, for what was there before recording began: threads,
 * executable mappings, the kernel and its modules. They have the time 0, so they may be written
 * before or after those of the kernel.
 *
 * Nothing waits for another process, except that the kernel makes us wait for the lock of its
 * address space; the limits are looked at between two reads. One thread at a time for each synth.
 */
#ifndef TACHO_PERF_SYNTH_H
#define TACHO_PERF_SYNTH_H

#include "event/roots.h"
#include "perf/abi.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct synth_options {
	const struct roots *roots;
	const struct perf_event_attr
		*attr;        /* of the event that tracks mappings: what a record ends with */
	uint64_t id;          /* one of its ids */
	bool build_ids;       /* in the records of mappings, where the file has one */
	uint64_t limit_bytes; /* of records in all, 0: any */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC, 0: none */
	/* Takes whole records; a negative errno ends the work. */
	int (*sink)(void *ctx, const void *records, size_t size);
	void *ctx;
};

struct synth;

/* The options' roots and attr must stay. */
struct synth *synth_new(const struct synth_options *options);
void synth_free(struct synth *s);

/*
 * FORK and COMM for each thread, MMAP2 for each mapping of a program (and of data, if the attr has
 * mmap_data) of the process that @pid is a
 * thread of. -ESRCH if it is gone.
 */
int synth_process(struct synth *s, pid_t pid);

/* All processes. */
int synth_all(struct synth *s);

/* MMAP for the kernel's text and each module; nothing where their addresses are hidden. */
int synth_kernel(struct synth *s);
/* Whether synth_kernel() found the kernel's addresses hidden. */
bool synth_kernel_hidden(const struct synth *s);

/* A limit cut it short: some processes or mappings are missing. */
bool synth_cut(const struct synth *s);

#endif
