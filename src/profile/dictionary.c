#include "profile/dictionary.h"

#include "base/bits.h"
#include "profile/columns.h"
#include "profile/dictionary_tables.h"
#include "profile/packed.h"

#include <string.h>

/* ---- the writer ---- */

void dictionary_writer_init(struct dictionary_writer *w)
{
	/* Entry 0 exists in every table of a new profile, except in that of events. */
	*w = (struct dictionary_writer){
		.strings = 1,
		.modules = 1,
		.functions = 1,
		.frames = 1,
		.names = 1,
		.stacks = 1,
		.threads = 1,
		.counters = 1,
	};
	vec_push(&w->told, (struct told_module){});
}

void dictionary_writer_release(struct dictionary_writer *w)
{
	vec_release(&w->unnamed);
	vec_release(&w->told);
}

void dictionary_renamed(struct dictionary_writer *w, const frame_id *frames, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].n && frames[i].n < w->frames)
			vec_push(&w->unnamed, frames[i].n);
}

/* ---- encoding ---- */

/* Entries [from, to) of a table, which are encoded as columns. */
struct range {
	uint32_t from, to;
	uint64_t *scratch;
};

#define ADD_COLUMN(body, range, item, type, value)                                                 \
	do {                                                                                       \
		for (uint32_t n = (range)->from; n < (range)->to; n++) {                           \
			const type *item = items + n;                                              \
			(range)->scratch[n - (range)->from] = (value);                             \
		}                                                                                  \
		column_encode((range)->scratch, (range)->to - (range)->from, (body));              \
	} while (0)

static size_t length_of(const struct profile *p, uint32_t n)
{
	size_t len = strlen(profile_text(p, (string_id){n}));

	return len < STRING_BYTES_MAX ? len : STRING_BYTES_MAX;
}

/* Returns the end of the strings that fit into this piece. */
static uint32_t strings_end(const struct profile *p, uint32_t from)
{
	size_t bytes = 0;
	uint32_t n = from;

	for (; n < p->strings.starts.len && n - from < ENTRIES_MAX; n++) {
		bytes += length_of(p, n);
		if (bytes > TEXT_BYTES_MAX)
			break;
	}
	return n;
}

static void add_strings(const struct profile *p, const struct range *r, struct buf *body)
{
	for (uint32_t n = r->from; n < r->to; n++)
		r->scratch[n - r->from] = length_of(p, n);
	column_encode(r->scratch, r->to - r->from, body);
	for (uint32_t n = r->from; n < r->to; n++)
		buf_add_mem(body, profile_text(p, (string_id){n}), length_of(p, n));
}

static void add_modules(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_module *items = p->modules.items;

	ADD_COLUMN(body, r, m, struct profile_module, m->path.n);
	ADD_COLUMN(body, r, m, struct profile_module, m->name.n);
	ADD_COLUMN(body, r, m, struct profile_module, m->build_id.n);
	ADD_COLUMN(body, r, m, struct profile_module, m->kind);
}

static void add_functions(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_function *items = p->functions.items;

	ADD_COLUMN(body, r, f, struct profile_function, f->name.n);
	ADD_COLUMN(body, r, f, struct profile_function, f->label.n);
	ADD_COLUMN(body, r, f, struct profile_function, f->module.n);
	ADD_COLUMN(body, r, f, struct profile_function, f->start);
	ADD_COLUMN(body, r, f, struct profile_function, f->size);
	ADD_COLUMN(body, r, f, struct profile_function, (uint64_t)f->kind << 1 | f->named);
}

static void add_names(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct frame_name *items = p->names.items;

	ADD_COLUMN(body, r, f, struct frame_name, f->function.n);
	ADD_COLUMN(body, r, f, struct frame_name, f->file.n);
	ADD_COLUMN(body, r, f, struct frame_name, f->line);
	ADD_COLUMN(body, r, f, struct frame_name, f->inlined);
}

/* Whether the names of a frame have been sent. If not, the frame is sent as unnamed, and named later. */
static bool name_is_sent(const struct dictionary_writer *w, const struct profile_frame *f)
{
	return f->names && f->names + f->name_count <= w->names;
}

static void add_frames(struct dictionary_writer *w, const struct profile *p, const struct range *r,
		       struct buf *body)
{
	const struct profile_frame *items = p->frames.items;

