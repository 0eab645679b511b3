#include "cmd/input/export_file.h"
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static bool write_all(void *ctx, struct buf *bytes)
{
	struct export_file *f = ctx;
	bool done;

	errno = 0;
	done = command_flush(bytes, f->fd);
	if (!done)
		f->code = errno ? errno : EIO;
	return done;
}

int export_file_begin(struct export_file *f, const char *path, struct err *e)
{
	*f = (struct export_file){.path = path, .fd = STDOUT_FILENO};
	f->out.write = write_all;
	f->out.ctx = f;
	if (!strcmp(path, "-"))
		return 0;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (f->fd < 0)
		return err_set(e, errno, "cannot write '%s': %s", path, strerror(errno));
	return 0;
}

int export_file_end(struct export_file *f, struct err *e)
{
	bool file = f->fd != STDOUT_FILENO;

	if (!f->out.failed && !write_all(f, &f->out.buf))
		f->out.failed = true;
	buf_release(&f->out.buf);
	if (file && close(f->fd) < 0 && !f->out.failed) {
		f->out.failed = true;
		f->code = errno;
	}
	if (!f->out.failed)
		return 0;
	/* For standard output command_flush() has already reported the error. */
	return file ? err_set(e, f->code, "cannot write '%s': %s", f->path, strerror(f->code))
		    : -EPIPE;
}

const char *export_file_default(const char *name)
{
	return isatty(STDOUT_FILENO) ? name : "-";
}
