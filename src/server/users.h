/*
 * The users of the server and their tokens. The store keeps only a hash of each token; the token
 * itself is shown once, to whoever creates the user or renews the token. No file has one, because
 * workloads could read it. Any thread may call these functions, with its own connection to the store.
 */
#ifndef TACHO_SERVER_USERS_H
#define TACHO_SERVER_USERS_H

#include "net/auth.h"
#include "server/config.h"
#include "server/run_as.h"
#include "store/store.h"

#define USERS_ADMIN "admin"

/* Allows only letters, digits and . _ @ - because names end up in files, headers and terminals. */
bool users_name_valid(const char *name);

/* Returns -EEXIST if there is a user of that name already. */
int users_add(struct store *store, const char *name, enum user_role role,
	      char ret_token[TOKEN_BYTES], struct err *e);

/* Gives a user another token, and the one before is refused. Returns -ENOENT if there is no such user. */
int users_renew(struct store *store, const char *name, char ret_token[TOKEN_BYTES], struct err *e);

/* Makes a token for the first administrator, who is created if missing. Browsers stay logged in. */
int users_admin(struct store *store, char ret_token[TOKEN_BYTES], struct err *e);
/* Creates the users of the settings ("NAME:ROLE") that do not exist yet. */
int users_wanted(struct store *store, const struct server_config *c, const struct run_as *run_as,
		 struct err *e);
/* Removes the files with tokens that earlier versions wrote into the data directory. The tokens of
 * users stay valid. Returns how many users had a file. */
unsigned users_remove_files(const char *data);

#endif
