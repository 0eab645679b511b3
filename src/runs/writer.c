#include "runs/internal.h"
#include "base/reserve.h"
#include "profile/code.h"
#include "runs/batch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

void deposit_clear(struct deposit *d)
{
	d->arrived.len = 0;
	buf_clear(&d->bytes);
}

void deposit_release(struct deposit *d)
{
	stored_run_release(&d->run);
	vec_release(&d->arrived);
	buf_release(&d->bytes);
}

/* ---- storing a deposit ---- */

static void swap_text(char **a, char **b)
{
	char *text = *a;

	*a = *b;
	*b = text;
}

/* Swaps the texts that people edit; their current values are in the store. */
static void exchange_words(struct stored_run *a, struct stored_run *b)
{
	swap_text(&a->note, &b->note);
	swap_text(&a->tags, &b->tags);
	swap_text(&a->description, &b->description);
}

static int store_output(struct store *s, int64_t run, const void *bytes, size_t size, struct err *e)
{
	struct cursor c = cursor_of(bytes, size);
	uint64_t time_ns;
	int stream;

	c.swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	time_ns = cursor_u64(&c);
	stream = (int)cursor_u32(&c);
	return store_output_add(s, run, stream, time_ns, (const char *)bytes + OUTPUT_HEADER,
				size - OUTPUT_HEADER, e);
}

/* Stores an annotated function; skips one that cannot be decoded. */
static int store_code(struct store *s, int64_t run, const void *bytes, size_t size, struct err *e)
{
	struct code code = {};
	uint32_t function;
	int rc = code_decode(bytes, size, &code, NULL);

	function = code.function;
	code_release(&code);
	return rc < 0 ? 0 : store_code_add(s, run, 0, function, bytes, size, e);
}

static int store_note(struct store *s, const struct deposit *d, const void *bytes, size_t size,
		      struct err *e)
{
	CLEANUP(free_ptr) char *text = xstrndup(bytes, size);
	uint64_t start = (uint64_t)d->run.start_ns, at = d->first_arrived_ns;

	/* Notes of an import, which has a clock of its own, and notes from before the start are
	 * about the whole run: they get its start time. */
	if (d->active->import || at < start)
		at = start;
	return store_note_add(s, d->run.id, at, text, e);
}

static int store_arrived(struct store *s, const struct deposit *d, const struct arrived *x,
			 struct err *e)
{
	const char *bytes = d->bytes.s ? d->bytes.s + x->at : "";

	switch (x->type) {
	case RUN_DICTIONARY:
		return store_dictionary_add(s, d->run.id, 0, bytes, x->size, e);
	case RUN_OUTPUT:
		return store_output(s, d->run.id, bytes, x->size, e);
	case RUN_NOTE:
		return store_note(s, d, bytes, x->size, e);
	case RUN_CODE:
		return store_code(s, d->run.id, bytes, x->size, e);
	default:
		return 0;
	}
}

/* Updates the row. What people have changed meanwhile stays, and is returned in @d. */
static int store_row(struct store *s, struct deposit *d, struct err *e)
{
	struct stored_run now = {};
	int rc = store_run_get(s, d->run.uuid, &now, e);

	if (rc < 0)
		return rc;
	exchange_words(&d->run, &now);
	d->run.bytes = now.bytes;
	stored_run_release(&now);
	return store_run_update(s, &d->run, e);
}

/* Merges the chunks before the transaction: compressing them must not hold the write lock. */
static int join_chunks(const struct deposit *d, batch *ret, struct err *e)
{
	int rc = 0;

	vec_each(&d->arrived, x)
		if (rc >= 0 && x->type == RUN_CHUNK)
			rc = batch_add(ret, d->bytes.s + x->at, x->size, e);
	if (rc >= 0)
		batch_join(ret);
	return rc;
}

static int store_all(struct store *s, struct deposit *d, const batch *chunks, struct err *e)
{
	int rc = store_begin(s, e);

	if (rc < 0)
		return rc;
	vec_each(&d->arrived, x)
		if (rc >= 0 && x->type != RUN_CHUNK)
			rc = store_arrived(s, d, x, e);
	if (rc >= 0)
		rc = batch_store(chunks, s, d->run.id, 0, e);
	if (rc >= 0)
		rc = store_row(s, d, e);
	if (rc < 0) {
		store_rollback(s);
		return rc;
	}
	return store_commit(s, e);
}

/*
 * The database was taken away, and the run has failed because of that. Store its end all the same,
 * for those who can still read it.
 */
static int store_lost_end(struct store *s, struct deposit *d)
{
	int r;

	store_settle_lost(s, true);
	r = store_all(s, d, &(batch){}, &d->err);
	store_settle_lost(s, false);
	return r;
}

