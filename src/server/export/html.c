/*
 * A report: one self-contained page, to be sent by mail or kept beside the work. It has the flame
 * graph, counters over time, the ledger, and what was run where and how. All its text comes from
 * outside and must be escaped.
 */
#include "analyze/plot/timeline.h"
#include "base/clock.h"
#include "export/svg.h"
#include "server/export/formats.h"
#include "runs/json.h"
#include "runs/ledger_words.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

#define PLOT_PIXELS   300u
#define PLOT_HEIGHT   90.0
#define PLOTS_MAX     64u
#define FLAME_HEIGHT  600ul /* if the picture does not tell its height */
#define FLAME_TALLEST 4000ul

static const char *const report_css[] = {
#include "report_css.inc"
};

static void add_escaped(struct buf *out, const char *text)
{
	svg_add_escaped(out, text ? text : "");
}

/* ---- the head ---- */

static void add_time(struct buf *out, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	char text[40];
	struct tm tm;

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	buf_add(out, text);
}

static void add_head(const struct export_run *x, struct buf *out)
{
	const struct stored_run *r = &x->run;
	const char *name = r->command && *r->command ? r->command : r->description;
	double seconds = run_seconds(r);

	buf_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	add_escaped(out, name && *name ? name : r->uuid);
	buf_add(out, "</title>\n<style>\n");
	for (size_t i = 0; i < ARRAY_LEN(report_css); i++)
		buf_add(out, report_css[i]);
	buf_add(out, "</style>\n</head>\n<body>\n<h1>");
	add_escaped(out, name && *name ? name : r->uuid);
	buf_addf(out, "</h1>\n<p class=\"facts\">%s", run_state_name(r->state));
	if (r->started_ms) {
		buf_add(out, " · ");
		add_time(out, r->started_ms);
	}
	if (seconds > 0)
		buf_addf(out, " · %.3g s", seconds);
	if (r->user && *r->user) {
		buf_add(out, " · ");
		add_escaped(out, r->user);
	}
	buf_add(out, "</p>\n");
}

/* ---- the flame graph ---- */

static bool keep_bytes(void *ctx, struct buf *bytes)
{
	struct buf *all = ctx;

	buf_add_mem(all, bytes->s, bytes->len);
	buf_clear(bytes);
	return true;
}

static void add_base64(struct export_out *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t three = (uint32_t)bytes[i] << 16 |
				 (i + 1 < len ? (uint32_t)bytes[i + 1] << 8 : 0) |
				 (i + 2 < len ? bytes[i + 2] : 0);
		char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
				i + 1 < len ? digits[three >> 6 & 63] : '=',
				i + 2 < len ? digits[three & 63] : '='};

		buf_add_mem(&out->buf, four, sizeof(four));
		if (!export_flush_full(out))
			return;
	}
}

/* Puts the picture into a frame, because it is a document with a script of its own. */
static int add_flame(struct export_run *x, const struct http_request *r, struct export_out *out,
		     struct err *e)
{
	CLEANUP(buf_release) struct buf svg = {};
	struct export_out to = {.write = keep_bytes, .ctx = &svg};
	unsigned long height = FLAME_HEIGHT;
	const char *found;
	int rc = export_flame(x, r, &export_svg, &to, e);

	keep_bytes(&svg, &to.buf);
	buf_release(&to.buf);
	if (rc == -EBUSY) /* no samples, no picture */
		return 0;
	if (rc < 0)
		return rc;
	found = strstr(buf_str(&svg), " height=\"");
	if (found)
		height = strtoul(found + strlen(" height=\""), NULL, 10);
	height = height < FLAME_TALLEST ? height : FLAME_TALLEST;
	buf_addf(&out->buf,
		 "<h2>Flame graph</h2>\n<iframe title=\"Flame graph\" height=\"%lu\" "
		 "sandbox=\"allow-scripts\" src=\"data:image/svg+xml;base64,",
		 height + 4);
	add_base64(out, (const unsigned char *)buf_str(&svg), svg.len);
	buf_add(&out->buf, "\"></iframe>\n");
	return 0;
}

/* ---- counters ---- */

struct plots {
	struct timeline *lines; /* by counter */
	size_t count;
};

