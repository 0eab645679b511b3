/*
 * Reading pieces of a dictionary. Tables are written directly: looking up each entry by its contents,
 * as interning does, would take most of the time and could give other numbers than the sender's.
 */
#include "base/bits.h"
#include "profile/columns.h"
#include "profile/dictionary.h"
#include "profile/dictionary_tables.h"
#include "profile/packed.h"
#include "profile/schema.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct piece {
	struct profile *p;
	struct cursor body;
	uint32_t sizes[TABLES]; /* number of entries received, by table */
	uint32_t count;         /* new entries of the table being read */
	uint64_t *values;       /* buffer for one column */
	size_t room;            /* entries that fit into `values` */
};

static void make_room(struct piece *x, size_t count)
{
	if (count <= x->room)
		return;
	free(x->values);
	x->values = xrealloc(NULL, count, sizeof(*x->values));
	x->room = count;
}

/* Reads a column of numbers up to @max and assigns each to the field @target of its new entry. */
#define TAKE_COLUMN(x, max, type, items, target)                                                   \
	do {                                                                                       \
		if (!column_decode(&(x)->body, (x)->count, (max), (x)->values))                    \
			return false;                                                              \
		for (uint32_t i = 0; i < (x)->count; i++) {                                        \
			uint64_t v = (x)->values[i];                                               \
			type *to = (items) + i;                                                    \
			target;                                                                    \
		}                                                                                  \
	} while (0)

/* Allocates zeroed room for the new entries. The table's length grows only after all of them are checked. */
#define NEW_ENTRIES(table, count)                                                                  \
	({                                                                                         \
		vec_reserve((table), (table)->len + (count));                                      \
		memset((table)->items + (table)->len, 0, (count) * sizeof(*(table)->items));       \
		(table)->items + (table)->len;                                                     \
	})

static bool take_strings(struct piece *x)
{
	struct profile_strings *s = &x->p->strings;
	uint64_t bytes = 0;

	if (!column_decode(&x->body, x->count, STRING_BYTES_MAX, x->values))
		return false;
	for (uint32_t i = 0; i < x->count; i++)
		bytes += x->values[i];
	if (bytes > x->body.size - x->body.at ||
	    s->bytes.len + bytes + x->count > PROFILE_STRING_BYTES_MAX)
		return false;
	/* A NUL within a string would truncate it. */
	if (memchr(x->body.data + x->body.at, '\0', bytes))
		return false;
	vec_reserve(&s->bytes, s->bytes.len + bytes + x->count);
	vec_reserve(&s->starts, s->starts.len + x->count);
	for (uint32_t i = 0; i < x->count; i++) {
		vec_push(&s->starts, (uint32_t)s->bytes.len);
		memcpy(s->bytes.items + s->bytes.len, x->body.data + x->body.at, x->values[i]);
		s->bytes.len += x->values[i];
		s->bytes.items[s->bytes.len++] = '\0';
		cursor_skip(&x->body, x->values[i]);
	}
	return true;
}

static bool take_modules(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1;
	struct profile_module *items = NEW_ENTRIES(&x->p->modules, x->count);

	TAKE_COLUMN(x, string, struct profile_module, items, to->path.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_module, items, to->name.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_module, items, to->build_id.n = (uint32_t)v);
	TAKE_COLUMN(x, CODE_VDSO, struct profile_module, items, to->kind = (enum code_kind)v);
	x->p->modules.len += x->count;
	return true;
}

static bool take_functions(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1, module = x->p->modules.len - 1;
	struct profile_function *items = NEW_ENTRIES(&x->p->functions, x->count);

	TAKE_COLUMN(x, string, struct profile_function, items, to->name.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_function, items, to->label.n = (uint32_t)v);
	TAKE_COLUMN(x, module, struct profile_function, items, to->module.n = (uint32_t)v);
	TAKE_COLUMN(x, UINT64_MAX, struct profile_function, items, to->start = v);
	TAKE_COLUMN(x, UINT64_MAX, struct profile_function, items, to->size = function_size(v));
	TAKE_COLUMN(x, CODE_VDSO << 1 | 1, struct profile_function, items,
		    (to->kind = (enum code_kind)(v >> 1), to->named = v & 1));
	x->p->functions.len += x->count;
	return true;
}

