#include "symbol/debuginfod.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct debuginfod_client client_t;
typedef int find_fn(client_t *client, const unsigned char *id, int id_len, char **path);

struct library {
	client_t *(*begin)(void);
	void (*end)(client_t *client);
	find_fn *find_executable, *find_debuginfo;
	void (*set_progress)(client_t *client, int (*progress)(client_t *c, long a, long b));
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t deadline_ns; /* of the current request */

bool debuginfod_is_wanted(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && urls[strspn(urls, " ")];
}

static bool load(struct library *lib)
{
	static const char *const names[] = {
		"debuginfod_begin",           "debuginfod_end",
		"debuginfod_find_executable", "debuginfod_find_debuginfo",
		"debuginfod_set_progressfn",
	};

	return !LIBRARY_LOAD("libdebuginfod.so.1", names, lib);
}

static int stop_when_late(client_t *client, long done, long total)
{
	(void)client;
	(void)done;
	(void)total;
	return clock_now_ns() > deadline_ns;
}

static client_t *client_of(struct library *lib)
{
	static bool tried;
	static struct library loaded;
	static client_t *client;

	if (!tried) {
		char seconds[16];

		tried = true;
		/* The time for a server to begin to send, unless the user has set one. */
		snprintf(seconds, sizeof(seconds), "%d", DEBUGINFOD_ANSWER_S);
		setenv("DEBUGINFOD_TIMEOUT", seconds, 0);
		if (load(&loaded) && (client = loaded.begin()))
			loaded.set_progress(client, stop_when_late);
	}
	*lib = loaded;
	return client;
}

char *debuginfod_find(const struct build_id *id, enum debuginfod_kind kind)
{
	static bool gave_up;
	char *path = NULL;
	struct library lib;
	client_t *client;

	if (!debuginfod_is_wanted() || !id->size)
		return NULL;
	pthread_mutex_lock(&lock);
	client = gave_up ? NULL : client_of(&lib);
	if (client) {
		find_fn *find =
			kind == DEBUGINFOD_PROGRAM ? lib.find_executable : lib.find_debuginfo;
		int fd;

		deadline_ns = clock_now_ns() + DEBUGINFOD_DOWNLOAD_S * 1000000000ull;
		fd = find(client, id->bytes, id->size, &path);
		if (fd >= 0)
			close(fd);
		else
			path = NULL;
		/* -ENOENT is an answer. After other errors send no more requests: an unreachable
		 * server would cost the timeout each time. */
		gave_up = fd < 0 && fd != -ENOENT;
	}
	pthread_mutex_unlock(&lock);
	return path;
}
