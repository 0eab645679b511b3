/*
 * Stacks from the CPU's own record of calls (PERF_SAMPLE_BRANCH_CALL_STACK): each entry is a call
 * that has not returned, the latest first. It knows user code only; the kernel's part comes from the
 * sampled chain. Pure functions.
 */
#ifndef TACHO_UNWIND_LBR_H
#define TACHO_UNWIND_LBR_H

#include "perf/record.h"

/* Whether an event's branches are a call stack, not just the latest jumps. */
bool lbr_is_call_stack(const struct perf_event_attr *attr);

/*
 * The chain of a sample with its user part replaced by the recorded calls, PERF_CONTEXT_* marks
 * included: the kernel's part as sampled, the mark of user code, the address in the innermost user
 * function, then the address of each call. Those are addresses of the calls themselves, not behind
 * them. Without a user part, or without calls, the chain is as it was sampled. Returns the length,
 * at most @max.
 */
size_t lbr_chain(const struct sample *s, uint64_t *ret, size_t max);

#endif
