#include "profile/profile.h"

#include <string.h>

_Static_assert(sizeof(struct profile_function) == 24, "there may be millions");

/* ---- strings ---- */

static size_t string_len(const struct profile_strings *s, uint32_t n)
{
	size_t end = n + 1 < s->starts.len ? s->starts.items[n + 1] : s->bytes.len;

	return end - s->starts.items[n] - 1;
}

static struct stack_slot *stack_place(const struct profile *p, uint32_t parent, uint32_t frame)
{
	const struct stack_slots *s = &p->stack_slots;
	size_t at = hash_mix(p->seed ^ parent, frame) & s->mask;

	while (s->items[at].stack && (s->items[at].parent != parent || s->items[at].frame != frame))
		at = (at + 1) & s->mask;
	return &s->items[at];
}

static void grow_stack_index(struct profile *p)
{
	struct stack_slots *s = &p->stack_slots;
	size_t room = s->items ? 2 * (s->mask + 1) : 1024;

	table_free(s->items, s->mask + 1, sizeof(*s->items));
	s->items = table_alloc(room, sizeof(*s->items));
	s->mask = room - 1;
	for (uint32_t n = 1; n < s->indexed; n++) {
		uint32_t parent = p->stacks.items[n].parent.n, frame = p->stacks.items[n].frame.n;

		if (p->stacks.items[s->first.items[frame]].parent.n != parent)
			*stack_place(p, parent, frame) = (struct stack_slot){parent, frame, n};
	}
}

/* Returns where the number of a stack is kept; 0 there: it has none yet, and put_stack() sets it. */
static uint32_t *stack_number(struct profile *p, uint32_t parent, uint32_t frame)
{
	struct stack_slots *s = &p->stack_slots;
	struct stack_slot *slot;
	uint32_t first;

	vec_grow(&s->first, (size_t)frame + 1);
	first = s->first.items[frame];
	if (!first || p->stacks.items[first].parent.n == parent)
		return &s->first.items[frame];
	/* Two thirds full at most. */
	if (s->count * 3 >= s->mask * 2)
		grow_stack_index(p);
	slot = stack_place(p, parent, frame);
	slot->parent = parent;
	slot->frame = frame;
	return &slot->stack;
}

static void put_stack(struct profile *p, uint32_t *number, uint32_t frame, uint32_t stack)
{
	struct stack_slots *s = &p->stack_slots;

	*number = stack;
	s->count += number != &s->first.items[frame];
	s->indexed = (size_t)stack + 1;
}

static void index_stacks(struct profile *p)
{
	struct stack_slots *s = &p->stack_slots;

	for (size_t n = s->indexed ? s->indexed : 1; n < p->stacks.len; n++) {
		uint32_t frame = p->stacks.items[n].frame.n;
		uint32_t *number = stack_number(p, p->stacks.items[n].parent.n, frame);

		if (!*number)
			put_stack(p, number, frame, (uint32_t)n);
		s->indexed = n + 1;
	}
}

static void drop_stack_index(struct stack_slots *s)
{
	vec_release(&s->first);
	table_free(s->items, s->mask + 1, sizeof(*s->items));
	*s = (struct stack_slots){};
}

/* ---- finding an entry by its contents; 0: there is none ---- */

static uint32_t find_string(const struct profile_strings *s, const char *text, size_t len,
			    uint64_t hash)
{
	size_t at = slots_begin(&s->slots, hash);
	uint32_t n;

	while ((n = slots_next(&s->slots, hash, &at)))
		if (string_len(s, n) == len &&
		    !memcmp(s->bytes.items + s->starts.items[n], text, len))
			break;
	return n;
}

static uint64_t module_hash(const struct profile *p, const struct profile_module *m)
{
	return hash_mix(p->seed ^ m->path.n, m->build_id.n);
}

