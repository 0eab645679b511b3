/*
 * HTTP requests to a tacho server: what the commands run, ls, show, rm, export and view speak. Paths are
 * below the URL that the client was made with. One thread at a time; within client_events() callbacks
 * may make other requests of the same client, but not watch.
 *
 * The answer of a server is not trusted: JSON and events have limits, and an error's sentence is what
 * the server said or, if it said nothing readable, what its status means.
 */
#ifndef TACHO_NET_CLIENT_H
#define TACHO_NET_CLIENT_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define CLIENT_JSON_BYTES_MAX  ((size_t)64 << 20)
#define CLIENT_EVENT_BYTES_MAX ((size_t)32 << 20) /* of one server-sent event */

struct client;

struct client_options {
	const char *url; /* "http://127.0.0.1:5000/api/v1", "https://…" */
	const char *token;
	const char *ca_path; /* of certificates to trust; NULL: the system's */
	/* Connects to the socket of net/local_socket.h in this directory, whatever host and port the URL
	 * has. Such a connection needs no token. NULL: connects to the URL. */
	const char *socket_directory;
};

/* Whether the host of @url is this machine by a loopback name or address. False if @url is malformed. */
bool client_url_is_local(const char *url);
/* Whether both have the same scheme and port, and the same host or two loopback ones. */
bool client_url_same_server(const char *a, const char *b);

int client_new(struct client **ret, const struct client_options *o, struct err *e);
void client_free(struct client *c);

/* Adds @text as a part of a path or a query. */
void client_escape(struct buf *out, const char *text);

typedef void client_progress(void *ctx, uint64_t done, uint64_t total);

/*
 * @body NULL: none. @ret NULL: not asked for; NULL is also what is given if there is none (204).
 * -ECONNREFUSED: nobody listens; -ENOENT, -EACCES … as http_status_of() has them.
 */
int client_json(struct client *c, const char *method, const char *path, const json_t *body,
		json_t **ret, struct err *e);
/* Into @fd. */
int client_download(struct client *c, const char *path, int fd, client_progress *progress,
		    void *ctx, struct err *e);
/* All of @fd from its beginning as the body; a pipe is sent as it comes. */
int client_upload(struct client *c, const char *path, int fd, client_progress *progress, void *ctx,
		  json_t **ret, struct err *e);
/* A header of the last answer to one of the functions above, until the next; NULL: it had none. */
const char *client_header(struct client *c, const char *name);

struct client_watch {
	/* False: enough. Also called as "connected" with @data NULL at the beginning and whenever the
	 * connection stands again: what happened meanwhile may have to be asked for. */
	bool (*event)(void *ctx, const char *name, const json_t *data);
	/* A few times a second, and soon after a signal; false: enough. NULL: none. */
	bool (*tick)(void *ctx);
	void *ctx;
};

/* Server-sent events. Comes back by itself after a lost connection; gives up when nobody answers for
 * half a minute. */
int client_events(struct client *c, const char *path, const struct client_watch *w, struct err *e);

#endif
