/* Code as instructions: the first byte chooses the machine, the rest is code. Every byte belongs to
 * one instruction, in order, with text that ends. */
#include "symbol/disasm.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0xffffffffffff0000ull /* so that addresses wrap */

struct walk {
	uint64_t next;
	size_t count;
};

static bool visit(void *ctx, const struct instruction *i)
{
	struct walk *w = ctx;

	if (i->address != w->next || !i->size || !*i->mnemonic || strlen(i->operands) > 1000)
		abort();
	if (i->bad && (i->target || i->reference || i->flow != FLOW_NEXT))
		abort();
	w->next += i->size;
	w->count++;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = {EM_X86_64, EM_386, EM_AARCH64};
	static struct disasm *all[3][2];
	struct walk w = {.next = BASE};
	struct disasm **d;

	if (!size)
		return 0;
	d = &all[data[0] % 3][data[0] / 3 % 2];
	if (!*d) {
		struct disasm_options o = {machines[data[0] % 3], data[0] / 3 % 2};
		int r = disasm_open(d, &o, NULL);

		if (r == -ENOSYS)
			return 0;
		if (r < 0)
			abort();
	}
	if (disasm_range(*d, data + 1, size - 1, BASE, visit, &w) != size - 1 ||
	    w.next != BASE + size - 1)
		abort();
	return 0;
}
