#include "collect/live.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A large pipe saves wakeups; if it is not granted, the default size will do. */
#define PIPE_BYTES (1 << 20)

int live_start(struct live *ret, const struct recording_plan *plan, struct err *e)
{
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC))
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	*ret = (struct live){.plan = *plan, .data_fd = fds[0]};
	ret->plan.output.kind = SINK_LIVE;
	ret->plan.output.writer.fd = fds[1];
	ret->plan.starter_fds[ret->plan.starter_fd_count++] = fds[0];
	if (!ret->plan.round_ns)
		ret->plan.round_ns = LIVE_ROUND_NS;
	r = recording_start(&ret->recording, &ret->plan, e);
	/* The collector has its own copy. While ours is open, the reader never gets end of file. */
	close(fds[1]);
	if (r < 0)
		close(fds[0]);
	return r;
}
