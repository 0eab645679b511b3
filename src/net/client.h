/* HTTP requests to a tacho server: what the commands run, ls, show, rm, export and view speak. */
#ifndef TACHO_NET_CLIENT_H
#define TACHO_NET_CLIENT_H

#include "base/buf.h"
#include "base/err.h"

#include <jansson.h>

struct client;

struct client_options {
	const char *url; /* "http://127.0.0.1:5000", "https://…" */
	const char *token;
	const char *ca_path; /* NULL: the system's */
};

int client_new(struct client **ret, const struct client_options *o, struct err *e);
void client_free(struct client *c);

/* @body NULL: none. The answer, or a sentence: the server's own if it gave one. */
int client_json(struct client *c, const char *method, const char *path, const json_t *body,
		json_t **ret, struct err *e);
/* Into @fd. */
int client_download(struct client *c, const char *path, int fd,
		    void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
		    struct err *e);
/* All of @fd from its beginning as the body. */
int client_upload(struct client *c, const char *path, int fd, const char *name,
		  void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
		  json_t **ret, struct err *e);
/* Server-sent events until @event gives false. Comes back by itself after a lost connection. */
int client_events(struct client *c, const char *path,
		  bool (*event)(void *ctx, const char *name, const json_t *data), void *ctx,
		  struct err *e);

#endif
