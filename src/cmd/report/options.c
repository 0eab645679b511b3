#include "cmd/report/report.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PID_LIMIT (1 << 22) /* the kernel's limit: PID_MAX_LIMIT */

static const struct {
	const char *name;
	enum column_kind kind;
	enum report_key key;
	const char *title;
} known_columns[] = {
	{"overhead", COLUMN_SELF, 0, "Overhead"},
	{"self", COLUMN_SELF, 0, "Self"},
	{"overhead_children", COLUMN_CHILDREN, 0, "Children"},
	{"children", COLUMN_CHILDREN, 0, "Children"},
	{"sample", COLUMN_SAMPLES, 0, "Samples"},
	{"period", COLUMN_PERIOD, 0, "Period"},
	{"event", COLUMN_KEY, REPORT_EVENT, "Event"},
	{"comm", COLUMN_KEY, REPORT_COMM, "Command"},
	{"pid", COLUMN_KEY, REPORT_PID, "Pid:Command"},
	{"tid", COLUMN_KEY, REPORT_TID, "Tid:Thread"},
	{"cpu", COLUMN_KEY, REPORT_CPU, "CPU"},
	{"time", COLUMN_KEY, REPORT_TIME, "Time"},
	{"dso", COLUMN_KEY, REPORT_DSO, "Shared Object"},
	{"sym", COLUMN_KEY, REPORT_SYM, "Symbol"},
	{"symbol", COLUMN_KEY, REPORT_SYM, "Symbol"},
	{"srcline", COLUMN_KEY, REPORT_SRCLINE, "Source:Line"},
	{"srcfile", COLUMN_KEY, REPORT_SRCFILE, "Source File"},
};

/* Words that name columns, for messages. */
static const char usual_words[] = "comm, pid, tid, dso, sym, srcline, srcfile, cpu, event, time, "
				  "trace, trace_fields, overhead, children, sample, period";

static bool has_column(const struct report_view *v, enum column_kind kind, enum report_key key)
{
	vec_each(&v->columns, c)
		if (c->kind == kind && (kind != COLUMN_KEY || c->key == key))
			return true;
	return false;
}

static int add_column(struct report_view *v, const char *name, const char *option, struct err *e)
{
	CLEANUP(suggest_release) struct suggest near = {.wanted = name};
	CLEANUP(buf_release) struct buf hint = {};

	for (size_t i = 0; i < ARRAY_LEN(known_columns); i++) {
		suggest_offer(&near, known_columns[i].name);
		if (strcmp(name, known_columns[i].name))
			continue;
		if (!has_column(v, known_columns[i].kind, known_columns[i].key))
			vec_push(&v->columns, (struct column){.kind = known_columns[i].kind,
							      .key = known_columns[i].key,
							      .title = known_columns[i].title});
		return 0;
	}
	if (report_view_add_field(v, name, option))
		return 0;
	suggest_sentence(&near, &hint);
	return err_set(e, EINVAL,
		       "%s: '%s' is not among %s%s; fields of tracepoints must be named in --sort "
		       "at the start",
		       option, name, usual_words, buf_str(&hint));
}

