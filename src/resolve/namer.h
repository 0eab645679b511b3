/*
 * Gives every frame of a profile its names, once for each address. Looking up (name_lookup.h) is done by
 * several threads; what they found is then put into the profile by one.
 */
#ifndef TACHO_RESOLVE_NAMER_H
#define TACHO_RESOLVE_NAMER_H

#include "resolve/resolver.h"

struct namer {
	struct resolver *resolver; /* for its modules */
	size_t named;              /* frames that have been done */
	struct slots functions;    /* symbols that have become functions */
	VEC(struct named_symbol {
		uint64_t start; /* not the symbol itself, which may be given back meanwhile */
		module_id module;
		function_id function;
	})
	known;
	VEC(uint32_t) images;  /* by module: an image of it, 0: none */
	VEC(bool) noted;       /* by module: what its file says of itself was taken down */
	VEC(string_id) labels; /* by module: of code in it that has no name; 0: not made yet */
	struct buf text;       /* scratch */
	struct lookup_beside *beside; /* NULL: none goes on */
};

void namer_init(struct namer *n, struct resolver *resolver);
void namer_release(struct namer *n);

/* Names all frames that were added since the last time. */
void namer_run(struct namer *n, struct resolve_report *report);

/*
 * For those who have other things to do: begins with it if files have to be read for it, which can take
 * a tenth of a second. False: nothing takes so long. Records may be taken in meanwhile, but nothing be
 * forgotten; namer_run() waits for it, and does what has come up since.
 */
bool namer_start(struct namer *n);
bool namer_is_busy(struct namer *n);

/*
 * Runtimes go on writing the names of the code that they make, but a map is read once. This reads maps
 * anew and names frames of such code that had no name: they are added to @ret.
 */
typedef VEC(frame_id) frame_list;
void namer_renew_jit(struct namer *n, frame_list *ret);
/* How many frames of such code have no name. */
size_t namer_unnamed_jit(const struct namer *n);

/* Names one frame, for those who need its names at once. */
void namer_frame(struct namer *n, frame_id frame, struct resolve_report *report);

#endif
