#include "perfdata/writer_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* Below this a frame's own overhead begins to show. */
#define PACK_BYTES_MIN 2048u
#define PACKED_MAX     (RECORD_BYTES_MAX - (unsigned)sizeof(struct perf_event_header))

struct writer_lane {
	struct writer *w;
	ZSTD_CCtx *zstd;     /* NULL: not compressed */
	size_t want;         /* input of the next compressed record: adapts to what fits */
	unsigned char *out;  /* one record, header first */
	unsigned char *join; /* for input that lies in two pieces */
};

/* Records that the caller handed over, perhaps in two pieces. */
struct pieces {
	const unsigned char *first, *second;
	size_t first_size, size;
};

/* ---- writing ---- */

static void skip_written(struct iovec *iov, int *at, int count, size_t n)
{
	while (*at < count && n >= iov[*at].iov_len)
		n -= iov[(*at)++].iov_len;
	if (*at < count) {
		iov[*at].iov_base = (char *)iov[*at].iov_base + n;
		iov[*at].iov_len -= n;
	}
}

int writer_write_all(const struct writer *w, const struct iovec *given, int count, uint64_t offset)
{
	struct iovec iov[4];
	int at = 0;

	memcpy(iov, given, (size_t)count * sizeof(*iov));
	skip_written(iov, &at, count, 0);
	while (at < count) {
		ssize_t n = w->pipe ? writev(w->fd, iov + at, count - at)
				    : pwritev(w->fd, iov + at, count - at, (off_t)offset);

		if (n < 0 && errno == EAGAIN) {
			struct pollfd p = {.fd = w->fd, .events = POLLOUT};

			poll(&p, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		skip_written(iov, &at, count, (size_t)n);
		offset += (size_t)n;
	}
	return 0;
}

int writer_failed(const struct writer *w, int code, struct err *e)
{
	if (code == ENOSPC || code == EDQUOT)
		return err_set(e, code,
			       "cannot write to '%s': %s; free some space, or write elsewhere",
			       w->path, strerror(code));
	if (code == EFBIG)
		return err_set(e, code,
			       "cannot write to '%s': the file may not get larger here (ulimit -f, "
			       "or the file system's limit)",
			       w->path);
	if (code == EPIPE)
		return err_set(e, code, "cannot write to '%s': its reader is gone", w->path);
	return err_set(e, code, "cannot write to '%s': %s", w->path, strerror(code));
}

int writer_put(struct writer *w, const struct iovec *iov, int count, struct err *e)
{
	size_t size = 0;
	int r = -atomic_load(&w->failed), none = 0;

	for (int i = 0; i < count; i++)
		size += iov[i].iov_len;
	if (r == 0 && w->pipe) {
		pthread_mutex_lock(&w->lock);
		r = writer_write_all(w, iov, count, 0);
		pthread_mutex_unlock(&w->lock);
		atomic_fetch_add(&w->end, size);
	} else if (r == 0) {
		r = writer_write_all(w, iov, count, atomic_fetch_add(&w->end, size));
	}
	if (r == 0)
		return 0;
	atomic_compare_exchange_strong(&w->failed, &none, -r);
	return writer_failed(w, -r, e);
}

/* ---- compression ---- */

struct writer_lane *writer_lane_new(struct writer *w)
{
	struct writer_lane *lane = xcalloc(1, sizeof(*lane));

	lane->w = w;
	if (w->options.zstd_level) {
		lane->zstd = ZSTD_createCCtx();
		lane->want = PACK_BYTES_MAX;
		lane->out = xcalloc(1, RECORD_BYTES_MAX);
		if (lane->zstd)
			ZSTD_CCtx_setParameter(lane->zstd, ZSTD_c_compressionLevel,
					       w->options.zstd_level);
	}
	return lane;
}

void writer_lane_free(struct writer_lane *lane)
{
	if (!lane)
		return;
	ZSTD_freeCCtx(lane->zstd);
	free(lane->out);
	free(lane->join);
	free(lane);
}

static void copy_from(const struct pieces *p, size_t at, void *to, size_t size)
{
	size_t of_first = at < p->first_size ? p->first_size - at : 0;

	if (of_first > size)
		of_first = size;
	if (of_first)
		memcpy(to, p->first + at, of_first);
	if (size > of_first && p->second)
		memcpy((char *)to + of_first, p->second + (at + of_first - p->first_size),
		       size - of_first);
}

/* Size of as many whole records from @at as fit into @limit, at least of one; 0 if the record at
 * @at is not whole. */
static size_t whole_records(const struct pieces *p, size_t at, size_t limit)
{
	size_t size = 0;

	while (p->size - at - size >= sizeof(struct perf_event_header)) {
		struct perf_event_header header = {};

		copy_from(p, at + size, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > p->size - at - size ||
		    (size && size + header.size > limit))
			break;
		size += header.size;
	}
	return size;
}

/* The records as they are, in one or two pieces. */
static int put_plain(struct writer_lane *lane, const struct pieces *p, size_t at, size_t size,
		     struct err *e)
{
	struct iovec iov[2] = {};
	size_t of_first = at < p->first_size ? p->first_size - at : 0;

	if (of_first > size)
		of_first = size;
	if (of_first)
		iov[0] = (struct iovec){(void *)(p->first + at), of_first};
	if (size > of_first)
		iov[1] = (struct iovec){(void *)(p->second + (at + of_first - p->first_size)),
					size - of_first};
	return writer_put(lane->w, iov, 2, e);
}

static const void *contiguous(struct writer_lane *lane, const struct pieces *p, size_t at,
			      size_t size)
{
	if (at + size <= p->first_size)
		return p->first + at;
	if (at >= p->first_size)
		return p->second + (at - p->first_size);
	if (!lane->join)
		lane->join = xcalloc(1, PACK_BYTES_MAX);
	copy_from(p, at, lane->join, size);
	return lane->join;
}

static int put_packed(struct writer_lane *lane, size_t packed, size_t size, struct err *e)
{
	struct perf_event_header header = {.type = USER_COMPRESSED};
	struct iovec iov = {lane->out, sizeof(header) + packed};

	header.size = (uint16_t)(sizeof(header) + packed);
	memcpy(lane->out, &header, sizeof(header));
	atomic_fetch_add(&lane->w->packed_in, size);
	atomic_fetch_add(&lane->w->packed_out, iov.iov_len);
	/* Half of the room is used: twice as much would just about fit. */
	if (packed < PACKED_MAX / 2 && lane->want < PACK_BYTES_MAX)
		lane->want *= 2;
	return writer_put(lane->w, &iov, 1, e);
}

/* Each record is one complete frame: a reader may begin anywhere. */
static int append_packed(struct writer_lane *lane, const struct pieces *p, struct err *e)
{
	size_t at = 0;
	int r = 0;

	while (at < p->size && r == 0) {
		size_t size = whole_records(p, at, lane->want), packed;

		if (!size)
			return err_set(e, EINVAL,
				       "cannot write to '%s': what was to be appended is not "
				       "whole records (a mistake in tacho)",
				       lane->w->path);
		packed = ZSTD_compress2(lane->zstd, lane->out + sizeof(struct perf_event_header),
					PACKED_MAX, contiguous(lane, p, at, size), size);
		if (!ZSTD_isError(packed)) {
			r = put_packed(lane, packed, size, e);
		} else if (lane->want > PACK_BYTES_MIN) {
			lane->want /= 2;
			continue;
		} else {
			/* Nothing that compression could shorten. */
			r = put_plain(lane, p, at, size, e);
		}
		at += size;
	}
	return r;
}

int writer_append(struct writer_lane *lane, const void *records, size_t size, const void *more,
		  size_t more_size, struct err *e)
{
	struct pieces p = {.first = records,
			   .first_size = size,
			   .second = more,
			   .size = size + (more ? more_size : 0)};
	int r;

	if (!p.size)
		return 0;
	r = lane->zstd ? append_packed(lane, &p, e) : put_plain(lane, &p, 0, p.size, e);
	if (r == 0)
		atomic_fetch_add(&lane->w->raw_bytes, p.size);
	return r;
}
