#include "server/server.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "bus/bus.h"
#include "server/api/api.h"
#include "server/emap.h"
#include "runs/live/live.h"
#include "query/run_cache.h"
#include "runs/runs.h"
#include "runs/tidy.h"
#include "server/users.h"
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HTTP_TIMEOUT_S  30
#define WORKERS_MIN     4
#define WORKERS_MAX     16
#define LOCK_FILE       "server.lock"
#define LOCK_FILE_BYTES 4096
#define SERVER_ID_BYTES 8
/* See base/reserve.h. A piece of an answer is less than this, and so is what a table grows by. */
#define RESERVE_BYTES (64u << 20)

/* ---- the data directory ---- */

/* Returns -EBUSY, with the owner of the lock as sign_lock() has written it. */
static int is_locked(const struct directory *d, struct err *e)
{
	CLEANUP(free_ptr) char *owner = NULL;

	directory_read(d, LOCK_FILE, LOCK_FILE_BYTES, &owner, NULL);
	return err_set(e, EBUSY,
		       "another server has the data directory: %s; end that one, or name another "
		       "directory with --data DIR",
		       owner && *owner ? owner : d->path);
}

static int lock_directory(struct server *s, const struct directory *d, struct err *e)
{
	int fd = directory_open_file(d, LOCK_FILE, O_RDWR | O_CREAT, e);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return is_locked(d, e);
	}
	s->lock_fd = fd;
	return 0;
}

/* Writes our pid and address into the lock file, for the message of is_locked(). */
static void sign_lock(const struct server *s)
{
	CLEANUP(free_ptr) char *text = xasprintf("process %d at %s\n", (int)getpid(), s->url);
	size_t len = strlen(text);

	if (ftruncate(s->lock_fd, 0) || pwrite(s->lock_fd, text, len, 0) != (ssize_t)len)
		return; /* harmless: the message then shows the path */
}

/* ---- users and access ---- */

/* Cookies are shared by all ports of a host, so each server has its own cookie name. */
static int name_cookie(struct server *s, struct store *store, struct err *e)
{
	CLEANUP(free_ptr) char *id = NULL;
	char fresh[UUID_BYTES];
	int rc = store_setting_get(store, "server-id", &id, e);

	if (rc == -ENOENT) {
		uuid_make(fresh);
		fresh[SERVER_ID_BYTES] = '\0';
		rc = store_setting_put(store, "server-id", fresh, e);
		id = xstrdup(fresh);
	}
	snprintf(s->cookie, sizeof(s->cookie), "tacho_%.8s", id ? id : "");
	return rc;
}

static int prepare_users(struct server *s, struct err *e)
{
	struct store_options o = {.directory = s->config.data};
	struct store *store = NULL;
	int rc = store_open(&store, &o, e);

	if (rc == 0)
		rc = name_cookie(s, store, e);
	if (rc == 0)
		rc = run_as_remember(store, &s->run_as, e);
	if (rc == 0)
		rc = users_admin(store, s->token, e);
	if (rc == 0)
		rc = users_wanted(store, &s->config, &s->run_as, e);
	store_close(store);
	return rc;
}

static void make_notices(struct server *s)
{
	struct buf text = {};
	unsigned removed = users_remove_files(s->config.data);

	run_as_describe(&s->run_as, &text);
	vec_push(&s->notices, buf_steal(&text));
	if (removed)
		vec_push(&s->notices,
			 xasprintf("%u files with tokens, which runs could read, were removed from "
				   "'%s/tokens'. Their tokens are still valid: 'tacho users token "
				   "NAME' replaces one.",
				   removed, s->config.data));
}

/* Opens the worker's connection, also if that failed before: the database may have been locked then. */
static int open_store(struct api *a, struct err *e)
{
	const struct store_options o = {.directory = a->server->config.data};

	return a->store ? 0 : store_open(&a->store, &o, e);
}

static int find_user(struct api *a, const struct http_credential *c, struct identity *ret,
		     struct err *e)
{
	struct stored_user user = {};
	char hash[TOKEN_HASH_BYTES];
	int rc;

