#include "runs/internal.h"
#include "base/clock.h"
#include "base/text.h"
#include "collect/tree.h"
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)64 << 20)

char *raw_name(const char *uuid)
{
	return xasprintf("raw/%s.data", uuid);
}

static char *raw_path(const struct run_host *host, const char *uuid)
{
	CLEANUP(free_ptr) char *name = raw_name(uuid);

	return xasprintf("%s/%s", host->settings.data, name);
}

int raw_remove(const struct run_host *host, const char *uuid)
{
	CLEANUP(free_ptr) char *path = raw_path(host, uuid);

	return unlink(path) && errno != ENOENT ? -errno : 0;
}

bool raw_unwanted(const struct stored_run *run)
{
	json_t *plan = json_loads(run->plan ? run->plan : "", 0, NULL);
	bool keep = json_is_true(json_object_get(plan, "keep_raw"));
	bool known = json_is_object(plan);

	json_decref(plan);
	return known && !keep;
}

void raw_settle(const struct run_host *host, struct stored_run *run)
{
	CLEANUP(free_ptr) char *name = raw_name(run->uuid);

	if (raw_unwanted(run))
		raw_remove(host, run->uuid);
	else if (!run->raw_path && fs_exists("%s/%s", host->settings.data, name))
		run->raw_path = xstrdup(name);
}

static int copy(int from, int to)
{
	off_t at = 0;
	ssize_t n;

	while ((n = sendfile(to, from, &at, COPY_BYTES)) != 0)
		if (n < 0 && errno != EINTR)
			return -errno;
	return 0;
}

int raw_keep(const struct run_host *host, const char *uuid, int fd, struct err *e)
{
	CLEANUP(free_ptr) char *path = raw_path(host, uuid);
	char self[64];
	int to, rc;

	/* A temporary file without a name can be linked; if linking fails the file is copied. */
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (!linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW)) {
		chmod(path, 0600);
		return 0;
	}
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = to < 0 ? -errno : copy(fd, to);
	if (to >= 0 && close(to) && rc == 0)
		rc = -errno;
	if (rc < 0)
		unlink(path);
	return rc < 0 ? err_set(e, -rc, "cannot keep the recording in '%s': %s", path,
				strerror(-rc))
		      : 0;
}

/* ---- after a crash ---- */

/* Removes the files in @dir whose names begin with @prefix. */
static void remove_files(const char *dir, const char *prefix)
{
	CLEANUP(strvec_release) strvec names = {};

	fs_list(dir, &names);
	vec_each(&names, file) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, *file);

		if (!strncmp(*file, prefix, strlen(prefix)))
			unlink(path);
	}
}

void files_clean(const struct run_host *host)
{
	const char *data = host->settings.data;
	CLEANUP(free_ptr) char *spill = xasprintf("%s/spill", data);
	CLEANUP(free_ptr) char *upload = xasprintf("%s/upload", data);

	remove_files(spill, "");
	remove_files(upload, "");
	/* Downloads that were being written and could not be unlinked. */
	remove_files(data, "export-");
}

/* Wall-clock time at which the last stored data of the run was measured. */
static int64_t last_seen_ms(struct store *store, const struct stored_run *run)
{
	stored_chunks chunks = {};
	uint64_t last_ns = 0;

	if (run->start_ns)
		store_chunks(store, run->id, &(struct chunk_query){}, &chunks, NULL);
	vec_each(&chunks, c)
		last_ns = c->info.last_ns > last_ns ? c->info.last_ns : last_ns;
	vec_release(&chunks);
	return last_ns > (uint64_t)run->start_ns
		       ? run->started_ms +
				 (int64_t)((last_ns - (uint64_t)run->start_ns) / NS_PER_MSEC)
		       : run->started_ms;
}

int files_recover(const struct run_host *host, struct store *store, struct err *e)
{
	CLEANUP(stored_runs_release) stored_runs all = {};
	int rc = store_runs_in_state(store, STATE_RUNNING, &all, e);

	vec_each(&all, run) {
		CLEANUP(free_ptr) char *mark = run_mark(run->uuid);

		if (rc < 0)
			break;
		/* Usually its collector has done that. It may have been killed, too. */
		tree_end_marked(mark);
		run->state = STATE_INTERRUPTED;
		run->ended_ms = last_seen_ms(store, run);
		raw_settle(host, run);
		free(run->error);
		run->error =
			xstrdup("The server ended while this was running. What had been stored "
				"until then is kept.");
		rc = store_run_update(store, run, e);
	}
	return rc;
}

/* ---- disk usage ---- */

static uint64_t directory_bytes(const char *data, const char *name)
{
	CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", data, name);
	CLEANUP(strvec_release) strvec names = {};
	uint64_t sum = 0;

	fs_list(dir, &names);
	vec_each(&names, file) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, *file);
		struct stat st;

		if (!lstat(path, &st))
			sum += (uint64_t)st.st_blocks * 512;
	}
	return sum;
}

uint64_t files_room(const struct run_host *host, struct store *store)
{
	uint64_t bytes = 0, unused = 0;

	store_size(store, &bytes, &unused, NULL);
	return bytes + directory_bytes(host->settings.data, "raw") +
	       directory_bytes(host->settings.data, DIRECTORY_LOST);
}

int files_check_room(const struct run_host *host, struct store *store, uint64_t more, struct err *e)
{
	CLEANUP(buf_release) struct buf text = {};
	uint64_t quota = host->settings.quota_bytes, room = quota ? files_room(host, store) : 0;

	if (!quota || (room <= quota && more <= quota - room))
		return 0;
	buf_add(&text, "The data directory takes ");
	buf_add_size(&text, room);
	if (more) {
		buf_add(&text, ", what is being uploaded ");
		buf_add_size(&text, more);
	}
	buf_add(&text, ", and the quota is ");
	buf_add_size(&text, quota);
	buf_add(&text, ": delete runs, or start the server with a larger --quota.");
	return err_set(e, EDQUOT, "%s", text.s);
}
