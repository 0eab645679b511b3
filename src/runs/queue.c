#include "runs/internal.h"
#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* Earlier runs of a command whose median is its expected duration. */
#define EARLIER_RUNS 5
/* Attempts to store the end of a run while another writer is busy; each waits for a second. */
#define END_TRIES 10

/* ---- expected duration ---- */

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the duration that the plan asks for; 0: none. */
static double planned_s(const char *plan)
{
	json_t *json = plan ? json_loads(plan, 0, NULL) : NULL;
	double seconds = json_number_value(json_object_get(json, "duration"));

	json_decref(json);
	return seconds > 0 ? seconds : 0;
}

double queue_expected_s(struct store *store, const char *command, const char *plan)
{
	int64_t ms[EARLIER_RUNS];
	double planned = planned_s(plan);
	int count;

	if (planned > 0 || !command || !*command)
		return planned;
	count = store_durations(store, command, ms, ARRAY_LEN(ms), NULL);
	if (count <= 0)
		return 0;
	qsort(ms, (size_t)count, sizeof(ms[0]), compare_times);
	return (double)ms[count / 2] / 1000;
}

/* ---- queued runs ---- */

static void insert(struct runs *r, struct waiting w)
{
	size_t at;

	vec_push(&r->queue, w);
	for (at = r->queue.len - 1; at && r->queue.items[at - 1].position > w.position; at--)
		r->queue.items[at] = r->queue.items[at - 1];
	r->queue.items[at] = w;
}

void queue_add(struct runs *r, const struct request *q)
{
	struct waiting w = {
		.position = q->position, .expected_s = q->expected_s, .exclusive = q->exclusive};

	memcpy(w.uuid, q->uuid, sizeof(w.uuid));
	insert(r, w);
}

int queue_load(struct runs *r, struct err *e)
{
	CLEANUP(stored_runs_release) stored_runs all = {};
	int rc = store_runs_in_state(r->store, STATE_QUEUED, &all, e);

	vec_each(&all, run) {
		struct request q = {.position = run->position, .exclusive = run->exclusive};

		memcpy(q.uuid, run->uuid, sizeof(q.uuid));
		q.expected_s = queue_expected_s(r->store, run->command, run->plan);
		queue_add(r, &q);
		if (run->position > r->last_position)
			r->last_position = run->position;
	}
	return rc;
}

static ssize_t find_waiting(struct runs *r, const char *uuid)
{
	for (size_t i = 0; i < r->queue.len; i++)
		if (!strcmp(r->queue.items[i].uuid, uuid))
			return (ssize_t)i;
	return -1;
}

static void remove_at(struct runs *r, size_t at)
{
	memmove(&r->queue.items[at], &r->queue.items[at + 1],
		(r->queue.len - at - 1) * sizeof(r->queue.items[0]));
	r->queue.len--;
}

/* Removes the run from the queue, if it is still there. */
static void queue_take(struct runs *r, const char *uuid)
{
	ssize_t at;

	pthread_mutex_lock(&r->lock);
	at = find_waiting(r, uuid);
	if (at >= 0)
		remove_at(r, (size_t)at);
	pthread_mutex_unlock(&r->lock);
}

/* Takes the run off the queue before the store says that it runs. r->starting keeps it known to
 * runs_progress() meanwhile. */
static void starting_begin(struct runs *r, const char *uuid)
{
	ssize_t at;

	pthread_mutex_lock(&r->lock);
	at = find_waiting(r, uuid);
	if (at >= 0) {
		r->starting = r->queue.items[at];
		remove_at(r, (size_t)at);
	}
	pthread_mutex_unlock(&r->lock);
}

/* The run is queued again (@back), or active (@a), or neither. */
static void starting_end(struct runs *r, struct active *a, bool back)
{
	pthread_mutex_lock(&r->lock);
	if (back && r->starting.uuid[0])
		insert(r, r->starting);
	if (a) {
		vec_push(&r->visible, a);
		r->counts.started++;
	}
	r->starting = (struct waiting){};
	pthread_mutex_unlock(&r->lock);
}