	ADD_COLUMN(body, r, f, struct profile_frame, f->module.n);
	ADD_COLUMN(body, r, f, struct profile_frame, f->address);
	ADD_COLUMN(body, r, f, struct profile_frame, name_is_sent(w, f) ? f->names : 0);
	ADD_COLUMN(body, r, f, struct profile_frame, name_is_sent(w, f) ? f->name_count : 0);
	for (uint32_t n = r->from; n < r->to; n++)
		if (!name_is_sent(w, items + n))
			vec_push(&w->unnamed, n);
}

/* A parent mostly has a number close to its child's, so the distance is encoded. */
static void add_stacks(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_stack *items = p->stacks.items;
	uint32_t before = p->stacks_forgotten;
	struct range here = {r->from - before, r->to - before, r->scratch};

	ADD_COLUMN(body, &here, s, struct profile_stack, n + before - s->parent.n);
	ADD_COLUMN(body, &here, s, struct profile_stack, s->frame.n);
}

static void add_threads(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_thread *items = p->threads.items;

	ADD_COLUMN(body, r, t, struct profile_thread, t->pid);
	ADD_COLUMN(body, r, t, struct profile_thread, t->tid);
	ADD_COLUMN(body, r, t, struct profile_thread, t->comm.n);
}

static void add_events(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_event *items = p->events.items;

	ADD_COLUMN(body, r, v, struct profile_event, v->name.n);
	ADD_COLUMN(body, r, v, struct profile_event, v->unit.n);
}

static void add_counters(const struct profile *p, const struct range *r, struct buf *body)
{
	const struct profile_counter *items = p->counters.items;

	ADD_COLUMN(body, r, c, struct profile_counter, c->name.n);
	ADD_COLUMN(body, r, c, struct profile_counter, c->unit.n);
	ADD_COLUMN(body, r, c, struct profile_counter, bits_of_double(c->scale));
	ADD_COLUMN(body, r, c, struct profile_counter, (uint32_t)c->cpu);
	ADD_COLUMN(body, r, c, struct profile_counter, c->thread.n);
}

static void add_table(struct dictionary_writer *w, const struct profile *p, enum table table,
		      const struct range *r, struct buf *body)
{
	switch (table) {
	case TABLE_STRINGS:
		return add_strings(p, r, body);
	case TABLE_MODULES:
		return add_modules(p, r, body);
	case TABLE_FUNCTIONS:
		return add_functions(p, r, body);
	case TABLE_NAMES:
		return add_names(p, r, body);
	case TABLE_FRAMES:
		return add_frames(w, p, r, body);
	case TABLE_STACKS:
		return add_stacks(p, r, body);
	case TABLE_THREADS:
		return add_threads(p, r, body);
	case TABLE_EVENTS:
		return add_events(p, r, body);
	case TABLE_COUNTERS:
		return add_counters(p, r, body);
	case TABLES:
		break;
	}
}

/* Adds facts found after a module was sent: (module, problem, build id, bias). Returns their number. */
static uint32_t add_told(struct dictionary_writer *w, const struct profile *p, struct buf *body)
{
	CLEANUP(buf_release) struct buf news = {};
	uint32_t count = 0;

	while (w->told.len < w->modules)
		vec_push(&w->told, (struct told_module){});
	for (uint32_t n = 1; n < w->modules; n++) {
		const struct profile_module *m = &p->modules.items[n];
		struct told_module *told = &w->told.items[n];

		if ((m->problem.n == told->problem && m->found_id.n == told->found_id &&
		     m->bias == told->bias) ||
		    m->problem.n >= w->strings || m->found_id.n >= w->strings)
			continue;
		*told = (struct told_module){m->bias, m->problem.n, m->found_id.n};
		varint_add(&news, n);
		varint_add(&news, m->problem.n);
		varint_add(&news, m->found_id.n);
		varint_add(&news, m->bias);
		count++;
	}
	varint_add(body, count);
	buf_add_mem(body, buf_str(&news), news.len);
	return count;
}

