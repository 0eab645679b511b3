/*
 * Bytes behind the wrapping: the hash is made right, so that what it protects is reached. Input is
 * first taken as it is, then as head and body of each kind.
 */
#ifndef TACHO_FUZZ_PACKED_RUN_H
#define TACHO_FUZZ_PACKED_RUN_H

#include "profile/packed.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void packed_run(const char *what, size_t head_size, const uint8_t *data, size_t size,
			      void (*take)(const void *bytes, size_t size))
{
	CLEANUP(buf_release) struct buf head = {}, body = {}, bytes = {};

	take(data, size);
	if (size < head_size)
		return;
	buf_add_mem(&head, data, head_size);
	buf_add_mem(&body, data + head_size, size - head_size);
	packed_seal(what, &head, &body, &bytes);
	take(bytes.s, bytes.len);
}

#endif
