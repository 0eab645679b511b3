/* Names of code that runtimes make while they run, and whose names they write later. */
#include "base/clock.h"
#include "collect/run/feed.h"

/* Pauses between looks. The pause doubles as long as no names come: there may never be any. */
#define PAUSE_NS     (5 * NS_PER_SEC)
#define PAUSE_NS_MAX (60 * NS_PER_SEC)

static size_t renew(struct run_feed *f)
{
	frame_list changed = {};
	size_t count;

	namer_renew_jit(&f->analysis.namer, &changed);
	count = changed.len;
	if (count) {
		dictionary_renamed(&f->dictionary, changed.items, count);
		feed_dictionary(f);
	}
	vec_release(&changed);
	return count;
}

void feed_jit_look(struct run_feed *f, uint64_t now_ns)
{
	if (!f->jit_pause_ns) {
		f->jit_pause_ns = PAUSE_NS;
		f->next_jit_ns = now_ns + PAUSE_NS;
	}
	if (now_ns < f->next_jit_ns)
		return;
	if (namer_unnamed_jit(&f->analysis.namer))
		f->jit_pause_ns = renew(f) ? PAUSE_NS : f->jit_pause_ns * 2;
	if (f->jit_pause_ns > PAUSE_NS_MAX)
		f->jit_pause_ns = PAUSE_NS_MAX;
	f->next_jit_ns = clock_now_ns() + f->jit_pause_ns;
}

/* A JVM writes its map when it ends, or when it is asked after the last record: wait for that. */
void feed_jit_finish(struct run_feed *f)
{
	struct runner *r = f->runner;

	if (f->ended || r->order.import || !namer_unnamed_jit(&f->analysis.namer))
		return;
	pthread_mutex_lock(&r->lock);
	while (!r->over && !r->gone)
		pthread_cond_wait(&r->changed, &r->lock);
	pthread_mutex_unlock(&r->lock);
	renew(f);
}
