/*
 * The ledger of a run for people: what is missing from the data, what disturbed it, what measuring
 * has cost, and what to do about it. These are the only words for it: the API sends them, and the
 * page, the terminal and the exports show what they get.
 *
 * To add a line: one more add_… in ledger_words.c, and its key in docs/FORMATS.md. Pure.
 */
#ifndef TACHO_RUNS_LEDGER_WORDS_H
#define TACHO_RUNS_LEDGER_WORDS_H

#include "base/json.h"
#include "store/store.h"

#include <jansson.h>

/* One line of the ledger. The texts are valid only during the call of the visitor. */
struct ledger_entry {
	const char *key;      /* the member of the ledger that it is about */
	const char *name;     /* "Lost by the kernel" */
	const char *value;    /* "3 samples (1.96 %)", "none" */
	const char *about;    /* what it means */
	const char *words;    /* a few words for a label; NULL: not worth one */
	const char *sentence; /* NULL: there is nothing to tell */
	const char *advice;   /* what to do about it; NULL: nothing */
	bool bad;             /* something is missing, or not exact */
};

/* Facts about the run that are not in the ledger. */
struct ledger_run {
	double seconds; /* how long the run was measured; <= 0: unknown */
	bool import;    /* the run was read from a file */
	bool running;
};

typedef void ledger_visitor(void *ctx, const struct ledger_entry *entry);

/* Calls @visit for each line, the most important first; not at all if @ledger is not an object. */
void ledger_words(const json_t *ledger, const struct ledger_run *run, ledger_visitor *visit,
		  void *ctx);

/* ---- ledger_json.c ---- */

/* What ledger_words() needs to know about a stored run. */
struct ledger_run ledger_run_of(const struct stored_run *run);
/* Adds the members of @ledger, and "warnings" with all bad lines, to the object open in @j. */
void ledger_json_members(struct json *j, const json_t *ledger);
/* Adds the same as an object of its own; null if @ledger is not an object. */
void ledger_json(struct json *j, const json_t *ledger);
/* Adds the members "verdict" and "entries", see docs/FORMATS.md. @opened: body of RUN_OPENED, or
 * NULL. */
void ledger_json_words(struct json *j, const json_t *ledger, const json_t *opened,
		       const struct ledger_run *run);

#endif
