#include "symbol/elf/state.h"

#include <elf.h>

size_t elf_segments(const struct elf_file *f, const struct elf_segment **ret)
{
	*ret = f->segments;
	return f->segment_count;
}

/* Prefers an executable segment: two segments may share a page of the file. */
static bool translate(const struct elf_file *f, uint64_t from, bool to_address, uint64_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < f->segment_count; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t start = to_address ? s->offset : s->address;

		if (s->type != PT_LOAD || from < start || from - start >= s->file_size)
			continue;
		if (!found || s->flags & PF_X)
			*ret = from - start + (to_address ? s->address : s->offset);
		found = true;
		if (s->flags & PF_X)
			break;
	}
	return found;
}

bool elf_address_of_offset(const struct elf_file *f, uint64_t offset, uint64_t *ret_address)
{
	return translate(f, offset, true, ret_address);
}

bool elf_offset_of_address(const struct elf_file *f, uint64_t address, uint64_t *ret_offset)
{
	return translate(f, address, false, ret_offset);
}

size_t elf_read_address(struct elf_file *f, uint64_t address, void *to, size_t size)
{
	for (size_t i = 0; i < f->segment_count; i++) {
		const struct elf_segment *s = &f->segments[i];
		uint64_t at = address - s->address, rest;

		if (s->type != PT_LOAD || address < s->address || at >= s->file_size)
			continue;
		rest = s->file_size - at;
		if (size > rest)
			size = rest;
		return s->offset <= UINT64_MAX - at && elf_read_bytes(f, s->offset + at, to, size)
			       ? size
			       : 0;
	}
	return 0;
}
