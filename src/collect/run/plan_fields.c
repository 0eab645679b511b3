#include "collect/run/plan_fields.h"
#include "base/number.h"
#include "base/predicate/predicate.h"
#include "base/text.h"
#include "perf/sampling.h"

#include <errno.h>
#include <string.h>

/* Limits against hostile input. */
#define LIST_MAX       4096u
#define TEXT_BYTES_MAX 65536u
#define SECONDS_MIN    0.001 /* for no limit, an exact 0 must be given */
#define SECONDS_MAX    (10 * 365 * 86400.0)
#define FREQUENCY_MAX  1e6
#define PERIOD_MAX     (1ull << 62)
#define INTERVAL_MIN_S 0.001
#define INTERVAL_MAX_S 3600.0
#define PID_LIMIT      (1 << 22) /* the kernel's limit */
#define ENV_WORDS      2

/* ---- values ---- */

int run_plan_wrong(struct err *e, const char *name, const char *wanted)
{
	return err_set(e, EINVAL, "'%s' must be %s", name, wanted);
}

static int take_text(const json_t *v, const char *name, size_t limit, char **ret, struct err *e)
{
	const char *text = json_string_value(v);

	if (json_is_null(v))
		return 0;
	if (!text)
		return run_plan_wrong(e, name, "a text");
	if (strlen(text) != json_string_length(v))
		return run_plan_wrong(e, name, "a text without NUL characters");
	if (strlen(text) > limit)
		return err_set(e, EINVAL, "'%s' is longer than %zu bytes", name, limit);
	free(*ret);
	*ret = xstrdup(text);
	return 0;
}

static int take_bool(const json_t *v, const char *name, bool *ret, struct err *e)
{
	if (!json_is_boolean(v))
		return run_plan_wrong(e, name, "true or false");
	*ret = json_is_true(v);
	return 0;
}

static int take_number(const json_t *v, const char *name, double min, double max, double *ret,
		       struct err *e)
{
	double value = json_number_value(v);

	if (!json_is_number(v) || !(value >= min && value <= max))
		return err_set(e, EINVAL, "'%s' must be a number from %.10g to %.10g", name, min,
			       max);
	*ret = value;
	return 0;
}

static int take_seconds(const json_t *v, const char *name, double *ret, struct err *e)
{
	if (json_is_number(v) && json_number_value(v) == 0) {
		*ret = 0;
		return 0;
	}
	return take_number(v, name, SECONDS_MIN, SECONDS_MAX, ret, e);
}

static int take_u64(const json_t *v, const char *name, uint64_t *ret, struct err *e)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return run_plan_wrong(e, name, "a whole number, not below 0");
	*ret = (uint64_t)json_integer_value(v);
	return 0;
}

static int take_texts(const json_t *v, const char *name, size_t limit, strvec *ret, struct err *e)
{
	if (!json_is_array(v))
		return run_plan_wrong(e, name, "an array of texts");
	if (json_array_size(v) > limit)
		return err_set(e, EINVAL, "'%s' has more than %zu entries", name, limit);
	strvec_release(ret);
	for (size_t i = 0; i < json_array_size(v); i++) {
		char *text = NULL;
		int r = take_text(json_array_get(v, i), name, TEXT_BYTES_MAX, &text, e);

		if (r == 0 && !text)
			r = run_plan_wrong(e, name, "an array of texts");
		if (r < 0)
			return r;
		vec_push(ret, text);
	}
	return 0;
}

/* Event names: an array, or one text with commas as they are typed. */
static int take_events(const json_t *v, const char *name, strvec *ret, struct err *e)
{
	char *one = NULL;
	int r;

	if (!json_is_string(v))
		r = take_texts(v, name, LIST_MAX, ret, e);
	else {
		r = take_text(v, name, TEXT_BYTES_MAX, &one, e);
		if (r < 0)
			return r;
		strvec_release(ret);
		vec_push(ret, one);
	}
	vec_each(ret, text)
		if (r == 0 && !**text)
			r = err_set(e, EINVAL, "'%s' has an event without a name", name);
	return r;
}

static int take_cpus(const json_t *v, const char *name, char **ret, struct err *e)
{
	CLEANUP(free_ptr) int *cpus = NULL;
	size_t count = 0;
	int r = take_text(v, name, TEXT_BYTES_MAX, ret, e);

	if (r < 0 || json_is_null(v))
		return r;
	if (!parse_cpulist(*ret, CPU_LIMIT, &cpus, &count) || !count)
		return run_plan_wrong(e, name, "a list of CPUs, such as \"0-3,8\"");
	return 0;
}

/* ---- fields ---- */

#define TAKES(name) static int name(const json_t *v, struct run_plan *p, struct err *e)

TAKES(take_description)
{
	return take_text(v, "description", TEXT_BYTES_MAX, &p->description, e);
}

