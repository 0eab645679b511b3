/*
 * Tables of tracepoints: each sample is a row with the values of the tracepoint's fields. The table of an
 * event is made at its first sample. Rows are sent in chunks, as other samples are.
 */
#include "collect/run/feed.h"
#include "base/clock.h"
#include "base/text.h"
#include "resolve/trace_fields.h"

#include <string.h>

/* A chunk of a few rows costs as much as one of hundreds, and `syscalls:*` makes hundreds of tables. If there
 * are more than TABLES_FEW tables, the rows of each wait until there are ROWS_MIN, or until the first of them
 * has waited for PATIENCE_NS. */
#define TABLES_FEW  16u
#define ROWS_MIN    512u
#define PATIENCE_NS (2 * NS_PER_SEC)

#define TABLE_NAME_MAX 200 /* bytes of an event's name */

/* Limit of the strings of a run, which may last for days. Beyond it, fields are stored only if the string is
 * already known, as names of threads often are. */
#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* Columns common to all samples, which come before the fields. */
static const struct column_schema sample_columns[] = {
	{"time", "ns", "when the tracepoint was hit", TAG_TIME, VALUE_TIME, AS_TIME, 8},
	{"weight", "", "its period: how often it was hit for this row", TAG_WEIGHT, VALUE_UNSIGNED,
	 AS_WEIGHT, 8},
	{"thread", "", "that hit it", TAG_THREAD, VALUE_THREAD, AS_THREAD, 4},
	{"cpu", "", "that it was hit on", TAG_CPU, VALUE_CPU, AS_CPU, 4},
	{"stack", "", "how the thread came there", TAG_STACK, VALUE_STACK, AS_STACK, 4},
	{"event", "", "the tracepoint", TAG_EVENT, VALUE_EVENT, AS_KEY, 4},
	{"address", "", "of data, if the event has one", TAG_ADDRESS, VALUE_ADDRESS, AS_VALUE, 8},
};
#define SAMPLE_COLUMNS ARRAY_LEN(sample_columns)

struct feed_table {
	struct trace_fields *fields; /* NULL: the event has no table */
	uint32_t schema;
	size_t columns;
	VEC(uint64_t) values[SAMPLE_COLUMNS + SCHEMA_COLUMNS_MAX]; /* by column, equally long */
	uint64_t waits_since_ns;
};

/* Names of derived columns in queries and downloads, which mean the same in every table. */
static const char *const derived_names[] = {"pid", "tid", "comm", "function", "module"};

static bool is_taken(const char *name)
{
	for (size_t i = 0; i < SAMPLE_COLUMNS; i++)
		if (!strcmp(name, sample_columns[i].name))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(derived_names); i++)
		if (!strcmp(name, derived_names[i]))
			return true;
	return false;
}

static bool has_field(const struct trace_fields *f, const char *name)
{
	for (size_t i = 0; i < trace_fields_count(f); i++)
		if (!strcmp(trace_fields_column(f, i).name, name))
			return true;
	return false;
}

/* Lists the columns of a table. A field with the name of a common column is renamed, so that both have names. */
static void list_columns(const struct trace_fields *f, struct column_schema *ret, strvec *ret_names)
{
	for (size_t i = 0; i < SAMPLE_COLUMNS; i++)
		ret[i] = sample_columns[i];
	for (size_t i = 0; i < trace_fields_count(f); i++) {
		struct column_schema c = trace_fields_column(f, i);
		bool taken = is_taken(c.name);

		vec_push(ret_names, taken ? xasprintf("field_%s", c.name) : xstrdup(c.name));
		if (taken && has_field(f, ret_names->items[i])) {
			free(ret_names->items[i]);
			ret_names->items[i] = xasprintf("field%zu_%s", i, c.name);
		}
		c.name = ret_names->items[i];
		ret[SAMPLE_COLUMNS + i] = c;
	}
}

/* Names that tables of events may not have: those of derived tables, and of the download of counters. */
static const char *const reserved_names[] = {SLICES_TABLE, "counters"};

