/*
 * Bytes as the sections of a program: one byte of flags, 13 lengths of three bytes (the last byte
 * first), then the sections one after the other, in the order of struct dwarf_sections.
 */
#ifndef TACHO_TESTS_DWARF_RUN_H
#define TACHO_TESTS_DWARF_RUN_H

#include "symbol/dwarf/dwarf.h"

#include <stdlib.h>
#include <string.h>

#define RUN_SECTIONS  13
#define RUN_ADDRESSES 256

/* Copies, so that a read past the end of a section is seen. */
struct run_dwarf {
	struct dwarf_sections sections;
	struct dwarf *dwarf;
	uint64_t addresses[RUN_ADDRESSES];
	size_t count;
};

static inline void run_sections(struct run_dwarf *run, struct dwarf_bytes **ret)
{
	struct dwarf_sections *s = &run->sections;
	struct dwarf_bytes *all[RUN_SECTIONS] = {
		&s->info,     &s->abbrev,     &s->str,    &s->line,        &s->line_str,
		&s->ranges,   &s->rnglists,   &s->addr,   &s->str_offsets, &s->aranges,
		&s->alt_info, &s->alt_abbrev, &s->alt_str};

	memcpy(ret, all, sizeof(all));
}

static inline void run_open(struct run_dwarf *run, const uint8_t *data, size_t size)
{
	const uint8_t *lengths = data + 1, *at = lengths + RUN_SECTIONS * 3, *end = data + size;
	struct dwarf_bytes *all[RUN_SECTIONS];

	memset(run, 0, sizeof(*run));
	run_sections(run, all);
	run->sections.swap = size && (data[0] & 1);
	for (size_t i = 0; i < RUN_SECTIONS && size > 1 + RUN_SECTIONS * 3; i++, lengths += 3) {
		size_t length = (size_t)lengths[0] << 16 | (size_t)lengths[1] << 8 | lengths[2];
		unsigned char *copy;

		if (length > (size_t)(end - at))
			length = (size_t)(end - at);
		copy = malloc(length ? length : 1);
		if (!copy)
			abort();
		memcpy(copy, at, length);
		*all[i] = (struct dwarf_bytes){copy, length};
		at += length;
	}
	run->dwarf = dwarf_new(&run->sections);
}

static inline void run_close(struct run_dwarf *run)
{
	struct dwarf_bytes *all[RUN_SECTIONS];

	dwarf_free(run->dwarf);
	run_sections(run, all);
	for (size_t i = 0; i < RUN_SECTIONS; i++)
		free((void *)(uintptr_t)all[i]->data);
}

static inline bool run_keep_row(void *ctx, uint64_t address, const char *file, uint32_t line)
{
	struct run_dwarf *run = ctx;
	const char *again = NULL;
	uint32_t line_again = 0;

	if (run->count && address <= run->addresses[run->count - 1])
		abort();
	if (!dwarf_line(run->dwarf, address, &again, &line_again) || again != file ||
	    line_again != line || (file && !*file))
		abort();
	run->addresses[run->count++] = address;
	return run->count < RUN_ADDRESSES / 2;
}

/* Addresses at which there may be something: those of lines, and whatever looks like one. */
static inline void run_find_addresses(struct run_dwarf *run)
{
	const struct dwarf_bytes *in[] = {&run->sections.info, &run->sections.addr,
					  &run->sections.rnglists, &run->sections.ranges};

	dwarf_each_line(run->dwarf, 0, UINT64_MAX, run_keep_row, run);
	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
		for (size_t at = 0; at + 8 <= in[i]->size && run->count < RUN_ADDRESSES; at++) {
			uint64_t value;

			memcpy(&value, in[i]->data + at, sizeof(value));
			if (run->sections.swap)
				value = __builtin_bswap64(value);
			if (value >= 0x1000 && value < 0x100000)
				run->addresses[run->count++] = value;
		}
}

#endif
