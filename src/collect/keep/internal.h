/* Shared by the files of the keeper; see keeper.h. All of it belongs to the keeper's thread. */
#ifndef TACHO_COLLECT_KEEP_INTERNAL_H
#define TACHO_COLLECT_KEEP_INTERNAL_H

#include "base/err.h"
#include "base/vec.h"
#include "collect/keep/hits.h"
#include "perf/build_id.h"
#include "perf/rights.h"
#include "profile/slots.h"

#include <stdbool.h>
#include <stdint.h>

/* A mapping that was seen. */
struct seen_mapping {
	uint32_t pid;
	uint64_t start, length;
	uint64_t time_ns;              /* 0: it existed before the recording */
	uint64_t wall_ns;              /* the same on the wall clock; 0: unknown */
	struct build_id id;            /* as recorded; size 0: not recorded */
	struct file_identity identity; /* identifies the file if there is no id */
	char *path;
};

struct held_file {
	int fd;             /* -1: not held any more: copied, or beyond the limits */
	char *path;         /* to check whether it still exists; NULL: of another namespace */
	struct build_id id; /* size 0: none, `identity` is used instead */
	struct file_identity identity;
	struct file_origin origin;
	uint64_t size;
	uint64_t written_ns; /* when it was last written to before it was opened */
	bool refused;        /* beyond the limits: if it had samples, the user is told */
	bool hit;
};

/* What changes when a file is overwritten in place. */
struct file_stamp {
	uint64_t device, inode, size, written_ns, changed_ns; /* inode 0: unknown */
};

/* A file that was looked at. */
struct known_file {
	uint64_t hash;
	uint32_t held; /* index in files + 1; 0: it is not held */
	struct file_stamp stamp;
	struct build_id id;
	uint64_t looked_ns; /* when the file was last seen with this stamp (monotonic) */
};

/* The contents that a file had from a certain time on. */
struct file_version {
	struct build_id id; /* size 0: it has none */
	uint64_t from_ns;   /* monotonic; earlier mappings are of an earlier version */
};

/* Where a process has mapped a file. */
struct held_range {
	uint64_t start, length;
	uint32_t pid;
	uint32_t held; /* index in files + 1; 0: it is not held */
};

struct held_files {
	VEC(struct held_file) files;
	VEC(struct known_file) known;  /* all files that were looked at */
	struct slots slots;            /* finds entries of `known` */
	VEC(struct held_range) ranges; /* each mapping once */
	struct slots range_slots;      /* finds entries of `ranges` */
	bool ranges_cut;               /* too many ranges: all held files count as hit */
	size_t copied;                 /* files of other namespaces before this index are done */
	uint64_t held_bytes;           /* size of all files that are held open */
	uint64_t bytes;                /* copied so far */
	uint64_t refused;              /* files beyond the limits */
	uint64_t failed;               /* files whose copying failed, see `failure` for the first */
	struct err failure;
	uint64_t rewritten; /* files overwritten while held: what was mapped is gone */
	bool ids_only;      /* only build ids are read, nothing is held */
	bool by_process;    /* all files mapped by a process with samples count as hit */
	char *directory;    /* where programs without a build id go; NULL: nowhere */
};

/* Looks at the file of a mapping, as its process sees it if @foreign, and holds it. Returns true
 * and fills @ret if the file is new or was overwritten since the last look. */
bool held_files_see(struct held_files *h, const struct seen_mapping *m, bool foreign,
		    struct file_version *ret);
/* Copies one file of another namespace: these are always copied. Returns false if none is left. */
bool held_files_copy_one(struct held_files *h);
/* Copies files that had samples and were deleted or replaced meanwhile or can be rebuilt, until
 * @end_ns. @hits NULL: all files had samples. */
void held_files_copy_hit(struct held_files *h, struct hits *hits, uint64_t end_ns);
/* Counts a copy that has failed. */
void held_files_fail(struct held_files *h, const struct err *e);
void held_files_release(struct held_files *h);

/* Opens @path for reading with the rights that perf/rights.h gives the process, as the process sees
 * it if @foreign. Returns a descriptor or -1. */
int open_through(uint32_t pid, const char *path, bool foreign);

#endif
