/*
 * What files say about frames: symbols, lines, inlined functions. Nothing of a profile is changed, so
 * several threads can look up at the same time, or one beside other work.
 */
#ifndef TACHO_RESOLVE_NAME_LOOKUP_H
#define TACHO_RESOLVE_NAME_LOOKUP_H

#include "resolve/resolver.h"
#include "symbol/dwarf/dwarf.h"

#include <pthread.h>

/* What was found for one frame. */
struct finding {
	const struct symbol *symbol;  /* NULL: none */
	const char *name;             /* as in the file */
	uint32_t places, place_count; /* in the list */
};

struct name_lookup {
	const struct resolve_options *options;
	struct module *const *modules; /* by number; NULL: none */
	const struct profile_frame *frames;
	uint32_t first; /* the number of the first of them */
	size_t count;
	struct finding *findings; /* of each frame */
	VEC(struct dwarf_place) places;
	pthread_t thread; /* 0: none */
};

/* Frames and modules stay the caller's. */
void name_lookup_init(struct name_lookup *l, const struct resolve_options *o,
		      struct module *const *modules, const struct profile *p, size_t first,
		      size_t count);
void name_lookup_release(struct name_lookup *l);
/* A start routine; @ctx: a struct name_lookup. */
void *name_lookup_run(void *ctx);
void name_lookup_one(struct name_lookup *l, struct module *m, uint64_t address,
		     struct finding *ret);

/* One that goes on while the profile grows: what it looks at is a copy. */
struct lookup_beside;

/* Takes over @modules. NULL: no thread could be started. */
struct lookup_beside *lookup_beside_start(const struct resolve_options *o, struct module **modules,
					  const struct profile *p, size_t first, size_t count);
/* True if it is done within the time; 0: by now. */
bool lookup_beside_wait(struct lookup_beside *b, uint64_t ns);
/* Waits for its end; what was found is there until it is freed. */
struct name_lookup *lookup_beside_join(struct lookup_beside *b);
void lookup_beside_free(struct lookup_beside *b);

#endif
