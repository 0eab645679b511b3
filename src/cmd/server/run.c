/* tacho run: makes the plan of a run from the options and submits it to the server. */
#include "cmd/server/run.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/server/commands.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_SESSION "command line"

static int put_text(json_t *plan, const char *name, const char *text, struct err *e)
{
	if (text && json_object_set_new(plan, name, json_string(text)) < 0)
		return err_set(e, EINVAL, "the %s has to be text in UTF-8", name);
	return 0;
}

static int put_number(json_t *plan, const char *name, const char *text, const char *option,
		      struct err *e)
{
	double value;

	if (!text)
		return 0;
	if (!parse_double(text, &value) || value < 0)
		return err_set(e, EINVAL, "%s takes a number, not '%s'", option, text);
	/* Whole numbers are sent as integers: a period is not a fraction. */
	if (value < 9e15 && value == (double)(json_int_t)value)
		json_object_set_new(plan, name, json_integer((json_int_t)value));
	else
		json_object_set_new(plan, name, json_real(value));
	return 0;
}

static int put_ids(json_t *plan, const char *name, const char *text, const char *option,
		   struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};
	json_t *list;

	if (!text)
		return 0;
	list = json_array();
	json_object_set_new(plan, name, list);
	text_split(text, ",", &words);
	vec_each(&words, word) {
		long long id;

		if (!parse_i64(*word, &id) || id <= 0 || id > INT_MAX)
			return err_set(e, EINVAL, "%s takes numbers, not '%s'", option, *word);
		json_array_append_new(list, json_integer(id));
	}
	return 0;
}

/* Adds each word unsplit: the server splits events at commas, because it knows groups and terms. */
static int put_list(json_t *plan, const char *name, const option_list *words, struct err *e)
{
	json_t *list;

	if (!words->len)
		return 0;
	list = json_array();
	json_object_set_new(plan, name, list);
	for (size_t i = 0; i < words->len; i++)
		if (json_array_append_new(list, json_string(words->items[i])) < 0)
			return err_set(e, EINVAL, "'%s' has to be text in UTF-8", words->items[i]);
	return 0;
}

static int put_env(json_t *plan, const option_list *words, struct err *e)
{
	json_t *object = json_object();

	json_object_set_new(plan, "env", object);
	for (size_t i = 0; i < words->len; i++) {
		const char *word = words->items[i], *equals = strchr(word, '=');
		CLEANUP(free_ptr)
		char *name = xstrndup(word, equals ? (size_t)(equals - word) : strlen(word));
		const char *value = equals ? equals + 1 : getenv(name);

		if (!value)
			return err_set(e, EINVAL, "--env %s: there is no such variable here", name);
		if (json_object_set_new(object, name, json_string(value)) < 0)
			return err_set(e, EINVAL, "--env %s: it has to be text in UTF-8", name);
	}
	return 0;
}

static int put_command(json_t *plan, const struct client_run_options *o, int argc, char **argv,
		       struct err *e)
{
	CLEANUP(buf_release) struct buf line = {};
	json_t *words;

	if (!argc)
		return 0;
	if (o->shell) {
		for (int i = 0; i < argc; i++)
			buf_addf(&line, "%s%s", i ? " " : "", argv[i]);
		json_object_set_new(plan, "shell", json_true());
		return put_text(plan, "workload", buf_str(&line), e);
	}
	words = json_array();
	json_object_set_new(plan, "workload", words);
	for (int i = 0; i < argc; i++)
		if (json_array_append_new(words, json_string(argv[i])) < 0)
			return err_set(e, EINVAL, "the words of the command have to be UTF-8");
	return 0;
}

/* Several filters must all be met. */
static int put_filters(json_t *sample, const option_list *filters, struct err *e)
{
	CLEANUP(buf_release) struct buf text = {};

	vec_each(filters, filter)
		buf_addf(&text, filters->len > 1 ? "%s(%s)" : "%s%s",
			 filter > filters->items ? " && " : "", *filter);
	return put_text(sample, "filter", filters->len ? buf_str(&text) : NULL, e);
}

static int put_samples(json_t *plan, const struct client_run_options *o, struct err *e)
{
	const char *graph = o->call_graph ? o->call_graph : o->calls ? "fp" : NULL;
	json_t *sample = json_object();
	int r;

	if (o->freq && o->period) {
		json_decref(sample);
		return err_set(e, EINVAL, "choose one: a frequency (-F) or a period (-c)");
	}
	r = put_list(sample, "events", &o->samples, e);
	if (r == 0)
		r = put_number(sample, "frequency", o->freq, "-F", e);
	if (r == 0)
		r = put_number(sample, "period", o->period, "-c", e);
	if (r == 0)
		r = put_text(sample, "callgraph", graph, e);
	if (r == 0)
		r = put_filters(sample, &o->filters, e);
	if (r == 0 && json_object_size(sample))
		json_object_set(plan, "sample", sample);
	json_decref(sample);
	return r;
}

