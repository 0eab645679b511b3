/* The unnamed files that exports are written to. */
#include "server/export/formats.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool write_all(void *ctx, struct buf *bytes)
{
	struct export_target *t = ctx;

	if (!t->code)
		t->code = -io_write(t->fd, bytes->s, bytes->len);
	buf_clear(bytes);
	return !t->code;
}

int export_target_open(struct export_target *t, struct api *api, struct err *e)
{
	const char *directory = api->server->config.data;

	*t = (struct export_target){.out.write = write_all, .out.ctx = t};
	t->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	/* Some file systems do not support O_TMPFILE. */
	if (t->fd < 0) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/export-XXXXXX", directory);

		t->fd = mkostemp(path, O_CLOEXEC);
		if (t->fd >= 0)
			unlink(path);
	}
	if (t->fd < 0)
		return err_set(e, errno, "No file can be made in the data directory: %s.",
			       strerror(errno));
	return 0;
}

int export_target_rewind(struct export_target *t, struct err *e)
{
	buf_clear(&t->out.buf);
	buf_clear(&t->lacks);
	if (ftruncate(t->fd, 0) < 0 || lseek(t->fd, 0, SEEK_SET) < 0)
		return err_set(e, errno, "The file cannot be written: %s.", strerror(errno));
	return 0;
}

int export_target_flush(struct export_target *t, struct err *e)
{
	if (!t->code)
		write_all(t, &t->out.buf);
	if (t->code)
		return err_set(e, t->code, "The file cannot be written in the data directory: %s.",
			       strerror(t->code));
	return 0;
}

void export_target_close(struct export_target *t)
{
	buf_release(&t->out.buf);
	buf_release(&t->lacks);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
