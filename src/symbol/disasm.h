/*
 * Disassembles a piece of code with capstone. The library is loaded when first needed: it has
 * several megabytes of tables that no other command needs. Supports x86, in AT&T syntax (as
 * objdump and perf print it) or Intel syntax, and arm64.
 *
 * The bytes are not trusted: bytes that are not an instruction become "(bad)" and disassembly
 * continues after them. One thread at a time for a struct disasm; several may be open.
 */
#ifndef TACHO_SYMBOL_DISASM_H
#define TACHO_SYMBOL_DISASM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Longer code is cut off: no function that people read is longer. */
#define DISASM_CODE_MAX (4u << 20)

enum instruction_flow {
	FLOW_NEXT, /* continues with the next instruction */
	FLOW_JUMP, /* with or without a condition */
	FLOW_CALL,
	FLOW_RETURN,
};

struct instruction {
	uint64_t address;
	uint64_t target;                 /* of a direct jump or call; else 0 */
	uint64_t reference;              /* address of a PC-relative operand; else 0 */
	const char *mnemonic, *operands; /* valid during the visit */
	uint32_t size;
	enum instruction_flow flow;
	bool bad;
};

struct disasm_options {
	uint16_t machine; /* EM_X86_64, EM_386, EM_AARCH64 */
	bool intel;       /* x86: Intel syntax, not AT&T */
};

struct disasm;

/* Returns -ENOSYS if capstone is not installed, -ENOTSUP if the machine is not supported. */
int disasm_open(struct disasm **ret, const struct disasm_options *o, struct err *e);
void disasm_close(struct disasm *d);

/* Visits every instruction in order until @visit returns false. Returns how many bytes were
 * disassembled. */
size_t disasm_range(struct disasm *d, const void *code, size_t size, uint64_t address,
		    bool (*visit)(void *ctx, const struct instruction *i), void *ctx);

#endif
