/*
 * The live sink: sends the pipe form of perf.data to a watcher through a pipe, round by round. It
 * may also keep the last seconds in memory, to be written to a file on request, or write everything
 * to a file.
 *
 * The rings must be emptied whatever the watcher does, so a round is only queued, and the sender, a
 * thread of its own, writes it. When the watcher does not keep up, rounds wait in a spill file.
 * When that is full, or there is none, samples are dropped: records that explain others (tasks,
 * mappings) still go through, and a LOST record says how many samples are missing.
 */
#include "collect/sink.h"
#include "base/clock.h"
#include "base/vec.h"
#include "collect/spill.h"
#include "perfdata/format.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

/* While more than this waits, samples are dropped; above the second limit, everything is. */
#define WAITING_BYTES_MAX   ((size_t)16 << 20)
#define EXPLAINED_BYTES_MAX (4 * WAITING_BYTES_MAX)

/* A round releases records older than the round before it: this many empty rounds release all. */
#define EMPTY_ROUNDS 2

struct live_sink {
	struct sink sink;
	struct sink *kept;    /* where records are kept, too; NULL: nowhere */
	struct output output; /* belongs to the sender while that runs */
	struct buf *lanes;    /* records of the current round */
	uint64_t lost;        /* dropped samples that were not reported yet */
	uint64_t lost_ns;  /* between the last samples before those and the first ones after them */
	uint64_t round_ns; /* when the rings had been emptied for the round before */
	uint64_t lost_told;
	struct buf held; /* records that explain others, while the spill file is full */
	unsigned empty;  /* empty rounds in a row */
	pthread_t sender;
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t changed;
	VEC(struct buf) queue; /* rounds to be sent, older than all in `spill` */
	struct spill spill;
	bool spill_failed;
	size_t waiting_bytes; /* in the queue, and of the round that is being sent */
	bool ending;
	int failed;
	struct err error;
};

static int live_append(struct sink *sink, unsigned lane, const struct ring_view *view,
		       struct err *e)
{
	struct live_sink *s = (struct live_sink *)sink;
	struct buf *to = &s->lanes[lane];

	buf_add_mem(to, view->first, view->first_bytes);
	if (view->second_bytes)
		buf_add_mem(to, view->second, view->second_bytes);
	return s->kept ? sink_append(s->kept, lane, view, e) : 0;
}

static int live_counts(struct sink *sink, const struct ring_view *view, struct err *e)
{
	struct live_sink *s = (struct live_sink *)sink;

	buf_add_mem(&s->lanes[0], view->first, view->first_bytes);
	return s->kept && !sink->options.sampled ? sink_append(s->kept, 0, view, e) : 0;
}

/* ---- the sender ---- */

/* Includes the record that ends the round. */
static size_t size_of_round(const struct buf *records)
{
	return records->len + sizeof(struct perf_event_header);
}

static int send_round(struct live_sink *s, const struct buf *records, struct err *e)
{
	int r = writer_append(s->output.lanes[0], records->s, records->len, NULL, 0, e);

	return r < 0 ? r : writer_round(s->output.writer, e);
}

/* Takes the oldest waiting round; returns false if there is none. The caller must hold the lock. */
static bool next_round(struct live_sink *s, struct buf *ret, struct err *e)
{
	*ret = (struct buf){};
	if (s->queue.len) {
		*ret = s->queue.items[0];
		memmove(s->queue.items, s->queue.items + 1,
			--s->queue.len * sizeof(*s->queue.items));
		return true;
	}
	if (spill_is_empty(&s->spill))
		return false;
	if (!spill_take(&s->spill, ret) && !s->failed)
		s->failed = err_set(e, EIO, "cannot read waiting samples back from the disk");
	s->waiting_bytes += size_of_round(ret);
	return true;
}

