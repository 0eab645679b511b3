/*
 * One worker's way from samples to rows of a profile. The history must know all up to the sample's
 * time. What stacks have in common is found once: a chain of addresses that was seen before leads
 * straight to its row.
 *
 * A resolver belongs to one thread and writes into its own profile, whose modules, threads and
 * events are numbered as in the history's; resolver_deliver() brings several together.
 */
#ifndef TACHO_RESOLVE_RESOLVER_H
#define TACHO_RESOLVE_RESOLVER_H

#include "perf/stream.h"
#include "resolve/filter.h"
#include "resolve/history.h"
#include "resolve/resolve.h"
#include "unwind/unwind.h"

/* What all workers of an analysis look at. */
struct resolve_shared {
	struct history *history;
	struct modules *modules;
	const struct resolve_options *options;
	const struct perfdata_facts *facts;
	struct filter filter;
	uint64_t base_ns;  /* that buckets of time are counted from */
	uint16_t machine;  /* EM_*, of the recorded machine */
	uint64_t seed;     /* of the hashes of chains, which are the same for all workers */
	module_id nowhere; /* stands for addresses in no mapping */
	bool grows;        /* the history is added to while we resolve; then there is one worker */
};

/*
 * One level of a chain, the leaf first. Places are kept as (image, offset), so that what processes
 * have in common looks the same in all of them, wherever it is mapped.
 */
struct chain_step {
	uint64_t ip;     /* as recorded */
	uint64_t offset; /* in the image, of the address that is looked up; or an enum unwind_end */
	uint32_t image;  /* 0: nothing is mapped there; IMAGE_MARK: a mark how the stack ended */
	uint32_t back; /* that address is ip - back: of a caller, one inside its call instruction */
};

typedef VEC(struct chain_step) chain_steps;

#define IMAGE_MARK (~0u)

/* Where all of a module lies that has no name, if that is not to be told apart. */
#define NAMELESS_ADDRESS UINT64_MAX

/* Set in known stacks that were met again since the last time that stacks were forgotten. */
#define STACK_USED (1u << 31)

/* Set in the roots of the kernel's maps. */
#define KERNEL_ROOT (1u << 31)

/* A mapping that was looked up, or a gap between mappings. */
struct known_place {
	uint64_t start, size;
	uint64_t delta, mask; /* offset = (address + delta) & mask */
	uint32_t root, image;
};

#define KNOWN_PLACES    512
#define PENDING_SAMPLES 4 /* a power of two */

struct resolver {
	struct resolve_shared *shared;
	struct profile *profile; /* its own, or the history's */
	chain_steps steps;
	/* The samples before: what they are looked up in is on the way from memory while the next
	 * ones are decoded. */
	struct pending_sample {
		chain_steps steps;
		struct profile_row keys;
		uint64_t hash, weight;
		uint64_t time_ns, address; /* of data; with the CPU, only for options->on_sample */
		uint32_t cpu;
		struct buf raw; /* a copy, for options->raw */
	} pending[PENDING_SAMPLES];
	size_t pending_begin, pending_end; /* counted on; modulo PENDING_SAMPLES they are places */
	VEC(uint64_t) hashes;              /* of the steps of a chain that is looked up */
	struct known_place places[KNOWN_PLACES];
	struct known_frames {
		struct known_frame {
			uint64_t offset;
			uint32_t image;
			frame_id frame; /* 0: free */
		} * slots;
		size_t count, mask;
		uint64_t seed;
	} frames;
	struct known_rows {
		struct known_row {
			uint64_t hash; /* of all that makes the row */
			uint64_t weight;
			uint32_t samples; /* since they were last delivered */
			uint32_t row;     /* + 1; 0: free */
		} * slots;
		size_t count, mask;
	} rows; /* unless each sample is told */
	struct known_stacks {
		struct known_stack {
			uint64_t hash;  /* of a chain, or of the outer part of one */
			uint32_t stack; /* + 1, and maybe STACK_USED; 0: free */
			uint32_t leaf;  /* its frame */
		} * slots;
		size_t count, mask;
		size_t count_max; /* of who forgets: then it is time to; 0: never */
	} stacks;
	/* Of a worker that puts off what is new: stacks are numbers of its own, until
	 * resolver_translate() asks another resolver for them. */
	struct new_chains {
		chain_steps steps;    /* of all chains, one after the other, */
		VEC(uint64_t) hashes; /* of each with all outside of it */
		VEC(uint32_t) lens;   /* by chain: its steps */
		VEC(stack_id) stacks; /* by number: what was found for it */
	} new_chains;
	bool puts_off;
	/*
	 * As long as every step has led to a frame of its own, a chain that is new makes stacks that
	 * are new, and the profile need not look for them. Not so with twins: two have led to the same one, or
	 * the profile has stacks that are not from here.
	 */
	bool twins;
	size_t stacks_seen;           /* of the profile, when we were done the last time */
	frame_id other;               /* stands for all places that are not wanted; 0: none yet */
	VEC(struct module *) modules; /* by image */
	VEC(uint8_t) wanted;          /* by thread: 1 no, 2 yes */
	VEC(thread_id) same_comm;     /* by thread: the first of the same name */
	VEC(uint32_t) comm_threads;   /* by name: that one's number */
	VEC(struct wanted_event {
		uint8_t wanted; /* 0 not asked, 1 no, 2 yes */
		uint64_t seen;  /* samples, whatever else is chosen */
	})
	wanted_events;
	struct {
		struct answer_span span;
		uint32_t pid, root;
	} last_space, last_kernel; /* answers of the history that still hold for the next sample */
	struct {
		struct answer_span span;
		uint32_t tid;
		thread_id thread;
		bool wanted;
	} last_thread;
	struct trace_keys *trace_keys; /* NULL: fields of tracepoints do not matter */
	struct unwinder *unwinder;
	uint64_t ips[1024];  /* that unwinding gives */
	enum unwind_end end; /* how the last chain ended; UNWIND_COMPLETE if it was not unwound */
	uint64_t ends[UNWIND_ENDS]; /* by enum unwind_end: chains that were unwound */
	/* Is told of each sample; at first that of the options. */
	void (*on_sample)(void *ctx, const struct sample_row *sample);
	void *sample_ctx;
	/* Of a worker with a profile of its own: what its numbers are in that of all. */
	struct merged_numbers {
		VEC(frame_id) frames;
		VEC(stack_id) stacks;
	} merged;
	uint64_t first_ns, last_ns;
	struct resolve_report report;
	VEC(struct profile_event) events; /* totals */
};

