#include "net/http_internal.h"

#include "base/json.h"
#include "net/http_text.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define GZIP_BYTES_MIN (16u << 10)

static const struct {
	int status;
	const char *code;
} statuses[] = {
	{400, "bad_request"},
	{401, "unauthorized"},
	{403, "forbidden"},
	{404, "not_found"},
	{405, "method_not_allowed"},
	{406, "not_acceptable"},
	{408, "timeout"},
	{409, "conflict"},
	{410, "gone"},
	{413, "too_large"},
	{415, "wrong_type"},
	{422, "unreadable"},
	{429, "too_many"},
	{500, "internal"},
	{501, "not_supported"},
	{503, "unavailable"},
	{504, "timeout"},
	{507, "no_room"},
};

int http_status_of(int code)
{
	switch (code < 0 ? -code : code) {
	case ENOENT:
	case ENOTDIR:
		return 404;
	case EINVAL:
	case E2BIG:
	case ENAMETOOLONG:
	case EILSEQ:
	case ERANGE:
	case EDOM:
		return 400;
	case EACCES:
	case EPERM:
		return 403;
	case EBUSY:
	case EALREADY:
	case EEXIST:
	case ESRCH:
		return 409;
	case EFBIG:
		return 413;
	case EBADMSG:
		return 422;
	case EUSERS:
		return 429;
	case ENOTSUP:
	case ENOSYS:
	case ENODATA:
		return 501;
	case EAGAIN:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case ECANCELED:
	case ESTALE:
		return 503;
	case ETIMEDOUT:
		return 504;
	case EDQUOT:
	case ENOSPC:
	case EROFS:
		return 507;
	default:
		return 500;
	}
}

void reply_init(struct http_reply *r)
{
	*r = (struct http_reply){.status = 200, .fd = -1};
}

void reply_release(struct http_reply *r)
{
	buf_release(&r->body);
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	http_pairs_release(&r->headers);
	strvec_release(&r->topics);
	strvec_release(&r->fresh_topics);
}

void http_reply_header(struct http_reply *r, const char *name, const char *fmt, ...)
{
	struct buf value = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&value, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.s[i] < 0x20 || value.s[i] == 0x7f)
			value.s[i] = ' '; /* a line of its own would be a header of its own */
	vec_push(&r->headers, (struct http_pair){xstrdup(name), buf_steal(&value)});
}

void http_reply_file(struct http_reply *r, const char *name)
{
	CLEANUP(buf_release) struct buf value = {};

	disposition_add(&value, name);
	http_reply_header(r, "Content-Disposition", "%s", buf_str(&value));
}

void http_reply_error(struct http_reply *r, int status, const char *sentence)
{
	const char *code = "error";
	struct json j;

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
		if (statuses[i].status == status)
			code = statuses[i].code;
	reply_release(r);
	reply_init(r);
	r->status = status;
	j = jw_to(&r->body);
	jw_open(&j, '{');
	jw_key(&j, "error");
	jw_open(&j, '{');
	jw_kv_u64(&j, "status", (uint64_t)status);
	jw_kv_str(&j, "code", code);
	jw_kv_str(&j, "message", sentence);
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_add_char(&r->body, '\n');
}

static const char *header_of(const http_pairs *headers, const char *name)
{
	vec_each(headers, h)
		if (!strcasecmp(h->name, name))
			return h->value;
	return NULL;
}

static void default_header(http_pairs *headers, const char *name, const char *value)
{
	if (!header_of(headers, name))
		vec_push(headers, (struct http_pair){xstrdup(name), xstrdup(value)});
}

/* A picture or page that was exported carries its script with it; it must not become one of ours. */
static const char *policy_of(const struct http_reply *r, const http_pairs *headers)
{
	bool page = r->type && !strncmp(r->type, "text/html", 9);

	if ((r->type && !strncmp(r->type, "image/svg+xml", 13)) ||
	    (page && header_of(headers, "Content-Disposition")))
		return "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
		       "img-src data:; sandbox allow-scripts; frame-ancestors 'none'";
	return "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
	       "form-action 'self'; frame-ancestors 'none'";
}

void reply_headers(const struct exchange *x, http_pairs *ret)
{
	const struct http_reply *r = &x->reply;

	vec_each(&r->headers, h)
		vec_push(ret, (struct http_pair){xstrdup(h->name), xstrdup(h->value)});
	if (r->status != 204 && r->status != 304)
		default_header(ret, "Content-Type", r->type ? r->type : "application/json");
	default_header(ret, "Content-Security-Policy", policy_of(r, ret));
	default_header(ret, "X-Content-Type-Options", "nosniff");
	default_header(ret, "X-Frame-Options", "DENY");
	default_header(ret, "Referrer-Policy", "no-referrer");
	default_header(ret, "Cross-Origin-Resource-Policy", "same-origin");
	default_header(ret, "Cross-Origin-Opener-Policy", "same-origin");
	default_header(ret, "Cache-Control", r->immutable ? "private, no-cache" : "no-store");
}

