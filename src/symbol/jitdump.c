#include "symbol/jitdump.h"
#include "base/io.h"
#include "base/buf.h"
#include "base/cursor.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC              0x4a695444u /* "JiTD" in the writer's byte order */
#define HEADER_BYTES       40u
#define RECORD_BYTES       16u
#define LOAD_BYTES         40u /* of a load record, before the name */
#define HEADER_BYTES_MAX   65536u
#define CPU_CLOCK          1u /* in the header's flags */
#define NAME_BYTES_ALL_MAX (256u << 20)
#define SEARCHES_MAX       (256u << 20) /* steps of find_index(), for all moves together */
#define SAME_FILE          "\xff"       /* means the file of the previous entry */

enum record_kind { CODE_LOAD, CODE_MOVE, DEBUG_INFO, CODE_CLOSE, UNWINDING_INFO };

struct line {
	uint64_t offset; /* of the code, in the file */
	uint32_t file;   /* offset in names; 0: no line from here on */
	uint32_t number;
};

struct jitdump {
	int fd; /* -1: in memory */
	const unsigned char *data;
	uint64_t size;
	VEC(struct jitdump_load) loads;
	VEC(struct line) lines;
	VEC(char) names;
	struct symtab symbols;
	const char *damage;
	uint32_t pid;
	uint16_t machine;
	bool swap, cpu_clock;
	/* While reading: lines and unwind information, which precede the load of their code. */
	VEC(struct line) waiting; /* offset is still the address in memory */
	struct jitdump_load unwinding;
	uint32_t searches_left;
};

struct record {
	uint32_t kind, size;
	uint64_t time, offset;
};

size_t jitdump_bytes(const struct jitdump *j, uint64_t offset, void *to, size_t size)
{
	ssize_t n;

	if (offset >= j->size)
		return 0;
	if (size > j->size - offset)
		size = (size_t)(j->size - offset);
	if (j->fd < 0) {
		memcpy(to, j->data + offset, size);
		return size;
	}
	n = io_read_at(j->fd, to, size, offset);
	return n < 0 ? 0 : (size_t)n;
}

/* ---- names ---- */

/* Returns the offset in names; 0 if there is no room. */
static uint32_t add_name(struct jitdump *j, const char *name, size_t len)
{
	size_t at = j->names.len;

	if (at + len + 1 > NAME_BYTES_ALL_MAX)
		return 0;
	vec_reserve(&j->names, at + len + 1);
	memcpy(j->names.items + at, name, len);
	j->names.items[at + len] = '\0';
	j->names.len += len + 1;
	return (uint32_t)at;
}

const char *jitdump_name(const struct jitdump *j, const struct jitdump_load *l)
{
	return j->names.items + l->name;
}

/* ---- records ---- */

