/*
 * State that the parts of the server share. Threads: the main thread starts the server, handles
 * signals and stops it. One thread supervises runs (runs/runs.h): it starts collectors, writes what
 * they send to the store and publishes it on the bus (runs/live/live.h). HTTP workers answer
 * requests (api/api.h), each with its own connection to the store. One thread tidies up
 * (runs/tidy.h): it merges chunks, frees disk space and deletes old runs.
 */
#ifndef TACHO_SERVER_SERVER_H
#define TACHO_SERVER_SERVER_H

#include "net/http.h"
#include "runs/host.h"
#include "server/config.h"
#include "server/run_as.h"
#include "store/store.h"

struct run_cache;
struct emap;

struct server {
	struct server_config config;
	struct run_host host; /* the queue, the live stream, tidying, and what they share */
	struct run_cache *cache;
	struct emap *emap; /* emap.h: events of this machine */
	struct http_server *http;
	uint64_t started_ns;
	struct run_as run_as;     /* whose rights runs have */
	strvec notices;           /* sentences for whoever starts the server */
	char token[TOKEN_BYTES];  /* token of the first administrator */
	char cookie[32];          /* cookie name, different for each server of a host */
	bool private;             /* see run_settings; set before the start */
	char *url;                /* address of the server, without the token */
	int lock_fd;              /* lock on the data directory: one server per directory */
	_Atomic unsigned exports; /* number of downloads being written */
};

/* For the whole process, before it starts threads: what fails for want of memory fails alone, see base/reserve.h. */
void server_begin_memory(void);
/* Starts with the settings in @s->config, which the caller keeps. Listens when it returns 0. */
int server_start(struct server *s, struct err *e);
/* Stops all active runs; queued runs stay queued. Must also be called if server_start() failed. */
void server_stop(struct server *s);

/* State of one HTTP worker; the first argument of every handler. */
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
extern const struct http_route page_routes[];   /* server/api/page.c: / and its assets */

#endif
