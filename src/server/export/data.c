/* perf.data: the file that was kept, byte for byte, or one that is made from the stored run. */
#include "server/export/formats.h"
#include "server/export/remake.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_kept(const struct export_run *x, struct export_target *t, struct err *e)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%s", x->api->server->config.data, x->run.raw_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_set(e, errno == ENOENT ? ENOENT : EIO,
			       "The kept perf.data of this run cannot be opened: %s.",
			       strerror(errno));
	close(t->fd);
	t->fd = fd;
	return 0;
}

/* ---- made from the store ---- */

struct remaking {
	json_t *opened, *plan, *ledger;
	VEC(struct remake_event) events;
	VEC(const char *) argv;
	struct remake_options options;
	struct remake *remake;
	struct err *err;
};

static json_t *parsed(const char *text)
{
	return text ? json_loads(text, 0, NULL) : NULL;
}

static uint64_t number(const json_t *object, const char *name)
{
	double value = json_number_value(json_object_get(object, name));

	return json_is_integer(json_object_get(object, name))
		       ? (uint64_t)json_integer_value(json_object_get(object, name))
	       : value > 0 ? (uint64_t)value
			   : 0;
}

static const char *text(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* For each event of the profile, finds how the event of that name was opened. */
static void find_events(struct remaking *m, const struct profile *p)
{
	const json_t *one;
	size_t n;

	vec_each(&p->events, event) {
		struct remake_event found = {};

		json_array_foreach(json_object_get(m->opened, "events"), n, one)
		{
			const char *name = text(one, "name");

			if (name && !strcmp(name, profile_text(p, event->name)) &&
			    json_is_true(json_object_get(one, "sampled")))
				found = (struct remake_event){
					.type = (uint32_t)number(one, "type"),
					.config = number(one, "config"),
					.period = number(one, "period"),
					.frequency = number(one, "frequency"),
				};
		}
		vec_push(&m->events, found);
	}
}

static void make_options(struct remaking *m, const struct export_run *x, const char *path)
{
	const json_t *machine = json_object_get(m->opened, "environment"), *word;
	const char *clock = text(m->opened, "clock");
	size_t i;

	json_array_foreach(json_object_get(m->plan, "argv"), i, word) if (json_is_string(word))
		vec_push(&m->argv, json_string_value(word));
	m->options = (struct remake_options){
		.path = path,
		.profile = &x->profile,
		.events = m->events.items,
		.event_count = m->events.len,
		.hostname = text(machine, "host"),
		.os_release = text(machine, "kernel"),
		.arch = text(machine, "machine"),
		.cpu = text(machine, "cpu"),
		.argv = m->argv.items,
		.argc = m->argv.len,
		.monotonic = clock && !strcmp(clock, "monotonic"),
		.clock_ns = number(m->opened, "start_ns"),
		.wall_ns = number(m->opened, "start_wall_ns"),
		.lost = number(m->ledger, "lost"),
	};
}

static int add_sample(void *ctx, const struct sample_row *s)
{
	struct remaking *m = ctx;

	return remake_sample(m->remake, s, m->err);
}

static int has_address(void *ctx, const struct sample_row *s)
{
	bool *found = ctx;

	*found = s->address != 0;
	return *found;
}

static int remake(struct export_run *x, struct export_target *t, struct err *e)
{
	struct remaking m = {.opened = parsed(x->run.opened),
			     .plan = parsed(x->run.plan),
			     .ledger = parsed(x->run.ledger),
			     .err = e};
	bool addresses = false;
	char path[64];
	int rc, finished;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	find_events(&m, &x->profile);
	make_options(&m, x, path);
	rc = export_samples_each(x, has_address, &addresses, e);
	m.options.addresses = addresses;
	if (rc >= 0)
		rc = remake_open(&m.remake, &m.options, e);
	if (rc >= 0) {
		rc = export_samples_each(x, add_sample, &m, e);
		finished = remake_finish(m.remake, &t->lacks, rc < 0 ? NULL : e);
		rc = rc < 0 ? rc : finished;
	}
	json_decref(m.opened);
	json_decref(m.plan);
	json_decref(m.ledger);
	vec_release(&m.events);
	vec_release(&m.argv);
	return rc;
}

static int write_data(struct export_run *x, const struct http_request *r, struct export_target *t,
		      struct err *e)
{
	(void)r;
	if (!export_run_ended(x))
		return err_set(e, EBUSY, "The run has not ended: its perf.data is not complete.");
	return x->run.raw_path && *x->run.raw_path ? open_kept(x, t, e) : remake(x, t, e);
}

const struct export_format format_data = {
	.extension = "data",
	.type = "application/octet-stream",
	.whole = true,
	.write = write_data,
};