static int by_offset(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Moves waiting lines to j->lines, with file offsets in place of memory addresses. */
static void settle_lines(struct jitdump *j, const struct jitdump_load *load)
{
	size_t first = j->lines.len;

	vec_each(&j->waiting, line) {
		uint64_t at = line->offset - load->address;

		if (line->offset < load->address || at >= load->size ||
		    j->lines.len >= JITDUMP_LINES_MAX)
			continue;
		vec_push(&j->lines,
			 (struct line){load->code_offset + at, line->file, line->number});
	}
	if (j->lines.len > first) {
		qsort(j->lines.items + first, j->lines.len - first, sizeof(struct line), by_offset);
		/* Mark the end: no line applies after this code. */
		vec_push(&j->lines, (struct line){load->code_offset + load->size, 0, 0});
	}
	j->waiting.len = 0;
}

static void add_load(struct jitdump *j, struct jitdump_load load)
{
	if (j->loads.len >= JITDUMP_LOADS_MAX) {
		j->damage = "it has too many code records; the rest was not read";
		return;
	}
	vec_push(&j->loads, load);
}

static bool read_load(struct jitdump *j, const struct record *r)
{
	unsigned char bytes[LOAD_BYTES + JITDUMP_NAME_MAX + 1];
	size_t body = r->size - RECORD_BYTES, got;
	struct jitdump_load load = {.time = r->time};
	struct cursor c;
	const char *name;
	size_t name_len;

	if (body > sizeof(bytes))
		body = sizeof(bytes);
	got = jitdump_bytes(j, r->offset + RECORD_BYTES, bytes, body);
	c = cursor_of(bytes, got);
	c.swap = j->swap;
	load.pid = cursor_u32(&c);
	load.tid = cursor_u32(&c);
	cursor_u64(&c); /* the address once more */
	load.address = cursor_u64(&c);
	load.size = cursor_u64(&c);
	load.code_index = cursor_u64(&c);
	name = cursor_str(&c);
	if (c.failed || !name)
		return false;
	name_len = strlen(name);
	load.code_offset = r->offset + RECORD_BYTES + c.at;
	if (load.size > r->offset + r->size - load.code_offset ||
	    load.address + load.size < load.address)
		return false;
	load.name = add_name(j, name, name_len);
	load.unwind_offset = j->unwinding.unwind_offset;
	load.unwind_size = j->unwinding.unwind_size;
	load.unwind_header_size = j->unwinding.unwind_header_size;
	j->unwinding = (struct jitdump_load){};
	settle_lines(j, &load);
	if (load.size)
		symtab_add(&j->symbols, load.code_offset, load.size, name, name_len, STT_FUNC,
			   STB_GLOBAL);
	add_load(j, load);
	return true;
}

/* Finds the newest load of that code at @address. Runtimes move code that they made recently. */
static const struct jitdump_load *find_index(struct jitdump *j, uint64_t index, uint64_t address)
{
	for (size_t i = j->loads.len; i-- && j->searches_left; j->searches_left--)
		if (j->loads.items[i].code_index == index && j->loads.items[i].address == address)
			return &j->loads.items[i];
	return NULL;
}

static bool read_move(struct jitdump *j, const struct record *r)
{
	unsigned char bytes[48];
	size_t got = jitdump_bytes(j, r->offset + RECORD_BYTES, bytes, sizeof(bytes));
	struct cursor c = cursor_of(bytes, got);
	const struct jitdump_load *old;
	struct jitdump_load load;
	uint64_t from, to, size, index;
	uint32_t pid, tid;

	c.swap = j->swap;
	pid = cursor_u32(&c);
	tid = cursor_u32(&c);
	cursor_u64(&c); /* the new address once more */
	from = cursor_u64(&c);
	to = cursor_u64(&c);
	size = cursor_u64(&c);
	index = cursor_u64(&c);
	if (c.failed || r->size < RECORD_BYTES + sizeof(bytes) || to + size < to)
		return false;
	old = find_index(j, index, from);
	/* Ignore moves of code that was never loaded, or was loaded with a smaller size. */
	if (!old || size > old->size)
		return true;
	load = *old;
	load.time = r->time;
	load.pid = pid;
	load.tid = tid;
	load.address = to;
	load.size = size;
	load.moved = true;
	add_load(j, load);
	return true;
}

static bool take_lines(struct jitdump *j, struct cursor *c)
{
	uint64_t count;
	uint32_t file = 0;

	cursor_u64(c); /* address of the code */
	count = cursor_u64(c);
	for (uint64_t i = 0; i < count && !c->failed; i++) {
		uint64_t address = cursor_u64(c);
		uint32_t number = cursor_u32(c);
		const char *name;

		cursor_u32(c); /* discriminator */
		name = cursor_str(c);
		if (!name)
			return false;
		if (j->waiting.len >= JITDUMP_LINES_MAX)
			return true;
		if (strcmp(name, SAME_FILE) && (!file || strcmp(name, j->names.items + file)))
			file = add_name(j, name, strlen(name));
		vec_push(&j->waiting, (struct line){address, file, number});
	}
	return !c->failed;
}

static bool read_debug_info(struct jitdump *j, const struct record *r)
{
	size_t size = r->size - RECORD_BYTES;
	CLEANUP(free_ptr) unsigned char *bytes = alloc_checked(size, 1, JITDUMP_DEBUG_INFO_MAX);
	struct cursor c;

	j->waiting.len = 0;
	if (!bytes)
		return true; /* too large: skip it, code follows */
	c = cursor_of(bytes, jitdump_bytes(j, r->offset + RECORD_BYTES, bytes, size));
	c.swap = j->swap;
	return take_lines(j, &c);
}

static bool read_unwinding(struct jitdump *j, const struct record *r)
{
	unsigned char bytes[24];
	size_t got = jitdump_bytes(j, r->offset + RECORD_BYTES, bytes, sizeof(bytes));
	struct cursor c = cursor_of(bytes, got);
	uint64_t size, header;

	c.swap = j->swap;
	size = cursor_u64(&c);
	header = cursor_u64(&c);
	cursor_u64(&c); /* how much of it the runtime has mapped */
	if (c.failed || r->size < RECORD_BYTES + sizeof(bytes) ||
	    size > r->size - RECORD_BYTES - sizeof(bytes) || header > size)
		return false;
	j->unwinding = (struct jitdump_load){
		.unwind_offset = r->offset + RECORD_BYTES + sizeof(bytes),
		.unwind_size = (uint32_t)size,
		.unwind_header_size = (uint32_t)header,
	};
	return true;
}

static bool read_record(struct jitdump *j, const struct record *r)
{
	switch (r->kind) {
	case CODE_LOAD:
		return read_load(j, r);
	case CODE_MOVE:
		return read_move(j, r);
	case DEBUG_INFO:
		return read_debug_info(j, r);
	case UNWINDING_INFO:
		return read_unwinding(j, r);
	default:
		return true; /* record of a later version */
	}
}

static void read_records(struct jitdump *j, uint64_t at)
{
	while (at < j->size && !j->damage) {
		unsigned char bytes[RECORD_BYTES];
		struct cursor c = cursor_of(bytes, jitdump_bytes(j, at, bytes, sizeof(bytes)));
		struct record r = {.offset = at};

		c.swap = j->swap;
		r.kind = cursor_u32(&c);
		r.size = cursor_u32(&c);
		r.time = cursor_u64(&c);
		if (c.failed || r.size < RECORD_BYTES || r.size > j->size - at)
			j->damage = "it ends within a record";
		else if (r.kind == CODE_CLOSE)
			return;
		else if (!read_record(j, &r))
			j->damage = "a record is damaged: its contents do not fit its size";
		at += r.size;
	}
}

/* ---- opening ---- */

static int read_header(struct jitdump *j, const char *name, uint64_t *ret_at, struct err *e)
{
	unsigned char bytes[HEADER_BYTES];
	struct cursor c = cursor_of(bytes, jitdump_bytes(j, 0, bytes, sizeof(bytes)));
	uint32_t magic = cursor_u32(&c), version, size, machine;
	uint64_t flags;

	j->swap = c.swap = magic == __builtin_bswap32(MAGIC);
	version = cursor_u32(&c);
	size = cursor_u32(&c);
	machine = cursor_u32(&c);
	cursor_u32(&c);
	j->pid = cursor_u32(&c);
	cursor_u64(&c); /* time when the file was begun */
	flags = cursor_u64(&c);
	if (c.failed || (magic != MAGIC && !j->swap))
		return err_set(e, EINVAL,
			       "'%s' is not a jitdump file: its header is missing or wrong", name);
	if (version != 1)
		return err_set(e, ENOTSUP, "'%s' is a jitdump file of version %u, only 1 is known",
			       name, version);
	if (size < HEADER_BYTES || size > HEADER_BYTES_MAX)
		return err_set(e, EINVAL, "'%s': the header of the jitdump file is damaged", name);
	j->machine = (uint16_t)machine;
	j->cpu_clock = flags & CPU_CLOCK;
	*ret_at = size;
	return 0;
}

static int load_all(struct jitdump *j, const char *name, struct err *e)
{
	uint64_t at = 0;
	int r;

	vec_push(&j->names, '\0');
	j->searches_left = SEARCHES_MAX;
	r = read_header(j, name, &at, e);
	if (r < 0)
		return r;
	read_records(j, at);
	vec_release(&j->waiting);
	symtab_finish(&j->symbols);
	return 0;
}

int jitdump_open_fd(struct jitdump **ret, int fd, const char *name_for_errors, struct err *e)
{
	struct jitdump *j;
	struct stat st;
	int r;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "'%s' is not a plain file", name_for_errors);
	j = xcalloc(1, sizeof(*j));
	j->fd = fd;
	j->size =
		(uint64_t)st.st_size < JITDUMP_BYTES_MAX ? (uint64_t)st.st_size : JITDUMP_BYTES_MAX;
	r = load_all(j, name_for_errors, e);
	if (r < 0) {
		j->fd = -1;
		jitdump_close(j);
		return r;
	}
	*ret = j;
	return 0;
}

