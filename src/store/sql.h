/*
 * Between the store and a database. The files by topic (sessions.c, runs.c, data.c, chunks.c,
 * users.c) hold all SQL, written once for every database; a database is one struct store_ops that
 * runs it. To add one: a file like sqlite.c, and its row in `stores[]` of store.c.
 *
 * What portable means here: parameters are $1, $2 … in the order of their first use; new ids come
 * from RETURNING; no functions but COUNT, SUM, MIN, MAX, COALESCE and LOWER; integers are BIGINT,
 * bytes BYTEA; migrations write {id} for the type of a number that is given out once and never
 * again, {key} for a primary key that is another table's id.
 *
 * SQL is always a string literal: statements are kept prepared by the address of their text.
 */
#ifndef TACHO_STORE_SQL_H
#define TACHO_STORE_SQL_H

#include "store/store.h"

#define WALL_MS_MAX 253402300799999ll /* times of the wall clock: the end of the year 9999 */

enum sql_type { SQL_NULL, SQL_INTEGER, SQL_REAL, SQL_TEXT, SQL_BYTES };

struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const void *bytes; /* of text, too; valid as long as the call that gets it */
	size_t size;
};

struct sql_value sql_int(int64_t value);
struct sql_value sql_u64(uint64_t value); /* what does not fit becomes the largest that does */
struct sql_value sql_real(double value);
struct sql_value sql_text(const char *text); /* NULL is NULL */
struct sql_value sql_bytes(const void *bytes, size_t size);

struct sql_rows; /* of a statement that runs; the database's own */

struct store_ops {
	const char *name;
	const char *id_type, *key_type; /* what {id} and {key} stand for */
	int (*open)(struct store **ret, const struct store_options *o, struct err *e);
	void (*close)(struct store *s);
	int (*begin)(struct store *s, struct err *e); /* nobody else can write from here on */
	int (*commit)(struct store *s, struct err *e);
	void (*rollback)(struct store *s);
	/* Whether a transaction that was begun is still there: a full disk may have ended it. */
	bool (*in_transaction)(struct store *s);
	/* Statements without parameters, for migrations. */
	int (*execute)(struct store *s, const char *sql, struct err *e);

	int (*query)(struct store *s, const char *sql, const struct sql_value *values, size_t count,
		     struct sql_rows **ret, struct err *e);
	int (*next)(struct sql_rows *rows, struct err *e); /* 1: a row; 0: no more of them */
	int64_t (*integer)(struct sql_rows *rows, int column);
	double (*real)(struct sql_rows *rows, int column);
	/* NULL if it is; valid until the next row. */
	const void *(*bytes)(struct sql_rows *rows, int column, size_t *ret_size);
	int64_t (*changes)(struct sql_rows *rows); /* how many rows it has changed */
	void (*done)(struct sql_rows *rows);

	int (*size)(struct store *s, uint64_t *ret_bytes, uint64_t *ret_free, struct err *e);
	bool (*shrink)(struct store *s, uint64_t max_bytes);
	/* See store_check() and store_settle_lost(); NULL where nobody can take the files away. */
	int (*check)(struct store *s, struct err *e);
	void (*settle_lost)(struct store *s, bool on);
	/* See store_reserve(); databases elsewhere have neither. */
	void (*reserve)(struct store *s);
	bool (*use_reserve)(struct store *s); /* false: there was none */
};

/* Bytes that a run has gained in this transaction: written to its row once, before the commit. */
struct run_growth {
	int64_t run, bytes;
};

/* A database's own struct begins with this. */
struct store {
	const struct store_ops *ops;
	char *place; /* how messages name it: a path, an address */
	bool began;  /* a transaction, whether or not it is still there */
	VEC(struct run_growth) growth;
};

extern const struct store_ops sqlite_ops;

/* ---- what topics use ---- */

#define SQL_VALUES(...)                                                                            \
	(const struct sql_value[]){__VA_ARGS__},                                                   \
		sizeof((const struct sql_value[]){__VA_ARGS__}) / sizeof(struct sql_value)
#define SQL_NONE NULL, 0

/* A statement whose rows nobody wants; gives how many were changed. */
int64_t sql_run(struct store *s, struct err *e, const char *sql, const struct sql_value *values,
		size_t count);
/* A statement that gives one number, -ENOENT if it gives no row. */
int sql_number(struct store *s, struct err *e, int64_t *ret, const char *sql,
	       const struct sql_value *values, size_t count);
/* A statement with rows: `while ((got = sql_next(rows, e)) > 0)`, then sql_done() in any case. */
int sql_query(struct store *s, struct err *e, struct sql_rows **ret, const char *sql,
	      const struct sql_value *values, size_t count);

/* A cursor over rows with what it takes to read them. */
struct sql_rows {
	struct store *store;
};

int sql_next(struct sql_rows *rows, struct err *e);
void sql_done(struct sql_rows **rows); /* for CLEANUP(); NULL is fine */
int64_t row_int(struct sql_rows *rows, int column);
uint64_t row_u64(struct sql_rows *rows, int column);
/*
 * A damaged database may say anything. A number that is not from 0 to @max becomes 0, which means unknown, so
 * that one such row neither hides the others nor keeps the server from starting.
 */
int64_t row_number(struct sql_rows *rows, int column, int64_t max);
double row_real(struct sql_rows *rows, int column);
char *row_text(struct sql_rows *rows, int column); /* a copy, NULL if it is NULL */
/* The same of a column that is never NULL, except in a damaged database: then "". */
char *row_words(struct sql_rows *rows, int column);
void row_copy(struct sql_rows *rows, int column, char *ret, size_t size);
const void *row_bytes(struct sql_rows *rows, int column, size_t *ret_size);

/* Several statements as one: inside the caller's transaction, or in one of their own. */
int sql_scope_begin(struct store *s, bool *ret_own, struct err *e);
int sql_scope_end(struct store *s, bool own, int result, struct err *e);

/* To be called when something of a run was added (or, with less than 0, taken away). */
void run_grows(struct store *s, int64_t run, int64_t bytes);

/* Whether to try once more what deletes: the disk was full, and the reserve has been let go. */
bool deleting_again(struct store *s, int result);

int store_migrate(struct store *s, bool read_only, struct err *e);

#endif
