/*
 * Knows the build ids of mapped files, and keeps what will be gone when somebody looks at the
 * recording: programs and libraries that can be rebuilt, those of other mount namespaces, those that are
 * deleted while they run, and the names that JITs give their code. Where to: symbol/jit_keep.h and
 * symbol/debug_cache.h.
 *
 * A thread of its own opens files as soon as a mapping of them is seen, reads their build ids, and
 * copies at leisure: an open file can be copied when its process and its name are gone. Others wait for
 * it only for a limited time: a file system may not answer.
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

/* Files that are held open, for the case that they are deleted. */
#define KEEPER_FILES_MAX 1024u
/* Of one recording; larger files than KEEP_FILE_BYTES_MAX not at all. */
#define KEEPER_BYTES_MAX (2ull << 30)
/* Room that deleted files may take on the disk because they are held open. */
#define KEEPER_DELETED_BYTES_MAX (2ull << 30)
#define KEEPER_PROCESSES_MAX     65536u
#define KEEPER_QUEUE_MAX         65536u

struct keeper_options {
	const struct target *target;     /* what is recorded; */
	const struct topology *topology; /* both must stay */
	uint64_t wall_ns, clock_ns; /* CLOCK_DATA of the recording: the same moment; or zeros */
	bool no_copies;             /* nothing goes into the cache */
	bool callers_unknown; /* hits are not all: a process with samples may have hit all it maps */
	bool ask_jvms;        /* for their maps, at the end */
	bool told_jvms;       /* those of the workload write one by themselves */
};

struct keeper;

struct keeper *keeper_new(const struct keeper_options *options);
/* Events for the watch are opened before the workload is let go. */
void keeper_start(struct keeper *k);
/* An MMAP2 record; others are passed over. */
void keeper_see(struct keeper *k, const struct record *r);
/* Whether mappings reach it by keeper_see() alone, or its watch has lost some. */
bool keeper_must_be_told(const struct keeper *k);
/* Waits until all mappings up to now have been looked at, at most @limit_ns. After a wait in vain it
 * does not wait before the thread has caught up, unless @patient. */
void keeper_catch_up(struct keeper *k, uint64_t limit_ns, bool patient);
/* The build id of the file that an MMAP2 record is of. False: it has none, or it is not known (yet). */
bool keeper_build_id(struct keeper *k, const struct record *r, struct build_id *ret_id);

struct keeper_end {
	bool hurried;      /* JVMs are not asked */
	struct hits *hits; /* what had no samples is not kept; NULL: everything had */
};

/* Asks, copies and makes room. Sentences for the user are added to @notes. Frees it. */
void keeper_finish(struct keeper *k, const struct keeper_end *end, strvec *notes);

#endif