static uint32_t find_module(const struct profile *p, const struct profile_module *m, uint64_t hash)
{
	size_t at = slots_begin(&p->module_slots, hash);
	uint32_t n;

	while ((n = slots_next(&p->module_slots, hash, &at)))
		if (p->modules.items[n].path.n == m->path.n &&
		    p->modules.items[n].build_id.n == m->build_id.n)
			break;
	return n;
}

static uint64_t function_hash(const struct profile *p, const struct profile_function *f)
{
	return hash_mix(hash_mix(p->seed ^ f->name.n, f->module.n), f->start);
}

static uint32_t find_function(const struct profile *p, const struct profile_function *f,
			      uint64_t hash)
{
	size_t at = slots_begin(&p->function_slots, hash);
	uint32_t n;

	while ((n = slots_next(&p->function_slots, hash, &at))) {
		const struct profile_function *known = &p->functions.items[n];

		if (known->name.n == f->name.n && known->module.n == f->module.n &&
		    known->start == f->start)
			break;
	}
	return n;
}

static uint64_t frame_hash(const struct profile *p, module_id module, uint64_t address)
{
	return hash_mix(p->seed ^ module.n, address);
}

static uint32_t find_frame(const struct profile *p, module_id module, uint64_t address,
			   uint64_t hash)
{
	size_t at = slots_begin(&p->frame_slots, hash);
	uint32_t n;

	while ((n = slots_next(&p->frame_slots, hash, &at)))
		if (p->frames.items[n].address == address &&
		    p->frames.items[n].module.n == module.n)
			break;
	return n;
}

static uint64_t thread_hash(const struct profile *p, const struct profile_thread *t)
{
	return hash_mix(p->seed ^ ((uint64_t)t->pid << 32 | t->tid), t->comm.n);
}

static uint32_t find_thread(const struct profile *p, const struct profile_thread *t, uint64_t hash)
{
	size_t at = slots_begin(&p->thread_slots, hash);
	uint32_t n;

	while ((n = slots_next(&p->thread_slots, hash, &at))) {
		const struct profile_thread *known = &p->threads.items[n];

		if (known->pid == t->pid && known->tid == t->tid && known->comm.n == t->comm.n)
			break;
	}
	return n;
}

/* ---- tables that were written by hand ---- */

void profile_tables_written(struct profile *p)
{
	p->unindexed = true;
}

void profile_drop_index(struct profile *p)
{
	slots_release(&p->strings.slots);
	slots_release(&p->module_slots);
	slots_release(&p->function_slots);
	slots_release(&p->frame_slots);
	slots_release(&p->thread_slots);
	drop_stack_index(&p->stack_slots);
	p->unindexed = true;
}

static void index_strings(struct profile *p)
{
	struct profile_strings *s = &p->strings;

	for (uint32_t n = 1; n < s->starts.len; n++) {
		const char *text = s->bytes.items + s->starts.items[n];
		size_t len = string_len(s, n);
		uint64_t hash = hash_bytes(text, len, p->seed);

		if (!find_string(s, text, len, hash))
			slots_add(&s->slots, hash, n);
	}
}

/*
 * Whoever wrote the tables may have put the same into them many times. Each is added once: equal hashes
 * lie in one row, and a long one would be walked for each.
 */
static void index_tables(struct profile *p)
{
	uint64_t hash;

	profile_drop_index(p);
	index_strings(p);
	for (uint32_t n = 1; n < p->modules.len; n++) {
		hash = module_hash(p, &p->modules.items[n]);
		if (!find_module(p, &p->modules.items[n], hash))
			slots_add(&p->module_slots, hash, n);
	}
	for (uint32_t n = 1; n < p->functions.len; n++) {
		hash = function_hash(p, &p->functions.items[n]);
		if (!find_function(p, &p->functions.items[n], hash))
			slots_add(&p->function_slots, hash, n);
	}
	for (uint32_t n = 1; n < p->frames.len; n++) {
		const struct profile_frame *f = &p->frames.items[n];

		hash = frame_hash(p, f->module, f->address);
		if (!find_frame(p, f->module, f->address, hash))
			slots_add(&p->frame_slots, hash, n);
	}
	for (uint32_t n = 1; n < p->threads.len; n++) {
		hash = thread_hash(p, &p->threads.items[n]);
		if (!find_thread(p, &p->threads.items[n], hash))
			slots_add(&p->thread_slots, hash, n);
	}
	index_stacks(p);
	p->unindexed = false;
}

