/* The call tree as nested objects, {"name", "value", "self", "children"}: what many viewers read. */
#include "base/json.h"
#include "export/exporter.h"

#include <string.h>

static void open_node(struct json *j, const struct view *v, uint32_t n)
{
	const struct call_node *node = &v->tree.nodes.items[n];
	const struct profile_function *f = function_of(v->profile, call_function(node));
	const char *module = profile_text(v->profile, v->profile->modules.items[f->module.n].name);

	jw_open(j, '{');
	jw_kv_str(j, "name", n ? view_name(v, node) : "all");
	jw_kv_u64(j, "value", node->total);
	jw_kv_u64(j, "self", call_self(&v->tree, n).weight);
	jw_kv_u64(j, "samples", node->total_samples);
	if (n) {
		jw_kv_str(j, "kind", node->inlined ? "inlined" : code_kind_name(f->kind));
		if (*module)
			jw_kv_str(j, "module", module);
	}
	jw_key(j, "children");
	jw_open(j, '[');
}

static int run_json(const struct view *v, const struct export_options *o, struct export_out *out,
		    struct err *e)
{
	struct json j = jw_to(&out->buf);
	const struct call_node *nodes = v->tree.nodes.items;
	uint64_t least = (uint64_t)(o->min_pct / 100 * (double)nodes[0].total);
	uint32_t n = 0, next = nodes[0].first_child;

	(void)e;
	open_node(&j, v, 0);
	for (;;) {
		while (next && nodes[next].total < least)
			next = nodes[next].next_sibling;
		if (next) {
			n = next;
			open_node(&j, v, n);
			next = nodes[n].first_child;
			continue;
		}
		jw_close(&j, ']');
		jw_close(&j, '}');
		if (!n || !export_flush_full(out))
			break;
		next = nodes[n].next_sibling;
		n = nodes[n].parent;
	}
	buf_add_char(&out->buf, '\n');
	return 0;
}

const struct exporter export_json = {
	.name = "json",
	.summary = "nested objects with name, value and children",
	.extension = "json",
	.style = NAMES_PLAIN,
	.run = run_json,
};
