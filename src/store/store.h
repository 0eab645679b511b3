/*
 * Where everything lasts: sessions, runs, dictionaries, chunks, output, users. The database is SQLite
 * in the data directory; how to add another is in sql.h.
 *
 * A struct store is a connection and belongs to one thread at a time; threads open their own. Strings
 * that are given out belong to the caller, who calls the _release of their struct.
 *
 * Writers put many calls between store_begin() and store_commit(): behind the latter all of it is
 * durable, before it none is visible. Without these every call is a transaction of its own. When a call
 * between them fails, store_rollback() and begin anew: nothing of it is stored.
 *
 * Errors that people can do something about: -ENOSPC the disk is full, -EAGAIN somebody else has locked
 * it, -EROFS it cannot be written, -EUCLEAN it is damaged, -ESTALE its files were deleted or replaced
 * while they are open, -EACCES it is not ours (directory.h), -ENOENT there is no such thing, -EEXIST
 * there is one already. Any call may give them, each with its sentence.
 */
#ifndef TACHO_STORE_STORE_H
#define TACHO_STORE_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "profile/chunk.h"

#include <stdbool.h>
#include <stdint.h>

#define UUID_BYTES 37 /* with the NUL */

/* ---- what is stored ---- */

struct stored_session {
	int64_t id;
	char uuid[UUID_BYTES];
	char *title;
	int64_t created_ms; /* wall clock, milliseconds since 1970 */
	uint32_t runs;
};

enum run_state {
	STATE_QUEUED,
	STATE_RUNNING,
	STATE_DONE,
	STATE_FAILED,
	STATE_CANCELLED,
	STATE_INTERRUPTED,
};

const char *run_state_name(enum run_state s);

struct stored_run {
	int64_t id, session_id;
	char uuid[UUID_BYTES], session_uuid[UUID_BYTES];
	enum run_state state;
	double position; /* in the queue: smaller is earlier */
	bool exclusive;
	char *user;        /* who started it */
	char *description; /* a line for people */
	char *command;     /* the workload as written; what ETAs go by */
	char *plan;        /* JSON, see collect/run_plan.h */
	char *opened;      /* JSON of RUN_OPENED: environment, events as opened; NULL: not yet */
	char *ledger;      /* JSON of RUN_LEDGER, and "overlap"; NULL: not yet */
	char *ended;       /* JSON of RUN_ENDED; NULL: not yet */
	char *error;       /* a sentence, NULL: none */
	char *note;        /* a person's */
	char *tags;        /* JSON array */
	char *raw_path;    /* of the kept perf.data, relative to the data directory; NULL: none */
	int64_t created_ms, started_ms, ended_ms; /* 0: not yet */
	int64_t start_ns;                         /* clock of its chunks at started_ms */
	int64_t duration_ms; /* by the monotonic clock; 0: not yet. What ETAs go by */
	int64_t bytes;       /* that it takes in the store */
	int64_t samples;
};

struct stored_chunk {
	int64_t id, run;
	uint32_t source; /* which collector's dictionary; 0 for the only one */
	struct chunk_info info;
	int64_t bytes;
	bool merged; /* has a summary */
};

struct stored_user {
	int64_t id;
	char *name;
	int role; /* enum user_role of net/auth.h */
	char token_hash[65];
	int64_t created_ms, revoked_ms;
};

typedef VEC(struct stored_session) stored_sessions;
typedef VEC(struct stored_run) stored_runs;
typedef VEC(struct stored_chunk) stored_chunks;
typedef VEC(struct stored_user) stored_users;
typedef VEC(int64_t) run_numbers;

void stored_session_release(struct stored_session *s);
void stored_run_release(struct stored_run *r);
void stored_user_release(struct stored_user *u);
void stored_sessions_release(stored_sessions *v);
void stored_runs_release(stored_runs *v);
void stored_users_release(stored_users *v);

