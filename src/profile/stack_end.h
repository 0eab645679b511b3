/*
 * A stack that was not unwound to its outermost function has a frame in the place of the missing
 * callers, whose name says why. These are the names. Graphs of ours show them; text that other
 * programs read leaves them out, because those would draw them as functions.
 */
#ifndef TACHO_PROFILE_STACK_END_H
#define TACHO_PROFILE_STACK_END_H

#include <stdbool.h>
#include <string.h>

#define STACK_END_TRUNCATED "[stack cut off]"
#define STACK_END_NO_MODULE "[code not mapped]"
#define STACK_END_NO_INFO   "[no unwind information]"
#define STACK_END_DAMAGED   "[stack damaged]"

static inline bool stack_end_is(const char *name)
{
	return !strcmp(name, STACK_END_TRUNCATED) || !strcmp(name, STACK_END_NO_MODULE) ||
	       !strcmp(name, STACK_END_NO_INFO) || !strcmp(name, STACK_END_DAMAGED);
}

#endif
