/* What can be measured here: events and processes. */
#include "server/api/api.h"
#include "server/emap.h"
#include "server/processes.h"

#include <errno.h>

static void event_json(struct json *j, const struct emap_event *event)
{
	jw_open(j, '{');
	jw_kv_str(j, "name", event->name);
	jw_kv_str(j, "alias", event->alias);
	jw_kv_str(j, "description", event->description);
	jw_kv_str(j, "group", event_kind_name(event->kind));
	jw_kv_str(j, "pmu", event->pmu);
	jw_kv_str(j, "unit", event->unit);
	jw_key(j, "available");
	event->available < 0 ? jw_null(j) : jw_bool(j, event->available);
	jw_kv_str(j, "reason", event->reason);
	jw_kv_u64(j, "used", event->used);
	jw_key(j, "masks");
	jw_raw(j, event->masks ? event->masks : "[]");
	jw_close(j, '}');
}

/* Writes a page of the matching events; the cursor is an index into the whole list. */
static void emap_json(struct json *j, const struct emap_list *list, const struct page *page,
		      int kind)
{
	size_t shown = 0, at;

	jw_open(j, '{');
	jw_key(j, "events");
	jw_open(j, '[');
	for (at = (size_t)page->before; at < list->events.len; at++) {
		const struct emap_event *event = &list->events.items[at];

		if ((kind >= 0 && (int)event->kind != kind) || !emap_matches(event, page->search))
			continue;
		if (shown++ == page->limit)
			break;
		event_json(j, event);
	}
	jw_close(j, ']');
	api_json_next(j, at < list->events.len ? (int64_t)at : 0);
	jw_key(j, "problems");
	jw_open(j, '[');
	vec_each(&list->problems, problem)
		jw_str(j, *problem);
	jw_close(j, ']');
	jw_close(j, '}');
}

static int get_emap(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e)
{
	static const char *const params[] = {"search", "group", "limit", "before", NULL};
	struct api *a = worker;
	struct json j = jw_to(&reply->body);
	const char *group = http_query(r, "group");
	enum event_kind kind = KIND_COUNT;
	struct emap_list *list;
	struct page page = {};
	int rc = api_page_known(r, params, &page, e);

	if (rc < 0)
		return rc;
	if (group && group[0] && !event_kind_find(group, &kind))
		return err_set(e, EINVAL,
			       "The parameter group is hw, sw, cache, pmu, tracepoint, sdt, probe "
			       "or raw.");
	list = emap_get(a->server->emap);
	emap_json(&j, list, &page, kind == KIND_COUNT ? -1 : (int)kind);
	emap_put(a->server->emap, list);
	return 0;
}

static void process_json(struct json *j, const struct process_row *row)
{
	jw_open(j, '{');
	jw_kv_u64(j, "pid", (uint64_t)row->pid);
	jw_kv_str(j, "command", row->command);
	jw_kv_str(j, "comm", row->comm);
	jw_kv_str(j, "user", row->user);
	jw_kv_u64(j, "threads", row->threads);
	jw_kv_double(j, "cpu_s", row->cpu_s);
	json_add_time(j, "started_at", row->started_ms);
	jw_kv_bool(j, "mine", row->mine);
	jw_close(j, '}');
}

static int get_processes(void *worker, const struct http_request *r, struct http_reply *reply,
			 struct err *e)
{
	static const char *const params[] = {"search", "limit", "before", NULL};
	struct json j = jw_to(&reply->body);
	process_rows rows = {};
	struct page page = {};
	struct api *a = worker;
	bool more;
	int rc = api_page_known(r, params, &page, e);

	if (rc < 0)
		return rc;
	if (page.before > INT32_MAX)
		return err_set(
			e, EINVAL,
			"Invalid value for 'before': use the 'next' value of the previous page.");
	processes_read(
		&(struct process_query){.search = page.search,
					.before = (int)page.before,
					.limit = page.limit,
					.mine = a->server->run_as.ids.uid,
					.viewer = run_as_viewer(&a->server->run_as, r->user->role)},
		&rows, &more);
	jw_open(&j, '{');
	jw_key(&j, "processes");
	jw_open(&j, '[');
	vec_each(&rows, row)
		process_json(&j, row);
	jw_close(&j, ']');
	api_json_next(&j, more && rows.len ? rows.items[rows.len - 1].pid : 0);
	jw_close(&j, '}');
	processes_release(&rows);
	return 0;
}

/*
 * Listing processes needs ROLE_RUN: command lines of other users may contain secrets, which whoever
 * may run programs here can read anyway, as far as /proc shows them to the user of these programs.
 */
const struct http_route machine_routes[] = {
	{.method = "GET",
	 .path = API_PREFIX "/emap",
	 .role = ROLE_LOOK,
	 .slow = true,
	 .handle = get_emap},
	{.method = "GET",
	 .path = API_PREFIX "/processes",
	 .role = ROLE_RUN,
	 .handle = get_processes},
	{},
};