/* Adds frames that were named or renamed after they were sent. */
static uint32_t add_namings(struct dictionary_writer *w, const struct profile *p, struct buf *body)
{
	size_t room = w->unnamed.len < ENTRIES_MAX ? w->unnamed.len : ENTRIES_MAX;
	CLEANUP(free_ptr) uint64_t *columns = xrealloc(NULL, 3 * room + 1, sizeof(*columns));
	uint64_t *names = columns + room, *counts = names + room;
	uint32_t count = 0;
	size_t kept = 0;

	vec_each(&w->unnamed, number) {
		const struct profile_frame *f = &p->frames.items[*number];

		if (count == room || !name_is_sent(w, f)) {
			w->unnamed.items[kept++] = *number;
			continue;
		}
		columns[count] = *number;
		names[count] = f->names;
		counts[count++] = f->name_count;
	}
	w->unnamed.len = kept;
	varint_add(body, count);
	column_encode(columns, count, body);
	column_encode(names, count, body);
	column_encode(counts, count, body);
	return count;
}

/*
 * Schemas come last, and only if there are new ones: a piece without schemas has the format from before
 * schemas existed.
 */
static uint32_t add_schemas(struct dictionary_writer *w, const struct profile *p, struct buf *body)
{
	uint32_t first = w->schemas, count = (uint32_t)p->schemas.len - first;

	if (!count)
		return 0;
	varint_add(body, first);
	varint_add(body, count);
	for (; w->schemas < p->schemas.len; w->schemas++) {
		const struct profile_schema *s = &p->schemas.items[w->schemas];

		varint_add(body, s->name.n);
		varint_add(body, s->meaning.n);
		varint_add(body, s->event);
		varint_add(body, (s->is_span ? SCHEMA_IS_SPAN : 0) |
					 (s->sampled ? SCHEMA_IS_SAMPLED : 0));
		varint_add(body, s->column_count);
		for (uint32_t i = 0; i < s->column_count; i++) {
			const struct profile_column *c = &p->columns.items[s->columns + i];

			varint_add(body, c->name.n);
			varint_add(body, c->unit.n);
			varint_add(body, c->meaning.n);
			varint_add(body, c->tag);
			varint_add(body, c->type);
			varint_add(body, c->role);
			varint_add(body, c->bytes);
		}
	}
	return count;
}

/*
 * Encodes a piece. It ends with the first table that does not fit as a whole, because the tables behind it
 * refer to it. @stacks: with frames and stacks. They can be left out because only stacks refer to frames,
 * and no other table refers to stacks.
 */
static bool encode(struct dictionary_writer *w, const struct profile *p, bool stacks,
		   struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {};
	CLEANUP(free_ptr) uint64_t *scratch = NULL;
	uint32_t *sent[TABLES] = {&w->strings, &w->modules, &w->functions, &w->names,   &w->frames,
				  &w->stacks,  &w->threads, &w->events,    &w->counters};
	uint32_t sizes[TABLES], fresh = 0;
	bool whole = true;

	dictionary_sizes(p, sizes);
	for (enum table t = 0; t < TABLES; t++) {
		struct range r = {.from = *sent[t], .to = *sent[t]};
		uint32_t left = sizes[t] - r.from;

		if (!stacks && (t == TABLE_FRAMES || t == TABLE_STACKS))
			sizes[t] = r.to;
		else if (whole && left) {
			r.to += left < ENTRIES_MAX ? left : ENTRIES_MAX;
			if (t == TABLE_STRINGS)
				r.to = strings_end(p, r.from);
			r.scratch = scratch = xrealloc(scratch, r.to - r.from, sizeof(*scratch));
		}
		whole = whole && r.to == sizes[t];
		fresh += r.to - r.from;
		varint_add(&body, r.from);
		varint_add(&body, r.to - r.from);
		/* Frames, which follow the names, check by this count whether their names were sent. */
		*sent[t] = r.to;
		if (r.to > r.from)
			add_table(w, p, t, &r, &body);
	}
	fresh += add_told(w, p, &body);
	fresh += add_namings(w, p, &body);
	/* Schemas refer to strings and events, which are all sent by now. */
	if (whole)
		fresh += add_schemas(w, p, &body);
	if (fresh)
		packed_seal(PACKED_DICTIONARY, &head, &body, out);
	return fresh;
}

bool dictionary_encode(struct dictionary_writer *w, const struct profile *p, struct buf *out)
{
	return encode(w, p, true, out);
}

bool dictionary_encode_stackless(struct dictionary_writer *w, const struct profile *p,
				 struct buf *out)
{
	return encode(w, p, false, out);
}
