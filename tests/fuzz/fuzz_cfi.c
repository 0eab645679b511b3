/*
 * Call frame information: a byte of flags, the sizes of .eh_frame and .eh_frame_hdr, the sections
 * (the rest is .debug_frame), and addresses that the sections themselves bring up.
 */
#include "base/cursor.h"
#include "unwind/cfi.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct cfi_section take(struct cursor *c, uint64_t size, uint64_t address)
{
	struct cfi_section s = {.address = address};

	if (size > c->size - c->at)
		size = c->size - c->at;
	s.data = size ? c->data + c->at : NULL;
	s.size = size;
	cursor_skip(c, size);
	return s;
}

static void check(const struct cfi *c, uint64_t address)
{
	struct cfi_row row;

	if (!cfi_find(c, address, &row))
		return;
	if (row.cfa.how != CFI_REGISTER && row.cfa.how != CFI_EXPRESSION)
		abort();
	if (row.start > address || row.end <= address || row.return_register >= CFI_REGISTERS)
		abort();
	if (row.cfa.how == CFI_REGISTER && row.cfa.reg >= CFI_REGISTERS)
		abort();
	for (size_t i = 0; i < CFI_REGISTERS; i++)
		if (row.regs[i].how == CFI_REGISTER && row.regs[i].reg >= CFI_REGISTERS)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor all = cursor_of(data, size), words = all;
	struct cfi_input in = {};
	uint8_t flags = cursor_u8(&all);
	uint16_t eh = cursor_u16(&all), hdr = cursor_u16(&all);
	struct cfi *c;

	if (all.failed)
		return 0;
	in.address_size = flags & 1 ? 4 : 8;
	in.swap = flags & 2;
	in.text_address = 0x1000;
	in.got_address = 0x3000;
	in.eh_frame = take(&all, eh, 0x2000);
	in.eh_frame_hdr = take(&all, hdr, 0x1800);
	in.debug_frame = take(&all, all.size - all.at, 0);
	c = cfi_new(&in);
	if (cfi_entry_count(c) > size)
		abort();
	for (uint64_t address = 0xff0; address < 0x1040; address++)
		check(c, address);
	words.swap = in.swap;
	for (size_t at = 0; at + 4 <= size && at < 2048; at++) {
		uint64_t value;

		words.at = at;
		value = cursor_u32(&words);
		check(c, value);
		check(c,
		      0x2000 + at + (uint64_t)(int64_t)(int32_t)value); /* relative to its place */
	}
	cfi_free(c);
	return 0;
}
