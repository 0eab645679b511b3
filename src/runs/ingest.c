#include "runs/internal.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "runs/tidy.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>

/* Bytes read from one collector before the others have their turn. */
#define ROUND_BYTES ((size_t)4 << 20)
#define JSON_BYTES  ((size_t)4 << 20)
#define NOTE_BYTES  4096

/* ---- the end of a run ---- */

void ingest_over(struct active *a, enum run_state state, const char *error)
{
	struct runs *r = a->runs;

	if (a->over)
		return;
	pthread_mutex_lock(&r->lock);
	a->over = true;
	pthread_mutex_unlock(&r->lock);
	a->over_ns = runs_now_ns(a->runs);
	a->run.state = state;
	a->run.ended_ms = clock_wall_ms(a->runs->host->clock);
	a->changed = true;
	free(a->run.error);
	a->run.error = error && *error ? xstrdup(error) : NULL;
	overlap_end(r, a);
}

/* Fails the run after a malformed message and kills the collector, which cannot be trusted. */
static void give_up(struct active *a, const char *what)
{
	CLEANUP(free_ptr)
	char *sentence =
		xasprintf("The collector sent an invalid message (%s). It was ended with its "
			  "workload; the data measured so far is kept.",
			  what);

	ingest_over(a, STATE_FAILED, sentence);
	kill(a->pid, SIGKILL);
}

static void resume(struct active *a)
{
	a->busy_ns = 0;
	if (a->paused && a->channel_watched)
		loop_watch(a->runs, a->channel.fd, a);
	a->paused = false;
}

/* Discards the data that waits for the store, and all that still arrives. What the writer is storing
 * remains its own until ingest_stored(). */
static void drop_arrived(struct active *a)
{
	if (!a->depositing)
		deposit_clear(&a->deposit);
	a->arrived.len = 0;
	buf_clear(&a->bytes);
	a->first_arrived_ns = 0;
	a->unstored = true;
	/* Keep reading the channel: ingest_channel() discards the messages. */
	resume(a);
}

/* The run has no more samples than the store has of it, whatever has arrived. */
static void count_stored_only(struct active *a)
{
	json_t *ledger = a->ledger ? json_loads(a->ledger, 0, NULL) : NULL;

	a->run.samples = a->counted;
	if (!ledger)
		return;
	json_object_set_new(ledger, "samples", json_integer(a->counted));
	free(a->ledger);
	a->ledger = json_dumps(ledger, JSON_COMPACT);
	json_decref(ledger);
}

/* Fails the run because its data cannot be stored: there is no use in measuring further. */
static void fail_unstored(struct active *a, const struct err *e)
{
	size_t len = strlen(e->text);
	bool ended = len && strchr(".?!", e->text[len - 1]);
	CLEANUP(free_ptr)
	char *sentence = xasprintf("What was measured cannot be stored: %s%s The workload was "
				   "ended; what had been stored until then is kept.",
				   e->text, ended ? "" : ".");

	drop_arrived(a);
	count_stored_only(a);
	if (a->over) {
		/* The run had ended, but its last data is lost: it has failed. */
		a->run.state = STATE_FAILED;
		free(a->run.error);
		a->run.error = xstrdup(sentence);
	} else {
		ingest_over(a, STATE_FAILED, sentence);
		collector_stop(a, true);
	}
	live_changed(a->runs->host->live, &a->run);
}

/* The server could hardly hold what has arrived: this run ends, so that the others go on. */
static void fail_short(struct active *a)
{
	struct err e = {};

	err_set(&e, ENOMEM, "there is not enough memory left for what has arrived of this run.");
	fail_unstored(a, &e);
}

/* ---- JSON of the collector ---- */

static json_t *parse_object(const struct message *m)
{
	json_t *json = m->body.size <= JSON_BYTES
			       ? json_loadb((const char *)m->body.data, m->body.size, 0, NULL)
			       : NULL;

	if (json && !json_is_object(json)) {
		json_decref(json);
		json = NULL;
	}
	return json;
}

static char *text_of(const struct message *m)
{
	return xstrndup((const char *)m->body.data, m->body.size);
}

static void take_opened(struct active *a, const struct message *m)
{
	json_t *json = parse_object(m);
	json_int_t start_ns = json_integer_value(json_object_get(json, "start_ns"));
	json_int_t wall_ns = json_integer_value(json_object_get(json, "start_wall_ns"));

	if (!json) {
		give_up(a, "the description of its events");
		return;
	}
	free(a->run.opened);
	a->run.opened = text_of(m);
	a->run.start_ns = start_ns > 0 ? start_ns : 0;
	/* Not for an import: its recording was made at some other time. */
	if (!a->import && wall_ns > 0)
		a->run.started_ms = wall_ns / (json_int_t)NS_PER_MSEC;
	json_decref(json);
	a->opened = a->changed = true;
	if (!a->live)
		a->live = live_run_begin(a->runs->host->live, &a->run);
	live_changed(a->runs->host->live, &a->run);
}

