#include "profile/chunk_order.h"

/* Merges the ascending runs [@begin, @middle) and [@middle, @end) into @to. */
static void merge_runs(const struct row_key *from, size_t begin, size_t middle, size_t end,
		       struct row_key *to)
{
	size_t left = begin, right = middle;

	for (size_t i = begin; i < end; i++)
		if (right == end || (left < middle && from[left].time_ns <= from[right].time_ns))
			to[i] = from[left++];
		else
			to[i] = from[right++];
}

static size_t run_end(const struct row_key *keys, size_t begin, size_t count)
{
	size_t end = begin + 1;

	while (end < count && keys[end].time_ns >= keys[end - 1].time_ns)
		end++;
	return end < count ? end : count;
}

/* The input mostly consists of a few ascending runs, often of one. Merging neighbouring runs until one is
 * left is fast for these, and stable. */
struct row_key *row_keys_sort(struct row_key *keys, struct row_key *spare, size_t count)
{
	while (run_end(keys, 0, count) < count) {
		struct row_key *swap = keys;

		for (size_t begin = 0, middle, end; begin < count; begin = end) {
			middle = run_end(keys, begin, count);
			end = middle < count ? run_end(keys, middle, count) : count;
			merge_runs(keys, begin, middle, end, spare);
		}
		keys = spare;
		spare = swap;
	}
	return keys;
}