static int add_columns(struct report_view *v, const char *names, const char *option, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(names, ", ", &words);
	if (!words.len)
		return err_set(e, EINVAL, "%s: names of columns are missing", option);
	vec_each(&words, word) {
		/* A '+' changes nothing here: naming a column always adds it. */
		int r = add_column(v, **word == '+' ? *word + 1 : *word, option, e);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The sort keys are the key columns. */
static void take_keys(struct report_view *v)
{
	v->ro.keys = 0;
	vec_each(&v->columns, c)
		if (c->kind == COLUMN_KEY)
			v->ro.keys |= 1u << c->key;
	v->ro.one_section = v->ro.keys >> REPORT_EVENT & 1;
}

/* "-F +period" adds to the default columns instead of replacing them. */
static bool adds_fields(const struct report_view *v)
{
	return v->o.fields && v->o.fields[0] == '+';
}

int report_view_sort(struct report_view *v, const char *keys, struct err *e)
{
	bool usual = !v->o.fields || adds_fields(v);
	int r;

	v->columns.len = 0;
	if (v->o.fields) {
		r = add_columns(v, v->o.fields, "--fields", e);
		if (r < 0)
			return r;
	}
	if (v->o.group && (r = add_column(v, "event", "--group", e)) < 0)
		return r;
	if (keys && keys[0] == '+')
		(void)add_columns(v, "comm,dso,sym", "--sort", e);
	r = keys || usual ? add_columns(v, keys ? keys : "comm,dso,sym", "--sort", e) : 0;
	take_keys(v);
	return r;
}

/* ---- call graphs ---- */

static bool is_one_of(const char *word, const char *words)
{
	CLEANUP(strvec_release) strvec all = {};

	text_split(words, " ", &all);
	vec_each(&all, w)
		if (!strcmp(*w, word))
			return true;
	return false;
}

/*
 * perf's -g [print_type,threshold[,print_limit],order,sort_key[,branch],value], in any order: the
 * first number is the threshold, the second the limit.
 */
struct call_graph {
	enum chain_mode mode;
	enum chain_key key;
	enum chain_value value;
	double min_pct;
	size_t limit;
	bool caller, order_given, branch;
	unsigned numbers; /* read so far */
};

/* The words of -g, and the member of struct call_graph that each one sets. */
static const struct {
	const char *word;
	enum { CALL_MODE, CALL_ORDER, CALL_KEY, CALL_VALUE, CALL_BRANCH } what;
	int value;
} call_graph_words[] = {
	{"graph", CALL_MODE, CHAINS_GRAPH},      {"fractal", CALL_MODE, CHAINS_FRACTAL},
	{"flat", CALL_MODE, CHAINS_FLAT},        {"folded", CALL_MODE, CHAINS_FOLDED},
	{"none", CALL_MODE, CHAINS_NONE},        {"caller", CALL_ORDER, true},
	{"callee", CALL_ORDER, false},           {"function", CALL_KEY, CHAIN_BY_FUNCTION},
	{"address", CALL_KEY, CHAIN_BY_ADDRESS}, {"srcline", CALL_KEY, CHAIN_BY_LINE},
	{"percent", CALL_VALUE, CHAIN_PERCENT},  {"period", CALL_VALUE, CHAIN_PERIOD},
	{"count", CALL_VALUE, CHAIN_COUNT},      {"branch", CALL_BRANCH, true},
};

static bool call_graph_number(struct call_graph *c, const char *word)
{
	double number;
	uint64_t limit;

	if (c->numbers == 0 && parse_double(word, &number) && number >= 0 && number <= 100)
		c->min_pct = number;
	else if (c->numbers == 1 && parse_u64(word, &limit))
		c->limit = limit;
	else
		return false;
	c->numbers++;
	return true;
}

static bool call_graph_word(struct call_graph *c, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(call_graph_words); i++) {
		int value = call_graph_words[i].value;

		if (strcmp(word, call_graph_words[i].word) != 0)
			continue;
		switch (call_graph_words[i].what) {
		case CALL_MODE:
			c->mode = (enum chain_mode)value;
			break;
		case CALL_ORDER:
			c->caller = value;
			c->order_given = true;
			break;
		case CALL_KEY:
			c->key = (enum chain_key)value;
			break;
		case CALL_VALUE:
			c->value = (enum chain_value)value;
			break;
		case CALL_BRANCH:
			c->branch = true;
			break;
		}
		return true;
	}
	return call_graph_number(c, word);
}

static int parse_call_graph(const char *text, struct call_graph *ret, struct err *e)
{
	CLEANUP(suggest_release) struct suggest near = {};
	CLEANUP(buf_release) struct buf hint = {};
	CLEANUP(strvec_release) strvec words = {};

	*ret = (struct call_graph){.mode = CHAINS_GRAPH, .min_pct = 0.5};
	if (!text)
		return 0;
	text_split(text, ",", &words);
	vec_each(&words, word) {
		if (call_graph_word(ret, *word))
			continue;
		near.wanted = *word;
		for (size_t i = 0; i < ARRAY_LEN(call_graph_words); i++)
			suggest_offer(&near, call_graph_words[i].word);
		suggest_sentence(&near, &hint);
		return err_set(e, EINVAL,
			       "--call-graph: '%s' is not among graph, fractal, flat, folded, "
			       "none; caller, callee; function, address, srcline; branch; "
			       "percent, period, count; a threshold in percent and then a "
			       "number of branches%s (a file is given with -i)",
			       *word, buf_str(&hint));
	}
	return 0;
}

static int choose_call_graph(struct report_view *v, struct err *e)
{
	struct call_graph c;
	int r = parse_call_graph(v->o.call_graph, &c, e);

	if (r < 0)
		return r;
	v->mode = c.mode;
	v->caller = c.caller;
	v->order_given = c.order_given;
	v->ro.chain_key = c.key;
	v->chain_value = c.value;
	v->chain_limit = c.limit;
	v->chain_min_pct = c.min_pct;
	if (c.branch)
		command_fail(0,
			     "report: chains have no branches that the CPU recorded (-g branch); "
			     "tacho script -F +brstack shows them");
	return 0;
}

static bool looks_like_call_graph(const char *text)
{
	struct call_graph ignored;

	return *text && !parse_call_graph(text, &ignored, NULL);
}

/*
 * Whether the word after -g is its value. perf takes any word as the value; here a word that is the
 * name of an existing file is the recording instead, unless it is valid for -g.
 */
static bool is_call_graph(const char *word)
{
	return *word && *word != '-' && (looks_like_call_graph(word) || access(word, F_OK) != 0);
}

void report_join_words(int argc, char **argv, strvec *ret)
{
	for (int i = 0; i < argc; i++) {
		bool asks = !strcmp(argv[i], "-g") || !strcmp(argv[i], "--call-graph");

		if (asks && i + 1 < argc && is_call_graph(argv[i + 1]))
			vec_push(ret, xasprintf("--call-graph=%s", argv[++i]));
		else if (!strncmp(argv[i], "-g", 2) &&
			 (looks_like_call_graph(argv[i] + 2) || strchr(argv[i], ',')))
			vec_push(ret, xasprintf("--call-graph=%s", argv[i] + 2));
		else
			vec_push(ret, xstrdup(argv[i]));
	}
}

/* ---- filters ---- */

static bool in_list(const strvec *list, const char *text)
{
	vec_each(list, item)
		if (!strcmp(*item, text))
			return true;
	return false;
}

static bool in_numbers(const int *numbers, size_t count, uint32_t wanted)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((uint32_t)numbers[middle] == wanted)
			return true;
		if ((uint32_t)numbers[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

static bool want_thread(void *ctx, const struct profile_thread *t)
{
	const struct report_view *v = ctx;

	return (!v->comms.len || in_list(&v->comms, profile_text(&v->in.profile, t->comm))) &&
	       (!v->pids || in_numbers(v->pids, v->pid_count, t->pid)) &&
	       (!v->tids || in_numbers(v->tids, v->tid_count, t->tid));
}

static bool want_function(void *ctx, const struct profile_function *f)
{
	const struct report_view *v = ctx;
	const struct profile *p = &v->in.profile;
	const struct profile_module *m = &p->modules.items[f->module.n];

	return (!v->dsos.len || in_list(&v->dsos, profile_text(p, m->name)) ||
		in_list(&v->dsos, profile_text(p, m->path))) &&
	       (!v->symbols.len || in_list(&v->symbols, profile_text(p, f->name))) &&
	       (!v->o.symbol_filter || text_contains(profile_text(p, f->name), v->o.symbol_filter));
}

void report_view_filters(struct report_view *v)
{
	v->ro.want_thread = v->comms.len || v->pids || v->tids ? want_thread : NULL;
	v->ro.want_function =
		v->dsos.len || v->symbols.len || v->o.symbol_filter ? want_function : NULL;
	v->ro.ctx = v;
}

/*
 * Threads are filtered here and not while reading: 100 % is everything that was recorded, including
 * the threads that are not shown.
 */
static int make_filters(struct report_view *v, struct err *e)
{
	const struct report_cmd_options *o = &v->o;
	struct sample_filter *f = &v->resolve.filter;

	if (f->comms)
		text_split(f->comms, ",", &v->comms);
	if (f->pids && !parse_cpulist(f->pids, PID_LIMIT, &v->pids, &v->pid_count))
		return err_set(e, EINVAL, "--pid: '%s' is not a list of numbers", f->pids);
	if (f->tids && !parse_cpulist(f->tids, PID_LIMIT, &v->tids, &v->tid_count))
		return err_set(e, EINVAL, "--tid: '%s' is not a list of numbers", f->tids);
	f->comms = f->pids = f->tids = NULL;
	if (o->dsos)
		text_split(o->dsos, ",", &v->dsos);
	if (o->symbols)
		text_split(o->symbols, ",", &v->symbols);
	report_view_filters(v);
	return 0;
}

/* ---- the whole ---- */

static int parse_limit(struct report_view *v, struct err *e)
{
	const char *text = v->o.percent_limit;

	if (!text)
		return 0;
	if (!parse_double(text, &v->min_pct) || v->min_pct < 0 || v->min_pct > 100)
		return err_set(e, EINVAL, "--percent-limit: '%s' is not a percentage", text);
	v->chain_min_pct = v->min_pct;
	return 0;
}

/* "100ms", "1s", "50us", "1000000ns"; a bare number is in milliseconds. */
static int parse_quantum(const char *text, uint64_t *ret_ns, struct err *e)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NS_PER_SEC}, {"", 1000000}};
	size_t digits = strspn(text, "0123456789.");
	CLEANUP(free_ptr) char *number = xstrndup(text, digits);
	double value;

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strcmp(text + digits, units[i].unit) && parse_double(number, &value) &&
		    value * (double)units[i].ns >= 1 && value * (double)units[i].ns < 1e18) {
			*ret_ns = (uint64_t)(value * (double)units[i].ns);
			return 0;
		}
	return err_set(e, EINVAL, "--time-quantum: '%s' is not a duration; say 100ms", text);
}

