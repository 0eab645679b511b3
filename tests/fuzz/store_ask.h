/*
 * Asks a server without threads and sockets all questions that look at what is stored. Whatever that is, each
 * answer is JSON, a file, or an error with a sentence.
 */
#ifndef TACHO_TESTS_STORE_ASK_H
#define TACHO_TESTS_STORE_ASK_H

#include "net/http_text.h"
#include "server/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A test that makes calls fail while a question is handled ends that here. */
#ifndef ASK_HANDLED
#define ASK_HANDLED()
#endif

static const char *const questions[] = {
	"/api/v1/sessions?search=s",
	"/api/v1/session/S",
	"/api/v1/session/S.h5",
	"/api/v1/benchmarks?limit=2",
	"/api/v1/benchmarks?search=make",
	"/api/v1/queue",
	"/api/v1/users",
	"/api/v1/me",
	"/api/v1/live?run=R&session=S",
	"/api/v1/benchmark/R.json",
	"/api/v1/benchmark/R",
	"/api/v1/benchmark/R.csv",
	"/api/v1/benchmark/R.jsonl",
	"/api/v1/benchmark/R.h5",
	"/api/v1/benchmark/R.data",
	"/api/v1/benchmark/R.folded",
	"/api/v1/benchmark/R.svg",
	"/api/v1/benchmark/R.html",
	"/api/v1/benchmark/R.log",
	"/api/v1/benchmark/R/timeline?pixels=50",
	"/api/v1/benchmark/R/timeline?pixels=50&samples=1&from=10ms&to=250ms",
	"/api/v1/benchmark/R/timeline?pixels=3000&format=columns",
	"/api/v1/benchmark/R/flame?min=0",
	"/api/v1/benchmark/R/flame?mode=inverted&from=20ms",
	"/api/v1/benchmark/R/flame?mode=ordered&frames=hot&pixels=100",
	"/api/v1/benchmark/R/flame?mode=sandwich&function=hot",
	"/api/v1/benchmark/R/functions?event=faults&sort=total",
	"/api/v1/benchmark/R/functions?threads=101&frames=main",
	"/api/v1/benchmark/R/points?max=50&from=3ms",
	"/api/v1/benchmark/R/points?max=1000&cpus=1",
	"/api/v1/benchmark/R/heatmap?rows=10&event=cpu-clock",
	"/api/v1/benchmark/R/heatmap?rows=10&counter=ticks",
	"/api/v1/benchmark/R/histogram?counter=ticks",
	"/api/v1/benchmark/R/histogram?counter=ticks&from=50ms&to=200ms",
	"/api/v1/benchmark/R/histogram?weight=faults&scale=log",
	"/api/v1/benchmark/R/threads?pixels=10",
	"/api/v1/benchmark/R/ledger",
	"/api/v1/benchmark/R/annotate?function=hot",
	"/api/v1/benchmark/R/table",
	"/api/v1/benchmark/R/table/test:table?sort=size&order=desc&limit=20",
	"/api/v1/benchmark/R/table/test:table?where=size%20%3e%200%20%26%26%20path%20~%20%22*%22",
	"/api/v1/benchmark/R/table/slices?limit=5&from=9ms",
	"/api/v1/benchmark/R/table/samples?limit=5",
	"/api/v1/benchmark/R/table/test:table/group?by=path&value=ratio",
	"/api/v1/benchmark/R/table/slices/group?by=thread&value=duration",
	"/api/v1/benchmark/R/table/test:table/histogram?value=ratio",
	"/api/v1/benchmark/R/table/test:table/heatmap?value=size&rows=10&pixels=20",
	"/api/v1/benchmark/R/table/test:table/flame?weight=size",
	"/api/v1/benchmark/R/table/slices/lanes?by=cpu&pixels=20",
	"/api/v1/benchmark/R/table/slices/lanes?by=thread&pixels=500&from=33ms&to=222ms",
	"/api/v1/diff?before=R&after=T&min=0",
	"/api/v1/diff/counters?before=R&after=T",
};

/* Who R, T and S are in a question. */
struct asked {
	const char *runs[2], *session;
};

static void put_names(const char *question, const struct asked *a, struct buf *out)
{
	static const char upper[] = "RTS";
	const char *const names[] = {a->runs[0], a->runs[1], a->session};

	for (; *question; question++) {
		const char *which = strchr(upper, *question);

		if (which)
			buf_add(out, names[which - upper]);
		else
			buf_add_char(out, *question);
	}
}

static const struct http_route *find_route(const char *path, struct path_args *ret)
{
	const struct http_route *best = NULL;
	unsigned most = 0;

	for (const struct http_route *const *t = api_tables; *t; t++)
		for (const struct http_route *r = *t; r->path; r++) {
			struct path_args args = {};
			unsigned match =
				strcmp(r->method, "GET") ? 0 : path_match(r->path, path, &args);

			if (match > most) {
				most = match;
				best = r;
				*ret = args;
			}
		}
	return best;
}

static void check_reply(const char *question, int rc, const struct http_reply *reply,
			const struct err *e)
{
	json_t *json;

	if (rc < 0 && !e->text[0]) {
		fprintf(stderr, "%s: error %d without a sentence\n", question, rc);
		abort();
	}
	if (rc < 0 || reply->type || reply->fd >= 0)
		return;
	json = json_loadb(buf_str(&reply->body), reply->body.len, JSON_DECODE_ANY | JSON_ALLOW_NUL,
			  NULL);
	if (!json) {
		fprintf(stderr, "%s: no JSON: %.2000s\n", question, buf_str(&reply->body));
		abort();
	}
	json_decref(json);
}

/* Returns what the handler does; @ret_body, which may be NULL, gets the body. */
static int ask(struct api *api, const char *question, const struct asked *a, struct buf *ret_body)
{
	static const struct identity user = {.name = "admin", .role = ROLE_ADMIN};
	struct http_request r = {.method = "GET", .upload_fd = -1, .user = &user};
	struct http_reply reply = {.status = 200, .fd = -1};
	CLEANUP(buf_release) struct buf target = {};
	char *args[HTTP_ARGS_MAX] = {}, *path = NULL;
	const struct http_route *route;
	struct path_args found = {};
	struct err e = {};
	int rc;

	put_names(question, a, &target);
	if (target_parse(target.s, &path, &r.query, &e) < 0)
		abort();
	r.path = path;
	route = find_route(path, &found);
	if (!route) {
		fprintf(stderr, "%s: no such route\n", target.s);
		abort();
	}
	for (unsigned i = 0; i < found.count; i++)
		r.args[i] = args[i] = xstrndup(found.items[i].s, found.items[i].len);
	rc = route->handle(api, &r, &reply, &e);
	ASK_HANDLED();
	check_reply(target.s, rc, &reply, &e);
	for (unsigned i = 0; i < found.count; i++)
		free(args[i]);
	if (reply.fd >= 0)
		close(reply.fd);
	strvec_release(&reply.topics);
	strvec_release(&reply.fresh_topics);
	http_pairs_release(&reply.headers);
	http_pairs_release(&r.query);
	if (ret_body)
		buf_add_mem(ret_body, buf_str(&reply.body), reply.body.len);
	buf_release(&reply.body);
	free(path);
	return rc;
}

static inline void ask_all_of(struct api *api, const struct asked *a)
{
	for (size_t i = 0; i < ARRAY_LEN(questions); i++)
		ask(api, questions[i], a, NULL);
}

#endif
