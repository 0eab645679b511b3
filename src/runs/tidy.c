#include "runs/tidy.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "runs/internal.h"
#include "runs/known_time.h"
#include "runs/retention.h"
#include "query/run_cache.h"
#include "runs/runs.h"
#include "runs/tidy_run.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Minimum time between two passes. */
#define PASS_MS 1000
/* Pause between two steps: a waiting writer tries again within this time. */
#define PAUSE_MS 5
/* Bytes of one purge step, and of one shrink step. */
#define PURGE_BYTES  (4u << 20)
#define SHRINK_BYTES (2u << 20)
/* While runs write, free space in the file is soon reused: shrink only if there is this much. */
#define SPARE_BYTES (64u << 20)
/* How often old runs are looked for when nothing else happens. */
#define AGE_CHECK_MS 60000
/* How often what is known of the time is stored. */
#define TIME_SAVE_MS 3600000
#define TIME_SETTING "known-time"
/* With very many counters, listing the chunks to merge takes long: the pause until the next
 * listing is this many times as long. */
#define SCAN_PAUSE 20
/* Delay after a failure (a full disk, a locked database). */
#define PAUSE_FAILED_MS 5000

typedef VEC(int64_t) run_list;

struct tidy {
	struct run_host *host;
	struct store *store;
	struct tidy_run work;
	pthread_t thread;
	struct known_time time; /* so that a clock that was set makes no run old */
	uint64_t time_save_ns;  /* when it is stored next */
	uint64_t old_check_ns;  /* when old runs are looked for next */
	uint64_t merge_ns;      /* when small chunks of running runs are looked at next */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping, kicked;
	run_list waiting; /* runs that have something new */
	struct tidy_counts counts;
	char *warning; /* see tidy_warning() */
};

static uint64_t now_ns(const struct tidy *t)
{
	return clock_monotonic_ns(t->host->clock);
}

/* ---- steps ---- */

static bool stopping(struct tidy *t)
{
	bool result;

	pthread_mutex_lock(&t->lock);
	result = t->stopping;
	pthread_mutex_unlock(&t->lock);
	return result;
}

/* Lets other writers have their turn. Returns false if the thread is to stop. */
static bool pause_between(struct tidy *t)
{
	usleep(PAUSE_MS * 1000);
	return !stopping(t);
}

static void failed(struct tidy *t)
{
	pthread_mutex_lock(&t->lock);
	t->counts.failures++;
	pthread_mutex_unlock(&t->lock);
}

static int purge(struct tidy *t)
{
	char uuid[UUID_BYTES];
	int64_t run, after = 0;
	bool more = true;
	int result = 0, kept = 0;

	while (more && !result) {
		result = store_purge_next(t->store, after, &run, uuid, NULL);
		/* The recording first: without its run nobody would know whose it was. One that cannot
		 * be removed keeps its run, and the next pass tries again; other runs do not wait. */
		if (!result && uuid[0] && raw_remove(t->host, uuid)) {
			kept = -EIO;
			after = run;
			continue;
		}
		if (!result)
			result = store_purge(t->store, after, PURGE_BYTES, &more, NULL);
		if (more && !result && !pause_between(t))
			break;
	}
	return result ? result : kept;
}

static int tidy_one(struct tidy *t, int64_t run)
{
	CLEANUP(stored_run_release) struct stored_run now = {};
	int result = store_run_get_id(t->store, run, &now, NULL);
	bool ended = run_state_ended(now.state);

	if (result < 0)
		return result == -ENOENT ? 0 : result;
	if (!ended && now_ns(t) < t->merge_ns)
		return 0;
	do {
		result = tidy_run_merge(&t->work, t->store, run, ended, NULL);
		/* The run or its chunks were deleted meanwhile, or are damaged: trying again would
		 * not help. Questions about the run say what is wrong. */
		if (result == -ENOENT || result == -EBADMSG)
			return 0;
	} while (result > 0 && pause_between(t));
	t->merge_ns = now_ns(t) + SCAN_PAUSE * t->work.scan_ns;
	if (!result && ended && !stopping(t))
		result = tidy_run_dictionaries(t->store, run, NULL);
	if (result >= 0 && ended && !stopping(t)) {
		result = run_cache_prepare(t->store, &now, NULL);
		/* Do not retry the cache: the first question about the run prepares it. */
		if (result == -ENOMEM)
			result = 0;
	}
	/* One more ended run takes space: check at once whether older ones must go. */
	if (ended)
		t->old_check_ns = 0;
	pthread_mutex_lock(&t->lock);
	t->counts.merges = t->work.merges;
	t->counts.merged_chunks = t->work.merged_chunks;
	pthread_mutex_unlock(&t->lock);
	return result < 0 && result != -ENOENT && result != -EBADMSG ? result : 0;
}

