/* Requests as libmicrohttpd's thread sees them: it takes in head and body, and does no work. */
#include "net/http_internal.h"

#include "net/http_text.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>

const char *http_query(const struct http_request *r, const char *name)
{
	vec_each(&r->query, pair)
		if (!strcmp(pair->name, name))
			return pair->value;
	return NULL;
}

const char *http_header(const struct http_request *r, const char *name)
{
	return MHD_lookup_connection_value((struct MHD_Connection *)r->connection, MHD_HEADER_KIND,
					   name);
}

/*
 * The target is parsed by us, from a copy. libmicrohttpd would also keep each parameter in the memory
 * of the connection, and if a few hundred use that up it neither answers nor closes. So it gets none
 * to see: what it shows us lies in that memory, and its parameters are parsed after this call.
 */
static void hide_parameters(const char *target)
{
	char *mark = strchr((char *)target, '?');

	if (mark)
		mark[1] = '\0';
}

void *exchange_new(void *server, const char *target, struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exchange *x = xcalloc(1, sizeof(*x));

	x->server = server;
	x->connection = connection;
	x->guard = info ? info->socket_context : NULL;
	x->target = xstrdup(target);
	hide_parameters(target);
	x->request.upload_fd = -1;
	x->request.connection = connection;
	x->request.tls = x->server->tls;
	reply_init(&x->reply);
	return x;
}

static void exchange_free(struct exchange *x)
{
	if (x->response)
		MHD_destroy_response(x->response);
	upload_close(x);
	free(x->request.upload_name);
	http_pairs_release(&x->request.query);
	buf_release(&x->request.body);
	buf_release(&x->block);
	if (x->in_parts)
		multipart_release(&x->parts);
	reply_release(&x->reply);
	free(x->target);
	free(x->path);
	free(x->args);
	free(x);
}

static void set_guard(struct exchange *x, enum guard_state state)
{
	bool first;

	if (!x->guard)
		return;
	guard_set(&x->server->guard, x->guard, state, &first);
	if (first)
		streams_wake(x->server);
}

void exchange_completed(void *server, struct MHD_Connection *connection, void **exchange,
			enum MHD_RequestTerminationCode how)
{
	struct exchange *x = *exchange;

	(void)server;
	(void)connection;
	(void)how;
	if (!x)
		return;
	set_guard(x, GUARD_WAITS); /* for the next request */
	*exchange = NULL;
	exchange_free(x);
}

/* What becomes of an exchange. Once it is given away it is not ours to look at. */
enum step { STEP_OURS, STEP_GIVEN, STEP_CLOSE };

static enum step give_to_worker(struct exchange *x, enum exchange_job job)
{
	set_guard(x, GUARD_BUSY);
	if (x->server->closing) {
		http_reply_error(&x->reply, 503, "The server is shutting down. Try again later.");
		exchange_answer(x);
		return STEP_OURS;
	}
	x->phase = EXCHANGE_WORK;
	MHD_suspend_connection(x->connection);
	worker_queue(x, job);
	return STEP_GIVEN;
}

void exchange_refuse_early(struct exchange *x)
{
	const char *length = http_header(&x->request, "Content-Length");
	const char *coding = http_header(&x->request, "Transfer-Encoding");
	const char *expect = http_header(&x->request, "Expect");

	if (length && !coding && !expect && strtoull(length, NULL, 10) <= HTTP_SWALLOW_BYTES_MAX) {
		x->swallow = true;
		x->phase = EXCHANGE_BODY;
	} else {
		exchange_answer(x);
	}
}

/*
 * The head is there. An answer now would end the connection, as libmicrohttpd does not know whether a
 * body comes; so all without a body is done when it calls again, for the end of the request.
 */
static enum step begin(struct exchange *x, const char *method)
{
	const char *length, *coding;

	x->request.method = method;
	length = http_header(&x->request, "Content-Length");
	coding = http_header(&x->request, "Transfer-Encoding");
	x->has_body = coding || (length && strtoull(length, NULL, 10));
	x->phase = EXCHANGE_BODY;
	if (x->has_body && exchange_check(x))
		return give_to_worker(x, JOB_ADMIT);
	x->body_begun = true;
	if (x->has_body)
		exchange_refuse_early(x);
	return STEP_OURS;
}

static void refuse_body(struct exchange *x)
{
	CLEANUP(buf_release) struct buf sentence = {};

	buf_add(&sentence, "The body of the request is larger than ");
	buf_add_size(&sentence, x->server->o.body_bytes_max);
	buf_add(&sentence, ", which is the limit here.");
	http_reply_error(&x->reply, 413, buf_str(&sentence));
	x->swallow = true;
	buf_release(&x->request.body);
}

/*
 * A client that has closed its end sends no more. libmicrohttpd may not hear of that: it takes a short
 * read for the last there is, and the kernel tells it of the end only once, maybe before that read.
 * It would hold the connection until its time is over. Closing the same direction once more changes
 * nothing, but the kernel tells it again.
 */
static void notice_end(const struct http_connection *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

	if (poll(&p, 1, 0) == 1 && (p.revents & POLLRDHUP))
		shutdown(c->fd, SHUT_RD);
}

static enum step take_body(struct exchange *x, const char *body, size_t len)
{
	if (x->guard) {
		guard_received(&x->server->guard, x->guard, len);
		notice_end(x->guard);
	}
	if (x->swallow) {
		x->swallowed += len;
		return x->swallowed > HTTP_SWALLOW_BYTES_MAX ? STEP_CLOSE : STEP_OURS;
	}
	if (!x->route->upload) {
		if (len > x->server->o.body_bytes_max - x->request.body.len)
			refuse_body(x);
		else
			buf_add_mem(&x->request.body, body, len);
		return STEP_OURS;
	}
	buf_add_mem(&x->block, body, len);
	return x->block.len < HTTP_BLOCK_BYTES ? STEP_OURS : give_to_worker(x, JOB_BLOCK);
}

static enum step body_step(struct exchange *x, const char *body, size_t *size)
{
	size_t len = *size;

	*size = 0;
	if (len)
		return take_body(x, body, len);
	if (!x->body_begun) {
		x->body_begun = true; /* called once more for the head, as it was suspended */
		set_guard(x, GUARD_WAITS);
		return STEP_OURS;
	}
	if (!x->has_body && !exchange_check(x)) {
		exchange_answer(x);
		return STEP_OURS;
	}
	return give_to_worker(x, JOB_HANDLE);
}

static bool is_suspended(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED);

	return info && info->suspended == MHD_YES;
}

enum MHD_Result exchange_handle(void *server, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *body,
				size_t *body_size, void **exchange)
{
	struct exchange *x = *exchange;
	enum step step = STEP_OURS;

	(void)server;
	(void)url;
	(void)version;
	if (!x)
		return MHD_NO;
	/* Bytes that were read already are offered all the same: they stay until it goes on. */
	if (is_suspended(connection))
		return MHD_YES;
	if (x->phase == EXCHANGE_NEW)
		step = begin(x, method);
	else if (x->phase == EXCHANGE_BODY)
		step = body_step(x, body, body_size);
	else if (x->phase == EXCHANGE_CLOSE)
		step = STEP_CLOSE;
	if (step == STEP_OURS && x->phase == EXCHANGE_ANSWER) {
		x->phase = EXCHANGE_DONE;
		set_guard(x, GUARD_READS);
		return MHD_queue_response(connection, (unsigned)x->reply.status, x->response);
	}
	return step == STEP_CLOSE ? MHD_NO : MHD_YES;
}
