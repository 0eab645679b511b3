#include "collect/keep/hits.h"
#include "base/open_table.h"

static bool home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	(void)seed;
	*ret_hash = hits_hash(*(const uint64_t *)slot);
	return *(const uint64_t *)slot;
}

static void give_up(struct hits *h)
{
	hits_release(h);
	h->all = true;
}

void hits_add_page(struct hits *h, uint64_t key)
{
	size_t at;

	if (h->all)
		return;
	if (!h->slots || h->count * 2 > h->mask)
		h->slots = open_table_grow(h->slots, &h->mask, sizeof(*h->slots), home, 0);
	at = hits_hash(key) & h->mask;
	while (h->slots[at] && h->slots[at] != key)
		at = (at + 1) & h->mask;
	if (h->slots[at])
		return;
	h->slots[at] = key;
	if (++h->count > HIT_PAGES_MAX)
		give_up(h);
}

void hits_merge(struct hits *h, const struct hits *from)
{
	if (from->all && !h->all)
		give_up(h);
	for (size_t i = 0; from->slots && i <= from->mask && !h->all; i++)
		if (from->slots[i])
			hits_add_page(h, from->slots[i]);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void hits_sort(struct hits *h)
{
	h->sorted.len = 0;
	for (size_t i = 0; h->slots && i <= h->mask; i++)
		if (h->slots[i])
			vec_push(&h->sorted, h->slots[i] - 1);
	if (h->sorted.len)
		qsort(h->sorted.items, h->sorted.len, sizeof(*h->sorted.items), by_number);
}

bool hits_in(const struct hits *h, uint64_t start, uint64_t length)
{
	uint64_t first = start >> HIT_PAGE_SHIFT, last = (start + length - 1) >> HIT_PAGE_SHIFT;
	size_t low = 0, high = h->sorted.len;

	if (h->all || !length)
		return h->all;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->sorted.items[middle] < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < h->sorted.len && h->sorted.items[low] <= last;
}

void hits_release(struct hits *h)
{
	if (h->slots)
		table_free(h->slots, h->mask + 1, sizeof(*h->slots));
	vec_release(&h->sorted);
	*h = (struct hits){};
}
