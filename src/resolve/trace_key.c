#include "resolve/trace_key.h"
#include "base/number.h"
#include "base/open_table.h"
#include "base/text.h"
#include "resolve/trace_fields.h"

#include <errno.h>
#include <string.h>

/* A cell of a key: kind, name, ETX, value, RS, printed text, US. */
#define NAME_END  '\x03'
#define VALUE_END '\x1e'
#define CELL_END  '\x1f'

static const char kind_letters[] = {
	[TRACE_CELL_NONE] = 'n',    [TRACE_CELL_UNSIGNED] = 'u', [TRACE_CELL_SIGNED] = 'i',
	[TRACE_CELL_ADDRESS] = 'a', [TRACE_CELL_TEXT] = 't',
};

/* ---- names ---- */

#define NO_FIELD   SIZE_MAX
#define TRACE_TEXT (SIZE_MAX - 1)

/* Whether EVENT of "EVENT.FIELD" is this tracepoint. */
static bool is_event(const char *pattern, const struct tracepoint_format *f)
{
	CLEANUP(free_ptr) char *full = xasprintf("%s:%s", f->system, f->name);

	return text_glob(pattern, strchr(pattern, ':') ? full : f->name) || !strcmp(pattern, "*");
}

const struct tracepoint_field *trace_key_field(const struct tracepoint_format *f,
					       const char *wanted)
{
	const char *dot = strrchr(wanted, '.'), *name = dot ? dot + 1 : wanted;

	if (dot) {
		CLEANUP(free_ptr) char *event = xstrndup(wanted, (size_t)(dot - wanted));

		if (!is_event(event, f))
			return NULL;
	}
	for (size_t i = f->common_count; i < f->fields.len; i++)
		if (!strcmp(f->fields.items[i].name, name))
			return &f->fields.items[i];
	return NULL;
}

/* Returns the number of the field that @wanted names in this event, or NO_FIELD. */
static size_t find_field(const struct trace_fields *f, const char *wanted)
{
	const struct tracepoint_format *format = trace_fields_format(f);
	const struct tracepoint_field *field = trace_key_field(format, wanted);
	size_t n = field ? (size_t)(field - format->fields.items) - format->common_count : NO_FIELD;

	return n < trace_fields_count(f) ? n : NO_FIELD;
}

/* ---- whether there are such fields ---- */

typedef VEC(struct trace_fields *) readers;

static void release_readers(readers *all)
{
	vec_each(all, f)
		trace_fields_free(*f);
	vec_release(all);
}

static void read_formats(const struct perfdata_facts *facts, const struct stream *stream,
			 readers *ret)
{
	vec_each(&stream->events, event) {
		struct trace_fields *f = trace_fields_new(facts, event);

		if (f)
			vec_push(ret, f);
	}
}

static void offer_fields(struct suggest *near, const struct trace_fields *f, bool numbers)
{
	const char *dot = strrchr(near->wanted, '.');

	for (size_t i = 0; i < trace_fields_count(f); i++) {
		struct column_schema column = trace_fields_column(f, i);
		const struct tracepoint_format *format = trace_fields_format(f);
		CLEANUP(free_ptr)
		char *full = dot ? xasprintf("%s:%s.%s", format->system, format->name, column.name)
				 : xstrdup(column.name);

		if (!numbers || column.type != VALUE_STRING)
			suggest_offer(near, full);
	}
}

static int check_name(const struct trace_key_options *o, const readers *all, const char *name,
		      struct err *e)
{
	CLEANUP(suggest_release) struct suggest near = {.wanted = name};
	CLEANUP(buf_release) struct buf hint = {};
	CLEANUP(strvec_release) strvec words = {};

	if (!strcmp(name, TRACE_KEY_TEXT))
		return 0;
	vec_each(all, f)
		if (find_field(*f, name) != NO_FIELD)
			return 0;
	text_split(o->others, ", ", &words);
	vec_each(&words, word)
		suggest_offer(&near, *word);
	vec_each(all, f)
		offer_fields(&near, *f, false);
	suggest_sentence(&near, &hint);
	return err_set(e, EINVAL,
		       all->len ? "%s: '%s' is not among %s, nor a field of the recording's "
				  "tracepoints%s"
				: "%s: '%s' is not among %s, and the recording has no tracepoints "
				  "with fields%s",
		       o->option, name, o->others, buf_str(&hint));
}

