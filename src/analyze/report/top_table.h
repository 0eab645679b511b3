/*
 * The counts of a live view: samples by event, process and call chain, for the last seconds and
 * since the start. The caller interns the process and call chain of a sample, adds the sample, and
 * ends a slice a few times a second.
 *
 * Shares are those of a window: exactly the samples of the last N seconds, not a decaying mean. So
 * they can be understood, and compared with a recording of those seconds. Slices are kept for the
 * longest window, so that the window can be changed at any time.
 *
 * Memory is bounded, however long the view runs: when the tables are full, everything that no kept
 * slice refers to is removed; its sums go to one process and function called "[older]", so that the
 * totals stay right. Numbers returned before are then invalid, and `generation` is increased.
 *
 * One thread at a time; views (top_view.h) only read.
 */
#ifndef TACHO_ANALYZE_REPORT_TOP_TABLE_H
#define TACHO_ANALYZE_REPORT_TOP_TABLE_H

#include "analyze/tree/children.h"
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

/* A function and its caller's node. A call chain is identified by its leaf's node. */
struct top_node {
	uint32_t parent;
	uint32_t function;
};

struct top_sum {
	uint64_t samples, weight;
};

struct top_cell {
	uint32_t event, process, node;
	uint32_t entry; /* in the current slice, if `slice` is that slice's number */
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
	struct children children; /* nodes by function */
	struct slots process_slots, function_slots, cell_slots;
	VEC(struct top_slice) slices; /* the last is the current one */
	size_t first_in_window;
	size_t entry_count;
	uint64_t slice_number, seed;
};

/* @limits NULL: defaults for hours on a large machine, about 100 MB at most. */
void top_table_init(struct top_table *t, uint64_t window_ns, const struct top_limits *limits);
void top_table_release(struct top_table *t);

uint32_t top_process(struct top_table *t, uint32_t pid, const char *comm);
uint32_t top_function(struct top_table *t, const char *dso, const char *name, enum code_kind kind);
/* @parent: the caller's node, 0 for an outermost function. */
uint32_t top_node(struct top_table *t, uint32_t parent, uint32_t function);
void top_add(struct top_table *t, uint32_t event, uint32_t process, uint32_t node, uint64_t samples,
	     uint64_t weight);

/* Ends the current slice at @now_ns and moves the window. May renumber: see `generation`. */
void top_end_slice(struct top_table *t, uint64_t now_ns);
void top_set_window(struct top_table *t, uint64_t window_ns);

static inline const char *top_text(const struct top_table *t, uint32_t string)
{
	return profile_text(&t->names, (string_id){string});
}

#endif
