/*
 * Bodies of routes with `upload`: into a file without a name, so that nothing is left whatever happens.
 * Plain bytes, or the file of a form.
 */
#include "net/http_internal.h"
#include "base/io.h"

#include "net/http_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int too_large(const struct exchange *x, struct err *e)
{
	CLEANUP(buf_release) struct buf limit = {};

	buf_add_size(&limit, x->server->o.upload_bytes_max);
	return err_set(e, EFBIG, "The file is larger than %s, which is the limit of this server.",
		       buf_str(&limit));
}

static int write_failed(int code, struct err *e)
{
	if (code == ENOSPC || code == EDQUOT)
		return err_set(e, ENOSPC, "The disk of the server is full: the file was not kept.");
	return err_set(e, code, "The server could not keep the file: %s.", strerror(code));
}

static int write_bytes(void *ctx, const void *bytes, size_t size, struct err *e)
{
	struct exchange *x = ctx;
	int result;

	if (size > x->server->o.upload_bytes_max - x->request.upload_bytes)
		return too_large(x, e);
	result = io_write(x->request.upload_fd, bytes, size);
	if (result < 0)
		return write_failed(-result, e);
	x->request.upload_bytes += size;
	return 0;
}

/* Where the file system knows no nameless files, a name that is gone at once. */
static int open_nameless(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		CLEANUP(free_ptr) char *name = xasprintf("%s/upload-XXXXXX", dir);

		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	return fd;
}

/* Before it is written, so that what is refused takes no room. */
static int claim(struct exchange *x, void *worker, uint64_t bytes, struct err *e)
{
	struct http_server *s = x->server;
	uint64_t all;

	if (bytes <= x->claimed)
		return 0;
	all = atomic_fetch_add(&s->uploading, bytes - x->claimed) + bytes - x->claimed;
	x->claimed = bytes;
	return s->o.upload_room ? s->o.upload_room(worker, all, e) : 0;
}

void upload_close(struct exchange *x)
{
	if (x->request.upload_fd >= 0)
		close(x->request.upload_fd);
	x->request.upload_fd = -1;
	atomic_fetch_sub(&x->server->uploading, x->claimed);
	x->claimed = 0;
}

int upload_open(struct exchange *x, void *worker, struct err *e)
{
	const char *type = http_header(&x->request, "Content-Type");
	const char *length = http_header(&x->request, "Content-Length");
	uint64_t bytes = length ? strtoull(length, NULL, 10) : 0;
	char boundary[71];
	int rc;

	/* A form is a little longer than its file. */
	if (bytes > x->server->o.upload_bytes_max + 2 * MULTIPART_HEAD_BYTES_MAX)
		return too_large(x, e);
	rc = claim(x, worker, bytes, e);
	if (rc < 0)
		return rc;
	x->request.upload_fd = open_nameless(x->server->upload_dir);
	if (x->request.upload_fd < 0)
		return write_failed(errno, e);
	x->in_parts = type && multipart_boundary(type, boundary, sizeof(boundary));
	if (x->in_parts)
		multipart_begin(&x->parts, boundary, write_bytes, x);
	else if (type && !strncasecmp(type, "multipart/", 10))
		return err_set(e, EINVAL, "A form must be multipart/form-data with a boundary.");
	return 0;
}

int upload_write(struct exchange *x, void *worker, struct err *e)
{
	int err = claim(x, worker, x->request.upload_bytes + x->block.len, e);

	if (err)
		buf_clear(&x->block);
	else if (x->in_parts)
		err = multipart_feed(&x->parts, x->block.s, x->block.len, e);
	else
		err = write_bytes(x, x->block.s, x->block.len, e);
	buf_clear(&x->block);
	return err;
}

int upload_finish(struct exchange *x, void *worker, struct err *e)
{
	int err = 0;

	if (x->block.len)
		err = upload_write(x, worker, e);
	buf_release(&x->block);
	if (!err && x->in_parts) {
		err = multipart_finish(&x->parts, e);
		x->request.upload_name = x->parts.file_name;
		x->parts.file_name = NULL;
	}
	if (!err && lseek(x->request.upload_fd, 0, SEEK_SET) < 0)
		err = write_failed(errno, e);
	return err;
}