static void *sender_main(void *arg)
{
	struct live_sink *s = arg;
	struct buf records;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct err e = {};
		int r;

		if (!next_round(s, &records, &s->error)) {
			if (s->ending)
				break;
			pthread_cond_wait(&s->changed, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		r = send_round(s, &records, &e);
		pthread_mutex_lock(&s->lock);
		s->waiting_bytes -= size_of_round(&records);
		buf_release(&records);
		if (r < 0 && !s->failed) {
			s->failed = r;
			s->error = e;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int start_sender(struct live_sink *s, struct err *e)
{
	sigset_t all, before;
	int code;

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	/* Signals are for the first thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(&s->sender, NULL, sender_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code ? err_set(e, code, "cannot start a thread: %s", strerror(code)) : 0;
}

/* ---- rounds ---- */

/* Adds one lane's records to @round: all, or only counts and those that explain others. */
static void gather(struct live_sink *s, struct buf *round, const struct buf *lane, bool samples)
{
	struct perf_event_header header;

	if (samples) {
		buf_add_mem(round, lane->s, lane->len);
		return;
	}
	for (size_t at = 0; lane->len - at >= sizeof(header); at += header.size) {
		memcpy(&header, lane->s + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > lane->len - at)
			return;
		s->lost += header.type == PERF_RECORD_SAMPLE;
		if (record_explains(header.type) || header.type == USER_STAT ||
		    header.type == USER_STAT_ROUND)
			buf_add_mem(round, lane->s + at, header.size);
	}
}

static void add_lost(struct live_sink *s, struct buf *round)
{
	const struct writer_event *event = s->sink.options.writer.events;
	struct lost_record record =
		lost_record_of(event->id_count ? event->ids[0] : 0, s->lost, s->lost_ns);

	if (s->lost)
		buf_add_mem(round, &record, sizeof(record));
	s->lost_told += s->lost;
	s->lost = 0;
}

static void gather_all(struct live_sink *s, struct buf *round, bool samples)
{
	uint64_t before = s->lost;

	for (unsigned i = 0; i < s->sink.options.lanes; i++) {
		gather(s, round, &s->lanes[i], samples);
		buf_clear(&s->lanes[i]);
	}
	/* All that was kept is older than this round's beginning, what is kept next is younger. */
	if (s->lost != before)
		s->lost_ns = s->round_ns;
	s->round_ns = clock_now_ns();
}

static void tell_full(struct live_sink *s)
{
	const struct sink_options *o = &s->sink.options;
	CLEANUP(free_ptr) char *text = NULL;

	if (s->spill_failed || !o->note)
		return;
	s->spill_failed = true;
	text = xasprintf("'%s' has no room for waiting samples: some are dropped",
			 o->spill_directory);
	o->note(o->ctx, text);
}

/* Puts the round into the spill file: rounds on the disk are older and must be sent first. */
static void spill_round(struct live_sink *s, bool room, bool last)
{
	struct buf round = s->held;
	uint64_t before, began_ns = s->round_ns;
	bool put;

	s->held = (struct buf){};
	gather_all(s, &round, room);
	if (!room && !last) {
		if (round.len > EXPLAINED_BYTES_MAX)
			round.len = 0;
		s->held = round;
		return;
	}
	before = s->lost;
	add_lost(s, &round);
	pthread_mutex_lock(&s->lock);
	put = spill_put(&s->spill, &round);
	if (!put)
		s->spill.limit_bytes = 0;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	if (!put) {
		s->lost = before;
		s->lost_told -= before;
		gather(s, &s->held, &round, false);
		s->lost_ns = began_ns;
		tell_full(s);
	}
	buf_release(&round);
}

/* Queues a round even if it is empty: it releases older records at the reader. The @last round
 * reports dropped samples however much waits. */
static int queue_round(struct live_sink *s, bool last, struct err *e)
{
	struct buf round = {};
	bool to_disk, room;
	size_t waiting;
	int r;

	pthread_mutex_lock(&s->lock);
	waiting = s->waiting_bytes;
	room = spill_has_room(&s->spill);
	to_disk = !spill_is_empty(&s->spill) || (room && waiting >= WAITING_BYTES_MAX);
	r = s->failed;
	if (r < 0 && e)
		*e = s->error;
	pthread_mutex_unlock(&s->lock);
	if (to_disk && r == 0) {
		spill_round(s, room, last);
		return 0;
	}
	round = s->held;
	s->held = (struct buf){};
	gather_all(s, &round, waiting < WAITING_BYTES_MAX);
	s->empty = round.len ? 0 : s->empty + 1;
	if (r < 0 || (!last && (waiting > EXPLAINED_BYTES_MAX || (waiting && !round.len) ||
				(s->sink.options.skip_empty && s->empty > EMPTY_ROUNDS)))) {
		buf_release(&round);
		return r;
	}
	if (last || waiting < WAITING_BYTES_MAX)
		add_lost(s, &round);
	pthread_mutex_lock(&s->lock);
	s->waiting_bytes += size_of_round(&round);
	vec_push(&s->queue, round);
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

static int live_round(struct sink *sink, uint64_t now_ns, struct err *e)
{
	struct live_sink *s = (struct live_sink *)sink;
	int r = s->kept ? sink_round(s->kept, now_ns, e) : 0;

	return r < 0 ? r : queue_round(s, false, e);
}

/* If the file cannot be written, the user is told and watching goes on. */
static int live_snapshot(struct sink *sink, struct err *e)
{
	struct live_sink *s = (struct live_sink *)sink;
	struct err failure = {};

	(void)e;
	if (s->kept && sink_snapshot(s->kept, &failure) < 0 && sink->options.note)
		sink->options.note(sink->options.ctx, failure.text);
	return 0;
}

static uint64_t live_bytes(const struct sink *sink)
{
	const struct live_sink *s = (const struct live_sink *)sink;

	return s->kept ? sink_bytes(s->kept) : 0;
}

/* ---- beginning and end ---- */

static void free_live(struct live_sink *s)
{
	vec_each(&s->queue, round)
		buf_release(round);
	vec_release(&s->queue);
	for (unsigned i = 0; i < s->sink.options.lanes; i++)
		buf_release(&s->lanes[i]);
	free(s->lanes);
	if (s->kept)
		sink_finish(s->kept, NULL);
	buf_release(&s->held);
	spill_close(&s->spill);
	free(s);
}

/* Waits until the watcher has read everything, or is gone. */
static int live_finish(struct sink *sink, struct err *e)
{
	struct live_sink *s = (struct live_sink *)sink;
	int r = queue_round(s, true, e), closed, kept = 0;

	/* Close the kept file while the watcher reads the rest, and before output_finish(): only
	 * the first call of options->end() gets the time span of the samples. */
	if (s->kept)
		kept = sink_finish(s->kept, r < 0 ? NULL : e);
	s->kept = NULL;
	r = r < 0 ? r : kept;
	pthread_mutex_lock(&s->lock);
	s->ending = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->sender, NULL);
	closed = output_finish(&s->output, &sink->options, NULL, r < 0 ? NULL : e);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free_live(s);
	return r < 0 ? r : closed;
}

static const struct sink_ops live_ops = {
	.append = live_append,
	.counts = live_counts,
	.round = live_round,
	.snapshot = live_snapshot,
	.bytes = live_bytes,
	.finish = live_finish,
};

static int open_kept(struct live_sink *s, struct err *e)
{
	struct sink_options o = s->sink.options;

	if (o.live_keep == LIVE_KEEP_NONE)
		return 0;
	o.kind = o.live_keep == LIVE_KEEP_FILE ? SINK_FILE : SINK_MEMORY;
	o.on_request = true;
	if (o.sampled)
		o.writer.event_count = o.sampled;
	return sink_new(&s->kept, &o, e);
}

/* Without a spill file, samples are dropped when too many wait: no reason to measure nothing. */
static void open_spill(struct live_sink *s)
{
	const struct sink_options *o = &s->sink.options;
	struct err e = {};

	s->spill = (struct spill){.fd = -1};
	if (o->spill_directory &&
	    spill_open(&s->spill, o->spill_directory, o->spill_bytes, &e) < 0 && o->note)
		o->note(o->ctx, e.text);
}

void sink_live_counts(struct sink *sink, struct live_counts *ret)
{
	struct live_sink *s = (struct live_sink *)sink;

	pthread_mutex_lock(&s->lock);
	ret->dropped = s->lost + s->lost_told;
	ret->spilled_bytes = s->spill.total_bytes;
	ret->waiting_bytes = s->waiting_bytes + (s->spill.tail - s->spill.head);
	pthread_mutex_unlock(&s->lock);
}

int sink_live_new(struct sink **ret, const struct sink_options *options, struct err *e)
{
	struct live_sink *s = xcalloc(1, sizeof(*s));
	int r;

	s->sink = (struct sink){.ops = &live_ops, .options = *options};
	s->lanes = xcalloc(options->lanes, sizeof(*s->lanes));
	open_spill(s);
	r = open_kept(s, e);
	if (r == 0)
		r = output_open(&s->output, options, NULL, NULL, e);
	if (r == 0) {
		r = start_sender(s, e);
		if (r < 0)
			output_finish(&s->output, options, NULL, NULL);
	}
	if (r < 0) {
		free_live(s);
		return r;
	}
	*ret = &s->sink;
	return 0;
}
