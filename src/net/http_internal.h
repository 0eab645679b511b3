/*
 * Inside of the HTTP server. An exchange is one request and its answer. It goes from hand to hand, and
 * only who has it may touch it:
 *
 *	libmicrohttpd's thread: head and body come in ──► suspended, queued
 *	a worker: who is it, which route, handler, answer ──► resumed
 *	the thread of streams: if the answer is a stream, the connection stays suspended, and its socket
 *	is ours until the client goes ──► resumed, closed
 */
#ifndef TACHO_NET_HTTP_INTERNAL_H
#define TACHO_NET_HTTP_INTERNAL_H

#include "base/clock.h"
#include "net/cidr.h"
#include "net/http.h"
#include "net/http_text.h"
#include "net/multipart.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

#define HTTP_HEAD_BYTES_MAX    (32u << 10) /* of a request: memory of a connection in libmicrohttpd */
#define HTTP_SWALLOW_BYTES_MAX (16u << 20) /* of a refused body, so that the client hears why */
#define HTTP_BLOCK_BYTES       (1u << 20)  /* of an upload, written by a worker in one go */

enum exchange_phase {
	EXCHANGE_NEW,
	EXCHANGE_WORK,   /* suspended; a worker has it, or will */
	EXCHANGE_BODY,   /* comes in */
	EXCHANGE_ANSWER, /* `response` is to be queued */
	EXCHANGE_STREAM, /* suspended; the thread of streams has it */
	EXCHANGE_DONE,   /* nothing is left to do but to be told of the end */
	EXCHANGE_CLOSE,
};

enum exchange_job {
	JOB_ADMIT,  /* who is it, may he send this body? */
	JOB_BLOCK,  /* a part of an upload is to be written */
	JOB_HANDLE, /* the request is complete */
	JOB_CHECK,  /* of a stream: is the token still good? */
};

/*
 * What a worker is busy with. Jobs that write may wait for each other and for other programs that
 * have locked the store, so only half of the workers do them; and one worker is left to quick jobs,
 * whatever the others do.
 */
enum job_kind {
	JOB_QUICK,
	JOB_WRITES, /* to the store or the disk */
	JOB_SLOW,   /* handled by a slow route */
	JOB_KINDS,
};

struct exchange {
	struct http_server *server;
	struct MHD_Connection *connection;
	struct http_connection *guard;
	struct exchange *next; /* in the queue of workers */
	enum exchange_phase phase;
	enum exchange_job job;

	char *target; /* as it was sent */
	char *path;
	char *args;
	struct http_credential credential;
	bool token_in_query;
	bool logs_in; /* asks for a page by an address that has a token: a cookie is stored */
	bool admitted, has_body, body_begun;
	const struct http_route *route;
	bool path_known; /* there is a route, maybe for another method */
	struct path_args path_args;
	struct identity identity;
	struct http_request request;

	/* The body. */
	bool swallow; /* it is refused already, `reply` says why; but a client hears when it has sent */
	uint64_t swallowed;
	struct buf block;
	uint64_t
		claimed; /* bytes of an upload: what its head says, or what has come if that is more */
	bool in_parts;
	struct multipart parts;

	struct http_reply reply;
	struct MHD_Response *response;
	atomic_bool checking, revoked; /* of a stream */
};

struct http_address;

/* A connection, as long as it lives; under the guard's lock. */
struct http_connection {
	struct http_connection *next, *previous; /* in `list` */
	struct guard_list *list;                 /* NULL: in none */
	struct http_address *address;            /* NULL: one without a limit */
	int fd;
	bool known; /* the last request had a good token */
	bool owner; /* came through the socket of net/local_socket.h */
	uint64_t since_ns;
	uint64_t received; /* of a body since then */
	uint64_t taken;    /* bytes that the client had taken by then, of all that was sent */
};

/* The connection that came first is the first. */
struct guard_list {
	struct http_connection *first, *last;
};

struct http_guard {
	const struct clock *clock;
	pthread_mutex_t lock;
	struct guard_list strangers;     /* wait for a request of a client without a good token */
	struct guard_list readers;       /* send an answer to such a client */
	struct guard_list known;         /* wait for a request of a client with a good token */
	struct guard_list watchers;      /* have a stream of events */
	struct guard_list known_readers; /* send an answer to a client with a good token */
	void *addresses;                 /* of all connections, a tree by tsearch() */
	unsigned count, max, per_address_max;
	uint64_t timeout_ns;
};

enum guard_state {
	GUARD_BUSY,    /* we have the request */
	GUARD_WAITS,   /* for the client to send */
	GUARD_READS,   /* the client reads an answer */
	GUARD_WATCHES, /* the client has a stream, which looks after itself (http_stream.c) */
};

struct http_streams;