static void take_ledger(struct active *a, const struct message *m)
{
	json_t *json = parse_object(m);
	double part = json_number_value(json_object_get(json, "done_part"));

	if (!json) {
		give_up(a, "its ledger");
		return;
	}
	pthread_mutex_lock(&a->runs->lock);
	a->done_part = part >= 0 && part <= 1 ? part : 0;
	pthread_mutex_unlock(&a->runs->lock);
	json_decref(json);
	free(a->ledger);
	a->ledger = text_of(m);
	a->changed = true;
	if (a->live) {
		CLEANUP(free_ptr) char *ledger = overlap_ledger(a);

		live_run_ledger(a->live, ledger);
	}
}

static double plan_number(const struct active *a, const char *name)
{
	json_t *plan = json_loads(a->run.plan ? a->run.plan : "", 0, NULL);
	double value = json_number_value(json_object_get(plan, name));

	json_decref(plan);
	return value;
}

static void take_ended(struct active *a, const struct message *m)
{
	json_t *json = parse_object(m);
	const char *error = json_string_value(json_object_get(json, "error"));
	bool stopped = json_is_true(json_object_get(json, "stopped"));
	CLEANUP(free_ptr) char *sentence = NULL;
	json_int_t end_ns;

	if (!json) {
		give_up(a, "how it ended");
		return;
	}
	a->said_end = true;
	free(a->run.ended);
	a->run.ended = text_of(m);
	end_ns = json_integer_value(json_object_get(json, "end_ns"));
	if (a->opened && end_ns > a->run.start_ns)
		a->run.duration_ms = (end_ns - a->run.start_ns) / (json_int_t)NS_PER_MSEC;
	if (error && *error) {
		ingest_over(a, a->cancelled ? STATE_CANCELLED : STATE_FAILED, error);
	} else if (json_is_true(json_object_get(json, "timed_out"))) {
		sentence = xasprintf(
			"The workload took longer than its timeout of %g s and was ended. "
			"The data measured so far is kept.",
			plan_number(a, "timeout"));
		ingest_over(a, STATE_FAILED, sentence);
	} else if (stopped && a->cancelled) {
		ingest_over(a, STATE_CANCELLED, NULL);
	} else if (stopped && a->cut) {
		ingest_over(a, STATE_INTERRUPTED,
			    "The server was stopped while this was running. What had been "
			    "measured until then is kept.");
	} else {
		ingest_over(a, STATE_DONE, NULL);
	}
	json_decref(json);
	a->kill_ns = runs_now_ns(a->runs) + EXIT_PATIENCE_MS * NS_PER_MSEC;
}

/* ---- data ---- */

static void keep(struct active *a, const struct message *m)
{
	vec_push(&a->arrived, (struct arrived){m->type, a->bytes.len, m->body.size});
	buf_add_mem(&a->bytes, m->body.data, m->body.size);
	if (!a->first_arrived_ns)
		a->first_arrived_ns = runs_now_ns(a->runs);
}

static void take_chunk(struct active *a, const struct message *m)
{
	struct chunk_info info;
	struct err e = {};

	if (chunk_peek(m->body.data, m->body.size, &info, &e) < 0) {
		give_up(a, e.text);
		return;
	}
	if (info.sampled)
		a->run.samples += info.rows;
	a->changed = true;
	keep(a, m);
	if (a->live && a->streaming)
		live_run_chunk(a->live, m->body.data, m->body.size);
}

static void take_output(struct active *a, struct message *m)
{
	uint64_t limit = a->runs->host->settings.output_bytes;
	uint64_t time_ns = cursor_u64(&m->body);
	uint32_t stream = cursor_u32(&m->body);
	struct message cut = *m;

	if (m->body.failed || stream < 1 || stream > 2) {
		give_up(a, "output of an unknown stream");
		return;
	}
	/* The collector keeps to the limit, too, but is not trusted. */
	if (a->output_bytes >= limit)
		return;
	if (m->body.size - OUTPUT_HEADER > limit - a->output_bytes)
		cut.body.size = OUTPUT_HEADER + (size_t)(limit - a->output_bytes);
	a->output_bytes += cut.body.size - OUTPUT_HEADER;
	keep(a, &cut);
	if (a->live)
		live_run_output(a->live, (int)stream, time_ns, cut.body.data + OUTPUT_HEADER,
				cut.body.size - OUTPUT_HEADER);
}

static void take_note(struct active *a, struct message *m)
{
	CLEANUP(free_ptr) char *text = NULL;

	if (m->body.size > NOTE_BYTES)
		m->body.size = NOTE_BYTES;
	text = text_of(m);
	keep(a, m);
	if (a->live)
		live_run_note(a->live, text);
}

static void take(struct active *a, struct message *m)
{
	switch (m->type) {
	case RUN_OPENED:
		take_opened(a, m);
		break;
	case RUN_DICTIONARY:
		keep(a, m);
		if (a->live && a->streaming)
			live_run_dictionary(a->live, m->body.data, m->body.size);
		break;
	case RUN_CHUNK:
		take_chunk(a, m);
		break;
	case RUN_OUTPUT:
		take_output(a, m);
		break;
	case RUN_LEDGER:
		take_ledger(a, m);
		break;
	case RUN_NOTE:
		take_note(a, m);
		break;
	case RUN_CODE:
		keep(a, m);
		break;
	case RUN_ENDED:
		take_ended(a, m);
		break;
	default:
		give_up(a, "a message of an unknown kind");
	}
}

