#include "base/reserve.h"

#include <pthread.h>
#include <sys/mman.h>

static struct {
	pthread_mutex_t lock;
	size_t bytes;
	void *room;             /* NULL: used */
	unsigned short_threads; /* that may still need the room */
} reserve = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool is_short;

static void set_aside(void)
{
	void *room;

	if (!reserve.bytes || reserve.room || reserve.short_threads)
		return;
	room = mmap(NULL, reserve.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	reserve.room = room == MAP_FAILED ? NULL : room;
}

void reserve_begin(size_t bytes)
{
	pthread_mutex_lock(&reserve.lock);
	if (reserve.room)
		munmap(reserve.room, reserve.bytes);
	reserve.room = NULL;
	reserve.bytes = bytes;
	set_aside();
	pthread_mutex_unlock(&reserve.lock);
}

/* The caller must hold the lock. */
static void mark_short(void)
{
	reserve.short_threads += !is_short;
	is_short = true;
}

bool reserve_use(void)
{
	bool any;

	pthread_mutex_lock(&reserve.lock);
	any = reserve.bytes > 0;
	if (any)
		mark_short();
	/* Another thread may have needed it a moment ago: then there is room, too. */
	if (reserve.room)
		munmap(reserve.room, reserve.bytes);
	reserve.room = NULL;
	pthread_mutex_unlock(&reserve.lock);
	return any;
}

bool reserve_is_short(void)
{
	return is_short;
}

void reserve_mark_short(void)
{
	pthread_mutex_lock(&reserve.lock);
	mark_short();
	pthread_mutex_unlock(&reserve.lock);
}

void reserve_settle(void)
{
	pthread_mutex_lock(&reserve.lock);
	reserve.short_threads -= is_short;
	is_short = false;
	set_aside();
	pthread_mutex_unlock(&reserve.lock);
}
