#include "perfdata/writer.h"
#include "perfdata/writer_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Given up for the features beyond their size: file systems count in blocks. */
#define SLACK_BYTES (64u << 10)

/* Nobody who starts both ends of a pipe takes longer; nobody who forgot one wants to wait longer. */
#define FIFO_PATIENCE_MS 5000
#define FIFO_PAUSE_MS    20

/* An attr of the file: the kernel's, and where its ids are. */
struct file_attr {
	struct perf_event_attr attr;
	struct perfdata_section ids;
};

struct perfdata_compressed writer_compression(const struct writer *w)
{
	uint64_t in = atomic_load(&w->packed_in), out = atomic_load(&w->packed_out);
	uint64_t ratio = out ? (in + out / 2) / out : 1;

	return (struct perfdata_compressed){
		.version = 0, /* what perf writes; hotspot refuses others */
		.type = COMPRESSION_ZSTD,
		.level = (uint32_t)w->options.zstd_level,
		.ratio = ratio ? (uint32_t)ratio : 1,
		.mmap_len = PACK_BYTES_MAX,
	};
}

uint64_t writer_bytes(const struct writer *w)
{
	return atomic_load(&w->end);
}

uint64_t writer_bytes_raw(const struct writer *w)
{
	return atomic_load(&w->raw_bytes);
}

/* ---- opening ---- */

/*
 * Renames what is there to PATH.old. Through a symbolic link it is the file itself that is renamed,
 * so that the link goes on pointing to where the user wants the data; what is under /dev and /proc
 * (/dev/stdout) only stands for a file that somebody has open.
 */
static int keep_old(const char *path, struct err *e)
{
	CLEANUP(free_ptr) char *real = realpath(path, NULL);
	CLEANUP(free_ptr) char *old = NULL;

	if (!real || !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6))
		return 0;
	old = xasprintf("%s.old", real);
	if (rename(real, old))
		return err_set(e, errno,
			       "cannot rename '%s' to '%s': %s; name another file with -o", real,
			       old, strerror(errno));
	return 0;
}

