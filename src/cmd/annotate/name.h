/*
 * Which functions a user means by a name: the name itself; "multiply" for "ns::multiply<double>"; or a
 * pattern. Any thread.
 */
#ifndef TACHO_CMD_ANNOTATE_NAME_H
#define TACHO_CMD_ANNOTATE_NAME_H

#include "symbol/module/module.h"

/* From the strictest: the first one that finds a function counts. */
enum name_match { NAME_SAME, NAME_SHORT, NAME_PATTERN, NAME_OTHER };

struct wanted_name {
	const char *text;
	char word
		[64]; /* a part that is in every name that is meant, mangled or not; may be empty */
};

struct wanted_name wanted_name_of(const char *text);
enum name_match name_match(const char *name, const char *wanted);

/* Whether a module is one of a list as the user wrote it. */
bool module_is_listed(const char *list, const char *path);

/* The same for a name as the linker has it. Most are told apart without demangling. */
bool name_is_wanted(const struct wanted_name *w, const char *linker_name);

/*
 * Where functions of that name lie: each module's table of symbols is gone through once, when a place
 * in it is first asked for. Any number of threads may ask.
 */
struct wanted_places;

/* @dso: only of these modules, paths or last parts with commas between; NULL: of all. */
struct wanted_places *wanted_places_new(const struct wanted_name *name, const char *dso);
void wanted_places_free(struct wanted_places *w);
bool is_wanted_place(struct wanted_places *w, struct module *m, uint64_t address);

#endif
