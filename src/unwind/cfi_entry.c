#include "unwind/cfi_entry.h"

#include "unwind/leb128.h"

#include <string.h>

/* Encodings of pointers: how it is stored, what it is relative to, and whether it is indirect. */
enum {
	ENCODED_ABSOLUTE = 0x00,
	ENCODED_ULEB = 0x01,
	ENCODED_U2 = 0x02,
	ENCODED_U4 = 0x03,
	ENCODED_U8 = 0x04,
	ENCODED_SLEB = 0x09,
	ENCODED_S2 = 0x0a,
	ENCODED_S4 = 0x0b,
	ENCODED_S8 = 0x0c,
	ENCODED_FORMAT = 0x0f,
	RELATIVE_TO_PLACE = 0x10,
	RELATIVE_TO_TEXT = 0x20,
	RELATIVE_TO_DATA = 0x30,
	RELATIVE_TO_FUNCTION = 0x40,
	RELATIVE_ALIGNED = 0x50,
	RELATIVE = 0x70,
	INDIRECT = 0x80,
	OMITTED = 0xff,
};

static uint64_t encoded_value(struct cursor *c, uint8_t format, uint8_t address_size)
{
	switch (format) {
	case ENCODED_ABSOLUTE:
		return cursor_sized(c, address_size);
	case ENCODED_ULEB:
		return leb128_unsigned(c);
	case ENCODED_SLEB:
		return (uint64_t)leb128_signed(c);
	case ENCODED_U2:
		return cursor_u16(c);
	case ENCODED_U4:
		return cursor_u32(c);
	case ENCODED_S2:
		return sign_extended(cursor_u16(c), 2);
	case ENCODED_S4:
		return sign_extended(cursor_u32(c), 4);
	case ENCODED_U8:
	case ENCODED_S8:
		return cursor_u64(c);
	default:
		c->failed = true;
		return 0;
	}
}

bool cfi_pointer(const struct cfi_bytes *b, struct cursor *c, uint64_t address, uint8_t encoding,
		 uint8_t address_size, uint64_t function, uint64_t *ret)
{
	uint64_t place = address + c->at, value;

	if (encoding == OMITTED)
		return false;
	if ((encoding & RELATIVE) == RELATIVE_ALIGNED) {
		cursor_skip(c, -place & (address_size - 1u));
		encoding = ENCODED_ABSOLUTE;
	}
	value = encoded_value(c, encoding & ENCODED_FORMAT, address_size);
	switch (encoding & RELATIVE) {
	case 0:
		break;
	case RELATIVE_TO_PLACE:
		value += place;
		break;
	case RELATIVE_TO_TEXT:
		value += b->text_address;
		break;
	case RELATIVE_TO_DATA:
		value += b->data_address;
		break;
	case RELATIVE_TO_FUNCTION:
		value += function;
		break;
	default:
		return false;
	}
	if (address_size == 4)
		value = (uint32_t)value;
	*ret = value;
	/* What an indirect one points to is filled in when the program is loaded. */
	return !c->failed && !(encoding & INDIRECT);
}

static struct cursor part_of(const struct cfi_bytes *b, uint64_t offset, uint64_t size)
{
	struct cursor all = cursor_of(b->section.data, b->section.size);

	all.swap = b->swap;
	return cursor_part(&all, offset, size);
}

struct cfi_entry cfi_entry_at(const struct cfi_bytes *b, uint64_t offset)
{
	struct cursor c =
		part_of(b, offset, offset <= b->section.size ? b->section.size - offset : 0);
	struct cfi_entry entry = {.kind = CFI_BROKEN};
	uint64_t length = cursor_u32(&c), id, own;
	bool is_long = length == 0xffffffff, is_cie;

	if (is_long)
		length = cursor_u64(&c);
	if (c.failed || length > c.size - c.at)
		return entry;
	entry.next = offset + c.at + length;
	if (!length) {
		entry.kind = CFI_END_MARK;
		return entry;
	}
	own = offset + c.at;
	if (b->is_eh) {
		/* The distance back to the CIE, from here. */
		id = cursor_u32(&c);
		is_cie = id == 0;
		entry.cie = own - id;
	} else {
		id = is_long ? cursor_u64(&c) : cursor_u32(&c);
		is_cie = id == (is_long ? ~0ull : 0xffffffff);
		entry.cie = id;
	}
	if (c.failed || offset + c.at > entry.next)
		return entry;
	entry.body = offset + c.at;
	entry.body_size = entry.next - entry.body;
	entry.kind = is_cie ? CFI_CIE : CFI_FDE;
	return entry;
}