/* ---- adding strings ---- */

string_id profile_string_n(struct profile *p, const char *text, size_t len)
{
	struct profile_strings *s = &p->strings;
	uint64_t hash = hash_bytes(text, len, p->seed);
	uint32_t n;

	if (!len)
		return (string_id){};
	if (p->unindexed)
		index_tables(p);
	n = find_string(s, text, len, hash);
	if (n)
		return (string_id){n};
	if (s->bytes.len + len + 1 > PROFILE_STRING_BYTES_MAX) {
		p->refused++;
		return (string_id){};
	}
	n = (uint32_t)s->starts.len;
	vec_push(&s->starts, (uint32_t)s->bytes.len);
	vec_reserve(&s->bytes, s->bytes.len + len + 1);
	memcpy(s->bytes.items + s->bytes.len, text, len);
	s->bytes.len += len;
	s->bytes.items[s->bytes.len++] = '\0';
	slots_add(&s->slots, hash, n);
	return (string_id){n};
}

string_id profile_string_known(struct profile *p, const char *text, size_t len)
{
	if (!len)
		return (string_id){};
	if (p->unindexed)
		index_tables(p);
	return (string_id){find_string(&p->strings, text, len, hash_bytes(text, len, p->seed))};
}

string_id profile_string(struct profile *p, const char *text)
{
	return profile_string_n(p, text, strlen(text));
}

/* ---- code ---- */