/* Returns true, and stops polling the channel, if too much data waits for the store. The collector
 * spills to disk what we do not read. */
static bool is_behind(struct active *a)
{
	size_t waiting = a->bytes.len + (a->busy_ns ? a->deposit.bytes.len : 0);

	if (a->exiting || waiting < FLUSH_AFTER_BYTES || !(a->depositing || a->busy_ns))
		return false;
	if (!a->paused && a->channel_watched)
		a->paused = !epoll_ctl(a->runs->epoll_fd, EPOLL_CTL_DEL, a->channel.fd, NULL);
	return true;
}

void ingest_channel(struct active *a)
{
	size_t done = 0;
	struct message m;
	int rc = 0;

	channel_flush(&a->channel);
	if (is_behind(a))
		return;
	while (done < ROUND_BYTES && (rc = channel_receive(&a->channel, &m)) > 0) {
		done += m.body.size + MESSAGE_HEADER_BYTES;
		if (!a->over && !a->unstored)
			take(a, &m);
	}
	if (reserve_is_short() && !a->unstored && !a->over)
		fail_short(a);
	if (rc == -EBADMSG && !a->over)
		give_up(a, "a message without an end");
	if (rc < 0 && a->channel_watched) {
		/* The channel is closed; the process should exit soon. */
		epoll_ctl(a->runs->epoll_fd, EPOLL_CTL_DEL, a->channel.fd, NULL);
		a->channel_watched = false;
		if (!a->kill_ns)
			a->kill_ns = runs_now_ns(a->runs) + EXIT_PATIENCE_MS * NS_PER_MSEC;
	}
	if (a->bytes.len > FLUSH_AFTER_BYTES && !a->retry_ns)
		ingest_flush(a);
}

/* ---- to the store ---- */

static void count(struct active *a)
{
	struct runs *r = a->runs;
	const struct deposit *d = &a->deposit;
	json_t *ledger = d->over && a->ledger ? json_loads(a->ledger, 0, NULL) : NULL;
	json_int_t lost = json_integer_value(json_object_get(ledger, "lost"));

	json_decref(ledger);
	pthread_mutex_lock(&r->lock);
	vec_each(&d->arrived, x)
		r->counts.chunks += x->type == RUN_CHUNK;
	r->counts.bytes += d->bytes.len;
	r->counts.samples += (uint64_t)(d->run.samples - a->counted);
	a->counted = d->run.samples;
	if (d->over) {
		r->counts.finished[a->run.state]++;
		r->counts.lost += lost > 0 ? (uint64_t)lost : 0;
	}
	pthread_mutex_unlock(&r->lock);
}

/* Returns true if a retry makes sense: a lock goes away by itself, a full disk does not. */
static bool is_patient(struct active *a, int rc)
{
	uint64_t now = runs_now_ns(a->runs);

	if (rc != -EAGAIN)
		return false;
	if (!a->busy_ns)
		a->busy_ns = now;
	return now - a->busy_ns < BUSY_PATIENCE_MS * NS_PER_MSEC;
}

void ingest_flush(struct active *a)
{
	if (a->depositing || a->saved ||
	    (!a->arrived.len && !a->deposit.arrived.len && !a->changed && !a->over))
		return;
	if (a->over)
		raw_settle(a->runs->host, &a->run);
	free(a->run.ledger);
	a->run.ledger = a->ledger || a->overlaps.len ? overlap_ledger(a) : NULL;
	a->retry_ns = 0;
	a->changed = false;
	writer_take(a);
}

static void tell_end(struct active *a)
{
	struct stored_run now = {};

	a->saved = true;
	/* Read the row again: someone may have changed the note since the writer read it. */
	if (store_run_get(a->runs->store, a->run.uuid, &now, NULL) == 0)
		live_changed(a->runs->host->live, &now);
	else
		live_changed(a->runs->host->live, &a->run);
	stored_run_release(&now);
	if (a->live)
		live_run_end(a->live);
	a->live = NULL;
}

void ingest_stored(struct active *a)
{
	struct deposit *d = &a->deposit;

	a->depositing = false;
	if (d->result == -ENOENT) {
		/* The run was deleted: discard its data. */
		d->over = true;
		drop_arrived(a);
		if (!a->over) {
			ingest_over(a, STATE_CANCELLED, NULL);
			collector_stop(a, true);
		}
	} else if (d->result < 0) {
		a->changed = true;
		if (a->unstored)
			drop_arrived(a);
		else if (!is_patient(a, d->result))
			fail_unstored(a, &d->err);
		a->retry_ns = runs_now_ns(a->runs) + RETRY_MS * NS_PER_MSEC;
		return;
	}
	resume(a);
	count(a);
	if (a->unstored)
		count_stored_only(a);
	if (d->arrived.len || d->over)
		tidy_kick(a->runs->host->tidy, a->run.id);
	deposit_clear(d);
	if (d->over)
		tell_end(a);
}
