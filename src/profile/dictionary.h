/*
 * The tables of a profile (strings, functions, stacks, …), encoded in pieces. A collector sends each piece
 * before the first chunk that refers to it; the store keeps pieces as rows of their own. Pieces must be
 * applied to an empty profile in the order in which they were made: entries then get the same numbers as
 * in the sender's profile.
 *
 *	sender:    dictionary_writer_init(&w);  … dictionary_encode(&w, profile, &buf) now and then
 *	receiver:  profile_init(p);             … dictionary_apply(p, bytes, size, &e) for each piece
 *
 * dictionary_apply() writes the receiver's tables directly, without their hash index: one million stacks
 * take about ten milliseconds. Interning into such a profile makes the index; after that no further piece
 * can be applied.
 *
 * Frames may be sent before their names are known, and may be renamed (names of JIT code come at the end):
 * a later name replaces an earlier one.
 */
#ifndef TACHO_PROFILE_DICTIONARY_H
#define TACHO_PROFILE_DICTIONARY_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

#define DICTIONARY_BYTES_MAX (16u << 20) /* of a piece; what does not fit goes into the next one */

/* Which part of a profile has been sent: the number of entries of each table. */
struct dictionary_writer {
	uint32_t strings, modules, functions, frames, names, stacks, threads, events, counters,
		schemas;
	VEC(uint32_t) unnamed; /* frames sent without names */
	VEC(struct told_module {
		uint64_t bias;
		uint32_t problem, found_id;
	})
	told; /* by module: facts found after the module was sent, as sent last */
};

void dictionary_writer_init(struct dictionary_writer *w);
void dictionary_writer_release(struct dictionary_writer *w);

/* Appends a piece with new entries to @out. Returns false, and appends nothing, if there are none. One piece
 * may not hold all of them: call this until it returns false. */
bool dictionary_encode(struct dictionary_writer *w, const struct profile *p, struct buf *out);

/* The same without frames and stacks. Chunks of counters need no more, and need not wait for frame names. */
bool dictionary_encode_stackless(struct dictionary_writer *w, const struct profile *p,
				 struct buf *out);

/* Marks frames whose names have changed since they were sent. */
void dictionary_renamed(struct dictionary_writer *w, const frame_id *frames, size_t count);

/* Returns -EBADMSG if the piece is damaged or not the next one; a part of it may have been applied. */
int dictionary_apply(struct profile *p, const void *bytes, size_t size, struct err *e);
/* Applies only the stacks of a piece, to save memory. The profile may lack the frames that they refer to.
 * After this, no piece can be applied with dictionary_apply(). */
int dictionary_apply_stacks(struct profile *p, const void *bytes, size_t size, struct err *e);

#endif
