/* Terms that any event can have, whatever counts it: "cycles/period=1000,name=mine/". */
#include "event/parse/parse.h"
#include "base/number.h"

#include <errno.h>
#include <string.h>

#define TERMS                                                                                      \
	"name, period, freq, call-graph, stack-size, max-stack, inherit, no-inherit, time, "       \
	"no-overwrite, config, config1, config2"

/* Terms of perf that tacho refuses, and what to use instead. */
static const struct {
	const char *key, *instead;
} refused[] = {
	{"overwrite", "buffers are never overwritten; tacho record --overwrite keeps the last "
		      "seconds of all events in memory"},
	{"percore", "tacho stat --per-core adds up all events of a core"},
	{"nr", "it limits the output of perf trace; tacho does not print single events"},
	{"aux-output", "data of the AUX area (Intel PT, Arm CoreSight) is not recorded"},
	{"aux-sample-size", "data of the AUX area (Intel PT, Arm CoreSight) is not recorded"},
	{"branch_type", "-j of tacho record says which branches are recorded with all events"},
};

bool call_graph_find(const char *word, size_t len, enum call_graph *ret)
{
	static const struct {
		const char *word;
		enum call_graph calls;
	} words[] = {{"fp", CALLS_FP},
		     {"dwarf", CALLS_DWARF},
		     {"lbr", CALLS_LBR},
		     {"no", CALLS_NONE},
		     {"none", CALLS_NONE}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].word) == len && !strncmp(words[i].word, word, len)) {
			*ret = words[i].calls;
			return true;
		}
	return false;
}

static int take_name(struct parse *p, struct event *event, const char *value, const char *at)
{
	if (!value || !*value)
		return parse_error(p, at, "the name is missing");
	free(event->name);
	event->name = xstrdup(value);
	return 0;
}

static int take_calls(struct parse *p, struct event *event, const char *value, const char *at)
{
	if (!value || !call_graph_find(value, strlen(value), &event->calls))
		return parse_error(p, at,
				   "invalid value for 'call-graph': use fp, dwarf, lbr or no");
	event->calls_chosen = true;
	return 0;
}

/* Terms whose value is a number from @least to @most. */
struct number_term {
	const char *key;
	uint64_t least, most;
	void (*take)(struct event *event, uint64_t number);
};

/* Keeps the upper half of a generic event's config, which is the kind of core. */
static void take_config(struct event *event, uint64_t number)
{
	const struct event_unit *unit = event->units.len ? &event->units.items[0] : NULL;
	bool upper = unit && unit->pmu &&
		     (unit->type == PERF_TYPE_HARDWARE || unit->type == PERF_TYPE_HW_CACHE);

	event->attr.config = upper ? (event->attr.config & ~0xffffffffull) | number : number;
}

static void take_config1(struct event *event, uint64_t number)
{
	event->attr.config1 = number;
}

static void take_config2(struct event *event, uint64_t number)
{
	event->attr.config2 = number;
}

/* Period and frequency share one field of the attr. */
static void take_period(struct event *event, uint64_t number)
{
	event->attr.sample_period = number;
	event->attr.freq = 0;
}

static void take_freq(struct event *event, uint64_t number)
{
	event->attr.sample_freq = number;
	event->attr.freq = 1;
}

static void take_stack_size(struct event *event, uint64_t number)
{
	event->stack_bytes = (uint32_t)(number + 7) & ~7u;
}

static void take_max_stack(struct event *event, uint64_t number)
{
	event->max_stack = (uint16_t)number;
}

/* Ignored: samples always have their time, because they are ordered by it. */
static void take_time(struct event *event, uint64_t number)
{
	(void)event;
	(void)number;
}

static const struct number_term number_terms[] = {
	{"config", 0, UINT64_MAX, take_config},
	{"config1", 0, UINT64_MAX, take_config1},
	{"config2", 0, UINT64_MAX, take_config2},
	{"period", 0, UINT64_MAX, take_period},
	{"freq", 0, UINT64_MAX, take_freq},
	{"stack-size", 8, STACK_BYTES_MAX, take_stack_size},
	{"max-stack", 1, UINT16_MAX, take_max_stack},
	{"time", 0, 1, take_time},
};

