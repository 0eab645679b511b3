/*
 * The numbers of a report: samples added up by the user's sort keys. Each entry has its own weight
 * (self), its weight with everything it called (total), and call chains.
 *
 * There are two kinds of keys. A *group* is common to the whole sample: event, thread, CPU, time, fields of its tracepoint.
 * A *place* is about one frame of its stack: library, function, source line. An entry is one group
 * and one place. A sample counts for an entry once, however often the place occurs in its stack
 * (recursion), and counts as self if the place is the sampled one. Inlined functions have no self
 * weight: it belongs to the function that holds the code.
 *
 * Chains are computed for one entry at a time, on demand, and not below a given weight. That keeps
 * a report small: the chains of all entries together are larger than the call tree by a factor of
 * its depth.
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
	REPORT_FIELDS, /* of the tracepoint, all that the profile's rows are split by */
	REPORT_KEYS,
};

/* What steps of a chain are merged by. By address or line, a function may be several steps. */
enum chain_key { CHAIN_BY_FUNCTION, CHAIN_BY_ADDRESS, CHAIN_BY_LINE };

struct report_options {
	uint32_t keys; /* 1 << enum report_key, or-ed */
	enum chain_key chain_key;
	bool children;    /* entries for callers too; else only for sampled places */
	bool chains;      /* report_chains() will be called */
	bool one_section; /* all events in one list; then REPORT_EVENT should be a key */
	bool no_inlines;
	bool relative; /* 100 % is the sum of the shown entries, not of all samples */
	/* Threads whose samples count, and functions that get entries; NULL: all. */
	bool (*want_thread)(void *ctx, const struct profile_thread *thread);
	bool (*want_function)(void *ctx, const struct profile_function *function);
	void *ctx;
};

/* comm, fields, pid, tid, cpu and bucket are 0 unless the report is sorted by them. */
struct report_group {
	event_id event;
	thread_id thread; /* first thread of the group, for its name */
	string_id comm;
	string_id fields; /* key of the rows: see resolve/trace_key.h */
	uint32_t pid, tid, cpu, bucket;
};

struct report_place {
	function_id function;
	string_id module; /* its name */
	string_id file;
	uint32_t line : 31;
	uint32_t inlined : 1;
	uint64_t address; /* for chain steps merged by address, else 0 */
};

struct report_entry {
	uint32_t group, place; /* of report.groups, report.places */
	uint64_t self, total, self_samples, total_samples;
	uint32_t depth;      /* smallest depth in a stack; sorts callers before callees */
	uint32_t first_node; /* list of the entry's nodes in the tree, linked by next_same */
	uint32_t first_leaf; /* list of the nodes whose samples are its own, by next_leaf */
};

struct report_section {
	event_id event;
	uint64_t weight, samples; /* 100 % */
	VEC(uint32_t) entries;    /* shown entries, the largest first */
};

struct report {
	const struct profile *profile;
	struct report_options o;
	VEC(struct report_group) groups;
	VEC(struct report_place) places;
	VEC(struct report_entry) entries;
	VEC(struct report_section) sections; /* one for each event, or only one */
	VEC(uint64_t) event_weight;          /* by event: the weight that is 100 % */
	VEC(uint64_t) event_samples;         /* by event: the samples that are 100 % */
	VEC(struct report_place) steps;      /* by key of the tree: how chains show it */
	struct slots group_slots;
	uint32_t *key_of_name, *place_of_key; /* see report.c */
	bool *hidden_key;
	struct calltree tree;
	uint32_t *next_same, *same_above, *next_leaf; /* by node; 0: none */
	uint64_t *scratch;
};

void report_build(struct report *r, const struct profile *p, const struct report_options *o);
void report_release(struct report *r);

/* Return what 100 % is for an entry, as weight or as a number of samples. */
uint64_t report_whole(const struct report *r, const struct report_entry *e);
uint64_t report_whole_samples(const struct report *r, const struct report_entry *e);

/* ---- chains (chains.c) ---- */

/*
 * A node of an entry's chains. With chain_options.caller, chains of the entry's own samples go from
 * the outermost function down to the sampled one, otherwise from the sampled one up. Chains of
 * samples in its callees begin at the entry, in both cases.
 */
struct chain_node {
	uint32_t parent;
	uint32_t first_child, next_sibling; /* 0: none; the heaviest first */
	uint32_t key;                       /* of the tree, see calltree.h */
	function_id function;
	bool inlined;
	uint64_t weight;
	uint64_t below; /* weight of all children, including those left out */
};

struct chains {
	VEC(struct chain_node) nodes; /* node 0: the entry, with all its weight */
};

struct chain_options {
	bool caller;
	bool samples;    /* weights are numbers of samples, not periods */
	size_t limit;    /* most branches below a step, the heaviest are kept; 0: all */
	uint64_t min;    /* lighter chains are left out, */
	double min_part; /* and those below this share of all branches beside them */
};

/* Returns the weight of all chains of an entry. */
uint64_t report_chain_weight(const struct report *r, const struct report_entry *entry,
			     const struct chain_options *o);
void report_chains(struct report *r, const struct report_entry *entry,
		   const struct chain_options *o, struct chains *ret);
void chains_release(struct chains *c);

#endif