struct http_server {
	struct http_options o;
	strvec allowed_hosts; /* the options', and the address that we listen on */
	cidr_list allow_from;
	char *upload_dir, *cookie_name, *socket_directory;
	struct MHD_Daemon *daemon;
	struct MHD_Daemon *local; /* of the socket of net/local_socket.h, never with TLS; or NULL */
	uint16_t port;
	bool tls;

	pthread_mutex_t lock; /* of the queue */
	pthread_cond_t queued;
	struct exchange *first, **end; /* `end`: where the next one is linked */
	unsigned busy[JOB_KINDS];      /* under the lock: workers, by what they do */
	unsigned worker_count;
	bool stopping; /* under the lock */
	bool worked;   /* under the lock: since memory was last given back */
	atomic_bool closing;
	pthread_t *threads;
	unsigned thread_count;

	struct http_guard guard;
	struct http_streams *streams;
	atomic_uint_fast64_t requests, errors, refused, bytes_sent;
	atomic_uint_fast64_t uploading; /* bytes that all uploads claim */
};

/* http_listen.c: a socket, or a sentence. */
int listen_open(const char *host, uint16_t port, int *ret_fd, uint16_t *ret_port, struct err *e);
/* Both files, checked; the caller frees the texts. */
int tls_load(const char *cert_path, const char *key_path, char **ret_cert, char **ret_key,
	     struct err *e);

/* http_exchange.c: what libmicrohttpd calls. */
void *exchange_new(void *server, const char *target, struct MHD_Connection *connection);
enum MHD_Result exchange_handle(void *server, struct MHD_Connection *connection, const char *url,
				const char *method, const char *version, const char *body,
				size_t *body_size, void **exchange);
void exchange_completed(void *server, struct MHD_Connection *connection, void **exchange,
			enum MHD_RequestTerminationCode how);

/* Refused before the body has come. A short one is taken in all the same, because many clients only
 * listen when they have sent all. */
void exchange_refuse_early(struct exchange *x);

/* http_worker.c */
int workers_start(struct http_server *s, struct err *e);
void workers_stop(struct http_server *s);
/* Suspended already, unless it is a check. */
void worker_queue(struct exchange *x, enum exchange_job job);

/* http_admit.c: by workers. False: the reply says why not, or sends the client elsewhere. */
bool exchange_admit(struct exchange *x, void *worker);
/* Again when the body is there, which may have taken long: who was revoked meanwhile does nothing more. */
bool exchange_readmit(struct exchange *x, void *worker);
/* By libmicrohttpd's thread: Host, Origin, the target. False: refused. */
bool exchange_check(struct exchange *x);

/* http_login.c: the reply becomes a page that asks for a token. */
void login_page(struct exchange *x);

/* http_upload.c: by workers. */
int upload_open(struct exchange *x, void *worker, struct err *e);
int upload_write(struct exchange *x, void *worker, struct err *e);
int upload_finish(struct exchange *x, void *worker, struct err *e);
/* Any thread; also if it was never opened. */
void upload_close(struct exchange *x);

/* http_reply.c */
void reply_init(struct http_reply *r);
void reply_release(struct http_reply *r);
/* The reply as a response, with all headers. By a worker, or for small ones by anybody. */
void exchange_answer(struct exchange *x);
/* All headers that a reply has, those of ours included. */
void reply_headers(const struct exchange *x, http_pairs *ret);

/* http_guard.c: which connections are closed because of their client. Any thread. */
void guard_init(struct http_guard *g, const struct clock *clock, unsigned max,
		unsigned per_address_max, unsigned timeout_s);
void guard_release(struct http_guard *g);
/* A new connection, which waits. Returns true if one was closed to make room, or this one because no
 * other of its address can be. *ret_first: it is the only one that waits. */
bool guard_add(struct http_guard *g, struct http_connection *c, int fd, const struct sockaddr *from,
	       bool *ret_first);
void guard_remove(struct http_guard *g, struct http_connection *c);
void guard_set(struct http_guard *g, struct http_connection *c, enum guard_state state,
	       bool *ret_first);
/* Whether the request that is being handled had a good token. */
void guard_know(struct http_guard *g, struct http_connection *c, bool known);
void guard_received(struct http_guard *g, struct http_connection *c, size_t bytes);
/* Closes those whose time is over; gives how many, and when to come again in ms, -1: not at all. */
unsigned guard_expire(struct http_guard *g, int *ret_wait_ms);

/* http_stream.c */
int streams_start(struct http_server *s, struct err *e);
void streams_stop(struct http_server *s);
void streams_free(struct http_server *s); /* when nothing can wake it any more */
/* The guard has somebody to watch, or a check has ended. */
void streams_wake(struct http_server *s);
/* Takes over an exchange whose reply has topics. */
void streams_add(struct exchange *x);
unsigned streams_count(struct http_server *s);

#endif
