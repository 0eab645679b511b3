/*
 * Who may use the server. The store keeps a hash of each token; the token itself is shown once, to whoever
 * makes the user. Two exceptions lie in the data directory, readable by its owner alone: the first
 * administrator's (admin-token), and those of users that the settings want (tokens/NAME). Any thread,
 * with its own connection to the store.
 */
#ifndef TACHO_SERVER_USERS_H
#define TACHO_SERVER_USERS_H

#include "net/auth.h"
#include "server/config.h"
#include "store/store.h"

#define USERS_ADMIN "admin"

/* Letters, digits, . _ @ - : names end up in files, headers and terminals. */
bool users_name_valid(const char *name);

/* -EEXIST: there is one of that name. */
int users_add(struct store *store, const char *name, enum user_role role,
	      char ret_token[TOKEN_BYTES], struct err *e);

/* The first administrator, made if there is none or if the token was removed. */
int users_admin(struct store *store, const char *data, char ret_token[TOKEN_BYTES], struct err *e);
/* Those of the settings: "NAME:ROLE". */
int users_wanted(struct store *store, const struct server_config *c, struct err *e);

#endif
