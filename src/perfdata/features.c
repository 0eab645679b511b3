#include "perfdata/features.h"

#include <string.h>

#define STRING_ALIGN 64u

void feature_set_release(struct feature_set *set)
{
	for (size_t i = 0; i < ARRAY_LEN(set->sections); i++)
		buf_release(&set->sections[i]);
	set->present = 0;
}

struct buf *feature_set_begin(struct feature_set *set, enum feature feature)
{
	set->present |= 1ull << feature;
	buf_clear(&set->sections[feature]);
	return &set->sections[feature];
}

void feature_set_drop(struct feature_set *set, enum feature feature)
{
	set->present &= ~(1ull << feature);
	buf_release(&set->sections[feature]);
}

void feature_add_u32(struct buf *b, uint32_t value)
{
	buf_add_mem(b, &value, sizeof(value));
}

void feature_add_u64(struct buf *b, uint64_t value)
{
	buf_add_mem(b, &value, sizeof(value));
}

void feature_add_str(struct buf *b, const char *s)
{
	static const char zeros[STRING_ALIGN];
	size_t len = strlen(s), room = (len + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;

	feature_add_u32(b, (uint32_t)room);
	buf_add_mem(b, s, len);
	buf_add_mem(b, zeros, room - len);
}