static bool take_names(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1, function = x->p->functions.len - 1;
	struct frame_name *items = NEW_ENTRIES(&x->p->names, x->count);

	TAKE_COLUMN(x, function, struct frame_name, items, to->function.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct frame_name, items, to->file.n = (uint32_t)v);
	TAKE_COLUMN(x, UINT32_MAX, struct frame_name, items, to->line = (uint32_t)v);
	TAKE_COLUMN(x, 1, struct frame_name, items, to->inlined = v);
	x->p->names.len += x->count;
	return true;
}

/* Whether a range of names is valid: both 0, or names that exist. */
static bool name_range_is_good(const struct profile *p, uint32_t names, uint32_t count)
{
	return names ? count && count <= p->names.len - names : !count;
}

static bool take_frames(struct piece *x)
{
	uint64_t module = x->p->modules.len - 1, name = x->p->names.len - 1;
	struct profile_frame *items = NEW_ENTRIES(&x->p->frames, x->count);

	TAKE_COLUMN(x, module, struct profile_frame, items, to->module.n = (uint32_t)v);
	TAKE_COLUMN(x, UINT64_MAX, struct profile_frame, items, to->address = v);
	TAKE_COLUMN(x, name, struct profile_frame, items, to->names = (uint32_t)v);
	TAKE_COLUMN(x, UINT32_MAX, struct profile_frame, items, to->name_count = (uint32_t)v);
	for (uint32_t i = 0; i < x->count; i++)
		if (!name_range_is_good(x->p, items[i].names, items[i].name_count))
			return false;
	x->p->frames.len += x->count;
	return true;
}

static bool take_stacks(struct piece *x)
{
	uint32_t first = profile_stacks_end(x->p);
	uint64_t frame = x->sizes[TABLE_FRAMES] - 1;
	struct profile_stack *items = NEW_ENTRIES(&x->p->stacks, x->count);

	if (!column_decode(&x->body, x->count, PROFILE_STACKS_MAX, x->values))
		return false;
	/* The distance is at least 1 (the stack before) and at most leads to the empty stack. */
	for (uint32_t i = 0; i < x->count; i++) {
		if (!x->values[i] || x->values[i] > first + i)
			return false;
		items[i].parent.n = first + i - (uint32_t)x->values[i];
	}
	TAKE_COLUMN(x, frame, struct profile_stack, items, to->frame.n = (uint32_t)v);
	x->p->stacks.len += x->count;
	return true;
}

static bool take_threads(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1;
	struct profile_thread *items = NEW_ENTRIES(&x->p->threads, x->count);

	TAKE_COLUMN(x, UINT32_MAX, struct profile_thread, items, to->pid = (uint32_t)v);
	TAKE_COLUMN(x, UINT32_MAX, struct profile_thread, items, to->tid = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_thread, items, to->comm.n = (uint32_t)v);
	x->p->threads.len += x->count;
	return true;
}

static bool take_events(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1;
	struct profile_event *items = NEW_ENTRIES(&x->p->events, x->count);

	TAKE_COLUMN(x, string, struct profile_event, items, to->name.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_event, items, to->unit.n = (uint32_t)v);
	x->p->events.len += x->count;
	return true;
}

/* Replaces scales that are not finite: one such value would spoil every sum. */
static double scale_of(uint64_t bits)
{
	double scale = double_of_bits(bits);

	return isfinite(scale) ? scale : 1;
}

static bool take_counters(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1, thread = x->sizes[TABLE_THREADS] - 1;
	struct profile_counter *items = NEW_ENTRIES(&x->p->counters, x->count);

	TAKE_COLUMN(x, string, struct profile_counter, items, to->name.n = (uint32_t)v);
	TAKE_COLUMN(x, string, struct profile_counter, items, to->unit.n = (uint32_t)v);
	TAKE_COLUMN(x, UINT64_MAX, struct profile_counter, items, to->scale = scale_of(v));
	TAKE_COLUMN(x, UINT32_MAX, struct profile_counter, items, to->cpu = (int32_t)v);
	TAKE_COLUMN(x, thread, struct profile_counter, items, to->thread.n = (uint32_t)v);
	x->p->counters.len += x->count;
	return true;
}