static int check_words(const struct report_cmd_options *o, struct err *e)
{
	if (o->percentage && !is_one_of(o->percentage, "relative absolute"))
		return err_set(e, EINVAL, "--percentage: '%s' is neither relative nor absolute",
			       o->percentage);
	if (o->separator && !*o->separator)
		return err_set(e, EINVAL, "--field-separator: give a character, such as ,");
	if (o->children && o->no_children)
		return err_set(e, EINVAL, "--children and --no-children exclude each other");
	if ((o->tui && (o->json || o->stdio)) || (o->json && o->stdio))
		return err_set(e, EINVAL, "--stdio, --tui and --json exclude each other");
	return 0;
}

int report_view_options(struct report_view *v, struct err *e)
{
	const struct report_cmd_options *o = &v->o;
	int r = profile_options_check(&v->o.profile, &v->resolve, e);

	v->resolve.trace.raw = o->raw_trace;
	v->resolve.trace.others = usual_words;
	if (r < 0 || (r = check_words(o, e)) < 0 || (r = choose_call_graph(v, e)) < 0 ||
	    (r = parse_limit(v, e)) < 0 || (r = report_view_sort(v, o->sort, e)) < 0 ||
	    (r = make_filters(v, e)) < 0)
		return r;
	if (o->inverted) {
		v->caller = true;
		v->order_given = true;
	}
	v->ro.relative = o->percentage && !strcmp(o->percentage, "relative");
	v->ro.no_inlines = o->profile.no_inline;
	v->resolve.precision = RESOLVE_FUNCTIONS;
	v->resolve.by_comm = !(v->ro.keys & (1u << REPORT_PID | 1u << REPORT_TID));
	v->resolve.by_cpu = v->ro.keys >> REPORT_CPU & 1;
	v->resolve.lines = v->ro.keys & (1u << REPORT_SRCLINE | 1u << REPORT_SRCFILE) ||
			   v->ro.chain_key != CHAIN_BY_FUNCTION;
	r = parse_quantum(o->time_quantum ? o->time_quantum : "100ms", &v->resolve.bucket_ns, e);
	if (r < 0)
		return r;
	if (!(v->ro.keys >> REPORT_TIME & 1))
		v->resolve.bucket_ns = 0;
	/* Without callers, resolve only the sampled frame, and without source lines no inlines. */
	v->resolve.leaf_only = v->mode == CHAINS_NONE && o->no_children && !o->tui;
	if (v->resolve.leaf_only && !v->resolve.lines)
		v->resolve.no_inlines = true;
	return 0;
}

