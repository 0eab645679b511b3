/* Folded stacks and the flame graph, written by the exporters of the command line. */
#include "analyze/tree/jvm_stacks.h"
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

/* Chooses one event, the same as for questions about the run. */
static int choose_event(struct export_run *x, struct err *e)
{
	struct run_cache *cache = x->api->server->cache;
	struct run_data *d;
	uint32_t event;
	int rc = run_cache_get(cache, x->api->store, &x->run, &d, e);

	if (rc < 0)
		return rc;
	rc = selection_event(&x->selection, d, x->api->store, &event, e);
	if (rc == -ESTALE)
		run_cache_stale(d);
	else if (rc == 0)
		x->selection.event = event;
	run_cache_put(cache, d);
	return rc;
}

static int nothing_to_draw(const struct export_run *x, struct err *e)
{
	const struct profile *p = &x->profile;
	size_t event = (size_t)x->selection.event;

	if (event >= p->events.len)
		return err_set(e, EBUSY, "The run has no samples, so there is nothing to draw.");
	return err_set(
		e, EBUSY,
		"The selection contains no samples of %.100s. Widen the time window, clear the "
		"filters, or name another event.",
		profile_text(p, p->events.items[event].name));
}

int export_flame(struct export_run *x, const struct exporter *exporter, struct export_out *out,
		 struct err *e)
{
	struct view_options options = {
		.group = GROUP_COMM,
		.style = exporter->style,
		.join_inlined = exporter == &export_folded,
		.no_ends = exporter == &export_folded,
	};
	CLEANUP(buf_release) struct buf subtitle = {};
	struct export_options o = {.title = "Flame graph"};
	uint64_t samples = 0;
	struct view v;
	int rc = choose_event(x, e);

	if (rc == 0)
		rc = export_run_rows(x, &samples, e);

	if (rc < 0 || (!samples && exporter == &export_folded))
		return rc;
	if (!samples)
		return nothing_to_draw(x, e);
	options.event.n = (uint32_t)x->selection.event;
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
	(void)r;
	return export_flame(x, &export_folded, &t->out, e);
}

static int write_svg(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e)
{
	(void)r;
	return export_flame(x, &export_svg, &t->out, e);
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
