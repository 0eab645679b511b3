#include "perf/sample.h"

/*
 * Bit fields of a branch's flags, the lowest first: mispredicted, predicted, in transaction, abort,
 * cycles, type, spec, new type, privilege, reserved. A big-endian machine lays them from the top.
 */
static const uint8_t branch_flag_bits[] = {1, 1, 1, 1, 16, 4, 2, 4, 3, 31};

static uint64_t branch_flags_turned(uint64_t foreign)
{
	uint64_t ours = 0;
	unsigned low = 0, high = 64;

	for (size_t i = 0; i < sizeof(branch_flag_bits); i++) {
		unsigned bits = branch_flag_bits[i];

		high -= bits;
		ours |= ((foreign >> high) & ((1ull << bits) - 1)) << low;
		low += bits;
	}
	return ours;
}

ALWAYS_INLINE void walk_branches(struct walk *w, const struct layout *l, struct branch_view *ret,
				 bool swap)
{
	uint64_t count = walk_u64(w, swap);

	ret->hw_index = ~0ull;
	ret->counters = NULL;
	if (l->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		ret->hw_index = walk_u64(w, swap);
	if (count > walk_left(w) / sizeof(struct branch_entry)) {
		w->failed = true;
		return;
	}
	ret->count = count;
	ret->entries = (const void *)walk_words(w, count * 3, swap);
	if (swap && ret->entries)
		for (uint64_t i = 0; i < count; i++) {
			struct branch_entry *entry =
				(struct branch_entry *)(uintptr_t)&ret->entries[i];

			entry->flags = branch_flags_turned(entry->flags);
		}
	if (l->branch_type & SAMPLE_BRANCH_COUNTERS)
		ret->counters = walk_words(w, count, swap);
}

ALWAYS_INLINE void walk_regs(struct walk *w, uint64_t mask, struct regs_view *ret, bool swap)
{
	*ret = (struct regs_view){.abi = walk_u64(w, swap), .mask = mask};
	if (ret->abi)
		ret->values = walk_words(w, (uint64_t)__builtin_popcountll(mask), swap);
}

/* What the kernel copied of the user's stack, and how much of it is valid. */
ALWAYS_INLINE void walk_stack(struct walk *w, struct bytes_view *ret, bool swap)
{
	uint64_t size = walk_u64(w, swap), valid;

	ret->size = 0;
	ret->data = walk_bytes(w, size);
	if (!size || !ret->data)
		return;
	valid = walk_u64(w, swap);
	ret->size = valid < size ? valid : size;
}

ALWAYS_INLINE void walk_weight(struct walk *w, const struct layout *l, struct sample *s, bool swap)
{
	/* One number, or three in the same 8 bytes; which one decides how to turn them around. */
	if (!(l->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)) {
		s->weight = walk_u64(w, swap);
		return;
	}
	if (swap) {
		/* The foreign struct begins with what is the last of ours. */
		uint64_t all = walk_u64(w, true);

		s->weight_low = (uint32_t)all;
		s->weight_mid = (uint16_t)(all >> 32);
		s->weight_high = (uint16_t)(all >> 48);
	} else {
		s->weight_low = walk_u32(w, false);
		s->weight_mid = walk_u16(w, false);
		s->weight_high = walk_u16(w, false);
	}
	s->weight = s->weight_low;
}

ALWAYS_INLINE void walk_fixed(struct walk *w, uint64_t type, struct record *ret, bool swap)
{
	struct record_id *id = &ret->id;
	struct sample *s = &ret->sample;

	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = walk_u64(w, swap);
	if (type & PERF_SAMPLE_IP)
		s->ip = walk_u64(w, swap);
	if (type & PERF_SAMPLE_TID) {
		id->pid = walk_u32(w, swap);
		id->tid = walk_u32(w, swap);
	}
	if (type & PERF_SAMPLE_TIME)
		id->time_ns = walk_u64(w, swap);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = walk_u64(w, swap);
	if (type & PERF_SAMPLE_ID)
		id->id = walk_u64(w, swap);
	if (type & PERF_SAMPLE_STREAM_ID)
		id->stream_id = walk_u64(w, swap);
	if (type & PERF_SAMPLE_CPU) {
		id->cpu = walk_u32(w, swap);
		walk_u32(w, swap); /* reserved */
	}
	if (type & PERF_SAMPLE_PERIOD)
		s->period = walk_u64(w, swap);
}

/* The rare parts behind the stack. */
ALWAYS_INLINE void walk_tail(struct walk *w, const struct layout *l, struct sample *s, bool swap)
{
	uint64_t type = l->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		walk_weight(w, l, s, swap);
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_src = walk_u64(w, swap);
	if (type & PERF_SAMPLE_TRANSACTION)
		s->transaction = walk_u64(w, swap);
	if (type & PERF_SAMPLE_REGS_INTR)
		walk_regs(w, l->regs_intr, &s->regs_intr, swap);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = walk_u64(w, swap);
	if (type & PERF_SAMPLE_CGROUP)
		s->cgroup = walk_u64(w, swap);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = walk_u64(w, swap);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = walk_u64(w, swap);
	if (type & PERF_SAMPLE_AUX) {
		s->aux.size = walk_u64(w, swap);
		s->aux.data = walk_bytes(w, s->aux.size);
	}
}

ALWAYS_INLINE const char *walk_sample(const struct layout *l, struct walk *w, struct record *ret,
				      bool swap)
{
	uint64_t type = l->sample_type;
	struct sample *s = &ret->sample;

	walk_fixed(w, type, ret, swap);
	if (w->failed)
		return "the sample is shorter than its event's parts";
	if (type & PERF_SAMPLE_READ)
		walk_read(w, l->read_format, &s->read, swap);
	if (w->failed)
		return "the counter values reach beyond the sample";
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->chain_len = walk_u64(w, swap);
		s->chain = walk_words(w, s->chain_len, swap);
		if (w->failed)
			return "the call chain reaches beyond the sample";
	}
	if (type & PERF_SAMPLE_RAW) {
		s->raw.size = walk_u32(w, swap);
		s->raw.data = walk_bytes(w, s->raw.size);
		if (w->failed)
			return "the raw data reaches beyond the sample";
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		walk_branches(w, l, &s->branches, swap);
	if (w->failed)
		return "the branch stack reaches beyond the sample";
	if (type & PERF_SAMPLE_REGS_USER)
		walk_regs(w, l->regs_user, &s->regs_user, swap);
	if (type & PERF_SAMPLE_STACK_USER)
		walk_stack(w, &s->stack_user, swap);
	walk_tail(w, l, s, swap);
	return w->failed ? "a part of the sample reaches beyond its end" : NULL;
}

const char *sample_decode(const struct layout *l, struct walk *w, struct record *ret)
{
	return walk_sample(l, w, ret, false);
}

const char *sample_swap(const struct layout *l, struct walk *w, struct record *ret)
{
	return walk_sample(l, w, ret, true);
}