	token_hash(c->text, hash);
	rc = c->kind == CREDENTIAL_COOKIE
		     ? store_user_by_login(a->store, hash, clock_wall_ms(a->server->host.clock),
					   &user, e)
		     : store_user_by_hash(a->store, hash, &user, e);
	if (rc < 0)
		return rc;
	*ret = (struct identity){.id = user.id, .role = (enum user_role)user.role};
	snprintf(ret->name, sizeof(ret->name), "%s", user.name);
	stored_user_release(&user);
	/* Given while the server ran as somebody else. */
	if (run_as_allows(a->server->run_as.kind, ret->role, NULL) < 0) {
		ret->role = ROLE_LOOK;
		ret->limited = "The role 'run' was lowered, because runs have the rights of root: "
			       "start the server with --run-as USER, who is not root.";
	}
	return 0;
}

static int identify(void *worker, const struct http_credential *c, struct identity *ret,
		    struct err *e)
{
	struct api *a = worker;
	int rc;

	if (c->kind == CREDENTIAL_NONE && !a->server->config.no_token)
		return -ENOENT;
	rc = open_store(a, e);
	if (rc < 0)
		return rc == -ENOENT ? -EIO : rc; /* -ENOENT would be that nobody has this token */
	switch (c->kind) {
	case CREDENTIAL_OWNER:
		*ret = (struct identity){.name = USERS_ADMIN, .role = ROLE_ADMIN};
		return 0;
	case CREDENTIAL_NONE:
		*ret = (struct identity){.name = "anybody", .role = ROLE_ADMIN};
		return 0;
	case CREDENTIAL_TOKEN:
	case CREDENTIAL_COOKIE:
		break;
	}
	return find_user(a, c, ret, e);
}

static int log_in(void *worker, const struct identity *user, char ret_cookie[TOKEN_BYTES],
		  struct err *e)
{
	struct api *a = worker;
	int64_t now_ms = clock_wall_ms(a->server->host.clock);
	char hash[TOKEN_HASH_BYTES];

	token_make(ret_cookie);
	token_hash(ret_cookie, hash);
	return store_login_add(a->store, user->id, hash, now_ms,
			       now_ms + HTTP_COOKIE_DAYS * 86400000LL, e);
}

/* ---- the HTTP server ---- */

static void *worker_new(void *ctx)
{
	struct api *a = xcalloc(1, sizeof(*a));

	a->server = ctx;
	open_store(a, NULL);
	return a;
}

static void worker_free(void *worker)
{
	struct api *a = worker;

	store_close(a->store);
	free(a);
}

/* Every connection needs a descriptor. Workloads get the original limit: see runs/collector.c. */
static void raise_file_limit(struct server *s)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	s->host.settings.files_soft = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static unsigned worker_count(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	/* One more, as one is left to quick requests. */
	return 1 + (cpus < WORKERS_MIN   ? WORKERS_MIN
		    : cpus > WORKERS_MAX ? WORKERS_MAX
					 : (unsigned)cpus);
}

static char *make_url(const struct server *s, const char *host, uint16_t port)
{
	const struct server_config *c = &s->config;
	bool any = !strcmp(host, "0.0.0.0") || !strcmp(host, "::");
	const char *shown = any && c->allow_hosts.len ? c->allow_hosts.items[0]
			    : any                     ? "127.0.0.1"
						      : host;
	bool six = strchr(shown, ':') != NULL;

	return xasprintf("%s://%s%s%s:%u", c->tls_cert ? "https" : "http", six ? "[" : "", shown,
			 six ? "]" : "", port);
}

static int upload_room(void *worker, uint64_t bytes, struct err *e)
{
	struct api *a = worker;

	return runs_upload_room(a->server->host.runs, a->store, bytes, e);
}

static int start_http(struct server *s, struct err *e)
{
	const struct server_config *c = &s->config;
	CLEANUP(free_ptr) char *host = NULL, *upload = xasprintf("%s/upload", c->data);
	struct http_options o = {
		.socket_directory = c->data,
		.cert_path = c->tls_cert,
		.key_path = c->tls_key,
		.allowed_hosts = c->allow_hosts,
		.allow_from = c->allow_from,
		.tables = api_tables,
		.workers = worker_count(),
		.worker_new = worker_new,
		.worker_free = worker_free,
		.identify = identify,
		.log_in = log_in,
		.upload_dir = upload,
		.upload_bytes_max = c->upload_bytes,
		.upload_room = upload_room,
		.body_bytes_max = c->body_bytes,
		.connections_max = c->connections,
		.connections_per_address_max = c->connections_per_address,
		.timeout_s = HTTP_TIMEOUT_S,
		.cookie_name = s->cookie,
		.bus = s->host.bus,
		.ctx = s,
	};
	int rc = config_address(c->listen, &host, &o.port, e);

	o.host = host;
	if (rc == 0)
		rc = http_server_start(&s->http, &o, e);
	if (rc < 0 || !host)
		return rc;
	s->url = make_url(s, host, http_server_port(s->http));
	sign_lock(s);
	return 0;
}

