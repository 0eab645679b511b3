/*
 * Stacks from registers and a copy of the stack's top, by the call frame information of the code
 * (.eh_frame, .debug_frame). The rules for an address are worked out once and kept as a row of a few
 * numbers; unwinding a frame then is a look-up and two or three loads.
 *
 * A struct unwinder belongs to one thread and keeps rows by (module, address). x86-64 and arm64.
 */
#ifndef TACHO_UNWIND_UNWIND_H
#define TACHO_UNWIND_UNWIND_H

#include "perf/record.h"
#include "symbol/module/module.h"

enum unwind_end {
	UNWIND_COMPLETE,  /* the outermost frame was reached */
	UNWIND_TRUNCATED, /* the copy of the stack ended before */
	UNWIND_NO_MODULE, /* an address in no mapping */
	UNWIND_NO_INFO,   /* code without call frame information */
	UNWIND_DAMAGED,   /* rules that make no sense, or do not lead upwards */
	UNWIND_LIMIT,     /* more frames than asked for */
	UNWIND_NO_REGS,   /* the sample has none (a kernel thread, say), or not of this machine */
	UNWIND_ENDS,
};

/* "[stack cut off]" and so on: what a stack shows as the caller of its outermost frame; NULL for
 * COMPLETE, LIMIT and NO_REGS. */
const char *unwind_end_text(enum unwind_end end);

/* Finds the module at a runtime address and the ELF virtual address there. */
struct unwind_space {
	struct module *(*find)(void *ctx, uint64_t runtime_address, uint64_t *ret_address);
	void *ctx;
	/* Whether code can run there; asked about guesses only. NULL: wherever find() finds something. */
	bool (*is_executable)(void *ctx, uint64_t runtime_address);
};

struct unwind_input {
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	const struct regs_view *regs;
	const struct bytes_view *stack;
	struct unwind_space space;
};

struct unwinder;

struct unwinder *unwinder_new(void);
void unwinder_free(struct unwinder *u);

/*
 * Runtime addresses from the innermost outwards, each inside the instruction that is being executed
 * there: the sampled one, of a caller the last byte of its call (the return address less one, as
 * perf does), of code that a signal interrupted the interrupted one. So all can be looked up as they
 * are. *ret_count ≤ max.
 */
enum unwind_end unwind_stack(struct unwinder *u, const struct unwind_input *in, uint64_t *ret_ips,
			     size_t max, size_t *ret_count);

/*
 * How many frames of the last stack rest on call frame information alone. Beyond them something was
 * guessed: code without it (a JIT's) was taken to keep frame pointers. A guess is believed only if it
 * leads to executable memory, behind a call instruction where the code can be read; else the stack
 * ends there with UNWIND_NO_INFO.
 */
size_t unwinder_certain(const struct unwinder *u);

#endif
