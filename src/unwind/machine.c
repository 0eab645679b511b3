#include "unwind/machine.h"

#include <elf.h>
#include <string.h>

#define NONE MACHINE_NONE

static const struct machine machines[] = {
	{
		.elf = EM_X86_64,
		.sp = 7,
		.fp = 6,
		.pc = 16,
		.perf_count = 24,
		/* AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8…R15 */
		.dwarf_of_perf = {0,    3,    2,    1,    4, 5, 6,  7,  16, NONE, NONE, NONE,
				  NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,   14,   15},
		.address_mask = ~0ull,
	},
	{
		.elf = EM_AARCH64,
		.sp = 31,
		.fp = 29,
		.pc = 32,
		.lr = 30,
		.perf_count = 33,
		/* X0…X29 LR SP PC, as in DWARF */
		.dwarf_of_perf = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				  11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				  22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32},
		.address_mask = (1ull << 48) - 1,
	},
};

const struct machine *machine_of(uint16_t elf)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == elf)
			return &machines[i];
	return NULL;
}

static void saved_at(struct cfi_row *row, unsigned reg, int64_t offset)
{
	row->regs[reg] = (struct cfi_rule){.how = CFI_SAVED, .offset = offset};
}

/* The kernel's struct ucontext begins at the stack pointer: flags, link and stack, then registers. */
static void x86_64_signal_frame(struct cfi_row *row)
{
	static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};

	for (size_t i = 0; i < sizeof(order); i++)
		saved_at(row, order[i], 40 + 8 * (int64_t)i);
}

/* struct siginfo (128 bytes), then struct ucontext with its registers at 176, after an address. */
static void arm64_signal_frame(struct cfi_row *row)
{
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		saved_at(row, i, 128 + 176 + 8 + 8 * (int64_t)i);
}

bool machine_signal_return(const struct machine *m, const unsigned char *code, size_t size,
			   struct cfi_row *ret)
{
	/* mov $15,%rax; syscall — and mov x8,#139; svc #0 */
	static const unsigned char x86_64[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const unsigned char arm64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
	bool is_x86 = m->elf == EM_X86_64;
	size_t wanted = is_x86 ? sizeof(x86_64) : sizeof(arm64);

	if (size < wanted || memcmp(code, is_x86 ? x86_64 : arm64, wanted) != 0)
		return false;
	*ret = (struct cfi_row){.cfa = {.how = CFI_REGISTER, .reg = m->sp},
				.return_register = m->pc,
				.signal_frame = true};
	if (is_x86)
		x86_64_signal_frame(ret);
	else
		arm64_signal_frame(ret);
	return true;
}

/* ---- calls ---- */

/* The length of "call *…" (FF /2) that begins at @op, of which @size bytes are known; 0: it is none. */
static size_t x86_64_indirect_call(const unsigned char *op, size_t size)
{
	unsigned mod = op[1] >> 6, rm = op[1] & 7;
	size_t length = 2;

	if (op[0] != 0xff || (op[1] >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return length;
	if (rm == 4) {
		if (size < 3)
			return 0;
		length += 1 + (mod == 0 && (op[2] & 7) == 5 ? 4 : 0);
	} else if (mod == 0 && rm == 5) {
		length += 4;
	}
	return length + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool x86_64_call_before(const unsigned char *end, size_t size)
{
	if (size >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t length = 2; length <= MACHINE_CALL_BYTES && length <= size; length++)
		if (x86_64_indirect_call(end - length, length) == length)
			return true;
	return false;
}

/* bl, blr, and blr with a pointer that carries a signature */
static bool arm64_call_before(const unsigned char *end, size_t size)
{
	uint32_t code;

	if (size < 4)
		return false;
	code = (uint32_t)end[-4] | (uint32_t)end[-3] << 8 | (uint32_t)end[-2] << 16 |
	       (uint32_t)end[-1] << 24;
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

bool machine_call_before(const struct machine *m, const unsigned char *end, size_t size)
{
	return m->elf == EM_X86_64 ? x86_64_call_before(end, size) : arm64_call_before(end, size);
}
