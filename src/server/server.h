/*
 * The server: what its parts know of each other. Main thread: start, signals, end. One thread
 * supervises runs (runs.h): it starts collectors, takes in what they send, writes it to the store and
 * tells the bus (live.h). Workers of the HTTP server answer (api.h), each with its own connection to
 * the store. One thread tidies up: merges chunks, gives disk space back, lets old runs go.
 */
#ifndef TACHO_SERVER_SERVER_H
#define TACHO_SERVER_SERVER_H

#include "net/http.h"
#include "runs/host.h"
#include "server/config.h"
#include "store/store.h"

struct run_cache;
struct emap;

struct server {
	struct server_config config;
	struct run_host host; /* the queue, the live stream, tidying, and what they need */
	struct run_cache *cache;
	struct emap *emap; /* emap.h: events of this machine */
	struct http_server *http;
	uint64_t started_ns;
	char token[TOKEN_BYTES];  /* the first administrator's */
	char cookie[32];          /* its name: two servers of one host do not share it */
	char *url;                /* for people, without the token */
	int lock_fd;              /* one server a data directory */
	_Atomic unsigned exports; /* downloads that are being written */
};

/* Begins with the settings in @s->config, which are left to the caller. It listens when this returns. */
int server_start(struct server *s, struct err *e);
/* Runs are stopped, what waits stays in the queue. Also after a start that has failed. */
void server_stop(struct server *s);

/* What a worker of the HTTP server has; the first argument of every handler. */
struct api {
	struct server *server;
	struct store *store;
};

/* One table for each file of routes, see http_route. */
extern const struct http_route
	session_routes[]; /* server/api/sessions.c: sessions, runs of a session */
extern const struct http_route
	run_routes[]; /* server/api/runs.c: benchmark/ID, cancel, rerun, note */
extern const struct http_route export_routes[]; /* server/api/exports.c: benchmark/ID.FORMAT */
extern const struct http_route query_routes[]; /* server/api/queries.c: timeline, flame, diff … */
extern const struct http_route machine_routes[]; /* server/api/machine.c: emap, processes */
extern const struct http_route
	server_routes[]; /* server/api/server.c: healthz, metrics, openapi, users,
						  * queue, live */
extern const struct http_route import_routes[]; /* server/api/import.c */
extern const struct http_route page_routes[];   /* page.c: / and what it needs */

#endif
