/*
 * From records to a profile. A first pass over the file takes in what it says of tasks and mappings;
 * then all cores turn samples into rows, in no order, each sample resolved by the mappings of its
 * time; then every address that occurred is named once. What cannot be read twice (a pipe, compressed
 * or foreign bytes, a live recording) goes through a struct resolver record by record instead, which
 * is the same work in the order of time.
 */
#ifndef TACHO_RESOLVE_RESOLVE_H
#define TACHO_RESOLVE_RESOLVE_H

#include "perfdata/reader.h"
#include "profile/chunk.h"
#include "profile/profile.h"
#include "resolve/filter.h"
#include "resolve/trace_key.h"
#include "symbol/module/module.h"

/*
 * How finely places in code are told apart. The coarser, the fewer stacks there are, and the faster
 * everything is that looks at them. Where functions were inlined, addresses stay as they are.
 */
enum resolve_precision {
	RESOLVE_ADDRESSES, /* every address is a frame of its own: for lines and instructions */
	RESOLVE_FUNCTIONS, /* a frame for each function; what has no name stays an address */
	RESOLVE_LABELS,    /* and all that has no name in a module is one: for graphs */
};

struct resolve_options {
	enum resolve_precision precision;
	struct symbol_options symbols;
	struct sample_filter filter;
	struct trace_key_options trace; /* how fields of tracepoints split rows, or weigh samples */
	bool leaf_only;                 /* no callers: a stack is the sampled place alone */
	bool no_threads;                /* rows are not split by thread */
	bool by_comm;                   /* threads of the same name are one */
	/*
	 * Which places matter; all others become one frame, "[other]", which is fast: they need no
	 * rows and no names. NULL: all do. Called by several threads, once for each place or more.
	 */
	bool (*want_place)(void *ctx, struct module *m, uint64_t address);
	void *want_ctx;
	/*
	 * Told of each sample, with the numbers of the profile, which then has tables, but no rows; in
	 * the order of time only where records are read so. By one thread at a time. NULL: samples
	 * become rows. Not with want_place.
	 */
	void (*on_sample)(void *ctx, const struct sample_row *sample);
	void *sample_ctx;
	bool raw;      /* samples are told with the event's own data */
	bool in_order; /* samples are told in the order of time, which only one thread can do */
	/* Events that were only counted are no events of the profile (where they come last). */
	bool no_counted;
	/* Told of records that tools have written (struct stream_visitor). NULL: nobody asks. */
	void (*on_user)(void *ctx, const unsigned char *bytes);
	void *user_ctx;
	/* Told when samples were lost (@count) or an event was throttled (0); @cpu ~0: not known on which CPU.
	 * NULL: nobody asks. */
	void (*on_loss)(void *ctx, uint64_t time_ns, uint32_t cpu, uint64_t count);
	void *loss_ctx;
	const bool *stop;   /* read with atomics; true: enough. NULL: never */
	bool by_cpu;        /* rows are split by CPU, */
	uint64_t bucket_ns; /* by time */
	unsigned max_stack; /* 0: 127 */
	/* When there are more frames than this, places in files that have no name are told apart by pages
	 * only: for who goes on for days. 0: never. */
	size_t fine_frames;
	bool no_inlines, lines; /* lines: with source files and lines */
	/* Stacks that end early have no frame that says so: for readers that would take it for a function. */
	bool no_end_frames;
	bool no_names;    /* addresses only */
	bool no_frames;   /* of folded text: the caller knows of profile.frames_are_functions */
	unsigned threads; /* 0: as many as there are CPUs */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
};

/* What the user should know of the result, counted in samples unless said otherwise. */
struct resolve_report {
	uint64_t samples, weight; /* that passed the filter */
	uint64_t unmapped_frames; /* addresses in no mapping, */
	uint64_t unnamed_frames;  /* in a module without a symbol there */
	uint64_t cut_stacks;      /* unwinding ended before the outermost function */
	uint64_t lost;
	uint64_t no_field;   /* left out: without the field that is summed; */
	uint64_t negative;   /* whose value of it is negative, and counts as 0 */
	uint32_t main_event; /* of those wanted, the one with most samples before other filters */
};

/*
 * Fills an initialised profile from an open file, events first, in their order. Damage fails
 * (-EBADMSG) after everything that can be read is in the profile. @modules stays with the caller,
 * who asks it for code and lines later; problems of modules are in profile.modules.
 */
int resolve_file(struct perfdata *file, struct modules *modules, const struct resolve_options *o,
		 struct profile *profile, struct resolve_report *ret, struct err *e);

#endif
