/*
 * Code of runtimes that write a jitdump file: each piece becomes a mapping at the time when it was
 * made, so that addresses that are used again name what was there at the time of the sample.
 */
#ifndef TACHO_RESOLVE_JIT_CODE_H
#define TACHO_RESOLVE_JIT_CODE_H

#include <stdint.h>

/* More files than this are not opened. */
#define JITDUMP_FILES_MAX 1024

/* For history.on_jitdump; @ctx is the struct analysis. */
void jit_code_announce(void *ctx, uint32_t image, uint32_t pid, uint64_t time_ns);

#endif
