/*
 * The users of the server and their tokens. The store keeps only a hash of each token; the token
 * itself is shown once, to whoever creates the user. Two kinds of tokens are also kept in the data
 * directory, in files that only the owner can read: the first administrator's (admin-token), and
 * those of users named in the settings (tokens/NAME). Any thread may call these functions, with its
 * own connection to the store.
 */
#ifndef TACHO_SERVER_USERS_H
#define TACHO_SERVER_USERS_H

#include "net/auth.h"
#include "server/config.h"
#include "store/store.h"

#define USERS_ADMIN "admin"

/* Allows only letters, digits and . _ @ - because names end up in files, headers and terminals. */
bool users_name_valid(const char *name);

/* Returns -EEXIST if there is a user of that name already. */
int users_add(struct store *store, const char *name, enum user_role role,
	      char ret_token[TOKEN_BYTES], struct err *e);

/* Gets the first administrator's token. Creates the user if it or its token file is missing. */
int users_admin(struct store *store, const char *data, char ret_token[TOKEN_BYTES], struct err *e);
/* Creates the users of the settings ("NAME:ROLE") that do not exist yet. */
int users_wanted(struct store *store, const struct server_config *c, struct err *e);

#endif
