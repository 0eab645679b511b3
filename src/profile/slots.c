#include "profile/slots.h"
#include "base/open_table.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define LARGE_SLOTS (4u << 20)

static bool slot_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct slot *s = slot;

	(void)seed;
	*ret_hash = s->tag;
	return s->number;
}

static void grow(struct slots *s)
{
	s->items = open_table_grow(s->items, &s->mask, sizeof(*s->items), slot_home, 0);
}

void slots_add(struct slots *s, uint64_t hash, uint32_t number)
{
	struct slot slot;

	/* Half full at most, so that looking for what is not there ends soon; three quarters if it is
	 * large, as the next step would take as much memory as what it leads to. */
	if (!s->items || s->count * (s->mask < LARGE_SLOTS ? 6 : 4) > s->mask * 3)
		grow(s);
	slot = (struct slot){(uint32_t)(hash >> 32), number};
	open_table_put(s->items, s->mask, sizeof(slot), &slot, slot_home, 0);
	s->count++;
}

void slots_release(struct slots *s)
{
	table_free(s->items, s->items ? s->mask + 1 : 0, sizeof(*s->items));
	*s = (struct slots){};
}

uint64_t hash_seed(void)
{
	static uint64_t seed;
	uint64_t known = __atomic_load_n(&seed, __ATOMIC_RELAXED), fresh, none = 0;

	if (known)
		return known;
	if (getrandom(&fresh, sizeof(fresh), GRND_NONBLOCK) != sizeof(fresh)) {
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		fresh = (uint64_t)ts.tv_nsec * 0x9e3779b97f4a7c15ull;
	}
	fresh |= 1;
	/* Whoever comes first decides for all threads. */
	if (__atomic_compare_exchange_n(&seed, &none, fresh, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return fresh;
	return none;
}

uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	const unsigned char *at = bytes;
	uint64_t h = seed ^ size, word;

	for (; size >= 8; at += 8, size -= 8) {
		memcpy(&word, at, 8);
		h = hash_mix(h, word);
	}
	word = 0;
	if (size)
		memcpy(&word, at, size);
	return hash_mix(h, word);
}
