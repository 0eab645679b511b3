/*
 * What `tacho demo` does: work of different kinds, always the same amount of it, in functions whose
 * names say what they are. Each phase keeps the processor busy in another way, so that a window of
 * time or a branch of the flame graph is easy to tell from the others. Single-threaded but for
 * share_a_lock().
 */
#ifndef TACHO_CMD_DEMO_WORK_H
#define TACHO_CMD_DEMO_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* They must be found by their names in stacks: neither inlined nor cloned. */
#if defined(__clang__)
#define NAMED __attribute__((noinline))
#else
#define NAMED __attribute__((noinline, noclone, noipa))
#endif

/* In functions that call no other: gcc gives them no frame otherwise, and whoever walks the frame
 * pointers from there does not see their caller. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static inline uint32_t demo_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

struct demo_text {
	char *text; /* words and ends of lines */
	size_t len;
	struct demo_word *words;
	uint32_t *slots; /* of the hash table of words, word + 1 */
};

void demo_text_make(struct demo_text *t);
void demo_text_free(struct demo_text *t);

/* Each gives a number that depends on all of the work, and on nothing else. */

/* @slow_of_16: so many of 16 words are looked for one by one, all others in a table. */
uint64_t parse_text(struct demo_text *t, unsigned slow_of_16);
uint64_t compress_text(const struct demo_text *t);
uint64_t sort_numbers(void);
/* The same product in two orders of memory. */
uint64_t multiply_matrices(void);
uint64_t fill_new_memory(void);
uint64_t share_a_lock(void);

#endif
