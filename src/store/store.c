#include "store/store.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "store/sql.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct store_ops *const stores[] = {
	&sqlite_ops,
};

int store_open(struct store **ret, const struct store_options *o, struct err *e)
{
	struct store *s = NULL;
	int result = stores[0]->open(&s, o, e);

	if (!result)
		result = store_migrate(s, o->read_only, e);
	if (result) {
		store_close(s);
		return result;
	}
	if (!o->read_only)
		store_reserve(s);
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	store_rollback(s);
	vec_release(&s->growth);
	free(s->place);
	s->ops->close(s);
}

int store_check(struct store *s, struct err *e)
{
	return s->ops->check ? s->ops->check(s, e) : 0;
}

void store_settle_lost(struct store *s, bool on)
{
	if (s->ops->settle_lost)
		s->ops->settle_lost(s, on);
}

/* ---- transactions ---- */

int store_begin(struct store *s, struct err *e)
{
	int result;

	if (s->began)
		return err_set(e, EALREADY, "A transaction was begun already.");
	result = s->ops->begin(s, e);
	s->began = !result;
	return result;
}

static int write_growth(struct store *s, struct err *e)
{
	vec_each(&s->growth, g) {
		int64_t changed = sql_run(s, e, "UPDATE runs SET bytes = bytes + $1 WHERE id = $2",
					  SQL_VALUES(sql_int(g->bytes), sql_int(g->run)));

		if (changed < 0)
			return (int)changed;
	}
	s->growth.len = 0;
	return 0;
}

int store_commit(struct store *s, struct err *e)
{
	int result;

	if (!s->began)
		return err_set(e, EINVAL, "There is no transaction to commit.");
	result = write_growth(s, e);
	if (!result && !s->ops->in_transaction(s))
		result = err_set(e, EIO, "'%s': the transaction has failed before.", s->place);
	if (!result)
		result = s->ops->commit(s, e);
	if (result)
		store_rollback(s);
	s->began = false;
	return result;
}

void store_rollback(struct store *s)
{
	if (s->began && s->ops->in_transaction(s))
		s->ops->rollback(s);
	s->began = false;
	s->growth.len = 0;
}

int sql_scope_begin(struct store *s, bool *ret_own, struct err *e)
{
	*ret_own = !s->began;
	return s->began ? 0 : store_begin(s, e);
}

int sql_scope_end(struct store *s, bool own, int result, struct err *e)
{
	if (!own)
		return result;
	if (result < 0) {
		store_rollback(s);
		return result;
	}
	return store_commit(s, e);
}

void run_grows(struct store *s, int64_t run, int64_t bytes)
{
	vec_each(&s->growth, g) {
		if (g->run == run) {
			g->bytes += bytes;
			return;
		}
	}
	vec_push(&s->growth, (struct run_growth){run, bytes});
}

/* ---- statements ---- */

struct sql_value sql_int(int64_t value)
{
	return (struct sql_value){.type = SQL_INTEGER, .integer = value};
}

struct sql_value sql_u64(uint64_t value)
{
	return sql_int(value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

struct sql_value sql_real(double value)
{
	return (struct sql_value){.type = SQL_REAL, .real = value};
}

struct sql_value sql_text(const char *text)
{
	return text ? (struct sql_value){.type = SQL_TEXT, .bytes = text, .size = strlen(text)}
		    : (struct sql_value){.type = SQL_NULL};
}

struct sql_value sql_bytes(const void *bytes, size_t size)
{
	/* No bytes are not NULL. */
	return (struct sql_value){.type = SQL_BYTES, .bytes = size ? bytes : "", .size = size};
}

int sql_query(struct store *s, struct err *e, struct sql_rows **ret, const char *sql,
	      const struct sql_value *values, size_t count)
{
	if (s->began && !s->ops->in_transaction(s))
		return err_set(e, EIO, "'%s': the transaction has failed before.", s->place);
	return s->ops->query(s, sql, values, count, ret, e);
}

int sql_next(struct sql_rows *rows, struct err *e)
{
	/* Everything that takes much memory comes from here, row by row. */
	if (reserve_is_short())
		return err_set(e, ENOMEM,
			       "There is not enough memory left for this. Ask for less at a time, "
			       "or try again later.");
	return rows->store->ops->next(rows, e);
}

void sql_done(struct sql_rows **rows)
{
	if (*rows)
		(*rows)->store->ops->done(*rows);
	*rows = NULL;
}

int64_t sql_run(struct store *s, struct err *e, const char *sql, const struct sql_value *values,
		size_t count)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, sql, values, count);

