/*
 * Memory that a server sets aside, so that one request that needs more than there is does not end all others with
 * it. The first allocation of base/alloc.h that fails gives the reserve back to the system and is tried once more.
 * From then on its thread is short of memory: it reads nothing further of the store (sql_next() fails), so its request
 * ends soon, with an answer or with -ENOMEM. The reserve is set aside again when no thread is short any more.
 *
 * It takes address space, and memory only where the system promises no more than it has: no page of it is touched.
 * Without a reserve, or for an allocation that even that is not enough for, base/alloc.h aborts.
 * Any thread may call these.
 */
#ifndef TACHO_BASE_RESERVE_H
#define TACHO_BASE_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

void reserve_begin(size_t bytes);
/* An allocation has failed. Returns true if it should be tried once more. */
bool reserve_use(void);
/* Whether an allocation of this thread has failed since reserve_settle(). */
bool reserve_is_short(void);
/* For a thread that has had others work for it: one of them was short. */
void reserve_mark_short(void);
/* Call at the end of each request, and before a thread ends: clears the mark. The reserve is set aside again once
 * no thread is short. */
void reserve_settle(void);

#endif
