/*
 * What the commands that are clients of the server have in common: which server and token, runs and
 * sessions by name, and how times and texts of a server are shown. JSON that is given out belongs to
 * the caller.
 */
#ifndef TACHO_CMD_SERVER_CLIENT_H
#define TACHO_CMD_SERVER_CLIENT_H

#include "cmd/server/client_options.h"
#include "net/client.h"

struct connection {
	struct client *client;
	char *url;  /* of the server, for links */
	bool local; /* it runs on this machine: its directories are ours */
};

int connection_open(struct connection *c, const struct client_server_options *o, struct err *e);
void connection_close(struct connection *c);

/* client_json() with a printed path; what a person can do about an error is added to its sentence. */
int connection_json(struct connection *c, const char *method, const json_t *body, json_t **ret,
		    struct err *e, const char *path, ...) PRINTF_LIKE(6, 7);
/* Says what to do about an error of client.h. */
int connection_explain(const struct connection *c, struct err *e);

/* A run or session has an id that can stand in a path; else it is freed, and the error says so. */
int connection_check_id(const struct connection *c, json_t **object, struct err *e);

/* "last", an id or the beginning of one that no other run has. */
int connection_find_run(struct connection *c, const char *name, json_t **ret, struct err *e);
/* By title or id, or the beginning of either; the newest of several with the same title. @make: adds
 * one of this title if there is none. */
int connection_find_session(struct connection *c, const char *name, bool make, json_t **ret,
			    struct err *e);

/* The text of a member, "" if there is none. */
const char *member_text(const json_t *object, const char *name);
double member_number(const json_t *object, const char *name, double otherwise);
bool run_has_ended(const json_t *run);

/* Printable, as all that comes from a server. */
void add_text(struct buf *out, const char *text);
/* A time of the API as the local clock shows it: "17:05:12" today, else with the day. */
void add_when(struct buf *out, const char *iso);
/* Between two times of the API; up to now if the second is "". Negative: unknown. */
double seconds_between(const char *from, const char *to);
/* "12.3 s", "4 min 20 s", "3 h 5 min" */
void add_duration(struct buf *out, double seconds);
/* The escape sequence for a state of a run. */
struct term;
const char *state_colour(const struct term *t, const char *state);

#endif
