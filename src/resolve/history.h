/*
 * What records say of tasks and their memory, for every moment of the recording: which process and
 * which name a thread had, and what was mapped where.
 *
 * Records are taken in in the order of time. Asking is by time, too, and changes nothing, so any
 * number of threads may ask while nobody adds. Limits: THREADS_MAX tasks, MAP_NODES_MAX mappings,
 * ERAS_MAX changes; what finds no room is counted.
 */
#ifndef TACHO_RESOLVE_HISTORY_H
#define TACHO_RESOLVE_HISTORY_H

#include "perf/record.h"
#include "profile/profile.h"
#include "resolve/maps.h"
#include "resolve/threads.h"
#include "symbol/module/module.h"

#define ERAS_MAX   (8u << 20)
#define IMAGES_MAX (1u << 20)

/* From here on, until the next era. */
struct task_era {
	uint64_t time_ns;
	thread_id thread; /* in the profile: pid, tid and name. 0: nobody has asked for it yet */
	uint32_t pid, tid;
	string_id comm;
};

struct space_era {
	uint64_t time_ns;
	uint32_t root; /* of its maps */
};

/* The memory of a process, or of the kernel. */
struct space {
	uint32_t pid;
	bool tells_code;   /* it writes down which code it makes, and when */
	bool gone;         /* all its tasks had exited when history_forget() looked */
	uint64_t begun_ns; /* when the first record told of it */
	VEC(struct space_era) eras;
};

/* Code that is mapped somewhere: what its names will come from. */
struct image {
	struct module_request request; /* path and all belong to the history */
	uint32_t key_pid;              /* whose alone it is; 0: everybody's */
	string_id symbol;              /* all of it is this function; or none */
	module_id module;              /* in the profile */
	struct module *opened;         /* NULL: not yet */
	bool announced;                /* on_jitdump() was told */
};

/* One mapping: an address of it lies in its image at `offset + (address - start)`; in images whose
 * symbols have runtime addresses (kernel, perf maps) offset is start. */
struct mapping {
	uint64_t start, offset;
	uint32_t image;
	bool data; /* no code can run there */
};

/* Code that a runtime will have made at that time; see jit_code.h. */
struct coming_code {
	uint64_t time_ns;
	uint64_t length;
	struct mapping mapping;
	uint32_t pid;
	uint32_t number; /* equal times keep the order of the file */
};

#define COMING_MAX (4u << 20)

#define KERNEL_PID (~0u)

struct history {
	struct profile *profile;
	struct threads threads;
	VEC(VEC(struct task_era)) task_eras; /* by thread->number */
	VEC(struct space) spaces;            /* [0]: the kernel */
	struct slots space_slots;
	struct maps maps;
	VEC(struct mapping) mappings;
	VEC(struct image) images;
	struct slots image_slots;
	uint32_t kernel_image;          /* of the kernel proper; 0: no record tells of it */
	uint32_t hidden_kernel;         /* stands for it then, once there are samples in it; or 0 */
	VEC(struct coming_code) coming; /* by time, from coming_at on */
	size_t coming_at;
	/* Told of each new file that a runtime writes its code into; may be NULL. */
	void (*on_jitdump)(void *ctx, uint32_t image, uint32_t pid, uint64_t time_ns);
	/* Called when samples were lost (@count), or an event was throttled (0). @time_ns is 0 if the
	 * recording does not say when, @cpu ~0 if it does not say on which CPU. May be NULL. */
	void (*on_loss)(void *ctx, uint64_t time_ns, uint32_t cpu, uint64_t count);
	uint64_t lost_in_rings; /* sum of LOST records */
	uint64_t lost_in_total; /* sum of LOST_SAMPLES records without a time, see history_end() */
	void *ctx;
	/* Tasks become threads of the profile when a sample asks for them: most that live shortly have
	 * none. Then history_thread_now() is to be asked. */
	bool threads_on_demand;
	uint64_t era_count;
	uint64_t looked_ns; /* until then it is known who has exited: see history_forget() */
	uint64_t refused;
};

void history_init(struct history *h, struct profile *profile);
void history_release(struct history *h);

void history_add_hidden_kernel(struct history *h);

/* Takes in all that is not a sample. */
void history_record(struct history *h, const struct record *r, uint64_t time_ns);

/* To be called before kernel addresses are looked up: no record tells of the kernel where its addresses
 * were hidden from the recorder. Adds an image that says so, if there is none. */
static inline void history_need_kernel(struct history *h)
{
	if (!h->kernel_image && !h->hidden_kernel)
		history_add_hidden_kernel(h);
}

/*
 * Call this after the last record. perf record tells of the same losses twice: the kernel writes a LOST
 * record when the ring has room again, and perf appends one LOST_SAMPLES record for each event, without
 * a time, with the event's total. Only what the LOST records have left out is counted here.
 */
void history_end(struct history *h);

/*
 * Forgets what was before @before_ns, for who takes in records for hours and only asks about what is
 * later. Tasks that have exited by @now_ns, and processes whose tasks all have, are forgotten when that
 * lies before. Sets of maps have other numbers afterwards.
 */
void history_forget(struct history *h, uint64_t before_ns, uint64_t now_ns);

/* Makes happen what was announced for that time or before. Before samples are looked up: records do
 * it by themselves. */
void history_catch_up(struct history *h, uint64_t time_ns);
/* Announces code; history_sort_coming() after the last of them. */
void history_expect(struct history *h, const struct coming_code *code);
void history_sort_coming(struct history *h);

/* For how long an answer holds, so that who asks for one sample after the other need not ask again:
 * from_ns ≤ time < until_ns, while nothing is added. */
struct answer_span {
	uint64_t from_ns, until_ns;
};

/* The task at that time; number 0 if no record tells of it. @span may be NULL. */
thread_id history_thread(const struct history *h, uint32_t tid, uint64_t time_ns,
			 struct answer_span *span);

/* The same for who also adds: it gets a number now, if it has none. */
thread_id history_thread_now(struct history *h, uint32_t tid, uint64_t time_ns,
			     struct answer_span *span);

/* The set of maps of a process at that time. */
uint32_t history_space(const struct history *h, uint32_t pid, uint64_t time_ns,
		       struct answer_span *span);
uint32_t history_kernel(const struct history *h, uint64_t time_ns, struct answer_span *span);

/* When the first record told of the process; 0: it was there before, or is unknown. */
uint64_t history_beginning(const struct history *h, uint32_t pid);

/* From that time on it lies over what was there. For the kernel: KERNEL_PID. */
void history_map(struct history *h, uint32_t pid, uint64_t time_ns, const struct mapping *mapping,
		 uint64_t length);

/* A task that only a sample tells of, added with the sample's time. */
thread_id history_add_thread(struct history *h, uint32_t pid, uint32_t tid, uint64_t time_ns);

#endif
