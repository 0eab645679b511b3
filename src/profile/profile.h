/*
 * The model that every view is made from: interned strings, modules, functions, frames, stacks and
 * threads, and rows of samples that refer to them by number.
 *
 * A stack is (parent stack, frame), the frame being the callee: following the parents leads from the
 * leaf to the root. A parent's number is always smaller than that of its children, so one walk by
 * number is enough for most questions. A frame is a place in code (module, address). Naming it gives
 * it one function, or several if some were inlined there. Frames of text input have a name only.
 *
 * Numbers are types of their own so that they cannot be mixed up; `n` indexes the table. Number 0 is
 * "none" in every table: the empty string, no module, no frame, the empty stack.
 *
 * Everything grows until profile_release(); pointers into tables are valid until the next addition.
 * One thread at a time may add; any number may read while nobody adds. Input is hostile: above the
 * limits below nothing is added, 0 is given instead, and `refused` counts it.
 */
#ifndef TACHO_PROFILE_PROFILE_H
#define TACHO_PROFILE_PROFILE_H

#include "base/vec.h"
#include "profile/slots.h"

#include <stdbool.h>
#include <stdint.h>

#define PROFILE_STRING_BYTES_MAX (1ull << 30)
#define PROFILE_FRAMES_MAX       (32u << 20)
#define PROFILE_STACKS_MAX       (64u << 20)
#define PROFILE_ROWS_MAX         (64u << 20)
#define FUNCTION_SIZE_MAX        ((1u << 28) - 1)

typedef struct {
	uint32_t n;
} string_id;

typedef struct {
	uint32_t n;
} module_id;

typedef struct {
	uint32_t n;
} function_id;

typedef struct {
	uint32_t n;
} frame_id;

typedef struct {
	uint32_t n;
} stack_id;

typedef struct {
	uint32_t n;
} thread_id;

typedef struct {
	uint32_t n;
} event_id; /* here 0 is the first event, not "none" */

/* What code it is; decides colours. */
enum code_kind {
	CODE_UNKNOWN,
	CODE_USER,
	CODE_KERNEL, /* with its modules and BPF programs */
	CODE_JIT,    /* made at run time: perf maps, jitdump */
	CODE_VDSO,
};

/* "user", "kernel", "jit", "vdso", "unknown". */
const char *code_kind_name(enum code_kind kind);

struct profile_module {
	string_id
		path; /* as the mapping says: "/usr/lib/…/libc.so.6", "[kernel.kallsyms]", "[vdso]" */
	string_id name;     /* the last part of it */
	string_id build_id; /* hexadecimal, or none */
	string_id problem;  /* why its names are missing: a sentence, or none */
	string_id found_id; /* a build id that its mapping does not have, but its file has, or the
			     * recording's header */
	/* Of its code: ELF virtual address less offset in the file; of the kernel the address of _text.
	 * 0: or unknown. */
	uint64_t bias;
	enum code_kind kind;
};

/* A function, as a symbol or an inlined one names it. */
struct profile_function {
	string_id name;
	string_id label; /* its name in graphs: those without a symbol are one, "[libx.so]" */
	module_id module;
	uint32_t size : 28; /* function_size() of the symbol */
	enum code_kind kind : 3;
	bool named : 1; /* else `name` is made up: "libx.so+0x12", "[unknown]" */
	uint64_t start; /* ELF virtual address of the symbol; 0: inlined, or from text */
};

/* One of the functions that a frame stands for. */
struct frame_name {
	function_id function;
	string_id file; /* source, or none */
	uint32_t line;  /* 0: unknown */
	bool inlined;   /* into the one before it */
};

struct profile_frame {
	module_id module;
	uint64_t address; /* ELF virtual address; of a caller, one inside the call instruction */
	uint32_t names;   /* first in profile.names, the outermost function; 0: not named yet */
	uint32_t name_count;
};

struct profile_stack {
	stack_id parent;
	frame_id frame;
};

/* A task under one of its names. */
struct profile_thread {
	uint32_t pid, tid;
	string_id comm;
};

struct profile_event {
	string_id name;
	string_id unit;           /* or none */
	uint64_t samples, weight; /* all of it, before filters on rows */
};

/* Counters that tell when samples were lost and events were throttled; no event has such a name. */
#define COUNTER_LOST      "[lost]"
#define COUNTER_THROTTLED "[throttled]"

/*
 * A counter that was read at intervals; its values are in chunks (profile/chunk.h). Number 0 is
 * "none", as in the other tables.
 */
