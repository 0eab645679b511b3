/*
 * Reads the build ids of mapped files, and keeps what will be gone when somebody looks at the
 * recording: programs and libraries that can be rebuilt, those of other mount namespaces, those
 * that are deleted while they run, and the names that JITs give their code. They are kept as
 * described in symbol/jit_keep.h and symbol/debug_cache.h.
 *
 * The keeper's own thread opens files as soon as a mapping of them is seen, reads their build ids,
 * and copies them later: an open file can be copied even when its process and its name are gone.
 * Other threads wait for this one only for a limited time: a file system may not answer.
 *
 * keeper_see() and keeper_build_id() may be called by any thread; all else belongs to one.
 */
#ifndef TACHO_COLLECT_KEEP_KEEPER_H
#define TACHO_COLLECT_KEEP_KEEPER_H

#include "base/fs.h"
#include "collect/keep/hits.h"
#include "perf/build_id.h"
#include "perf/record.h"
#include "perf/target.h"
#include "perf/topology.h"

/* Limit of files that are held open in case they are deleted. */
#define KEEPER_FILES_MAX 1024u
/* Limit of bytes copied for a recording. Files above KEEP_FILE_BYTES_MAX are not copied at all. */
#define KEEPER_BYTES_MAX (2ull << 30)
/* Limit of disk space that deleted files may take because they are held open. */
#define KEEPER_DELETED_BYTES_MAX (2ull << 30)
#define KEEPER_PROCESSES_MAX     65536u
#define KEEPER_QUEUE_MAX         65536u

struct keeper_options {
	const struct target *target;     /* what is recorded; must stay */
	const struct topology *topology; /* must stay */
	uint64_t wall_ns, clock_ns;      /* CLOCK_DATA: one moment on both clocks; or zeros */
	bool no_copies;                  /* nothing goes into the cache */
	bool callers_unknown;            /* hits lack callers, see held_files.by_process */
	bool ask_jvms;                   /* ask JVMs for their maps at the end */
	bool told_jvms;                  /* JVMs of the workload were told to write a map */
};

struct keeper;

/* Opens the watch for mappings, so it must be called before the workload runs. */
struct keeper *keeper_new(const struct keeper_options *options);
void keeper_start(struct keeper *k);
/* Takes an MMAP2 record; ignores others. */
void keeper_see(struct keeper *k, const struct record *r);
/* Whether keeper_see() must get all mappings: there is no watch, or it has lost some. */
bool keeper_must_be_told(const struct keeper *k);
/* Waits until all mappings up to now have been looked at, at most @limit_ns. After a wait that
 * timed out, it returns at once until the thread has caught up, unless @patient. */
void keeper_catch_up(struct keeper *k, uint64_t limit_ns, bool patient);
/* Finds the build id of the file in an MMAP2 record. Returns false if the file has none or it is
 * not known yet. */
bool keeper_build_id(struct keeper *k, const struct record *r, struct build_id *ret_id);

struct keeper_end {
	bool hurried;      /* JVMs are not asked */
	struct hits *hits; /* files without hits are not kept; NULL: all are */
};

/* Asks JVMs, copies files and trims the cache. Adds notes for the user to @notes. Frees @k. */
void keeper_finish(struct keeper *k, const struct keeper_end *end, strvec *notes);

#endif
