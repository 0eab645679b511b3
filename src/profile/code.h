/*
 * What annotate needs of a function, taken while its file is there: instructions as text, lines of its
 * source. The collector sends it for the functions that were hit most, the store keeps it, and the
 * samples of any selection are added when somebody looks: nothing on the disk is asked then.
 *
 * Instructions and rows ascend by address. Bytes are not trusted.
 */
#ifndef TACHO_PROFILE_CODE_H
#define TACHO_PROFILE_CODE_H

#include "base/err.h"
#include "base/fs.h"
#include "base/vec.h"

#include <stdint.h>

#define CODE_BYTES_MAX (4u << 20) /* of one function, encoded */

struct code_instruction {
	uint64_t address, target;
	uint32_t size, flow;           /* enum annotated_flow */
	uint32_t text, comment, scope; /* in `strings`; 0: none */
	bool bad;
};

struct code_row {
	uint64_t address;
	uint32_t file, line, scope; /* file 0: no line from here on */
};

struct code_line {
	uint32_t file, number, text;
};

struct code {
	uint32_t function; /* in the dictionary */
	uint64_t start, end;
	uint32_t problem; /* why there are no instructions */
	strvec strings;   /* number 0 is "" */
	VEC(struct code_instruction) instructions;
	VEC(struct code_row) rows;
	VEC(struct code_line) lines;
};

void code_release(struct code *c);
void code_encode(const struct code *c, struct buf *out);
int code_decode(const void *bytes, size_t size, struct code *ret, struct err *e);

#endif
