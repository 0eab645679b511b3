/*
 * The tables of a profile as bytes, piece by piece: what a collector sends before the chunks that
 * need it, and what the store keeps as rows of their own. Numbers are those of the sender's profile;
 * pieces are applied in the order in which they were made, to a profile that began empty, and give
 * the same numbers there.
 *
 *	sender:    dictionary_writer_init(&w);  … dictionary_encode(&w, profile, &buf) now and then
 *	receiver:  profile_init(p);             … dictionary_apply(p, bytes, size, &e) for each piece
 *
 * The receiver's tables are written directly, without their index: one million stacks take some ten
 * milliseconds. Should somebody intern into such a profile, the index is made then; but after that no
 * further piece fits.
 *
 * Frames may be named later than they are sent, and named anew (JIT code whose names come at the
 * end): a later naming replaces an earlier one.
 */
#ifndef TACHO_PROFILE_DICTIONARY_H
#define TACHO_PROFILE_DICTIONARY_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

#define DICTIONARY_BYTES_MAX                                                                       \
	(16u << 20) /* of one piece; encoding stops early and is called again */

/* How far a profile was sent already. */
struct dictionary_writer {
	uint32_t strings, modules, functions, frames, names, stacks, threads, events, counters,
		schemas;
	VEC(uint32_t) unnamed; /* frames that were sent without names */
	VEC(struct told_module {
		uint64_t bias;
		uint32_t problem, found_id;
	})
	told; /* by module: what came up later than it was sent, and was sent then */
};

void dictionary_writer_init(struct dictionary_writer *w);
void dictionary_writer_release(struct dictionary_writer *w);

/* Adds a piece with what is new to @out. False: nothing was new, nothing was added. Call it until it
 * is false. */
bool dictionary_encode(struct dictionary_writer *w, const struct profile *p, struct buf *out);

/* The same without frames and stacks: enough for chunks of counters, while frames have no names yet. */
bool dictionary_encode_stackless(struct dictionary_writer *w, const struct profile *p,
				 struct buf *out);

/* Frames of this profile whose names have changed since they were sent. */
void dictionary_renamed(struct dictionary_writer *w, const frame_id *frames, size_t count);

/* -EBADMSG: damaged, or not the next piece; the profile is then as it was before, or has a part. */
int dictionary_apply(struct profile *p, const void *bytes, size_t size, struct err *e);
/* Only the stacks of a piece, for who has no room for more: their frames may be such as the profile
 * does not have. No piece can be applied as a whole after that. */
int dictionary_apply_stacks(struct profile *p, const void *bytes, size_t size, struct err *e);

#endif
