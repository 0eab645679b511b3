/* A plain page: sessions and runs with links to their files. It has no script, so that it works in
 * any browser, and everything that is shown of others is escaped. */
#include "server/api.h"
#include "export/svg.h"
#include "server/runs.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define SESSIONS_SHOWN 20
#define RUNS_SHOWN     10

static const char *const css_lines[] = {
#include "page_css.inc"
};

static void text(struct buf *out, const char *s)
{
	svg_add_escaped(out, s ? s : "");
}

static void add_when(struct buf *out, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm utc;
	char shown[40] = "";

	if (ms > 0 && gmtime_r(&seconds, &utc))
		strftime(shown, sizeof(shown), "%Y-%m-%d %H:%M UTC", &utc);
	buf_add(out, shown);
}

static void add_files(struct buf *out, const struct stored_run *r)
{
	static const char *const formats[] = {"html", "svg",    "json", "csv",
					      "h5",   "folded", "data", "log"};

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		buf_addf(out, "%s<a href=\"" API_PREFIX "/benchmark/%s.%s\">%s</a>", i ? " " : "",
			 r->uuid, formats[i], formats[i]);
}

/* What it is called, and what is executed if that is something else. */
static void add_what(struct buf *out, const struct stored_run *r)
{
	const char *command = r->command ? r->command : "";
	bool named = r->description && r->description[0] && strcmp(r->description, command);

	if (named) {
		text(out, r->description);
		buf_add(out, "<small>");
	}
	buf_add(out, "<code>");
	text(out, command);
	buf_add(out, named ? "</code></small>" : "</code>");
}

static void add_run(struct buf *out, const struct stored_run *r)
{
	const char *state = run_state_name(r->state);

	buf_addf(out, "<tr><td class=\"%s\">%s</td><td>", state, state);
	add_what(out, r);
	if (r->error) {
		buf_add(out, "<small class=\"failed\">");
		text(out, r->error);
		buf_add(out, "</small>");
	}
	buf_add(out, "</td><td>");
	text(out, r->user);
	buf_add(out, "<small>");
	add_when(out, r->created_ms);
	buf_add(out, "</small></td><td class=\"n\">");
	if (r->started_ms && r->ended_ms)
		buf_addf(out, "%.1f s", (double)(r->ended_ms - r->started_ms) / 1000);
	buf_add(out, "</td><td class=\"n\">");
	buf_add_grouped(out, (uint64_t)r->samples, 0);
	buf_add(out, "</td><td>");
	add_files(out, r);
	buf_add(out, "</td></tr>\n");
}

/* @limit runs of a session; more of them are one page away. */
static int add_session(struct api *a, struct buf *out, const struct stored_session *s,
		       const struct page *page, bool whole, struct err *e)
{
	stored_runs runs = {};
	int rc = store_runs(a->store, s->id, page, &runs, e);

	if (rc < 0)
		return rc;
	buf_addf(out, "<section><div><h2><a href=\"/?session=%s\">", s->uuid);
	text(out, s->title);
	buf_add(out, "</a></h2><span>");
	add_when(out, s->created_ms);
	buf_addf(out,
		 "</span><span>%u runs</span><a href=\"" API_PREFIX "/session/%s\">json</a> "
		 "<a href=\"" API_PREFIX "/session/%s.h5\">h5</a></div>\n",
		 s->runs, s->uuid, s->uuid);
	if (runs.len)
		buf_add(out, "<table><tr><th>state</th><th>what</th><th>who and when</th>"
			     "<th>took</th><th>samples</th><th>files</th></tr>\n");
	vec_each(&runs, run)
		add_run(out, run);
	buf_add(out, runs.len ? "</table>" : "<p>No runs yet.</p>");
	if (runs.len == page->limit && runs.len && whole)
		buf_addf(out, "<p><a href=\"/?session=%s&amp;before=%lld\">older runs</a></p>",
			 s->uuid, (long long)runs.items[runs.len - 1].id);
	else if (runs.len < s->runs && !whole)
		buf_addf(out, "<p><a href=\"/?session=%s\">all %u runs</a></p>", s->uuid, s->runs);
	buf_add(out, "</section>\n");
	stored_runs_release(&runs);
	return 0;
}

