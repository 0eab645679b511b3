/* JSON messages to the server: RUN_OPENED, RUN_LEDGER and RUN_ENDED. */
#include "collect/run/runner.h"
#include "collect/run/environment.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PPM 1000000u

/* Adds a value that is JSON text already. */
static void put_json(struct json *j, const char *key, const char *text)
{
	jw_key(j, key);
	buf_add(j->out, text);
	j->comma = true;
}

void runner_send_opened(struct runner *r, const struct recording_opened *opened)
{
	CLEANUP(buf_release) struct buf body = {};
	struct json j = jw_to(&body);

	jw_open(&j, '{');
	jw_kv_u64(&j, "start_ns", opened->start_ns);
	jw_kv_u64(&j, "start_wall_ns", opened->wall_ns);
	jw_kv_str(&j, "clock", "monotonic");
	jw_kv_u64(&j, "pid", (uint64_t)opened->workload);
	put_json(&j, "events", opened->events);
	jw_key(&j, "environment");
	run_environment_here(&r->setup.catalog.roots, &j);
	jw_close(&j, '}');
	runner_send_first(r, &body);
}

/* ---- the ledger ---- */

static uint64_t own_cpu_ns(void)
{
	return clock_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

static void put_multiplexed(struct runner *r, struct json *j)
{
	jw_key(j, "multiplexed");
	jw_open(j, '[');
	vec_each(&r->figures.counters, counter) {
		if (!counter->enabled_ns || counter->running_ns >= counter->enabled_ns)
			continue;
		jw_open(j, '{');
		jw_kv_str(j, "event", counter->event);
		jw_kv_u64(j, "running_ppm",
			  (uint64_t)((double)counter->running_ns / (double)counter->enabled_ns *
				     PPM));
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void runner_send_ledger(struct runner *r, bool last)
{
	const struct record_counts *c = &r->counts;
	CLEANUP(buf_release) struct buf body = {};
	struct json j = jw_to(&body);

	pthread_mutex_lock(&r->lock);
	jw_open(&j, '{');
	jw_kv_count(&j, "samples", r->figures.samples);
	jw_kv_count(&j, "lost", c->lost + r->figures.lost);
	jw_kv_count(&j, "throttled", c->throttled + r->figures.throttled);
	jw_kv_u64(&j, "intervals", c->ticks.ticks);
	jw_kv_u64(&j, "intervals_missed", c->ticks.missed);
	jw_kv_u64(&j, "interval_stretched_ns", c->ticks.stretched_ns);
	jw_kv_u64(&j, "interval_worst_late_ns", c->ticks.worst_late_ns);
	put_multiplexed(r, &j);
	jw_kv_count(&j, "behind_ns", last ? 0 : r->figures.behind_ns);
	jw_kv_count(&j, "dropped", c->live.dropped);
	jw_kv_u64(&j, "collector_cpu_ns", own_cpu_ns() + c->cpu_ns);
	jw_kv_u64(&j, "spilled_bytes", c->live.spilled_bytes);
	/* The ring collector's last figure is from before the feed read the rest. */
	jw_kv_u64(&j, "waiting_bytes", last ? 0 : c->live.waiting_bytes);
	jw_kv_u64(&j, "output_dropped_bytes", r->output.dropped_bytes);
	jw_kv_count(&j, "cut_stacks", r->figures.cut_stacks);
	if (r->order.import)
		jw_kv_double(&j, "done_part", last ? 1 : r->figures.done_part);
	jw_close(&j, '}');
	/* A ledger replaces the one before, so it is skipped while too much waits to be sent. */
	channel_flush(&r->channel);
	if (r->opened && (last || channel_waiting(&r->channel) < CHANNEL_WAITING_MAX))
		channel_send(&r->channel, RUN_LEDGER, 0, &body);
	pthread_mutex_unlock(&r->lock);
}

/* ---- the end ---- */

static void put_i64_or_null(struct json *j, const char *key, bool there, int value)
{
	jw_key(j, key);
	if (there)
		jw_i64(j, value);
	else
		jw_null(j);
}

void runner_send_ended(struct runner *r)
{
	const struct record_summary *s = &r->summary;
	CLEANUP(buf_release) struct buf body = {};
	struct json j = jw_to(&body);
	bool ran = s->has_workload && !s->exec_failed;
	/* The status that a shell would give. */
	int status = s->exec_failed ? (r->error.code == ENOENT ? 127 : 126)
				    : WEXITSTATUS(s->wait_status);

	jw_open(&j, '{');
	put_i64_or_null(&j, "status", s->exec_failed || (ran && WIFEXITED(s->wait_status)), status);
	put_i64_or_null(&j, "signal", ran && WIFSIGNALED(s->wait_status), WTERMSIG(s->wait_status));
	jw_kv_bool(&j, "timed_out", ran && s->end == END_TIMEOUT);
	jw_kv_bool(&j, "stopped", r->stopped);
	jw_kv_bool(&j, "exec_failed", s->exec_failed);
	jw_kv_str(&j, "error", r->error.code ? r->error.text : NULL);
	jw_kv_u64(&j, "end_ns", r->end_ns ? r->end_ns : clock_now_ns());
	jw_close(&j, '}');
	runner_send(r, RUN_ENDED, &body);
}