TAKES(take_tool)
{
	const char *name = json_string_value(v);

	if (name && !strcmp(name, "stat"))
		p->tool = RUN_STAT;
	else if (name && !strcmp(name, "record"))
		p->tool = RUN_RECORD;
	else if (name && !strcmp(name, "both"))
		p->tool = RUN_BOTH;
	else
		return run_plan_wrong(e, "tool", "\"stat\", \"record\" or \"both\"");
	return 0;
}

/* A text is split later, by choose_argv(), when `shell` is known. */
TAKES(take_workload)
{
	struct buf line = {};
	int r;

	if (!json_is_array(v))
		return take_text(v, "workload", RUN_PLAN_BYTES_MAX, &p->workload, e);
	r = take_texts(v, "workload", WORDS_MAX, &p->argv, e);
	if (r < 0)
		return r;
	words_join(p->argv.items, p->argv.len, &line);
	free(p->workload);
	p->workload = buf_steal(&line);
	return 0;
}

TAKES(take_shell)
{
	return take_bool(v, "shell", &p->shell, e);
}

static int add_variable(struct run_plan *p, const char *name, const json_t *value, struct err *e)
{
	CLEANUP(free_ptr) char *text = NULL;
	int r = take_text(value, "env", RUN_PLAN_BYTES_MAX, &text, e);

	if (r < 0)
		return r;
	if (!text)
		return run_plan_wrong(e, "env", "pairs of a name and a text");
	if (!*name || strchr(name, '='))
		return err_set(e, EINVAL, "'env': '%s' cannot be the name of a variable", name);
	vec_push(&p->env, xasprintf("%s=%s", name, text));
	return 0;
}

TAKES(take_env)
{
	const char *key;
	json_t *value;
	int r = 0;

	strvec_release(&p->env);
	json_object_foreach((json_t *)v, key, value)
	{
		r = add_variable(p, key, value, e);
		if (r < 0)
			return r;
	}
	if (json_is_object(v))
		return 0;
	if (!json_is_array(v) || json_array_size(v) > LIST_MAX)
		return run_plan_wrong(e, "env", "an object, or an array of [name, value] pairs");
	for (size_t i = 0; i < json_array_size(v) && r == 0; i++) {
		const json_t *pair = json_array_get(v, i);
		const char *name = json_string_value(json_array_get(pair, 0));

		if (json_array_size(pair) != ENV_WORDS || !name ||
		    strlen(name) != json_string_length(json_array_get(pair, 0)))
			return run_plan_wrong(e, "env",
					      "an object, or an array of [name, value] pairs");
		r = add_variable(p, name, json_array_get(pair, 1), e);
	}
	return r;
}

TAKES(take_cwd)
{
	int r = take_text(v, "cwd", TEXT_BYTES_MAX, &p->cwd, e);

	if (r == 0 && p->cwd && p->cwd[0] != '/')
		return run_plan_wrong(e, "cwd", "a whole path, from / on");
	return r;
}

TAKES(take_user)
{
	return take_text(v, "user", TEXT_BYTES_MAX, &p->user, e);
}

TAKES(take_affinity)
{
	return take_cpus(v, "affinity", &p->affinity, e);
}

TAKES(take_timeout)
{
	return take_seconds(v, "timeout", &p->timeout_s, e);
}

static int take_limit(struct run_limits *l, const char *name, const json_t *v, struct err *e)
{
	const struct {
		const char *name;
		uint64_t *to;
	} known[] = {{"cpu_s", &l->cpu_s},
		     {"memory_bytes", &l->memory_bytes},
		     {"files", &l->files},
		     {"processes", &l->processes},
		     {"file_bytes", &l->file_bytes}};
	CLEANUP(buf_release) struct buf hint = {};
	CLEANUP(suggest_release) struct suggest near = {.wanted = name};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (!strcmp(known[i].name, name))
			return json_is_null(v) ? 0 : take_u64(v, name, known[i].to, e);
		suggest_offer(&near, known[i].name);
	}
	suggest_sentence(&near, &hint);
	return err_set(e, EINVAL, "'limits' has no field '%s'%s", name, buf_str(&hint));
}

TAKES(take_limits)
{
	const char *key;
	json_t *value;

	if (!json_is_object(v))
		return run_plan_wrong(e, "limits", "an object");
	json_object_foreach((json_t *)v, key, value)
	{
		int r = take_limit(&p->limits, key, value, e);

		if (r < 0)
			return r;
	}
	return 0;
}

static int take_tasks(const json_t *v, const char *name, task_numbers *ret, struct err *e)
{
	if (!json_is_array(v) || json_array_size(v) > LIST_MAX)
		return run_plan_wrong(e, name, "an array of numbers");
	ret->len = 0;
	for (size_t i = 0; i < json_array_size(v); i++) {
		json_int_t id = json_integer_value(json_array_get(v, i));

		if (id <= 0 || id > PID_LIMIT)
			return run_plan_wrong(e, name,
					      "an array of numbers of processes or threads");
		vec_push(ret, (int32_t)id);
	}
	return 0;
}

TAKES(take_pids)
{
	return take_tasks(v, "pids", &p->pids, e);
}

