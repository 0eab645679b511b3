/*
 * Keeps what will be gone when somebody looks at the recording: programs and libraries of other
 * mount namespaces, those that are deleted while they run, and the names that JITs give their code.
 * Where to: symbol/jit_keep.h and symbol/debug_cache.h.
 *
 * A thread of its own opens files as soon as a mapping of them is seen, and copies at leisure: an
 * open file can be copied when its process and its name are gone. Nothing waits for it, except
 * that keeper_finish() gives it a few seconds.
 *
 * keeper_see() may be called by any thread; all else belongs to one.
 */
#ifndef TACHO_COLLECT_KEEP_KEEPER_H
#define TACHO_COLLECT_KEEP_KEEPER_H

#include "base/fs.h"
#include "perf/record.h"
#include "perf/target.h"
#include "perf/topology.h"

/* Files that are held open, for the case that they are deleted. */
#define KEEPER_FILES_MAX 1024u
/* Of one recording; larger files than KEEP_FILE_BYTES_MAX not at all. */
#define KEEPER_BYTES_MAX     (2ull << 30)
#define KEEPER_PROCESSES_MAX 65536u
#define KEEPER_QUEUE_MAX     65536u

struct keeper_options {
	const struct target *target;     /* what is recorded; */
	const struct topology *topology; /* both must stay */
	uint64_t wall_ns, clock_ns;      /* CLOCK_DATA of the recording: the same moment */
	bool no_copies;                  /* nothing goes into the cache */
	bool ask_jvms;                   /* for their maps, at the end */
	bool told_jvms;                  /* those of the workload write one by themselves */
};

struct keeper;

struct keeper *keeper_new(const struct keeper_options *options);
/* Events for the watch are opened before the workload is let go. */
void keeper_start(struct keeper *k);
/* An MMAP2 record; others are passed over. */
void keeper_see(struct keeper *k, const struct record *r);
/* Asks (unless @hurried), copies and makes room. Sentences for the user are added to @notes. Frees
 * it. */
void keeper_finish(struct keeper *k, bool hurried, strvec *notes);

#endif
