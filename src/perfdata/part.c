#include "perfdata/part.h"
#include "base/fs.h"
#include "base/number.h"
#include "perfdata/inflate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS_MAX 1024

int parts_open_directory(part_list *parts, struct stream *stream, const char *directory,
			 struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};
	int r = fs_list(directory, &names);

	if (r < 0)
		return err_set(e, -r, "cannot read the directory '%s': %s", directory,
			       strerror(-r));
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, *name);
		struct part part = {.feed = {.stream = stream}};
		struct stat st;
		uint64_t number;

		if (strncmp(*name, "data.", 5) || !parse_u64(*name + 5, &number) ||
		    parts->len >= PARTS_MAX)
			continue;
		part.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (part.fd < 0 || fstat(part.fd, &st) || !S_ISREG(st.st_mode)) {
			int code = part.fd < 0 ? errno : EINVAL;

			if (part.fd >= 0)
				close(part.fd);
			return err_set(e, code, "cannot read '%s': %s", path, strerror(code));
		}
		part.size = (uint64_t)st.st_size;
		vec_push(parts, part);
	}
	return 0;
}

static struct part *furthest_behind(part_list *parts)
{
	struct part *found = NULL;

	vec_each(parts, part)
		if (!part->ended && (!found || part->newest_ns < found->newest_ns))
			found = part;
	return found;
}

/* Nothing older than this can come any more. */
static void flush_what_is_safe(const part_list *parts, struct stream *s)
{
	uint64_t oldest = UINT64_MAX;

	vec_each(parts, part)
		if (!part->ended && part->newest_ns < oldest)
			oldest = part->newest_ns;
	order_flush_until(&s->order, oldest);
}

bool parts_read(part_list *parts, struct part **ret_current, int *ret_error)
{
	struct part *part = furthest_behind(parts);
	struct stream *s;
	unsigned char *to;
	size_t room;
	ssize_t n;

	*ret_error = 0;
	if (!part)
		return false;
	s = part->feed.stream;
	*ret_current = part;
	to = feed_room(&part->feed, &room);
	if (room > part->size - part->done)
		room = part->size - part->done;
	do
		n = room ? read(part->fd, to, room) : 0;
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		*ret_error = -errno;
		return false;
	}
	part->ended = n == 0;
	part->done += (size_t)n;
	s->last_ns = part->newest_ns;
	feed_bytes(&part->feed, (size_t)n);
	part->newest_ns = s->last_ns;
	if (parts->len > 1)
		flush_what_is_safe(parts, s);
	return !s->stopped;
}

void parts_release(part_list *parts)
{
	vec_each(parts, part) {
		feed_release(&part->feed);
		inflate_free(part->inflate);
		/* The first is the reader's own. */
		if (part != parts->items)
			close(part->fd);
	}
	vec_release(parts);
}
