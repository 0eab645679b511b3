#include "base/json.h"
#include "base/term.h"
#include "base/text.h"
#include "cmd/diff/diff.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_ROWS 30
#define HARDLY       0.00005 /* smaller changes are shown as 0.00 */

static void add_side(struct buf *b, const double share[2])
{
	for (int side = 0; side < 2; side++)
		buf_add_fixed(b, 100 * share[side], 2, 9);
}

static void add_change(struct buf *b, const struct term *t, double change)
{
	bool none = fabs(change) < HARDLY;

	buf_add(b, none ? t->dim : change > 0 ? t->red : t->blue);
	buf_addf(b, "%+10.2f", none ? 0.0 : 100 * change);
	buf_add(b, t->reset);
}

static size_t rows_of(const struct diff_table *t, const struct diff_options *o)
{
	size_t limit = o->limit ? o->limit : DEFAULT_ROWS;

	return t->functions.len < limit ? t->functions.len : limit;
}

static double change_of(const double share[2])
{
	return share[1] - share[0];
}

void diff_table_text(const struct diff *d, const struct diff_options *o, const struct pair *pair,
		     struct buf *out)
{
	struct term term = term_of(STDOUT_FILENO);
	const struct diff_node *root = &d->nodes.items[0];
	struct diff_table t;

	diff_table_make(&t, d);
	for (int side = 0; side < 2; side++) {
		buf_add(out, side ? "after:  " : "before: ");
		text_add_printable(out, pair->names[side]);
		buf_add(out, ", ");
		buf_add_grouped(out, root->samples[side], 0);
		buf_add(out, root->samples[side] == 1 ? " sample" : " samples");
		if (pair_event_name(pair, side)) {
			buf_add(out, " of ");
			text_add_printable(out, pair_event_name(pair, side));
		}
		buf_add_char(out, '\n');
	}
	buf_addf(out, "%s\n\n%s%28s%28s%s\n%s%9s%9s%10s%9s%9s%10s  %s%s\n",
		 o->no_normalize ? "in percent of all samples after"
				 : "in percent of all samples of each",
		 term.bold, "---------- self ----------", "---------- total ---------", term.reset,
		 term.bold, "before", "after", "change", "before", "after", "change", "function",
		 term.reset);
	for (size_t i = 0; i < rows_of(&t, o); i++) {
		const struct diff_function *f = &t.functions.items[i];

		add_side(out, f->self);
		add_change(out, &term, change_of(f->self));
		add_side(out, f->total);
		add_change(out, &term, change_of(f->total));
		buf_add(out, "  ");
		text_add_printable(out, diff_text(d, f->name));
		buf_add_char(out, '\n');
	}
	if (t.functions.len > rows_of(&t, o))
		buf_addf(out, "\n… and %zu more with a smaller change (--limit)\n",
			 t.functions.len - rows_of(&t, o));
	diff_table_release(&t);
}

static void json_side(struct json *j, const char *key, const double share[2])
{
	jw_key(j, key);
	jw_open(j, '{');
	jw_kv_double(j, "before_pct", 100 * share[0]);
	jw_kv_double(j, "after_pct", 100 * share[1]);
	jw_kv_double(j, "change_pct", 100 * change_of(share));
	jw_close(j, '}');
}

void diff_table_json(const struct diff *d, const struct diff_options *o, const struct pair *pair,
		     struct buf *out)
{
	static const char *const keys[] = {"before", "after"};
	const struct diff_node *root = &d->nodes.items[0];
	struct json j = jw_to(out);
	struct diff_table t;
	size_t rows;

	diff_table_make(&t, d);
	rows = o->limit ? rows_of(&t, o) : t.functions.len;
	jw_open(&j, '{');
	for (int side = 0; side < 2; side++) {
		jw_key(&j, keys[side]);
		jw_open(&j, '{');
		jw_kv_str(&j, "input", pair->names[side]);
		jw_kv_str(&j, "event", pair_event_name(pair, side));
		jw_kv_u64(&j, "samples", root->samples[side]);
		jw_kv_u64(&j, "weight", root->total[side]);
		jw_close(&j, '}');
	}
	jw_kv_bool(&j, "normalized", !o->no_normalize);
	jw_key(&j, "functions");
	jw_open(&j, '[');
	for (size_t i = 0; i < rows; i++) {
		const struct diff_function *f = &t.functions.items[i];
		uint32_t module = d->names.items[f->name].module;

		jw_open(&j, '{');
		jw_kv_str(&j, "name", diff_text(d, f->name));
		jw_kv_str(&j, "module", module ? d->text.s + module : NULL);
		json_side(&j, "self", f->self);
		json_side(&j, "total", f->total);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(out, '\n');
	diff_table_release(&t);
}