/* Inserts a column at index @at; if the column exists already, moves it there. */
static void insert_column(struct report_view *v, size_t at, struct column c)
{
	size_t kept = 0;

	vec_each(&v->columns, old)
		if (old->kind != c.kind || (c.kind == COLUMN_KEY && old->key != c.key))
			v->columns.items[kept++] = *old;
	v->columns.len = kept;
	vec_push(&v->columns, c);
	memmove(&v->columns.items[at + 1], &v->columns.items[at],
		(v->columns.len - 1 - at) * sizeof(c));
	v->columns.items[at] = c;
}

void report_view_defaults(struct report_view *v, bool has_callers)
{
	bool usual = !v->o.fields || adds_fields(v);
	size_t at = 0;

	report_view_expand_fields(v);
	v->has_callers = has_callers;
	/* Sort by Children only if that column is shown: else the order would look random. */
	v->ro.children =
		has_callers && !v->o.no_children && (usual || has_column(v, COLUMN_CHILDREN, 0));
	if (!has_callers)
		v->mode = CHAINS_NONE;
	v->ro.chains = v->mode != CHAINS_NONE;
	if (!v->order_given)
		v->caller = v->ro.children;
	if (!usual) {
		report_view_keep(v);
		return;
	}
	if (v->ro.children)
		insert_column(v, at++,
			      (struct column){.kind = COLUMN_CHILDREN, .title = "Children"});
	insert_column(v, at++,
		      (struct column){.kind = COLUMN_SELF,
				      .title = v->ro.children ? "Self" : "Overhead"});
	if (v->o.nr_samples)
		insert_column(v, at++, (struct column){.kind = COLUMN_SAMPLES, .title = "Samples"});
	if (v->o.total_period)
		insert_column(v, at++, (struct column){.kind = COLUMN_PERIOD, .title = "Period"});
	report_view_keep(v);
}

void report_view_release(struct report_view *v)
{
	profile_options_release(&v->o.profile, &v->resolve);
	vec_release(&v->columns);
	vec_release(&v->all_columns);
	strvec_release(&v->field_names);
	strvec_release(&v->resolve.trace.fields);
	strvec_release(&v->comms);
	strvec_release(&v->dsos);
	strvec_release(&v->symbols);
	free(v->pids);
	free(v->tids);
	buf_release(&v->out);
}
