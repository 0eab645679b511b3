/*
 * Metric formulas, as in the kernel's event files (MetricExpr, MetricThreshold) and in Intel's
 * metric files (Formula): parse once, ask which names need a value, evaluate as often as there
 * are values.
 *
 *	a if cond else b                  lowest, right associative, chains
 *	|  ^  &                           logical: 0 or 1 (|| and && are the same as | and &)
 *	<  >  <=  >=  ==  !=              0 or 1
 *	+ -      * / %      unary -       % on whole parts, as in C
 *	min(a, b)  max(a, b)  d_ratio(a, b)  abs(a)
 *	has_event(name)  source_count(name)  aggr_nr(name)  strcmp_cpuid_str(name)
 *	12  .5  1e9  0x3c  NaN
 *
 * A name is an event, another metric, an alias, or a constant of the system (#smt_on). It is
 * handed out the way events are typed: '@' becomes '/', and a backslash protects the character
 * after it, so cpu@event\=0x3c\,umask\=0x1@ is cpu/event=0x3c,umask=0x1/. Constants are handed
 * out in lower case, because the files spell them both ways. A '?' (a parameter that the event
 * files leave to run time) and an index as in a[0] stay in the name.
 *
 * NaN is "no value", never 0: it is the result of a division by zero, and of every operation on
 * NaN, comparisons and conditions included. Exceptions: 0 & x is 0, 1 | x is 1, and d_ratio(x, 0)
 * is 0, as in perf. A result is finite or NaN.
 *
 * Ownership: the caller frees a parsed formula with expr_free(); names live as long as it does.
 * Threads: a formula does not change once it is parsed and folded, so many threads may evaluate
 * it at the same time.
 */
#ifndef TACHO_MEASURE_EXPR_H
#define TACHO_MEASURE_EXPR_H

#include "base/err.h"

#include <stdbool.h>

/* The longest formula in Intel's files has 33,766 bytes and 17 levels of parentheses. */
#define EXPR_TEXT_MAX  (128 * 1024)
#define EXPR_DEPTH_MAX 200

struct expr;

/* What a formula needs to know about a name. */
enum expr_use {
	EXPR_VALUE,        /* its value */
	EXPR_HAS_EVENT,    /* 1 if there is such an event here, 0 if not */
	EXPR_SOURCE_COUNT, /* how many PMUs were added up in its value */
	EXPR_AGGR_NR,      /* how many CPUs were added up in its value */
	EXPR_CPUID, /* 1 if this is the processor named (on Arm: or a later revision), else 0 */
};

/* Answers one question; leaves *ret_known false if it has no answer. */
typedef double expr_lookup(void *arg, enum expr_use use, const char *name, bool *ret_known);

/* Returns -EINVAL, or -E2BIG if a limit is exceeded; the error names the column, counted from 1. */
int expr_parse(const char *text, struct expr **ret_expr, struct err *e);
void expr_free(struct expr *x);

/*
 * Replaces what is known before anything was counted (#constants, has_event(), the processor) by
 * its value, and drops branches that are then never taken, so that their events need not be opened.
 * What @lookup does not know stays as it is.
 */
void expr_fold(struct expr *x, expr_lookup *lookup, void *arg);

/* Calls @fn for each name that the result depends on, once for each use, in text order. */
void expr_names(const struct expr *x, void (*fn)(void *arg, enum expr_use use, const char *name),
		void *arg);

/*
 * Asks @lookup for each name once. Returns -ENOENT, and the error names it, if a name is not known
 * that the result needs. Names in the branch of an 'if' that is not taken may be unknown.
 */
int expr_eval(const struct expr *x, expr_lookup *lookup, void *arg, double *ret_value,
	      struct err *e);

#endif
