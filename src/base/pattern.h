/*
 * Regular expressions from outside (POSIX, extended, of bytes), matched in a time that is bounded by the
 * length of the text times the length of the expression, whatever both are. regexec() of the C library
 * keeps a state for each set of places that it could be in: "(.*)a.{200}b$" takes minutes and hundreds of
 * megabytes for a name of a thousand letters.
 *
 * Known is what regcomp() knows with REG_EXTENDED, also \w \W \s \S \b \B \< \>; back references are not.
 * A pattern may be used by one thread at a time.
 */
#ifndef TACHO_BASE_PATTERN_H
#define TACHO_BASE_PATTERN_H

#include "base/err.h"

#include <stdbool.h>

#define PATTERN_BYTES_MAX 256u
#define PATTERN_PARTS_MAX 500u /* letters, sets and the like, with repetitions written out */

struct pattern;

/* -EINVAL says what is wrong with @expression. */
int pattern_new(struct pattern **ret, const char *expression, struct err *e);
void pattern_free(struct pattern *p);

/* Whether it matches somewhere in @text. */
bool pattern_found(struct pattern *p, const char *text);

#endif
