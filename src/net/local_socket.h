/*
 * The Unix socket in a server's data directory. It lets programs of the server's own user, and root,
 * talk to the server without a token: the kernel tells the server whose process is at the other end
 * (SO_PEERCRED), and the client knows the server by the directory, which nobody else can write to.
 * A TCP port has neither: any user can listen on a free one.
 *
 * Paths of sockets are limited to 107 bytes, so both sides reach it by a descriptor of the directory.
 */
#ifndef TACHO_NET_LOCAL_SOCKET_H
#define TACHO_NET_LOCAL_SOCKET_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>

#define LOCAL_SOCKET_NAME "server.sock"

/* Listens on DIRECTORY/server.sock, which only the caller's user can connect to. Replaces a socket
 * that an earlier server has left; the caller must hold the lock on the directory. */
int local_socket_listen(const char *directory, int *ret_fd, struct err *e);
void local_socket_remove(const char *directory);

/*
 * For clients: fills @ret_path with a path to connect to, which is valid while *ret_dir_fd is open.
 * Returns -ENOENT if there is no such directory or no socket in it, and -EPERM if somebody else could
 * have put the socket there.
 */
int local_socket_find(const char *directory, int *ret_dir_fd, struct buf *ret_path, struct err *e);

/* Whether @fd is a Unix socket. */
bool local_socket_is(int fd);
/* Whether the process at the other end of Unix socket @fd had our user id, or 0, as it connected. */
bool local_socket_peer_is_owner(int fd);

#endif