TAKES(take_tids)
{
	return take_tasks(v, "tids", &p->tids, e);
}

TAKES(take_system_wide)
{
	return take_bool(v, "system_wide", &p->system_wide, e);
}

TAKES(take_watched_cpus)
{
	return take_cpus(v, "cpus", &p->cpus, e);
}

TAKES(take_duration)
{
	return take_seconds(v, "duration", &p->duration_s, e);
}

TAKES(take_counted)
{
	return take_events(v, "events", &p->events, e);
}

TAKES(take_interval)
{
	return take_number(v, "interval", INTERVAL_MIN_S, INTERVAL_MAX_S, &p->interval_s, e);
}

TAKES(take_sample_events)
{
	return take_events(v, "sample.events", &p->sample_events, e);
}

TAKES(take_frequency)
{
	return take_number(v, "sample.frequency", 1, FREQUENCY_MAX, &p->frequency_hz, e);
}

TAKES(take_period)
{
	int r = take_u64(v, "sample.period", &p->period, e);

	if (r == 0 && (!p->period || p->period > PERIOD_MAX))
		return run_plan_wrong(e, "sample.period", "a number of events from 1 on");
	return r;
}

TAKES(take_callgraph)
{
	struct sampling_options o = {};
	int r = take_text(v, "sample.callgraph", TEXT_BYTES_MAX, &p->callgraph, e);

	return r < 0 || !p->callgraph ? r : call_graph_parse(p->callgraph, &o, e);
}

TAKES(take_filter)
{
	return take_text(v, "sample.filter", PREDICATE_BYTES_MAX, &p->filter, e);
}

TAKES(take_streaming)
{
	return take_bool(v, "streaming", &p->streaming, e);
}

TAKES(take_keep_raw)
{
	return take_bool(v, "keep_raw", &p->keep_raw, e);
}

TAKES(take_exclusive)
{
	if (json_is_null(v))
		return 0;
	p->has_exclusive = true;
	return take_bool(v, "exclusive", &p->exclusive, e);
}

TAKES(take_tags)
{
	return take_texts(v, "tags", LIST_MAX, &p->tags, e);
}

TAKES(take_note)
{
	return take_text(v, "note", TEXT_BYTES_MAX, &p->note, e);
}

TAKES(take_client)
{
	char *text;

	if (json_is_null(v))
		return 0;
	text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	if (!text || strlen(text) > TEXT_BYTES_MAX) {
		free(text);
		return err_set(e, EINVAL, "'client' is longer than %u bytes", TEXT_BYTES_MAX);
	}
	free(p->client);
	p->client = text;
	return 0;
}

/* ---- tables of fields ---- */

struct field {
	const char *name;
	int (*take)(const json_t *v, struct run_plan *p, struct err *e);
};

static const struct field sample_fields[] = {
	{"events", take_sample_events}, {"frequency", take_frequency}, {"period", take_period},
	{"callgraph", take_callgraph},  {"filter", take_filter},       {},
};

TAKES(take_sample);

static const struct field plan_fields[] = {
	{"description", take_description},
	{"tool", take_tool},
	{"workload", take_workload},
	{"shell", take_shell},
	{"env", take_env},
	{"cwd", take_cwd},
	{"user", take_user},
	{"affinity", take_affinity},
	{"timeout", take_timeout},
	{"limits", take_limits},
	{"pids", take_pids},
	{"tids", take_tids},
	{"system_wide", take_system_wide},
	{"cpus", take_watched_cpus},
	{"duration", take_duration},
	{"events", take_counted},
	{"interval", take_interval},
	{"sample", take_sample},
	{"streaming", take_streaming},
	{"keep_raw", take_keep_raw},
	{"exclusive", take_exclusive},
	{"tags", take_tags},
	{"note", take_note},
	{"client", take_client},
	{},
};

static int take_field(const struct field *known, const char *where, const char *name,
		      const json_t *v, struct run_plan *p, struct err *e)
{
	CLEANUP(buf_release) struct buf hint = {};
	CLEANUP(suggest_release) struct suggest near = {.wanted = name};

	for (; known->name; known++) {
		if (!strcmp(known->name, name))
			return known->take(v, p, e);
		suggest_offer(&near, known->name);
	}
	suggest_sentence(&near, &hint);
	return err_set(e, EINVAL, "%s has no field '%.100s'%s", where, name, buf_str(&hint));
}

static int take_fields(const json_t *json, const struct field *known, const char *where,
		       struct run_plan *p, struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(json))
		return err_set(e, EINVAL, "%s must be a JSON object", where);
	json_object_foreach((json_t *)json, key, value)
	{
		int r = take_field(known, where, key, value, p, e);

		if (r < 0)
			return r;
	}
	return 0;
}

TAKES(take_sample)
{
	return take_fields(v, sample_fields, "'sample'", p, e);
}

int run_plan_take_fields(const json_t *json, struct run_plan *p, struct err *e)
{
	return take_fields(json, plan_fields, "a run", p, e);
}