struct profile_counter {
	string_id name;   /* of the event, as it was asked for */
	string_id unit;   /* or none: plain numbers */
	double scale;     /* a value times this is in `unit`; 1 if it is a plain number */
	int32_t cpu;      /* -1: all that were counted */
	thread_id thread; /* none: all */
};

/* A column of a table, and a table: see profile/schema.h, which has their types and the tables that
 * every profile has. */
struct profile_column {
	string_id name, unit, meaning;
	uint32_t tag;
	uint8_t type, role, bytes;
};

struct profile_schema {
	string_id name, meaning;
	uint32_t event;   /* + 1; 0: of any */
	uint32_t columns; /* first in profile.columns */
	uint32_t column_count;
	bool is_span, sampled;
};

/*
 * Samples that have all of this in common. cpu, bucket and key are 0 unless asked for: how many of a
 * kind there are decides how much memory a profile takes.
 */
struct profile_row {
	event_id event;
	thread_id thread;
	stack_id stack;
	uint32_t cpu;
	uint32_t bucket;          /* of time, counted from `first_ns` in steps of `bucket_ns` */
	string_id key;            /* fields of its tracepoint (resolve/trace_key.h), or none */
	uint64_t samples, weight; /* weight: periods, or the counts of folded text */
};

struct profile_strings {
	VEC(char) bytes;
	VEC(uint32_t) starts; /* in bytes, of string number n */
	struct slots slots;
};

/* Stacks are looked for more often than anything else: the key lies beside the number. */
struct stack_slots {
	VEC(uint32_t) first; /* by frame: its first stack. Only its other stacks are in `items`. */
	struct stack_slot {
		uint32_t parent, frame;
		uint32_t stack; /* 0: free */
	} * items;
	size_t mask, count; /* of `items` */
	size_t indexed;     /* stacks below this number are in the index; 0: none */
};

struct profile {
	struct profile_strings strings;
	VEC(struct profile_module) modules;
	VEC(struct profile_function) functions;
	VEC(struct profile_frame) frames;
	VEC(struct frame_name) names;
	VEC(struct profile_stack) stacks;
	uint32_t stacks_forgotten; /* number n is in place n - stacks_forgotten */
	VEC(struct profile_thread) threads;
	uint32_t threads_forgotten; /* likewise */
	VEC(struct profile_event) events;
	VEC(struct profile_counter) counters;
	VEC(struct profile_schema) schemas; /* from number SCHEMA_FIRST_OWN on */
	VEC(struct profile_column) columns; /* of all schemas */
	VEC(struct profile_row) rows;
	struct slots module_slots, function_slots, frame_slots, thread_slots, row_slots;
	struct stack_slots stack_slots;
	uint64_t first_ns, last_ns; /* of the samples that are in it */
	uint64_t bucket_ns;         /* 0: rows are not split by time */
	uint64_t lost;              /* samples that the recorder lost */
	uint64_t refused;           /* found no room in a table */
	uint64_t seed;
	bool unindexed; /* tables were written by hand: see profile_tables_written() */
	/*
	 * The frame of a stack is the number of a function, and the tables of frames and names are empty:
	 * for folded text they would only repeat the functions, with 40 bytes for each. No two stacks have
	 * the same parent and frame. Only a caller who set text_import.no_frames gets such a profile.
	 */
	bool frames_are_functions;
};

void profile_init(struct profile *p);
void profile_release(struct profile *p);
/*
 * Whoever adds to the tables directly, as reading a dictionary does, says so. Looking things up by
 * their contents needs an index, which is then made when something is first interned: a profile that
 * is only read never pays for it.
 */
void profile_tables_written(struct profile *p);
/* Makes the frames and names that are left out while frames_are_functions is set, and clears it. */
void profile_make_frames(struct profile *p);
/* Frees what is only needed to look strings, code, threads and stacks up by their contents, as much memory
 * again as some of the tables take. It is made again when something is interned. */
void profile_drop_index(struct profile *p);

string_id profile_string(struct profile *p, const char *text);
string_id profile_string_n(struct profile *p, const char *text, size_t len);
/* The number of a text that is there already, or 0. Adds nothing. */
string_id profile_string_known(struct profile *p, const char *text, size_t len);
/* The module of this path; @kind and the rest only count when it is new. */
module_id profile_module(struct profile *p, const char *path, const char *build_id,
			 enum code_kind kind);
function_id profile_function(struct profile *p, const struct profile_function *f);
/* The same, for a caller who knows that it is new and never looks functions up before
 * profile_drop_index(). */
