/* How programs of the same user find the server of a data directory. Any thread. */
#ifndef TACHO_SERVER_LOCAL_H
#define TACHO_SERVER_LOCAL_H

/* Returns the URL of the server that has, or had last, the lock on the directory; NULL: unknown. The
 * caller must free it. */
char *local_server_url(const char *directory);

#endif
