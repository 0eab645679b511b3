/* Start and end of the HTTP server. */
#include "net/http.h"

#include "net/http_internal.h"
#include "net/local_socket.h"

#include <errno.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FILES_KEPT_BACK 256 /* for the store, uploads and collectors */

/* Connections, while each may also need a file. */
static unsigned connections_possible(unsigned wanted)
{
	struct rlimit limit;
	rlim_t files = 1024;

	if (!getrlimit(RLIMIT_NOFILE, &limit))
		files = limit.rlim_cur;
	files = files > 2 * FILES_KEPT_BACK ? files - FILES_KEPT_BACK : files / 2;
	if (files > 1u << 20)
		files = 1u << 20;
	return wanted && wanted < files ? wanted : (unsigned)files;
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = ctx;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		const union MHD_ConnectionInfo *from =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		struct http_connection *c = xcalloc(1, sizeof(*c));
		int fd = info ? info->connect_fd : -1;
		bool first;

		*context = c;
		c->owner = local_socket_is(fd) && local_socket_peer_is_owner(fd);
		s->refused += guard_add(&s->guard, c, fd, from ? from->client_addr : NULL, &first);
		if (first)
			streams_wake(s);
	} else if (*context) {
		guard_remove(&s->guard, *context);
		free(*context);
		*context = NULL;
	}
}

/* Ours does it, once, for all of the target. */
static size_t leave_escaped(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx;
	(void)connection;
	return strlen(text);
}

/* @cert, @key: NULL without TLS. Takes ownership of @listen_fd if it returns 0. */
static int daemon_start(struct http_server *s, struct MHD_Daemon **ret, int listen_fd,
			const char *cert, const char *key, struct err *e)
{
	struct MHD_OptionItem options[20];
	size_t n = 0;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;

#define OPTION(option, number, pointer)                                                            \
	options[n++] = (struct MHD_OptionItem){option, number, pointer}
	OPTION(MHD_OPTION_LISTEN_SOCKET, listen_fd, NULL);
	OPTION(MHD_OPTION_CONNECTION_LIMIT, (intptr_t)s->guard.max, NULL);
	OPTION(MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)s->o.timeout_s, NULL);
	OPTION(MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_HEAD_BYTES_MAX, NULL);
	OPTION(MHD_OPTION_CONNECTION_MEMORY_INCREMENT, 4096, NULL);
	OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL);
	OPTION(MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL); /* blocked in all of our threads */
	OPTION(MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)exchange_new, s);
	OPTION(MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_escaped, NULL);
	OPTION(MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)exchange_completed, s);
	OPTION(MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, s);
	if (cert) {
		flags |= MHD_USE_TLS;
		OPTION(MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)cert);
		OPTION(MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key);
		OPTION(MHD_OPTION_HTTPS_PRIORITIES, 0,
		       (void *)"SECURE192:+SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
	}
	OPTION(MHD_OPTION_END, 0, NULL);
#undef OPTION
	*ret = MHD_start_daemon(flags, 0, NULL, NULL, exchange_handle, s, MHD_OPTION_ARRAY, options,
				MHD_OPTION_END);
	if (!*ret)
		return err_set(e, errno ? errno : EIO, "cannot start the HTTP server: %s",
			       errno ? strerror(errno) : "libmicrohttpd does not say why");
	return 0;
}

static struct http_server *server_new(const struct http_options *o)
{
	struct http_server *s = xcalloc(1, sizeof(*s));

	s->o = *o;
	if (!s->o.timeout_s)
		s->o.timeout_s = 30;
	s->upload_dir = xstrdup(o->upload_dir ? o->upload_dir : "/tmp");
	s->cookie_name = xstrdup(o->cookie_name ? o->cookie_name : "tacho");
	s->socket_directory = o->socket_directory ? xstrdup(o->socket_directory) : NULL;
	for (size_t i = 0; i < o->allowed_hosts.len; i++)
		vec_push(&s->allowed_hosts, xstrdup(o->allowed_hosts.items[i]));
	vec_push(&s->allowed_hosts, xstrdup(o->host));
	s->tls = o->cert_path || o->key_path;
	s->end = &s->first;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->queued, NULL);
	guard_init(&s->guard, o->clock ? o->clock : &system_clock,
		   connections_possible(o->connections_max), o->connections_per_address_max,
		   s->o.timeout_s);
	return s;
}

static int start_local(struct http_server *s, struct err *e)
{
	int fd, err;

	if (!s->socket_directory)
		return 0;
	err = local_socket_listen(s->socket_directory, &fd, e);
	if (!err) {
		err = daemon_start(s, &s->local, fd, NULL, NULL, e);
		if (err)
			close(fd);
	}
	return err;
}

static int server_run(struct http_server *s, struct err *e)
{
	CLEANUP(free_ptr) char *cert = NULL, *key = NULL;
	sigset_t all, old;
	int err, fd;

	vec_each(&s->o.allow_from, text) {
		struct cidr range;

		if ((err = cidr_parse(*text, &range, e)))
			return err;
		vec_push(&s->allow_from, range);
	}
	if (s->tls && (err = tls_load(s->o.cert_path, s->o.key_path, &cert, &key, e)))
		return err;
	err = listen_open(s->o.host, s->o.port, &fd, &s->port, e);
	if (err)
		return err;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = workers_start(s, e);
	if (!err)
		err = streams_start(s, e);
	if (!err)
		err = daemon_start(s, &s->daemon, fd, cert, key, e);
	if (err)
		close(fd);
	else
		err = start_local(s, e);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int http_server_start(struct http_server **ret, const struct http_options *o, struct err *e)
{
	struct http_server *s;
	int err;

	if (sodium_init() < 0)
		return err_set(e, EIO, "there is no source of random numbers");
	s = server_new(o);
	*ret = s; /* handlers may ask for it before this returns */
	err = server_run(s, e);
	if (err) {
		*ret = NULL;
		http_server_stop(s);
	}
	return err;
}

void http_server_stop(struct http_server *s)
{
	struct MHD_Daemon *daemons[] = {s ? s->daemon : NULL, s ? s->local : NULL};
	int fds[ARRAY_LEN(daemons)];

	if (!s)
		return;
	s->closing = true;
	if (s->local)
		local_socket_remove(s->socket_directory);
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++)
		fds[i] = daemons[i] ? MHD_quiesce_daemon(daemons[i]) : -1;
	/* In this order: what was given to workers may become a stream; all that is suspended must go
	 * on before the daemon may end. */
	workers_stop(s);
	streams_stop(s);
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		if (daemons[i])
			MHD_stop_daemon(daemons[i]);
		/* Until then its thread may still use it. */
		if (fds[i] >= 0)
			close(fds[i]);
	}
	streams_free(s);
	guard_release(&s->guard);
	pthread_cond_destroy(&s->queued);
	pthread_mutex_destroy(&s->lock);
	strvec_release(&s->allowed_hosts);
	vec_release(&s->allow_from);
	free(s->upload_dir);
	free(s->cookie_name);
	free(s->socket_directory);
	free(s);
}

uint16_t http_server_port(const struct http_server *s)
{
	return s->port;
}

void http_server_counts(struct http_server *s, struct http_counts *ret)
{
	*ret = (struct http_counts){
		.requests = s->requests,
		.errors = s->errors,
		.refused = s->refused,
		.bytes_sent = s->bytes_sent,
		.streams = streams_count(s),
	};
	pthread_mutex_lock(&s->guard.lock);
	ret->connections = s->guard.count;
	pthread_mutex_unlock(&s->guard.lock);
}
