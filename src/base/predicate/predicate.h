/*
 * Conditions on named fields, in the grammar of the kernel's event filters:
 *
 *	prev_pid == 0 && (next_comm ~ "ba*" || !(next_prio & 0x60))
 *
 * A comparison is FIELD OPERATOR VALUE. The operators of numbers are == != < <= > >= and &, which is
 * true if any of the bits is set. Those of texts are == != and ~, which matches the whole text against a
 * pattern with the wildcards * ? and [set]; a '!' before the pattern negates it. Numbers are decimal,
 * hexadecimal (0x) or octal (0). Texts are quoted by " or ', without escapes. ! binds tighter than &&,
 * and && tighter than ||.
 *
 * Every filter that the kernel (Linux 4.17 and later) accepts is accepted with the same meaning, except:
 * - An operator or a '!' without a condition behind it, which the kernel ignores, is an error.
 * - A number that does not fit into its field is not truncated to the field's size.
 * - The pattern "*end" matches the end of a text. The kernel compares with the last bytes of an array,
 *   which are seldom the end of the text in it: in filters for the kernel this is an error.
 * - A pattern may begin with a digit. The kernel takes "7*" for the text itself, not for a pattern: in
 *   filters for the kernel this is an error.
 *
 * A parsed predicate is immutable: any number of threads may test it at a time. Fields are provided by
 * the caller's callbacks.
 */
#ifndef TACHO_BASE_PREDICATE_H
#define TACHO_BASE_PREDICATE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's limit: a page with the final NUL. It also bounds the number of comparisons. */
#define PREDICATE_BYTES_MAX 4095u
/* Limit of a quoted text, as in the kernel. */
#define PREDICATE_TEXT_MAX 255u
/* Limit of nested parentheses. */
#define PREDICATE_DEPTH_MAX 256u

struct predicate;

enum predicate_type {
	PREDICATE_UNSIGNED,
	PREDICATE_SIGNED,
	PREDICATE_FLOAT,
	PREDICATE_TEXT,
	PREDICATE_OPAQUE, /* neither a number nor a text: an error if it is compared */
};

/* The fields that a condition may use. */
struct predicate_names {
	/* Returns the number of a field (>= 0) and its type, or -1 if there is none. */
	int (*find)(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type);
	/* Returns the name at place @n of a list for messages, NULL behind the last. Names that
	 * users want most come first: messages list only the first ones. */
	const char *(*name)(const void *ctx, size_t n);
	const void *ctx;
	const char *subject; /* the owner of the fields, for messages: "sched:sched_switch" */
	/*
	 * The condition is for the kernel: accept FIELD.ustring, FIELD.function and CPUS{list}, too.
	 * The kernel checks functions and lists of CPUs. Only the kernel can test them, so
	 * predicate_test() must not be called.
	 */
	bool for_kernel;
	/*
	 * For the kernel: whether a text is in an array of fixed size, with other bytes behind it.
	 * NULL: none is.
	 */
	bool (*in_array)(const void *ctx, unsigned field);
};

/* Values of the row that is tested. */
struct predicate_row {
	/* Signed numbers are sign-extended; for PREDICATE_FLOAT the bits of a double. */
	uint64_t (*number)(const void *ctx, unsigned field);
	/* NULL is the same as "". The text must live until predicate_test() returns. */
	const char *(*text)(const void *ctx, unsigned field);
	const void *ctx;
};

/*
 * Parses @text. On failure returns -EINVAL with a sentence that shows the text with a mark under the
 * wrong character, and suggests names. @names is not used after the call.
 */
int predicate_parse(struct predicate **ret, const char *text, const struct predicate_names *names,
		    struct err *e);
void predicate_free(struct predicate *p);

/* The numbers of the fields that the condition uses, ascending, each once. They belong to @p. */
const unsigned *predicate_fields(const struct predicate *p, size_t *ret_count);

/* Whether the row meets the condition. Reads only the values that the result depends on. */
bool predicate_test(const struct predicate *p, const struct predicate_row *row);

/* ---- many rows at once ---- */

#define PREDICATE_BLOCK 1024u

/* Values of the rows of a block, in columns. */
struct predicate_block {
	size_t rows; /* at most PREDICATE_BLOCK */
	/* Returns the values of a field, one per row, as struct predicate_row has them. A text is given as
	 * a number, which @text maps to its string. Valid until the next call for the same field. */
	const uint64_t *(*numbers)(const void *ctx, unsigned field);
	const char *(*text)(const void *ctx, unsigned field, uint64_t number);
	const void *ctx;
};

/* Working memory of predicate_test_block(), for one thread and one predicate. It caches results by the numbers of
 * texts, so a number must always stand for the same text. */
struct predicate_scratch;
struct predicate_scratch *predicate_scratch_new(const struct predicate *p);
void predicate_scratch_free(struct predicate_scratch *s);

/*
 * Clears @keep of the rows that do not meet the condition; rows with @keep cleared are ignored. The result is
 * that of predicate_test() for each row. Every comparison is done for all rows, even if earlier ones have
 * decided the result of a row: loops without branches are faster.
 */
void predicate_test_block(const struct predicate *p, struct predicate_scratch *s,
			  const struct predicate_block *b, bool *keep);

/* The range of a field's values in many rows, compared as unsigned and as signed numbers. */
struct predicate_range {
	uint64_t min, max;
	int64_t signed_min, signed_max;
};

#define PREDICATE_MAY_HOLD 1u
#define PREDICATE_MAY_FAIL 2u

/*
 * Returns which results the condition may have for rows with values in the given ranges, as PREDICATE_MAY_…
 * flags, of which at least one is set. @range returns false if the range of a field is unknown.
 */
unsigned predicate_may(const struct predicate *p,
		       bool (*range)(const void *ctx, unsigned field, struct predicate_range *ret),
		       const void *ctx);

/* Whether a pattern of ~ matches all of @text. Takes at most the product of both lengths. */
bool predicate_glob(const char *pattern, const char *text);

#endif
