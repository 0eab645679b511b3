/*
 * Shared libraries that are loaded when they are first needed: tacho starts in a millisecond, and works
 * without those that are not installed. A static program can load none.
 */
#ifndef TACHO_BASE_LIBRARY_H
#define TACHO_BASE_LIBRARY_H

#include <stddef.h>

/*
 * Loads @file and puts the addresses of @names into the members of a struct, one pointer each. NULL, or
 * what is missing: the file, or the first of the names. It stays loaded.
 */
const char *library_load(const char *file, const char *const *names, size_t count, void *members);

/* The same where a struct has exactly a member for each name of an array. */
#define LIBRARY_LOAD(file, names, lib)                                                             \
	({                                                                                         \
		_Static_assert(sizeof(*(lib)) == sizeof(names), "one name for each member");       \
		library_load((file), (names), sizeof(names) / sizeof((names)[0]), (lib));          \
	})

#endif
