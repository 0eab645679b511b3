/* Loads a run from the store: tables, call paths, the list of chunks. */
#include "query/run_cache.h"
#include "analyze/tree/jvm_stacks.h"
#include "query/run_derived.h"
#include "profile/dictionary.h"

#include <errno.h>

/* Call paths of fewer stacks than this are computed faster than read. */
#define DERIVED_STACKS_MIN 4096u

bool run_state_ended(enum run_state s)
{
	return s != STATE_QUEUED && s != STATE_RUNNING;
}

/* ---- memory ---- */

#define VEC_BYTES(v) ((v).cap * sizeof(*(v).items))

static size_t slots_bytes(const struct slots *s)
{
	return s->items ? (s->mask + 1) * sizeof(*s->items) : 0;
}

size_t profile_bytes(const struct profile *p)
{
	return VEC_BYTES(p->strings.bytes) + VEC_BYTES(p->strings.starts) +
	       slots_bytes(&p->strings.slots) + VEC_BYTES(p->modules) + VEC_BYTES(p->functions) +
	       VEC_BYTES(p->frames) + VEC_BYTES(p->names) + VEC_BYTES(p->stacks) +
	       VEC_BYTES(p->threads) + slots_bytes(&p->frame_slots) +
	       slots_bytes(&p->function_slots) + VEC_BYTES(p->stack_slots.first) +
	       (p->stack_slots.items ? (p->stack_slots.mask + 1) * sizeof(struct stack_slot) : 0);
}

static size_t paths_bytes(const struct call_paths *c)
{
	return VEC_BYTES(c->nodes) + VEC_BYTES(c->names) + VEC_BYTES(c->stacks.of_stack) +
	       VEC_BYTES(c->of_function) +
	       (c->children.slots ? (c->children.mask + 1) * sizeof(*c->children.slots) : 0);
}

static void chunk_release(struct run_chunk *c)
{
	if (c->nodes)
		node_histogram_release(c->nodes);
	if (c->blocks)
		vec_release(c->blocks);
	if (c->counts)
		count_columns_release(c->counts);
	run_rows_free(c->rows);
	kept_columns_free(c->columns);
	run_spans_free(c->spans);
	free(c->nodes);
	free(c->blocks);
	free(c->counts);
}

static size_t chunk_bytes(const struct run_chunk *c)
{
	size_t bytes = sizeof(*c);

	if (c->nodes)
		bytes += node_histogram_bytes(c->nodes);
	if (c->blocks)
		bytes += VEC_BYTES(*c->blocks);
	return bytes;
}

/* d->bytes is atomic: make_room() of run_cache.c reads it without the run's lock. */
static void count_bytes(struct run_data *d)
{
	size_t bytes = sizeof(*d) + profile_bytes(&d->profile) + paths_bytes(&d->paths);

	d->rows_bytes = d->counts_bytes = 0;
	if (d->addresses)
		bytes += profile_bytes(d->addresses);
	if (d->leaves)
		bytes += leaf_addresses_bytes(d->leaves);
	vec_each(&d->chunks, chunk) {
		bytes += chunk_bytes(chunk);
		if (chunk->rows)
			d->rows_bytes += run_rows_bytes(chunk->rows);
		d->rows_bytes += kept_columns_bytes(chunk->columns);
		if (chunk->spans)
			d->rows_bytes += run_spans_bytes(chunk->spans);
		if (chunk->counts)
			d->counts_bytes += chunk->counts->rows * sizeof(struct count_row);
	}
	bytes += d->rows_bytes + d->counts_bytes;
	__atomic_store_n(&d->bytes, bytes, __ATOMIC_RELAXED);
}

static bool trim_addresses(struct run_data *d)
{
	if (!d->addresses)
		return false;
	profile_release(d->addresses);
	free(d->addresses);
	d->addresses = NULL;
	return true;
}

static bool trim_counts(struct run_data *d)
{
	bool found = false;

	vec_each(&d->chunks, chunk) {
		if (!chunk->counts)
			continue;
		count_columns_release(chunk->counts);
		free(chunk->counts);
		chunk->counts = NULL;
		found = true;
	}
	return found;
}

static bool trim_rows(struct run_data *d)
{
	bool found = false;

	vec_each(&d->chunks, chunk) {
		found = found || chunk->rows || chunk->spans;
		run_rows_free(chunk->rows);
		run_spans_free(chunk->spans);
		chunk->rows = NULL;
		chunk->spans = NULL;
	}
	return found;
}

