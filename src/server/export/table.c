#include "server/export/table.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

#define NAME_BYTES_MAX 120 /* of a column's name: HDF5 has 64 KiB for the columns of a table */

/* ---- columns ---- */

/* Before the fields, in this order. */
static const uint32_t common_tags[] = {TAG_TIME,    TAG_END,   TAG_DURATION, TAG_EVENT,
				       TAG_THREAD,  TAG_CPU,   TAG_KEY,      TAG_WEIGHT,
				       TAG_ADDRESS, TAG_VALUE, TAG_RUNNING};

/* Names that mean the same in every table. */
static const char *const common_names[] = {"time_s", "end_s", "pid",      "tid",
					   "comm",   "cpu",   "function", "module"};

static bool is_taken(const struct export_table *t, const char *name)
{
	vec_each(&t->columns, c)
		if (!strcmp(c->name, name))
			return true;
	return false;
}

static bool is_common(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(common_names); i++)
		if (!strcmp(common_names[i], name))
			return true;
	return false;
}

/* Names come from programs. PyTables does not accept slashes. */
static char *make_name(const struct export_table *t, const char *prefix, const char *name,
		       const char *suffix)
{
	CLEANUP(free_ptr) char *cut = xasprintf("%s%.*s%s", prefix, NAME_BYTES_MAX, name, suffix);
	CLEANUP(buf_release) struct buf clean = {};

	text_add_printable(&clean, cut);
	for (char *c = clean.s; c && *c; c++)
		if (*c == '/')
			*c = '|';
	if (!clean.len || is_taken(t, buf_str(&clean)))
		buf_addf(&clean, "#%zu", t->columns.len);
	return xstrdup(buf_str(&clean));
}

static void add(struct export_table *t, const struct column_schema *c, enum export_kind kind,
		char *name, const char *meaning)
{
	vec_push(&t->columns, (struct export_column){
				      .name = name,
				      .unit = kind == EXPORT_SECONDS ? "s" : c->unit,
				      .meaning = meaning,
				      .kind = kind,
				      .type = c->type,
				      .tag = c->tag,
				      .bytes = c->bytes,
				      .value = t->tags.len - 1,
			      });
}

/* A column of threads or stacks is several: those of another column than the common one have its
 * name in front. */
static void add_parts(struct export_table *t, const struct column_schema *c)
{
	static const struct part {
		enum value_type type;
		enum export_kind kind;
		const char *name, *meaning;
	} parts[] = {
		{VALUE_THREAD, EXPORT_PID, "pid", "process of the thread"},
		{VALUE_THREAD, EXPORT_TID, "tid", "number of the thread"},
		{VALUE_THREAD, EXPORT_COMM, "comm", "name of the thread"},
		{VALUE_STACK, EXPORT_FUNCTION, "function", "innermost function of the stack"},
		{VALUE_STACK, EXPORT_MODULE, "module", "file of the innermost function"},
		{VALUE_STACK, EXPORT_STACK, "stack", "functions from the outermost one on"},
	};
	bool own = c->tag >= SCHEMA_TAG_OWN;
	CLEANUP(free_ptr) char *prefix = xasprintf("%s_", c->name);

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].type == c->type)
			add(t, c, parts[i].kind, make_name(t, own ? prefix : "", parts[i].name, ""),
			    parts[i].meaning);
}

static void add_column(struct export_table *t, const struct column_schema *c)
{
	static const enum export_kind kinds[] = {
		[VALUE_UNSIGNED] = EXPORT_UNSIGNED, [VALUE_SIGNED] = EXPORT_SIGNED,
		[VALUE_FLOAT] = EXPORT_FLOAT,       [VALUE_TIME] = EXPORT_SECONDS,
		[VALUE_DURATION] = EXPORT_UNSIGNED, [VALUE_ADDRESS] = EXPORT_ADDRESS,
		[VALUE_STRING] = EXPORT_TEXT,       [VALUE_STACK] = EXPORT_STACK,
		[VALUE_THREAD] = EXPORT_PID,        [VALUE_EVENT] = EXPORT_TEXT,
		[VALUE_COUNTER] = EXPORT_TEXT,      [VALUE_CPU] = EXPORT_UNSIGNED,
	};
	enum export_kind kind =
		c->type > 0 && c->type < ARRAY_LEN(kinds) ? kinds[c->type] : EXPORT_UNSIGNED;
	const char *suffix = kind == EXPORT_SECONDS ? "_s" : "";
	CLEANUP(free_ptr) char *whole = xasprintf("%s%s", c->name, suffix);
	bool renamed = c->tag >= SCHEMA_TAG_OWN && is_common(whole);

	vec_push(&t->tags, c->tag);
	if (c->type == VALUE_THREAD || c->type == VALUE_STACK)
		add_parts(t, c);
	else
		add(t, c, kind, make_name(t, renamed ? "field_" : "", c->name, suffix), c->meaning);
}

static void add_tagged(struct export_table *t, const struct profile *p, uint32_t tag)
{
	for (size_t i = 0; i < t->schema.column_count; i++) {
		struct column_schema c = profile_schema_column(p, t->schema.number, i);

		if (c.tag == tag) {
			add_column(t, &c);
			return;
		}
	}
}