const char *code_kind_name(enum code_kind kind)
{
	static const char *const names[] = {[CODE_UNKNOWN] = "unknown",
					    [CODE_USER] = "user",
					    [CODE_KERNEL] = "kernel",
					    [CODE_JIT] = "jit",
					    [CODE_VDSO] = "vdso"};

	return (unsigned)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

module_id profile_module(struct profile *p, const char *path, const char *build_id,
			 enum code_kind kind)
{
	string_id id = profile_string(p, path);
	string_id build = build_id ? profile_string(p, build_id) : (string_id){};
	const char *slash = strrchr(path, '/');
	struct profile_module key = {.path = id, .build_id = build};
	uint64_t hash = module_hash(p, &key);
	uint32_t n;

	if (p->unindexed)
		index_tables(p);
	n = find_module(p, &key, hash);
	if (n)
		return (module_id){n};
	n = (uint32_t)p->modules.len;
	vec_push(&p->modules,
		 (struct profile_module){
			 .path = id,
			 .name = profile_string(p, slash && slash[1] ? slash + 1 : path),
			 .build_id = build,
			 .kind = kind,
		 });
	slots_add(&p->module_slots, hash, n);
	return (module_id){n};
}

function_id profile_function(struct profile *p, const struct profile_function *f)
{
	uint64_t hash = function_hash(p, f);
	function_id added;
	uint32_t n;

	if (p->unindexed)
		index_tables(p);
	n = find_function(p, f, hash);
	if (n)
		return (function_id){n};
	added = profile_function_new(p, f);
	if (added.n)
		slots_add(&p->function_slots, hash, added.n);
	return added;
}

function_id profile_function_new(struct profile *p, const struct profile_function *f)
{
	uint32_t n = (uint32_t)p->functions.len;

	if (n >= PROFILE_FRAMES_MAX) {
		p->refused++;
		return (function_id){};
	}
	vec_push(&p->functions, *f);
	if (!f->label.n)
		p->functions.items[n].label = f->name;
	return (function_id){n};
}

frame_id profile_frame(struct profile *p, module_id module, uint64_t address)
{
	uint64_t hash = frame_hash(p, module, address);
	uint32_t n;

	if (p->unindexed)
		index_tables(p);
	n = find_frame(p, module, address, hash);
	if (n)
		return (frame_id){n};
	if (p->frames.len >= PROFILE_FRAMES_MAX) {
		p->refused++;
		return (frame_id){};
	}
	n = (uint32_t)p->frames.len;
	vec_push(&p->frames, (struct profile_frame){.module = module, .address = address});
	slots_add(&p->frame_slots, hash, n);
	return (frame_id){n};
}

frame_id profile_frame_named(struct profile *p, const char *name, size_t len, enum code_kind kind)
{
	struct profile_function f = {
		.name = profile_string_n(p, name, len), .kind = kind, .named = true};
	struct frame_name names = {.function = profile_function(p, &f)};
	/* The module "none" has no addresses of its own: the function's number serves as one. */
	frame_id frame = profile_frame(p, (module_id){}, names.function.n);

	profile_name_frame(p, frame, &names, 1);
	return frame;
}

void profile_name_frame(struct profile *p, frame_id frame, const struct frame_name *names,
			uint32_t count)
{
	struct profile_frame *f = &p->frames.items[frame.n];

	if (f->names || !frame.n || !count)
		return;
	f->names = (uint32_t)p->names.len;
	f->name_count = count;
	for (uint32_t i = 0; i < count; i++)
		vec_push(&p->names, names[i]);
}

void profile_make_frames(struct profile *p)
{
	uint32_t count = (uint32_t)p->functions.len;

	if (!p->frames_are_functions)
		return;
	vec_reserve(&p->frames, count);
	vec_reserve(&p->names, count);
	for (uint32_t n = 1; n < count; n++) {
		vec_push(&p->frames,
			 (struct profile_frame){.address = n, .names = n, .name_count = 1});
		vec_push(&p->names,
			 (struct frame_name){.function = {n},
					     .inlined = text_is_inlined(&p->functions.items[n])});
	}
	p->frames_are_functions = false;
	profile_tables_written(p);
}

stack_id profile_stack_new(struct profile *p, stack_id parent, frame_id frame)
{
	if (profile_stacks_end(p) >= PROFILE_STACKS_MAX) {
		p->refused++;
		return (stack_id){};
	}
	vec_push(&p->stacks, (struct profile_stack){parent, frame});
	return (stack_id){profile_stacks_end(p) - 1};
}

void profile_forget_threads(struct profile *p)
{
	slots_release(&p->thread_slots);
	p->threads_forgotten += (uint32_t)p->threads.len - 1;
	p->threads.len = 1;
}

void profile_forget_stacks(struct profile *p)
{
	drop_stack_index(&p->stack_slots);
	p->stacks_forgotten = profile_stacks_end(p) - 1;
	p->stacks.len = 1;
}

stack_id profile_stack(struct profile *p, stack_id parent, frame_id frame)
{
	struct stack_slots *s = &p->stack_slots;
	uint32_t *number;
	stack_id added;

	if (p->unindexed)
		index_tables(p);
	if (s->indexed < p->stacks.len)
		index_stacks(p);
	number = stack_number(p, parent.n, frame.n);
	if (*number)
		return (stack_id){*number};
	added = profile_stack_new(p, parent, frame);
	if (added.n)
		put_stack(p, number, frame.n, added.n);
	return added;
}

/* ---- samples ---- */

thread_id profile_thread(struct profile *p, uint32_t pid, uint32_t tid, string_id comm)
{
	struct profile_thread thread = {pid, tid, comm};
	uint64_t hash = thread_hash(p, &thread);
	uint32_t n;

	if (p->unindexed)
		index_tables(p);
	n = find_thread(p, &thread, hash);
	if (n)
		return (thread_id){n};
	n = (uint32_t)p->threads.len;
	vec_push(&p->threads, thread);
	slots_add(&p->thread_slots, hash, n);
	return (thread_id){n};
}

const char *profile_counter_mark(const struct profile *p, size_t counter)
{
	const char *name = profile_text(p, p->counters.items[counter].name);

	if (!strcmp(name, COUNTER_LOST))
		return "lost";
	return strcmp(name, COUNTER_THROTTLED) ? NULL : "throttled";
}

uint32_t events_busiest(const uint64_t *samples, size_t events)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < events; i++)
		if (samples[i] > samples[best])
			best = i;
	return best;
}

