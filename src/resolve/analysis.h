/*
 * All that is at work while records become a profile. resolve_file() does it for a whole file;
 * live views keep one and give it record by record, in the order of time:
 *
 *	analysis_init(&a, file, modules, &options, &profile, &e);
 *	perfdata_read(file, …)      // whose visitor calls analysis_record() for each
 *	analysis_name(&a);          // now and then: rows are complete, new frames get names
 *	analysis_release(&a);       // the profile stays
 *
 * One thread.
 */
#ifndef TACHO_RESOLVE_ANALYSIS_H
#define TACHO_RESOLVE_ANALYSIS_H

#include "resolve/group_counts.h"
#include "resolve/namer.h"

struct analysis {
	struct perfdata *file;
	struct profile *profile;
	struct resolve_options options;
	struct history history;
	size_t forget_nodes; /* of maps: from so many on there is something to forget */
	uint64_t forgot_ns;  /* when that was done last */
	struct resolve_shared shared;
	struct resolver resolver;
	struct namer namer;
	struct group_counts counts;
	bool twice;        /* the file is read a second time, for its samples */
	size_t events;     /* of the file that were looked at */
	unsigned jitdumps; /* that were opened */
};

/* It must not move afterwards. */
int analysis_init(struct analysis *a, struct perfdata *file, struct modules *modules,
		  const struct resolve_options *o, struct profile *profile, struct err *e);
void analysis_release(struct analysis *a);

/* Events that have come since (in pipe form they come with the records). */
void analysis_add_events(struct analysis *a);

/* All records of the file: samples by several threads at once where that can be. What it fails with
 * (-EBADMSG: damage) comes behind all that can be read. */
int analysis_read(struct analysis *a, struct err *e);

/* A record in its turn: a sample goes to its row, all others into the history. */
bool analysis_record(struct analysis *a, const struct stream_record *raw);
/* Between records: what was more than some seconds before @time_ns is given up, if it takes much memory. */
void analysis_forget(struct analysis *a, uint64_t time_ns);

/* For a mapping, before it is its turn: has the kernel's names read meanwhile if it is the kernel's. */
void analysis_prepare_kernel(struct analysis *a, const struct stream_record *raw);

/* How much a sample stands for: its period. */
uint64_t analysis_weight(const struct record *r, const struct stream_event *event);

/* Names what is new, and brings totals up to date. */
void analysis_name(struct analysis *a);

#endif