static bool is_table_name(const struct profile *p, const char *name)
{
	struct table_schema table;

	for (uint32_t n = SCHEMA_SAMPLES; n < profile_schemas_end(p); n++)
		if (profile_schema(p, n, &table) && !strcmp(table.name, name))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(reserved_names); i++)
		if (!strcmp(reserved_names[i], name))
			return true;
	return false;
}

/*
 * Returns the name of an event in a form that fits into URLs and text files: without slashes
 * ("x:y/period=2/"), control characters and invalid UTF-8, which imported recordings may contain.
 */
static char *clean_name(const char *name)
{
	CLEANUP(free_ptr) char *cut = xasprintf("%.*s", TABLE_NAME_MAX, name);
	CLEANUP(buf_release) struct buf clean = {};

	text_add_printable(&clean, cut);
	for (char *c = clean.s; c && *c; c++)
		if (*c == '/')
			*c = '|';
	if (!strcmp(buf_str(&clean), ".") || !strcmp(buf_str(&clean), "..") || !clean.len)
		return xasprintf("event%s", buf_str(&clean));
	return xstrdup(buf_str(&clean));
}

/*
 * Returns a unique name for the table of an event. Events may share a name: one tracepoint with two filters,
 * or names chosen by users. The table of the second event called NAME is NAME#2, whichever is hit first. If
 * that is taken, too, the number is doubled, so that few attempts suffice for any names.
 */
static char *table_name(const struct run_feed *f, uint32_t event)
{
	const struct profile *p = &f->profile;
	CLEANUP(free_ptr)
	char *name = clean_name(profile_text(p, p->events.items[event].name));
	char *chosen = xstrdup(name);
	size_t same = 0;

	for (uint32_t i = 0; i < event; i++)
		same += p->events.items[i].name.n == p->events.items[event].name.n;
	if (same) {
		free(chosen);
		chosen = xasprintf("%s#%zu", name, same + 1);
	}
	for (size_t number = 2 * (same + 1); is_table_name(p, chosen); number *= 2) {
		free(chosen);
		chosen = xasprintf("%s#%zu", name, number);
	}
	return chosen;
}

static void add_schema(struct run_feed *f, struct feed_table *t, uint32_t event)
{
	CLEANUP(free_ptr) char *name = table_name(f, event);
	struct column_schema columns[SAMPLE_COLUMNS + SCHEMA_COLUMNS_MAX];
	CLEANUP(strvec_release) strvec names = {};
	size_t count = SAMPLE_COLUMNS + trace_fields_count(t->fields);

	if (count > SCHEMA_COLUMNS_MAX)
		count = SCHEMA_COLUMNS_MAX;
	list_columns(t->fields, columns, &names);
	t->columns = count;
	t->schema = profile_schema_add(&f->profile,
				       &(struct table_schema){
					       .name = name,
					       .meaning = "hits of a tracepoint, with its fields",
					       .sampled = true,
					       .event = event + 1,
					       .column_count = count,
				       },
				       columns);
}

/* Returns the table of an event, or NULL if it has none. */
static struct feed_table *table_of(struct run_feed *f, uint32_t event)
{
	struct feed_table *t;

	while (f->tables.len <= event)
		vec_push(&f->tables, NULL);
	t = f->tables.items[event];
	if (!t) {
		t = f->tables.items[event] = xcalloc(1, sizeof(*t));
		t->fields = trace_fields_new(&f->file->facts, &f->file->stream.events.items[event]);
		if (t->fields)
			add_schema(f, t, event);
		if (!t->schema) {
			trace_fields_free(t->fields);
			t->fields = NULL;
		}
	}
	return t->fields ? t : NULL;
}

static void tell_once(struct run_feed *f, bool *told, const char *note)
{
	if (!*told)
		runner_note(f->runner, note);
	*told = true;
}

