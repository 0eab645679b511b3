#include "analyze/paths/node_histogram.h"

static void scratch_for(struct node_scratch *s, const struct call_paths *c)
{
	if (s->len >= c->nodes.len)
		return;
	node_scratch_release(s);
	s->len = c->nodes.len;
	s->place = table_alloc(s->len, sizeof(*s->place));
}

/* Adds the entries of one event and thread. @place has the number of each node's entry, + 1. */
static size_t add_segment(struct node_histogram *ret, const struct histogram *h, size_t from,
			  const struct call_paths *c, uint32_t *place)
{
	struct node_segment segment = {.event = h->event[from],
				       .thread = h->thread[from],
				       .start = (uint32_t)ret->entries.len};
	size_t i = from;

	for (; i < h->len && h->event[i] == segment.event && h->thread[i] == segment.thread; i++) {
		uint32_t node = call_path_known(c, h->stack[i]);
		struct node_entry *entry;

		if (!place[node]) {
			vec_push(&ret->entries, (struct node_entry){.node = node});
			place[node] = (uint32_t)ret->entries.len;
		}
		entry = &ret->entries.items[place[node] - 1];
		entry->samples += h->samples[i];
		entry->weight += h->weight[i];
		segment.samples += h->samples[i];
		segment.weight += h->weight[i];
	}
	segment.len = (uint32_t)ret->entries.len - segment.start;
	for (uint32_t n = segment.start; n < ret->entries.len; n++)
		place[ret->entries.items[n].node] = 0;
	vec_push(&ret->segments, segment);
	return i;
}

void node_histogram_make(struct node_histogram *ret, const struct histogram *h,
			 const struct call_paths *c, struct node_scratch *scratch)
{
	*ret = (struct node_histogram){};
	scratch_for(scratch, c);
	vec_reserve(&ret->entries, h->len);
	for (size_t i = 0; i < h->len;)
		i = add_segment(ret, h, i, c, scratch->place);
	/* The histogram is kept for long: give back the room that merging has saved. */
	if (ret->entries.len) {
		ret->entries.items =
			xrealloc(ret->entries.items, ret->entries.len, sizeof(*ret->entries.items));
		ret->entries.cap = ret->entries.len;
	}
}

void node_histogram_release(struct node_histogram *h)
{
	vec_release(&h->segments);
	vec_release(&h->entries);
}

void node_scratch_release(struct node_scratch *s)
{
	table_free(s->place, s->len, sizeof(*s->place));
	*s = (struct node_scratch){};
}

size_t node_histogram_bytes(const struct node_histogram *h)
{
	return h->segments.cap * sizeof(*h->segments.items) +
	       h->entries.cap * sizeof(*h->entries.items);
}