/* A pipe with a name cannot be opened before its reader has: who comes first waits for a while. */
static int open_waiting(const char *path, int flags)
{
	struct timespec pause = {.tv_nsec = FIFO_PAUSE_MS * 1000000};
	int fd;

	for (int waited = 0;; waited += FIFO_PAUSE_MS) {
		fd = open(path, flags | O_NONBLOCK, 0600);
		if (fd >= 0 || errno != ENXIO || waited >= FIFO_PATIENCE_MS)
			break;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

static int open_path(struct writer *w, struct err *e)
{
	struct stat st;
	int r;

	if (!stat(w->path, &st)) {
		if (S_ISDIR(st.st_mode))
			return err_set(e, EISDIR, "cannot write to '%s': it is a directory",
				       w->path);
		r = S_ISREG(st.st_mode) ? keep_old(w->path, e) : 0;
		if (r < 0)
			return r;
	}
	/* What was recorded tells much about the machine: for the owner only. */
	w->fd = open_waiting(w->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	if (w->fd < 0 && errno == ENXIO)
		return err_set(e, ENXIO, "cannot write to '%s': nobody reads from this pipe",
			       w->path);
	if (w->fd < 0)
		return err_set(e, errno, "cannot create '%s': %s; name another file with -o",
			       w->path, strerror(errno));
	return 0;
}

static int open_output(struct writer *w, struct err *e)
{
	bool out = w->options.path && !strcmp(w->options.path, "-");
	struct stat st;
	int r;

	if (!w->options.path) {
		w->path = xstrdup("a pipe");
		w->fd = w->options.fd;
		w->pipe = true;
		return 0;
	}
	w->path = xstrdup(out ? "standard output" : w->options.path);
	if (out) {
		w->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		if (w->fd < 0)
			return err_set(e, errno, "cannot write to standard output: %s",
				       strerror(errno));
	} else {
		r = open_path(w, e);
		if (r < 0)
			return r;
	}
	if (isatty(w->fd))
		return err_set(e, EINVAL,
			       "'%s' is a terminal, and perf.data is not text: redirect it into a "
			       "file or a pipe, or name a file with -o",
			       w->path);
	if (fstat(w->fd, &st))
		return err_set(e, errno, "cannot write to '%s': %s", w->path, strerror(errno));
	w->pipe = out || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
	return 0;
}

/* Header, attrs, ids; the records follow. Eight bytes is the alignment of all of them. */
static int put_file_start(struct writer *w, struct err *e)
{
	size_t count = w->options.event_count;
	uint64_t ids_at = sizeof(w->header) + count * sizeof(struct file_attr);
	CLEANUP(buf_release) struct buf b = {};
	struct iovec iov;

	w->header = (struct perfdata_file_header){
		.magic = PERFDATA_MAGIC,
		.size = sizeof(w->header),
		.attr_size = sizeof(struct file_attr),
		.attrs = {sizeof(w->header), count * sizeof(struct file_attr)},
		.data = {ids_at, 0},
	};
	for (size_t i = 0; i < count; i++)
		w->header.data.offset += w->options.events[i].id_count * sizeof(uint64_t);
	buf_add_mem(&b, &w->header, sizeof(w->header));
	for (size_t i = 0; i < count; i++) {
		const struct writer_event *event = &w->options.events[i];
		struct file_attr a = {event->attr, {ids_at, event->id_count * sizeof(uint64_t)}};

		a.attr.size = sizeof(a.attr);
		buf_add_mem(&b, &a, sizeof(a));
		ids_at += a.ids.size;
	}
	for (size_t i = 0; i < count; i++)
		buf_add_mem(&b, w->options.events[i].ids,
			    w->options.events[i].id_count * sizeof(uint64_t));
	iov = (struct iovec){b.s, b.len};
	return writer_put(w, &iov, 1, e);
}

static void writer_free(struct writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	pthread_mutex_destroy(&w->lock);
	free(w->path);
	free(w);
}

/* The records so far are a file that reads back. */
static int mark_round(struct writer *w)
{
	struct iovec iov = {&w->header.data.size, sizeof(w->header.data.size)};
	uint64_t end = atomic_load(&w->end);

	w->header.data.size = end - w->header.data.offset;
	w->rounds[w->round_count++ % ROUNDS_KEPT] = end;
	return writer_write_all(w, &iov, 1, offsetof(struct perfdata_file_header, data.size));
}

int writer_open(struct writer **ret, const struct writer_options *options, struct err *e)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	int r;

	w->options = *options;
	w->fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	r = open_output(w, e);
	if (r == 0 && w->pipe)
		r = writer_put_pipe_start(w, e);
	else if (r == 0)
		r = put_file_start(w, e);
	if (r == 0 && !w->pipe) {
		r = writer_put_preamble(w, e);
		if (r == 0 && mark_round(w) < 0)
			r = writer_failed(w, EIO, e);
	}
	if (r < 0) {
		writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int writer_round(struct writer *w, struct err *e)
{
	struct perf_event_header header = {.type = USER_FINISHED_ROUND, .size = sizeof(header)};
	struct iovec iov = {&header, sizeof(header)};
	int r = writer_put(w, &iov, 1, e), none = 0;

	if (r < 0 || w->pipe)
		return r;
	r = mark_round(w);
	if (r == 0)
		return 0;
	atomic_compare_exchange_strong(&w->failed, &none, -r);
	return writer_failed(w, -r, e);
}

/* ---- finishing ---- */

/* All sections as they stand behind the records: places first, then bytes. */
static void build_features(struct writer *w, uint64_t at, struct buf *b)
{
	static const struct feature_set nothing;
	const struct feature_set *set = w->options.features ? w->options.features : &nothing;
	uint64_t present = set->present & ~1ull;
	struct perfdata_compressed how = writer_compression(w);

	if (w->options.zstd_level)
		present |= 1ull << FEATURE_COMPRESSED;
	w->header.features[0] = present;
	at += (uint64_t)__builtin_popcountll(present) * sizeof(struct perfdata_section);
	for (unsigned f = 0; f < FEATURE_END; f++) {
		struct perfdata_section s = {at, set->sections[f].len};

		if (!(present >> f & 1))
			continue;
		if (f == FEATURE_COMPRESSED && w->options.zstd_level)
			s.size = sizeof(how);
		buf_add_mem(b, &s, sizeof(s));
		at += s.size;
	}
	for (unsigned f = 0; f < FEATURE_END; f++) {
		if (f == FEATURE_COMPRESSED && w->options.zstd_level)
			buf_add_mem(b, &how, sizeof(how));
		else if (present >> f & 1)
			buf_add_mem(b, set->sections[f].s, set->sections[f].len);
	}
}

/* The file ends with records at @end: sections behind them, then the header. */
static int finish_at(struct writer *w, uint64_t end, bool with_features)
{
	CLEANUP(buf_release) struct buf b = {};
	struct iovec head = {&w->header, sizeof(w->header)}, tail;
	int r = 0;

	memset(w->header.features, 0, sizeof(w->header.features));
	if (with_features) {
		build_features(w, end, &b);
		tail = (struct iovec){b.s, b.len};
		r = writer_write_all(w, &tail, 1, end);
	}
	w->header.data.size = end - w->header.data.offset;
	return r < 0 ? r : writer_write_all(w, &head, 1, 0);
}

/*
 * The disk is full, or something like it: what is behind the last round goes, and of the rounds as
 * many as the features need, if that is enough for them: records are not given up in vain.
 * Returns 0 if the file reads back with features, 1 if without.
 */
static int rescue(struct writer *w, uint64_t *ret_end)
{
	uint64_t kept = w->round_count < ROUNDS_KEPT ? w->round_count : ROUNDS_KEPT;
	uint64_t last = w->rounds[(w->round_count - 1) % ROUNDS_KEPT], needed;
	CLEANUP(buf_release) struct buf b = {};

	build_features(w, last, &b);
	needed = b.len;
	*ret_end = last;
	for (uint64_t back = 1; back <= kept; back++) {
		uint64_t end = w->rounds[(w->round_count - back) % ROUNDS_KEPT];

		if (back > 1 && last - end < needed)
			continue;
		if (last - end > 4 * needed + SLACK_BYTES)
			break;
		*ret_end = end;
		if (ftruncate(w->fd, (off_t)end))
			return -errno;
		if (finish_at(w, end, true) == 0)
			return 0;
	}
	if (ftruncate(w->fd, (off_t)*ret_end))
		return -errno;
	return finish_at(w, *ret_end, false) < 0 ? -EIO : 1;
}

static int finish_file(struct writer *w, struct err *e)
{
	uint64_t end = atomic_load(&w->end), kept_end = 0;
	int code = atomic_load(&w->failed), r;

	if (!code)
		code = -finish_at(w, end, true);
	if (!code)
		return 0;
	r = rescue(w, &kept_end);
	writer_failed(w, code, e);
	if (r < 0)
		err_prefix(e, "'%s' may not be readable", w->path);
	else
		err_prefix(e, "the last %llu bytes of records%s are lost, what came before is kept",
			   (unsigned long long)(end > kept_end ? end - kept_end : 0),
			   r ? " and the description of the machine" : "");
	return -code;
}

int writer_finish(struct writer *w, struct err *e)
{
	struct err first = {};
	int code = atomic_load(&w->failed), r;

	if (!w->pipe)
		r = finish_file(w, &first);
	else
		r = code ? writer_failed(w, code, &first) : writer_put_pipe_end(w, &first);
	if (close(w->fd) && r == 0)
		r = writer_failed(w, errno, &first);
	w->fd = -1;
	if (r < 0 && e)
		*e = first;
	writer_free(w);
	return r;
}
