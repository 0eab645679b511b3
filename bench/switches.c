/*
 * Threads that hand tokens to each other, so that the scheduler switches very often: groups of threads
 * with names and stacks of their own. Each reads from its pipe and writes to the pipe of any other one of
 * its group: who is next, and how deep the stacks are, has no pattern.
 *
 * usage: switches SECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define GROUPS  4
#define MEMBERS 6

struct member {
	pthread_t thread;
	unsigned group, number, seed;
};

static struct member members[GROUPS][MEMBERS];
static int pipes[GROUPS][MEMBERS][2];

static unsigned dice(struct member *m, unsigned below)
{
	m->seed = m->seed * 1664525u + 1013904223u;
	return (m->seed >> 16) % below;
}

/* Calls itself @depth times before it waits. */
__attribute__((noinline)) static ssize_t pass_on(struct member *m, unsigned depth)
{
	volatile ssize_t got;
	char token;

	if (depth) {
		got = pass_on(m, depth - 1);
		return got;
	}
	got = read(pipes[m->group][m->number][0], &token, 1);
	return got == 1 ? write(pipes[m->group][dice(m, MEMBERS)][1], &token, 1) : 0;
}

static void *take_part(void *ctx)
{
	struct member *m = ctx;
	char name[16];

	snprintf(name, sizeof(name), "group%u-%u", m->group, m->number);
	prctl(PR_SET_NAME, name);
	while (pass_on(m, dice(m, 12)) == 1)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	for (unsigned g = 0; g < GROUPS; g++)
		for (unsigned i = 0; i < MEMBERS; i++)
			if (pipe(pipes[g][i]))
				return 1;
	for (unsigned g = 0; g < GROUPS; g++)
		for (unsigned i = 0; i < MEMBERS; i++) {
			struct member *m = &members[g][i];

			*m = (struct member){.group = g, .number = i, .seed = g * MEMBERS + i};
			if (pthread_create(&m->thread, NULL, take_part, m))
				return 1;
		}
	for (unsigned g = 0; g < GROUPS; g++)
		if (write(pipes[g][0][1], "x", 1) != 1)
			return 1;
	sleep(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
	return 0;
}
