#include "net/client.h"
#include "base/io.h"
#include "net/event_parser.h"
#include "net/local_socket.h"
#include "base/clock.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ERROR_BYTES_MAX     (64u << 10)
#define CONNECT_S           10L
#define STALL_S             300L /* without a byte a request is given up */
#define POLL_MS             200
#define AWAY_NS             (30 * NS_PER_SEC) /* a server that is away for longer does not come back */
#define RETRY_FIRST_MS      100u
#define RETRY_MAX_MS        2000u
#define STATUS_FIRST_ERROR  400
#define STATUS_UNAUTHORIZED 401

struct client {
	CURL *request, *stream;
	struct curl_slist *headers, *json_headers, *upload_headers;
	char *url;
	char text[CURL_ERROR_SIZE];
	int socket_dir_fd; /* keeps the path of the socket valid; -1: none */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* ---- addresses ---- */

struct address {
	char *scheme, *host, *port; /* freed by curl_free() */
};

static void address_release(struct address *a)
{
	curl_free(a->scheme);
	curl_free(a->host);
	curl_free(a->port);
}

/* Parses by libcurl, so that what is decided here is about the host that libcurl connects to. */
static bool address_parse(const char *url, struct address *ret)
{
	CURLU *u = curl_url();
	bool good = u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
		    !curl_url_get(u, CURLUPART_SCHEME, &ret->scheme, 0) &&
		    !curl_url_get(u, CURLUPART_HOST, &ret->host, 0) &&
		    !curl_url_get(u, CURLUPART_PORT, &ret->port, CURLU_DEFAULT_PORT);

	curl_url_cleanup(u);
	return good;
}

static bool is_loopback(const char *host)
{
	CLEANUP(free_ptr) char *inner = xstrdup(host + (*host == '['));
	struct in6_addr six;
	struct in_addr four;

	if (*host == '[') {
		inner[strcspn(inner, "]")] = '\0';
		return inet_pton(AF_INET6, inner, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
	}
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return !strcasecmp(host, "localhost");
}

bool client_url_is_local(const char *url)
{
	CLEANUP(address_release) struct address a = {};

	return address_parse(url, &a) && is_loopback(a.host);
}

bool client_url_same_server(const char *a, const char *b)
{
	CLEANUP(address_release) struct address one = {}, other = {};

	return address_parse(a, &one) && address_parse(b, &other) &&
	       !strcmp(one.scheme, other.scheme) && !strcmp(one.port, other.port) &&
	       (!strcasecmp(one.host, other.host) ||
		(is_loopback(one.host) && is_loopback(other.host)));
}

/* ---- a client ---- */

static CURL *make_handle(struct client *c, const struct client_options *o, const char *socket_path)
{
	CURL *h = curl_easy_init();

	if (!h)
		return NULL;
	curl_easy_setopt(h, CURLOPT_ERRORBUFFER, c->text);
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
	/* A token goes to the server that it is for, and through no proxy of the environment's. */
	curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(h, CURLOPT_NOPROXY, "localhost,127.0.0.1,::1");
	if (o->ca_path)
		curl_easy_setopt(h, CURLOPT_CAINFO, o->ca_path);
	if (*socket_path)
		curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, socket_path);
	return h;
}

static struct curl_slist *headers_of(const char *authorization, const char *type)
{
	struct curl_slist *list = curl_slist_append(NULL, "Expect:");

