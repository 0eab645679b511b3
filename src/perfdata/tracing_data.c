#include "perfdata/tracing_data.h"
#include "base/as_user.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TRACE_FILE_BYTES_MAX (16u << 20)

/* All of a file of tracefs, byte for byte: its size is not known before it was read. */
static int read_exact(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r = 0;
	char block[16384];
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, block, sizeof(block))) != 0 && r == 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			r = -errno;
		else if (b->len + (size_t)n > TRACE_FILE_BYTES_MAX)
			r = -EFBIG;
		else
			buf_add_mem(b, block, (size_t)n);
	}
	close(fd);
	return r;
}

/* Length in 64 bits, then the text. */
static int add_file(struct buf *b, const char *path, struct err *e)
{
	CLEANUP(buf_release) struct buf text = {};
	int r = read_exact(path, &text);

	if (r < 0)
		return err_set(e, -r,
			       "cannot read '%s': %s; tracepoints need it (run as root, or sudo "
			       "chmod a+rx /sys/kernel/tracing)",
			       path, strerror(-r));
	feature_add_u64(b, text.len);
	buf_add_mem(b, text.s, text.len);
	return 0;
}

static int add_header(struct buf *b, const struct roots *roots, struct err *e)
{
	static const char start[] = "\x17\x08\x44tracing";
	static const char *const files[] = {"header_page", "header_event"};
	int r = 0;

	buf_add_mem(b, start, sizeof(start) - 1);
	buf_add_mem(b, "0.6", sizeof("0.6"));
	buf_add_char(b, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	buf_add_char(b, sizeof(long));
	feature_add_u32(b, (uint32_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < ARRAY_LEN(files) && r == 0; i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/events/%s", roots->tracefs, files[i]);

		buf_add_mem(b, files[i], strlen(files[i]) + 1);
		r = add_file(b, path, e);
	}
	feature_add_u32(b, 0); /* events of ftrace itself */
	return r;
}

static size_t system_len(const char *name)
{
	return strcspn(name, ":");
}

static bool same_system(const char *a, const char *b)
{
	return system_len(a) == system_len(b) && !strncmp(a, b, system_len(a));
}

/* Writes the number at a place that was left for it. */
static void patch_u32(struct buf *b, size_t at, uint32_t value)
{
	memcpy(b->s + at, &value, sizeof(value));
}

/* Every system once with its events, from the sorted names. */
static int add_systems(struct buf *b, const struct roots *roots, const strvec *names, struct err *e)
{
	size_t systems_at = b->len, events_at = 0;
	uint32_t systems = 0, events = 0;
	int r = 0;

	feature_add_u32(b, 0);
	for (size_t i = 0; i < names->len && r == 0; i++) {
		const char *name = names->items[i];
		CLEANUP(free_ptr)
		char *path = xasprintf("%s/events/%.*s/%s/format", roots->tracefs,
				       (int)system_len(name), name, name + system_len(name) + 1);

		if (i && !strcmp(name, names->items[i - 1]))
			continue;
		if (!i || !same_system(name, names->items[i - 1])) {
			buf_add_mem(b, name, system_len(name));
			buf_add_char(b, '\0');
			events_at = b->len;
			feature_add_u32(b, 0);
			events = 0;
			systems++;
		}
		r = add_file(b, path, e);
		patch_u32(b, events_at, ++events);
	}
	patch_u32(b, systems_at, systems);
	return r;
}

/* No kallsyms, which readers have from elsewhere; the texts of trace_printk, whose addresses are not for
 * everybody; no command lines. */
static void add_rest(struct buf *b, const struct roots *roots)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/printk_formats", roots->tracefs);
	CLEANUP(buf_release) struct buf text = {};

	feature_add_u32(b, 0);
	if (as_user_chosen() || read_exact(path, &text) < 0)
		buf_clear(&text);
	feature_add_u32(b, (uint32_t)text.len);
	buf_add_mem(b, text.s, text.len);
	feature_add_u64(b, 0);
}

int tracing_data_add(struct feature_set *set, const struct roots *roots, const char *const *names,
		     size_t count, struct err *e)
{
	CLEANUP(strvec_release) strvec sorted = {};
	const char *problem = roots_tracefs_problem(roots);
	struct buf *b;
	int r;

	if (problem)
		return err_set(e, ENOENT, "cannot describe tracepoints: %s", problem);
	for (size_t i = 0; i < count; i++) {
		if (!strchr(names[i], ':') || strchr(names[i], '/'))
			return err_set(e, EINVAL, "'%s' is not the name of a tracepoint", names[i]);
		vec_push(&sorted, xstrdup(names[i]));
	}
	strvec_sort(&sorted);
	b = feature_set_begin(set, FEATURE_TRACING_DATA);
	r = add_header(b, roots, e);
	if (r == 0)
		r = add_systems(b, roots, &sorted, e);
	if (r < 0) {
		feature_set_drop(set, FEATURE_TRACING_DATA);
		return r;
	}
	add_rest(b, roots);
	return 0;
}
