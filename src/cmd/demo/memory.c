/* Work that the kernel does for the most part: page faults on new memory, and threads that wait for
 * each other. */
#include "cmd/demo/work.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILL_BYTES (48u << 20)
#define FILLED     20u
#define WORKERS    3u
#define TURNS      1500u
#define TURN_STEPS 20000u

static NAMED uint64_t touch_pages(volatile char *memory, size_t page)
{
	uint64_t touched = 0;

	KEEP_FRAME();
	for (size_t at = 0; at < FILL_BYTES; at += page, touched++)
		memory[at] = (char)at;
	return touched;
}

NAMED uint64_t fill_new_memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t touched = 0;

	for (unsigned i = 0; i < FILLED; i++) {
		char *memory = mmap(NULL, FILL_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			continue;
		/* With huge pages one fault would map 512 pages at once. */
		madvise(memory, FILL_BYTES, MADV_NOHUGEPAGE);
		touched += touch_pages(memory, page);
		munmap(memory, FILL_BYTES);
	}
	return touched;
}

struct shared {
	pthread_mutex_t lock;
	uint64_t sum;
};

/* Runs with the lock held, so only one thread works at any time. */
static NAMED void work_alone(struct shared *s, uint32_t *random)
{
	KEEP_FRAME();
	for (unsigned i = 0; i < TURN_STEPS; i++)
		s->sum += demo_random(random) & 1;
}

static NAMED void wait_for_lock(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
}

static NAMED void take_turns(struct shared *s)
{
	uint32_t random = 5;

	for (unsigned i = 0; i < TURNS; i++) {
		wait_for_lock(s);
		work_alone(s, &random);
		pthread_mutex_unlock(&s->lock);
	}
}

static void *worker(void *shared)
{
	pthread_setname_np(pthread_self(), "demo-worker");
	take_turns(shared);
	return NULL;
}

NAMED uint64_t share_a_lock(void)
{
	struct shared s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_t threads[WORKERS];
	unsigned count = 0;

	while (count < WORKERS && !pthread_create(&threads[count], NULL, worker, &s))
		count++;
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return s.sum;
}