	if (authorization)
		list = curl_slist_append(list, authorization);
	if (type)
		list = curl_slist_append(list, type);
	return list;
}

int client_new(struct client **ret, const struct client_options *o, struct err *e)
{
	CLEANUP(free_ptr) char *authorization = NULL;
	CLEANUP(buf_release) struct buf socket_path = {};
	int socket_dir_fd = -1, r;
	struct client *c;

	if (strncmp(o->url, "http://", 7) && strncmp(o->url, "https://", 8))
		return err_set(e, EINVAL,
			       "'%s' is not the address of a server: it begins with "
			       "http:// or https://",
			       o->url);
	if (o->token && strpbrk(o->token, "\r\n"))
		return err_set(e, EINVAL, "a token has no line breaks");
	if (o->socket_directory &&
	    (r = local_socket_find(o->socket_directory, &socket_dir_fd, &socket_path, e)) < 0)
		return r;
	pthread_once(&curl_once, init_curl);
	c = xcalloc(1, sizeof(*c));
	c->socket_dir_fd = socket_dir_fd;
	if (o->token && *o->token)
		authorization = xasprintf("Authorization: Bearer %s", o->token);
	c->url = xstrdup(o->url);
	while (*c->url && c->url[strlen(c->url) - 1] == '/')
		c->url[strlen(c->url) - 1] = '\0';
	c->headers = headers_of(authorization, NULL);
	c->json_headers = headers_of(authorization, "Content-Type: application/json");
	c->upload_headers = headers_of(authorization, "Content-Type: application/octet-stream");
	c->request = make_handle(c, o, buf_str(&socket_path));
	c->stream = make_handle(c, o, buf_str(&socket_path));
	if (!c->request || !c->stream) {
		client_free(c);
		return err_set(e, ENOMEM, "cannot set up an HTTP client");
	}
	curl_easy_setopt(c->request, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c->request, CURLOPT_LOW_SPEED_TIME, STALL_S);
	*ret = c;
	return 0;
}

void client_free(struct client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->request);
	curl_easy_cleanup(c->stream);
	curl_slist_free_all(c->headers);
	curl_slist_free_all(c->json_headers);
	curl_slist_free_all(c->upload_headers);
	if (c->socket_dir_fd >= 0)
		close(c->socket_dir_fd);
	free(c->url);
	free(c);
}

void client_escape(struct buf *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-_.~";

	for (; *text; text++)
		if (strchr(plain, *text))
			buf_add_char(out, *text);
		else
			buf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
}

/* ---- errors ---- */

/* What the server's limits of net/http.h come to on this side. */
static int errno_of_status(long status)
{
	switch (status) {
	case 400:
	case 422:
		return EINVAL;
	case STATUS_UNAUTHORIZED:
		return EACCES;
	case 403:
		return EPERM;
	case 404:
	case 410:
		return ENOENT;
	case 409:
		return EBUSY;
	case 413:
		return EFBIG;
	case 429:
	case 503:
		return EAGAIN;
	case 507:
		return ENOSPC;
	default:
		return EREMOTEIO;
	}
}

/*
 * Errors of parsers show their text below the sentence, with a mark: keeps such lines, which are
 * indented. Other line ends are replaced like all controls, because what comes after them would look as
 * if it came from us.
 */
static void add_sentence(struct buf *out, const char *sentence)
{
	for (;;) {
		const char *end = strstr(sentence, "\n  ");
		CLEANUP(free_ptr)
		char *line = xstrndup(sentence, end ? (size_t)(end - sentence) : strlen(sentence));

		text_add_printable(out, line);
		if (!end)
			return;
		buf_add_char(out, '\n');
		sentence = end + 1;
	}
}

static int status_error(const struct client *c, long status, const struct buf *body, struct err *e)
{
	json_t *json = json_loadb(buf_str(body), body->len, 0, NULL);
	const char *sentence =
		json_string_value(json_object_get(json_object_get(json, "error"), "message"));
	CLEANUP(buf_release) struct buf text = {};
	int r;

	if (sentence)
		add_sentence(&text, sentence);
	else
		buf_addf(&text, "%s answers with status %ld, not as a tacho server would", c->url,
			 status);
	r = err_set(e, errno_of_status(status), "%s", buf_str(&text));
	json_decref(json);
	return r;
}

