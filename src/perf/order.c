#include "perf/order.h"

#include <string.h>

#define SPARE_MAX 4
#define RUNS_MAX  1024 /* more than that are merged two by two before they are given out */

/* ---- blocks ---- */

struct block *order_block_new(struct order *o)
{
	struct block *b;

	o->block_count++;
	o->filling++;
	if (o->spare.len) {
		b = o->spare.items[--o->spare.len];
	} else {
		b = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
		if (!b)
			abort();
	}
	*b = (struct block){.filling = true};
	return b;
}

static void block_done(struct order *o, struct block *b)
{
	o->block_count--;
	if (o->spare.len < SPARE_MAX)
		vec_push(&o->spare, b);
	else
		free(b);
}

void order_block_close(struct order *o, struct block *b)
{
	b->filling = false;
	o->filling--;
	if (!b->waiting)
		block_done(o, b);
}

void order_block_hold(struct block *b)
{
	b->waiting++;
}

void order_block_let_go(struct order *o, struct block *b)
{
	if (!--b->waiting && !b->filling)
		block_done(o, b);
}

struct block *block_of(const void *bytes)
{
	return (struct block *)((uintptr_t)bytes & ~(uintptr_t)(BLOCK_BYTES - 1));
}

uint64_t block_offset_of(const void *bytes)
{
	const struct block *b = block_of(bytes);

	if (b->copies) {
		uint64_t offset;

		memcpy(&offset, (const unsigned char *)bytes - sizeof(offset), sizeof(offset));
		return offset;
	}
	if (b->outside)
		return b->file_offset;
	return b->file_offset + (uint64_t)((const unsigned char *)bytes - b->data);
}

/* ---- giving out ---- */

static void give(struct order *o, const struct order_entry *entry)
{
	struct block *b = block_of(entry->bytes);

	if (entry->time_ns < o->given_ns) {
		uint64_t late = o->given_ns - entry->time_ns;

		o->late++;
		o->worst_late_ns = late > o->worst_late_ns ? late : o->worst_late_ns;
	} else {
		o->given_ns = entry->time_ns;
	}
	if (!o->stopped && !o->give(o->ctx, entry))
		o->stopped = true;
	o->waiting--;
	order_block_let_go(o, b);
}

/* Runs by the time of their first record; where times are equal, the one that came first. */
static bool comes_before(const struct order *o, uint32_t a, uint32_t b)
{
	uint64_t x = o->entries.items[o->runs.items[a].next].time_ns;
	uint64_t y = o->entries.items[o->runs.items[b].next].time_ns;

	return x != y ? x < y : a < b;
}

