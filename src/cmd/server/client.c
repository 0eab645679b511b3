#include "cmd/server/client.h"
#include "base/clock.h"
#include "base/term.h"
#include "base/text.h"
#include "server/config.h"
#include "server/local.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOCAL_URL       "http://localhost"
#define TOKEN_BYTES_MAX 4096
#define PAGE            "200"
#define PAGES_MAX       200u
#define DURATION_S_MAX  1e12

/* ---- which server ---- */

/* Splits an address as the server prints it, "http://host:5000/?token=abc". */
static void split_url(const char *text, char **ret_url, char **ret_token)
{
	const char *query = strchr(text, '?'), *token = query ? strstr(query, "token=") : NULL;
	size_t len = query ? (size_t)(query - text) : strlen(text);

	while (len && text[len - 1] == '/')
		len--;
	*ret_url = xstrndup(text, len);
	*ret_token = token ? xstrndup(token + 6, strcspn(token + 6, "&#")) : NULL;
}

static int token_from_file(const char *path, char **ret, struct err *e)
{
	int r = fs_read(path, TOKEN_BYTES_MAX, ret);

	return r < 0 ? err_set(e, -r, "cannot read the token in '%s': %s", path, strerror(-r)) : 0;
}

static bool is_directory_name(const char *server)
{
	return *server == '/' || *server == '.';
}

