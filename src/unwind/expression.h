/*
 * DWARF expressions as call frame information uses them: a small stack machine over registers and
 * memory. It runs a bounded number of steps; memory is whatever the caller's load() gives.
 */
#ifndef TACHO_UNWIND_EXPRESSION_H
#define TACHO_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPRESSION_STACK_MAX 64u
#define EXPRESSION_STEPS_MAX 1024u

struct expression_input {
	const unsigned char *bytes;
	size_t size;
	const uint64_t *regs; /* by DWARF number, */
	uint64_t known;       /* of these bits only */
	bool has_initial;     /* `initial` is on the stack at the beginning: the CFA */
	uint64_t initial;
	uint8_t address_size;
	bool swap; /* the expression's own numbers are of the other byte order */
	bool (*load)(void *ctx, uint64_t address, unsigned size, uint64_t *ret);
	void *ctx;
};

/* -ENODATA: memory or a register that is not there. -EINVAL: no valid expression, or too long. */
int expression_run(const struct expression_input *in, uint64_t *ret);

#endif
