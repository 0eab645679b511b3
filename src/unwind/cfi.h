/*
 * Call frame information (.eh_frame, .debug_frame) as plain bytes: which rules hold at an address.
 * A struct cfi finds the entry of an address by a sorted index, the linker's own if it is in order,
 * else one made here, and runs the entry's little program up to that address.
 *
 * The sections' bytes stay with the caller, for as long as the cfi and rows with expressions live.
 * Nothing in them is trusted. After cfi_new() any number of threads may ask.
 */
#ifndef TACHO_UNWIND_CFI_H
#define TACHO_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_ENTRIES_MAX       (8u << 20) /* in an index of our own */
#define CFI_PROGRAM_BYTES_MAX 65536u     /* of one entry: a longer one is not run */
#define CFI_REMEMBER_MAX      16u        /* states remembered at a time */

/* Numbers of registers are DWARF's. Above the last are vectors and the like, which nobody needs. */
#define CFI_REGISTERS 33u

struct cfi_section {
	const unsigned char *data; /* NULL: there is none */
	size_t size;
	uint64_t address;
};

struct cfi_input {
	struct cfi_section eh_frame, eh_frame_hdr, debug_frame;
	uint64_t text_address, got_address; /* what some encodings of pointers are relative to */
	uint8_t address_size;               /* 4 or 8 */
	bool swap;                          /* the other byte order than ours */
};

/* How the caller's value of a register is found. */
enum cfi_how {
	CFI_UNSET,            /* nothing is said of it: unchanged, as far as anybody knows */
	CFI_SAME,             /* unchanged */
	CFI_UNDEFINED,        /* lost; of the return address: there is no caller */
	CFI_SAVED,            /* in memory at CFA + offset */
	CFI_OFFSET,           /* CFA + offset */
	CFI_REGISTER,         /* in another register; of the CFA: that + offset */
	CFI_SAVED_EXPRESSION, /* in memory where the expression says */
	CFI_EXPRESSION,       /* the expression's value */
};

struct cfi_rule {
	uint8_t how; /* enum cfi_how */
	uint8_t reg; /* of CFI_REGISTER */
	uint32_t expression_size;
	union {
		int64_t offset;
		const unsigned char *expression;
	};
};

struct cfi_row {
	uint64_t start, end; /* where it holds */
	struct cfi_rule cfa; /* CFI_REGISTER or CFI_EXPRESSION */
	struct cfi_rule regs[CFI_REGISTERS];
	uint8_t return_register;
	bool signal_frame;  /* code was interrupted, not called: the caller's address is exact */
	bool return_signed; /* arm64: the return address carries a signature */
};

struct cfi;

/* Never NULL; of bytes that make no sense nothing will be found. */
struct cfi *cfi_new(const struct cfi_input *in);
void cfi_free(struct cfi *c);

/* How many entries the index has; for tests and diagnosis. */
size_t cfi_entry_count(const struct cfi *c);

/* False: nothing (valid) covers that ELF virtual address. */
bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *ret);

#endif
