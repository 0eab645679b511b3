/* Who may do what: roles, tokens, and the checks on Host and Origin. Pure functions but for random. */
#ifndef TACHO_NET_AUTH_H
#define TACHO_NET_AUTH_H

#include "base/fs.h"

#include <stdbool.h>
#include <stdint.h>

enum user_role { ROLE_LOOK = 1, ROLE_RUN, ROLE_ADMIN };

const char *role_name(enum user_role role); /* look, run, administer */
bool role_parse(const char *text, enum user_role *ret);

struct identity {
	int64_t id;
	char name[64];
	enum user_role role;
	const char *
		limited; /* a sentence: why the role is lower than the user's own; NULL: it is not */
};

#define TOKEN_BYTES      44 /* 32 random bytes in base64url, and the NUL */
#define TOKEN_HASH_BYTES 65 /* hexadecimal */

void token_make(char ret[TOKEN_BYTES]);
/* What the store keeps of it. */
void token_hash(const char *token, char ret[TOKEN_HASH_BYTES]);

/* Whether a Host header names us: a loopback name or address with any port, or an allowed name. */
bool host_allowed(const char *host, const strvec *allowed);
/* Whether a page from there may call us: NULL (no page) or the same host as @host. */
bool origin_allowed(const char *origin, const char *host);

#endif
