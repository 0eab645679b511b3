/* Shared by the files of the keeper; see keeper.h. All of it belongs to the keeper's thread. */
#ifndef TACHO_COLLECT_KEEP_INTERNAL_H
#define TACHO_COLLECT_KEEP_INTERNAL_H

#include "base/err.h"
#include "base/vec.h"
#include "collect/keep/hits.h"
#include "perf/build_id.h"
#include "profile/slots.h"

#include <stdbool.h>
#include <stdint.h>

/* A mapping that was seen. */
struct seen_mapping {
	uint32_t pid;
	uint64_t start, length;
	uint64_t time_ns;              /* 0: it was there before */
	uint64_t wall_ns;              /* the same by the wall clock; 0: unknown */
	struct build_id id;            /* as recorded; size 0: */
	struct file_identity identity; /* then this tells which file it was */
	char *path;
};

struct held_file {
	int fd;
	char *path;         /* to see whether it is still there; NULL: of another namespace */
	struct build_id id; /* size 0: it has none, and is known by */
	struct file_identity identity;
	uint64_t written_ns; /* when it was last written to before it was opened */
	bool hit;
};

/* What changes when somebody writes over a file where it is. */
struct file_stamp {
	uint64_t device, inode, size, written_ns, changed_ns; /* inode 0: unknown */
};

/* A file that was looked at. */
struct known_file {
	uint64_t hash;
	uint32_t held; /* number in files + 1; 0: it is not held */
	struct file_stamp stamp;
	struct build_id id;
	uint64_t looked_ns; /* the last time (monotonic) that the file had this stamp */
};

/* The contents that a file had from some time on. */
struct file_version {
	struct build_id id; /* size 0: it has none */
	uint64_t from_ns;   /* monotonic; mappings before are of an earlier version */
};

/* Where a process has mapped a file. */
struct held_range {
	uint64_t start, length;
	uint32_t pid;
	uint32_t held; /* as above */
};

struct held_files {
	VEC(struct held_file) files;
	VEC(struct known_file) known;  /* all that were looked at, */
	struct slots slots;            /* found by these */
	VEC(struct held_range) ranges; /* each once, */
	struct slots range_slots;      /* found by these */
	bool ranges_cut;               /* there were too many: all that is held counts as hit */
	size_t copied;                 /* those of other namespaces up to here are done with */
	uint64_t bytes;                /* that were copied */
	uint64_t refused;              /* beyond the limits */
	uint64_t failed;               /* could not be copied; the first time because of */
	struct err failure;
	uint64_t rewritten; /* while they were held: what was mapped cannot be had any more */
	bool ids_only;      /* nothing is held */
	bool by_process;    /* what a process with samples has mapped counts as hit */
	char *directory;    /* where programs without a build id go; NULL: nowhere */
};

/* Looks at the file of a mapping, through the eyes of its process if @foreign, and holds it. Returns
 * true and fills @ret if the file is new or was written over since the last look. */
bool held_files_see(struct held_files *h, const struct seen_mapping *m, bool foreign,
		    struct file_version *ret);
/* Copies one of those that must be copied whatever happens; false: there is none left. */
bool held_files_copy_one(struct held_files *h);
/* Of what had samples, copies what has been deleted or replaced meanwhile or can be rebuilt, until
 * @end_ns. @hits NULL: all had some. */
void held_files_copy_hit(struct held_files *h, struct hits *hits, uint64_t end_ns);
/* Counts a copy that has failed. */
void held_files_fail(struct held_files *h, const struct err *e);
void held_files_release(struct held_files *h);

/* A descriptor of the file as the process sees it, or -1. */
int open_through(uint32_t pid, const char *path, bool foreign);

#endif
