/*
 * Shared by the commands that are clients of the server: choosing server and token, finding runs
 * and sessions by name, printing a server's times and texts. Returned JSON belongs to the caller.
 */
#ifndef TACHO_CMD_SERVER_CLIENT_H
#define TACHO_CMD_SERVER_CLIENT_H

#include "cmd/server/client_options.h"
#include "net/client.h"

struct connection {
	struct client *client;
	char *url;       /* of the server, for links */
	char *directory; /* the data directory whose socket is used; NULL: the URL is connected to */
	bool local;      /* the server runs on this machine, with the same directories */
	bool unnamed_token; /* there is a token, but nobody has said for which server */
};

int connection_open(struct connection *c, const struct client_server_options *o, struct err *e);
void connection_close(struct connection *c);
/* The exit status for an error of connection_open(): whether the words or the server are at fault. */
int connection_open_status(const struct err *e);

/* client_json() with a printf-style path; its errors are passed through connection_explain(). */
int connection_json(struct connection *c, const char *method, const json_t *body, json_t **ret,
		    struct err *e, const char *path, ...) PRINTF_LIKE(6, 7);
/* Makes an error of net/client.h say what the user can do. Returns its negative code. */
int connection_explain(const struct connection *c, struct err *e);

/* Checks that a run or session has a valid id, for use in paths. Returns -EBADMSG and frees
 * *@object if not. */
int connection_check_id(const struct connection *c, json_t **object, struct err *e);

/* @name: "last", an id, or a prefix of the id that no other run has. */
int connection_find_run(struct connection *c, const char *name, json_t **ret, struct err *e);
/* @name: a title or id, or a unique prefix of either; of several sessions with this title, the
 * newest. @make: creates a session with this title if no title or id is equal to it. */
int connection_find_session(struct connection *c, const char *name, bool make, json_t **ret,
			    struct err *e);

/* Returns the text of a member, or "" if there is none. */
const char *member_text(const json_t *object, const char *name);
double member_number(const json_t *object, const char *name, double otherwise);
bool run_has_ended(const json_t *run);

/* Adds text from a server; control characters and invalid UTF-8 become '?'. */
void add_text(struct buf *out, const char *text);
/* Adds a time of the API as local time: "17:05:12" if it is today, else with the date. */
void add_when(struct buf *out, const char *iso);
/* Returns the seconds between two times of the API; @to "": until now. Negative: unknown. */
double seconds_between(const char *from, const char *to);
/* "12.3 s", "4 min 20 s", "3 h 5 min" */
void add_duration(struct buf *out, double seconds);
/* Returns the escape sequence that colours a run's state. */
struct term;
const char *state_colour(const struct term *t, const char *state);

#endif
