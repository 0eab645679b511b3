/*
 * Reads every byte that a decoded record leads to, so that a view reaching outside of its record is
 * seen by the sanitizers, or by the bounds that are given here.
 */
#ifndef TACHO_TESTS_RECORD_TOUCH_H
#define TACHO_TESTS_RECORD_TOUCH_H

#include "perf/record.h"

#include <stdlib.h>
#include <string.h>

static volatile unsigned char touched;

static inline void touch_bytes(const struct perf_event_header *h, const void *at, uint64_t size)
{
	const unsigned char *from = at, *begin = (const void *)h;

	if (!size)
		return;
	if (from < begin + sizeof(*h) || size > h->size || from + size > begin + h->size)
		abort();
	for (uint64_t i = 0; i < size; i++)
		touched ^= from[i];
}

static inline void touch_text(const struct perf_event_header *h, const char *s)
{
	touch_bytes(h, s, strlen(s) + 1);
}

static inline void touch_read(const struct read_view *v)
{
	for (uint64_t i = 0; i < v->count; i++) {
		struct read_value one = read_values_get(v, i);

		touched ^= (unsigned char)(one.value ^ one.id ^ one.lost);
	}
}

static inline void touch_sample(const struct perf_event_header *h, const struct layout *l,
				const struct sample *s)
{
	const struct branch_view *b = &s->branches;

	if (l->sample_type & PERF_SAMPLE_READ)
		touch_read(&s->read);
	touch_bytes(h, s->chain, s->chain_len * 8);
	touch_bytes(h, s->raw.data, s->raw.size);
	touch_bytes(h, b->entries, b->count * sizeof(*b->entries));
	if (b->counters)
		touch_bytes(h, b->counters, b->count * 8);
	if (s->regs_user.abi)
		touch_bytes(h, s->regs_user.values,
			    8u * (unsigned)__builtin_popcountll(s->regs_user.mask));
	if (s->regs_intr.abi)
		touch_bytes(h, s->regs_intr.values,
			    8u * (unsigned)__builtin_popcountll(s->regs_intr.mask));
	touch_bytes(h, s->stack_user.data, s->stack_user.size);
	touch_bytes(h, s->aux.data, s->aux.size);
}

static inline void touch_record(const struct perf_event_header *h, const struct layout *l,
				const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		touch_sample(h, l, &r->sample);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		touch_text(h, r->mmap.filename);
		touch_bytes(h, r->mmap.build_id, r->mmap.build_id_size);
		break;
	case PERF_RECORD_COMM:
		touch_text(h, r->comm.comm);
		break;
	case PERF_RECORD_READ:
		touch_read(&r->read.values);
		break;
	case PERF_RECORD_NAMESPACES:
		touch_bytes(h, r->namespaces.entries,
			    r->namespaces.count * sizeof(*r->namespaces.entries));
		break;
	case PERF_RECORD_KSYMBOL:
		touch_text(h, r->ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		touch_bytes(h, r->bpf.tag, 8);
		break;
	case PERF_RECORD_CGROUP:
		touch_text(h, r->cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		touch_bytes(h, r->text_poke.bytes,
			    (uint64_t)r->text_poke.old_size + r->text_poke.new_size);
		break;
	case RECORD_CALLCHAIN_DEFERRED:
		touch_bytes(h, r->deferred.chain, r->deferred.chain_len * 8);
		break;
	default:
		break;
	}
}

#endif