static int take_number(struct parse *p, struct event *event, const struct number_term *term,
		       const char *value, const char *at)
{
	uint64_t number;

	if (!value || !parse_u64(value, &number))
		return parse_error(p, at, "term '%s' needs a number", term->key);
	if (number < term->least || number > term->most)
		return parse_error(p, at, "term '%s' takes a number from %llu to %llu", term->key,
				   (unsigned long long)term->least, (unsigned long long)term->most);
	term->take(event, number);
	return 0;
}

int parse_config_term(struct parse *p, struct event *event, const char *key, const char *value,
		      const char *at, bool *ret_known)
{
	*ret_known = true;
	if (!strcmp(key, "name"))
		return take_name(p, event, value, at);
	if (!strcmp(key, "call-graph"))
		return take_calls(p, event, value, at);
	for (size_t i = 0; i < ARRAY_LEN(number_terms); i++)
		if (!strcmp(key, number_terms[i].key))
			return take_number(p, event, &number_terms[i], value, at);
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (!strcmp(key, refused[i].key))
			return parse_error(p, at, "tacho does not support the term '%s': %s", key,
					   refused[i].instead);
	if (!strcmp(key, "inherit") || !strcmp(key, "no-inherit"))
		event->inherit = key[0] == 'i' ? 1 : -1;
	else
		*ret_known = !strcmp(key, "no-overwrite");
	if (*ret_known && value)
		return parse_error(p, at, "term '%s' takes no value", key);
	return 0;
}

/* Parses one term of an event that has no PMU with terms of its own. */
static int one_term(struct parse *p, struct event *event, const char *at, const char *end)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	CLEANUP(free_ptr) char *key = xstrndup(at, (size_t)((equals ? equals : end) - at));
	CLEANUP(free_ptr)
	char *value = equals ? xstrndup(equals + 1, (size_t)(end - equals - 1)) : NULL;
	bool known;
	int r;

	if (!*key)
		return parse_error(p, at, "a term is missing here");
	if (event->tool && strcmp(key, "name"))
		return parse_error(p, at,
				   "a time that tacho measures itself takes only the term name");
	if (event->tracepoint && !strncmp(key, "config", 6))
		return parse_error(p, at, "the code of a tracepoint cannot be changed");
	r = parse_config_term(p, event, key, value, equals ? equals + 1 : at, &known);
	return known ? r : parse_error(p, at, "unknown term '%s' (there are " TERMS ")", key);
}

static int config_terms(struct parse *p, struct event *event, const char *at, const char *end)
{
	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		int r = one_term(p, event, at, comma ? comma : end);

		if (r < 0)
			return r;
		if (!comma)
			break;
		at = comma + 1;
		if (at == end)
			return parse_error(p, at, "a term is missing here");
	}
	return 0;
}

/* Appends "/period=5/u" to "cycles" as cycles/period=5/u, and to "cpu_core/cycles/" (hybrid
 * machines) as cpu_core/cycles,period=5/u. */
static void add_terms_to_name(struct event *event, const char *slash, const char *close,
			      const char *end)
{
	size_t len = strlen(event->name);
	bool slashed = len && event->name[len - 1] == '/';
	bool empty = close == slash + 1;
	char *name = xasprintf("%.*s%s%.*s", (int)(slashed ? len - 1 : len), event->name,
			       !slashed ? "/"
			       : empty  ? ""
					: ",",
			       (int)(end - slash - 1), slash + 1);

	free(event->name);
	event->name = name;
}

int parse_with_terms(struct parse *p, const char *at, const char *slash, const char *close,
		     const char *end)
{
	size_t first = p->list->events.len;
	const char *mods = close + 1;
	struct parse quiet = *p;
	int r = 0;

	/* A name with a colon can only be a tracepoint: keep the errors of its parser. */
	if (!memchr(at, ':', (size_t)(slash - at)))
		quiet.e = NULL;
	if (slash == at)
		return -ENOENT;
	r = parse_one(&quiet, at, slash);
	if (r < 0)
		return quiet.e ? r : -ENOENT;
	mods += mods < end && *mods == ':';
	for (size_t i = first; i < p->list->events.len && r == 0; i++) {
		struct event *event = &p->list->events.items[i];

		add_terms_to_name(event, slash, close, end);
		r = config_terms(p, event, slash + 1, close);
		if (r == 0 && mods < end)
			r = parse_modifiers(p, event, mods, (size_t)(end - mods));
	}
	return r;
}