/* ---- start and stop ---- */

/* The database is checked where it is opened, in the store. */
static int check_directory(const struct directory *d, struct err *e)
{
	static const char *const below[] = {"raw", "spill", "upload"};
	int rc = directory_check_file(d, "admin-token", e);

	if (rc == 0)
		rc = directory_check_files(d, "tokens", e);
	for (size_t i = 0; i < ARRAY_LEN(below) && rc == 0; i++) {
		CLEANUP(directory_close) struct directory sub = {.fd = -1};

		rc = directory_open_below(&sub, d, below[i], true, e);
	}
	return rc;
}

static int prepare_directory(struct server *s, struct err *e)
{
	CLEANUP(directory_close) struct directory d = {.fd = -1};
	int rc = directory_open(&d, s->config.data, true, e);

	if (rc == 0)
		rc = lock_directory(s, &d, e);
	return rc < 0 ? rc : check_directory(&d, e);
}

static struct run_settings run_settings(const struct server *s)
{
	const struct server_config *c = &s->config;

	return (struct run_settings){
		.data = c->data,
		.private = s->private,
		.quota_bytes = c->quota_bytes,
		.keep_s = c->keep_s,
		.keep_bytes = c->keep_bytes,
		.output_bytes = c->output_bytes,
		.queue_max = c->queue_max,
		.running_max = c->running_max,
		.default_modifiers = &c->default_modifiers,
		.run_as = run_as_rights(&s->run_as, ROLE_ADMIN).user,
		.unrestricted_role = s->run_as.kind != RUN_AS_SAME && !c->no_token ? ROLE_ADMIN : 0,
	};
}

static void *json_room(size_t bytes)
{
	return xrealloc(NULL, bytes, 1);
}

void server_begin_memory(void)
{
	reserve_begin(RESERVE_BYTES);
	/* Without memory, jansson would say that a text is no JSON. */
	json_set_alloc_funcs(json_room, free);
}

int server_start(struct server *s, struct err *e)
{
	int rc;

	s->lock_fd = -1;
	s->host.clock = &system_clock;
	s->started_ns = clock_monotonic_ns(s->host.clock);
	server_begin_memory();
	rc = config_check_safety(&s->config, e);
	if (rc == 0)
		rc = run_as_choose(&s->config, &s->run_as, e);
	s->host.settings = run_settings(s);
	if (rc == 0)
		rc = prepare_directory(s, e);
	if (rc == 0)
		rc = prepare_users(s, e);
	if (rc < 0)
		return rc;
	make_notices(s);
	raise_file_limit(s);
	s->host.bus = bus_new(s->host.clock);
	s->host.live = live_new(&s->host);
	s->emap = emap_new();
	s->cache = run_cache_new(s->config.cache_bytes);
	rc = runs_prepare(&s->host.runs, &s->host, e);
	if (rc == 0)
		rc = tidy_start(&s->host, e);
	if (rc == 0)
		rc = runs_begin(s->host.runs, e);
	return rc < 0 ? rc : start_http(s, e);
}

void server_stop(struct server *s)
{
	/* Stop requests first, then the working threads, then free what they use. */
	if (s->http)
		http_server_stop(s->http);
	tidy_stop(&s->host);
	runs_stop(s->host.runs);
	/* It only reads the database: a connection that writes has to be closed last, because only
	 * that takes the log into the file. */
	if (s->host.live)
		live_free(s->host.live);
	tidy_free(&s->host); /* runs call tidy_kick() until runs_stop() */
	if (s->cache)
		run_cache_free(s->cache);
	if (s->emap)
		emap_free(s->emap);
	if (s->host.bus)
		bus_free(s->host.bus);
	strvec_release(&s->host.notices);
	free(s->url);
	strvec_release(&s->notices);
	run_as_release(&s->run_as);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = -1;
}
