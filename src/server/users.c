#include "server/users.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES_MAX 63

bool users_name_valid(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "._@-");

	return len && len <= NAME_BYTES_MAX && !name[len] && name[0] != '.';
}

int users_add(struct store *store, const char *name, enum user_role role,
	      char ret_token[TOKEN_BYTES], struct err *e)
{
	struct stored_user user = {.name = (char *)name, .role = role};

	if (!users_name_valid(name))
		return err_set(
			e, EINVAL,
			"'%s' cannot be the name of a user: it has 1 to %d letters, digits or "
			"signs of '._@-', and does not begin with a dot.",
			name, NAME_BYTES_MAX);
	token_make(ret_token);
	token_hash(ret_token, user.token_hash);
	return store_user_add(store, &user, e);
}

/* Gives the user a new token. */
int users_renew(struct store *store, const char *name, char ret_token[TOKEN_BYTES], struct err *e)
{
	char hash[TOKEN_HASH_BYTES];

	token_make(ret_token);
	token_hash(ret_token, hash);
	return store_user_renew(store, name, hash, e);
}

int users_admin(struct store *store, char ret_token[TOKEN_BYTES], struct err *e)
{
	int rc = users_renew(store, USERS_ADMIN, ret_token, e);

	return rc == -ENOENT ? users_add(store, USERS_ADMIN, ROLE_ADMIN, ret_token, e) : rc;
}

static unsigned remove_files(int dir_fd)
{
	DIR *dir = fdopendir(dir_fd);
	const struct dirent *entry;
	unsigned removed = 0;

	while (dir && (entry = readdir(dir)))
		if (users_name_valid(entry->d_name) && !unlinkat(dirfd(dir), entry->d_name, 0))
			removed++;
	if (dir)
		closedir(dir);
	else
		close(dir_fd);
	return removed;
}

unsigned users_remove_files(const char *data)
{
	int dir_fd = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC), tokens;
	unsigned removed = 0;

	if (dir_fd < 0)
		return 0;
	unlinkat(dir_fd, "admin-token", 0);
	tokens = openat(dir_fd, "tokens", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (tokens >= 0) {
		removed = remove_files(tokens);
		unlinkat(dir_fd, "tokens", AT_REMOVEDIR);
	}
	close(dir_fd);
	return removed;
}

/* A user that exists already may have been added by hand and is left unchanged. */
static int find_user(struct store *store, const char *name, bool *ret_there, struct err *e)
{
	CLEANUP(stored_users_release) stored_users all = {};
	int rc = store_users(store, &all, e);

	*ret_there = false;
	vec_each(&all, user)
		if (!user->revoked_ms && !strcmp(user->name, name))
			*ret_there = true;
	return rc;
}

static int want_user(struct store *store, const struct run_as *run_as, const char *text,
		     struct err *e)
{
	const char *colon = strrchr(text, ':');
	CLEANUP(free_ptr) char *name = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	char token[TOKEN_BYTES];
	enum user_role role;
	bool there;
	int rc;

	if (!name || !role_parse(colon + 1, &role))
		return err_set(
			e, EINVAL,
			"'user' is NAME:ROLE with a role of look, run or administer, not '%s'",
			text);
	if (!users_name_valid(name) || !strcmp(name, USERS_ADMIN))
		return err_set(e, EINVAL, "invalid user name '%s' in the setting 'user'", name);
	rc = find_user(store, name, &there, e);
	if (rc == 0 && !there)
		rc = run_as_allows(run_as->kind, role, e);
	/* Nobody gets to know this token: `tacho users token` makes one. */
	return rc < 0 || there ? rc : users_add(store, name, role, token, e);
}

int users_wanted(struct store *store, const struct server_config *c, const struct run_as *run_as,
		 struct err *e)
{
	int rc = 0;

	vec_each(&c->users, text)
		if (rc == 0)
			rc = want_user(store, run_as, *text, e);
	return rc;
}