/* ---- the connection ---- */

struct store;

struct store_options {
	const char *directory; /* made, mode 0700, if it is not there; checked, see directory.h */
	bool read_only;
	unsigned busy_ms; /* how long to wait for another writer; 0: 5,000 */
};

/* Brings an older schema up to date; a newer one is an error that says which tacho wrote it. */
int store_open(struct store **ret, const struct store_options *o, struct err *e);
void store_close(struct store *s);
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e); /* rolls back on failure */
void store_rollback(struct store *s);

/*
 * Returns -ESTALE if files of the database were deleted or replaced since it was opened. What was
 * stored can still be read through this connection; every commit fails with the same error.
 */
int store_check(struct store *s, struct err *e);
/*
 * While this is on, commits of this connection go to such files all the same. What they write is lost
 * when the last connection closes; until then readers see it. For the ends of runs that failed because
 * of that.
 */
void store_settle_lost(struct store *s, bool on);

/* A new random identifier. */
void uuid_make(char ret[UUID_BYTES]);
bool uuid_valid(const char *text);

/* ---- sessions ---- */

int store_session_add(struct store *s, const char *title, struct stored_session *ret,
		      struct err *e);
int store_session_get(struct store *s, const char *uuid, struct stored_session *ret, struct err *e);
int store_session_rename(struct store *s, int64_t id, const char *title, struct err *e);
/* With its runs: as store_run_delete(). */
int store_session_delete(struct store *s, int64_t id, struct err *e);

/* One page, newest first. @before 0: from the newest; else with ids below. @search NULL: all. */
struct page {
	int64_t before;
	unsigned limit;
	const char *search; /* in titles; of runs in description, command, note and tags */
};

int store_sessions(struct store *s, const struct page *page, stored_sessions *ret, struct err *e);

/* ---- runs ---- */

/* Everything but id and session_uuid is taken from @run; those are filled in, and uuid and created_ms
 * if they are empty. */
int store_run_add(struct store *s, struct stored_run *run, struct err *e);
int store_run_get(struct store *s, const char *uuid, struct stored_run *ret, struct err *e);
/* Whether there is, or was, a run: -ENOENT if the database has never heard of it. @ret_deleted: it was
 * deleted, and its data is not purged yet. */
int store_run_known(struct store *s, const char *uuid, bool *ret_deleted, struct err *e);
/* When the newest ended run has ended; 0 if there is none. */
int store_newest_end(struct store *s, int64_t *ret_ms, struct err *e);
int store_run_get_id(struct store *s, int64_t id, struct stored_run *ret, struct err *e);
/* What changes by itself: state, position, exclusive, times, JSON texts, error, raw_path, samples. */
int store_run_update(struct store *s, const struct stored_run *run, struct err *e);
/* The note and the tags alone, so that a person's words and a running run's news do not meet. NULL:
 * left as it is. */
int store_run_annotate(struct store *s, int64_t id, const char *note, const char *tags,
		       struct err *e);
int store_run_describe(struct store *s, int64_t id, const char *description, struct err *e);
/* Takes no time: nobody sees it any more, and store_purge() takes its data away. */
int store_run_delete(struct store *s, int64_t id, struct err *e);
int store_runs(struct store *s, int64_t session_id, const struct page *page, stored_runs *ret,
	       struct err *e); /* session 0: of all */
/* The first run of a session that somebody else than @user has started, or nobody knows who; -ENOENT if
 * there is none. */
int store_run_of_others(struct store *s, int64_t session_id, const char *user,
			struct stored_run *ret, struct err *e);
/* Queued ones by position, or running ones. */
int store_runs_in_state(struct store *s, enum run_state state, stored_runs *ret, struct err *e);
/* Ended ones, the oldest first, with numbers above @after_id. */
int store_runs_oldest(struct store *s, int64_t after_id, unsigned limit, stored_runs *ret,
		      struct err *e);
