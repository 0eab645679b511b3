/* Writes a plan as JSON, with every default written out. */
#include "collect/run/plan.h"

#include <string.h>

static void put_text(json_t *to, const char *name, const char *text)
{
	json_object_set_new(to, name, text ? json_string(text) : json_null());
}

static void put_texts(json_t *to, const char *name, const strvec *texts)
{
	json_t *array = json_array();

	vec_each(texts, text)
		json_array_append_new(array, json_string(*text));
	json_object_set_new(to, name, array);
}

static void put_tasks(json_t *to, const char *name, const task_numbers *tasks)
{
	json_t *array = json_array();

	vec_each(tasks, task)
		json_array_append_new(array, json_integer(*task));
	json_object_set_new(to, name, array);
}

/* An array of pairs: an object has no order, and has each name only once. */
static void put_env(json_t *to, const strvec *env)
{
	json_t *array = json_array();

	vec_each(env, variable) {
		const char *equals = strchr(*variable, '=');

		json_array_append_new(array, json_pack("[s#, s]", *variable,
						       (int)(equals - *variable), equals + 1));
	}
	json_object_set_new(to, "env", array);
}

static void put_limits(json_t *to, const struct run_limits *l)
{
	json_object_set_new(to, "limits",
			    json_pack("{s:I, s:I, s:I, s:I, s:I}", "cpu_s", (json_int_t)l->cpu_s,
				      "memory_bytes", (json_int_t)l->memory_bytes, "files",
				      (json_int_t)l->files, "processes", (json_int_t)l->processes,
				      "file_bytes", (json_int_t)l->file_bytes));
}

static void put_workload(json_t *to, const struct run_plan *p)
{
	if (!p->argv.len)
		return;
	put_text(to, "workload", p->workload);
	json_object_set_new(to, "shell", json_boolean(p->shell));
	put_env(to, &p->env);
	put_text(to, "cwd", p->cwd);
	put_text(to, "user", p->user);
	put_text(to, "affinity", p->affinity);
	json_object_set_new(to, "timeout", json_real(p->timeout_s));
	put_limits(to, &p->limits);
}

static void put_sample(json_t *to, const struct run_plan *p)
{
	json_t *sample = json_object();

	put_texts(sample, "events", &p->sample_events);
	if (p->period)
		json_object_set_new(sample, "period", json_integer((json_int_t)p->period));
	else
		json_object_set_new(sample, "frequency", json_real(p->frequency_hz));
	put_text(sample, "callgraph", p->callgraph);
	put_text(sample, "filter", p->filter);
	json_object_set_new(to, "sample", sample);
}

json_t *run_plan_json(const struct run_plan *p)
{
	json_t *to = json_object();

	put_text(to, "description", p->description);
	put_text(to, "tool",
		 p->tool == RUN_STAT     ? "stat"
		 : p->tool == RUN_RECORD ? "record"
					 : "both");
	put_workload(to, p);
	put_tasks(to, "pids", &p->pids);
	put_tasks(to, "tids", &p->tids);
	json_object_set_new(to, "system_wide", json_boolean(p->system_wide));
	put_text(to, "cpus", p->cpus);
	if (!p->argv.len)
		json_object_set_new(to, "duration", json_real(p->duration_s));
	put_texts(to, "events", &p->events);
	json_object_set_new(to, "interval", json_real(p->interval_s));
	if (p->tool & RUN_RECORD)
		put_sample(to, p);
	json_object_set_new(to, "streaming", json_boolean(p->streaming));
	json_object_set_new(to, "keep_raw", json_boolean(p->keep_raw));
	json_object_set_new(to, "exclusive", json_boolean(run_plan_exclusive(p)));
	put_texts(to, "tags", &p->tags);
	put_text(to, "note", p->note);
	json_object_set_new(to, "client",
			    p->client ? json_loads(p->client, JSON_DECODE_ANY, NULL) : json_null());
	return to;
}
