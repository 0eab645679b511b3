/*
 * Finds the functions that a user means by a name: the full name, a short form ("multiply" for
 * "ns::multiply<double>") or a pattern. Any thread.
 */
#ifndef TACHO_CMD_ANNOTATE_NAME_H
#define TACHO_CMD_ANNOTATE_NAME_H

#include "symbol/module/module.h"

/* The strictest level comes first; the first one that finds a function is used. */
enum name_match { NAME_SAME, NAME_SHORT, NAME_PATTERN, NAME_OTHER };

struct wanted_name {
	const char *text;
	char word
		[64]; /* substring of every matching name, mangled or not; "" if there is no such */
};

struct wanted_name wanted_name_of(const char *text);
enum name_match name_match(const char *name, const char *wanted);

/* Whether a module is in @list: paths or file names, separated by commas. */
bool module_is_listed(const char *list, const char *path);

/* Whether a linker name matches, as it is or demangled. Most are rejected without demangling. */
bool name_is_wanted(const struct wanted_name *w, const char *linker_name);

/*
 * Address ranges of the wanted functions. A module's symbol table is searched at the first query
 * for an address in that module. Any number of threads may query.
 */
struct wanted_places;

/* @dso: search only these modules, a list as for module_is_listed(); NULL: all modules. */
struct wanted_places *wanted_places_new(const struct wanted_name *name, const char *dso);
void wanted_places_free(struct wanted_places *w);
bool is_wanted_place(struct wanted_places *w, struct module *m, uint64_t address);

#endif
