/* The workload's output: read at once, so that the workload never waits, and sent on up to a
 * limit. */
#include "collect/run/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES 65536

int runner_output_open(struct runner *r, struct workload_options *ret, struct err *e)
{
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC))
		return err_set(e, errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(err, O_CLOEXEC)) {
		int code = errno;

		close(out[0]);
		close(out[1]);
		return err_set(e, code, "cannot make a pipe: %s", strerror(code));
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	r->output = (struct runner_output){.fds = {out[0], err[0]}, .room = r->order.output_bytes};
	ret->captured = true;
	ret->out_fd = out[1];
	ret->err_fd = err[1];
	return 0;
}

static void hand_on(struct runner *r, unsigned stream, const char *bytes, size_t size)
{
	struct runner_output *o = &r->output;
	CLEANUP(buf_release) struct buf body = {};
	size_t taken = size < o->room ? size : (size_t)o->room;

	o->dropped_bytes += size - taken;
	o->room -= taken;
	if (!taken)
		return;
	body_u64(&body, clock_now_ns());
	body_u32(&body, stream + 1);
	buf_add_mem(&body, bytes, taken);
	runner_send(r, RUN_OUTPUT, &body);
}

void runner_output_read(struct runner *r, unsigned stream)
{
	char bytes[PIECE_BYTES];
	ssize_t n;

	if (r->output.fds[stream] < 0)
		return;
	n = read(r->output.fds[stream], bytes, sizeof(bytes));
	if (n > 0) {
		hand_on(r, stream, bytes, (size_t)n);
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		close(r->output.fds[stream]);
		r->output.fds[stream] = -1;
	}
}

/* Reads only what is there by now: processes left running may hold the pipes open for ever. */
void runner_output_close(struct runner *r)
{
	for (unsigned i = 0; i < ARRAY_LEN(r->output.fds); i++) {
		int *fd = &r->output.fds[i];
		char bytes[PIECE_BYTES];
		uint64_t left = r->output.room + PIECE_BYTES;
		ssize_t n = 1;

		while (*fd >= 0 && n > 0 && left) {
			n = read(*fd, bytes, sizeof(bytes));
			if (n > 0)
				hand_on(r, i, bytes, (size_t)n);
			left -= n > 0 && (uint64_t)n < left ? (uint64_t)n : 0;
		}
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
}
