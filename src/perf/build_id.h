/*
 * Build ids: the linker's fingerprint of a program, from the notes of ELF files and of the kernel.
 * The bytes are not trusted. Any thread may call these; only a build_id_cache belongs to one.
 */
#ifndef TACHO_PERF_BUILD_ID_H
#define TACHO_PERF_BUILD_ID_H

#include "event/roots.h"

#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_BYTES_MAX 20

struct build_id {
	uint8_t size; /* 0: there is none */
	uint8_t bytes[BUILD_ID_BYTES_MAX];
};

/* What the kernel says of a mapped file in MMAP2 records: enough to tell whether two mappings are of the
 * same file. Inode 0: unknown. */
struct file_identity {
	uint32_t major, minor;
	uint64_t inode, generation;
};

/* From an ELF file's program headers: a whole file in memory, or one that is open. */
bool build_id_of_memory(const void *data, size_t size, struct build_id *ret_id);
bool build_id_of_fd(int fd, struct build_id *ret_id);
/* From the bytes of a section or segment of notes. @swap: of the other byte order than ours. */
bool build_id_of_notes(const void *data, size_t size, uint64_t align, bool swap,
		       struct build_id *ret_id);

/* A regular file at @path, and with @inode other than 0 only if it is that one. Devices and the
 * like are not opened. */
bool build_id_of_file(const char *path, uint64_t inode, struct build_id *ret_id);

/* The running kernel, and a loaded module of it. */
bool build_id_of_kernel(const struct roots *roots, struct build_id *ret_id);
bool build_id_of_module(const struct roots *roots, const char *name, struct build_id *ret_id);

/* What was found for files, none also being an answer. Zeros are an empty cache. */
struct build_id_cache {
	struct build_id_slot *slots;
	size_t count, room; /* room: a power of two */
};

/* The slot's id, or NULL if that file was not yet asked for. */
const struct build_id *build_id_cache_find(const struct build_id_cache *cache, uint64_t device,
					   uint64_t inode);
void build_id_cache_add(struct build_id_cache *cache, uint64_t device, uint64_t inode,
			const struct build_id *id);
void build_id_cache_release(struct build_id_cache *cache);

#endif