/* How long done runs of this command took, the newest first; gives how many (at most @max). */
int store_durations(struct store *s, const char *command, int64_t *ret_ms, size_t max,
		    struct err *e);

/* ---- data of a run ---- */

int store_dictionary_add(struct store *s, int64_t run, uint32_t source, const void *bytes,
			 size_t size, struct err *e);
/* Pieces in the order in which they were added, from the one numbered @first on. Numbers ascend, with
 * gaps. A callback's result other than 0 ends it and is given back, here and below. */
int store_dictionary_each(struct store *s, int64_t run, uint32_t source, int64_t first,
			  int (*piece)(void *ctx, int64_t number, const void *bytes, size_t size),
			  void *ctx, struct err *e);
/* In one step: those numbered up to @last are replaced by others. The generation grows. */
int store_dictionary_replace(struct store *s, int64_t run, uint32_t source, int64_t last,
			     const struct buf *pieces, size_t count, struct err *e);

struct dictionary_count {
	uint32_t source;
	uint64_t pieces;
};

typedef VEC(struct dictionary_count) dictionary_counts;

int store_dictionary_counts(struct store *s, int64_t run, dictionary_counts *ret, struct err *e);

/* Without a summary it is one that waits to be merged. */
int store_chunk_add(struct store *s, int64_t run, uint32_t source, const struct chunk_info *info,
		    const void *bytes, size_t size, const void *summary, size_t summary_size,
		    int64_t *ret_id, struct err *e);
/* Those that touch a window, by time, without their bytes. 0: of any schema, of any partition. */
struct chunk_query {
	uint32_t schema;
	uint32_t partition;
	bool sampled;            /* only those whose rows are samples */
	uint64_t from_ns, to_ns; /* to_ns 0: no end */
	int64_t after_id;        /* only those with larger ids */
};

int store_chunks(struct store *s, int64_t run, const struct chunk_query *q, stored_chunks *ret,
		 struct err *e);
/*
 * Adds to @bytes and @summary; either may be NULL. Whoever gets bytes can rely on @chunk->info: a chunk whose
 * bytes have another table, number of rows or time than its row in the database is -EBADMSG, here and in lists
 * of chunks. What decoding finds beyond that is named by store_chunk_name().
 */
int store_chunk_read(struct store *s, const struct stored_chunk *chunk, struct buf *bytes,
		     struct buf *summary, struct err *e);
/* Puts "chunk N of run UUID" before the sentence if @result is -EBADMSG. Returns @result. */
int store_chunk_name(struct store *s, const struct stored_chunk *chunk, int result, struct err *e);
/* In one step: @old are replaced by one, whose id is larger than all before. Those who have seen the
 * old ids get -ENOENT for them. No @summary (NULL or empty): it is to be merged once more. */
int store_chunks_replace(struct store *s, int64_t run, const int64_t *old, size_t count,
			 uint32_t source, const struct chunk_info *info, const struct buf *bytes,
			 const struct buf *summary, struct err *e);
/* One that is whole as it is gets its summary, and does not wait any more. */
int store_chunk_summarize(struct store *s, int64_t run, int64_t chunk, const struct buf *summary,
			  struct err *e);
/* Grows with every replacement and summary: a cache that has seen another number reads anew. */
int store_run_generation(struct store *s, int64_t run, int64_t *ret, struct err *e);

int store_runs_to_merge(struct store *s, run_numbers *ret, struct err *e);
/* Chunks that wait to be merged: by source, schema and partition, and then by time. */
int store_chunks_to_merge(struct store *s, int64_t run, unsigned limit, stored_chunks *ret,
			  struct err *e);

int store_code_add(struct store *s, int64_t run, uint32_t source, uint32_t function,
		   const void *bytes, size_t size, struct err *e);
int store_code_get(struct store *s, int64_t run, uint32_t source, uint32_t function,
		   struct buf *ret, struct err *e);