static const struct {
	bool (*take)(struct piece *x);
	uint32_t max;
	unsigned columns;
} tables[TABLES] = {
	[TABLE_STRINGS] = {take_strings, PROFILE_STACKS_MAX, 1},
	[TABLE_MODULES] = {take_modules, PROFILE_FRAMES_MAX, 4},
	[TABLE_FUNCTIONS] = {take_functions, PROFILE_FRAMES_MAX, 6},
	[TABLE_NAMES] = {take_names, PROFILE_STACKS_MAX, 4},
	[TABLE_FRAMES] = {take_frames, PROFILE_FRAMES_MAX, 4},
	[TABLE_STACKS] = {take_stacks, PROFILE_STACKS_MAX, 2},
	[TABLE_THREADS] = {take_threads, PROFILE_FRAMES_MAX, 3},
	[TABLE_EVENTS] = {take_events, EVENTS_MAX, 2},
	[TABLE_COUNTERS] = {take_counters, PROFILE_FRAMES_MAX, 5},
};

static bool pass_over(struct piece *x, enum table t)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < tables[t].columns; i++)
		if (!column_decode(&x->body, x->count, UINT64_MAX, x->values))
			return false;
	/* The column of strings has their lengths. */
	for (uint32_t i = 0; t == TABLE_STRINGS && i < x->count; i++) {
		if (x->values[i] > x->body.size - x->body.at - bytes)
			return false;
		bytes += x->values[i];
	}
	cursor_skip(&x->body, bytes);
	return true;
}

static bool take_told(struct piece *x)
{
	uint64_t count = varint_take(&x->body);

	for (uint64_t i = 0; i < count && !x->body.failed; i++) {
		uint64_t module = varint_take(&x->body), problem = varint_take(&x->body);
		uint64_t found_id = varint_take(&x->body), bias = varint_take(&x->body);
		struct profile_module *m;

		if (!module || module >= x->p->modules.len || problem >= x->p->strings.starts.len ||
		    found_id >= x->p->strings.starts.len)
			return false;
		m = &x->p->modules.items[module];
		m->problem.n = (uint32_t)problem;
		m->found_id.n = (uint32_t)found_id;
		m->bias = bias;
	}
	return !x->body.failed;
}

static bool take_namings(struct piece *x)
{
	struct profile *p = x->p;
	uint64_t count = varint_take(&x->body);
	uint64_t *frames, *names, *counts;

	if (x->body.failed || count > ENTRIES_MAX)
		return false;
	make_room(x, 3 * count + 1);
	frames = x->values;
	names = frames + count;
	counts = names + count;
	if (!column_decode(&x->body, count, p->frames.len - 1, frames) ||
	    !column_decode(&x->body, count, p->names.len - 1, names) ||
	    !column_decode(&x->body, count, UINT32_MAX, counts))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct profile_frame *f = &p->frames.items[frames[i]];

		if (!frames[i] || !names[i] ||
		    !name_range_is_good(p, (uint32_t)names[i], (uint32_t)counts[i]))
			return false;
		f->names = (uint32_t)names[i];
		f->name_count = (uint32_t)counts[i];
	}
	return true;
}

/* Returns false if the number is larger than @max. */
static bool take_number(struct piece *x, uint64_t max, uint32_t *ret)
{
	uint64_t value = varint_take(&x->body);

	*ret = (uint32_t)value;
	return !x->body.failed && value <= max;
}

/* Types and roles of newer versions are treated as plain numbers, so that their rows can be read. */
static bool take_column(struct piece *x, uint64_t string, struct profile_column *c)
{
	uint32_t type, role, bytes;

	if (!take_number(x, string, &c->name.n) || !take_number(x, string, &c->unit.n) ||
	    !take_number(x, string, &c->meaning.n) || !take_number(x, UINT32_MAX, &c->tag) ||
	    !take_number(x, UINT8_MAX, &type) || !take_number(x, UINT8_MAX, &role) ||
	    !take_number(x, 8, &bytes) || !c->tag)
		return false;
	c->type = type && value_type_name(type) ? (uint8_t)type : VALUE_UNSIGNED;
	c->role = column_role_name(role) ? (uint8_t)role : AS_VALUE;
	c->bytes = bytes ? (uint8_t)bytes : 8;
	return true;
}

