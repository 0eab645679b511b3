#include "perf/record.h"
#include "perf/sample.h"

#include <errno.h>

/* ---- one function a record type ---- */

ALWAYS_INLINE void walk_mmap(struct walk *w, struct mmap_view *m, bool swap)
{
	m->pid = walk_u32(w, swap);
	m->tid = walk_u32(w, swap);
	m->start = walk_u64(w, swap);
	m->length = walk_u64(w, swap);
	m->file_offset = walk_u64(w, swap);
}

/*
 * Linux before 3.16 had the name right here, and no protection is as large as its first letters.
 * The bytes in the middle are asked, so that the answer is the same before and after turning.
 */
ALWAYS_INLINE bool has_protection(const struct walk *w)
{
	return walk_left(w) > 8 && !w->at[1] && !w->at[2];
}

#define ID_PART_BYTES 24u /* size, 3 bytes reserved, 20 bytes */
#define ID_BYTES_MAX  20u
#define ID_BYTES_SURE 16u

/*
 * Linux (at least 5.12 to 6.18) marks the records of all who watch a process if one of them has asked for
 * build ids, also those that have device and inode. Who has not asked believes the mark only if what is
 * there can be an id: of a usual length, with zeros around it.
 */
ALWAYS_INLINE bool has_build_id(const struct walk *w, uint16_t misc, bool asked)
{
	unsigned char other = 0;

	if (!(misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return false;
	if (asked || walk_left(w) < ID_PART_BYTES)
		return true;
	if (w->at[0] < ID_BYTES_SURE || w->at[0] > ID_BYTES_MAX)
		return false;
	for (unsigned i = 1; i < ID_PART_BYTES; i++)
		other |= i < 4 || i >= 4u + w->at[0] ? w->at[i] : 0;
	return !other;
}

/* Device and inode, or the build id in their place. */
ALWAYS_INLINE void walk_mmap2(struct walk *w, uint16_t misc, bool ids_asked, struct mmap_view *m,
			      bool swap)
{
	const unsigned char *id;

	walk_mmap(w, m, swap);
	if (has_build_id(w, misc, ids_asked)) {
		id = walk_bytes(w, ID_PART_BYTES);
		if (!id)
			return;
		m->build_id_size = id[0] <= ID_BYTES_MAX ? id[0] : 0; /* more is a lie */
		m->build_id = id + 4;
	} else {
		m->major = walk_u32(w, swap);
		m->minor = walk_u32(w, swap);
		m->inode = walk_u64(w, swap);
		m->inode_generation = walk_u64(w, swap);
	}
	if (has_protection(w)) {
		m->prot = walk_u32(w, swap);
		m->flags = walk_u32(w, swap);
	}
	m->filename = walk_string(w);
}

ALWAYS_INLINE void walk_task(struct walk *w, struct task_view *t, bool swap)
{
	t->pid = walk_u32(w, swap);
	t->parent_pid = walk_u32(w, swap);
	t->tid = walk_u32(w, swap);
	t->parent_tid = walk_u32(w, swap);
	t->time_ns = walk_u64(w, swap);
}

ALWAYS_INLINE void walk_namespaces(struct walk *w, struct namespaces_view *n, bool swap)
{
	n->pid = walk_u32(w, swap);
	n->tid = walk_u32(w, swap);
	n->count = walk_u64(w, swap);
	if (n->count > RECORD_BYTES_MAX) {
		w->failed = true;
		return;
	}
	n->entries = (const void *)walk_words(w, n->count * 2, swap);
}

ALWAYS_INLINE void walk_ksymbol(struct walk *w, struct ksymbol_view *k, bool swap)
{
	k->address = walk_u64(w, swap);
	k->length = walk_u32(w, swap);
	k->type = walk_u16(w, swap);
	k->flags = walk_u16(w, swap);
	k->name = walk_string(w);
}

ALWAYS_INLINE void walk_text_poke(struct walk *w, struct text_poke_view *t, bool swap)
{
	t->address = walk_u64(w, swap);
	t->old_size = walk_u16(w, swap);
	t->new_size = walk_u16(w, swap);
	t->bytes = walk_bytes(w, (uint64_t)t->old_size + t->new_size);
}

ALWAYS_INLINE void walk_throttle(struct walk *w, struct throttle_view *t, bool swap)
{
	t->time_ns = walk_u64(w, swap);
	t->id = walk_u64(w, swap);
	t->stream_id = walk_u64(w, swap);
}

/* The body of any record but a sample; @l is for what reads counters. */
ALWAYS_INLINE void walk_body(const struct layout *l, struct walk *w, struct record *r, bool swap)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
		walk_mmap(w, &r->mmap, swap);
		r->mmap.filename = walk_string(w);
		break;
	case PERF_RECORD_MMAP2:
		walk_mmap2(w, r->misc, l->build_ids, &r->mmap, swap);
		break;
	case PERF_RECORD_LOST:
		r->lost.id = walk_u64(w, swap);
		r->lost.lost = walk_u64(w, swap);
		break;
	case PERF_RECORD_COMM:
		r->comm.pid = walk_u32(w, swap);
		r->comm.tid = walk_u32(w, swap);
		r->comm.comm = walk_string(w);
		break;
	case PERF_RECORD_EXIT:
	case PERF_RECORD_FORK:
		walk_task(w, &r->task, swap);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		walk_throttle(w, &r->throttle, swap);
		break;
	case PERF_RECORD_READ:
		r->read.pid = walk_u32(w, swap);
		r->read.tid = walk_u32(w, swap);
		walk_read(w, l->read_format, &r->read.values, swap);
		break;
	case PERF_RECORD_AUX:
		r->aux.offset = walk_u64(w, swap);
		r->aux.size = walk_u64(w, swap);
		r->aux.flags = walk_u64(w, swap);
		break;
	case PERF_RECORD_ITRACE_START:
		r->itrace.pid = walk_u32(w, swap);
		r->itrace.tid = walk_u32(w, swap);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		r->lost.lost = walk_u64(w, swap);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		r->context_switch.pid = walk_u32(w, swap);
		r->context_switch.tid = walk_u32(w, swap);
		break;
	case PERF_RECORD_NAMESPACES:
		walk_namespaces(w, &r->namespaces, swap);
		break;
	case PERF_RECORD_KSYMBOL:
		walk_ksymbol(w, &r->ksymbol, swap);
		break;
	case PERF_RECORD_BPF_EVENT:
		r->bpf.type = walk_u16(w, swap);
		r->bpf.flags = walk_u16(w, swap);
		r->bpf.id = walk_u32(w, swap);
		r->bpf.tag = walk_bytes(w, 8);
		break;
	case PERF_RECORD_CGROUP:
		r->cgroup.id = walk_u64(w, swap);
		r->cgroup.path = walk_string(w);
		break;
	case PERF_RECORD_TEXT_POKE:
		walk_text_poke(w, &r->text_poke, swap);
		break;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		r->hw_id = walk_u64(w, swap);
		break;
	case RECORD_CALLCHAIN_DEFERRED:
		r->deferred.cookie = walk_u64(w, swap);
		r->deferred.chain_len = walk_u64(w, swap);
		r->deferred.chain = walk_words(w, r->deferred.chain_len, swap);
		break;
	default:
		break; /* SWITCH has no body; what we do not know stays unread */
	}
}

