#include "server/run_as.h"
#include "base/number.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTING "run-as"

static const char *const kind_names[] = {
	[RUN_AS_SAME] = "same", [RUN_AS_OTHER] = "other", [RUN_AS_ROOT] = "root"};

/* @user: the entry of @uid, NULL if there is none. */
static void take(struct run_as *ret, enum run_as_kind kind, const struct passwd *user, uid_t uid)
{
	ret->kind = kind;
	ret->user = user ? xstrdup(user->pw_name) : xasprintf("%u", (unsigned)uid);
	ret->ids = (struct user_ids){.uid = uid, .gid = user ? user->pw_gid : getegid()};
	if (user)
		user_ids_find(ret->user, &ret->ids);
}

/* Also by a number, and whatever root is called: all names of user 0 are root. */
static enum run_as_kind kind_of(uid_t uid)
{
	return !uid ? RUN_AS_ROOT : uid == geteuid() ? RUN_AS_SAME : RUN_AS_OTHER;
}

static int choose_named(const char *name, struct run_as *ret, struct err *e)
{
	const struct passwd *user = getpwnam(name);
	uint64_t number;

	if (!user && parse_u64(name, &number) && number < UINT32_MAX)
		user = getpwuid((uid_t)number);
	if (!user)
		return err_set(e, EINVAL, "--run-as: there is no user '%s'", name);
	if (geteuid() && user->pw_uid != geteuid())
		return err_set(e, EPERM, "--run-as: only root's server can start programs as '%s'",
			       name);
	take(ret, kind_of(user->pw_uid), user, user->pw_uid);
	return 0;
}

/* Whoever called sudo; false: nobody did, or root. */
static bool sudo_caller(uid_t *ret)
{
	const char *text = getenv("SUDO_UID");
	uint64_t number;

	if (!text || !parse_u64(text, &number) || !number || number >= UINT32_MAX)
		return false;
	*ret = (uid_t)number;
	return true;
}

int run_as_choose(const struct server_config *c, struct run_as *ret, struct err *e)
{
	uid_t uid = geteuid(), caller;
	const struct passwd *user;

	*ret = (struct run_as){};
	if (c->run_as)
		return choose_named(c->run_as, ret, e);
	if (!uid && sudo_caller(&caller)) {
		user = getpwuid(caller);
		if (!user)
			return err_set(e, EINVAL,
				       "sudo was called by user %u, who has no name here: say whom "
				       "programs are to run as by --run-as USER",
				       (unsigned)caller);
		ret->from_sudo = true;
		take(ret, RUN_AS_OTHER, user, caller);
		return 0;
	}
	user = getpwuid(uid);
	take(ret, kind_of(uid), user, uid);
	return 0;
}

void run_as_release(struct run_as *r)
{
	free(r->user);
	user_ids_release(&r->ids);
	*r = (struct run_as){};
}

void run_as_describe(const struct run_as *r, struct buf *out)
{
	switch (r->kind) {
	case RUN_AS_SAME:
		buf_addf(out,
			 "Runs have the rights of %s, as the server has: whoever may start runs "
			 "can also do what an administrator can, and all that %s can.",
			 r->user, r->user);
		break;
	case RUN_AS_OTHER:
		buf_addf(out,
			 "Runs have the rights of %s%s; those of an administrator may have "
			 "any.",
			 r->user, r->from_sudo ? ", who called sudo" : "");
		break;
	case RUN_AS_ROOT:
		buf_add(out, "The server runs as root, and so do runs: only administrators may "
			     "start them. With --run-as USER, who is not root, others may, too.");
		break;
	}
}

struct run_rights run_as_rights(const struct run_as *r, enum user_role role)
{
	return (struct run_rights){
		.user = r->kind == RUN_AS_OTHER ? r->user : NULL,
		.restricted = r->kind != RUN_AS_SAME && role < ROLE_ADMIN,
	};
}

const struct user_ids *run_as_viewer(const struct run_as *r, enum user_role role)
{
	return r->kind == RUN_AS_OTHER && role < ROLE_ADMIN ? &r->ids : NULL;
}

int run_as_allows(enum run_as_kind kind, enum user_role role, struct err *e)
{
	if (kind != RUN_AS_ROOT || role != ROLE_RUN)
		return 0;
	return err_set(e, EPERM,
		       "The role 'run' would be root here, as runs have the rights of root: start "
		       "the server with --run-as USER, who is not root, or give the role 'look' or "
		       "'administer'.");
}

int run_as_remember(struct store *s, const struct run_as *r, struct err *e)
{
	return store_setting_put(s, SETTING, kind_names[r->kind], e);
}

enum run_as_kind run_as_remembered(struct store *s)
{
	CLEANUP(free_ptr) char *name = NULL;

	if (store_setting_get(s, SETTING, &name, NULL) == 0)
		for (size_t i = 0; i < ARRAY_LEN(kind_names); i++)
			if (!strcmp(name, kind_names[i]))
				return (enum run_as_kind)i;
	return RUN_AS_SAME;
}