/* Adds what to measure: a command, or running processes, threads or the whole system. */
static int put_target(json_t *plan, const struct connection *c, const struct client_run_options *o,
		      int argc, char **argv, struct err *e)
{
	bool attached = o->pids || o->tids || o->all_cpus;
	char here[PATH_MAX];
	int r;

	if (!argc && !attached)
		return err_set(e, EINVAL,
			       "what is to be measured? A command, -p PID, -t TID or -a");
	if (argc && attached)
		return err_set(e, EINVAL,
			       "either a command, or processes that run already (-p, -t, -a)");
	r = put_command(plan, o, argc, argv, e);
	if (r == 0)
		r = put_ids(plan, "pids", o->pids, "-p", e);
	if (r == 0)
		r = put_ids(plan, "tids", o->tids, "-t", e);
	if (o->all_cpus)
		json_object_set_new(plan, "system_wide", json_true());
	/* A server on another machine does not have our current directory. */
	if (r == 0 && argc)
		r = put_text(plan, "cwd",
			     o->cwd                                   ? o->cwd
			     : c->local && getcwd(here, sizeof(here)) ? here
								      : NULL,
			     e);
	if (r == 0 && o->env.len)
		r = put_env(plan, &o->env, e);
	return r;
}

static int make_plan(json_t *plan, const struct connection *c, const struct client_run_options *o,
		     int argc, char **argv, struct err *e)
{
	int r = put_target(plan, c, o, argc, argv, e);

	if (o->exclusive && o->shared)
		return err_set(e, EINVAL, "choose one: --exclusive or --shared");
	if (o->exclusive || o->shared)
		json_object_set_new(plan, "exclusive", json_boolean(o->exclusive));
	if (o->keep_raw)
		json_object_set_new(plan, "keep_raw", json_true());
	json_object_set_new(plan, "tool", json_string(o->tool ? o->tool : "both"));
	if (r == 0)
		r = put_list(plan, "events", &o->events, e);
	if (r == 0)
		r = put_samples(plan, o, e);
	if (r == 0)
		r = put_list(plan, "tags", &o->tags, e);
	if (r == 0)
		r = put_number(plan, "interval", o->interval, "-I", e);
	if (r == 0)
		r = put_number(plan, "timeout", o->timeout, "--timeout", e);
	if (r == 0)
		r = put_number(plan, "duration", o->duration, "--duration", e);
	if (r == 0)
		r = put_text(plan, "description", o->description, e);
	if (r == 0)
		r = put_text(plan, "note", o->note, e);
	if (r == 0)
		r = put_text(plan, "user", o->user, e);
	if (r == 0)
		r = put_text(plan, "affinity", o->affinity, e);
	if (r == 0)
		r = put_text(plan, "cpus", o->cpus, e);
	return r;
}

static int submit(struct connection *c, const char *title, const json_t *plan, json_t **ret,
		  struct err *e)
{
	json_t *session = NULL;
	int r = connection_find_session(c, title, true, &session, e);

	if (r == 0)
		r = connection_json(c, "POST", plan, ret, e, "session/%s",
				    member_text(session, "uuid"));
	if (r == 0)
		r = connection_check_id(c, ret, e);
	json_decref(session);
	return r;
}

static void tell(const struct connection *c, const json_t *run, const struct client_run_options *o)
{
	CLEANUP(buf_release) struct buf line = {};
	const json_t *progress = json_object_get(run, "progress");
	double place = member_number(progress, "place", 0);

	if (o->detach) {
		buf_addf(&line, "%s\n", member_text(run, "uuid"));
		command_flush_on(&line, STDOUT_FILENO);
	}
	if (o->quiet)
		return;
	buf_addf(&line, "%s/?run=%s", c->url, member_text(run, "uuid"));
	if (place > 1)
		buf_addf(&line, " (%.0f in front of it)", place - 1);
	command_fail(0, "run: %s", buf_str(&line));
}

static int run_with(const struct client_run_options *o, int argc, char **argv)
{
	json_t *plan = json_object(), *run = NULL;
	int status = EXIT_TACHO_FAILED;
	struct connection c;
	struct err e = {};

	if (connection_open(&c, &o->server, &e) < 0) {
		json_decref(plan);
		return command_fail(EXIT_TACHO_FAILED, "run: %s", e.text);
	}
	if (make_plan(plan, &c, o, argc, argv, &e) < 0 ||
	    submit(&c, o->session ? o->session : DEFAULT_SESSION, plan, &run, &e) < 0) {
		command_fail(0, "run: %s", e.text);
	} else {
		tell(&c, run, o);
		status = o->detach ? EXIT_DONE : run_follow(&c, run, o->quiet);
	}
	json_decref(plan);
	json_decref(run);
	connection_close(&c);
	return status;
}

int server_run(const struct command *self, int argc, char **argv)
{
	struct client_run_options o = {};
	int status, used = command_options(self, &o, argc, argv, &status);

	if (used >= 0)
		status = run_with(&o, argc - used, argv + used);
	else if (status == EXIT_USAGE)
		status = EXIT_TACHO_FAILED;
	vec_release(&o.events);
	vec_release(&o.samples);
	vec_release(&o.filters);
	vec_release(&o.env);
	vec_release(&o.tags);
	return status;
}
