/*
 * The numbers of a report: samples added up by what the user sorts by, with what an entry has by
 * itself and with all that it called, and the call chains below an entry.
 *
 * What a sample is sorted by has two parts. A *group* is what holds for the whole sample: event,
 * thread, CPU, time. A *place* is what holds for one frame of its stack: library, function, source
 * line. An entry is one group and one place. A sample counts for an entry once, however often the
 * place occurs in its stack (recursion), and counts as its own where the place is the sampled one.
 * Inlined functions have nothing of their own: the function that holds the code has it.
 *
 * Chains are worked out for one entry at a time, when they are wanted, and not below a given weight:
 * that is what keeps a report small, because the chains of all entries together are larger than
 * the call tree by its depth.
 *
 * The profile must live longer than the report. One thread at a time.
 */
#ifndef TACHO_ANALYZE_REPORT_REPORT_H
#define TACHO_ANALYZE_REPORT_REPORT_H

#include "analyze/tree/calltree.h"

enum report_key {
	REPORT_EVENT,
	REPORT_COMM,
	REPORT_PID,
	REPORT_TID,
	REPORT_CPU,
	REPORT_TIME,
	REPORT_DSO,
	REPORT_SYM,
	REPORT_SRCLINE,
	REPORT_SRCFILE,
	REPORT_KEYS,
};

/* What steps of a chain are merged by. Function and line or address: a function may be several steps. */
enum chain_key { CHAIN_BY_FUNCTION, CHAIN_BY_ADDRESS, CHAIN_BY_LINE };

struct report_options {
	uint32_t keys; /* 1 << enum report_key, or-ed */
	enum chain_key chain_key;
	bool children;    /* entries for callers too; else only for sampled places */
	bool chains;      /* report_chains() will be asked */
	bool one_section; /* all events in one list; then REPORT_EVENT should be a key */
	bool no_inlines;
	bool relative; /* 100 % is what is shown, not all that was recorded */
	/* Samples of which threads, and entries for which functions; NULL: all. */
	bool (*want_thread)(void *ctx, const struct profile_thread *thread);
	bool (*want_function)(void *ctx, const struct profile_function *function);
	void *ctx;
};

/* What is not sorted by is 0. */
struct report_group {
	event_id event;
	thread_id thread; /* the first one that had it, for its name */
	string_id comm;
	uint32_t pid, tid, cpu, bucket;
};

struct report_place {
	function_id function;
	string_id module; /* its name */
	string_id file;
	uint32_t line;
	bool inlined;
	uint64_t address; /* of chain steps that are merged by it, else 0 */
};

struct report_entry {
	uint32_t group, place; /* of report.groups, report.places */
	uint64_t self, total, self_samples, total_samples;
	uint32_t depth;      /* where it first stands in a stack; callers go above callees */
	uint32_t first_node; /* nodes of the tree that are it, and those that are sampled in it */
	uint32_t first_leaf;
};

struct report_section {
	event_id event;
	uint64_t weight, samples; /* 100 % */
	VEC(uint32_t) entries;    /* that are shown, the largest first */
};

struct report {
	const struct profile *profile;
	struct report_options o;
	VEC(struct report_group) groups;
	VEC(struct report_place) places;
	VEC(struct report_entry) entries;
	VEC(struct report_section) sections; /* an event each, or one */
	VEC(uint64_t) event_weight;          /* 100 % of an event, */
	VEC(uint64_t) event_samples;         /* and of its samples */
	VEC(struct report_place) steps;      /* by key of the tree: what is shown of it in chains */
	struct slots group_slots;
	uint32_t *key_of_name, *place_of_key; /* see report.c */
	bool *hidden_key;
	struct calltree tree;
	uint32_t *next_same, *same_above, *next_leaf; /* by node */
	uint64_t *scratch;
};

void report_build(struct report *r, const struct profile *p, const struct report_options *o);
void report_release(struct report *r);

/* 100 % for an entry, as weight or as a number of samples. */
uint64_t report_whole(const struct report *r, const struct report_entry *e);
uint64_t report_whole_samples(const struct report *r, const struct report_entry *e);

/* ---- chains (chains.c) ---- */

/*
 * A node of an entry's chains. Caller: from the outermost function down to the sampled one, of
 * callers from themselves on. Callee: from the sampled place up, of callers from themselves on.
 */
struct chain_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none; the heaviest first */
	uint32_t key;                       /* of the tree, see calltree.h */
	function_id function;
	bool inlined;
	uint64_t weight;
	uint64_t below; /* weight of all children, also of those that are left out */
};

struct chains {
	VEC(struct chain_node) nodes; /* node 0: the entry, with all its weight */
};

struct chain_options {
	bool caller;
	bool samples;    /* weights are numbers of samples, not periods */
	size_t limit;    /* at most so many branches below a step, the heaviest; 0: all */
	uint64_t min;    /* chains that weigh less are left out, */
	double min_part; /* or those that are less than this part of all beside them */
};

/* All of an entry's weight. */
uint64_t report_chain_weight(const struct report *r, const struct report_entry *entry,
			     const struct chain_options *o);
void report_chains(struct report *r, const struct report_entry *entry,
		   const struct chain_options *o, struct chains *ret);
void chains_release(struct chains *c);

#endif
