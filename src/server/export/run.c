#include "server/export/run.h"
#include "profile/schema.h"
#include "server/api/question.h"

#include <errno.h>
#include <string.h>

/* ---- the selection ---- */

static bool is_selected(const struct http_request *r)
{
	static const char *const names[] = {SELECTION_PARAMS};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (http_query(r, names[i]))
			return true;
	return false;
}

struct choice {
	struct export_run *x;
	const struct http_request *request;
};

static int choose(void *ctx, struct run_data *d, struct err *e)
{
	const struct choice *c = ctx;
	int rc = api_selection(&c->x->selection, c->request, "", d, e);

	/* A long download must not hold the run. */
	if (rc == 0)
		selection_detach(&c->x->selection, d);
	return rc;
}

/* ---- the run ---- */

int export_run_open(struct export_run *x, struct api *api, const char *uuid,
		    const struct http_request *request, struct err *e)
{
	int rc;

	*x = (struct export_run){.api = api, .selection = {.to_ns = UINT64_MAX, .event = -1}};
	profile_init(&x->profile);
	rc = api_run_find(api, uuid, &x->run, e);
	if (rc == 0 && request && is_selected(request))
		rc = question_hold(api, &x->run, choose, &(struct choice){x, request}, e);
	/* Load the profile last, so that it has everything that the selection refers to. */
	if (rc == 0)
		rc = run_profile_load(&x->profile, api->store, x->run.id, e);
	if (rc < 0)
		export_run_close(x);
	return rc;
}

void export_run_close(struct export_run *x)
{
	stored_run_release(&x->run);
	profile_release(&x->profile);
	selection_release(&x->selection);
	*x = (struct export_run){};
}

bool export_run_ended(const struct export_run *x)
{
	return run_state_ended(x->run.state);
}

struct row_walk export_walk(const struct export_run *x, struct chunk_query which,
			    const uint32_t *tags)
{
	return (struct row_walk){
		.store = x->api->store,
		.run = x->run.id,
		.sel = &x->selection,
		.which = which,
		.tags = tags,
	};
}

int export_run_span(struct export_run *x, uint64_t *ret_from_ns, uint64_t *ret_to_ns, struct err *e)
{
	uint64_t from = UINT64_MAX, to = 0;
	stored_chunks chunks = {};
	const struct row_walk all = export_walk(x, (struct chunk_query){}, NULL);
	int rc = row_walk_chunks(&all, &chunks, e);

	vec_each(&chunks, chunk) {
		from = chunk->info.first_ns < from ? chunk->info.first_ns : from;
		to = chunk->info.last_ns > to ? chunk->info.last_ns : to;
	}
	vec_release(&chunks);
	from = from < x->selection.from_ns ? x->selection.from_ns : from;
	to = to > x->selection.to_ns ? x->selection.to_ns : to;
	/* The first value of a counter marks the end of its first interval, which began earlier. */
	if (!x->selection.from_ns && x->run.start_ns > 0 && (uint64_t)x->run.start_ns < from)
		from = (uint64_t)x->run.start_ns;
	*ret_from_ns = from < to ? from : to;
	*ret_to_ns = to;
	return rc;
}

/* ---- samples ---- */

struct sample_visit {
	const struct export_run *run;
	export_sample *sample;
	void *ctx;
};

/* Numbers that are out of range, as in damaged chunks, become 0. */
static int visit_sample(void *ctx, const struct walked_row *row)
{
	const struct sample_visit *v = ctx;
	const struct profile *p = &v->run->profile;
	uint64_t event = walked_value(row, 2), thread = walked_value(row, 3);
	uint64_t stack = walked_value(row, 4);
	struct sample_row s = {
		.time_ns = row->time_ns,
		.weight = walked_value(row, 0),
		.address = walked_value(row, 1),
		.event = event < p->events.len ? (uint32_t)event : 0,
		.thread = profile_thread_number(p, thread),
		.stack = stack < p->stacks.len ? (uint32_t)stack : 0,
		.cpu = (uint32_t)walked_value(row, 5),
	};

	return v->sample(v->ctx, &s);
}

int export_samples_each(struct export_run *x, export_sample *sample, void *ctx, struct err *e)
{
	static const uint32_t tags[] = {TAG_WEIGHT, TAG_ADDRESS, TAG_EVENT, TAG_THREAD,
					TAG_STACK,  TAG_CPU,     0};
	const struct row_walk walk = export_walk(x, (struct chunk_query){.sampled = true}, tags);
	struct sample_visit v = {x, sample, ctx};

	return row_walk_each(&walk, visit_sample, &v, e);
}

/* ---- counters ---- */

void export_counter_name(const struct export_run *x, uint32_t counter, struct buf *out)
{
	const struct profile *p = &x->profile;
	const struct profile_counter *c = &p->counters.items[counter];

	buf_add(out, profile_text(p, c->name));
	if (c->cpu >= 0)
		buf_addf(out, "@cpu%d", (int)c->cpu);
	if (c->thread.n && c->thread.n < p->threads.len)
		buf_addf(out, "@%s:%u", profile_text(p, p->threads.items[c->thread.n].comm),
			 p->threads.items[c->thread.n].tid);
}