static bool trim_columns(struct run_data *d)
{
	bool found = false;

	vec_each(&d->chunks, chunk) {
		found = found || chunk->columns;
		kept_columns_free(chunk->columns);
		chunk->columns = NULL;
	}
	return found;
}

/* Frees first what is needed least. */
bool run_data_trim(struct run_data *d)
{
	if (!trim_addresses(d) && !trim_columns(d) && !trim_counts(d) && !trim_rows(d))
		return false;
	count_bytes(d);
	return true;
}

void run_data_renew(struct run_data *d)
{
	if (!d->columns_wait && d->rows_bytes < d->rows_bytes_max)
		return;
	d->columns_wait = false;
	vec_each(&d->chunks, chunk)
		kept_columns_forget(chunk->columns, d->table_questions);
	count_bytes(d);
	if (d->rows_bytes >= d->rows_bytes_max)
		run_spans_trim(d);
}

/* Frees tables and paths, and the decoded chunks, which depend on them. */
static void release_tables(struct run_data *d)
{
	if (d->loaded) {
		profile_release(&d->profile);
		call_paths_release(&d->paths);
	}
	trim_addresses(d);
	free(d->leaves);
	d->leaves = NULL;
	vec_each(&d->chunks, chunk)
		chunk_release(chunk);
	d->chunks.len = 0;
	d->loaded = d->whole = d->ended = false;
	d->generation = d->last_chunk = d->next_piece = 0;
	d->main_event = 0;
	d->rows_bytes = d->counts_bytes = 0;
	__atomic_store_n(&d->bytes, 0, __ATOMIC_RELAXED);
}

void run_data_release(struct run_data *d)
{
	release_tables(d);
	vec_release(&d->chunks);
}

/* ---- tables ---- */

struct pieces {
	struct profile *p;
	int64_t next;
	struct err *e;
};

static int apply_piece(void *ctx, int64_t number, const void *bytes, size_t size)
{
	struct pieces *to = ctx;
	int rc;

	if (number == INT64_MAX)
		return err_set(to->e, EBADMSG,
			       "A piece of the dictionary has an impossible number.");
	rc = dictionary_apply(to->p, bytes, size, to->e);
	to->next = number + 1;
	return rc;
}

int run_profile_load(struct profile *p, struct store *s, int64_t run, struct err *e)
{
	struct pieces to = {.p = p, .e = e};

	return store_dictionary_each(s, run, 0, 0, apply_piece, &to, e);
}

/* Returns false if nothing usable is stored: then the tables must be computed. */
static bool load_derived(struct run_data *d, struct store *s)
{
	CLEANUP(buf_release) struct buf bytes = {};

	return store_derived_get(s, d->id, DERIVED_PATHS, &bytes, NULL) == 0 && bytes.len &&
	       run_derived_decode(bytes.s, bytes.len, &d->profile, &d->paths, NULL) == 0;
}

static int load_pieces(struct run_data *d, struct store *s, struct err *e)
{
	struct pieces to = {.p = &d->profile, .next = d->next_piece, .e = e};
	int rc = store_dictionary_each(s, d->id, 0, d->next_piece, apply_piece, &to, e);

	if (rc < 0)
		return rc;
	d->next_piece = to.next;
	free(d->leaves);
	d->leaves = NULL;
	/* Only at the end: what this adds would conflict with dictionary pieces still to come. */
	if (d->ended)
		jvm_name_main(&d->profile);
	call_paths_all(&d->paths, &d->profile);
	return 0;
}

static int load_tables(struct run_data *d, struct store *s, bool ended, struct err *e)
{
	int rc;

	release_tables(d);
	if (ended && load_derived(d, s)) {
		d->loaded = d->ended = true;
		return 0;
	}
	profile_init(&d->profile);
	call_paths_init(&d->paths);
	d->loaded = d->whole = true;
	d->ended = ended;
	rc = load_pieces(d, s, e);
	if (rc < 0) {
		release_tables(d);
		return rc;
	}
	/* Best effort: without it only the next start is slower. */
	if (ended && d->profile.stacks.len >= DERIVED_STACKS_MIN) {
		struct buf bytes = {};

		run_derived_encode(&d->paths, &d->profile, &bytes);
		store_derived_put(s, d->id, DERIVED_PATHS, bytes.s, bytes.len, NULL);
		buf_release(&bytes);
	}
	return 0;
}

/* ---- chunks ---- */

int run_chunk_read(struct store *s, const struct run_chunk *c, struct buf *bytes,
		   struct buf *summary, struct err *e)
{
	int rc = store_chunk_read(s, &c->stored, bytes, summary, e);

