/*
 * Folded stacks: a line a stack, outermost function first, "main;parse;read 123". The count may have
 * decimals; then all weights are in thousandths, which the event's unit says. Two counts a line are
 * a difference: they become the events "before" and "after". The endings _[k], _[i] and _[j] of a name
 * (kernel, inlined, made at run time) become what they mean.
 */
#ifndef TACHO_IMPORT_FOLDED_H
#define TACHO_IMPORT_FOLDED_H

#include "import/text.h"

/* At least one line is a stack with a count. */
bool folded_detect(const char *text, size_t len);

#endif