/* Stores the end of a run that has never begun. */
static int end_unbegun(struct runs *r, struct stored_run *run, enum run_state state,
		       const char *error, struct err *e)
{
	int rc;

	run->state = state;
	run->ended_ms = clock_wall_ms(r->host->clock);
	free(run->error);
	run->error = error ? xstrdup(error) : NULL;
	rc = store_run_update(r->store, run, e);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&r->lock);
	r->counts.finished[state]++;
	pthread_mutex_unlock(&r->lock);
	live_changed(r->host->live, run);
	return 0;
}

int queue_cancel(struct runs *r, const char *uuid, struct err *e)
{
	struct stored_run run = {};
	int rc = store_run_get(r->store, uuid, &run, e);

	if (rc == 0 && run.state != STATE_QUEUED)
		rc = err_set(e, EALREADY,
			     "This run is already %s; only queued or running runs can be "
			     "cancelled.",
			     run_state_name(run.state));
	if (rc == 0)
		rc = end_unbegun(r, &run, STATE_CANCELLED, NULL, e);
	if (rc == 0) {
		queue_take(r, uuid);
		raw_remove(r->host, uuid);
		live_queue_changed(r->host->live);
	}
	stored_run_release(&run);
	return rc;
}

static int store_position(struct runs *r, const char *uuid, double position, struct err *e)
{
	struct stored_run run = {};
	int rc = store_run_get(r->store, uuid, &run, e);

	if (rc < 0)
		return rc;
	run.position = position;
	rc = store_run_update(r->store, &run, e);
	if (rc == 0)
		live_changed(r->host->live, &run);
	stored_run_release(&run);
	return rc;
}

/* Stores new positions of all queued runs, when there is no number left between two of them. */
static int renumber(struct runs *r, const struct waiting *order, size_t count, struct err *e)
{
	int rc = store_begin(r->store, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = store_position(r, order[i].uuid, order[i].position, e);
	if (rc < 0)
		store_rollback(r->store);
	else
		rc = store_commit(r->store, e);
	return rc;
}

/* Moves the entry at @from in front of @to and sets *@ret_at to its new index. Returns false if no
 * position lies between those of its neighbours. @end: a position behind all. */
static bool rearrange(struct waiting *order, size_t count, size_t from, size_t to, double end,
		      size_t *ret_at)
{
	struct waiting moved = order[from];
	size_t at = to > from ? to - 1 : to;
	double low, high;

	memmove(&order[from], &order[from + 1], (count - from - 1) * sizeof(*order));
	memmove(&order[at + 1], &order[at], (count - 1 - at) * sizeof(*order));
	*ret_at = at;
	low = at ? order[at - 1].position : order[1].position - 2;
	high = at + 1 < count ? order[at + 1].position : end + 1;
	moved.position = at + 1 < count ? low + (high - low) / 2 : end;
	order[at] = moved;
	return low < moved.position && moved.position < high;
}

int queue_move(struct runs *r, const char *uuid, const char *before, struct err *e)
{
	CLEANUP(free_ptr) struct waiting *order = NULL;
	size_t count, at;
	ssize_t from, to;
	double end;
	int rc;

	/* Other threads only append: the first @count entries stay as they are without the lock. */
	pthread_mutex_lock(&r->lock);
	count = r->queue.len;
	from = find_waiting(r, uuid);
	to = *before ? find_waiting(r, before) : (ssize_t)count;
	end = ++r->last_position;
	order = xcalloc(count + 1, sizeof(*order));
	if (count)
		memcpy(order, r->queue.items, count * sizeof(*order));
	pthread_mutex_unlock(&r->lock);
	if (from < 0 || to < 0)
		return err_set(e, ENOENT,
			       "Run '%s' is not in the queue; only queued runs can be moved.",
			       from < 0 ? uuid : before);
	if (from == to || count < 2)
		return 0;
	if (rearrange(order, count, (size_t)from, (size_t)to, end, &at)) {
		rc = store_position(r, uuid, order[at].position, e);
	} else {
		for (size_t i = 0; i < count; i++)
			order[i].position = (double)i + 1;
		rc = renumber(r, order, count, e);
	}
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&r->lock);
	memcpy(r->queue.items, order, count * sizeof(*order));
	pthread_mutex_unlock(&r->lock);
	live_queue_changed(r->host->live);
	return 0;
}

