/*
 * What a live view counts: samples by event, process and call chain, of the last seconds and of all
 * the time. The caller interns what a sample refers to, adds, and ends a slice a few times a second.
 *
 * Shares are those of a window: exactly the samples of the last N seconds, not of a mean that fades.
 * What stands there can then be understood, and compared with a recording of those seconds. Slices
 * are kept for the longest window, so that it can be changed at any time.
 *
 * Memory is bounded, however long it runs: when the tables are full, what no kept slice refers to is
 * forgotten; its sums go to one process and function called "[older]", so that all still adds up.
 * Numbers given before are not valid any more then, and `generation` says so.
 *
 * One thread at a time; views (top_view.h) only read.
 */
#ifndef TACHO_ANALYZE_REPORT_TOP_TABLE_H
#define TACHO_ANALYZE_REPORT_TOP_TABLE_H

#include "base/buf.h"
#include "profile/profile.h"

#define TOP_KEEP_NS (60ull * 1000000000)

/* Number 0 is "none" in each table. */
struct top_process {
	uint32_t pid;
	uint32_t comm; /* string */
};

struct top_function {
	uint32_t dso, name; /* strings */
	enum code_kind kind;
};

/* A function with its caller's node; a call chain is known by its leaf. */
struct top_node {
	uint32_t parent;
	uint32_t function;
};

struct top_sum {
	uint64_t samples, weight;
};

struct top_cell {
	uint32_t event, process, node;
	uint32_t entry; /* in the current slice, if `slice` is its number */
	uint64_t slice;
	struct top_sum window, all;
};

struct top_entry {
	uint32_t cell, samples;
	uint64_t weight;
};

struct top_slice {
	uint64_t end_ns;
	VEC(struct top_entry) entries;
};

struct top_limits {
	size_t cells, nodes, string_bytes;
	size_t entries; /* of all slices together */
};

struct top_table {
	struct top_limits limits;
	uint64_t window_ns;
	unsigned generation;
	struct profile names; /* only its strings are used */
	VEC(struct top_process) processes;
	VEC(struct top_function) functions;
	VEC(struct top_node) nodes;
	VEC(struct top_cell) cells;
	struct slots process_slots, function_slots, node_slots, cell_slots;
	VEC(struct top_slice) slices; /* the last is the current one */
	size_t first_in_window;
	size_t entry_count;
	uint64_t slice_number, seed;
};

/* @limits NULL: what suits hours on a large machine, about 100 MB at most. */
void top_table_init(struct top_table *t, uint64_t window_ns, const struct top_limits *limits);
void top_table_release(struct top_table *t);

uint32_t top_process(struct top_table *t, uint32_t pid, const char *comm);
uint32_t top_function(struct top_table *t, const char *dso, const char *name, enum code_kind kind);
/* @parent: the caller's node, 0 for an outermost function. */
uint32_t top_node(struct top_table *t, uint32_t parent, uint32_t function);
void top_add(struct top_table *t, uint32_t event, uint32_t process, uint32_t node, uint64_t samples,
	     uint64_t weight);

/* What was added since the last call happened up to now; what is too old leaves the window. */
void top_end_slice(struct top_table *t, uint64_t now_ns);
void top_set_window(struct top_table *t, uint64_t window_ns);

static inline const char *top_text(const struct top_table *t, uint32_t string)
{
	return profile_text(&t->names, (string_id){string});
}

#endif