static int add_sessions(struct api *a, struct buf *out, struct page *page, struct err *e)
{
	const struct page newest = {.limit = RUNS_SHOWN};
	stored_sessions sessions = {};
	int rc;

	page->limit = SESSIONS_SHOWN + 1;
	rc = store_sessions(a->store, page, &sessions, e);
	for (size_t i = 0; rc == 0 && i < sessions.len && i < SESSIONS_SHOWN; i++)
		rc = add_session(a, out, &sessions.items[i], &newest, false, e);
	if (rc == 0 && !sessions.len)
		buf_add(out, "<section><p>Nothing was measured yet. <code>tacho run COMMAND</code> "
			     "measures a program here.</p></section>\n");
	if (rc == 0 && sessions.len > SESSIONS_SHOWN)
		buf_addf(out, "<nav><a href=\"/?before=%lld\">older sessions</a></nav>\n",
			 (long long)sessions.items[SESSIONS_SHOWN - 1].id);
	stored_sessions_release(&sessions);
	return rc;
}

static int add_one_session(struct api *a, struct buf *out, const char *uuid,
			   const struct page *page, struct err *e)
{
	CLEANUP(stored_session_release) struct stored_session s = {};
	int rc = api_session_find(a, uuid, &s, e);

	return rc < 0 ? rc : add_session(a, out, &s, page, true, e);
}

static void add_head(struct api *a, struct buf *out)
{
	struct runs_counts counts = {};

	runs_counts(a->server->runs, &counts);
	buf_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		     "<title>tacho</title>"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		     "<link rel=\"stylesheet\" href=\"/page.css\">");
	/* What runs changes; there is no script that would tell. */
	if (counts.running || counts.queued)
		buf_add(out, "<meta http-equiv=\"refresh\" content=\"5\">");
	buf_addf(
		out,
		"</head><body><header><h1><a href=\"/\">tacho</a></h1><p>Where do programs on this "
		"machine spend their time? Runs that were measured, with their files. %u running, "
		"%u waiting. The <a href=\"" API_PREFIX "/openapi.json\">API</a> can do more.</p>"
		"</header>\n<main>\n",
		counts.running, counts.queued);
}

/* The address of a run for people: what it shows is the report. */
static int lead_to_run(struct api *a, const char *uuid, struct http_reply *reply, struct err *e)
{
	CLEANUP(stored_run_release) struct stored_run run = {};
	int rc = api_run_find(a, uuid, &run, e);

	if (rc < 0)
		return rc;
	reply->status = 303;
	reply->type = "text/html; charset=utf-8";
	http_reply_header(reply, "Location", API_PREFIX "/benchmark/%s.html", run.uuid);
	return 0;
}

static int page(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	static const char *const params[] = {"session", "run", "before", NULL};
	struct api *a = worker;
	const char *uuid = http_query(r, "session"), *run = http_query(r, "run");
	struct page page = {};
	int rc = api_page_known(r, params, &page, e);

	if (rc < 0)
		return rc;
	if (run)
		return lead_to_run(a, run, reply, e);
	add_head(a, &reply->body);
	rc = uuid ? add_one_session(a, &reply->body, uuid, &page, e)
		  : add_sessions(a, &reply->body, &page, e);
	buf_add(&reply->body, "</main></body></html>\n");
	reply->type = "text/html; charset=utf-8";
	return rc;
}

static int page_css(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e)
{
	(void)worker;
	(void)r;
	(void)e;
	for (size_t i = 0; i < ARRAY_LEN(css_lines); i++)
		buf_add(&reply->body, css_lines[i]);
	reply->type = "text/css; charset=utf-8";
	reply->immutable = true;
	return 0;
}

const struct http_route page_routes[] = {
	{.method = "GET", .path = "/", .role = ROLE_LOOK, .handle = page},
	{.method = "GET", .path = "/page.css", .role = ROLE_LOOK, .handle = page_css},
	{},
};