static int add_tick(void *ctx, const struct export_count *counts, size_t count)
{
	struct plots *p = ctx;

	for (size_t i = 0; i < count; i++) {
		struct count_row row = counts[i].row;
		struct count_columns one = {.rows = 1,
					    .time_ns = &row.time_ns,
					    .duration_ns = &row.duration_ns,
					    .value = &row.value,
					    .running_ppm = &row.running_ppm};

		if (counts[i].counter <= p->count)
			timeline_add_rows(&p->lines[counts[i].counter - 1], &one, 0, 1);
	}
	return 0;
}

static double largest(const struct timeline *t)
{
	double most = 0;

	for (uint32_t i = 0; i < t->pixels; i++)
		if (t->max[i] > most)
			most = t->max[i];
	return most > 0 ? most : 1;
}

/* Draws a band from minimum to maximum for each pixel, and a line of means that gaps interrupt. */
static void add_shapes(struct buf *out, const struct timeline *t)
{
	double scale = PLOT_HEIGHT / largest(t);
	bool open = false;

	buf_add(out, "<path class=\"band\" d=\"");
	for (uint32_t i = 0; i < t->pixels; i++)
		if (!isnan(t->max[i]))
			buf_addf(out, "M%u %.2fh1V%.2fh-1z", i, PLOT_HEIGHT - t->max[i] * scale,
				 PLOT_HEIGHT - t->min[i] * scale);
	buf_add(out, "\"/><path class=\"mean\" d=\"");
	for (uint32_t i = 0; i < t->pixels; i++) {
		if (!isnan(t->mean[i]))
			buf_addf(out, "%c%.1f %.2f", open ? 'L' : 'M', i + 0.5,
				 PLOT_HEIGHT - t->mean[i] * scale);
		open = !isnan(t->mean[i]);
	}
	buf_add(out, "\"/>");
}

static void add_plot(struct export_run *x, struct buf *out, uint32_t counter,
		     const struct timeline *t)
{
	const struct profile_counter *c = &x->profile.counters.items[counter];
	CLEANUP(buf_release) struct buf name = {};
	double sum = 0, duration_s = 0;

	for (uint32_t i = 0; i < t->pixels; i++) {
		sum += t->sum[i];
		duration_s += t->duration_ns[i] / (double)NS_PER_SEC;
	}
	if (duration_s <= 0 || profile_counter_mark(&x->profile, counter))
		return;
	export_counter_name(x, counter, &name);
	buf_add(out, "<figure><figcaption>");
	add_escaped(out, buf_str(&name));
	buf_addf(out, "<span>%.6g ", sum * c->scale);
	add_escaped(out, profile_text(&x->profile, c->unit));
	buf_addf(out,
		 " in all, %.4g a second, at most %.4g</span></figcaption>"
		 "<svg viewBox=\"0 0 %u %.0f\" preserveAspectRatio=\"none\" role=\"img\">",
		 sum * c->scale / duration_s, largest(t) * c->scale, t->pixels, PLOT_HEIGHT);
	add_shapes(out, t);
	buf_add(out, "</svg></figure>\n");
}

static int add_counters(struct export_run *x, struct export_out *out, struct err *e)
{
	struct plots p = {.count = x->profile.counters.len ? x->profile.counters.len - 1 : 0};
	uint64_t from, to;
	int rc = export_run_span(x, &from, &to, e);

	if (rc < 0 || !p.count || to <= from)
		return rc;
	p.count = p.count < PLOTS_MAX ? p.count : PLOTS_MAX;
	p.lines = xcalloc(p.count, sizeof(*p.lines));
	for (size_t i = 0; i < p.count; i++)
		timeline_init(&p.lines[i], from, to, PLOT_PIXELS);
	rc = export_counts_each(x, add_tick, &p, e);
	buf_add(&out->buf, "<h2>Counters</h2>\n<div class=\"plots\">\n");
	for (size_t i = 0; i < p.count; i++) {
		timeline_finish(&p.lines[i]);
		add_plot(x, &out->buf, (uint32_t)i + 1, &p.lines[i]);
		timeline_release(&p.lines[i]);
		export_flush_full(out);
	}
	buf_add(&out->buf, "</div>\n");
	free(p.lines);
	return rc;
}

/* ---- the rest ---- */