static int transport_error(const struct client *c, CURLcode code, struct err *e)
{
	const char *why = *c->text ? c->text : curl_easy_strerror(code);
	int number = code == CURLE_COULDNT_CONNECT        ? ECONNREFUSED
		     : code == CURLE_COULDNT_RESOLVE_HOST ? EHOSTUNREACH
		     : code == CURLE_OPERATION_TIMEDOUT   ? ETIMEDOUT
		     : code == CURLE_URL_MALFORMAT        ? EINVAL
							  : ECONNRESET;

	return err_set(e, number, "%s: %s", c->url, why);
}

/* ---- one request ---- */

struct answer {
	CURL *handle;
	struct buf body;
	size_t body_max;
	int fd; /* where a good answer goes; -1: the body */
	int write_errno;
	bool too_large;
	client_progress *progress;
	void *ctx;
	bool upload;
};

static size_t take_bytes(char *bytes, size_t size, size_t count, void *to)
{
	struct answer *a = to;
	size_t len = size * count;
	long status = 0;

	curl_easy_getinfo(a->handle, CURLINFO_RESPONSE_CODE, &status);
	if (a->fd < 0 || status >= STATUS_FIRST_ERROR) {
		size_t max = status >= STATUS_FIRST_ERROR ? ERROR_BYTES_MAX : a->body_max;

		a->too_large = a->body.len + len > max;
		if (a->too_large)
			return 0;
		buf_add_mem(&a->body, bytes, len);
		return len;
	}
	a->write_errno = -io_write(a->fd, bytes, len);
	return a->write_errno ? 0 : len;
}

static size_t give_bytes(char *to, size_t size, size_t count, void *ctx)
{
	const int *fd = ctx;
	ssize_t n;

	do
		n = read(*fd, to, size * count);
	while (n < 0 && errno == EINTR);
	return n < 0 ? CURL_READFUNC_ABORT : (size_t)n;
}

static int show_progress(void *ctx, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
			 curl_off_t up)
{
	struct answer *a = ctx;

	if (a->upload)
		a->progress(a->ctx, (uint64_t)up, (uint64_t)up_total);
	else
		a->progress(a->ctx, (uint64_t)down, (uint64_t)down_total);
	return 0;
}

static void set_url(const struct client *c, CURL *h, const char *path)
{
	CLEANUP(buf_release) struct buf url = {};

	buf_add(&url, c->url);
	if (*path != '/' && *path != '?')
		buf_add_char(&url, '/');
	buf_add(&url, path);
	curl_easy_setopt(h, CURLOPT_URL, buf_str(&url));
}

/* The handle was told what to send; gives the status. */
static int perform(struct client *c, const char *path, struct answer *a, struct err *e)
{
	CURL *h = c->request;
	CURLcode code;
	long status = 0;

	a->handle = h;
	*c->text = '\0';
	set_url(c, h, path);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_bytes);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, a);
	curl_easy_setopt(h, CURLOPT_NOPROGRESS, a->progress ? 0L : 1L);
	curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, show_progress);
	curl_easy_setopt(h, CURLOPT_XFERINFODATA, a);
	code = curl_easy_perform(h);
	curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
	if (a->write_errno)
		return err_set(e, a->write_errno, "cannot write: %s", strerror(a->write_errno));
	if (a->too_large)
		return err_set(e, EMSGSIZE, "the answer of %s is too large", c->url);
	/* A server that refuses an upload may answer before it has read all of it. */
	if (status >= STATUS_FIRST_ERROR)
		return status_error(c, status, &a->body, e);
	if (code != CURLE_OK)
		return transport_error(c, code, e);
	if (status < 200 || status > 299)
		return status_error(c, status, &a->body, e);
	return 0;
}

static int parse_answer(const struct client *c, const struct answer *a, json_t **ret, struct err *e)
{
	json_error_t where;
	json_t *json = NULL;

	if (a->body.len) {
		json = json_loadb(a->body.s, a->body.len, JSON_DECODE_ANY, &where);
		if (!json)
			return err_set(e, EBADMSG,
				       "%s does not answer in JSON as a tacho server "
				       "would: %s",
				       c->url, where.text);
	}
	if (ret)
		*ret = json;
	else
		json_decref(json);
	return 0;
}