bool feed_table_take(struct run_feed *f, const struct sample_row *s)
{
	uint64_t values[SAMPLE_COLUMNS + SCHEMA_COLUMNS_MAX] = {
		s->time_ns, s->weight, s->thread, s->cpu, s->stack, s->event, s->address,
	};
	struct feed_table *t = s->raw_size ? table_of(f, s->event) : NULL;
	bool full = f->profile.strings.bytes.len > TEXT_BYTES_MAX;

	if (!t)
		return false;
	if (full)
		tell_once(f, &f->told_texts,
			  "The fields of tracepoints have more than 64 MiB of different texts: "
			  "fields "
			  "whose text was not seen before are now stored without it. A filter, or "
			  "fewer tracepoints, keep all texts.");
	if (!trace_fields_read(t->fields, s->raw, s->raw_size, &f->profile, !full,
			       values + SAMPLE_COLUMNS)) {
		tell_once(
			f, &f->told_short,
			"Samples of a tracepoint have fewer bytes than its fields: they are stored "
			"without their fields.");
		return false;
	}
	if (!t->values[0].len)
		t->waits_since_ns = clock_now_ns();
	for (size_t i = 0; i < t->columns; i++)
		vec_push(&t->values[i], values[i]);
	f->table_rows++;
	return true;
}

/* Sends the rows [@from, @from + @count) of a table as a chunk. */
static void send_chunk(struct run_feed *f, struct feed_table *t, size_t from, size_t count)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	struct chunk_info info;
	bool fits;

	c->info = (struct chunk_info){.schema = t->schema, .sampled = true};
	c->rows = count;
	for (; c->count < t->columns; c->count++)
		c->columns[c->count] = (struct chunk_column){
			c->count < SAMPLE_COLUMNS
				? sample_columns[c->count].tag
				: SCHEMA_TAG_OWN + (uint32_t)(c->count - SAMPLE_COLUMNS),
			t->values[c->count].items + from};
	buf_clear(&f->scratch);
	fits = chunk_encode(c, &f->scratch, &info);
	free(c);
	if (fits) {
		f->ended |= !runner_send_patiently(f->runner, RUN_CHUNK, &f->scratch);
		return;
	}
	/* Too large for a chunk, as many wide columns of noise are. Recursion ends: a row has at most 1 KiB. */
	send_chunk(f, t, from, count / 2);
	send_chunk(f, t, from + count / 2, count - count / 2);
}

static void send_table(struct run_feed *f, struct feed_table *t)
{
	size_t rows = t->values[0].len;

	for (size_t at = 0; at < rows && !f->ended; at += CHUNK_ROWS_MAX)
		send_chunk(f, t, at, rows - at < CHUNK_ROWS_MAX ? rows - at : CHUNK_ROWS_MAX);
	f->samples += rows;
	f->table_rows -= rows;
	for (size_t i = 0; i < t->columns; i++)
		t->values[i].len = 0;
}

void feed_tables_send(struct run_feed *f, bool all)
{
	uint64_t now = clock_now_ns();

	vec_each(&f->tables, item) {
		struct feed_table *t = *item;
		size_t rows = t ? t->values[0].len : 0;

		if (rows && (all || rows >= ROWS_MIN || f->profile.schemas.len <= TABLES_FEW ||
			     now - t->waits_since_ns >= PATIENCE_NS))
			send_table(f, t);
	}
}

uint64_t feed_tables_first(const struct run_feed *f)
{
	uint64_t first = 0;

	vec_each(&f->tables, item) {
		const struct feed_table *t = *item;

		for (size_t i = 0; t && i < t->values[0].len; i++) {
			uint64_t at = t->values[0].items[i];

			first = at && (!first || at < first) ? at : first;
		}
	}
	return first;
}

void feed_tables_place(struct run_feed *f, uint64_t start_ns)
{
	vec_each(&f->tables, item)
		if (*item)
			vec_each(&(*item)->values[0], at)
				if (!*at)
					*at = start_ns;
}

void feed_tables_release(struct run_feed *f)
{
	vec_each(&f->tables, item) {
		struct feed_table *t = *item;

		if (!t)
			continue;
		trace_fields_free(t->fields);
		for (size_t i = 0; i < ARRAY_LEN(t->values); i++)
			vec_release(&t->values[i]);
		free(t);
	}
	vec_release(&f->tables);
}
