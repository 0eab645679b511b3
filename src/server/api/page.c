/*
 * Serves the page: one document, whose URL holds what it shows, and the files that it loads. The
 * program contains these files compressed, because nearly every client accepts gzip.
 */
#include "server/api/api.h"
#include "net/http_text.h"
#include "server/api/page_files.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

/*
 * Allows only our own scripts, styles and pictures, and forbids showing the page in a frame.
 * Pictures that the page has drawn are saved as blobs.
 */
#define PAGE_POLICY                                                                                \
	"default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "    \
	"connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; "              \
	"form-action 'self'; frame-ancestors 'none'"

static const struct page_file *file_find(const char *path)
{
	for (const struct page_file *f = page_files; f->path; f++)
		if (!strcmp(f->path, path))
			return f;
	return NULL;
}

static int add_unpacked(struct buf *out, const struct page_file *f, struct err *e)
{
	z_stream z = {
		.next_in = (Bytef *)f->gzip,
		.avail_in = (uInt)f->gzip_bytes,
		.next_out = (Bytef *)buf_room(out, f->bytes),
		.avail_out = (uInt)f->bytes,
	};
	int rc = inflateInit2(&z, 15 + 16);

	if (rc != Z_OK)
		return err_set(e, ENOMEM, "There is no memory to unpack the page.");
	rc = inflate(&z, Z_FINISH);
	buf_commit(out, (const char *)z.next_out);
	inflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : err_set(e, EIO, "%s cannot be unpacked.", f->path);
}

static int send_file(const struct page_file *f, const struct http_request *r,
		     struct http_reply *reply, struct err *e)
{
	bool packed = list_accepts(http_header(r, "Accept-Encoding"), "gzip");

	reply->type = f->type;
	reply->immutable = true;
	/* The compressed form has other bytes, so it needs another tag. */
	http_reply_header(reply, "ETag", "\"%s%s\"", f->tag, packed ? "-gzip" : "");
	http_reply_header(reply, "Vary", "Accept-Encoding");
	if (!packed)
		return add_unpacked(&reply->body, f, e);
	http_reply_header(reply, "Content-Encoding", "gzip");
	buf_add_mem(&reply->body, f->gzip, f->gzip_bytes);
	return 0;
}

/* Ignores the query: the page itself reads its parameters (session, run, window, view). */
static int page(void *worker, const struct http_request *r, struct http_reply *reply, struct err *e)
{
	(void)worker;
	http_reply_header(reply, "Content-Security-Policy", PAGE_POLICY);
	return send_file(file_find("/index.html"), r, reply, e);
}

/* Clients may cache an asset forever, because its name changes with its content. */
static int asset(void *worker, const struct http_request *r, struct http_reply *reply,
		 struct err *e)
{
	const struct page_file *f = file_find(r->path);

	(void)worker;
	if (!f)
		return err_set(
			e, ENOENT,
			"This page was built for another version of tacho (no file %s). Reload it.",
			r->args[0]);
	http_reply_header(reply, "Cache-Control", "private, max-age=31536000, immutable");
	return send_file(f, r, reply, e);
}

const struct http_route page_routes[] = {
	{.method = "GET", .path = "/", .role = ROLE_LOOK, .handle = page},
	{.method = "GET", .path = "/assets/{name}", .role = ROLE_LOOK, .handle = asset},
	{},
};
