/*
 * Records of the kernel, decoded. A struct record is a view: its pointers lead into the bytes that
 * it was decoded from, and every length has been checked against them. The bytes are in our byte
 * order; record_swap() has turned around those of a foreign machine.
 *
 * To add a record type: its view below, a case in record.c, a name in record_type_name().
 */
#ifndef TACHO_PERF_RECORD_H
#define TACHO_PERF_RECORD_H

#include "perf/layout.h"

/* Who, when and where: at the start of a sample, at the end of other records. */
struct record_id {
	uint32_t pid, tid, cpu;
	uint64_t time_ns, id, stream_id;
};

/* One value of PERF_SAMPLE_READ. */
struct read_value {
	uint64_t value, id, lost;
};

/* The values of a counter or of its group; read_values_get() takes them out one by one. */
struct read_view {
	uint64_t count, enabled_ns, running_ns;
	const uint64_t *words; /* of a group: count × words_each; else the value, and */
	const uint64_t *rest;  /* its id and losses, which stand behind the times */
	uint8_t words_each;
	bool has_id, has_lost;
};

struct branch_entry {
	uint64_t from, to, flags;
};

struct branch_view {
	uint64_t count, hw_index; /* hw_index: ~0 if unknown */
	const struct branch_entry *entries;
	const uint64_t *counters; /* one for each entry, or NULL */
};

/* Only the registers of `mask` are there, the lowest first; abi 0: none at all. */
struct regs_view {
	uint64_t abi, mask;
	const uint64_t *values;
};

struct bytes_view {
	uint64_t size;
	const unsigned char *data;
};

struct sample {
	uint64_t ip, addr, period;
	struct read_view read;
	uint64_t chain_len;
	const uint64_t *chain; /* PERF_CONTEXT_* marks among the addresses */
	struct bytes_view raw;
	struct branch_view branches;
	struct regs_view regs_user, regs_intr;
	struct bytes_view stack_user; /* size: what is valid of it */
	uint64_t weight, data_src, transaction, phys_addr, cgroup;
	uint32_t weight_low;              /* of WEIGHT_STRUCT: var1, */
	uint16_t weight_mid, weight_high; /* var2 and var3 */
	uint64_t data_page_size, code_page_size;
	struct bytes_view aux;
};

struct mmap_view {
	uint32_t pid, tid;
	uint64_t start, length, file_offset;
	uint32_t major, minor, prot, flags;
	uint64_t inode, inode_generation;
	uint8_t build_id_size; /* then there is no inode */
	const unsigned char *build_id;
	const char *filename;
};

struct comm_view {
	uint32_t pid, tid;
	const char *comm;
};

struct task_view { /* FORK and EXIT */
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_view {
	uint64_t id, lost;
};

struct throttle_view {
	uint64_t time_ns, id, stream_id;
};

struct reading_view {
	uint32_t pid, tid;
	struct read_view values;
};

struct aux_view {
	uint64_t offset, size, flags;
};

struct itrace_view {
	uint32_t pid, tid;
};

struct switch_view { /* of SWITCH_CPU_WIDE: the next or the previous task */
	uint32_t pid, tid;
};

struct namespace_entry {
	uint64_t device, inode;
};

struct namespaces_view {
	uint32_t pid, tid;
	uint64_t count;
	const struct namespace_entry *entries;
};

struct ksymbol_view {
	uint64_t address;
	uint32_t length;
	uint16_t type, flags;
	const char *name;
};

struct bpf_view {
	uint16_t type, flags;
	uint32_t id;
	const unsigned char *tag; /* 8 bytes */
};

struct cgroup_view {
	uint64_t id;
	const char *path;
};

struct text_poke_view {
	uint64_t address;
	uint16_t old_size, new_size;
	const unsigned char *bytes; /* old, then new */
};

struct deferred_view {
	uint64_t cookie, chain_len;
	const uint64_t *chain;
};

struct record {
	uint32_t type;
	uint16_t misc, size;
	bool has_id; /* `id` is there, as far as the event's sample_type has it */
	struct record_id id;
	union {
		struct sample sample;
		struct mmap_view mmap;
		struct comm_view comm;
		struct task_view task;
		struct lost_view lost; /* LOST, and LOST_SAMPLES without an id */
		struct throttle_view throttle;
		struct reading_view read;
		struct aux_view aux;
		struct itrace_view itrace;
		struct switch_view context_switch;
		struct namespaces_view namespaces;
		struct ksymbol_view ksymbol;
		struct bpf_view bpf;
		struct cgroup_view cgroup;
		struct text_poke_view text_poke;
		uint64_t hw_id;
		struct deferred_view deferred;
	};
};

/*
 * Decodes the record at @bytes, which has a valid header and is header.size long. On failure
 * (-EBADMSG) *ret_reason is a constant sentence. Types that we do not know give only their header.
 */
int record_decode(const struct layout *l, const void *bytes, struct record *ret,
		  const char **ret_reason);

/* The same, but of a foreign byte order, and turns the bytes around in place. The header is in our
 * order already. */
int record_swap(const struct layout *l, void *bytes, const char **ret_reason);

struct read_value read_values_get(const struct read_view *values, uint64_t index);

/* "SAMPLE", "MMAP2" …; NULL if we do not know it. */
const char *record_type_name(uint32_t type);

#endif
