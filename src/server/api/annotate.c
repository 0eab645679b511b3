/* The code of a function with the samples of a selection. */
#include "server/api/annotation.h"
#include "server/api/question.h"

#include <errno.h>

static void add_leaf(void *ctx, const struct stack_sum *sum)
{
	leaf_weights_add(ctx, sum->stack, sum->samples, sum->weight);
}

static int write_annotation(struct question *q, struct leaf_weights *l, uint32_t event,
			    struct err *e)
{
	CLEANUP(buf_release) struct buf code = {};
	const char *name = http_query(q->r, "function"), *module = http_query(q->r, "module");
	function_id function = leaf_weights_find(l, name, module);
	int rc;

	if (!function.n)
		return err_set(e, ENOENT, "The run has no function '%.200s'.", name);
	rc = store_code_get(q->api->store, q->run.id, 0, function.n, &code, e);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	return annotation_answer(l, (event_id){event}, function, &code, &q->answer.text, e);
}

static int annotate(struct question *q, struct err *e)
{
	const struct profile *p = NULL;
	struct leaf_weights l;
	uint32_t event = 0;
	int rc;

	if (!http_query(q->r, "function"))
		return err_set(e, EINVAL,
			       "Missing parameter 'function': name the function to annotate.");
	rc = selection_event(&q->sel, q->d, q->api->store, &event, e);
	if (rc == 0)
		rc = run_cache_addresses(q->api->store, q->d, &p, e);
	if (rc < 0)
		return rc;
	answer_time(&q->answer, "addresses");
	leaf_weights_init(&l, p);
	rc = selection_each_stack(&q->sel, q->d, q->api->store, event, add_leaf, &l, e);
	answer_time(&q->answer, "weigh");
	if (rc == 0)
		rc = write_annotation(q, &l, event, e);
	leaf_weights_release(&l);
	return rc;
}

int api_annotate(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "function", "module", NULL};

	return question_ask(worker, r, reply, params, annotate, e);
}
