#include "collect/spill.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Space that was read is given back to the disk in pieces of this size. */
#define PUNCH_BYTES (8ull << 20)

static int open_hidden(const char *directory)
{
	CLEANUP(free_ptr) char *path = NULL;
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	path = xasprintf("%s/spill-XXXXXX", directory);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int spill_open(struct spill *s, const char *directory, uint64_t limit_bytes, struct err *e)
{
	*s = (struct spill){.fd = open_hidden(directory), .limit_bytes = limit_bytes};
	if (s->fd < 0)
		return err_set(e, errno, "cannot make a file in '%s': %s", directory,
			       strerror(errno));
	return 0;
}

void spill_close(struct spill *s)
{
	if (s->fd >= 0)
		close(s->fd);
	vec_release(&s->sizes);
	*s = (struct spill){.fd = -1};
}

bool spill_put(struct spill *s, const struct buf *round)
{
	size_t done = 0;

	while (done < round->len) {
		ssize_t n =
			pwrite(s->fd, round->s + done, round->len - done, (off_t)(s->tail + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	s->tail += round->len;
	s->total_bytes += round->len;
	vec_push(&s->sizes, round->len);
	return true;
}

static void give_back(struct spill *s, uint64_t before)
{
	uint64_t from = before / PUNCH_BYTES * PUNCH_BYTES,
		 to = s->head / PUNCH_BYTES * PUNCH_BYTES;

	if (spill_is_empty(s)) {
		/* If the file cannot be truncated, its space is used again. */
		int r = ftruncate(s->fd, 0);

		(void)r;
		s->head = s->tail = 0;
		s->sizes.len = s->next = 0;
	} else if (to > from) {
		fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
			  (off_t)(to - from));
	}
}

bool spill_take(struct spill *s, struct buf *ret)
{
	size_t size = s->sizes.items[s->next++];
	uint64_t before = s->head;
	char *room = buf_room(ret, size);
	ssize_t got = io_read_at(s->fd, room, size, s->head);

	s->head += size;
	give_back(s, before);
	if (got != (ssize_t)size)
		return false;
	buf_commit(ret, room + size);
	return true;
}