int client_json(struct client *c, const char *method, const char *path, const json_t *body,
		json_t **ret, struct err *e)
{
	CLEANUP(free_ptr) char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	struct answer a = {.fd = -1, .body_max = CLIENT_JSON_BYTES_MAX};
	CURL *h = c->request;
	int r;

	curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, text ? c->json_headers : c->headers);
	if (text || !strcmp(method, "POST")) {
		curl_easy_setopt(h, CURLOPT_POST, 1L);
		curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)(text ? strlen(text) : 0));
		curl_easy_setopt(h, CURLOPT_POSTFIELDS, text ? text : "");
	}
	curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
	r = perform(c, path, &a, e);
	curl_easy_setopt(h, CURLOPT_POSTFIELDS, NULL);
	if (r == 0)
		r = parse_answer(c, &a, ret, e);
	buf_release(&a.body);
	return r;
}

int client_download(struct client *c, const char *path, int fd, client_progress *progress,
		    void *ctx, struct err *e)
{
	struct answer a = {.fd = fd, .progress = progress, .ctx = ctx};
	int r;

	curl_easy_setopt(c->request, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(c->request, CURLOPT_CUSTOMREQUEST, NULL);
	curl_easy_setopt(c->request, CURLOPT_HTTPHEADER, c->headers);
	r = perform(c, path, &a, e);
	buf_release(&a.body);
	return r;
}

int client_upload(struct client *c, const char *path, int fd, client_progress *progress, void *ctx,
		  json_t **ret, struct err *e)
{
	struct answer a = {.fd = -1,
			   .body_max = CLIENT_JSON_BYTES_MAX,
			   .progress = progress,
			   .ctx = ctx,
			   .upload = true};
	CURL *h = c->request;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "cannot look at what is to be sent: %s", strerror(errno));
	curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(h, CURLOPT_POST, 1L);
	curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, NULL);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, c->upload_headers);
	curl_easy_setopt(h, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE,
			 S_ISREG(st.st_mode) ? (curl_off_t)st.st_size : (curl_off_t)-1);
	curl_easy_setopt(h, CURLOPT_READFUNCTION, give_bytes);
	curl_easy_setopt(h, CURLOPT_READDATA, &fd);
	if (S_ISREG(st.st_mode))
		lseek(fd, 0, SEEK_SET);
	r = perform(c, path, &a, e);
	if (r == 0)
		r = parse_answer(c, &a, ret, e);
	buf_release(&a.body);
	return r;
}

const char *client_header(struct client *c, const char *name)
{
	struct curl_header *header;

	return curl_easy_header(c->request, name, 0, CURLH_HEADER, -1, &header) == CURLHE_OK
		       ? header->value
		       : NULL;
}

/* ---- events ---- */

struct watching {
	struct client *client;
	const struct client_watch *watch;
	struct event_parser parser;
	struct buf error_body;
	bool connected, over, malformed;
};

static bool on_event(void *ctx, const char *name, const char *data, size_t len)
{
	struct watching *w = ctx;
	json_t *json = json_loadb(data, len, JSON_DECODE_ANY, NULL);
	bool more = true;

	if (json)
		more = w->watch->event(w->watch->ctx, name, json);
	json_decref(json);
	w->over |= !more;
	return more;
}

static size_t take_events(char *bytes, size_t size, size_t count, void *to)
{
	struct watching *w = to;
	size_t len = size * count;
	long status = 0;

	curl_easy_getinfo(w->client->stream, CURLINFO_RESPONSE_CODE, &status);
	if (status != 200) {
		if (w->error_body.len + len <= ERROR_BYTES_MAX)
			buf_add_mem(&w->error_body, bytes, len);
		return len;
	}
	if (!w->connected) {
		w->connected = true;
		w->over |= !w->watch->event(w->watch->ctx, "connected", NULL);
	}
	if (!w->over && event_parser_feed(&w->parser, bytes, len, on_event, w) < 0)
		w->malformed = true;
	return w->over || w->malformed ? 0 : len;
}

