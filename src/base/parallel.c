#include "base/parallel.h"
#include "base/reserve.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS_MAX 16u

struct parallel {
	size_t count;
	atomic_size_t next;
	void (*work)(void *ctx, size_t item, unsigned thread);
	void *ctx;
};

struct helper {
	struct parallel *p;
	pthread_t thread;
	unsigned number;
	bool short_of_memory;
};

static void work_on(struct parallel *p, unsigned thread)
{
	size_t item;

	while ((item = atomic_fetch_add(&p->next, 1)) < p->count)
		p->work(p->ctx, item, thread);
}

static void *help(void *ctx)
{
	struct helper *h = ctx;

	work_on(h->p, h->number);
	h->short_of_memory = reserve_is_short();
	reserve_settle();
	return NULL;
}

void parallel_each(size_t count, unsigned threads,
		   void (*work)(void *ctx, size_t item, unsigned thread), void *ctx)
{
	struct parallel p = {.count = count, .work = work, .ctx = ctx};
	struct helper helpers[THREADS_MAX];
	unsigned started = 0;

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	/* A thread that cannot be had is one less: the caller's does all, if need be. */
	while (started + 1 < threads && started + 1 < count) {
		helpers[started] = (struct helper){.p = &p, .number = started + 1};
		if (pthread_create(&helpers[started].thread, NULL, help, &helpers[started]))
			break;
		started++;
	}
	work_on(&p, 0);
	while (started > 0) {
		pthread_join(helpers[--started].thread, NULL);
		if (helpers[started].short_of_memory)
			reserve_mark_short();
	}
}

unsigned parallel_cpus(unsigned max)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return count < 1 ? 1 : (unsigned)count > max ? max : (unsigned)count;
}
