/* Registers of a machine: perf's numbers, DWARF's numbers, and the few that unwinding knows by name. */
#ifndef TACHO_UNWIND_MACHINE_H
#define TACHO_UNWIND_MACHINE_H

#include "unwind/cfi.h"

struct machine {
	uint16_t elf;       /* EM_… */
	uint8_t sp, fp, pc; /* by DWARF number */
	uint8_t lr;         /* where a call puts the return address; 0: on the stack */
	uint8_t perf_count;
	uint8_t dwarf_of_perf[CFI_REGISTERS]; /* MACHINE_NONE: not one that CFI speaks of */
	uint64_t address_mask;                /* of a return address that carries a signature */
};

#define MACHINE_NONE 0xff

/* NULL: one that we cannot unwind. */
const struct machine *machine_of(uint16_t elf);

/*
 * Whether the code there is what the kernel lets a signal handler return to. Some C libraries give it
 * no call frame information. Its rules are known: the kernel has put all registers on the stack.
 */
bool machine_signal_return(const struct machine *m, const unsigned char *code, size_t size,
			   struct cfi_row *ret);

/* No call instruction is longer. */
#define MACHINE_CALL_BYTES 7

/* Whether a call instruction ends right before @end, of which @size bytes before it are known. */
bool machine_call_before(const struct machine *m, const unsigned char *end, size_t size);

#endif