void resolver_init(struct resolver *r, struct resolve_shared *shared, struct profile *profile);
void resolver_release(struct resolver *r);

/* Adds the sample to its row, unless the filter does not want it. */
void resolver_sample(struct resolver *r, const struct record *sample,
		     const struct stream_event *event, uint32_t event_index, uint64_t time_ns,
		     uint64_t weight);

/* The last samples wait for the next ones, unless this is called. */
void resolver_flush(struct resolver *r);

/* The sample's chain, in r->steps; and the frame of a step. For those who print samples. */
void resolver_chain(struct resolver *r, const struct record *sample,
		    const struct stream_event *event, uint64_t time_ns);
/* The sampled place alone, in r->steps. */
void resolver_leaf(struct resolver *r, const struct record *sample,
		   const struct stream_event *event, uint64_t time_ns);
frame_id resolver_frame(struct resolver *r, const struct chain_step *step);
/* Has what the frames of the first steps are found by brought into the caches. */
void resolver_fetch_frames(const struct resolver *r, const struct chain_step *steps, size_t count);
/* A step of its own for an address, looked up in the maps @root. */
struct chain_step resolver_step(struct resolver *r, uint64_t address, uint32_t root);

/* Asks the filter for all tasks that there are, so that the history's profile need not be looked at
 * while another worker adds to it. */
void resolver_know_threads(struct resolver *r);

/*
 * For who goes on for days, has passed on the stacks of the profile, and has given them up there: those
 * that were not met a second time since the last time are forgotten, if there are many. One that comes
 * up again then is another one, with the same frames.
 */
void resolver_forget_stacks(struct resolver *r);
/* Likewise with places whose frames are known; the profile finds them again. */
void resolver_forget_frames(struct resolver *r);
#define FRAMES_KNOWN (512u << 10) /* 16 MB */

/* Adds all that a worker has found since the last time to the history's profile, which may be its
 * own: then only totals are to be added. */
void resolver_deliver(struct resolver *from, struct profile *to);

/* Samples that a worker has told with numbers of its own get those of @to, which has the profile of all
 * and which nobody else may use meanwhile. */
void resolver_translate(struct resolver *from, struct resolver *to, struct sample_row *rows,
			size_t count);

/* The symbol that a frame's address belongs to; NULL: none. */
const struct symbol *resolver_symbol(struct module *m, uint64_t address, const char **ret_name);

/* The module of an image, opened if need be. */
struct module *resolver_module(struct resolver *r, uint32_t image);

/* ---- shared by the parts ---- */

/* A thread that only this worker's profile knows: merging gives it another number. */
#define OWN_THREAD (1u << 31)

/* The counts of all rows into the worker's profile. */
void resolver_count_all(struct resolver *r);

/* The stack of a chain with this hash; of a worker that puts off, the number that it has for it. */
struct found_stack {
	uint32_t stack, leaf; /* the frame of it; of a worker that puts off, none */
};
struct found_stack resolver_stack(struct resolver *r, const chain_steps *steps, uint64_t hash);
/* Has what it is found by brought into the caches. */
void resolver_fetch_stack(const struct resolver *r, uint64_t hash);

/* The hash of a chain that goes on with one more step towards the leaf. Where most places have become
 * one, frames are hashed: few stacks are left, which the caches hold. */
static inline uint64_t resolver_hash_step(struct resolver *r, uint64_t hash,
					  const struct chain_step *step)
{
	if (r->shared->options->want_place)
		return hash_mix(hash, resolver_frame(r, step).n);
	return hash_mix(hash ^ step->image, step->offset);
}

/* A thread of a worker's profile in that of all. */
thread_id resolver_merge_thread(struct profile *to, const struct profile *from, thread_id thread);

void resolver_find_place(const struct history *h, uint32_t root, uint64_t address,
			 struct known_place *ret);

/* Few mappings are looked at again and again. */
static inline void resolver_set_place(struct resolver *r, struct chain_step *step, uint32_t root)
{
	uint64_t address = step->ip - step->back;
	struct known_place *p =
		&r->places[(address >> 20 ^ address >> 12 ^ root * 0x9e3779b1u >> 20) %
			   KNOWN_PLACES];

	if (p->root != root || address - p->start >= p->size)
		resolver_find_place(r->shared->history, root, address, p);
	step->image = p->image;
	step->offset = (address + p->delta) & p->mask;
}

#endif
