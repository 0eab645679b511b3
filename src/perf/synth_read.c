#include "perf/synth_read.h"
#include "base/caps.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Twice what the kernel's limit of 65,530 mappings comes to. */
#define MAPS_BYTES_MAX    (32u << 20)
#define MODULES_BYTES_MAX (4u << 20)
#define IOMEM_BYTES_MAX   (1u << 20)
/* _text is the first symbol of most machines, and after those of a CPU's own data on some. */
#define KALLSYMS_BYTES_MAX (512u << 10)

typedef bool (*line_visitor)(void *ctx, char *line);

/* Hands over line by line, without keeping what was read; lines that are too long are left out. */
static int visit_lines(const char *path, size_t limit_bytes, uint64_t deadline_ns,
		       line_visitor visit, void *ctx)
{
	int fd = caps_open_proc(path, O_RDONLY | O_NONBLOCK), r = 0;
	char block[16384];
	size_t len = 0, total = 0;
	bool more = true;

	if (fd < 0)
		return -errno;
	while (more && total < limit_bytes) {
		ssize_t n = read(fd, block + len, sizeof(block) - len);
		char *line = block, *newline;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : 0;
			break;
		}
		len += (size_t)n;
		total += (size_t)n;
		while (more && (newline = memchr(line, '\n', len - (size_t)(line - block)))) {
			*newline = '\0';
			more = visit(ctx, line);
			line = newline + 1;
		}
		len -= (size_t)(line - block);
		memmove(block, line, len);
		if (len == sizeof(block))
			len = 0;
		if (deadline_ns && clock_now_ns() > deadline_ns) {
			r = -ETIME;
			break;
		}
	}
	close(fd);
	return r;
}

/* ---- /proc/PID ---- */

static bool take_number(char **at, int base, char after, uint64_t *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoull(*at, &end, base);
	if (end == *at || *end != after || errno)
		return false;
	*at = end + 1;
	return true;
}

bool mapping_parse(char *line, struct mapping *m)
{
	uint64_t major, minor;
	char *at = line;

	*m = (struct mapping){};
	if (!take_number(&at, 16, '-', &m->start) || !take_number(&at, 16, ' ', &m->end) ||
	    strlen(at) < 5 || at[4] != ' ')
		return false;
	m->prot = (at[0] == 'r' ? PROT_READ : 0u) | (at[1] == 'w' ? PROT_WRITE : 0u) |
		  (at[2] == 'x' ? PROT_EXEC : 0u);
	m->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	at += 5;
	if (!take_number(&at, 16, ' ', &m->offset) || !take_number(&at, 16, ':', &major) ||
	    !take_number(&at, 16, ' ', &minor) || m->end <= m->start)
		return false;
	m->major = (uint32_t)major;
	m->minor = (uint32_t)minor;
	errno = 0;
	m->inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	m->name = *at ? at : "//anon";
	return !errno;
}

struct maps_visit {
	mapping_visitor visit;
	void *ctx;
};

static bool visit_map_line(void *ctx, char *line)
{
	struct maps_visit *v = ctx;
	struct mapping m;

	return !mapping_parse(line, &m) || v->visit(v->ctx, &m);
}

int synth_read_maps(const struct roots *roots, pid_t pid, uint64_t deadline_ns,
		    mapping_visitor visit, void *ctx)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/maps", roots->proc, (int)pid);
	struct maps_visit v = {visit, ctx};

	return visit_lines(path, MAPS_BYTES_MAX, deadline_ns, visit_map_line, &v);
}

bool synth_read_status(const struct roots *roots, pid_t pid, pid_t *ret_group, pid_t *ret_parent)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/status", roots->proc, (int)pid);
	int fd = caps_open_proc(path, O_RDONLY | O_NONBLOCK);
	char text[1024], value[32];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (!text_field(text, "Tgid", value, sizeof(value)))
		return false;
	*ret_group = (pid_t)atoi(value);
	*ret_parent = text_field(text, "PPid", value, sizeof(value)) ? (pid_t)atoi(value) : 0;
	return *ret_group > 0;
}

/* ---- the kernel ---- */

/* "ffffffff81000000 T _text" */
static bool visit_symbol(void *ctx, char *line)
{
	struct kernel_text *text = ctx;
	uint64_t address;
	char *at = line;

	if (!take_number(&at, 16, ' ', &address) || strlen(at) < 3)
		return true;
	at += 2;
	at[strcspn(at, "\t")] = '\0';
	if (!strcmp(at, "_text"))
		*text = (struct kernel_text){.symbol = "_text", .start = address};
	else if (!strcmp(at, "_stext") && !text->symbol)
		*text = (struct kernel_text){.symbol = "_stext", .start = address};
	/* The two stand together, _text the lower one: once past them there is no other. Addresses
	 * that are hidden are all 0. */
	return !text->symbol || (text->start && text->symbol[1] == 's' && address <= text->start);
}

/* "  01000000-02208bc7 : Kernel code": where it ends in memory, as _etext is far down kallsyms. */
static bool visit_memory(void *ctx, char *line)
{
	struct kernel_text *text = ctx;
	char *at = line + strspn(line, " ");
	uint64_t start, last;

	if (!strstr(at, ": Kernel code"))
		return true;
	if (take_number(&at, 16, '-', &start) && take_number(&at, 16, ' ', &last) && last > start)
		text->size = last - start + 1;
	return false;
}

bool synth_read_kernel(const struct roots *roots, struct kernel_text *ret_text)
{
	CLEANUP(free_ptr) char *symbols = xasprintf("%s/kallsyms", roots->proc);
	CLEANUP(free_ptr) char *memory = xasprintf("%s/iomem", roots->proc);
	struct kernel_text text = {};

	visit_lines(symbols, KALLSYMS_BYTES_MAX, 0, visit_symbol, &text);
	if (!text.symbol || !text.start)
		return false;
	visit_lines(memory, IOMEM_BYTES_MAX, 0, visit_memory, &text);
	/* Else all that is above it; modules then cut out their own parts. */
	if (!text.size || text.size > UINT64_MAX - text.start)
		text.size = UINT64_MAX - text.start;
	*ret_text = text;
	return true;
}

struct modules_visit {
	module_visitor visit;
	void *ctx;
};

/* "name size uses users state 0xaddress" */
static bool visit_module_line(void *ctx, char *line)
{
	struct modules_visit *v = ctx;
	char name[128];
	unsigned long long size, address;

	if (sscanf(line, "%127s %llu %*s %*s %*s 0x%llx", name, &size, &address) != 3 || !address)
		return true;
	return v->visit(v->ctx, name, address, size);
}

void synth_read_modules(const struct roots *roots, module_visitor visit, void *ctx)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/modules", roots->proc);
	struct modules_visit v = {visit, ctx};

	visit_lines(path, MODULES_BYTES_MAX, 0, visit_module_line, &v);
}
