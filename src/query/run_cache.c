#include "query/run_cache.h"
#include "query/run_derived.h"

#include <errno.h>
#include <string.h>

struct run_cache {
	pthread_mutex_t lock; /* protects the list, users, used and the counts */
	VEC(struct run_data *) runs;
	uint64_t limit_bytes, clock, hits, misses;
};

struct run_cache *run_cache_new(uint64_t limit_bytes)
{
	struct run_cache *c = xcalloc(1, sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	c->limit_bytes = limit_bytes ? limit_bytes : RUN_CACHE_BYTES;
	return c;
}

static void run_free(struct run_data *d)
{
	run_data_release(d);
	pthread_rwlock_destroy(&d->lock);
	free(d);
}

void run_cache_free(struct run_cache *c)
{
	if (!c)
		return;
	vec_each(&c->runs, d)
		run_free(*d);
	vec_release(&c->runs);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static struct run_data *find(struct run_cache *c, const struct stored_run *run)
{
	vec_each(&c->runs, d)
		if ((*d)->id == run->id && !strcmp((*d)->uuid, run->uuid))
			return *d;
	return NULL;
}

/* Finds the run in the list, or adds it, and counts one more user. */
static struct run_data *take(struct run_cache *c, const struct stored_run *run)
{
	struct run_data *d;

	pthread_mutex_lock(&c->lock);
	d = find(c, run);
	if (!d) {
		d = xcalloc(1, sizeof(*d));
		d->id = run->id;
		memcpy(d->uuid, run->uuid, sizeof(d->uuid));
		d->start_ns = (uint64_t)run->start_ns;
		d->rows_bytes_max = c->limit_bytes / 2;
		d->counts_bytes_max = c->limit_bytes / 4;
		pthread_rwlock_init(&d->lock, NULL);
		vec_push(&c->runs, d);
	}
	d->users++;
	__atomic_store_n(&d->used, ++c->clock, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&c->lock);
	return d;
}

static size_t bytes_of(const struct run_data *d)
{
	return __atomic_load_n(&d->bytes, __ATOMIC_RELAXED);
}

/* Trims or frees the least recently used runs until the limit is kept. Called with the lock. */
static void make_room(struct run_cache *c)
{
	uint64_t bytes = 0;

	vec_each(&c->runs, d)
		bytes += bytes_of(*d);
	while (bytes > c->limit_bytes) {
		size_t oldest = c->runs.len;

		for (size_t i = 0; i < c->runs.len; i++)
			if (!c->runs.items[i]->users &&
			    (oldest == c->runs.len ||
			     c->runs.items[i]->used < c->runs.items[oldest]->used))
				oldest = i;
		if (oldest == c->runs.len)
			return;
		bytes -= bytes_of(c->runs.items[oldest]);
		if (run_data_trim(c->runs.items[oldest])) {
			bytes += bytes_of(c->runs.items[oldest]);
			continue;
		}
		run_free(c->runs.items[oldest]);
		c->runs.items[oldest] = c->runs.items[--c->runs.len];
	}
}

static void drop(struct run_cache *c, struct run_data *d)
{
	pthread_mutex_lock(&c->lock);
	d->users--;
	if (!d->users)
		run_data_renew(d);
	make_room(c);
	pthread_mutex_unlock(&c->lock);
}

void run_cache_put(struct run_cache *c, struct run_data *d)
{
	pthread_rwlock_unlock(&d->lock);
	drop(c, d);
}

void run_cache_stale(struct run_data *d)
{
	__atomic_store_n(&d->stale, true, __ATOMIC_RELAXED);
}

static bool is_fresh(const struct run_data *d, bool ended, int64_t generation)
{
	return d->loaded && d->ended && ended && d->generation == generation &&
	       !__atomic_load_n(&d->stale, __ATOMIC_RELAXED);
}

int run_cache_get(struct run_cache *c, struct store *s, const struct stored_run *run,
		  struct run_data **ret, struct err *e)
{
	bool ended = run_state_ended(run->state), hit;
	struct run_data *d;
	int64_t generation;
	int rc = store_run_generation(s, run->id, &generation, e);

	if (rc < 0)
		return rc;
	d = take(c, run);
	pthread_rwlock_rdlock(&d->lock);
	hit = is_fresh(d, ended, generation);
	if (!hit) {
		pthread_rwlock_unlock(&d->lock);
		pthread_rwlock_wrlock(&d->lock);
		/* Another thread may have loaded it meanwhile. */
		if (!is_fresh(d, ended, generation)) {
			d->start_ns = (uint64_t)run->start_ns;
			rc = run_data_load(d, s, ended, e);
		}
		pthread_rwlock_unlock(&d->lock);
		if (rc < 0) {
			drop(c, d);
			return rc;
		}
		pthread_rwlock_rdlock(&d->lock);
	}
	pthread_mutex_lock(&c->lock);
	*(hit ? &c->hits : &c->misses) += 1;
	pthread_mutex_unlock(&c->lock);
	*ret = d;
	return 0;
}

int run_cache_addresses(struct store *s, struct run_data *d, const struct profile **ret,
			struct err *e)
{
	struct profile *p, *known = NULL;
	int rc;

	if (d->whole && !d->ended) {
		*ret = &d->profile;
		return 0;
	}
	*ret = __atomic_load_n(&d->addresses, __ATOMIC_ACQUIRE);
	if (*ret)
		return 0;
	p = xcalloc(1, sizeof(*p));
	profile_init(p);
	rc = run_profile_load(p, s, d->id, e);
	if (rc == 0 && __atomic_compare_exchange_n(&d->addresses, &known, p, false,
						   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, profile_bytes(p), __ATOMIC_RELAXED);
		*ret = p;
		return 0;
	}
	profile_release(p);
	free(p);
	*ret = known;
	return rc;
}

static struct leaf_addresses *make_leaves(const struct profile *p)
{
	struct leaf_addresses *l = xcalloc(1, sizeof(*l) + p->stacks.len * sizeof(*l->by_stack));

	l->len = p->stacks.len;
	for (size_t i = 0; i < l->len; i++) {
		uint32_t frame = p->stacks.items[i].frame.n;

		l->by_stack[i] = frame < p->frames.len ? p->frames.items[frame].address : 0;
	}
	return l;
}

int run_cache_leaves(struct store *s, struct run_data *d, const struct leaf_addresses **ret,
		     struct err *e)
{
	/* Not the profile of an ended run: there jvm_name_main() replaced addresses by names. */
	const struct profile *whole = d->whole && !d->ended
					      ? &d->profile
					      : __atomic_load_n(&d->addresses, __ATOMIC_ACQUIRE);
	struct leaf_addresses *made, *known = NULL;
	struct profile p;
	int rc = 0;

	*ret = __atomic_load_n(&d->leaves, __ATOMIC_ACQUIRE);
	if (*ret)
		return 0;
	profile_init(&p);
	if (!whole)
		rc = run_profile_load(&p, s, d->id, e);
	if (rc) {
		profile_release(&p);
		return rc;
	}
	made = make_leaves(whole ? whole : &p);
	profile_release(&p);
	*ret = made;
	if (__atomic_compare_exchange_n(&d->leaves, &known, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		__atomic_add_fetch(&d->bytes, leaf_addresses_bytes(made), __ATOMIC_RELAXED);
		return 0;
	}
	free(made);
	*ret = known;
	return 0;
}

int run_cache_prepare(struct store *s, const struct stored_run *run, struct err *e)
{
	struct run_data d = {.id = run->id};
	struct buf bytes = {};
	int rc = store_derived_get(s, run->id, DERIVED_PATHS, &bytes, NULL);

	buf_release(&bytes);
	if (rc == 0 || !run_state_ended(run->state))
		return 0;
	rc = run_data_load(&d, s, true, e);
	run_data_release(&d);
	/* Trying again would not help with damaged data; queries report the error. */
	return rc == -EBADMSG ? 0 : rc;
}

void run_cache_counts(struct run_cache *c, struct run_cache_counts *ret)
{
	pthread_mutex_lock(&c->lock);
	*ret = (struct run_cache_counts){.runs = c->runs.len, .hits = c->hits, .misses = c->misses};
	vec_each(&c->runs, d)
		ret->bytes += bytes_of(*d);
	pthread_mutex_unlock(&c->lock);
}
