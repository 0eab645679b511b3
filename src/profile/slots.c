#include "profile/slots.h"
#include "base/alloc.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_SLOTS 256

static void insert(struct slots *s, struct slot slot)
{
	size_t at = slot.tag & s->mask;

	while (s->items[at].number)
		at = (at + 1) & s->mask;
	s->items[at] = slot;
}

static void grow(struct slots *s, size_t room)
{
	struct slot *old = s->items;
	size_t old_count = old ? s->mask + 1 : 0;

	s->items = table_alloc(room, sizeof(*s->items));
	s->mask = room - 1;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].number)
			insert(s, old[i]);
	table_free(old, old_count, sizeof(*old));
}

void slots_add(struct slots *s, uint64_t hash, uint32_t number)
{
	/* Half full at most, so that looking for what is not there ends soon. */
	if (!s->items || s->count * 2 > s->mask)
		grow(s, s->items ? (s->mask + 1) * 2 : FIRST_SLOTS);
	insert(s, (struct slot){(uint32_t)(hash >> 32), number});
	s->count++;
}

void slots_reserve(struct slots *s, size_t count)
{
	size_t room = s->items ? s->mask + 1 : FIRST_SLOTS;

	while (count * 2 > room - 1)
		room *= 2;
	if (!s->items || room > s->mask + 1)
		grow(s, room);
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
