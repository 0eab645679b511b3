#include "server/api/question.h"

#include <errno.h>

static int ask_once(struct question *q, question_asker ask, struct err *e)
{
	struct run_cache *cache = q->api->server->cache;
	int rc = run_cache_get(cache, q->api->store, &q->run, &q->d, e);

	if (rc < 0)
		return rc;
	answer_time(&q->answer, "load");
	rc = api_selection(&q->sel, q->r, "", q->d, e);
	if (rc == 0)
		rc = ask(q, e);
	if (rc == -ESTALE)
		run_cache_stale(q->d);
	selection_release(&q->sel);
	run_cache_put(cache, q->d);
	return rc;
}

int question_ask(void *worker, const struct http_request *r, struct http_reply *reply,
		 const char *const *params, question_asker ask, struct err *e)
{
	struct question q = {.api = worker, .r = r};
	int rc = api_params_known(r, params, e);

	if (rc == 0)
		rc = answer_begin(&q.answer, r, e);
	if (rc == 0)
		rc = api_run_find(q.api, r->args[0], &q.run, e);
	for (int try = 0; rc == 0 && try < TRIES_MAX; try++) {
		rc = ask_once(&q, ask, e);
		if (rc != -ESTALE)
			break;
		buf_clear(&q.answer.text);
		buf_clear(&q.answer.raw);
		q.answer.j = jw_to(&q.answer.text);
		rc = try + 1 < TRIES_MAX
			     ? 0
			     : err_set(e, EBUSY, "The run's data are being rearranged; ask again.");
	}
	if (rc == 0)
		answer_send(&q.answer, reply, run_state_ended(q.run.state));
	else
		answer_release(&q.answer);
	stored_run_release(&q.run);
	return rc;
}

static int hold_once(struct api *a, const struct stored_run *run, run_looker look, void *ctx,
		     struct err *e)
{
	struct run_cache *cache = a->server->cache;
	struct run_data *d;
	int rc = run_cache_get(cache, a->store, run, &d, e);

	if (rc < 0)
		return rc;
	rc = look(ctx, d, e);
	if (rc == -ESTALE)
		run_cache_stale(d);
	run_cache_put(cache, d);
	return rc;
}

int question_hold(struct api *a, const struct stored_run *run, run_looker look, void *ctx,
		  struct err *e)
{
	int rc = -ESTALE;

	for (int try = 0; rc == -ESTALE && try < TRIES_MAX; try++)
		rc = hold_once(a, run, look, ctx, e);
	return rc == -ESTALE ? err_set(e, EBUSY, "The run's data are being rearranged; ask again.")
			     : rc;
}

int64_t question_since_start(const struct question *q, uint64_t ns)
{
	return (int64_t)(ns - q->d->start_ns);
}

void question_window(const struct question *q, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	const struct run_data *d = q->d;
	uint64_t from = q->sel.from_ns, to = q->sel.to_ns;

	/* Without a limit, begin at the run's start, or at its first data if that is earlier. */
	if (!from)
		from = d->chunks.len && d->first_ns < d->start_ns ? d->first_ns : d->start_ns;
	if (to == UINT64_MAX)
		to = d->last_ns >= from ? d->last_ns + 1 : from + 1;
	*ret_from_ns = from;
	*ret_to_ns = to > from ? to : from + 1;
}

void question_event(struct question *q, uint32_t event)
{
	const struct profile *p = &q->d->profile;
	const struct profile_event *known = event < p->events.len ? &p->events.items[event] : NULL;
	struct json *j = &q->answer.j;

	jw_kv_str(j, "event", known ? profile_text(p, known->name) : NULL);
	jw_kv_str(j, "unit", known && known->unit.n ? profile_text(p, known->unit) : NULL);
}

void question_name(struct json *j, const char *label, const char *module, enum code_kind kind)
{
	jw_open(j, '[');
	jw_str(j, label);
	jw_str(j, module);
	jw_str(j, code_kind_name(kind));
	jw_close(j, ']');
}