static int check_sum(const char *name, const readers *all, struct err *e)
{
	CLEANUP(suggest_release) struct suggest near = {.wanted = name};
	CLEANUP(buf_release) struct buf hint = {};
	const char *instead = NULL;

	vec_each(all, f) {
		size_t n = find_field(*f, name);

		if (n == NO_FIELD)
			continue;
		if (value_type_is_number(trace_fields_column(*f, n).type))
			return 0;
		instead = trace_fields_column(*f, n).type == VALUE_STRING ? "text" : "an address";
	}
	if (instead)
		return err_set(e, EINVAL,
			       "--sum: '%s' is %s, which cannot be added up; name a field that is "
			       "a number",
			       name, instead);
	vec_each(all, f)
		offer_fields(&near, *f, true);
	suggest_sentence(&near, &hint);
	return err_set(e, EINVAL,
		       all->len ? "--sum: no tracepoint of the recording has a field '%s'%s"
				: "--sum: the recording has no tracepoints with fields, so none is "
				  "called '%s'%s",
		       name, buf_str(&hint));
}

int trace_key_check(const struct trace_key_options *o, const struct perfdata_facts *facts,
		    const struct stream *stream, struct err *e)
{
	readers all = {};
	int r = 0;

	read_formats(facts, stream, &all);
	for (size_t i = 0; r == 0 && i < o->fields.len; i++)
		r = check_name(o, &all, o->fields.items[i], e);
	if (r == 0 && o->sum)
		r = check_sum(o->sum, &all, e);
	release_readers(&all);
	return r;
}

void trace_key_names(const struct perfdata_facts *facts, const struct stream *stream, strvec *ret)
{
	readers all = {};

	read_formats(facts, stream, &all);
	vec_each(&all, f)
		for (size_t i = 0; i < trace_fields_count(*f); i++) {
			const char *name = trace_fields_column(*f, i).name;
			bool known = false;

			vec_each(ret, other)
				known |= !strcmp(*other, name);
			if (!known)
				vec_push(ret, xstrdup(name));
		}
	release_readers(&all);
}

/* ---- keys of samples ---- */

/* What an event has of the wanted fields. */
struct event_plan {
	struct trace_fields *fields; /* NULL: it has none */
	VEC(size_t) cells;           /* by name: its field, NO_FIELD or TRACE_TEXT */
	size_t sum;
	bool made;
};

struct known_key {
	uint64_t hash;
	uint32_t key; /* 0: free */
};

struct trace_keys {
	const struct trace_key_options *o;
	const struct perfdata_facts *facts;
	VEC(struct event_plan) plans; /* by event */
	struct known_key *slots;      /* by the values of a key */
	size_t count, mask;
	uint64_t seed;
	struct buf value, printed, key;
	bool has_printed; /* of the sample that is looked at */
};

static bool key_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct known_key *known = slot;

	(void)seed;
	*ret_hash = known->hash;
	return known->key;
}

struct trace_keys *trace_keys_new(const struct trace_key_options *o,
				  const struct perfdata_facts *facts)
{
	struct trace_keys *k = xcalloc(1, sizeof(*k));

	*k = (struct trace_keys){.o = o, .facts = facts, .seed = hash_seed()};
	return k;
}

void trace_keys_free(struct trace_keys *k)
{
	if (!k)
		return;
	vec_each(&k->plans, plan) {
		trace_fields_free(plan->fields);
		vec_release(&plan->cells);
	}
	vec_release(&k->plans);
	table_free(k->slots, k->mask + 1, sizeof(*k->slots));
	buf_release(&k->value);
	buf_release(&k->printed);
	buf_release(&k->key);
	free(k);
}

static void make_plan(struct trace_keys *k, struct event_plan *plan,
		      const struct stream_event *event)
{
	plan->made = true;
	plan->sum = NO_FIELD;
	plan->fields = trace_fields_new(k->facts, event);
	vec_each(&k->o->fields, name) {
		size_t cell = NO_FIELD;

		if (plan->fields && !strcmp(*name, TRACE_KEY_TEXT))
			cell = TRACE_TEXT;
		else if (plan->fields)
			cell = find_field(plan->fields, *name);
		vec_push(&plan->cells, cell);
	}
	for (size_t i = 0; plan->fields && k->o->all_fields && i < trace_fields_count(plan->fields);
	     i++)
		vec_push(&plan->cells, i);
	if (plan->fields && k->o->sum)
		plan->sum = find_field(plan->fields, k->o->sum);
	if (plan->sum != NO_FIELD &&
	    !value_type_is_number(trace_fields_column(plan->fields, plan->sum).type))
		plan->sum = NO_FIELD;
}

