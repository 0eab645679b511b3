/*
 * Changes bytes as the input says, also below the hash that all stored and sent bytes have: a hash protects from
 * bad disks, not from whoever writes another one.
 */
#ifndef TACHO_TESTS_PACKED_CHANGE_H
#define TACHO_TESTS_PACKED_CHANGE_H

#include "base/cursor.h"
#include "profile/packed.h"

#define PACKED_CHANGE_MAX (1u << 20)

static void flip(uint8_t *bytes, size_t size, struct cursor *in)
{
	for (unsigned n = cursor_u8(in) % 8 + 1; n && size && !in->failed; n--) {
		uint16_t at = cursor_u16(in);
		uint8_t value = cursor_u8(in);

		bytes[at % size] = value;
	}
}

/* What is below the hash, changed, under a hash that is right. Each kind of blob has a head of its size. */
static bool reseal(struct buf *blob, struct cursor *in)
{
	static const struct {
		const char *what;
		size_t head;
	} kinds[] = {{PACKED_ROWS, 32},     {PACKED_RANGES, 4}, {PACKED_DICTIONARY, 4},
		     {PACKED_HISTOGRAM, 4}, {PACKED_BLOCKS, 4}, {PACKED_CODE, 4},
		     {PACKED_CODE, 0},      {PACKED_LANES, 28}, {PACKED_DICTIONARY, 0}};
	struct packed p = {};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct buf head = {}, body = {};

		if (packed_open(kinds[i].what, buf_str(blob), blob->len, kinds[i].head,
				PACKED_CHANGE_MAX, &p, NULL) < 0)
			continue;
		buf_add_mem(&head, p.head.data, p.head.size);
		buf_add_mem(&body, p.body.data, p.body.size);
		packed_release(&p);
		if (cursor_u8(in) & 1)
			flip((uint8_t *)head.s, head.len, in);
		else
			flip((uint8_t *)body.s, body.len, in);
		buf_clear(blob);
		packed_seal(kinds[i].what, &head, &body, blob);
		buf_release(&head);
		buf_release(&body);
		return true;
	}
	return false;
}

#endif