/* ---- starting runs ---- */

static bool next_to_start(struct runs *r, char ret_uuid[UUID_BYTES])
{
	bool exclusive_free = true, found = false;
	unsigned shared = 0;

	vec_each(&r->active, a) {
		exclusive_free = exclusive_free && !(*a)->run.exclusive;
		shared += !(*a)->run.exclusive;
	}
	pthread_mutex_lock(&r->lock);
	vec_each(&r->queue, w)
		if (w->exclusive ? exclusive_free : shared < r->host->settings.running_max) {
			memcpy(ret_uuid, w->uuid, UUID_BYTES);
			found = true;
			break;
		}
	found = found && !r->stopping;
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* Starts the collector of @run. Returns false if the store failed: try again later. */
static bool start_run(struct runs *r, struct stored_run *run)
{
	struct active *a = NULL;
	struct stored_run begun = *run;
	struct err e = {};

	begun.state = STATE_RUNNING;
	begun.started_ms = clock_wall_ms(r->host->clock);
	starting_begin(r, run->uuid);
	if (store_run_update(r->store, &begun, &e) < 0) {
		starting_end(r, NULL, true);
		return false;
	}
	*run = begun;
	if (collector_start(r, run, &a, &e) < 0) {
		CLEANUP(free_ptr) char *why = xstrdup(e.text);

		/* The store says that the run is running: that must not stay so. */
		for (unsigned i = 0; i < END_TRIES; i++)
			if (end_unbegun(r, run, STATE_FAILED, why, &e) != -EAGAIN)
				break;
		starting_end(r, NULL, false);
		stored_run_release(run);
		return true;
	}
	starting_end(r, a, false);
	vec_push(&r->active, a);
	overlap_begin(r, a);
	live_changed(r->host->live, &a->run);
	return true;
}

void queue_start(struct runs *r)
{
	char uuid[UUID_BYTES];
	bool any = false;

	if (r->retry_ns && runs_now_ns(r) < r->retry_ns)
		return;
	r->retry_ns = 0;
	while (next_to_start(r, uuid)) {
		struct stored_run run = {};
		int rc = store_run_get(r->store, uuid, &run, NULL);

		any = true;
		if (rc == 0 && run.state == STATE_QUEUED) {
			if (start_run(r, &run))
				continue;
			rc = -EAGAIN;
		}
		stored_run_release(&run);
		if (rc == 0 || rc == -ENOENT) {
			queue_take(r, uuid);
			continue;
		}
		r->retry_ns = runs_now_ns(r) + RETRY_MS * NS_PER_MSEC;
		break;
	}
	if (any)
		live_queue_changed(r->host->live);
}

/* ---- progress ---- */

static double rest_s(const struct active *a, uint64_t now_ns)
{
	double elapsed = (double)(now_ns - a->begun_ns) / 1e9;

	if (a->over)
		return 0;
	if (a->expected_s <= 0)
		return -1;
	return a->expected_s > elapsed ? a->expected_s - elapsed : 0;
}

/* Seconds until the exclusive runs that are active or queued before @index end; -1: unknown. */
static double starts_in_s(struct runs *r, size_t index, uint64_t now_ns)
{
	double sum = 0;

	if (!r->queue.items[index].exclusive)
		return -1;
	vec_each(&r->visible, a) {
		double rest = (*a)->run.exclusive ? rest_s(*a, now_ns) : 0;

		if (rest < 0)
			return -1;
		sum += rest;
	}
	for (size_t i = 0; i < index; i++) {
		const struct waiting *w = &r->queue.items[i];

		if (w->exclusive && w->expected_s <= 0)
			return -1;
		sum += w->exclusive ? w->expected_s : 0;
	}
	return sum;
}

static bool progress_active(const struct runs *r, const char *uuid, struct run_progress *ret)
{
	uint64_t now = runs_now_ns(r);

	vec_each(&r->visible, p) {
		const struct active *a = *p;

		if (strcmp(a->run.uuid, uuid))
			continue;
		*ret = (struct run_progress){.elapsed_s = (double)(now - a->begun_ns) / 1e9,
					     .expected_s = a->expected_s,
					     .eta_s = rest_s(a, now),
					     .done_part = a->done_part};
		return true;
	}
	return false;
}

bool runs_progress(struct runs *r, const char *uuid, struct run_progress *ret)
{
	bool found;
	ssize_t at;

	pthread_mutex_lock(&r->lock);
	found = progress_active(r, uuid, ret);
	if (!found && !strcmp(r->starting.uuid, uuid)) {
		double expected_s = r->starting.expected_s;

		found = true;
		*ret = (struct run_progress){.expected_s = expected_s,
					     .eta_s = expected_s > 0 ? expected_s : -1};
	}
	at = found ? -1 : find_waiting(r, uuid);
	if (at >= 0) {
		const struct waiting *w = &r->queue.items[at];
		double start = starts_in_s(r, (size_t)at, runs_now_ns(r));

		found = true;
		*ret = (struct run_progress){
			.expected_s = w->expected_s,
			.starts_in_s = start,
			.eta_s = start < 0 || w->expected_s <= 0 ? -1 : start + w->expected_s,
			.place = (unsigned)at + 1};
	}
	pthread_mutex_unlock(&r->lock);
	return found;
}

/* ---- overlapping runs ---- */

/* Names a run without a description after what it is attached to. */
static char *attached_words(const struct stored_run *run)
{
	json_t *plan = run->plan ? json_loads(run->plan, 0, NULL) : NULL;
	const json_t *pids = json_object_get(plan, "pids"), *tids = json_object_get(plan, "tids");
	bool threads = !json_array_size(pids);
	const json_t *number;
	struct buf words = {};
	size_t i;

	json_array_foreach(threads ? tids : pids, i, number)
		buf_addf(&words, "%s%lld",
			 i         ? ", "
			 : threads ? "thread "
				   : "process ",
			 (long long)json_integer_value(number));
	json_decref(plan);
	return words.len ? buf_steal(&words) : xstrdup("the whole machine");
}

static void overlap_add(struct active *a, const struct active *other, uint64_t since_ns)
{
	const char *name = other->run.description;
	struct overlap o = {.from_ns = since_ns,
			    .command = name && *name ? xstrdup(name) : attached_words(&other->run)};

	memcpy(o.uuid, other->run.uuid, sizeof(o.uuid));
	vec_push(&a->overlaps, o);
	a->changed = true;
}

/* An import can disturb other runs, but they do not disturb it: its data was measured elsewhere. */
void overlap_begin(struct runs *r, struct active *a)
{
	/* Not now: the collector may have started the workload before we came to this. */
	uint64_t since = a->begun_ns;

	vec_each(&r->active, other) {
		if (*other == a || (*other)->over)
			continue;
		if (!a->import)
			overlap_add(a, *other, since);
		if (!(*other)->import)
			overlap_add(*other, a, since);
	}
}

void overlap_end(struct runs *r, struct active *a)
{
	uint64_t now = runs_now_ns(r);

	vec_each(&a->overlaps, o)
		o->to_ns = o->to_ns ? o->to_ns : now;
	vec_each(&r->active, other)
		vec_each(&(*other)->overlaps, o)
			if (!(*other)->over && !o->to_ns && !strcmp(o->uuid, a->run.uuid)) {
				o->to_ns = now;
				(*other)->changed = true;
			}
}

/* Nanoseconds since the start of the run. */
static json_int_t since_start(const struct active *a, uint64_t ns)
{
	uint64_t start = a->opened ? (uint64_t)a->run.start_ns : a->begun_ns;

	return ns > start ? (json_int_t)(ns - start) : 0;
}

char *overlap_ledger(const struct active *a)
{
	json_t *ledger = a->ledger ? json_loads(a->ledger, 0, NULL) : NULL, *list = json_array();
	char *text;

	if (!json_is_object(ledger)) {
		json_decref(ledger);
		ledger = json_object();
	}
	vec_each(&a->overlaps, o)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s*, s:I, s:o}", "run", o->uuid, "description",
				  o->command, "from_ns", since_start(a, o->from_ns), "to_ns",
				  o->to_ns ? json_integer(since_start(a, o->to_ns)) : json_null()));
	json_object_set_new(ledger, "overlap", list);
	text = json_dumps(ledger, JSON_COMPACT);
	json_decref(ledger);
	return text;
}
