/*
 * Whose rights workloads have: those of the server, of the user of --run-as, or of whoever started the
 * server through sudo. Only if they are not the server's own can the roles 'run' and 'administer' be
 * told apart: any program of the server's own user can read and change all that the server has.
 * Chosen at the start; any thread may read it.
 */
#ifndef TACHO_SERVER_RUN_AS_H
#define TACHO_SERVER_RUN_AS_H

#include "base/as_user.h"
#include "base/buf.h"
#include "collect/run/rights.h"
#include "net/auth.h"
#include "server/config.h"
#include "store/store.h"

enum run_as_kind {
	RUN_AS_SAME,  /* the server's own user */
	RUN_AS_OTHER, /* another user; the server runs as root */
	RUN_AS_ROOT,  /* root: only administrators start runs, also if --run-as has named root */
};

struct run_as {
	enum run_as_kind kind;
	char *user; /* its name */
	struct user_ids ids;
	bool from_sudo;
};

/* The caller must call run_as_release(), also after a failure. */
int run_as_choose(const struct server_config *c, struct run_as *ret, struct err *e);
void run_as_release(struct run_as *r);

/* What whoever starts the server has to know. */
void run_as_describe(const struct run_as *r, struct buf *out);
/* The rights of a run that somebody with this role starts. */
struct run_rights run_as_rights(const struct run_as *r, enum user_role role);
/* With whose rights somebody with this role may look at the machine; NULL: the server's own. */
const struct user_ids *run_as_viewer(const struct run_as *r, enum user_role role);
/* Returns -EPERM if nobody may be given this role here. */
int run_as_allows(enum run_as_kind kind, enum user_role role, struct err *e);

/* The store remembers the kind, for `tacho users`, which works without the server. */
int run_as_remember(struct store *s, const struct run_as *r, struct err *e);
enum run_as_kind run_as_remembered(struct store *s);

#endif