/* What the letters of the augmentation say, from the bytes that belong to them. */
static bool parse_augmentation(const struct cfi_bytes *b, const char *letters, struct cursor *c,
			       uint64_t address, struct cfi_cie *ret)
{
	uint64_t personality;
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			ret->encoding = cursor_u8(c);
			break;
		case 'P':
			encoding = cursor_u8(c);
			if (encoding != OMITTED)
				cfi_pointer(b, c, address, encoding, ret->address_size, 0,
					    &personality);
			break;
		case 'L':
			cursor_u8(c);
			break;
		case 'S':
			ret->signal_frame = true;
			break;
		case 'B': /* arm64: which key signs; where is said by instructions */
		case 'G': /* arm64: memory tags */
			break;
		default: /* the length of the whole tells where the program begins */
			return !c->failed;
		}
	}
	return !c->failed;
}

static bool take_letters(struct cursor *c, char letters[CFI_AUGMENTATION_MAX])
{
	for (size_t i = 0; i < CFI_AUGMENTATION_MAX; i++) {
		letters[i] = (char)cursor_u8(c);
		if (!letters[i])
			return !c->failed;
	}
	return false;
}

bool cfi_parse_cie(const struct cfi_bytes *b, const struct cfi_entry *entry, struct cfi_cie *ret)
{
	struct cursor c = part_of(b, entry->body, entry->body_size);
	uint64_t address = b->section.address + entry->body, reg, size;
	char letters[CFI_AUGMENTATION_MAX];
	uint8_t version = cursor_u8(&c);
	struct cursor data;

	*ret = (struct cfi_cie){.address_size = b->address_size};
	if ((version != 1 && version != 3 && version != 4) || !take_letters(&c, letters))
		return false;
	if (!strcmp(letters, "eh")) {
		cursor_skip(&c, b->address_size);
		letters[0] = '\0';
	}
	if (version == 4) {
		ret->address_size = cursor_u8(&c);
		if (cursor_u8(&c) || (ret->address_size != 4 && ret->address_size != 8))
			return false;
	}
	ret->code_align = leb128_unsigned(&c);
	ret->data_align = leb128_signed(&c);
	reg = version == 1 ? cursor_u8(&c) : leb128_unsigned(&c);
	if (c.failed || reg >= CFI_REGISTERS || (letters[0] && letters[0] != 'z'))
		return false;
	ret->return_register = (uint8_t)reg;
	if (letters[0] == 'z') {
		ret->has_length = true;
		size = leb128_unsigned(&c);
		data = cursor_part(&c, c.at, size);
		if (!parse_augmentation(b, letters + 1, &data, address + c.at, ret))
			return false;
		cursor_skip(&c, size);
	}
	ret->program = cursor_part(&c, c.at, c.size - c.at);
	return !c.failed;
}

bool cfi_parse_fde(const struct cfi_bytes *b, const struct cfi_entry *entry,
		   const struct cfi_cie *cie, struct cfi_fde *ret)
{
	struct cursor c = part_of(b, entry->body, entry->body_size);
	uint64_t address = b->section.address + entry->body, size;

	ret->cie = *cie;
	if (!cfi_pointer(b, &c, address, cie->encoding, cie->address_size, 0, &ret->start))
		return false;
	size = encoded_value(&c, cie->encoding & ENCODED_FORMAT, cie->address_size);
	if (cie->has_length)
		cursor_skip(&c, leb128_unsigned(&c));
	if (c.failed || ret->start + size < ret->start)
		return false;
	ret->end = ret->start + size;
	ret->program = cursor_part(&c, c.at, c.size - c.at);
	return true;
}

bool cfi_fde_at(const struct cfi_bytes *b, uint64_t offset, struct cfi_fde *ret)
{
	struct cfi_entry entry = cfi_entry_at(b, offset), shared;
	struct cfi_cie cie;

	if (entry.kind != CFI_FDE)
		return false;
	shared = cfi_entry_at(b, entry.cie);
	return shared.kind == CFI_CIE && cfi_parse_cie(b, &shared, &cie) &&
	       cfi_parse_fde(b, &entry, &cie, ret);
}
