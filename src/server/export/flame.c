/* Folded stacks and the flame graph, written by the exporters of the command line. */
#include "analyze/tree/jvm_stacks.h"
#include "server/api/question.h"
#include "server/export/formats.h"

#include <errno.h>
#include <string.h>

static void make_subtitle(const struct export_run *x, const struct view *v, struct buf *out)
{
	const struct profile *p = &x->profile;
	const struct call_node *root = &v->tree.nodes.items[0];

	buf_add_grouped(out, root->total_samples, 0);
	buf_add(out, root->total_samples == 1 ? " sample" : " samples");
	buf_addf(out, " of %s", profile_text(p, p->events.items[v->options.event.n].name));
	if (x->run.command && *x->run.command)
		buf_addf(out, " · %s", x->run.command);
}

/* Rows of the profile: the samples of one event, as questions about the run have them. */
struct drawing {
	struct export_run *x;
	const struct http_request *request;
	uint32_t event;
	uint64_t samples;
};

/* What came after the profile was loaded has entry 0. */
static void add_row(void *ctx, const struct stack_sum *sum)
{
	struct drawing *w = ctx;
	struct profile *p = &w->x->profile;

	if (w->event >= p->events.len)
		return;
	w->samples += sum->samples;
	profile_add(p, &(struct profile_row){
			       .event.n = w->event,
			       .thread.n = profile_thread_number(p, sum->thread),
			       .stack.n = sum->stack < p->stacks.len ? sum->stack : 0,
			       .samples = sum->samples,
			       .weight = sum->weight,
		       });
}

static int add_rows(void *ctx, struct run_data *d, struct err *e)
{
	struct drawing *w = ctx;
	struct store *store = w->x->api->store;
	struct selection sel;
	int rc = api_selection(&sel, w->request, "", d, e);

	w->samples = 0;
	vec_each(&w->x->profile.rows, row)
		row->samples = row->weight = 0;
	if (rc == 0)
		rc = selection_event(&sel, d, store, &w->event, e);
	if (rc == 0)
		rc = selection_each_stack(&sel, d, store, w->event, add_row, w, e);
	selection_release(&sel);
	return rc;
}

static int nothing_to_draw(const struct profile *p, uint32_t event, struct err *e)
{
	if (event >= p->events.len)
		return err_set(e, EBUSY, "The run has no samples, so there is nothing to draw.");
	return err_set(
		e, EBUSY,
		"The selection contains no samples of %.100s. Widen the time window, clear the "
		"filters, or name another event.",
		profile_text(p, p->events.items[event].name));
}

int export_flame(struct export_run *x, const struct http_request *r,
		 const struct exporter *exporter, struct export_out *out, struct err *e)
{
	struct view_options options = {
		.group = GROUP_COMM,
		.style = exporter->style,
		.join_inlined = exporter == &export_folded,
		.no_ends = exporter == &export_folded,
	};
	CLEANUP(buf_release) struct buf subtitle = {};
	struct export_options o = {.title = "Flame graph"};
	struct drawing w = {.x = x, .request = r};
	struct view v;
	int rc = question_hold(x->api, &x->run, add_rows, &w, e);

	if (rc < 0 || (!w.samples && exporter == &export_folded))
		return rc;
	if (!w.samples)
		return nothing_to_draw(&x->profile, w.event, e);
	options.event.n = w.event;
	jvm_name_main(&x->profile);
	view_build(&v, &x->profile, &options);
	make_subtitle(x, &v, &subtitle);
	o.subtitle = buf_str(&subtitle);
	rc = exporter->run(&v, &o, out, e);
	view_release(&v);
	return rc;
}

static int write_folded(struct export_run *x, const struct http_request *r, struct export_target *t,
			struct err *e)
{
	return export_flame(x, r, &export_folded, &t->out, e);
}

static int write_svg(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e)
{
	return export_flame(x, r, &export_svg, &t->out, e);
}

const struct export_format format_folded = {
	.extension = "folded",
	.type = "text/plain; charset=utf-8",
	.shown = true,
	.write = write_folded,
};

const struct export_format format_svg = {
	.extension = "svg",
	.type = "image/svg+xml",
	.shown = true,
	.write = write_svg,
};
