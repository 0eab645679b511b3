/*
 * For test programs that use a store: calls that must work, or the test fails with the error's sentence.
 * Include it after cmocka.h.
 */
#ifndef TACHO_TESTS_STORE_SUPPORT_H
#define TACHO_TESTS_STORE_SUPPORT_H

#include "base/err.h"
#include "support.h"

static struct err error;

#define OK(call)                                                                                   \
	do {                                                                                       \
		error.text[0] = '\0';                                                              \
		if ((call) < 0) {                                                                  \
			fail_msg("%s: %s", #call, error.text);                                     \
		}                                                                                  \
	} while (0)

#endif
