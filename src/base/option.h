/*
 * Command lines. A command describes its options once, in a const table; parsing, --help, the
 * manual page and shell completion all come from it. To add an option: add a member to the
 * command's options struct and a row to its table.
 *
 *	struct my_options { bool all; const char *file; };
 *	static const struct option_def my_table[] = {
 *		{'a', "all", NULL, OPT_FLAG, offsetof(struct my_options, all), "everything"},
 *		{'o', "output", "FILE", OPT_STR, offsetof(struct my_options, file), "write to FILE"},
 *		{},
 *	};
 */
#ifndef TACHO_BASE_OPTION_H
#define TACHO_BASE_OPTION_H

#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>

enum option_kind {
	OPT_END,      /* the zero row that ends the table */
	OPT_HEADING,  /* only a title: help is the text */
	OPT_FLAG,     /* bool */
	OPT_COUNT,    /* unsigned, one more each time */
	OPT_STR,      /* const char * */
	OPT_OPTIONAL, /* const char *, value only as --name=VALUE or -x5; "" without one */
	OPT_LIST,     /* option_list, one entry each time */
	OPT_UINT,     /* unsigned */
	OPT_ORDERED,  /* option_items: several rows share one, where their order matters; rows
		       * without arg take no value */
};

typedef VEC(const char *) option_list;

struct option_item {
	const struct option_def *option;
	const char *value;
};

typedef VEC(struct option_item) option_items;

struct option_def {
	char letter;
	const char *name;
	const char *arg; /* what the value is called: FILE, DIR, EVENT … (completion goes by it) */
	enum option_kind kind;
	size_t offset;
	const char *help; /* NULL: taken, but not shown; for other words for the same */
};

/*
 * Parses argv[0..argc) into @values; stops at the first word that is not an option, or after
 * "--", and stores the number of words read in *ret_used. Long names may be abbreviated.
 * -h and --help set *ret_help. Errors are -EINVAL with a sentence.
 */
int option_parse(const struct option_def *table, void *values, int argc, char **argv, int *ret_used,
		 bool *ret_help, struct err *e);

#endif
