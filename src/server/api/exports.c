/* Downloads: benchmark/ID.FORMAT and session/ID.h5. */
#include "server/api/api.h"
#include "server/export/formats.h"

#include <errno.h>
#include <string.h>

#define TRIES          5    /* attempts: chunks may be merged while they are read */
#define WRITERS_MAX    3    /* concurrent exports; there are at least four workers */
#define SESSION_RUNS   1000 /* runs read from the store at once */
#define PARAMETERS_MAX 16
#define RUN            API_PREFIX "/benchmark/{id}"

static const struct export_format *const formats[] = {
	&format_csv,   &format_data, &format_folded, &format_h5, &format_html,
	&format_jsonl, &format_log,  &format_svg,    NULL,
};

static const struct export_format *format_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && formats[i]; i++)
		if (!strcmp(formats[i]->extension, dot + 1))
			return formats[i];
	return NULL;
}

static int check_parameters(const struct http_request *r, const struct export_format *f,
			    struct err *e)
{
	static const char *const selection[] = {SELECTION_PARAMS, NULL};
	const char *known[PARAMETERS_MAX] = {};
	size_t count = 0;

	for (size_t i = 0; !f->whole && selection[i]; i++)
		known[count++] = selection[i];
	for (size_t i = 0; f->parameters && f->parameters[i] && count + 1 < PARAMETERS_MAX; i++)
		known[count++] = f->parameters[i];
	return api_params_known(r, known, e);
}

static int write_once(struct api *a, const struct http_request *r, const struct export_format *f,
		      struct export_target *t, bool *ret_ended, struct err *e)
{
	struct export_run x;
	int rc = export_target_rewind(t, e);

	if (rc == 0)
		rc = export_run_open(&x, a, r->args[0], f->whole ? NULL : r, e);
	if (rc < 0)
		return rc;
	*ret_ended = export_run_ended(&x);
	rc = f->write(&x, r, t, e);
	if (rc == 0 || t->code)
		rc = export_target_flush(t, e);
	export_run_close(&x);
	return rc;
}

/* Transfers ownership of the file to @reply. */
static void hand_over(struct export_target *t, struct http_reply *reply, const char *type)
{
	reply->type = type;
	reply->fd = t->fd;
	t->fd = -1;
	if (t->lacks.len)
		http_reply_header(reply, "X-Tacho-Lacks", "%s", buf_str(&t->lacks));
}

/* Limits concurrent exports: a large one takes a worker for seconds, and requests need workers. */
static int enter(struct api *a, struct err *e)
{
	if (++a->server->exports <= WRITERS_MAX)
		return 0;
	--a->server->exports;
	return err_set(e, EAGAIN, "Other downloads are being prepared; try again in a moment.");
}

static void leave(struct api *a)
{
	--a->server->exports;
	/* The memory that the export used is not needed again soon. */
	alloc_give_back();
}

static int write_retrying(struct api *a, const struct http_request *r,
			  const struct export_format *f, struct export_target *t, bool *ret_ended,
			  struct err *e)
{
	int rc = -ESTALE;

	for (int i = 0; i < TRIES && rc == -ESTALE; i++)
		rc = write_once(a, r, f, t, ret_ended, e);
	return rc == -ESTALE ? err_set(e, EAGAIN,
				       "The run changes faster than it can be read; try "
				       "again.")
			     : rc;
}

static int export_run_as(void *worker, const struct http_request *r, struct http_reply *reply,
			 struct err *e)
{
	const struct export_format *f = format_of(r->path);
	CLEANUP(free_ptr) char *name = NULL;
	struct export_target t;
	bool ended = false;
	int rc;

	if (!f)
		return err_set(e, ENOENT, "There is no such format.");
	rc = check_parameters(r, f, e);
	if (rc == 0 && !f->light)
		rc = enter(worker, e);
	if (rc < 0)
		return rc;
	rc = export_target_open(&t, worker, e);
	if (rc == 0)
		rc = write_retrying(worker, r, f, &t, &ended, e);
	if (!f->light)
		leave(worker);
	if (rc == 0) {
		reply->immutable = ended;
		hand_over(&t, reply, f->type);
		if (f->policy)
			http_reply_header(reply, "Content-Security-Policy", "%s", f->policy);
		name = xasprintf("%s.%s", r->args[0], f->extension);
		if (!f->shown)
			http_reply_file(reply, name);
	}
	export_target_close(&t);
	return rc;
}

/* ---- a whole session ---- */

static int runs_of(struct api *a, int64_t session, stored_runs *ret, struct err *e)
{
	struct page page = {.limit = SESSION_RUNS};

	for (;;) {
		stored_runs some = {};
		int rc = store_runs(a->store, session, &page, &some, e);
		bool more = some.len == SESSION_RUNS;

		vec_each(&some, run) {
			vec_push(ret, *run);
			page.before = run->id;
		}
		vec_release(&some);
		if (rc < 0 || !more)
			return rc;
	}
}

static int write_session(struct api *a, const stored_runs *runs, struct export_target *t,
			 struct err *e)
{
	int rc = export_target_open(t, a, e);

	if (rc < 0)
		return rc;
	rc = -ESTALE;
	for (int i = 0; i < TRIES && rc == -ESTALE; i++)
		rc = export_h5_session(a, runs, t, e);
	return rc == -ESTALE ? err_set(e, EAGAIN,
				       "The runs change faster than they can be read; "
				       "try again.")
			     : rc;
}

static int export_session(void *worker, const struct http_request *r, struct http_reply *reply,
			  struct err *e)
{
	static const char *const none[] = {NULL};
	CLEANUP(stored_session_release) struct stored_session session = {};
	CLEANUP(free_ptr) char *name = NULL;
	struct api *a = worker;
	struct export_target t;
	stored_runs runs = {};
	int rc = api_params_known(r, none, e);

	if (rc == 0)
		rc = api_session_find(a, r->args[0], &session, e);
	if (rc == 0)
		rc = runs_of(a, session.id, &runs, e);
	if (rc == 0)
		rc = enter(a, e);
	if (rc == 0) {
		rc = write_session(a, &runs, &t, e);
		leave(a);
		if (rc == 0) {
			hand_over(&t, reply, format_h5.type);
			name = xasprintf("%s.h5", session.uuid);
			http_reply_file(reply, name);
		}
		export_target_close(&t);
	}
	stored_runs_release(&runs);
	return rc;
}

#define ROUTE(format)                                                                              \
	{                                                                                          \
		.method = "GET", .path = RUN "." format, .role = ROLE_LOOK, .slow = true,          \
		.handle = export_run_as                                                            \
	}

const struct http_route export_routes[] = {
	ROUTE("csv"),
	ROUTE("jsonl"),
	ROUTE("h5"),
	ROUTE("data"),
	ROUTE("folded"),
	ROUTE("svg"),
	ROUTE("html"),
	ROUTE("log"),
	{.method = "GET",
	 .path = API_PREFIX "/session/{id}.h5",
	 .role = ROLE_LOOK,
	 .slow = true,
	 .handle = export_session},
	{},
};
