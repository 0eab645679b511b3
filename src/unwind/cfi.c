#include "unwind/cfi.h"

#include "base/vec.h"
#include "unwind/cfi_entry.h"
#include "unwind/leb128.h"

#include <string.h>

/* The linker's index has this one form in practice: pairs of 32 bits, relative to its start. */
#define HDR_VERSION    1
#define HDR_UDATA4     0x03
#define HDR_PAIRS_FORM 0x3b /* signed 4 bytes, relative to .eh_frame_hdr */
#define HDR_PAIR_SIZE  8u

struct index_item {
	uint64_t start;
	uint64_t offset; /* of the FDE in its section */
};

typedef VEC(struct index_item) index_items;

struct cfi {
	struct cfi_bytes eh, debug;
	/* The linker's index, if it is in order. */
	struct cfi_section hdr;
	size_t pair_count, pairs_at;
	/* Else our own, and always for .debug_frame. */
	index_items eh_index, debug_index;
};

static int32_t hdr_s32(const struct cfi *c, size_t at)
{
	uint32_t value;

	memcpy(&value, c->hdr.data + at, sizeof(value));
	return (int32_t)(c->eh.swap ? __builtin_bswap32(value) : value);
}

static uint64_t pair_start(const struct cfi *c, size_t i)
{
	return c->hdr.address + (uint64_t)(int64_t)hdr_s32(c, c->pairs_at + i * HDR_PAIR_SIZE);
}

static uint64_t pair_entry(const struct cfi *c, size_t i)
{
	return c->hdr.address + (uint64_t)(int64_t)hdr_s32(c, c->pairs_at + i * HDR_PAIR_SIZE + 4);
}

/* Whether every pair points into .eh_frame and none begins before the one before it. */
static bool pairs_in_order(const struct cfi *c)
{
	const struct cfi_section *s = &c->eh.section;
	uint64_t before = 0;

	for (size_t i = 0; i < c->pair_count; i++) {
		uint64_t start = pair_start(c, i);

		if (start < before || pair_entry(c, i) - s->address >= s->size)
			return false;
		before = start;
	}
	return c->pair_count > 0;
}

static bool use_linker_index(struct cfi *c)
{
	struct cfi_bytes b = c->eh;
	struct cursor at = cursor_of(c->hdr.data, c->hdr.size);
	uint8_t version, eh_encoding, count_encoding, table_encoding;
	uint64_t eh_address, count;

	if (!c->hdr.data)
		return false;
	at.swap = b.swap;
	b.section = c->hdr;
	b.data_address = c->hdr.address;
	version = cursor_u8(&at);
	eh_encoding = cursor_u8(&at);
	count_encoding = cursor_u8(&at);
	table_encoding = cursor_u8(&at);
	if (version != HDR_VERSION || table_encoding != HDR_PAIRS_FORM ||
	    !cfi_pointer(&b, &at, c->hdr.address, eh_encoding, b.address_size, 0, &eh_address) ||
	    eh_address != c->eh.section.address ||
	    !cfi_pointer(&b, &at, c->hdr.address, count_encoding, b.address_size, 0, &count))
		return false;
	if (count > (at.size - at.at) / HDR_PAIR_SIZE)
		return false;
	c->pair_count = count;
	c->pairs_at = at.at;
	if (pairs_in_order(c))
		return true;
	c->pair_count = 0;
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct index_item *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Every FDE of a section, by the address where its code begins. */
static void make_index(const struct cfi_bytes *b, index_items *ret)
{
	uint64_t known = ~0ull; /* where the CIE at hand stands: neighbours mostly share it */
	struct cfi_cie cie = {};
	bool cie_valid = false, sorted = true;
	struct cfi_entry entry;
	struct cfi_fde fde;

	for (uint64_t at = 0; at < b->section.size; at = entry.next) {
		entry = cfi_entry_at(b, at);
		if (entry.kind == CFI_BROKEN)
			break;
		if (entry.kind != CFI_FDE)
			continue;
		if (entry.cie != known) {
			struct cfi_entry shared = cfi_entry_at(b, entry.cie);

			known = entry.cie;
			cie_valid = shared.kind == CFI_CIE && cfi_parse_cie(b, &shared, &cie);
		}
		/* Code that the linker has thrown away stays as an empty entry, or one at 0. */
		if (!cie_valid || !cfi_parse_fde(b, &entry, &cie, &fde) || fde.start == fde.end ||
		    fde.start == 0)
			continue;
		if (ret->len == CFI_ENTRIES_MAX)
			break;
		if (ret->len && ret->items[ret->len - 1].start > fde.start)
			sorted = false;
		vec_push(ret, (struct index_item){fde.start, at});
	}
	if (!sorted)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_start);
}

struct cfi *cfi_new(const struct cfi_input *in)
{
	struct cfi *c = xcalloc(1, sizeof(*c));

	c->eh = (struct cfi_bytes){.section = in->eh_frame,
				   .text_address = in->text_address,
				   .data_address = in->got_address,
				   .address_size = in->address_size == 4 ? 4 : 8,
				   .swap = in->swap,
				   .is_eh = true};
	c->debug = c->eh;
	c->debug.section = in->debug_frame;
	c->debug.is_eh = false;
	c->hdr = in->eh_frame_hdr;
	if (in->eh_frame.data && !use_linker_index(c))
		make_index(&c->eh, &c->eh_index);
	if (in->debug_frame.data)
		make_index(&c->debug, &c->debug_index);
	return c;
}

void cfi_free(struct cfi *c)
{
	if (!c)
		return;
	vec_release(&c->eh_index);
	vec_release(&c->debug_index);
	free(c);
}

size_t cfi_entry_count(const struct cfi *c)
{
	return c->pair_count + c->eh_index.len + c->debug_index.len;
}

static bool find_in_pairs(const struct cfi *c, uint64_t address, struct cfi_fde *ret)
{
	size_t low = 0, high = c->pair_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pair_start(c, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && cfi_fde_at(&c->eh, pair_entry(c, low - 1) - c->eh.section.address, ret);
}

static bool find_in_index(const struct cfi_bytes *b, const index_items *index, uint64_t address,
			  struct cfi_fde *ret)
{
	size_t low = 0, high = index->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (index->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && cfi_fde_at(b, index->items[low - 1].offset, ret);
}

bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *ret)
{
	struct cfi_fde fde;
	bool found;

	found = c->pair_count ? find_in_pairs(c, address, &fde)
			      : find_in_index(&c->eh, &c->eh_index, address, &fde);
	if (found && address >= fde.start && address < fde.end &&
	    cfi_run(&c->eh, &fde, address, ret))
		return true;
	return find_in_index(&c->debug, &c->debug_index, address, &fde) && address >= fde.start &&
	       address < fde.end && cfi_run(&c->debug, &fde, address, ret);
}