static bool take_schema(struct piece *x)
{
	uint64_t string = x->p->strings.starts.len - 1;
	struct profile_schema s = {.columns = (uint32_t)x->p->columns.len};
	uint32_t bits;

	if (!take_number(x, string, &s.name.n) || !take_number(x, string, &s.meaning.n) ||
	    !take_number(x, x->sizes[TABLE_EVENTS], &s.event) ||
	    !take_number(x, SCHEMA_IS_SPAN | SCHEMA_IS_SAMPLED, &bits) ||
	    !take_number(x, SCHEMA_COLUMNS_MAX, &s.column_count))
		return false;
	s.is_span = bits & SCHEMA_IS_SPAN;
	s.sampled = bits & SCHEMA_IS_SAMPLED;
	for (uint32_t i = 0; i < s.column_count; i++) {
		struct profile_column c;

		if (!take_column(x, string, &c))
			return false;
		vec_push(&x->p->columns, c);
	}
	vec_push(&x->p->schemas, s);
	return true;
}

/* Reads the schemas at the end of a piece, if there are any. */
static bool take_schemas(struct piece *x)
{
	uint32_t first, count;

	if (x->body.at == x->body.size)
		return true;
	if (!take_number(x, SCHEMAS_MAX, &first) || !take_number(x, SCHEMAS_MAX, &count) ||
	    first != x->p->schemas.len || !count || first + count > SCHEMAS_MAX)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!take_schema(x))
			return false;
	return true;
}

/* Begins the next table of the piece: reads its first entry and their number. */
static int begin_table(struct piece *x, enum table t, uint64_t *ret_from, struct err *e)
{
	uint64_t from = varint_take(&x->body), count = varint_take(&x->body);

	if (x->body.failed || count > ENTRIES_MAX || from + count > tables[t].max)
		return err_set(e, EBADMSG, "a stored dictionary is damaged, or too large");
	x->count = (uint32_t)count;
	make_room(x, count + 1);
	*ret_from = from;
	return 0;
}

static int apply_table(struct piece *x, enum table t, struct err *e)
{
	uint64_t from = 0;
	int r = begin_table(x, t, &from, e);

	if (r < 0)
		return r;
	if (from != x->sizes[t])
		return err_set(e, EBADMSG,
			       "a piece of a stored dictionary is missing or comes twice");
	if (x->count && !tables[t].take(x))
		return err_set(e, EBADMSG, "a stored dictionary is damaged");
	x->sizes[t] += x->count;
	return 0;
}

static int apply_tables(struct piece *x, struct err *e)
{
	int r = 0;

	dictionary_sizes(x->p, x->sizes);
	for (enum table t = 0; t < TABLES && !r; t++)
		r = apply_table(x, t, e);
	if (!r &&
	    (!take_told(x) || !take_namings(x) || !take_schemas(x) || x->body.at != x->body.size))
		r = err_set(e, EBADMSG, "a stored dictionary is damaged at its end");
	return r;
}

static int apply_stacks(struct piece *x, struct err *e)
{
	uint64_t from = 0;
	int r = 0;

	dictionary_sizes(x->p, x->sizes);
	for (enum table t = 0; t < TABLE_STACKS && !r; t++) {
		r = begin_table(x, t, &from, e);
		if (!r && x->count && !pass_over(x, t))
			r = err_set(e, EBADMSG, "a stored dictionary is damaged");
		x->sizes[t] = (uint32_t)from + x->count;
	}
	return r ? r : apply_table(x, TABLE_STACKS, e);
}

static int apply(struct profile *p, const void *bytes, size_t size,
		 int (*how)(struct piece *x, struct err *e), struct err *e)
{
	struct piece x = {.p = p};
	struct packed packed = {};
	int err;

	if (size > DICTIONARY_BYTES_MAX)
		return err_set(e, EBADMSG, "a dictionary of %zu bytes is too large", size);
	err = packed_open(PACKED_DICTIONARY, bytes, size, 0, BODY_BYTES_MAX, &packed, e);
	if (err)
		return err;
	x.body = packed.body;
	profile_tables_written(p);
	err = how(&x, e);
	free(x.values);
	packed_release(&packed);
	return err;
}

int dictionary_apply(struct profile *p, const void *bytes, size_t size, struct err *e)
{
	return apply(p, bytes, size, apply_tables, e);
}

int dictionary_apply_stacks(struct profile *p, const void *bytes, size_t size, struct err *e)
{
	return apply(p, bytes, size, apply_stacks, e);
}
