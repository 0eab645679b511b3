/* Folded stacks and the flame graph, by the exporters that the command line has, too. */
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

int export_flame(struct export_run *x, const struct exporter *exporter, struct export_out *out,
		 struct err *e)
{
	struct view_options options = {
		.group = GROUP_COMM,
		.style = exporter->style,
		.join_inlined = exporter == &export_folded,
	};
	CLEANUP(buf_release) struct buf subtitle = {};
	struct export_options o = {.title = "Flame graph"};
	uint64_t samples = 0;
	struct view v;
	int rc = export_run_rows(x, &samples, e);

	if (rc < 0 || (!samples && exporter == &export_folded))
		return rc;
	if (!samples)
		return err_set(e, EBUSY,
			       "There are no samples in it, so there is nothing to draw.");
	options.event = view_busiest_event(&x->profile);
	if (x->selection.event >= 0)
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