/* Returns free space inside the database file to the disk. */
static void shrink(struct tidy *t)
{
	uint64_t bytes, unused;
	CLEANUP(stored_runs_release) stored_runs running = {};
	bool busy;

	if (store_size(t->store, &bytes, &unused, NULL) ||
	    store_runs_in_state(t->store, STATE_RUNNING, &running, NULL))
		return;
	busy = running.len > 0;
	if (busy && unused < SPARE_BYTES)
		return;
	while (store_shrink(t->store, SHRINK_BYTES) && pause_between(t))
		;
	store_reserve(t->store);
}

/* ---- old runs ---- */

static struct moment moment_now(const struct tidy *t)
{
	struct moment now = {
		.wall_ms = clock_wall_ms(t->host->clock),
		.boot_ms = (int64_t)(clock_read_ns(t->host->clock, CLOCK_BOOTTIME) / NS_PER_MSEC)};

	fs_line(now.boot, sizeof(now.boot), "/proc/sys/kernel/random/boot_id");
	return now;
}

static void load_time(struct tidy *t)
{
	CLEANUP(free_ptr) char *text = NULL;
	int64_t newest_ms = 0;

	if (store_setting_get(t->store, TIME_SETTING, &text, NULL) == 0 &&
	    known_time_parse(&t->time, text))
		return;
	store_newest_end(t->store, &newest_ms, NULL);
	known_time_begin(&t->time, newest_ms);
}

static void pass_time(struct tidy *t)
{
	struct moment now = moment_now(t);
	CLEANUP(free_ptr) char *text = NULL;

	known_time_pass(&t->time, &now, (int64_t)t->host->settings.keep_s * 1000);
	if (now_ns(t) < t->time_save_ns)
		return;
	t->time_save_ns = now_ns(t) + TIME_SAVE_MS * NS_PER_MSEC;
	text = known_time_text(&t->time);
	store_setting_put(t->store, TIME_SETTING, text, NULL);
}

