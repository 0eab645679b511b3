#include "symbol/source.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sources {
	strvec from, to;
	char *symfs;
	VEC(struct source_file *) files; /* sorted by `asked`, then by `rights` */
	size_t bytes;
	struct source_file too_many; /* returned for all files beyond the limit */
};

struct sources *sources_new(const strvec *from, const strvec *to, const char *symfs)
{
	struct sources *s = xcalloc(1, sizeof(*s));

	for (size_t i = 0; i < from->len && i < to->len; i++) {
		vec_push(&s->from, xstrdup(from->items[i]));
		vec_push(&s->to, xstrdup(to->items[i]));
	}
	if (symfs && *symfs)
		s->symfs = xstrdup(symfs);
	s->too_many.asked = s->too_many.path = (char *)"";
	s->too_many.problem = (char *)"too many source files";
	return s;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	vec_each(&s->files, f) {
		free((*f)->asked);
		free((*f)->path);
		free((*f)->problem);
		free((*f)->text);
		vec_release(&(*f)->starts);
		free(*f);
	}
	vec_release(&s->files);
	strvec_release(&s->from);
	strvec_release(&s->to);
	free(s->symfs);
	free(s);
}

char *source_path(const strvec *from, const strvec *to, const char *path)
{
	for (size_t i = 0; i < from->len && i < to->len; i++) {
		size_t len = strlen(from->items[i]);

		if (!len || strncmp(path, from->items[i], len))
			continue;
		/* "/usr/src" is not the beginning of "/usr/src2/x.c". */
		if (from->items[i][len - 1] == '/' || !path[len] || path[len] == '/')
			return xasprintf("%s%s", to->items[i], path + len);
	}
	return xstrdup(path);
}

static void split_lines(struct source_file *f, size_t size)
{
	char *at = f->text, *end = f->text + size;

	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		vec_push(&f->starts, (uint32_t)(at - f->text));
		if (!stop)
			break;
		*stop = '\0';
		if (stop > at && stop[-1] == '\r')
			stop[-1] = '\0';
		at = stop + 1;
	}
}

/* Returns 0 or a negative errno; f->text is then NULL, so that another path can be tried. */
static int try_read(struct sources *s, struct source_file *f)
{
	int fd = rights_open(f->rights, f->path, 0), r = 0;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		r = -errno;
	else if (st.st_size > SOURCE_FILE_BYTES_MAX ||
		 s->bytes + (size_t)st.st_size > SOURCE_ALL_BYTES_MAX)
		r = -EFBIG;
	else
		f->text = xcalloc((size_t)st.st_size + 1, 1);
	/* The file may have shrunk since fstat(); the rest of the text is NUL already. */
	if (!r)
		r = (int)io_read(fd, f->text, (size_t)st.st_size);
	close(fd);
	if (r < 0) {
		free(f->text);
		f->text = NULL;
		return r;
	}
	f->modified = st.st_mtime;
	s->bytes += (size_t)st.st_size;
	split_lines(f, (size_t)st.st_size);
	return 0;
}

static void explain(struct source_file *f, int code)
{
	struct buf text = {};

	buf_addf(&text, "cannot read the source '%s': %s", f->path,
		 code == -EINVAL  ? "it is not an ordinary file"
		 : code == -EFBIG ? "it is too large"
				  : strerror(-code));
	if ((code == -EACCES || code == -EPERM) && !rights_are_own(f->rights)) {
		buf_add(&text, " (");
		rights_explain(f->rights, &text);
		buf_add(&text, ")");
	}
	f->problem = buf_steal(&text);
}

static void read_file(struct sources *s, struct source_file *f)
{
	char *path = source_path(&s->from, &s->to, f->asked);
	int r = -ENOENT;

	if (s->symfs) {
		f->path = xasprintf("%s/%s", s->symfs, path);
		r = try_read(s, f);
	}
	if (r < 0) {
		free(f->path);
		f->path = path;
		path = NULL;
		r = try_read(s, f);
	}
	free(path);
	if (r < 0)
		explain(f, r);
}

static int compare(const struct source_file *f, const char *path, const struct rights *rights)
{
	int order = strcmp(f->asked, path);

	return order ? order : (f->rights > rights) - (f->rights < rights);
}

const struct source_file *sources_get(struct sources *s, const char *path,
				      const struct rights *rights)
{
	size_t low = 0, high = s->files.len;
	struct source_file *f;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = compare(s->files.items[mid], path, rights);

		if (!order)
			return s->files.items[mid];
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (s->files.len >= SOURCE_FILES_MAX)
		return &s->too_many;
	f = xcalloc(1, sizeof(*f));
	f->asked = xstrdup(path);
	f->rights = rights;
	read_file(s, f);
	vec_push(&s->files, f);
	memmove(s->files.items + low + 1, s->files.items + low,
		(s->files.len - 1 - low) * sizeof(*s->files.items));
	s->files.items[low] = f;
	return f;
}

const char *source_line(const struct source_file *f, uint32_t number)
{
	if (!number || number > f->starts.len)
		return NULL;
	return f->text + f->starts.items[number - 1];
}
