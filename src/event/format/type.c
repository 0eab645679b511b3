/* C types by name, for casts, sizeof and elements of arrays. */
#include "event/format/program.h"

#include <string.h>

#define LONG 255 /* size of the recording machine's long */

static const struct {
	const char *name;
	uint8_t bytes;
	bool is_signed;
} typedefs[] = {
	{"u8", 1, false},         {"u16", 2, false},      {"u32", 4, false},
	{"u64", 8, false},        {"s8", 1, true},        {"s16", 2, true},
	{"s32", 4, true},         {"s64", 8, true},       {"__u8", 1, false},
	{"__u16", 2, false},      {"__u32", 4, false},    {"__u64", 8, false},
	{"__s8", 1, true},        {"__s16", 2, true},     {"__s32", 4, true},
	{"__s64", 8, true},       {"uint8_t", 1, false},  {"uint16_t", 2, false},
	{"uint32_t", 4, false},   {"uint64_t", 8, false}, {"int8_t", 1, true},
	{"int16_t", 2, true},     {"int32_t", 4, true},   {"int64_t", 8, true},
	{"__le16", 2, false},     {"__le32", 4, false},   {"__le64", 8, false},
	{"__be16", 2, false},     {"__be32", 4, false},   {"__be64", 8, false},
	{"uint", 4, false},       {"ulong", LONG, false}, {"size_t", LONG, false},
	{"ssize_t", LONG, true},  {"loff_t", 8, true},    {"dev_t", 4, false},
	{"pid_t", 4, true},       {"uid_t", 4, false},    {"gid_t", 4, false},
	{"sector_t", 8, false},   {"gfp_t", 4, false},    {"umode_t", 2, false},
	{"dma_addr_t", 8, false}, {"ino_t", LONG, false}, {"uintptr_t", LONG, false},
	{"time64_t", 8, true},    {"ktime_t", 8, true},   {"phys_addr_t", 8, false},
};

/* The words of a type, counted. */
struct spelling {
	unsigned longs, shorts, chars, ints;
	bool is_unsigned, is_signed, is_bool, is_void, is_enum;
	const char *other;
	size_t other_len;
};

static bool is(const struct ctype_words *w, size_t i, const char *name)
{
	return w->len[i] == strlen(name) && !memcmp(w->word[i], name, w->len[i]);
}

/* Adds the word at @i. Returns false if the words so far cannot be a type. */
static bool add_word(struct spelling *s, const struct ctype_words *w, size_t *i)
{
	if (is(w, *i, "const") || is(w, *i, "volatile"))
		return true;
	if (is(w, *i, "long"))
		return ++s->longs;
	if (is(w, *i, "short"))
		return ++s->shorts;
	if (is(w, *i, "char"))
		return ++s->chars;
	if (is(w, *i, "int"))
		return ++s->ints;
	if (is(w, *i, "unsigned"))
		return s->is_unsigned = true;
	if (is(w, *i, "signed"))
		return s->is_signed = true;
	if (is(w, *i, "bool") || is(w, *i, "_Bool"))
		return s->is_bool = true;
	if (is(w, *i, "void"))
		return s->is_void = true;
	if (is(w, *i, "enum") && *i + 1 < w->count) {
		++*i;
		return s->is_enum = true;
	}
	/* Any other word is a typedef or the name of a struct; a type has at most one. */
	if (is(w, *i, "struct") || is(w, *i, "union"))
		++*i;
	if (s->other || *i >= w->count)
		return false;
	s->other = w->word[*i];
	s->other_len = w->len[*i];
	return true;
}

static bool find_typedef(const struct spelling *s, uint8_t long_bytes, struct ctype *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(typedefs); i++) {
		if (strlen(typedefs[i].name) != s->other_len ||
		    memcmp(typedefs[i].name, s->other, s->other_len))
			continue;
		ret->bytes = typedefs[i].bytes == LONG ? long_bytes : typedefs[i].bytes;
		ret->is_signed = typedefs[i].is_signed;
		return true;
	}
	return false;
}

bool ctype_of(const struct ctype_words *words, uint8_t long_bytes, struct ctype *ret)
{
	struct spelling s = {};

	*ret = (struct ctype){};
	for (size_t i = 0; i < words->count; i++)
		if (!add_word(&s, words, &i))
			return false;
	ret->is_signed = !s.is_unsigned;
	if (s.longs)
		ret->bytes = s.longs > 1 ? 8 : long_bytes;
	else if (s.shorts)
		ret->bytes = 2;
	else if (s.chars)
		ret->bytes = 1;
	else if (s.is_bool)
		*ret = (struct ctype){.bytes = 1, .is_bool = true};
	else if (s.ints || s.is_unsigned || s.is_signed || s.is_enum)
		ret->bytes = 4;
	else if (s.is_void)
		ret->bytes = 0;
	else
		return s.other && find_typedef(&s, long_bytes, ret);
	return !s.other;
}
