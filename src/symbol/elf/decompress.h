/*
 * Decompresses pieces of ELF files and kernel modules. Sizes that the input claims are checked
 * against a limit before memory is allocated. Any thread; the caller frees the result.
 */
#ifndef TACHO_SYMBOL_ELF_DECOMPRESS_H
#define TACHO_SYMBOL_ELF_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns exactly @size bytes, or NULL if the data is damaged or has another size. */
unsigned char *decompress_zlib(const void *data, size_t data_size, size_t size);
unsigned char *decompress_zstd(const void *data, size_t data_size, size_t size);

/* Decompresses a whole xz, gzip or zstd file, recognized by its first bytes. Returns NULL if it is
 * damaged, in another format, or larger than @limit. */
unsigned char *decompress_file(const void *data, size_t data_size, size_t limit, size_t *ret_size);

#endif
