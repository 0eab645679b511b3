/*
 * Instructions of a piece of code, by capstone, which is loaded when first asked for: it is several
 * megabytes of tables that no other command needs. x86 in the syntax of AT&T, as objdump and perf
 * print it, or Intel's; arm64.
 *
 * The bytes are hostile: what is no instruction becomes "(bad)" and the walk goes on behind it. One
 * thread at a time for a struct disasm; opening several is fine.
 */
#ifndef TACHO_SYMBOL_DISASM_H
#define TACHO_SYMBOL_DISASM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Longer code is cut: no function that people read is. */
#define DISASM_CODE_MAX (4u << 20)

enum instruction_flow {
	FLOW_NEXT, /* goes on with the next one */
	FLOW_JUMP, /* with or without a condition */
	FLOW_CALL,
	FLOW_RETURN,
};

struct instruction {
	uint64_t address;
	uint64_t target;    /* of a jump or call that names it; else 0 */
	uint64_t reference; /* memory that it names by an address relative to itself; else 0 */
	const char *mnemonic, *operands; /* valid while it is visited */
	uint32_t size;
	enum instruction_flow flow;
	bool bad;
};

struct disasm_options {
	uint16_t machine; /* EM_X86_64, EM_386, EM_AARCH64 */
	bool intel;       /* of x86: the other syntax */
};

struct disasm;

/* -ENOSYS: the library is not installed. -ENOTSUP: no such machine. */
int disasm_open(struct disasm **ret, const struct disasm_options *o, struct err *e);
void disasm_close(struct disasm *d);

/* Every instruction in order; false from @visit ends it. Gives how many bytes were gone through. */
size_t disasm_range(struct disasm *d, const void *code, size_t size, uint64_t address,
		    bool (*visit)(void *ctx, const struct instruction *i), void *ctx);

#endif
