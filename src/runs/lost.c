/*
 * Recordings and the database that knows them, when the server starts. A database can be new, restored
 * from an older backup, or another one; then it knows nothing of recordings that somebody needs. So a
 * recording is deleted only if the database itself says that its run was deleted. One that the database
 * does not know is moved to "lost" in the data directory, and back when a database comes that knows it.
 *
 * The same goes for the recording of a run that has ended and, as the database says, keeps none.
 *
 * To tell people which of these has happened, database and directory have an id in common: the setting
 * "database-id" and the file of the same name. Nothing is decided by it.
 */
#include "query/run_cache.h"
#include "runs/internal.h"
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID            "database-id"
#define ID_FILE_BYTES 256
#define SUFFIX        ".data"
#define LOG_NAME      "-tacho.db-wal"

enum identity {
	ID_SAME,  /* or not known, because both are new or from an older version */
	ID_NEW,   /* the directory has had another database, this one has no id yet */
	ID_OTHER, /* the database has the id of another directory */
};

/* ---- which database it is ---- */

/* Ids come from files: what is no UUID is as good as none. */
static void take_id(const char *text, char ret[UUID_BYTES])
{
	ret[0] = '\0';
	if (text && uuid_valid(text))
		snprintf(ret, UUID_BYTES, "%s", text);
}

/* Compares the ids, then makes them the same. If that fails, the next start tries again. */
static enum identity identify(const struct directory *d, struct store *store)
{
	CLEANUP(free_ptr) char *in_store = NULL, *in_file = NULL, *line = NULL;
	char id[UUID_BYTES], before[UUID_BYTES];
	enum identity result = ID_SAME;

	store_setting_get(store, ID, &in_store, NULL);
	directory_read(d, ID, ID_FILE_BYTES, &in_file, NULL);
	take_id(in_store, id);
	take_id(in_file, before);
	if (*before && strcmp(id, before) != 0)
		result = *id ? ID_OTHER : ID_NEW;
	if (!*id) {
		uuid_make(id);
		if (store_setting_put(store, ID, id, NULL) < 0)
			return result;
	}
	if (strcmp(id, before) != 0) {
		line = xasprintf("%s\n", id);
		directory_write(d, ID, line, NULL);
	}
	return result;
}

/* ---- recordings ---- */

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

/* Whether the run has ended and was to keep no recording: then this one could not be removed. */
static bool keeps_none(struct store *store, const char *uuid)
{
	CLEANUP(stored_run_release) struct stored_run run = {};

	return store_run_get(store, uuid, &run, NULL) == 0 && run_state_ended(run.state) &&
	       !run.raw_path && raw_unwanted(&run);
}

/* The recording @name of raw/: deletes it if its run was deleted or keeps none, sets it aside if there is no run. */
static bool set_aside(const struct directory *d, struct store *store, const char *name,
		      struct err *e)
{
	CLEANUP(free_ptr) char *uuid = xstrndup(name, strcspn(name, "."));
	CLEANUP(free_ptr) char *path = xasprintf("raw/%s", name);
	bool deleted = false;
	int r;

	if (!uuid_valid(uuid))
		return false;
	r = store_run_known(store, uuid, &deleted, NULL);
	if (r == 0 && (deleted || keeps_none(store, uuid)))
		unlinkat(d->fd, path, 0);
	return r == -ENOENT && directory_set_aside(d, path, NULL, e) == 0;
}

/* Moves the file @name of lost/ back if it is the recording of a run that the database knows. */
static bool bring_back(const struct directory *d, struct store *store, const char *name)
{
	size_t tail = UUID_BYTES - 1 + strlen(SUFFIX), len = strlen(name);
	CLEANUP(free_ptr) char *uuid = NULL, *from = NULL, *to = NULL;
	bool deleted = false;

	if (len <= tail || !ends_with(name, SUFFIX))
		return false;
	uuid = xstrndup(name + len - tail, UUID_BYTES - 1);
	if (!uuid_valid(uuid) || store_run_known(store, uuid, &deleted, NULL) < 0 || deleted)
		return false;
	from = xasprintf(DIRECTORY_LOST "/%s", name);
	to = raw_name(uuid);
	return faccessat(d->fd, to, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT &&
	       !renameat(d->fd, from, d->fd, to);
}

/* ---- what is told ---- */

static void tell(struct run_host *host, struct buf *text)
{
	vec_push(&host->notices, buf_steal(text));
}

static const char *why(enum identity id)
{
	switch (id) {
	case ID_NEW:
		return "The database is new, and the one that this data directory had is gone. ";
	case ID_OTHER:
		return "The database is not the one that this data directory had. ";
	case ID_SAME:
		break;
	}
	return "";
}

static void tell_set_aside(struct run_host *host, enum identity id, size_t recordings, bool log,
			   const struct err *e)
{
	struct buf text = {};

	if (e->code) {
		buf_addf(&text,
			 "A recording whose run is not in the database stays where it is: %s",
			 e->text);
		tell(host, &text);
		if (!recordings && id == ID_SAME)
			return;
	}
	buf_add(&text, why(id));
	if (recordings)
		buf_addf(&text,
			 "The database does not know the runs of %zu recording%s. Nothing was "
			 "deleted: %s in '%s/" DIRECTORY_LOST "'. ",
			 recordings, recordings == 1 ? "" : "s",
			 recordings == 1 ? "it is now" : "they are now", host->settings.data);
	if (log)
		buf_addf(&text,
			 "The log of an earlier database (*" LOG_NAME ") is in '%s/" DIRECTORY_LOST
			 "'. ",
			 host->settings.data);
	buf_add(&text,
		"To recover, stop the server and put the right database back (tacho.db, with its "
		"log as tacho.db-wal)");
	if (recordings)
		buf_add(&text, ", and they return by themselves; or import them as new runs, by "
			       "dropping them on the page");
	buf_add(&text, ".");
	tell(host, &text);
}

/* ---- all of it ---- */

static size_t bring_all_back(const struct directory *d, struct store *store, bool *ret_log)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/" DIRECTORY_LOST, d->path);
	CLEANUP(strvec_release) strvec names = {};
	size_t count = 0;

	fs_list(path, &names);
	vec_each(&names, name) {
		*ret_log = *ret_log || ends_with(*name, LOG_NAME);
		count += bring_back(d, store, *name);
	}
	return count;
}

void lost_settle(struct run_host *host, struct store *store)
{
	CLEANUP(directory_close) struct directory d = {.fd = -1}, lost = {.fd = -1};
	CLEANUP(strvec_release) strvec names = {};
	CLEANUP(free_ptr) char *raw = xasprintf("%s/raw", host->settings.data);
	struct buf text = {};
	struct err e = {};
	size_t moved = 0, back = 0;
	bool log = false;
	enum identity id;

	if (directory_open(&d, host->settings.data, false, &e) < 0)
		return;
	id = identify(&d, store);
	if (directory_open_below(&lost, &d, DIRECTORY_LOST, false, NULL) == 0)
		back = bring_all_back(&d, store, &log);
	fs_list(raw, &names);
	vec_each(&names, name)
		moved += set_aside(&d, store, *name, &e);
	if (moved || (id != ID_SAME && !back) || e.code)
		tell_set_aside(host, id, moved, log, &e);
	if (back) {
		buf_addf(&text,
			 "%zu recording%s moved back from '%s/" DIRECTORY_LOST
			 "': the database knows %s again.",
			 back, back == 1 ? " was" : "s were", d.path,
			 back == 1 ? "its run" : "their runs");
		tell(host, &text);
	}
}