static void sift_down(const struct order *o, uint32_t *heap, size_t len, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		uint32_t moved = heap[at];

		if (child >= len)
			return;
		if (child + 1 < len && comes_before(o, heap[child + 1], heap[child]))
			child++;
		if (comes_before(o, moved, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* Gives from the run at the top while no other run has something older, and more than @keep wait. */
static void give_from_top(struct order *o, const uint32_t *heap, size_t len, uint64_t limit_ns,
			  size_t keep)
{
	struct order_run *run = &o->runs.items[heap[0]];
	uint64_t stop = limit_ns;
	bool stop_before = false;

	for (size_t child = 1; child < 3 && child < len; child++) {
		uint64_t t = o->entries.items[o->runs.items[heap[child]].next].time_ns;

		/* An equal time is given first to the run that came first. */
		if (t < stop || (t == stop && heap[child] < heap[0] && !stop_before)) {
			stop_before = heap[child] < heap[0];
			stop = t;
		}
	}
	do
		give(o, &o->entries.items[run->next++]);
	while (run->next < run->end && o->waiting > keep &&
	       (o->entries.items[run->next].time_ns < stop ||
		(o->entries.items[run->next].time_ns == stop && !stop_before)));
}

/* Moves what is left to the front. */
static void compact(struct order *o)
{
	size_t to = 0, runs = 0;

	vec_each(&o->runs, run) {
		size_t len = run->end - run->next;

		if (!len)
			continue;
		memmove(&o->entries.items[to], &o->entries.items[run->next],
			len * sizeof(*o->entries.items));
		o->runs.items[runs++] = (struct order_run){to, to + len};
		to += len;
	}
	o->entries.len = to;
	o->runs.len = runs;
}

/* Two runs that lie side by side; of equal times the left one's come first. */
static void merge_two(const struct order_entry *from, struct order_run left, struct order_run right,
		      struct order_entry *to)
{
	while (left.next < left.end && right.next < right.end) {
		if (from[right.next].time_ns < from[left.next].time_ns)
			*to++ = from[right.next++];
		else
			*to++ = from[left.next++];
	}
	memcpy(to, &from[left.next], (left.end - left.next) * sizeof(*to));
	to += left.end - left.next;
	memcpy(to, &from[right.next], (right.end - right.next) * sizeof(*to));
}

/*
 * Where nothing is in order, every record is a run of its own, and a heap of millions misses the
 * cache at every step. Merging neighbours walks straight through memory.
 */
static void merge_neighbours(struct order *o)
{
	struct order_entry *spare = NULL;

	while (o->runs.len > RUNS_MAX) {
		struct order_entry *from = o->entries.items;
		size_t runs = 0;

		if (!spare)
			spare = xrealloc(NULL, o->entries.cap, sizeof(*spare));
		for (size_t i = 0; i < o->runs.len; i += 2) {
			struct order_run left = o->runs.items[i];
			struct order_run right = {left.end, left.end};

			if (i + 1 < o->runs.len)
				right = o->runs.items[i + 1];
			merge_two(from, left, right, &spare[left.next]);
			o->runs.items[runs++] = (struct order_run){left.next, right.end};
		}
		o->runs.len = runs;
		o->entries.items = spare;
		spare = from;
	}
	free(spare);
}

static void flush_until(struct order *o, uint64_t limit_ns, size_t keep)
{
	uint32_t *heap;
	size_t len;

	merge_neighbours(o);
	len = o->runs.len;
	heap = xcalloc(len + 1, sizeof(*heap));
	for (size_t i = 0; i < len; i++)
		heap[i] = (uint32_t)i;
	for (size_t i = len / 2; i-- > 0;)
		sift_down(o, heap, len, i);
	while (len && o->waiting > keep) {
		const struct order_run *run = &o->runs.items[heap[0]];

		if (o->entries.items[run->next].time_ns > limit_ns)
			break;
		give_from_top(o, heap, len, limit_ns, keep);
		if (run->next == run->end)
			heap[0] = heap[--len];
		sift_down(o, heap, len, 0);
	}
	free(heap);
	compact(o);
}

/* ---- taking in ---- */

void order_push(struct order *o, uint64_t time_ns, unsigned char *bytes, uint32_t event)
{
	if (o->block_count - o->filling > ORDER_BYTES_MAX / BLOCK_BYTES ||
	    o->waiting >= ORDER_ENTRIES_MAX)
		flush_until(o, UINT64_MAX, o->waiting / 2);
	/* The last run ends with the last entry. */
	if (o->runs.len && o->entries.items[o->entries.len - 1].time_ns <= time_ns)
		o->runs.items[o->runs.len - 1].end++;
	else
		vec_push(&o->runs, (struct order_run){o->entries.len, o->entries.len + 1});
	vec_push(&o->entries, (struct order_entry){time_ns, bytes, event});
	o->waiting++;
	block_of(bytes)->waiting++;
	if (time_ns > o->newest_ns)
		o->newest_ns = time_ns;
}

void order_round(struct order *o)
{
	if (o->whole)
		return;
	flush_until(o, o->next_flush_ns, 0);
	o->next_flush_ns = o->newest_ns;
}

void order_flush_until(struct order *o, uint64_t limit_ns)
{
	flush_until(o, limit_ns, 0);
}

void order_flush_all(struct order *o)
{
	flush_until(o, UINT64_MAX, 0);
}

void order_release(struct order *o)
{
	o->stopped = true; /* what still waits is only let go */
	order_flush_all(o);
	vec_each(&o->spare, b)
		free(*b);
	vec_release(&o->spare);
	vec_release(&o->entries);
	vec_release(&o->runs);
}
