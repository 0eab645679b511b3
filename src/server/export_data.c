/* perf.data: the file that was kept, byte for byte. */
#include "server/export_formats.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int open_kept(const struct export_run *x, struct export_target *t, struct err *e)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/%s", x->api->server->config.data, x->run.raw_path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return err_set(e, errno == ENOENT ? ENOENT : EIO,
			       "The kept perf.data of this run cannot be opened: %s.",
			       strerror(errno));
	close(t->fd);
	t->fd = fd;
	return 0;
}

static int write_data(struct export_run *x, const struct http_request *r, struct export_target *t,
		      struct err *e)
{
	(void)r;
	if (!export_run_ended(x))
		return err_set(e, EBUSY, "The run has not ended: its perf.data is not complete.");
	if (x->run.raw_path && *x->run.raw_path)
		return open_kept(x, t, e);
	return err_set(e, ENOTSUP, "The run was made without keep_raw, so there is no perf.data.");
}

const struct export_format format_data = {
	.extension = "data",
	.type = "application/octet-stream",
	.whole = true,
	.write = write_data,
};
