/* Shared by the files of the keeper; see keeper.h. All of it belongs to the keeper's thread. */
#ifndef TACHO_COLLECT_KEEP_INTERNAL_H
#define TACHO_COLLECT_KEEP_INTERNAL_H

#include "base/vec.h"
#include "perf/build_id.h"
#include "profile/slots.h"

#include <stdbool.h>
#include <stdint.h>

/* A mapping that was seen. */
struct seen_mapping {
	uint32_t pid;
	uint64_t start, length;
	uint64_t time_ns; /* 0: it was there before */
	struct build_id id;
	char *path;
};

struct held_file {
	int fd;
	char *path; /* to see whether it is still there; NULL: of another namespace */
	struct build_id id;
};

struct held_files {
	VEC(struct held_file) files;
	VEC(uint64_t) known; /* hashes of all that were looked at, */
	struct slots slots;  /* found by these */
	size_t copied;       /* those of other namespaces up to here are done with */
	uint64_t bytes;      /* that were copied */
	uint64_t refused;    /* beyond the limits */
};

/* Opens the file of a mapping, through the eyes of its process if @foreign, and holds it. */
void held_files_see(struct held_files *h, const struct seen_mapping *m, bool foreign);
/* Copies one of those that must be copied whatever happens; false: there is none left. */
bool held_files_copy_one(struct held_files *h);
/* Copies what has been deleted or replaced meanwhile. */
void held_files_copy_deleted(struct held_files *h);
void held_files_release(struct held_files *h);

/* A descriptor of the file as the process sees it, or -1. */
int open_through(uint32_t pid, const char *path, bool foreign);

#endif