	return rc == -ENOENT ? -ESTALE : rc;
}

int run_chunk_failed(struct store *s, const struct run_chunk *c, int rc, const struct err *why,
		     struct err *e)
{
	err_set(e, -rc, "%s", why->text);
	return store_chunk_name(s, &c->stored, rc, e);
}

static int by_time(const void *a, const void *b)
{
	const struct run_chunk *x = a, *y = b;

	if (x->stored.info.first_ns != y->stored.info.first_ns)
		return x->stored.info.first_ns < y->stored.info.first_ns ? -1 : 1;
	return x->stored.id < y->stored.id ? -1 : x->stored.id > y->stored.id;
}

static int by_id(const void *a, const void *b)
{
	const struct run_chunk *x = a, *y = b;

	return x->stored.id < y->stored.id ? -1 : x->stored.id > y->stored.id;
}

static bool same_info(const struct chunk_info *a, const struct chunk_info *b)
{
	return a->schema == b->schema && a->sampled == b->sampled && a->rows == b->rows &&
	       a->partition == b->partition && a->first_ns == b->first_ns &&
	       a->last_ns == b->last_ns;
}

/* Keeps the decoded data of chunks that still exist, and frees the rest. */
static void keep_decoded(struct run_data *d, struct run_chunk *old, size_t count)
{
	if (count)
		qsort(old, count, sizeof(*old), by_id);
	vec_each(&d->chunks, chunk) {
		struct run_chunk *known =
			count ? bsearch(chunk, old, count, sizeof(*old), by_id) : NULL;

		if (known && same_info(&known->stored.info, &chunk->stored.info)) {
			struct stored_chunk stored = chunk->stored;

			*chunk = *known;
			chunk->stored = stored;
			/* It has a summary now, and so may have levels of lanes. */
			if (stored.merged != known->stored.merged) {
				run_spans_free(chunk->spans);
				chunk->spans = NULL;
			}
			*known = (struct run_chunk){.stored = known->stored};
		}
	}
	for (size_t i = 0; i < count; i++)
		chunk_release(&old[i]);
}

/* If @anew, @stored are all chunks, else only those that were added after the known ones. */
static void take_chunks(struct run_data *d, const stored_chunks *stored, bool anew)
{
	__typeof__(d->chunks) old = {};

	if (anew) {
		old = d->chunks;
		d->chunks = (__typeof__(d->chunks)){};
		d->first_ns = d->last_ns = 0;
	}
	vec_each(stored, chunk) {
		const struct chunk_info *info = &chunk->info;

		/* There is only one collector, with one dictionary, yet. */
		if (chunk->source)
			continue;
		if (!d->chunks.len || info->first_ns < d->first_ns)
			d->first_ns = info->first_ns;
		if (info->last_ns > d->last_ns)
			d->last_ns = info->last_ns;
		if (chunk->id > d->last_chunk)
			d->last_chunk = chunk->id;
		vec_push(&d->chunks, (struct run_chunk){.stored = *chunk});
	}
	if (anew)
		keep_decoded(d, old.items, old.len);
	vec_release(&old);
	if (d->chunks.len)
		qsort(d->chunks.items, d->chunks.len, sizeof(*d->chunks.items), by_time);
}

int run_data_load(struct run_data *d, struct store *s, bool ended, struct err *e)
{
	bool fresh = d->loaded && d->ended == ended, anew;
	stored_chunks stored = {};
	struct chunk_query q = {};
	int64_t generation;
	/*
	 * Read the generation first, then chunks, then tables: the next call finds what has changed
	 * meanwhile, and the tables have the stacks of every chunk.
	 */
	int rc = store_run_generation(s, d->id, &generation, e);

	if (rc < 0)
		return rc;
	anew = !fresh || generation != d->generation || d->stale;
	q.after_id = anew ? 0 : d->last_chunk;
	rc = store_chunks(s, d->id, &q, &stored, e);
	if (rc == 0 && fresh && !ended) {
		rc = load_pieces(d, s, e);
		/* The pieces were rewritten: read them from the first on. */
		if (rc == -EBADMSG && anew)
			rc = load_tables(d, s, ended, e);
	} else if (rc == 0 && !fresh) {
		rc = load_tables(d, s, ended, e);
	}
	if (rc == 0) {
		take_chunks(d, &stored, anew);
		d->generation = generation;
		d->stale = false;
		count_bytes(d);
	}
	vec_release(&stored);
	return rc;
}
