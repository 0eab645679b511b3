#include "runs/retention.h"
#include "runs/known_time.h"

#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

/* Runs read at once. */
#define PAGE_RUNS 100

static bool has_keep_tag(const char *tags)
{
	json_t *list = tags ? json_loads(tags, 0, NULL) : NULL, *tag;
	bool found = false;
	size_t i;

	json_array_foreach(list, i, tag)
	{
		const char *text = json_string_value(tag);

		found = found || (text && !strcmp(text, "keep"));
	}
	json_decref(list);
	return found;
}

static bool is_kept(const struct stored_run *run)
{
	return (run->note && *run->note) || has_keep_tag(run->tags);
}

static uint64_t run_bytes(const struct retention *r, const struct stored_run *run)
{
	CLEANUP(free_ptr)
	char *path = run->raw_path ? xasprintf("%s/%s", r->data, run->raw_path) : NULL;
	struct stat st;

	return (uint64_t)run->bytes + (path && !stat(path, &st) ? (uint64_t)st.st_size : 0);
}

/* Calls @each for every ended run, the oldest first. */
static int each_ended(struct store *s, void (*each)(void *ctx, const struct stored_run *run),
		      void *ctx, struct err *e)
{
	int64_t after = 0;
	int result;
	size_t got;

	do {
		stored_runs page = {};

		result = store_runs_oldest(s, after, PAGE_RUNS, &page, e);
		vec_each(&page, run) {
			each(ctx, run);
			after = run->id;
		}
		got = page.len;
		stored_runs_release(&page);
	} while (!result && got == PAGE_RUNS);
	return result;
}

struct choice {
	const struct retention *retention;
	uint64_t bytes;    /* of all runs that are not chosen so far */
	int64_t newest_ms; /* latest end of the runs considered so far */
	bool by_age;       /* the clock can be believed */
	strvec *chosen;
};

static void add_up(void *ctx, const struct stored_run *run)
{
	struct choice *c = ctx;

	c->bytes += run_bytes(c->retention, run);
}

static void consider(void *ctx, const struct stored_run *run)
{
	struct choice *c = ctx;
	const struct retention *r = c->retention;
	bool much = r->keep_bytes && c->bytes > r->keep_bytes, old;

	/* Runs come in the order of their creation. An end before that of an earlier run, or in
	 * the future, is due to a wrong clock: go by the latest credible end so far.
	 */
	if (run->ended_ms <= r->now_ms && run->ended_ms > c->newest_ms)
		c->newest_ms = run->ended_ms;
	old = c->by_age && run->ended_ms && run->ended_ms <= r->now_ms &&
	      (r->now_ms - c->newest_ms) / 1000 > (int64_t)r->keep_s;
	if ((!old && !much) || is_kept(run))
		return;
	c->bytes -= run_bytes(r, run);
	vec_push(c->chosen, xstrdup(run->uuid));
}

int retention_choose(struct store *s, const struct retention *r, strvec *ret,
		     int64_t *ret_future_ms, struct err *e)
{
	struct choice c = {.retention = r, .chosen = ret};
	int64_t newest_ms = 0;
	int result = r->keep_s ? store_newest_end(s, &newest_ms, e) : 0;
	bool future = newest_ms > r->now_ms + KNOWN_TIME_TOLERANCE_MS;

	c.by_age = r->keep_s && !future;
	if (ret_future_ms)
		*ret_future_ms = future ? newest_ms : 0;
	if (!result && r->keep_bytes)
		result = each_ended(s, add_up, &c, e);
	if (!result && (r->keep_s || r->keep_bytes))
		result = each_ended(s, consider, &c, e);
	return result;
}
