#include "base/io.h"
#include "base/alloc.h"

#include <errno.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES (1u << 18)

int io_write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		/* Somebody else who has the descriptor may have made it non-blocking. */
		if (n < 0 && errno == EAGAIN && poll(&(struct pollfd){fd, POLLOUT, 0}, 1, -1) > 0)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

ssize_t io_read(int fd, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, (char *)to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t io_read_at(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int io_copy(int from, int to, uint64_t limit_bytes)
{
	CLEANUP(free_ptr) char *block = xcalloc(1, COPY_BYTES);
	uint64_t at = 0;
	ssize_t n;
	int r = 0;

	while (!r && (n = io_read_at(from, block, COPY_BYTES, at)) != 0) {
		if (n < 0)
			return (int)n;
		at += (uint64_t)n;
		r = at > limit_bytes ? -EFBIG : io_write(to, block, (size_t)n);
	}
	return r;
}

int io_clone(int from, int to)
{
	return ioctl(to, FICLONE, from) ? -errno : 0;
}

/* Fails between file systems (EXDEV) on many kernels, and on file systems that cannot do it. */
static int copy_in_kernel(int from, int to, uint64_t size)
{
	off_t in = 0, out = 0;

	while ((uint64_t)in < size) {
		ssize_t n = copy_file_range(from, &in, to, &out, size - (uint64_t)in, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
	}
	/* The size of a file that is made when it is read (/proc) is 0. */
	return size ? 0 : -EOPNOTSUPP;
}

int io_clone_or_copy(int from, int to, uint64_t limit_bytes)
{
	struct stat st;

	if (fstat(from, &st))
		return -errno;
	if ((uint64_t)st.st_size > limit_bytes)
		return -EFBIG;
	if (io_clone(from, to) == 0 || copy_in_kernel(from, to, (uint64_t)st.st_size) == 0)
		return 0;
	/* It begins anew: neither of the above has moved the offset of @to. */
	return io_copy(from, to, limit_bytes);
}
