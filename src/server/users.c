#include "server/users.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX  63
#define TOKEN_FILE_SIZE 4096

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

/* Replaces the file in one step, by rename. It is never readable by others. */
static int write_token(const char *path, const char *token, struct err *e)
{
	CLEANUP(free_ptr) char *temp = xasprintf("%s.new", path);
	CLEANUP(free_ptr) char *line = xasprintf("%s\n", token);
	size_t len = strlen(line);
	int fd, code = 0;

	unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, len) != (ssize_t)len || fsync(fd))
		code = errno ? errno : EIO;
	if (fd >= 0)
		close(fd);
	if (!code && rename(temp, path))
		code = errno;
	if (code)
		unlink(temp);
	return code ? err_set(e, code, "cannot write the token to '%s': %s", path, strerror(code))
		    : 0;
}

/* Whether the token in the file is that of this user. */
static bool token_holds(struct store *store, const char *path, const char *name,
			char ret_token[TOKEN_BYTES])
{
	CLEANUP(free_ptr) char *text = NULL;
	char hash[TOKEN_HASH_BYTES];
	struct stored_user user = {};
	bool holds;

	if (fs_read(path, TOKEN_FILE_SIZE, &text) < 0 || strlen(text) != TOKEN_BYTES - 1)
		return false;
	token_hash(text, hash);
	holds = store_user_by_hash(store, hash, &user, NULL) == 0 && !strcmp(user.name, name);
	stored_user_release(&user);
	if (holds)
		memcpy(ret_token, text, TOKEN_BYTES);
	return holds;
}

/*
 * Ensures that the user exists and that @path holds its token. If the file does not hold a valid
 * token of the user, revokes the user and creates it with a new token.
 */
static int keep_user(struct store *store, const char *path, const char *name, enum user_role role,
		     char ret_token[TOKEN_BYTES], struct err *e)
{
	int rc = 0;

	if (token_holds(store, path, name, ret_token))
		return chmod(path, 0600) ? err_set(e, errno, "cannot protect '%s' from others: %s",
						   path, strerror(errno))
					 : 0;
	rc = store_user_revoke(store, name, e);
	if (rc == 0 || rc == -ENOENT)
		rc = users_add(store, name, role, ret_token, e);
	return rc < 0 ? rc : write_token(path, ret_token, e);
}

int users_admin(struct store *store, const char *data, char ret_token[TOKEN_BYTES], struct err *e)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/admin-token", data);

	return keep_user(store, path, USERS_ADMIN, ROLE_ADMIN, ret_token, e);
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

static int want_user(struct store *store, const struct server_config *c, const char *text,
		     struct err *e)
{
	const char *colon = strrchr(text, ':');
	CLEANUP(free_ptr) char *name = colon ? xstrndup(text, (size_t)(colon - text)) : NULL;
	CLEANUP(free_ptr) char *dir = xasprintf("%s/tokens", c->data);
	CLEANUP(free_ptr) char *path = NULL;
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
	if (rc < 0 || there)
		return rc;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_set(e, errno, "cannot make '%s': %s", dir, strerror(errno));
	path = xasprintf("%s/%s", dir, name);
	return keep_user(store, path, name, role, token, e);
}

int users_wanted(struct store *store, const struct server_config *c, struct err *e)
{
	int rc = 0;

	vec_each(&c->users, text)
		if (rc == 0)
			rc = want_user(store, c, *text, e);
	return rc;
}
