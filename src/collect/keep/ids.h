/*
 * Build ids of mapped files. A file that is overwritten in place keeps its device, inode and
 * generation, so each id is valid from a certain time on: a mapping gets the id that the file had
 * when it was mapped.
 *
 * Zeros are an empty table. Not locked: the caller must hold a lock.
 */
#ifndef TACHO_COLLECT_KEEP_IDS_H
#define TACHO_COLLECT_KEEP_IDS_H

#include "base/vec.h"
#include "perf/build_id.h"
#include "profile/slots.h"

#define FILE_IDS_MAX 100000u

struct file_id {
	struct build_id id; /* size 0: the file has none */
	uint64_t from_ns;
	uint32_t earlier; /* index + 1 of the version before; 0: none */
};

/* The versions of one file. */
struct file_ids_entry {
	struct file_identity file;
	uint32_t newest; /* index in ids */
};

struct file_ids {
	VEC(struct file_ids_entry) files;
	struct slots slots; /* index in files + 1 */
	VEC(struct file_id) ids;
};

/* @from_ns: when the file got the contents with this id; not earlier than its known versions. */
void file_ids_add(struct file_ids *t, const struct file_identity *file, uint64_t from_ns,
		  const struct build_id *id);
/* Returns the id that the file had at @time_ns (0: at the beginning), or NULL if there was none or
 * none is known. */
const struct build_id *file_ids_find(const struct file_ids *t, const struct file_identity *file,
				     uint64_t time_ns);
void file_ids_release(struct file_ids *t);

#endif
