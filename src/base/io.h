/*
 * Reading and writing all of it: what read() and write() do in parts, and once more after a signal.
 * Results are counts of bytes or 0, or a negative errno.
 */
#ifndef TACHO_BASE_IO_H
#define TACHO_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A signal handler may call it. */
int io_write(int fd, const void *bytes, size_t size);

/* Less than @size: the end came first. */
ssize_t io_read(int fd, void *to, size_t size);
ssize_t io_read_at(int fd, void *to, size_t size, uint64_t offset);

/* A whole file, from its beginning; -EFBIG if it is longer than that. */
int io_copy(int from, int to, uint64_t limit_bytes);

/* Makes the empty file @to share the blocks of @from, copy on write. Fails where the file system cannot
 * do that, or the two files are on different ones. */
int io_clone(int from, int to);

/* As io_copy(), by the cheapest way that works: io_clone(), a copy inside the kernel, a plain copy. */
int io_clone_or_copy(int from, int to, uint64_t limit_bytes);

#endif