static void day_text(int64_t ms, char ret[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	ret[0] = '\0';
	if (gmtime_r(&seconds, &tm))
		strftime(ret, 32, "%Y-%m-%d %H:%M UTC", &tm);
}

/* @future_ms: the end of the newest run if that lies in the future, else 0. */
static char *find_warning(const struct tidy *t, int64_t future_ms)
{
	char known[32], other[32];

	day_text(known_time_ms(&t->time), known);
	if (known_time_ahead_ms(&t->time)) {
		day_text(t->time.seen.wall_ms, other);
		return xasprintf(
			"The clock has jumped to %s; by the time that is known to have passed it "
			"is "
			"%s. Until that is settled, only time that passes makes runs older, so "
			"keep-age deletes fewer of them. If the clock is wrong, set it. If it is "
			"right, nothing needs to be done: it is believed again when it has gone on "
			"evenly for as long as keep-age says.",
			other, known);
	}
	if (!future_ms)
		return NULL;
	day_text(future_ms, other);
	return xasprintf("The newest run has ended at %s, but now it is %s: the clock is wrong, or "
			 "was wrong then. keep-age deletes no runs until a newer run has ended. If "
			 "the clock is wrong, set it.",
			 other, known);
}

static void set_warning(struct tidy *t, int64_t future_ms)
{
	char *warning = find_warning(t, future_ms);

	pthread_mutex_lock(&t->lock);
	free(t->warning);
	t->warning = warning;
	pthread_mutex_unlock(&t->lock);
}

char *tidy_warning(struct tidy *t)
{
	char *copy;

	if (!t)
		return NULL;
	pthread_mutex_lock(&t->lock);
	copy = t->warning ? xstrdup(t->warning) : NULL;
	pthread_mutex_unlock(&t->lock);
	return copy;
}

static bool has_retention(const struct tidy *t)
{
	return t->host->settings.keep_s || t->host->settings.keep_bytes;
}

/* Returns true if something was deleted. */
static bool expire(struct tidy *t)
{
	CLEANUP(strvec_release) strvec chosen = {};
	struct retention r = {.keep_s = t->host->settings.keep_s,
			      .keep_bytes = t->host->settings.keep_bytes,
			      .data = t->host->settings.data};
	uint64_t deleted = 0;
	int64_t future_ms;

	if (!has_retention(t) || now_ns(t) < t->old_check_ns)
		return false;
	t->old_check_ns = now_ns(t) + AGE_CHECK_MS * NS_PER_MSEC;
	if (r.keep_s)
		pass_time(t);
	r.now_ms = known_time_ms(&t->time);
	if (retention_choose(t->store, &r, &chosen, &future_ms, NULL))
		return false;
	set_warning(t, future_ms);
	vec_each(&chosen, uuid)
		deleted += runs_delete(t->host->runs, t->store, *uuid, NULL) == 0;
	pthread_mutex_lock(&t->lock);
	t->counts.expired_runs += deleted;
	pthread_mutex_unlock(&t->lock);
	return deleted > 0;
}

/* ---- the thread ---- */

static int pass(struct tidy *t, const run_list *todo)
{
	int result = purge(t);

	vec_each(todo, run) {
		int one = stopping(t) ? 0 : tidy_one(t, *run);

		/* A run that memory did not suffice for says nothing about the next one. */
		reserve_settle();
		if (one < 0) {
			/* Try again later. */
			tidy_kick(t, *run);
			result = one;
		}
	}
	if (!stopping(t) && expire(t) && !result)
		result = purge(t);
	if (!stopping(t))
		shrink(t);
	/* The memory for dictionaries is not needed until the next run has ended. */
	alloc_give_back();
	return result;
}

/* Waits until it is time to look for old runs, or for a kick and at least until @not_before_ns.
 * Returns false if the thread is to stop. */
static bool wait_for_work(struct tidy *t, uint64_t not_before_ns, run_list *ret)
{
	uint64_t until_ns;
	bool go_on;

	pthread_mutex_lock(&t->lock);
	while (!t->stopping) {
		until_ns = t->kicked ? not_before_ns : has_retention(t) ? t->old_check_ns : 0;
		if (until_ns && now_ns(t) >= until_ns)
			break;
		if (until_ns)
			clock_wait(t->host->clock, &t->wake, &t->lock, until_ns);
		else
			pthread_cond_wait(&t->wake, &t->lock);
	}
	go_on = !t->stopping;
	t->kicked = false;
	*ret = t->waiting;
	t->waiting = (run_list){};
	t->counts.passes += go_on;
	pthread_mutex_unlock(&t->lock);
	return go_on;
}

static void *tidy_loop(void *arg)
{
	struct tidy *t = arg;
	uint64_t next_ns = now_ns(t);
	run_list todo = {};

	pthread_setname_np(pthread_self(), "tidy");
	/* On Linux this changes the priority of this thread alone. */
	setpriority(PRIO_PROCESS, (id_t)gettid(), 5);
	while (wait_for_work(t, next_ns, &todo)) {
		int result = pass(t, &todo);

		reserve_settle();
		vec_release(&todo);
		next_ns = now_ns(t) + PASS_MS * NS_PER_MSEC;
		if (result < 0) {
			failed(t);
			next_ns = now_ns(t) + PAUSE_FAILED_MS * NS_PER_MSEC;
			tidy_kick(t, 0);
		}
	}
	vec_release(&todo);
	return NULL;
}

void tidy_kick(struct tidy *t, int64_t run)
{
	bool known = false, was_kicked;

	if (!t)
		return;
	pthread_mutex_lock(&t->lock);
	vec_each(&t->waiting, w)
		known = known || *w == run;
	if (run && !known)
		vec_push(&t->waiting, run);
	was_kicked = t->kicked;
	t->kicked = true;
	/* Kicked already: the thread waits for the time of its next pass and need not be woken. */
	if (!was_kicked)
		pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
}

void tidy_counts(struct tidy *t, struct tidy_counts *ret)
{
	pthread_mutex_lock(&t->lock);
	*ret = t->counts;
	pthread_mutex_unlock(&t->lock);
}

/* ---- begin and end ---- */

static void release(struct tidy *t)
{
	store_close(t->store);
	tidy_run_release(&t->work);
	vec_release(&t->waiting);
	free(t->warning);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int tidy_start(struct run_host *host, struct err *e)
{
	struct tidy *t = xcalloc(1, sizeof(*t));
	struct store_options options = {.directory = host->settings.data};
	run_numbers left = {};
	int result;

	t->host = host;
	t->work.clock = host->clock;
	pthread_mutex_init(&t->lock, NULL);
	clock_cond_init(&t->wake);
	result = store_open(&t->store, &options, e);
	if (!result)
		load_time(t);
	if (!result)
		result = store_runs_to_merge(t->store, &left, e);
	vec_each(&left, run)
		tidy_kick(t, *run);
	vec_release(&left);
	/* Always do one pass: something may have been deleted just before the last server ended. */
	tidy_kick(t, 0);
	if (!result && pthread_create(&t->thread, NULL, tidy_loop, t))
		result = err_set(e, EAGAIN, "cannot start the thread that tidies up: %s",
				 strerror(EAGAIN));
	if (result) {
		release(t);
		return result;
	}
	host->tidy = t;
	return 0;
}

void tidy_stop(struct run_host *host)
{
	struct tidy *t = host->tidy;

	if (!t || stopping(t))
		return;
	pthread_mutex_lock(&t->lock);
	t->stopping = true;
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
}

void tidy_free(struct run_host *host)
{
	if (!host->tidy)
		return;
	tidy_stop(host);
	release(host->tidy);
	host->tidy = NULL;
}