ALWAYS_INLINE void walk_trailer(struct walk *w, uint64_t type, struct record_id *id, bool swap)
{
	if (type & PERF_SAMPLE_TID) {
		id->pid = walk_u32(w, swap);
		id->tid = walk_u32(w, swap);
	}
	if (type & PERF_SAMPLE_TIME)
		id->time_ns = walk_u64(w, swap);
	if (type & PERF_SAMPLE_ID)
		id->id = walk_u64(w, swap);
	if (type & PERF_SAMPLE_STREAM_ID)
		id->stream_id = walk_u64(w, swap);
	if (type & PERF_SAMPLE_CPU) {
		id->cpu = walk_u32(w, swap);
		walk_u32(w, swap); /* reserved */
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		id->id = walk_u64(w, swap);
}

ALWAYS_INLINE const char *walk_other(const struct layout *l, struct walk *w, struct record *r,
				     bool swap)
{
	if (r->type >= RECORD_KERNEL_END || !r->type)
		return NULL;
	/* Some tools wrote records without the id that was promised; then there is no room for it. */
	if (l->trailer_bytes && l->trailer_bytes <= walk_left(w)) {
		struct walk trailer = {.at = w->end - l->trailer_bytes, .end = w->end};

		r->has_id = true;
		w->end = trailer.at;
		walk_trailer(&trailer, l->sample_type, &r->id, swap);
	}
	walk_body(l, w, r, swap);
	return w->failed ? "the record is shorter than its type says, or a name in it does not end"
			 : NULL;
}

static int finish(const char *reason, const char **ret_reason)
{
	if (!reason)
		return 0;
	*ret_reason = reason;
	return -EBADMSG;
}

/* The walk only writes when it swaps, so that a view of constant bytes may be walked. */
static struct walk begin(const struct perf_event_header *h, struct record *ret)
{
	unsigned char *bytes = (unsigned char *)(uintptr_t)h;

	memset(ret, 0, sizeof(*ret));
	ret->type = h->type;
	ret->misc = h->misc;
	ret->size = h->size;
	return (struct walk){.at = bytes + sizeof(*h), .end = bytes + h->size};
}

int record_decode(const struct layout *l, const void *bytes, struct record *ret,
		  const char **ret_reason)
{
	struct walk w = begin(bytes, ret);

	if (ret->type == PERF_RECORD_SAMPLE) {
		ret->has_id = true;
		return finish(sample_decode(l, &w, ret), ret_reason);
	}
	return finish(walk_other(l, &w, ret, false), ret_reason);
}

int record_swap(const struct layout *l, void *bytes, const char **ret_reason)
{
	struct record r;
	struct walk w = begin(bytes, &r);

	if (r.type == PERF_RECORD_SAMPLE)
		return finish(sample_swap(l, &w, &r), ret_reason);
	return finish(walk_other(l, &w, &r, true), ret_reason);
}

struct read_value read_values_get(const struct read_view *values, uint64_t index)
{
	struct read_value v = {};
	const uint64_t *extra;

	if (index >= values->count || !values->words)
		return v;
	v.value = values->words[index * (values->rest ? 1u : values->words_each)];
	extra = values->rest ? values->rest : &values->words[index * values->words_each + 1];
	if (values->has_id)
		v.id = *extra++;
	if (values->has_lost)
		v.lost = *extra;
	return v;
}

const char *record_type_name(uint32_t type)
{
	static const char *const names[RECORD_KERNEL_END] = {
		[PERF_RECORD_MMAP] = "MMAP",
		[PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM",
		[PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE",
		[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK",
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE",
		[PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_AUX] = "AUX",
		[PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
		[RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	};

	return type < RECORD_KERNEL_END ? names[type] : NULL;
}
