/* flame?mode=ordered: the stacks of one thread in order of time, from left to right. */
#include "analyze/paths/flame_order.h"
#include "server/api/question.h"

#include <errno.h>
#include <string.h>

#define PIXELS     2000u
#define PIXELS_MAX 10000u

struct ordering {
	struct question *q;
	struct flame_order order;
	bool *threads; /* by thread of the profile: is the chosen one, and selected */
	uint32_t event;
};

static void add_rows(void *ctx, struct sample_columns *c)
{
	struct ordering *o = ctx;

	for (size_t i = 0; i < c->rows; i++)
		flame_order_add(&o->order, c->time_ns[i], c->weight[i],
				call_path_known(&o->q->d->paths, c->stack[i]));
}

/* Selects all rows of the chosen thread: it has one for each of its names. */
static void take_thread(struct ordering *o, uint32_t thread)
{
	const struct profile *p = &o->q->d->profile;
	const struct profile_thread *chosen = &p->threads.items[thread];

	for (size_t i = 0; i < p->threads.len; i++) {
		const struct profile_thread *t = &p->threads.items[i];

		o->threads[i] = t->pid == chosen->pid && t->tid == chosen->tid &&
				selection_has_thread(&o->q->sel, i);
	}
}

static void write_thread(struct ordering *o, uint32_t thread)
{
	const struct profile *p = &o->q->d->profile;
	struct json *j = &o->q->answer.j;

	jw_key(j, "thread");
	if (thread == UINT32_MAX) {
		jw_str(j, NULL);
		return;
	}
	jw_open(j, '{');
	jw_kv_u64(j, "pid", p->threads.items[thread].pid);
	jw_kv_u64(j, "tid", p->threads.items[thread].tid);
	jw_kv_str(j, "comm", profile_text(p, p->threads.items[thread].comm));
	jw_close(j, '}');
}

/* Numbers the names that occur, in order of first occurrence; 0 is the root. */
static void write_names(struct ordering *o, uint32_t *name)
{
	const struct run_data *d = o->q->d;
	struct json *j = &o->q->answer.j;
	uint32_t *number = xcalloc(d->paths.names.len, sizeof(*number)), count = 0;

	jw_key(j, "names");
	jw_open(j, '[');
	question_name(j, "all", "", CODE_UNKNOWN);
	for (size_t i = 0; i < o->order.boxes.len; i++) {
		uint32_t known = o->order.boxes.items[i].name;
		const struct path_name *n = &d->paths.names.items[known];

		if (!number[known]) {
			number[known] = ++count;
			question_name(j, profile_text(&d->profile, n->label),
				      profile_text(&d->profile, n->module), n->kind);
		}
		name[i] = number[known];
	}
	jw_close(j, ']');
	free(number);
}

static void write_boxes(struct ordering *o)
{
	struct answer *a = &o->q->answer;
	size_t len = o->order.boxes.len;
	const struct order_box *boxes = o->order.boxes.items;
	uint32_t *narrow = xcalloc(len, sizeof(*narrow));
	int64_t *wide = xcalloc(len, sizeof(*wide));

	write_names(o, narrow);
	jw_key(&a->j, "boxes");
	jw_open(&a->j, '{');
	answer_u32(a, "name", narrow, len);
	for (size_t i = 0; i < len; i++)
		narrow[i] = boxes[i].depth;
	answer_u32(a, "depth", narrow, len);
	for (size_t i = 0; i < len; i++)
		wide[i] = question_since_start(o->q, boxes[i].from_ns);
	answer_i64(a, "from_ns", wide, len);
	for (size_t i = 0; i < len; i++)
		wide[i] = question_since_start(o->q, boxes[i].to_ns);
	answer_i64(a, "to_ns", wide, len);
	jw_close(&a->j, '}');
	free(narrow);
	free(wide);
}

static void write_ordered(struct ordering *o, uint32_t thread)
{
	struct json *j = &o->q->answer.j;

	jw_open(j, '{');
	question_event(o->q, o->event);
	jw_kv_u64(j, "total", o->order.weight);
	jw_kv_u64(j, "samples", o->order.samples);
	write_thread(o, thread);
	jw_key(j, "from_ns");
	jw_i64(j, question_since_start(o->q, o->order.from_ns));
	jw_key(j, "to_ns");
	jw_i64(j, question_since_start(o->q, o->order.to_ns));
	write_boxes(o);
	jw_close(j, '}');
}

int flame_ordered(struct question *q, struct err *e)
{
	struct ordering o = {.q = q};
	uint64_t pixels = PIXELS, from, to;
	uint32_t thread = UINT32_MAX;
	int rc = api_param_u64(q->r, "pixels", PIXELS_MAX, &pixels, e);

	if (rc == 0 && !pixels)
		return err_set(e, EINVAL, "The parameter pixels is at least 1.");
	if (rc == 0)
		rc = selection_event(&q->sel, q->d, q->api->store, &o.event, e);
	if (rc == 0)
		rc = selection_busiest(&q->sel, q->d, q->api->store, o.event, &thread, e);
	if (rc < 0)
		return rc;
	answer_time(&q->answer, "thread");
	question_window(q, &from, &to);
	flame_order_init(&o.order, from, to, pixels);
	o.threads = xcalloc(q->d->profile.threads.len, sizeof(*o.threads));
	if (thread != UINT32_MAX) {
		const struct row_visitor rows = {add_rows, &o, o.event, ROWS_TIME | ROWS_WEIGHT};
		struct selection its = q->sel;

		take_thread(&o, thread);
		its.threads = o.threads;
		rc = selection_each(&its, q->d, q->api->store, &rows, e);
	}
	answer_time(&q->answer, "read");
	if (rc == 0) {
		flame_order_finish(&o.order, &q->d->paths);
		answer_time(&q->answer, "boxes");
		write_ordered(&o, thread);
	}
	flame_order_release(&o.order);
	free(o.threads);
	return rc;
}