void export_table_open(struct export_table *t, const struct export_run *x, uint32_t number)
{
	const struct profile *p = &x->profile;

	*t = (struct export_table){};
	profile_schema(p, number, &t->schema);
	for (size_t i = 0; i < ARRAY_LEN(common_tags); i++) {
		/* The name of the table says it, and hits of a tracepoint have no address of data. */
		if (t->schema.event &&
		    (common_tags[i] == TAG_EVENT || common_tags[i] == TAG_ADDRESS))
			continue;
		add_tagged(t, p, common_tags[i]);
	}
	for (size_t i = 0; i < t->schema.column_count; i++) {
		struct column_schema c = profile_schema_column(p, number, i);

		if (c.tag >= SCHEMA_TAG_OWN)
			add_column(t, &c);
	}
	add_tagged(t, p, TAG_STACK);
	vec_push(&t->tags, 0);
}

void export_table_close(struct export_table *t)
{
	vec_each(&t->columns, c)
		free(c->name);
	vec_release(&t->columns);
	vec_release(&t->tags);
}

/* ---- by name ---- */

int export_table_find(struct export_table *t, const struct export_run *x, const char *name,
		      struct err *e)
{
	struct table_schema table;
	struct err missing;

	/* "counters" is a download of its own. */
	if (profile_schema_find(&x->profile, name, "counters", &table, &missing) < 0)
		return err_set(e, EINVAL, "%s", missing.text);
	export_table_open(t, x, table.number);
	return 0;
}

int export_table_each(struct export_run *x, const struct export_table *t, row_visit *visit,
		      void *ctx, struct err *e)
{
	bool samples = t->schema.number == SCHEMA_SAMPLES;
	const struct chunk_query which = {.schema = samples ? 0 : t->schema.number,
					  .sampled = samples};
	const struct row_walk walk = export_walk(x, which, t->tags.items);

	return row_walk_each(&walk, visit, ctx, e);
}

/* ---- values ---- */

const char *export_text(const struct export_run *x, const struct export_column *c, uint64_t value)
{
	return profile_value_text(&x->profile, c->type, value);
}

const struct profile_thread *export_thread(const struct export_run *x, uint64_t value)
{
	return profile_thread_at(&x->profile, value);
}

uint32_t export_stack(const struct export_run *x, uint64_t value)
{
	return value < x->profile.stacks.len ? (uint32_t)value : 0;
}

const struct profile_function *export_leaf(const struct export_run *x, uint32_t stack)
{
	const struct profile *p = &x->profile;
	const struct profile_frame *f = &p->frames.items[p->stacks.items[stack].frame.n];
	uint32_t last = f->name_count ? f->names + f->name_count - 1 : 0;

	return &p->functions.items[p->names.items[last].function.n];
}

char *export_put_seconds(char *p, uint64_t ns)
{
	p = put_u64(p, ns / NS_PER_SEC);
	*p++ = '.';
	return put_digits(p, ns % NS_PER_SEC, 9);
}

uint64_t export_since_start(const struct export_run *x, uint64_t ns)
{
	return ns > (uint64_t)x->run.start_ns ? ns - (uint64_t)x->run.start_ns : 0;
}

/* ---- texts of stacks ---- */

#define STACK_SLOTS 4096u

struct text_slot {
	uint32_t stack; /* 0: none yet */
	struct buf text;
};

struct export_stacks {
	const struct export_run *run;
	void (*encode)(struct buf *out, const char *text);
	struct text_slot slots[STACK_SLOTS];
	struct buf none;
};

/* Adds the names of a frame, outermost first, joined by ';' as in folded stacks. */
static void add_frame(struct buf *out, const struct profile *p, frame_id frame)
{
	const struct profile_frame *f = &p->frames.items[frame.n];

	for (uint32_t i = 0; i < f->name_count; i++) {
		if (out->len)
			buf_add_char(out, ';');
		buf_add(out, function_text(p, p->names.items[f->names + i].function));
	}
}

struct export_stacks *export_stacks_new(const struct export_run *x,
					void (*encode)(struct buf *out, const char *text))
{
	struct export_stacks *s = xcalloc(1, sizeof(*s));

	s->run = x;
	s->encode = encode;
	encode(&s->none, "");
	return s;
}

const struct buf *export_stacks_text(struct export_stacks *s, uint32_t stack)
{
	struct text_slot *slot = &s->slots[stack % STACK_SLOTS];
	const struct profile *p = &s->run->profile;
	CLEANUP(buf_release) struct buf text = {};
	VEC(frame_id) frames = {};

	if (!stack)
		return &s->none;
	if (slot->stack == stack)
		return &slot->text;
	for (uint32_t n = stack; n; n = p->stacks.items[n].parent.n)
		vec_push(&frames, p->stacks.items[n].frame);
	for (size_t i = frames.len; i > 0; i--)
		add_frame(&text, p, frames.items[i - 1]);
	vec_release(&frames);
	slot->stack = stack;
	buf_clear(&slot->text);
	s->encode(&slot->text, buf_str(&text));
	return &slot->text;
}

void export_stacks_free(struct export_stacks *s)
{
	for (size_t i = 0; i < STACK_SLOTS; i++)
		buf_release(&s->slots[i].text);
	buf_release(&s->none);
	free(s);
}