static const struct event_plan *plan_of(struct trace_keys *k, const struct stream_event *event,
					uint32_t event_index)
{
	while (k->plans.len <= event_index)
		vec_push(&k->plans, (struct event_plan){});
	if (!k->plans.items[event_index].made)
		make_plan(k, &k->plans.items[event_index], event);
	return &k->plans.items[event_index];
}

/* The sample that a key is made for. */
struct keyed {
	struct trace_keys *keys;
	const struct event_plan *plan;
	const struct bytes_view *raw;
	const struct format_context *ctx;
};

/* The printed text of the tracepoint, once for a sample. */
static const char *printed_text(const struct keyed *s)
{
	struct trace_keys *k = s->keys;
	const struct tracepoint_format *f = trace_fields_format(s->plan->fields);

	if (k->has_printed)
		return buf_str(&k->printed);
	buf_clear(&k->printed);
	if (k->o->raw)
		tracepoint_format_print_fields(f, s->raw->data, s->raw->size, &k->printed);
	else
		tracepoint_format_print(f, s->raw->data, s->raw->size, s->ctx, &k->printed);
	k->has_printed = true;
	return buf_str(&k->printed);
}

static uint64_t hash_cells(const struct keyed *s, uint64_t hash)
{
	struct trace_keys *k = s->keys;

	vec_each(&s->plan->cells, cell) {
		uint64_t value = 0;

		buf_clear(&k->value);
		if (*cell == TRACE_TEXT)
			buf_add(&k->value, printed_text(s));
		else if (*cell != NO_FIELD)
			trace_fields_get(s->plan->fields, *cell, s->raw->data, s->raw->size, &value,
					 &k->value);
		hash = hash_mix(hash, value);
		if (k->value.len)
			hash = hash_bytes(k->value.s, k->value.len, hash);
	}
	return hash;
}

/* Adds text of the recording, without the characters that separate cells. */
static void add_text(struct buf *out, const char *text, size_t len)
{
	size_t from = out->len;

	buf_add_mem(out, text, len);
	for (size_t i = from; i < out->len; i++)
		if (out->s[i] == NAME_END || out->s[i] == VALUE_END || out->s[i] == CELL_END ||
		    !out->s[i])
			out->s[i] = '?';
}

/* Adds the value of a number as perf shows it: as the printed text has it. */
static bool add_from_text(const struct keyed *s, const char *name)
{
	size_t len;
	const char *value = tracepoint_printed_value(printed_text(s), name, &len);

	if (value)
		add_text(&s->keys->key, value, len);
	return value;
}

static enum trace_cell_kind kind_of(enum value_type type)
{
	switch (type) {
	case VALUE_SIGNED:
		return TRACE_CELL_SIGNED;
	case VALUE_ADDRESS:
		return TRACE_CELL_ADDRESS;
	case VALUE_STRING:
		return TRACE_CELL_TEXT;
	default:
		return TRACE_CELL_UNSIGNED;
	}
}

static void add_field_cell(const struct keyed *s, size_t n)
{
	struct trace_keys *k = s->keys;
	struct column_schema column = trace_fields_column(s->plan->fields, n);
	enum trace_cell_kind kind = kind_of(column.type);
	struct buf *key = &k->key;
	uint64_t value = 0;

	buf_clear(&k->value);
	if (!trace_fields_get(s->plan->fields, n, s->raw->data, s->raw->size, &value, &k->value))
		kind = TRACE_CELL_NONE;
	buf_add_char(key, kind_letters[kind]);
	add_text(key, column.name, strlen(column.name));
	buf_add_char(key, NAME_END);
	if (kind == TRACE_CELL_TEXT)
		add_text(key, buf_str(&k->value), k->value.len);
	else if (kind == TRACE_CELL_SIGNED)
		buf_addf(key, "%lld", (long long)value);
	else if (kind != TRACE_CELL_NONE)
		buf_add_u64(key, value);
	buf_add_char(key, VALUE_END);
	if (kind != TRACE_CELL_NONE &&
	    (kind == TRACE_CELL_TEXT || k->o->raw || !add_from_text(s, column.name))) {
		buf_clear(&k->value);
		trace_fields_print(s->plan->fields, n, s->raw->data, s->raw->size, &k->value);
		add_text(key, buf_str(&k->value), k->value.len);
	}
	buf_add_char(key, CELL_END);
}

