/*
 * Compressed pieces of ELF files and kernel modules. Sizes that the input claims are checked against
 * a limit before anything is allocated. Any thread; the caller frees what he is given.
 */
#ifndef TACHO_SYMBOL_ELF_DECOMPRESS_H
#define TACHO_SYMBOL_ELF_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Exactly @size bytes, or NULL: damaged, or not that many. */
unsigned char *decompress_zlib(const void *data, size_t data_size, size_t size);
unsigned char *decompress_zstd(const void *data, size_t data_size, size_t size);

/* A whole xz, gzip or zstd file, told apart by its first bytes; NULL: damaged, none of them, or more
 * than @limit. */
unsigned char *decompress_file(const void *data, size_t data_size, size_t limit, size_t *ret_size);

#endif
