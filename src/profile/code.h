/*
 * What annotate needs of a function, taken while its file is there: instructions as text, lines of its
 * source. The collector sends it for the functions that were hit most, the store keeps it, and the
 * samples of any selection are added when somebody looks: nothing on the disk is asked then.
 *
 * Instructions and rows ascend by address. Bytes are not trusted. Strings lie in one pool, each ended
 * by NUL; a string's number is where it begins, 0 is none and the empty one.
 */
#ifndef TACHO_PROFILE_CODE_H
#define TACHO_PROFILE_CODE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

#include <stdint.h>

#define CODE_BYTES_MAX   (4u << 20)   /* of one function, encoded */
#define CODE_TEXT_MAX    (256u << 20) /* of its strings */
#define CODE_ENTRIES_MAX (1u << 20)   /* of instructions, of rows, of lines */

enum code_flow { CODE_NEXT, CODE_JUMP, CODE_CALL, CODE_RETURN };

struct code_instruction {
	uint64_t address, target; /* target 0: it names none */
	uint32_t size;
	enum code_flow flow;
	uint32_t text, comment; /* comment: the name of what it calls or refers to */
	bool bad;
};

struct code_row {
	uint64_t address;
	uint32_t file, line; /* file or line 0: no line from here on */
	uint32_t scope;      /* the function that was inlined here, or none */
};

/* A line of source that is shown. */
struct code_line {
	uint32_t file, number, text;
};

struct code {
	uint32_t function;   /* in the dictionary */
	uint64_t start, end; /* ELF virtual addresses */
	uint32_t problem;    /* why there are no instructions: a sentence, or none */
	uint32_t build_id;   /* of the file that they were read from, hexadecimal, or none */
	VEC(char) pool;
	VEC(uint32_t) notes; /* sentences: sources that are missing or newer, code that was cut */
	VEC(struct code_instruction) instructions;
	VEC(struct code_row) rows;
	VEC(struct code_line) lines;
};

void code_init(struct code *c);
void code_release(struct code *c);

/* Copied into the pool; 0 if it is full. */
uint32_t code_string(struct code *c, const char *text, size_t len);
uint32_t code_stringf(struct code *c, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline const char *code_text(const struct code *c, uint32_t string)
{
	return c->pool.items + string;
}

/* Adds it to @out; it may be more than CODE_BYTES_MAX, which nobody takes. */
void code_encode(const struct code *c, struct buf *out);
/* -EBADMSG: damaged. Initialises @ret; on failure there is nothing to release. */
int code_decode(const void *bytes, size_t size, struct code *ret, struct err *e);

#endif