/* A tag for what is sent; of files only if they have a place, as others are written anew each time. */
static bool tag_make(const struct http_reply *r, struct buf *ret)
{
	XXH128_hash_t hash;

	if (r->fd >= 0) {
		struct stat st;

		if (fstat(r->fd, &st) < 0 || !st.st_nlink)
			return false;
		buf_addf(ret, "\"%lx-%lx-%lx\"", (unsigned long)st.st_ino,
			 (unsigned long)st.st_size, (unsigned long)st.st_mtim.tv_sec);
		return true;
	}
	hash = XXH3_128bits(buf_str(&r->body), r->body.len);
	buf_addf(ret, "\"%016lx%016lx\"", (unsigned long)hash.high64, (unsigned long)hash.low64);
	return true;
}

static void answer_unchanged(struct exchange *x)
{
	const char *known = http_header(&x->request, "If-None-Match");
	const char *own = header_of(&x->reply.headers, "ETag");
	CLEANUP(buf_release) struct buf tag = {};

	if (!x->reply.immutable || x->reply.status != 200)
		return;
	if (own)
		buf_add(&tag, own);
	else if (tag_make(&x->reply, &tag))
		http_reply_header(&x->reply, "ETag", "%s", buf_str(&tag));
	if (!tag.len || !etag_listed(known, buf_str(&tag)))
		return;
	buf_release(&x->reply.body);
	if (x->reply.fd >= 0)
		close(x->reply.fd);
	x->reply.fd = -1;
	x->reply.status = 304;
}

static bool is_text(const char *type)
{
	return !type || !strncmp(type, "text/", 5) || !strncmp(type, "application/json", 16) ||
	       !strncmp(type, "image/svg", 9) || !strncmp(type, "application/javascript", 22);
}

/* On the same machine, copying is cheaper; but what comes through a tunnel is there, too, and is told
 * by another port than ours in Host. */
static bool is_near(const struct exchange *x)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const char *host = http_header(&x->request, "Host"),
		   *port = host ? strrchr(host, ':') : NULL;
	const struct sockaddr *a = info ? info->client_addr : NULL;

	if (!port || strtoul(port + 1, NULL, 10) != x->server->port || !a)
		return false;
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
}

static void compress_body(struct exchange *x)
{
	struct http_reply *r = &x->reply;
	struct buf packed = {};
	z_stream z = {};

	if (r->fd >= 0 || r->body.len < GZIP_BYTES_MIN || r->body.len > UINT32_MAX ||
	    !is_text(r->type) || is_near(x) || header_of(&r->headers, "Content-Encoding") ||
	    !list_accepts(http_header(&x->request, "Accept-Encoding"), "gzip"))
		return;
	if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return;
	z.next_in = (Bytef *)r->body.s;
	z.avail_in = (uInt)r->body.len;
	z.avail_out = (uInt)deflateBound(&z, r->body.len);
	z.next_out = (Bytef *)buf_room(&packed, z.avail_out);
	if (deflate(&z, Z_FINISH) == Z_STREAM_END) {
		buf_commit(&packed, (const char *)z.next_out);
		buf_release(&r->body);
		r->body = packed;
		packed = (struct buf){};
		http_reply_header(r, "Content-Encoding", "gzip");
	}
	deflateEnd(&z);
	buf_release(&packed);
	http_reply_header(r, "Vary", "Accept-Encoding");
}

static struct MHD_Response *response_of(struct http_reply *r, uint64_t *ret_bytes)
{
	struct MHD_Response *response;
	struct stat st;

	if (r->fd >= 0 && !fstat(r->fd, &st)) {
		*ret_bytes = (uint64_t)st.st_size;
		response = MHD_create_response_from_fd64(*ret_bytes, r->fd);
		r->fd = -1; /* the response closes it */
		return response;
	}
	*ret_bytes = r->body.len;
	return MHD_create_response_from_buffer((size_t)*ret_bytes, buf_steal(&r->body),
					       MHD_RESPMEM_MUST_FREE);
}

void exchange_answer(struct exchange *x)
{
	struct http_server *s = x->server;
	http_pairs headers = {};
	uint64_t bytes = 0;

	answer_unchanged(x);
	compress_body(x);
	reply_headers(x, &headers);
	x->response = response_of(&x->reply, &bytes);
	if (!x->response) {
		http_pairs_release(&headers);
		x->phase = EXCHANGE_CLOSE;
		return;
	}
	vec_each(&headers, h)
		MHD_add_response_header(x->response, h->name, h->value);
	http_pairs_release(&headers);
	s->requests++;
	s->bytes_sent += bytes;
	s->errors += x->reply.status >= 500;
	s->refused += x->reply.status == 401 || x->reply.status == 403;
	x->phase = EXCHANGE_ANSWER;
}
