/* For benches that are programs of their own: time on the CPU, random data, and a store with one run. */
#ifndef TACHO_BENCH_MICRO_H
#define TACHO_BENCH_MICRO_H

#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define BENCH_SEED 88172645463325252ull

static struct err error;

static inline double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Ends the bench with the message of `error` if a call has failed. */
static inline void must(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.text);
	exit(1);
}

/* xorshift: the same data in every run. */
static inline uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Opens a new store in @directory with @run, which is alone in its session. The caller closes the store. */
static inline struct store *open_bench_store(const char *directory, struct stored_run *run)
{
	struct stored_session session;
	struct store *ret;

	must(store_open(&ret, &(struct store_options){.directory = directory}, &error));
	must(store_session_add(ret, "bench", &session, &error));
	run->session_id = session.id;
	must(store_run_add(ret, run, &error));
	stored_session_release(&session);
	return ret;
}

#endif