event_id profile_event(struct profile *p, const char *name)
{
	string_id id = profile_string(p, name);

	vec_each(&p->events, event)
		if (event->name.n == id.n)
			return (event_id){(uint32_t)(event - p->events.items)};
	vec_push(&p->events, (struct profile_event){.name = id});
	return (event_id){(uint32_t)p->events.len - 1};
}

static bool same_keys(const struct profile_row *a, const struct profile_row *b)
{
	return a->stack.n == b->stack.n && a->thread.n == b->thread.n && a->event.n == b->event.n &&
	       a->cpu == b->cpu && a->bucket == b->bucket && a->key.n == b->key.n;
}

uint32_t profile_row(struct profile *p, const struct profile_row *keys)
{
	uint64_t hash = hash_mix(p->seed ^ ((uint64_t)keys->thread.n << 32 | keys->stack.n),
				 (uint64_t)keys->event.n << 48 ^ (uint64_t)keys->cpu << 32 ^
					 keys->bucket ^ keys->key.n * 0x9e3779b97f4a7c15ull);
	size_t at = slots_begin(&p->row_slots, hash);
	struct profile_row row = *keys;
	uint32_t n;

	while ((n = slots_next(&p->row_slots, hash, &at)))
		if (same_keys(&p->rows.items[n - 1], keys))
			return n;
	if (p->rows.len >= PROFILE_ROWS_MAX) {
		p->refused++;
		return 0;
	}
	row.samples = row.weight = 0;
	vec_push(&p->rows, row);
	slots_add(&p->row_slots, hash, (uint32_t)p->rows.len);
	return (uint32_t)p->rows.len;
}

void profile_add(struct profile *p, const struct profile_row *row)
{
	uint32_t n = profile_row(p, row);

	if (!n)
		return;
	p->rows.items[n - 1].samples += row->samples;
	p->rows.items[n - 1].weight += row->weight;
}

uint32_t profile_counter(struct profile *p, const struct profile_counter *counter)
{
	vec_push(&p->counters, *counter);
	return (uint32_t)p->counters.len - 1;
}

/* ---- the whole ---- */

void profile_init(struct profile *p)
{
	*p = (struct profile){.seed = hash_seed()};
	vec_push(&p->strings.bytes, '\0');
	vec_push(&p->strings.starts, 0);
	vec_push(&p->modules, (struct profile_module){});
	vec_push(&p->functions, (struct profile_function){});
	vec_push(&p->frames, (struct profile_frame){});
	vec_push(&p->names, (struct frame_name){});
	vec_push(&p->stacks, (struct profile_stack){});
	vec_push(&p->threads, (struct profile_thread){});
	vec_push(&p->counters, (struct profile_counter){});
}

void profile_release(struct profile *p)
{
	vec_release(&p->strings.bytes);
	vec_release(&p->strings.starts);
	slots_release(&p->strings.slots);
	vec_release(&p->modules);
	vec_release(&p->functions);
	vec_release(&p->frames);
	vec_release(&p->names);
	vec_release(&p->stacks);
	vec_release(&p->threads);
	vec_release(&p->events);
	vec_release(&p->counters);
	vec_release(&p->schemas);
	vec_release(&p->columns);
	vec_release(&p->rows);
	slots_release(&p->module_slots);
	slots_release(&p->function_slots);
	slots_release(&p->frame_slots);
	drop_stack_index(&p->stack_slots);
	slots_release(&p->thread_slots);
	slots_release(&p->row_slots);
}