function_id profile_function_new(struct profile *p, const struct profile_function *f);
static inline uint32_t function_size(uint64_t bytes)
{
	return bytes < FUNCTION_SIZE_MAX ? (uint32_t)bytes : FUNCTION_SIZE_MAX;
}
frame_id profile_frame(struct profile *p, module_id module, uint64_t address);
/* A frame that is only a name, as text has it. */
frame_id profile_frame_named(struct profile *p, const char *name, size_t len, enum code_kind kind);
/* Names a frame, outermost function first. Once; a second time changes nothing. */
void profile_name_frame(struct profile *p, frame_id frame, const struct frame_name *names,
			uint32_t count);
stack_id profile_stack(struct profile *p, stack_id parent, frame_id frame);
/* The same, for whoever knows that there is none yet: it need not be looked for. */
stack_id profile_stack_new(struct profile *p, stack_id parent, frame_id frame);
/*
 * Gives up all stacks that there are, for who has passed them on and goes on for days. Numbers go on
 * behind them and may be parents of new ones, but nobody can look into them any more; whoever does not
 * remember the number of a stack makes a second one of it. Only profile_stack_new() may follow.
 */
void profile_forget_stacks(struct profile *p);
/* The same with threads, for who only reads a dictionary. */
void profile_forget_threads(struct profile *p);
/* Numbers that were given out: the next one. */
static inline uint32_t profile_stacks_end(const struct profile *p)
{
	return p->stacks_forgotten + (uint32_t)p->stacks.len;
}
thread_id profile_thread(struct profile *p, uint32_t pid, uint32_t tid, string_id comm);
event_id profile_event(struct profile *p, const char *name);
/* Adds it; the caller knows that it is new. Gives its number. */
uint32_t profile_counter(struct profile *p, const struct profile_counter *counter);
/* The number + 1 of the row with the same keys, made if it is new; 0: there is no room. */
uint32_t profile_row(struct profile *p, const struct profile_row *keys);
/* Adds to the row with the same keys, or makes it. */
void profile_add(struct profile *p, const struct profile_row *row);

/* Of a counter that tells when something was missed: what. NULL: it is an event's. */
const char *profile_counter_mark(const struct profile *p, size_t counter);

/*
 * Returns the number of the event that is shown when nobody has named one: the event with most samples
 * in the whole run or recording, whatever part of it is looked at; of equals, the first listed. Every
 * question, download, live graph and command asks this function, so that all show the same event.
 * @samples: by event.
 */
uint32_t events_busiest(const uint64_t *samples, size_t events);

static inline const char *profile_text(const struct profile *p, string_id id)
{
	return p->strings.bytes.items + p->strings.starts.items[id.n];
}

/* Numbers in chunks may be wrong. One that no thread has means thread 0, which is unknown. */
static inline uint32_t profile_thread_number(const struct profile *p, uint64_t number)
{
	return number < p->threads.len ? (uint32_t)number : 0;
}

static inline const struct profile_thread *profile_thread_at(const struct profile *p,
							     uint64_t number)
{
	return &p->threads.items[profile_thread_number(p, number)];
}

/* Functions of folded text start at the letter of the mark behind their name: "f_[i]" is inlined. */
static inline bool text_is_inlined(const struct profile_function *f)
{
	return f->start == 'i' && !f->module.n;
}

static inline const struct profile_function *function_of(const struct profile *p, function_id id)
{
	return &p->functions.items[id.n];
}

static inline const char *function_text(const struct profile *p, function_id id)
{
	return profile_text(p, p->functions.items[id.n].name);
}

static inline const char *function_label(const struct profile *p, function_id id)
{
	return profile_text(p, p->functions.items[id.n].label);
}

static inline const struct frame_name *names_of(const struct profile *p, frame_id id)
{
	return &p->names.items[p->frames.items[id.n].names];
}

static inline size_t profile_frame_count(const struct profile *p)
{
	return p->frames_are_functions ? p->functions.len : p->frames.len;
}

/* Returns the functions of a frame, outermost first. With frames_are_functions it is the one in @own. */
static inline const struct frame_name *frame_names(const struct profile *p, uint32_t frame,
						   struct frame_name *own, uint32_t *ret_count)
{
	if (!p->frames_are_functions) {
		*ret_count = p->frames.items[frame].name_count;
		return names_of(p, (frame_id){frame});
	}
	*ret_count = frame != 0;
	*own = (struct frame_name){
		{frame}, .inlined = text_is_inlined(function_of(p, (function_id){frame}))};
	return own;
}

#endif