/* A variable of the environment; NULL also if it is empty. */
static const char *variable(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

/* Whether TACHO_TOKEN is for the server that was named: it is not if the environment names another. */
static bool is_for(const char *server)
{
	const char *of_token = variable("TACHO_SERVER");

	return !of_token || !server || !strcmp(server, of_token) ||
	       client_url_same_server(server, of_token);
}

/* A token that the user has given, in whatever way; *ret NULL: none. */
static int given_token(const struct client_server_options *o, const char *server, char **token,
		       struct err *e)
{
	const char *from_environment = variable("TACHO_TOKEN");

	if (o->token_file) {
		free_ptr(token);
		*token = NULL;
		return token_from_file(o->token_file, token, e);
	}
	if (!*token && from_environment && is_for(server))
		*token = xstrdup(from_environment);
	return 0;
}

/*
 * Our own server is asked by the socket in its data directory: whoever listens on its port may be
 * somebody else by now. It needs no token from us, but takes one. Any other server is asked without a
 * token, and says that it needs one. @server NULL: none was named.
 */
static int choose_own(struct connection *c, const char *server, struct err *e)
{
	CLEANUP(free_ptr) char *own_url = NULL;

	if (server && is_directory_name(server)) {
		c->directory = xstrdup(server);
	} else {
		CLEANUP(config_release) struct server_config config = {};
		int r = config_load(&config, &(config_options){}, NULL, e);

		if (r < 0)
			return r;
		c->directory = xstrdup(config.data);
	}
	own_url = local_server_url(c->directory);
	if (server && !is_directory_name(server) &&
	    !(own_url && client_url_same_server(server, own_url))) {
		free_ptr(&c->directory);
		c->directory = NULL;
		return 0;
	}
	free_ptr(&c->url);
	c->url = own_url ? own_url : xstrdup(LOCAL_URL);
	own_url = NULL;
	return 0;
}

static int open_client(struct connection *c, const char *token, const char *ca, struct err *e)
{
	/* The host is not looked up: it only has to be one that the server knows. */
	CLEANUP(free_ptr) char *base = xasprintf("%s/api/v1", c->directory ? LOCAL_URL : c->url);
	struct client_options o = {.url = base, .ca_path = ca, .socket_directory = c->directory};
	int r;

	o.token = token ? token : "";
	r = client_new(&c->client, &o, e);
	if (r == -ENOENT && c->directory) {
		e->code = ECONNREFUSED;
		r = connection_explain(c, e);
	}
	return r;
}

int connection_open(struct connection *c, const struct client_server_options *o, struct err *e)
{
	const char *given = o->server && *o->server ? o->server : variable("TACHO_SERVER");
	CLEANUP(free_ptr) char *token = NULL;
	int r;

	*c = (struct connection){};
	split_url(given ? given : "", &c->url, &token);
	r = given_token(o, given, &token, e);
	/* A token goes to no port that was not named with it. */
	if (r == 0 && (!token || !given || is_directory_name(c->url)))
		r = choose_own(c, given, e);
	c->unnamed_token = token && !given;
	if (r == 0)
		c->local = c->directory || client_url_is_local(c->url);
	if (r == 0)
		r = open_client(c, token, o->ca, e);
	if (r < 0)
		connection_close(c);
	return r;
}

int connection_open_status(const struct err *e)
{
	return e->code == ECONNREFUSED || e->code == EPERM ? EXIT_FAILED : EXIT_USAGE;
}

void connection_close(struct connection *c)
{
	client_free(c->client);
	free(c->url);
	free(c->directory);
	*c = (struct connection){};
}

int connection_explain(const struct connection *c, struct err *e)
{
	switch (e->code) {
	case ECONNREFUSED:
	case EHOSTUNREACH:
		if (c->directory && c->unnamed_token)
			return err_set(
				e, e->code,
				"there is a token, but no server is named that it is for, and no "
				"server of your own has the data directory '%s': name the server "
				"with --server or TACHO_SERVER",
				c->directory);
		if (c->directory)
			return err_set(
				e, e->code,
				"no server has the data directory '%s': start one with 'tacho "
				"serve', or name another with --server or TACHO_SERVER",
				c->directory);
		return err_set(e, e->code,
			       "no server answers at %s: start one with 'tacho serve', or name "
			       "another with --server or TACHO_SERVER",
			       c->url);
	case EACCES:
		return err_set(
			e, EACCES,
			"the server at %s needs a token, or rejected the one that it got: set "
			"--token-file or TACHO_TOKEN, or give --server the whole address that "
			"'tacho serve' prints",
			c->url);
	default:
		return -e->code;
	}
}

int connection_json(struct connection *c, const char *method, const json_t *body, json_t **ret,
		    struct err *e, const char *path, ...)
{
	CLEANUP(buf_release) struct buf text = {};
	va_list ap;
	int r;

	va_start(ap, path);
	buf_addv(&text, path, ap);
	va_end(ap);
	r = client_json(c->client, method, buf_str(&text), body, ret, e);
	return r < 0 ? connection_explain(c, e) : 0;
}

/* ---- by name ---- */

/* Called for each item, the newest first. Returns false to stop. */
typedef bool found(void *ctx, json_t *item);

static int each_of(struct connection *c, const char *path, const char *list, found *item, void *ctx,
		   struct err *e)
{
	CLEANUP(free_ptr) char *before = NULL;

	for (unsigned pages = 0; pages < PAGES_MAX; pages++) {
		json_t *page = NULL, *one;
		const json_t *next;
		size_t i;
		int r = connection_json(c, "GET", NULL, &page, e, "%s?limit=" PAGE "%s%s", path,
					before ? "&before=" : "", before ? before : "");

		if (r < 0)
			return r;
		json_array_foreach(json_object_get(page, list), i, one) if (!item(ctx, one))
		{
			json_decref(page);
			return 0;
		}
		next = json_object_get(page, "next");
		free_ptr(&before);
		before = json_is_string(next) ? xstrdup(json_string_value(next))
			 : json_is_integer(next)
				 ? xasprintf("%lld", (long long)json_integer_value(next))
				 : NULL;
		json_decref(page);
		if (!before)
			break;
	}
	return 0;
}

struct search {
	const char *name;
	json_t *found;
	unsigned count;
	bool exact;
};

static bool match_run(void *ctx, json_t *run)
{
	struct search *s = ctx;

	if (!strcmp(s->name, "last")) {
		s->found = json_incref(run);
		s->count = 1;
		return false;
	}
	if (strncmp(member_text(run, "uuid"), s->name, strlen(s->name)))
		return true;
	if (!s->count++)
		s->found = json_incref(run);
	return s->count < 2;
}

#define UUID_CHARACTERS 36

static bool is_uuid(const char *text)
{
	return strlen(text) == UUID_CHARACTERS &&
	       strspn(text, "0123456789abcdef-") == UUID_CHARACTERS;
}

int connection_check_id(const struct connection *c, json_t **object, struct err *e)
{
	if (is_uuid(member_text(*object, "uuid")))
		return 0;
	json_decref(*object);
	*object = NULL;
	return err_set(e, EBADMSG, "%s does not answer as a tacho server would", c->url);
}

int connection_find_run(struct connection *c, const char *name, json_t **ret, struct err *e)
{
	struct search s = {.name = name};
	int r;

	if (is_uuid(name)) {
		r = connection_json(c, "GET", NULL, ret, e, "benchmark/%s.json", name);
		return r < 0 ? r : connection_check_id(c, ret, e);
	}
	r = *name ? each_of(c, "benchmarks", "runs", match_run, &s, e) : 0;
	if (r == 0 && !s.count)
		r = !strcmp(name, "last")
			    ? err_set(e, ENOENT, "there are no runs yet")
			    : err_set(e, ENOENT, "there is no run '%s': see tacho ls", name);
	else if (r == 0 && s.count > 1)
		r = err_set(e, EINVAL, "several runs begin with '%s': write more of the id", name);
	if (r == 0)
		r = connection_check_id(c, &s.found, e);
	/* A list leaves some members out: get the whole run. */
	if (r == 0)
		r = connection_json(c, "GET", NULL, ret, e, "benchmark/%s.json",
				    member_text(s.found, "uuid"));
	if (r == 0)
		r = connection_check_id(c, ret, e);
	json_decref(s.found);
	return r;
}

static bool match_session(void *ctx, json_t *session)
{
	struct search *s = ctx;
	const char *title = member_text(session, "title"), *uuid = member_text(session, "uuid");

	s->exact = !strcmp(title, s->name) || !strcmp(uuid, s->name);
	if (s->exact) {
		json_decref(s->found);
		s->found = json_incref(session);
		s->count = 1;
		return false;
	}
	if (!strncmp(title, s->name, strlen(s->name)) || !strncmp(uuid, s->name, strlen(s->name)))
		if (!s->count++)
			s->found = json_incref(session);
	return true;
}

int connection_find_session(struct connection *c, const char *name, bool make, json_t **ret,
			    struct err *e)
{
	struct search s = {.name = name};
	int r = each_of(c, "sessions", "sessions", match_session, &s, e);

	if (r == 0 && make && !s.exact) {
		json_t *body = json_pack("{s:s}", "title", name);

		json_decref(s.found);
		if (!body)
			return err_set(e, EINVAL, "the title of a session is text in UTF-8");
		r = connection_json(c, "POST", body, ret, e, "sessions");
		json_decref(body);
		return r < 0 ? r : connection_check_id(c, ret, e);
	}
	if (r == 0 && s.count == 1) {
		*ret = s.found;
		return connection_check_id(c, ret, e);
	}
	json_decref(s.found);
	if (r < 0)
		return r;
	return s.count ? err_set(e, EINVAL, "several sessions begin with '%s'", name)
		       : err_set(e, ENOENT, "there is no session '%s': see tacho ls --sessions",
				 name);
}

/* ---- showing ---- */

const char *member_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

double member_number(const json_t *object, const char *name, double otherwise)
{
	const json_t *value = json_object_get(object, name);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

bool run_has_ended(const json_t *run)
{
	const char *state = member_text(run, "state");

	return *state && strcmp(state, "queued") && strcmp(state, "running");
}

void add_text(struct buf *out, const char *text)
{
	text_add_printable(out, text);
}

static bool parse_iso(const char *iso, double *ret_s)
{
	struct tm tm = {};
	const char *rest = strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm);

	if (!rest)
		return false;
	*ret_s = (double)timegm(&tm) + (*rest == '.' ? strtod(rest, NULL) : 0);
	return true;
}

void add_when(struct buf *out, const char *iso)
{
	time_t now = time(NULL), then;
	struct tm today, day;
	char text[32];
	double s;

	if (!parse_iso(iso, &s))
		return;
	then = (time_t)s;
	localtime_r(&now, &today);
	localtime_r(&then, &day);
	strftime(text, sizeof(text),
		 today.tm_year == day.tm_year && today.tm_yday == day.tm_yday ? "%H:%M:%S"
									      : "%Y-%m-%d %H:%M",
		 &day);
	buf_add(out, text);
}

double seconds_between(const char *from, const char *to)
{
	double begin, end;

	if (!parse_iso(from, &begin))
		return -1;
	if (!parse_iso(to, &end))
		end = (double)clock_ns_of(CLOCK_REALTIME) / NS_PER_SEC;
	return end > begin ? end - begin : 0;
}

void add_duration(struct buf *out, double seconds)
{
	unsigned long s;

	/* Not known, or not a time that a server measures. */
	if (!(seconds >= 0 && seconds < DURATION_S_MAX))
		return;
	s = (unsigned long)seconds;
	if (seconds < 60)
		buf_addf(out, "%.*f s", seconds < 10 ? 2 : 1, seconds);
	else if (s < 3600)
		buf_addf(out, "%lu min %lu s", s / 60, s % 60);
	else
		buf_addf(out, "%lu h %lu min", s / 3600, s / 60 % 60);
}

const char *state_colour(const struct term *t, const char *state)
{
	return !strcmp(state, "done")      ? t->green
	       : !strcmp(state, "running") ? t->blue
	       : !strcmp(state, "failed")  ? t->red
	       : !strcmp(state, "queued")  ? t->dim
					   : t->yellow;
}