int jitdump_open(struct jitdump **ret, const char *path, const struct rights *rights, struct err *e)
{
	int fd = rights_open(rights, path, O_NOFOLLOW), r;

	if (fd == -EINVAL)
		return err_set(e, EINVAL, "'%s' is not a plain file", path);
	if (fd < 0)
		return err_set(e, -fd, "cannot open '%s': %s", path, strerror(-fd));
	r = jitdump_open_fd(ret, fd, path, e);
	if (r < 0)
		close(fd);
	return r;
}

int jitdump_open_memory(struct jitdump **ret, const void *data, size_t size, struct err *e)
{
	struct jitdump *j = xcalloc(1, sizeof(*j));
	int r;

	j->fd = -1;
	j->data = data;
	j->size = size;
	r = load_all(j, "memory", e);
	if (r < 0)
		jitdump_close(j);
	else
		*ret = j;
	return r;
}

int jitdump_find(struct jitdump **ret, const struct jitdump_source *source, struct err *e)
{
	const struct rights *asker = rights_of_asker();
	const struct rights *rights = source->rights ? source->rights : asker;
	CLEANUP(free_ptr) char *kept = NULL, *inside = NULL;

	if (source->kept_dir && source->pid) {
		kept = xasprintf("%s/jit-%u.dump", source->kept_dir, source->pid);
		if (jitdump_open(ret, kept, asker, NULL) == 0)
			return 0;
	}
	/* With the rights of the process, paths lead below its own root directory. */
	if (source->pid && rights_are_own(rights)) {
		inside = xasprintf("/proc/%u/root%s", source->pid, source->path);
		if (jitdump_open(ret, inside, rights, NULL) == 0)
			return 0;
	}
	return jitdump_open(ret, source->path, rights, e);
}

