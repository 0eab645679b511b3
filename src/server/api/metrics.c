/* Figures for Prometheus, in its text format. */
#include "server/api/api.h"
#include "base/clock.h"
#include "query/run_cache.h"
#include "runs/runs.h"
#include "runs/tidy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void figure(struct buf *out, const char *name, const char *type, const char *help,
		   double value)
{
	head(out, name, type, help);
	buf_addf(out, "%s %.15g\n", name, value);
}

static void add_runs(struct buf *out, struct runs *runs)
{
	struct runs_counts c = {};

	runs_counts(runs, &c);
	figure(out, "tacho_runs_queued", "gauge", "Runs that wait.", c.queued);
	figure(out, "tacho_runs_running", "gauge", "Runs that run.", c.running);
	figure(out, "tacho_runs_started_total", "counter", "Runs begun since the server started.",
	       (double)c.started);
	head(out, "tacho_runs_finished_total", "counter", "Runs that have ended, by how.");
	for (int state = STATE_DONE; state <= STATE_INTERRUPTED; state++)
		buf_addf(out, "tacho_runs_finished_total{state=\"%s\"} %llu\n",
			 run_state_name((enum run_state)state),
			 (unsigned long long)c.finished[state]);
	figure(out, "tacho_samples_total", "counter", "Samples taken in.", (double)c.samples);
	figure(out, "tacho_samples_lost_total", "counter", "Samples that were lost.",
	       (double)c.lost);
	figure(out, "tacho_chunks_total", "counter", "Chunks taken in.", (double)c.chunks);
	figure(out, "tacho_taken_in_bytes_total", "counter", "Bytes that collectors have sent.",
	       (double)c.bytes);
}

static void add_http(struct buf *out, struct http_server *http)
{
	struct http_counts c = {};

	http_server_counts(http, &c);
	figure(out, "tacho_http_requests_total", "counter", "Requests answered.",
	       (double)c.requests);
	figure(out, "tacho_http_errors_total", "counter", "Requests answered with an error.",
	       (double)c.errors);
	figure(out, "tacho_http_refused_total", "counter",
	       "Connections and requests refused by a limit or a check.", (double)c.refused);
	figure(out, "tacho_http_sent_bytes_total", "counter", "Bytes sent.", (double)c.bytes_sent);
	figure(out, "tacho_http_connections", "gauge", "Open connections.", c.connections);
	figure(out, "tacho_live_streams", "gauge", "Clients that watch live.", c.streams);
}

static void add_upkeep(struct buf *out, const struct server *server, struct store *store)
{
	CLEANUP(free_ptr) char *warning = tidy_warning(server->host.tidy);
	struct run_cache_counts cache = {};
	struct tidy_counts tidy = {};

	run_cache_counts(server->cache, &cache);
	tidy_counts(server->host.tidy, &tidy);
	figure(out, "tacho_cache_bytes", "gauge", "Memory for what runs were last asked about.",
	       (double)cache.bytes);
	figure(out, "tacho_cache_runs", "gauge", "Runs that are in memory.", (double)cache.runs);
	figure(out, "tacho_cache_hits_total", "counter", "Questions whose run was in memory.",
	       (double)cache.hits);
	figure(out, "tacho_cache_misses_total", "counter", "Questions whose run was not.",
	       (double)cache.misses);
	figure(out, "tacho_merged_chunks_total", "counter",
	       "Small chunks that were made part of larger ones.", (double)tidy.merged_chunks);
	figure(out, "tacho_expired_runs_total", "counter", "Runs deleted by age or size.",
	       (double)tidy.expired_runs);
	figure(out, "tacho_store_lost", "gauge",
	       "1: the database was deleted or replaced while it is in use.",
	       store_check(store, NULL) < 0);
	figure(out, "tacho_keep_age_waits", "gauge",
	       "1: the clock cannot be believed, so runs are not deleted by their age.",
	       warning != NULL);
	figure(out, "tacho_tidy_failures_total", "counter", "Times that tidying up has failed.",
	       (double)tidy.failures);
}

static void add_process(struct buf *out)
{
	long long pages = 0, resident = 0;
	char line[256];

	if (fs_line(line, sizeof(line), "/proc/self/statm") &&
	    sscanf(line, "%lld %lld", &pages, &resident) == 2)
		figure(out, "process_resident_memory_bytes", "gauge", "Resident memory.",
		       (double)resident * (double)sysconf(_SC_PAGESIZE));
	figure(out, "process_cpu_seconds_total", "counter", "CPU time of the server itself.",
	       (double)clock_ns_of(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
}

int api_metrics(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	struct api *a = worker;
	struct buf *out = &reply->body;
	uint64_t bytes, unused;
	int rc = store_size(a->store, &bytes, &unused, e);

	(void)r;
	if (rc < 0)
		return rc;
	reply->type = "text/plain; version=0.0.4; charset=utf-8";
	head(out, "tacho_info", "gauge", "Which tacho this is.");
	buf_addf(out, "tacho_info{version=\"%s\"} 1\n", TACHO_VERSION);
	figure(out, "tacho_uptime_seconds", "gauge", "Since the server started.",
	       (double)(clock_monotonic_ns(a->server->host.clock) - a->server->started_ns) / 1e9);
	add_runs(out, a->server->host.runs);
	figure(out, "tacho_store_bytes", "gauge", "Size of the store on disk.", (double)bytes);
	figure(out, "tacho_store_free_bytes", "gauge", "Part of it that is free again.",
	       (double)unused);
	add_upkeep(out, a->server, a->store);
	add_http(out, a->server->http);
	add_process(out);
	return 0;
}
