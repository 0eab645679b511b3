#include "server/local.h"
#include "base/fs.h"
#include "base/text.h"

#include <string.h>

#define LOCK_FILE_BYTES 4096

/* The lock file says "process PID at URL": see sign_lock() in server.c. */
char *local_server_url(const char *directory)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/server.lock", directory);
	CLEANUP(free_ptr) char *text = NULL;
	const char *at;

	if (fs_read(path, LOCK_FILE_BYTES, &text) < 0)
		return NULL;
	at = strstr(text, " at ");
	return at ? xstrndup(at + 4, strcspn(at + 4, " \n")) : NULL;
}
