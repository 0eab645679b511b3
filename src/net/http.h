/*
 * An HTTP server on libmicrohttpd that knows nothing of profiling. Few threads wait for connections;
 * requests are handled by a pool of workers, each with a context of its own (a connection to the
 * store, say); answers go back to the waiting threads. What comes in is limited: headers, body,
 * connections, connections of one address, time for a request.
 *
 * Before a handler is called: the Host and Origin headers were checked, and the caller was asked who
 * the token belongs to (net/auth.h). Only routes with `open` are called without a user.
 */
#ifndef TACHO_NET_HTTP_H
#define TACHO_NET_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "net/auth.h"

#include <stdint.h>

struct http_server;
struct http_request;
struct bus;
struct clock;

struct http_pair {
	char *name, *value;
};

typedef VEC(struct http_pair) http_pairs;

#define HTTP_ARGS_MAX 4

/* All of it belongs to the server and lives until the handler has returned. */
struct http_request {
	const char *method, *path;       /* path decoded, without the query */
	const char *args[HTTP_ARGS_MAX]; /* what stood for {…} in the route */
	http_pairs query;                /* decoded */
	struct buf body;                 /* of routes without `upload` */
	int upload_fd; /* of those with: an unlinked file at its beginning; else -1 */
	uint64_t upload_bytes;
	char *upload_name;           /* the file's name as the client gave it, or NULL */
	const struct identity *user; /* NULL only on open routes */
	bool tls;
	const void *connection; /* for http_header() */
};

const char *http_query(const struct http_request *r, const char *name); /* NULL: not there */
const char *http_header(const struct http_request *r, const char *name);

/* To be filled in by the handler; begins as 200 with an empty body. */
struct http_reply {
	int status;
	const char *type; /* of the content; NULL: application/json */
	struct buf body;
	int fd;             /* sent instead of the body if >= 0, closed afterwards */
	http_pairs headers; /* one given here replaces the server's own of that name */
	/* Does not change any more: gets an ETag, 304 is answered, and it may be kept (but is asked for
	 * again before it is shown, as runs can be deleted). */
	bool immutable;
	/* Server-sent events: topics of the bus, which are watched until the client goes. What stands
	 * in the body is sent first, and must be whole messages. */
	strvec topics;
	/* Those of them that the client has not had before, whatever was its last message. */
	strvec fresh_topics;
};

/* @value is printed; both are copied. */
void http_reply_header(struct http_reply *r, const char *name, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* Content-Disposition: attachment, with a name that is safe. */
void http_reply_file(struct http_reply *r, const char *name);

struct http_route {
	const char *method;
	const char *
		path; /* "/api/v1/session/{id}": a part in braces is an argument. "{id}.json" also. */
	enum user_role role;
	bool open;   /* anybody, without a token */
	bool upload; /* the body goes to a file, of any size up to the limit */
	bool slow;   /* may take seconds: there is always a worker for requests that are not */
	/* 0, or a negative errno with a sentence, which becomes the status and a JSON body. */
	int (*handle)(void *worker, const struct http_request *request, struct http_reply *reply,
		      struct err *e);
};

/* How a request says whose it is. */
enum credential_kind {
	CREDENTIAL_NONE,
	CREDENTIAL_TOKEN, /* in a header, or in the query of an address */
	CREDENTIAL_COOKIE,
	CREDENTIAL_OWNER, /* it came through the socket of net/local_socket.h, and has no token */
};

#define HTTP_COOKIE_DAYS 30 /* a browser that logged in is known for so long */

struct http_credential {
	enum credential_kind kind;
	char text[TOKEN_BYTES]; /* the token or the cookie's value, else empty */
};

struct http_options {
	const char *host; /* 127.0.0.1, ::1, a name or an address to listen on */
	uint16_t port;    /* 0: any free one */
	const char
		*socket_directory; /* of net/local_socket.h; NULL: only the port is listened on */
	const char *cert_path, *key_path; /* NULL: no TLS */
	strvec allowed_hosts;             /* besides loopback names with any port */
	/* Ranges of net/cidr.h: requests of other clients get 403, before anybody looks whose they are.
	 * Empty: all are let in. The socket of the data directory is not concerned. */
	strvec allow_from;
	const struct http_route *const
		*tables; /* ended by NULL; each ended by a route without path */
	unsigned workers;
	void *(*worker_new)(void *ctx); /* called by the worker's thread */
	void (*worker_free)(void *worker);
	/* Finds the user of a request; -ENOENT: unknown, which is answered by 401. Any other error is
	 * that nobody can be looked up now, which is answered by 503. Called by workers, for every
	 * request and now and then for an open stream, so that revoking works. */
	int (*identify)(void *worker, const struct http_credential *c, struct identity *ret,
			struct err *e);
	/* Makes a cookie for the browser of this user, for HTTP_COOKIE_DAYS; identify() is given its value as
	 * CREDENTIAL_COOKIE. Called by workers. NULL: browsers send the token with each request. */
	int (*log_in)(void *worker, const struct identity *user, char ret_cookie[TOKEN_BYTES],
		      struct err *e);
	const char *upload_dir;
	uint64_t upload_bytes_max, body_bytes_max;
	/* Whether all uploads that are on their way may take so much of the disk; NULL: they may. An
	 * error and its sentence: not this one. Called by workers. */
	int (*upload_room)(void *worker, uint64_t bytes, struct err *e);
	unsigned connections_max;             /* 0: what the limit of open files allows */
	unsigned connections_per_address_max; /* 0: no limit of its own */
	/* For the head of a request, and for every 16 KiB of its body and of the answer; what is slower
	 * is closed. So is the one that has waited longest, if all connections are taken: of clients
	 * without a good token if there are any. 0: 30. */
	unsigned timeout_s;
	const struct clock *clock; /* for the time that clients take; NULL: the system_clock */
	const char *cookie_name;   /* with an id of this server: hosts have one jar for all ports */
	struct bus *bus;
	void *ctx;
};

/* *ret is set before the first handler is called. */
int http_server_start(struct http_server **ret, const struct http_options *o, struct err *e);
void http_server_stop(struct http_server *s); /* frees it */
/* Somebody was revoked: open streams are checked at once, not now and then. Any thread. */
void http_server_recheck(struct http_server *s);
uint16_t http_server_port(const struct http_server *s);

/* For /metrics. */
struct http_counts {
	uint64_t requests, errors; /* answered by 5xx */
	uint64_t refused;          /* answered by 401 or 403, or closed to make room */
	uint64_t bytes_sent;       /* of bodies and streams */
	unsigned connections, streams;
};
void http_server_counts(struct http_server *s, struct http_counts *ret);

/* The status for an errno that a handler gives: ENOENT 404, EINVAL 400, EACCES 403, EBUSY 409 … */
int http_status_of(int code);
/* {"error": {"status", "code", "message"}} */
void http_reply_error(struct http_reply *r, int status, const char *sentence);

#endif