static void begin_stream(struct watching *w, const char *path, struct curl_slist **ret_headers)
{
	CURL *h = w->client->stream;
	struct curl_slist *headers = NULL;

	for (struct curl_slist *one = w->client->headers; one; one = one->next)
		headers = curl_slist_append(headers, one->data);
	headers = curl_slist_append(headers, "Accept: text/event-stream");
	if (w->parser.last_id.len) {
		CLEANUP(free_ptr)
		char *line = xasprintf("Last-Event-ID: %s", buf_str(&w->parser.last_id));

		headers = curl_slist_append(headers, line);
	}
	*ret_headers = headers;
	*w->client->text = '\0';
	event_parser_restart(&w->parser);
	buf_clear(&w->error_body);
	w->connected = false;
	set_url(w->client, h, path);
	curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, take_events);
	curl_easy_setopt(h, CURLOPT_WRITEDATA, w);
}

/* One connection until it ends. */
static CURLcode stream_once(struct watching *w, CURLM *multi, const char *path)
{
	const struct client_watch *watch = w->watch;
	struct curl_slist *headers;
	CURLcode code = CURLE_OK;
	int running = 1, left;

	begin_stream(w, path, &headers);
	curl_multi_add_handle(multi, w->client->stream);
	while (running && !w->over) {
		CURLMsg *message;

		if (curl_multi_perform(multi, &running) != CURLM_OK)
			break;
		while ((message = curl_multi_info_read(multi, &left)))
			if (message->msg == CURLMSG_DONE)
				code = message->data.result;
		if (running && !w->over) {
			curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
			w->over |= watch->tick && !watch->tick(watch->ctx);
		}
	}
	curl_multi_remove_handle(multi, w->client->stream);
	curl_slist_free_all(headers);
	return code;
}

/* After a connection has ended: 1 come back, 0 enough. */
static int judge(struct watching *w, CURLcode code, uint64_t *away_ns, struct err *e)
{
	long status = 0;

	if (w->over)
		return 0;
	if (w->malformed)
		return err_set(e, EMSGSIZE, "an event of %s is too large", w->client->url);
	curl_easy_getinfo(w->client->stream, CURLINFO_RESPONSE_CODE, &status);
	if (status >= STATUS_FIRST_ERROR && status < 500)
		return status_error(w->client, status, &w->error_body, e);
	if (w->connected || !*away_ns)
		*away_ns = clock_now_ns();
	if (clock_now_ns() - *away_ns < AWAY_NS)
		return 1;
	return code ? transport_error(w->client, code, e)
		    : status_error(w->client, status, &w->error_body, e);
}

int client_events(struct client *c, const char *path, const struct client_watch *watch,
		  struct err *e)
{
	struct watching w = {.client = c, .watch = watch};
	CURLM *multi = curl_multi_init();
	unsigned wait_ms = RETRY_FIRST_MS;
	uint64_t away_ns = 0;
	int r;

	if (!multi)
		return err_set(e, ENOMEM, "cannot set up an HTTP client");
	event_parser_init(&w.parser, CLIENT_EVENT_BYTES_MAX);
	for (;;) {
		CURLcode code = stream_once(&w, multi, path);

		r = judge(&w, code, &away_ns, e);
		if (r <= 0)
			break;
		wait_ms = w.connected ? RETRY_FIRST_MS : wait_ms;
		usleep(wait_ms * 1000);
		wait_ms = wait_ms * 2 > RETRY_MAX_MS ? RETRY_MAX_MS : wait_ms * 2;
		if (watch->tick && !watch->tick(watch->ctx))
			break;
	}
	curl_multi_cleanup(multi);
	event_parser_release(&w.parser);
	buf_release(&w.error_body);
	return r < 0 ? r : 0;
}