static void add_cell(const struct keyed *s, size_t cell)
{
	struct buf *key = &s->keys->key;

	if (cell != NO_FIELD && cell != TRACE_TEXT) {
		add_field_cell(s, cell);
		return;
	}
	buf_add_char(key, kind_letters[cell == NO_FIELD ? TRACE_CELL_NONE : TRACE_CELL_TEXT]);
	buf_add_char(key, NAME_END);
	if (cell == TRACE_TEXT)
		add_text(key, printed_text(s), strlen(printed_text(s)));
	buf_add_char(key, VALUE_END);
	if (cell == TRACE_TEXT)
		add_text(key, printed_text(s), strlen(printed_text(s)));
	buf_add_char(key, CELL_END);
}

static string_id key_of(const struct keyed *s, uint64_t hash, struct profile *p)
{
	struct trace_keys *k = s->keys;
	string_id id;
	size_t at;

	if (!k->slots || k->count * 3 > k->mask * 2)
		k->slots = open_table_grow(k->slots, &k->mask, sizeof(*k->slots), key_home, 0);
	for (at = hash & k->mask; k->slots[at].key; at = (at + 1) & k->mask)
		if (k->slots[at].hash == hash)
			return (string_id){k->slots[at].key};
	buf_clear(&k->key);
	vec_each(&s->plan->cells, cell)
		add_cell(s, *cell);
	id = profile_string_n(p, buf_str(&k->key), k->key.len);
	if (id.n) {
		k->slots[at] = (struct known_key){hash, id.n};
		k->count++;
	}
	return id;
}

/* Returns the value that is the weight of the sample, or which reason there is for none. */
static enum trace_key_result sum_of(const struct keyed *s, uint64_t *ret)
{
	size_t n = s->plan->sum;
	uint64_t value = 0;

	if (n == NO_FIELD ||
	    !trace_fields_get(s->plan->fields, n, s->raw->data, s->raw->size, &value, NULL))
		return TRACE_KEY_NO_FIELD;
	if (trace_fields_column(s->plan->fields, n).type == VALUE_SIGNED && (int64_t)value < 0) {
		*ret = 0;
		return TRACE_KEY_NEGATIVE;
	}
	*ret = value;
	return TRACE_KEY_OK;
}

enum trace_key_result trace_keys_sample(struct trace_keys *k, const struct stream_event *event,
					uint32_t event_index, const struct bytes_view *raw,
					const struct format_context *ctx, struct profile *p,
					string_id *ret_key, uint64_t *ret_weight)
{
	struct keyed s = {k, plan_of(k, event, event_index), raw, ctx};
	enum trace_key_result result = TRACE_KEY_OK;

	k->has_printed = false;
	if (k->o->sum)
		result = sum_of(&s, ret_weight);
	if (result == TRACE_KEY_NO_FIELD)
		return result;
	/* Events without fields have one key: none. */
	if (s.plan->cells.len && s.plan->fields && raw->size)
		*ret_key = key_of(&s, hash_cells(&s, hash_mix(k->seed, event_index)), p);
	return result;
}

/* ---- cells ---- */

static enum trace_cell_kind kind_of_letter(char letter)
{
	for (size_t i = 0; i < sizeof(kind_letters); i++)
		if (kind_letters[i] == letter)
			return (enum trace_cell_kind)i;
	return TRACE_CELL_NONE;
}

/* Takes one cell apart and returns where the next one begins; NULL: there is none. */
static const char *read_cell(const char *at, struct trace_cell *ret)
{
	const char *name_end = *at ? strchr(at, NAME_END) : NULL;
	const char *value_end = name_end ? strchr(name_end, VALUE_END) : NULL;
	const char *end = value_end ? strchr(value_end, CELL_END) : NULL;

	if (!end)
		return NULL;
	*ret = (struct trace_cell){
		.kind = kind_of_letter(*at),
		.name = at + 1,
		.name_len = (size_t)(name_end - at - 1),
		.text = name_end + 1,
		.text_len = (size_t)(value_end - name_end - 1),
		.shown = value_end + 1,
		.shown_len = (size_t)(end - value_end - 1),
	};
	if (ret->kind != TRACE_CELL_TEXT && ret->kind != TRACE_CELL_NONE)
		ret->number = strtoull(ret->text, NULL, 10);
	return end + 1;
}

bool trace_key_cell(const char *key, size_t n, struct trace_cell *ret)
{
	do
		key = read_cell(key, ret);
	while (key && n--);
	return key;
}

bool trace_key_cell_named(const char *key, size_t first, const char *name, struct trace_cell *ret)
{
	size_t len = strlen(name);

	for (size_t i = 0; (key = read_cell(key, ret)); i++)
		if (i >= first && ret->name_len == len && !memcmp(ret->name, name, len))
			return true;
	return false;
}