static void add_fact(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_add(out, "<tr><th>");
	add_escaped(out, name);
	buf_add(out, "</th><td>");
	add_escaped(out, value);
	buf_add(out, "</td></tr>\n");
}

/* Whether a value is false, 0, null, or empty; an object is empty if all its members are. */
static bool says_nothing(const json_t *value)
{
	json_t *member;
	const char *name;

	if (json_is_object(value))
		json_object_foreach((json_t *)value, name,
				    member) if (!says_nothing(member)) return false;
	return !json_is_true(value) && !(json_is_string(value) && json_string_length(value)) &&
	       !(json_is_number(value) && json_number_value(value) != 0) && !json_array_size(value);
}

/* Writes a list as "a, b", an object as "name value, …". */
static void add_value(struct buf *out, const json_t *value)
{
	json_t *member;
	const char *name;
	size_t i;

	if (json_is_string(value))
		buf_add(out, json_string_value(value));
	else if (json_is_integer(value))
		buf_addf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_number(value))
		buf_addf(out, "%.10g", json_number_value(value));
	else if (json_is_boolean(value))
		buf_add(out, json_is_true(value) ? "yes" : "no");
	json_array_foreach(value, i, member)
	{
		buf_add(out, i ? ", " : "");
		add_value(out, member);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach((json_t *)value, name, member)
	{
		if (says_nothing(member))
			continue;
		buf_addf(out, "%s%s ", out->len ? ", " : "", name);
		add_value(out, member);
	}
}

static void add_members(struct buf *out, const json_t *object)
{
	json_t *value;
	const char *name;

	json_object_foreach((json_t *)object, name, value)
	{
		CLEANUP(buf_release) struct buf text = {};

		if (says_nothing(value))
			continue;
		add_value(&text, value);
		add_fact(out, name, buf_str(&text));
	}
}

static void add_details(const struct export_run *x, struct buf *out)
{
	const struct stored_run *r = &x->run;
	json_t *plan = r->plan ? json_loads(r->plan, 0, NULL) : NULL;
	json_t *opened = r->opened ? json_loads(r->opened, 0, NULL) : NULL;

	buf_add(out, "<h2>Details</h2>\n<table>\n");
	add_fact(out, "run", r->uuid);
	if (r->description && strcmp(r->description, r->command ? r->command : ""))
		add_fact(out, "description", r->description);
	add_fact(out, "note", r->note);
	add_fact(out, "error", r->error);
	add_members(out, plan);
	add_members(out, json_object_get(opened, "environment"));
	buf_add(out, "</table>\n");
	json_decref(plan);
	json_decref(opened);
}

static void add_entry(void *ctx, const struct ledger_entry *entry)
{
	struct buf *out = ctx;

	if (!entry->sentence)
		return;
	buf_add(out, "<li>");
	add_escaped(out, entry->sentence);
	buf_add(out, "</li>\n");
}

static void add_ledger(const struct export_run *x, struct buf *out)
{
	json_t *ledger = x->run.ledger ? json_loads(x->run.ledger, 0, NULL) : NULL;
	const struct ledger_run about = ledger_run_of(&x->run);

	if (json_object_size(ledger)) {
		buf_add(out, "<h2>Ledger</h2>\n<ul>\n");
		ledger_words(ledger, &about, add_entry, out);
		buf_add(out, "</ul>\n");
	}
	json_decref(ledger);
}

static int write_html(struct export_run *x, const struct http_request *r, struct export_target *t,
		      struct err *e)
{
	int rc;

	add_head(x, &t->out.buf);
	rc = add_flame(x, r, &t->out, e);
	if (rc == 0)
		rc = add_counters(x, &t->out, e);
	add_ledger(x, &t->out.buf);
	add_details(x, &t->out.buf);
	buf_addf(&t->out.buf, "<p class=\"facts\">tacho %s</p>\n</body>\n</html>\n", TACHO_VERSION);
	return rc;
}

const struct export_format format_html = {
	.extension = "html",
	.type = "text/html; charset=utf-8",
	/* We serve the report, and it runs scripts: these must not be able to send us requests. */
	.policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
		  "img-src data:; frame-src data:; sandbox allow-scripts; frame-ancestors 'none'",
	.shown = true,
	.write = write_html,
};
