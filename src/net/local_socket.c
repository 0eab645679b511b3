#include "net/local_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

static int open_directory(const char *directory)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Removes a socket; anything else of that name stays, and makes bind() fail. */
static void remove_socket(int dir_fd)
{
	struct stat st;

	if (!fstatat(dir_fd, LOCAL_SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(st.st_mode))
		unlinkat(dir_fd, LOCAL_SOCKET_NAME, 0);
}

static int bind_socket(int fd, int dir_fd)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" LOCAL_SOCKET_NAME, dir_fd);
	remove_socket(dir_fd);
	/* The mode that the file gets, so that it is never open to others. */
	if (fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, BACKLOG))
		return -errno;
	return 0;
}

int local_socket_listen(const char *directory, int *ret_fd, struct err *e)
{
	int dir_fd = open_directory(directory), fd, r;

	fd = dir_fd < 0 ? dir_fd : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	r = dir_fd < 0 ? dir_fd : fd < 0 ? -errno : bind_socket(fd, dir_fd);
	if (dir_fd >= 0)
		close(dir_fd);
	if (r == 0) {
		*ret_fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return err_set(e, -r,
		       "cannot make the socket '%s/" LOCAL_SOCKET_NAME "': %s; name another data "
		       "directory with --data DIR",
		       directory, strerror(-r));
}

void local_socket_remove(const char *directory)
{
	int dir_fd = open_directory(directory);

	if (dir_fd < 0)
		return;
	remove_socket(dir_fd);
	close(dir_fd);
}

/* Root reaches the servers of all users; for others the directory must be their own or root's. */
static bool directory_is_safe(int dir_fd)
{
	struct stat st;

	if (fstat(dir_fd, &st) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return false;
	return !geteuid() || !st.st_uid || st.st_uid == geteuid();
}

int local_socket_find(const char *directory, int *ret_dir_fd, struct buf *ret_path, struct err *e)
{
	int dir_fd = open_directory(directory);
	struct stat st;

	if (dir_fd < 0 || fstatat(dir_fd, LOCAL_SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW)) {
		int code = dir_fd < 0 ? -dir_fd : errno;

		if (dir_fd >= 0)
			close(dir_fd);
		return err_set(e, code, "cannot find the socket '%s/" LOCAL_SOCKET_NAME "': %s",
			       directory, strerror(code));
	}
	if (!S_ISSOCK(st.st_mode) || !directory_is_safe(dir_fd)) {
		close(dir_fd);
		return err_set(
			e, EPERM,
			"'%s' could hold the socket of another user's server, because others "
			"may write to it: chmod go-w it, or name the server with --server URL",
			directory);
	}
	buf_addf(ret_path, "/proc/self/fd/%d/" LOCAL_SOCKET_NAME, dir_fd);
	*ret_dir_fd = dir_fd;
	return 0;
}

bool local_socket_is(int fd)
{
	int domain = 0;
	socklen_t len = sizeof(domain);

	return !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain == AF_UNIX;
}

bool local_socket_peer_is_owner(int fd)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || len != sizeof(peer))
		return false;
	return peer.uid == geteuid() || peer.uid == 0;
}