/* What can be computed again, kept because that takes long: "paths" for one. NULL bytes: forget. */
int store_derived_put(struct store *s, int64_t run, const char *name, const void *bytes,
		      size_t size, struct err *e);
int store_derived_get(struct store *s, int64_t run, const char *name, struct buf *ret,
		      struct err *e);

/* What the workload has printed, in the order in which it came. @stream 1 stdout, 2 stderr. */
int store_output_add(struct store *s, int64_t run, int stream, uint64_t time_ns, const void *bytes,
		     size_t size, struct err *e);
/* @stream 0: both. */
int store_output_each(struct store *s, int64_t run, int stream,
		      int (*piece)(void *ctx, int stream, uint64_t time_ns, const void *bytes,
				   size_t size),
		      void *ctx, struct err *e);
/* Notes of tacho while it ran, in their order. */
int store_note_add(struct store *s, int64_t run, uint64_t time_ns, const char *text, struct err *e);
int store_notes(struct store *s, int64_t run,
		int (*note)(void *ctx, uint64_t time_ns, const char *text), void *ctx,
		struct err *e);

/* ---- users, settings, room ---- */

int store_user_add(struct store *s, struct stored_user *user, struct err *e);
int store_user_by_hash(struct store *s, const char *token_hash, struct stored_user *ret,
		       struct err *e); /* -ENOENT also if revoked */
/* The role of the user of this name who is not revoked; 0: there is none. */
int store_user_role(struct store *s, const char *name, int *ret, struct err *e);
int store_user_revoke(struct store *s, const char *name, struct err *e);
/* Gives a user another token; the one before is no longer known. */
int store_user_renew(struct store *s, const char *name, const char *token_hash, struct err *e);
int store_users(struct store *s, stored_users *ret, struct err *e);

/* Browsers that are logged in: each has a cookie whose hash is stored here until it expires. Adding one
 * deletes the expired ones, and the oldest of a user who has more than LOGINS_MAX. */
#define LOGINS_MAX 100
int store_login_add(struct store *s, int64_t user, const char *cookie_hash, int64_t now_ms,
		    int64_t expires_ms, struct err *e);
int store_user_by_login(struct store *s, const char *cookie_hash, int64_t now_ms,
			struct stored_user *ret,
			struct err *e); /* -ENOENT also if expired, or the user was revoked */
/* Deletes all logins of a user. */
int store_logins_end(struct store *s, const char *user, struct err *e);
int store_setting_get(struct store *s, const char *name, char **ret, struct err *e);
int store_setting_put(struct store *s, const char *name, const char *value, struct err *e);

/*
 * Deleting takes a little room before it gives any back. So that it can be done on a full disk, a file
 * holds some megabytes that are let go when deleting needs them, or the end of a run. Opening makes it; so does this, for
 * whoever has given room back. Nothing happens if there is one, or little room.
 */
void store_reserve(struct store *s);
/* Lets it go, for the few rows that say how a run ended; false: there is none. */
bool store_use_reserve(struct store *s);
/* Bytes on the disk of all of it, and free ones inside. */
int store_size(struct store *s, uint64_t *ret_bytes, uint64_t *ret_free, struct err *e);
/* The run that store_purge() removes next: the first deleted one whose id is above @after. Without one,
 * *@ret_run is 0. */
int store_purge_next(struct store *s, int64_t after, int64_t *ret_run, char ret_uuid[UUID_BYTES],
		     struct err *e);
/* Removes about @max_bytes of the deleted runs whose ids are above @after, and of deleted sessions.
 * @ret_more: there may be more. */
int store_purge(struct store *s, int64_t after, uint64_t max_bytes, bool *ret_more, struct err *e);
/* Gives at most @max_bytes of free ones back to the disk; true if there are more. Not in a
 * transaction. */
bool store_shrink(struct store *s, uint64_t max_bytes);

#endif
