/*
 * Stacks: a byte that chooses the machine, the size of .eh_frame, registers, the section, and the
 * rest is the stack. Code is everywhere below 64 KiB.
 */
#include "base/cursor.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

#include <elf.h>
#include <stdlib.h>

#define CODE_END  0x10000u
#define FRAME_MAX 40u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct module *find(void *ctx, uint64_t address, uint64_t *ret)
{
	*ret = address;
	return address < CODE_END ? ctx : NULL;
}

static void check(const struct unwind_input *in)
{
	struct unwinder *u = unwinder_new();
	uint64_t ips[FRAME_MAX], again[FRAME_MAX];
	size_t count, count_again;
	enum unwind_end end = unwind_stack(u, in, ips, FRAME_MAX, &count);

	if (count > FRAME_MAX || unwinder_certain(u) > count || (end == UNWIND_NO_REGS) != !count)
		abort();
	/* Rows that are known give the same as rows that were just made. */
	if (unwind_stack(u, in, again, FRAME_MAX, &count_again) != end || count_again != count)
		abort();
	for (size_t i = 0; i < count; i++)
		if (ips[i] != again[i])
			abort();
	unwinder_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size);
	bool arm = cursor_u8(&c) & 1;
	uint16_t cfi_size = cursor_u16(&c), machine = arm ? EM_AARCH64 : EM_X86_64;
	struct cfi_input cfi = {.address_size = 8};
	struct module module = {};
	uint64_t values[33];
	struct regs_view regs = {
		.abi = 2, .mask = arm ? (1ull << 33) - 1 : 0xff01ff, .values = values};
	struct bytes_view stack;
	struct unwind_input in = {
		.machine = machine, .regs = &regs, .stack = &stack, .space = {find, &module}};

	for (int i = 0; i < __builtin_popcountll(regs.mask); i++)
		values[i] = cursor_u32(&c);
	if (c.failed)
		return 0;
	if (cfi_size > c.size - c.at)
		cfi_size = (uint16_t)(c.size - c.at);
	cfi.eh_frame = (struct cfi_section){c.data + c.at, cfi_size, 0x20000};
	cursor_skip(&c, cfi_size);
	stack = (struct bytes_view){.data = c.data + c.at, .size = c.size - c.at};
	unwind_tables_set(&module, machine, &cfi);
	check(&in);
	module.unwind_tables_free(module.unwind_tables);
	return 0;
}