void jitdump_close(struct jitdump *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		close(j->fd);
	vec_release(&j->loads);
	vec_release(&j->lines);
	vec_release(&j->names);
	vec_release(&j->waiting);
	symtab_release(&j->symbols);
	free(j);
}

/* ---- lookups ---- */

size_t jitdump_loads(const struct jitdump *j, const struct jitdump_load **ret)
{
	*ret = j->loads.items;
	return j->loads.len;
}

void jitdump_each(const struct jitdump *j, void (*visit)(void *ctx, const struct jitdump_load *l),
		  void *ctx)
{
	vec_each(&j->loads, load)
		visit(ctx, load);
}

uint16_t jitdump_machine(const struct jitdump *j)
{
	return j->machine;
}

uint32_t jitdump_pid(const struct jitdump *j)
{
	return j->pid;
}

bool jitdump_uses_cpu_clock(const struct jitdump *j)
{
	return j->cpu_clock;
}

const char *jitdump_damage(const struct jitdump *j)
{
	return j->damage;
}

const struct symtab *jitdump_symbols(const struct jitdump *j)
{
	return &j->symbols;
}

/* The number of lines that begin at @offset or before it. */
static size_t lines_before(const struct jitdump *j, uint64_t offset)
{
	size_t low = 0, high = j->lines.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (j->lines.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool jitdump_line(const struct jitdump *j, uint64_t code_offset, const char **ret_file,
		  uint32_t *ret_line)
{
	size_t n = lines_before(j, code_offset);

	if (!n || !j->lines.items[n - 1].file)
		return false;
	*ret_file = j->names.items + j->lines.items[n - 1].file;
	*ret_line = j->lines.items[n - 1].number;
	return true;
}

void jitdump_each_line(const struct jitdump *j, uint64_t from, uint64_t to,
		       bool (*row)(void *ctx, uint64_t code_offset, const char *file,
				   uint32_t line),
		       void *ctx)
{
	for (size_t i = from ? lines_before(j, from - 1) : 0;
	     i < j->lines.len && j->lines.items[i].offset < to; i++) {
		const struct line *line = &j->lines.items[i];

		if (line->file &&
		    !row(ctx, line->offset, j->names.items + line->file, line->number))
			return;
	}
}
