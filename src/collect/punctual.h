/*
 * Raises the priority of the calling thread, so that it is woken in time among hundreds of busy
 * threads: the lowest real-time priority where permitted, else nice -10. Children do not inherit
 * the real-time priority.
 */
#ifndef TACHO_COLLECT_PUNCTUAL_H
#define TACHO_COLLECT_PUNCTUAL_H

#include <sched.h>
#include <stdbool.h>

struct punctual {
	bool changed;
	int policy, nice; /* how we were scheduled before */
	struct sched_param priority;
};

void be_punctual(struct punctual *p);
void be_ordinary(const struct punctual *p);

#endif