static void write_deposit(struct store *s, struct deposit *d)
{
	CLEANUP(batch_release) batch chunks = {};

	d->err = (struct err){};
	d->result = join_chunks(d, &chunks, &d->err);
	if (d->result < 0)
		return;
	d->result = store_all(s, d, &chunks, &d->err);
	/* The end of a run must be stored even on a full disk: use the reserve. */
	if (d->result == -ENOSPC && d->over && d->unstored && store_use_reserve(s))
		d->result = store_all(s, d, &chunks, &d->err);
	if (d->result == -ESTALE && d->over && d->unstored)
		d->result = store_lost_end(s, d);
}

/* ---- passing deposits between the threads ---- */

static void add(struct deposits *list, struct deposit *d)
{
	d->next = NULL;
	*list->last = d;
	list->last = &d->next;
}

static struct deposit *take_first(struct deposits *list)
{
	struct deposit *d = list->first;

	if (d && !(list->first = d->next))
		list->last = &list->first;
	return d;
}

static void *writer_loop(void *runs)
{
	struct runs *r = runs;
	struct writer *w = &r->writer;
	struct deposit *d;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_mutex_lock(&r->lock);
	while (!w->stopping) {
		d = take_first(&w->waiting);
		if (!d) {
			pthread_cond_wait(&w->work, &r->lock);
			continue;
		}
		pthread_mutex_unlock(&r->lock);
		write_deposit(w->store, d);
		reserve_settle();
		pthread_mutex_lock(&r->lock);
		add(&w->done, d);
		loop_wake(r);
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

int writer_begin(struct runs *r, struct err *e)
{
	struct writer *w = &r->writer;
	int code;

	w->waiting.last = &w->waiting.first;
	w->done.last = &w->done.first;
	code = pthread_create(&w->thread, NULL, writer_loop, r);
	w->begun = !code;
	return code ? err_set(e, code, "cannot start a thread: %s", strerror(code)) : 0;
}

void writer_stop(struct runs *r)
{
	struct writer *w = &r->writer;

	if (!w->begun)
		return;
	pthread_mutex_lock(&r->lock);
	w->stopping = true;
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&r->lock);
	pthread_join(w->thread, NULL);
	w->begun = false;
}

static char *copy_text(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* Copies the fields that store_run_update() writes. */
static void copy_row(struct deposit *d, const struct stored_run *run)
{
	stored_run_release(&d->run);
	d->run = (struct stored_run){
		.id = run->id,
		.state = run->state,
		.position = run->position,
		.exclusive = run->exclusive,
		.opened = copy_text(run->opened),
		.ledger = copy_text(run->ledger),
		.ended = copy_text(run->ended),
		.error = copy_text(run->error),
		.raw_path = copy_text(run->raw_path),
		.started_ms = run->started_ms,
		.ended_ms = run->ended_ms,
		.start_ns = run->start_ns,
		.duration_ms = run->duration_ms,
		.samples = run->samples,
	};
	memcpy(d->run.uuid, run->uuid, sizeof(d->run.uuid));
}

static void move_arrived(struct active *a)
{
	struct deposit *d = &a->deposit;
	size_t base = d->bytes.len;

	if (d->arrived.len) {
		buf_add_mem(&d->bytes, a->bytes.s, a->bytes.len);
		vec_each(&a->arrived, x)
			vec_push(&d->arrived, (struct arrived){x->type, base + x->at, x->size});
	} else {
		struct buf bytes = d->bytes;
		arrivals arrived = d->arrived;

		d->bytes = a->bytes;
		d->arrived = a->arrived;
		d->first_arrived_ns = a->first_arrived_ns;
		a->bytes = bytes;
		a->arrived = arrived;
	}
	a->arrived.len = 0;
	buf_clear(&a->bytes);
	a->first_arrived_ns = 0;
}

void writer_take(struct active *a)
{
	struct writer *w = &a->runs->writer;
	struct deposit *d = &a->deposit;

	move_arrived(a);
	copy_row(d, &a->run);
	d->active = a;
	d->over = a->over;
	d->unstored = a->unstored;
	a->depositing = true;
	pthread_mutex_lock(&a->runs->lock);
	add(&w->waiting, d);
	pthread_cond_signal(&w->work);
	pthread_mutex_unlock(&a->runs->lock);
}

static void take_back(struct active *a)
{
	struct deposit *d = &a->deposit;

	if (d->result >= 0) {
		exchange_words(&a->run, &d->run);
		a->run.bytes = d->run.bytes;
	}
	ingest_stored(a);
}

void writer_collect(struct runs *r)
{
	struct deposits done;

	pthread_mutex_lock(&r->lock);
	done = r->writer.done;
	r->writer.done = (struct deposits){.last = &r->writer.done.first};
	pthread_mutex_unlock(&r->lock);
	for (struct deposit *d = done.first, *next; d; d = next) {
		next = d->next;
		take_back(d->active);
	}
}