	if (!rows)
		return result;
	while (!result && (result = sql_next(rows, e)) > 0)
		result = 0;
	return result < 0 ? result : s->ops->changes(rows);
}

int sql_number(struct store *s, struct err *e, int64_t *ret, const char *sql,
	       const struct sql_value *values, size_t count)
{
	CLEANUP(sql_done) struct sql_rows *rows = NULL;
	int result = sql_query(s, e, &rows, sql, values, count);
	int64_t number;

	if (!rows)
		return result;
	result = sql_next(rows, e);
	if (result < 0)
		return result;
	if (!result)
		return err_set(e, ENOENT, "'%s' has no such row.", s->place);
	number = row_int(rows, 0);
	/* A statement that changes something has done it only when it has come to its end. */
	result = sql_next(rows, e);
	if (result < 0)
		return result;
	*ret = number;
	return 0;
}

int64_t row_int(struct sql_rows *rows, int column)
{
	return rows->store->ops->integer(rows, column);
}

int64_t row_number(struct sql_rows *rows, int column, int64_t max)
{
	int64_t value = row_int(rows, column);

	return value >= 0 && value <= max ? value : 0;
}

uint64_t row_u64(struct sql_rows *rows, int column)
{
	int64_t value = row_int(rows, column);

	return value < 0 ? 0 : (uint64_t)value;
}

double row_real(struct sql_rows *rows, int column)
{
	return rows->store->ops->real(rows, column);
}

const void *row_bytes(struct sql_rows *rows, int column, size_t *ret_size)
{
	return rows->store->ops->bytes(rows, column, ret_size);
}

char *row_text(struct sql_rows *rows, int column)
{
	size_t size;
	const void *bytes = row_bytes(rows, column, &size);

	return bytes ? xstrndup(bytes, size) : NULL;
}

char *row_words(struct sql_rows *rows, int column)
{
	char *text = row_text(rows, column);

	return text ? text : xstrdup("");
}

void row_copy(struct sql_rows *rows, int column, char *ret, size_t size)
{
	size_t len;
	const void *bytes = row_bytes(rows, column, &len);

	snprintf(ret, size, "%.*s", bytes && len < size ? (int)len : (int)size - 1,
		 bytes ? (const char *)bytes : "");
}

/* ---- room ---- */

int store_size(struct store *s, uint64_t *ret_bytes, uint64_t *ret_free, struct err *e)
{
	return s->ops->size(s, ret_bytes, ret_free, e);
}

void store_reserve(struct store *s)
{
	if (s->ops->reserve)
		s->ops->reserve(s);
}

bool store_use_reserve(struct store *s)
{
	return !s->began && s->ops->use_reserve && s->ops->use_reserve(s);
}

bool deleting_again(struct store *s, int result)
{
	/* What is in a transaction of the caller's is gone already. */
	return result == -ENOSPC && store_use_reserve(s);
}

bool store_shrink(struct store *s, uint64_t max_bytes)
{
	return s->ops->shrink(s, max_bytes);
}

/* ---- structs ---- */

const char *run_state_name(enum run_state s)
{
	static const char *const names[] = {"queued", "running",   "done",
					    "failed", "cancelled", "interrupted"};

	return (size_t)s < ARRAY_LEN(names) ? names[s] : "unknown";
}

void stored_session_release(struct stored_session *s)
{
	free(s->title);
	*s = (struct stored_session){};
}

void stored_run_release(struct stored_run *r)
{
	char *const texts[] = {r->user,  r->description, r->command, r->plan, r->opened,  r->ledger,
			       r->ended, r->error,       r->note,    r->tags, r->raw_path};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		free(texts[i]);
	*r = (struct stored_run){};
}

void stored_user_release(struct stored_user *u)
{
	free(u->name);
	*u = (struct stored_user){};
}

void stored_sessions_release(stored_sessions *v)
{
	vec_each(v, s)
		stored_session_release(s);
	vec_release(v);
}

void stored_runs_release(stored_runs *v)
{
	vec_each(v, r)
		stored_run_release(r);
	vec_release(v);
}

void stored_users_release(stored_users *v)
{
	vec_each(v, u)
		stored_user_release(u);
	vec_release(v);
}
