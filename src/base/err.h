/*
 * Errors: a function returns 0 or a negative errno, and where a user could care it fills in a
 * sentence that says what happened, where, and what to do. The caller owns the struct; passing
 * NULL is fine when nobody will read the sentence.
 */
#ifndef TACHO_BASE_ERR_H
#define TACHO_BASE_ERR_H

#include "base/alloc.h"

struct err {
	int code; /* positive errno */
	char text[1024];
};

/* Sets the sentence and returns -code, so that `return err_set(e, EINVAL, "…")` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/*
 * Puts "context: " before the sentence that is already there. Returns nothing, because without @e it
 * would not know the error: pass on the result of the call that failed.
 */
void err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
