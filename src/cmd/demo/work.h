/*
 * The phases of `tacho demo`: different kinds of work, always the same amount, in functions named
 * after what they do. Each phase keeps the processor busy in another way, so that a window of time
 * or a branch of the flame graph is easy to tell from the others. Single-threaded except
 * share_a_lock().
 */
#ifndef TACHO_CMD_DEMO_WORK_H
#define TACHO_CMD_DEMO_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function must appear under its name in stacks: do not inline or clone it. */
#if defined(__clang__)
#define NAMED __attribute__((noinline))
#else
#define NAMED __attribute__((noinline, noclone, noipa))
#endif

/* For leaf functions: without it gcc gives them no frame, and a walk along frame pointers misses
 * their caller. */
#define KEEP_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static inline uint32_t demo_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

struct demo_text {
	char *text; /* words separated by spaces and newlines */
	size_t len;
	struct demo_word *words;
	uint32_t *slots; /* hash table: index in words + 1; 0: empty */
};

void demo_text_make(struct demo_text *t);
void demo_text_free(struct demo_text *t);

/* Each phase returns a number that depends on all of its work, and on nothing else. */

/* @slow_of_16: how many of every 16 words use a linear search; the others use the hash table. */
uint64_t parse_text(struct demo_text *t, unsigned slow_of_16);
uint64_t compress_text(const struct demo_text *t);
uint64_t sort_numbers(void);
/* Computes the same product in two orders of memory access. */
uint64_t multiply_matrices(void);
uint64_t fill_new_memory(void);
uint64_t share_a_lock(void);

#endif
