#include "symbol/elf/elf.h"
#include "base/io.h"
#include "base/cursor.h"
#include "symbol/elf/packed.h"
#include "symbol/elf/state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX (64u << 20) /* of all sections' names */
#define NOTE_BYTES_MAX (1u << 20)  /* of the section with the build id */
/* Limits for sparse files, whose size is far larger than their data. Files that the file system
 * compresses also take less space than their size, but not by this ratio. */
#define HOLES_BYTES_MAX (64ull << 20)
#define HOLES_RATIO_MAX 64u

/* Fields of the ELF header; the first section header corrects some of them. */
struct elf_header {
	uint64_t segments_at, sections_at;
	uint16_t segment_size, section_size;
	uint32_t segment_count, section_count, names_index;
};

/* ---- bytes ---- */

bool elf_read_bytes(const struct elf_file *f, uint64_t offset, void *to, size_t size)
{
	if (offset > f->size || size > f->size - offset)
		return false;
	if (f->memory) {
		if (size)
			memcpy(to, f->memory + offset, size);
		return true;
	}
	return io_read_at(f->fd, to, size, offset) == (ssize_t)size;
}

/* Counts bytes as held. Returns false if there is no room for them. */
static bool take(struct elf_file *f, uint64_t size)
{
	if (size > ELF_BYTES_MAX - f->held_bytes || !budget_take(f->budget, size))
		return false;
	f->held_bytes += size;
	return true;
}

static void give(struct elf_file *f, uint64_t size)
{
	f->held_bytes -= size;
	budget_give(f->budget, size);
}

void elf_share(struct elf_file *f, struct memory_budget *budget)
{
	if (!f->memory)
		budget->max += f->size * ELF_BUDGET_RATIO;
	/* What was needed to open it: the notes with the build id. */
	for (struct memory_budget *b = budget; b; b = b->total)
		b->held += f->held_bytes;
	f->budget = budget;
}

/* Reads part of the file into new memory, counted as held. Returns NULL on failure. */
static unsigned char *read_held(struct elf_file *f, uint64_t offset, uint64_t size)
{
	unsigned char *bytes;

	if (offset > f->size || size > f->size - offset || !take(f, size))
		return NULL;
	bytes = malloc(size ? size : 1);
	if (!bytes || !elf_read_bytes(f, offset, bytes, size)) {
		free(bytes);
		give(f, size);
		return NULL;
	}
	return bytes;
}

static struct cursor cursor_in(const struct elf_file *f, const void *data, size_t size)
{
	struct cursor c = cursor_of(data, size);

	c.swap = f->swap;
	return c;
}

static uint64_t word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

/* ---- headers ---- */

static int bad(const struct elf_file *f, struct err *e, const char *what)
{
	return err_set(e, ENOEXEC, "'%s' %s", f->name, what);
}

static int read_header(struct elf_file *f, struct elf_header *ret, struct err *e)
{
	unsigned char bytes[sizeof(Elf64_Ehdr)] = {};
	struct cursor c;

	if (!elf_read_bytes(f, 0, bytes, sizeof(Elf32_Ehdr)) || memcmp(bytes, ELFMAG, SELFMAG))
		return bad(f, e, "is not an ELF file");
	if ((bytes[EI_CLASS] != ELFCLASS64 && bytes[EI_CLASS] != ELFCLASS32) ||
	    (bytes[EI_DATA] != ELFDATA2LSB && bytes[EI_DATA] != ELFDATA2MSB))
		return bad(f, e, "is an ELF file of an unknown kind");
	f->is64 = bytes[EI_CLASS] == ELFCLASS64;
	f->swap = bytes[EI_DATA] !=
		  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	if (f->is64 && !elf_read_bytes(f, 0, bytes, sizeof(bytes)))
		return bad(f, e, "is cut off in its header");
	c = cursor_in(f, bytes, sizeof(bytes));
	cursor_skip(&c, EI_NIDENT);
	f->type = cursor_u16(&c);
	f->machine = cursor_u16(&c);
	cursor_u32(&c);    /* version */
	word(&c, f->is64); /* entry */
	ret->segments_at = word(&c, f->is64);
	ret->sections_at = word(&c, f->is64);
	cursor_u32(&c); /* flags */
	cursor_u16(&c); /* size of this header */
	ret->segment_size = cursor_u16(&c);
	ret->segment_count = cursor_u16(&c);
	ret->section_size = cursor_u16(&c);
	ret->section_count = cursor_u16(&c);
	ret->names_index = cursor_u16(&c);
	return 0;
}

static struct section read_section(const struct elf_file *f, struct cursor c)
{
	struct section s = {};

	s.name = cursor_u32(&c);
	s.type = cursor_u32(&c);
	s.flags = word(&c, f->is64);
	s.address = word(&c, f->is64);
	s.offset = word(&c, f->is64);
	s.size = word(&c, f->is64);
	s.link = cursor_u32(&c);
	s.info = cursor_u32(&c);
	s.align = word(&c, f->is64);
	s.entry_size = word(&c, f->is64);
	return s;
}

/* Numbers that are too large for the ELF header are in the first section header. */
static bool correct_header(const struct elf_file *f, struct elf_header *h)
{
	unsigned char bytes[sizeof(Elf64_Shdr)];
	size_t size = f->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct section first;

	if (!h->sections_at || h->section_size < size ||
	    !elf_read_bytes(f, h->sections_at, bytes, size))
		return false;
	first = read_section(f, cursor_in(f, bytes, size));
	if (!h->section_count)
		h->section_count = first.size < ELF_SECTIONS_MAX + 1ull ? (uint32_t)first.size
									: ELF_SECTIONS_MAX + 1;
	if (h->names_index == SHN_XINDEX)
		h->names_index = first.link;
	if (h->segment_count == PN_XNUM)
		h->segment_count = first.info;
	return true;
}

static int read_sections(struct elf_file *f, const struct elf_header *h, struct err *e)
{
	CLEANUP(free_ptr) unsigned char *table = NULL;
	size_t size = (size_t)h->section_size * h->section_count;

	if (h->section_count > ELF_SECTIONS_MAX)
		return bad(f, e, "has too many sections");
	if (!h->section_count)
		return 0;
	if (h->sections_at > f->size || size > f->size - h->sections_at)
		return bad(f, e, "is cut off: its section headers are missing");
	table = malloc(size);
	if (!table || !elf_read_bytes(f, h->sections_at, table, size))
		return bad(f, e, "could not be read");
	f->sections = xcalloc(h->section_count, sizeof(*f->sections));
	f->section_count = h->section_count;
	for (size_t i = 0; i < f->section_count; i++)
		f->sections[i] =
			read_section(f, cursor_in(f, table + i * h->section_size, h->section_size));
	return 0;
}

static void read_section_names(struct elf_file *f, uint32_t index)
{
	const struct section *s;

	if (index >= f->section_count)
		return;
	s = &f->sections[index];
	if (s->type != SHT_STRTAB || s->offset > f->size || s->size > f->size - s->offset ||
	    s->size > NAME_BYTES_MAX)
		return;
	f->section_names = malloc(s->size + 1);
	if (!f->section_names || !elf_read_bytes(f, s->offset, f->section_names, s->size))
		return;
	f->section_names[s->size] = '\0';
	f->section_names_size = s->size;
}

static struct elf_segment read_segment(const struct elf_file *f, struct cursor c)
{
	struct elf_segment s = {};

	s.type = cursor_u32(&c);
	if (f->is64)
		s.flags = cursor_u32(&c);
	s.offset = word(&c, f->is64);
	s.address = word(&c, f->is64);
	word(&c, f->is64); /* physical address */
	s.file_size = word(&c, f->is64);
	s.memory_size = word(&c, f->is64);
	if (!f->is64)
		s.flags = cursor_u32(&c);
	return s;
}

static int read_segments(struct elf_file *f, const struct elf_header *h, struct err *e)
{
	size_t least = f->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	size_t size = (size_t)h->segment_size * h->segment_count;
	CLEANUP(free_ptr) unsigned char *table = NULL;

	if (!h->segment_count || h->segment_size < least)
		return 0;
	if (h->segment_count > ELF_SEGMENTS_MAX)
		return bad(f, e, "has too many segments");
	if (h->segments_at > f->size || size > f->size - h->segments_at)
		return bad(f, e, "is cut off: its program headers are missing");
	table = malloc(size);
	if (!table || !elf_read_bytes(f, h->segments_at, table, size))
		return bad(f, e, "could not be read");
	f->segments = xcalloc(h->segment_count, sizeof(*f->segments));
	f->segment_count = h->segment_count;
	for (size_t i = 0; i < f->segment_count; i++)
		f->segments[i] =
			read_segment(f, cursor_in(f, table + i * h->segment_size, h->segment_size));
	return 0;
}

static void find_build_id(struct elf_file *f);

static int open_any(struct elf_file **ret, const struct elf_file *from, const char *name,
		    struct err *e)
{
	struct elf_file *f = xcalloc(1, sizeof(*f));
	struct elf_header h = {};
	int r;

	*f = *from;
	pthread_mutex_init(&f->lock, NULL);
	f->name = xstrdup(name);
	r = read_header(f, &h, e);
	if (!r && !correct_header(f, &h))
		h.section_count = 0;
	/* Segments are enough: a core or a memory image has no sections, and a file that lost its
	 * end has lost them. */
	if (!r && (r = read_sections(f, &h, h.segment_count ? NULL : e)) && h.segment_count)
		r = 0;
	if (!r)
		r = read_segments(f, &h, e);
	if (r) {
		f->fd = -1;
		elf_close(f);
		return r;
	}
	read_section_names(f, h.names_index);
	find_build_id(f);
	*ret = f;
	return 0;
}

static uint64_t size_to_read(const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size, on_disk = (uint64_t)st->st_blocks * 512;

	/* Some file systems, and those of the kernel, report no blocks. */
	if (!on_disk || size / HOLES_RATIO_MAX <= on_disk || size <= HOLES_BYTES_MAX)
		return size;
	return HOLES_BYTES_MAX;
}

int elf_open_fd(struct elf_file **ret, int fd, const char *name_for_errors, struct err *e)
{
	struct elf_file f = {.fd = fd};
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, errno, "cannot look at '%s': %s", name_for_errors,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "'%s' is not a regular file", name_for_errors);
	f.size = size_to_read(&st);
	return open_any(ret, &f, name_for_errors, e);
}

int elf_open(struct elf_file **ret, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;

	if (fd < 0)
		return err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
	r = elf_open_fd(ret, fd, path, e);
	if (r)
		close(fd);
	return r;
}

int elf_open_memory(struct elf_file **ret, const void *data, size_t size, struct err *e)
{
	struct elf_file f = {.fd = -1, .memory = data, .size = size};

	if (!size)
		return err_set(e, ENOEXEC, "the ELF image in memory is empty");
	return open_any(ret, &f, "memory", e);
}

void elf_close(struct elf_file *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->section_count; i++)
		free(f->sections[i].held);
	budget_give(f->budget, f->held_bytes);
	free(f->sections);
	free(f->section_names);
	free(f->segments);
	free(f->name);
	if (f->fd >= 0)
		close(f->fd);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

uint16_t elf_machine(const struct elf_file *f)
{
	return f->machine;
}

uint16_t elf_type(const struct elf_file *f)
{
	return f->type;
}

bool elf_is_64(const struct elf_file *f)
{
	return f->is64;
}

bool elf_is_swapped(const struct elf_file *f)
{
	return f->swap;
}

/* ---- sections ---- */

size_t elf_section_count(const struct elf_file *f)
{
	return f->section_count;
}

const char *elf_section_name(const struct elf_file *f, size_t index)
{
	if (index >= f->section_count || f->sections[index].name >= f->section_names_size)
		return "";
	return f->section_names + f->sections[index].name;
}

static void hold(struct section *s, unsigned char *bytes, size_t size)
{
	s->held = bytes;
	s->data = bytes;
	s->data_size = size;
	s->held_size = size;
}

static void unpack(struct elf_file *f, struct section *s, const unsigned char *bytes,
		   const struct elf_packed *how)
{
	unsigned char *out;

	if (!take(f, how->size))
		return;
	out = elf_unpack(how, bytes, s->size);
	if (out)
		hold(s, out, how->size);
	else
		give(f, how->size);
}

static void load(struct elf_file *f, struct section *s, const char *name)
{
	struct elf_packed how;
	unsigned char *bytes;

	if (s->load)
		return;
	s->load = ++f->loads;
	if (s->type == SHT_NOBITS || s->type == SHT_NULL || !s->size)
		return;
	if (f->memory && !(s->flags & SHF_COMPRESSED) && strncmp(name, ".zdebug", 7)) {
		if (s->offset > f->size || s->size > f->size - s->offset)
			return;
		s->data = f->memory + s->offset;
		s->data_size = s->size;
		return;
	}
	bytes = read_held(f, s->offset, s->size);
	if (!bytes)
		return;
	if (elf_packed_by(cursor_in(f, bytes, s->size), f->is64, s->flags, name, &how)) {
		unpack(f, s, bytes, &how);
	} else if (!(s->flags & SHF_COMPRESSED)) {
		hold(s, bytes, s->size);
		return;
	}
	free(bytes);
	give(f, s->size);
}

int elf_stat(const struct elf_file *f, struct stat *ret)
{
	if (f->fd < 0)
		return -EBADF;
	return fstat(f->fd, ret) ? -errno : 0;
}

uint64_t elf_held_bytes(const struct elf_file *f)
{
	return f->held_bytes;
}

uint64_t elf_loads(struct elf_file *f)
{
	uint64_t loads;

	pthread_mutex_lock(&f->lock);
	loads = f->loads;
	pthread_mutex_unlock(&f->lock);
	return loads;
}

void elf_forget_since(struct elf_file *f, uint64_t loads)
{
	pthread_mutex_lock(&f->lock);
	for (size_t i = 0; i < f->section_count; i++) {
		struct section *s = &f->sections[i];

		if (s->load <= loads)
			continue;
		give(f, s->held_size);
		free(s->held);
		s->held = NULL;
		s->data = NULL;
		s->data_size = s->held_size = s->load = 0;
	}
	pthread_mutex_unlock(&f->lock);
}

bool elf_section_header_at(const struct elf_file *f, size_t index, struct elf_section *ret)
{
	const struct section *s;

	if (index >= f->section_count)
		return false;
	s = &f->sections[index];
	*ret = (struct elf_section){
		.size = s->size,
		.address = s->address,
		.offset = s->offset,
		.flags = s->flags,
		.entry_size = s->entry_size,
		.align = s->align,
		.type = s->type,
		.link = s->link,
		.info = s->info,
		.index = (uint32_t)index,
	};
	return true;
}

bool elf_section_at(struct elf_file *f, size_t index, struct elf_section *ret)
{
	struct section *s;

	if (index >= f->section_count)
		return false;
	s = &f->sections[index];
	pthread_mutex_lock(&f->lock);
	load(f, s, elf_section_name(f, index));
	pthread_mutex_unlock(&f->lock);
	elf_section_header_at(f, index, ret);
	ret->data = s->data;
	if (s->data)
		ret->size = s->data_size;
	return s->data || s->type == SHT_NOBITS || !s->size;
}

static bool find_section(const struct elf_file *f, const char *name, size_t *ret_index)
{
	for (size_t i = 1; i < f->section_count; i++)
		if (!strcmp(elf_section_name(f, i), name)) {
			*ret_index = i;
			return true;
		}
	return false;
}

/* Finds ".zdebug_info" for ".debug_info": its name if compressed, before there was a flag for
 * it. */
static bool find_old_name(const struct elf_file *f, const char *name, size_t *ret_index)
{
	char old[64] = ".z";

	if (strncmp(name, ".debug_", 7) || strlen(name) + 2 > sizeof(old))
		return false;
	strcpy(old + 2, name + 1);
	return find_section(f, old, ret_index);
}

bool elf_section(struct elf_file *f, const char *name, struct elf_section *ret)
{
	size_t index;

	return (find_section(f, name, &index) || find_old_name(f, name, &index)) &&
	       elf_section_at(f, index, ret);
}

bool elf_section_header(struct elf_file *f, const char *name, struct elf_section *ret)
{
	size_t index;

	return (find_section(f, name, &index) || find_old_name(f, name, &index)) &&
	       elf_section_header_at(f, index, ret);
}

bool elf_section_of_type(const struct elf_file *f, uint32_t type, struct elf_section *ret)
{
	for (size_t i = 1; i < f->section_count; i++)
		if (f->sections[i].type == type)
			return elf_section_header_at(f, i, ret);
	return false;
}

bool elf_section_read(struct elf_file *f, size_t index, uint64_t offset, void *to, size_t size)
{
	struct elf_section s;

	if (!elf_section_header_at(f, index, &s))
		return false;
	if (s.type != SHT_NOBITS && !(s.flags & SHF_COMPRESSED))
		return offset <= s.size && size <= s.size - offset &&
		       s.offset <= UINT64_MAX - offset &&
		       elf_read_bytes(f, s.offset + offset, to, size);
	if (!elf_section_at(f, index, &s) || !s.data || offset > s.size || size > s.size - offset)
		return false;
	if (size)
		memcpy(to, s.data + offset, size);
	return true;
}

/* ---- build id ---- */

static bool id_in_sections(struct elf_file *f, struct build_id *ret)
{
	struct elf_section s;

	for (size_t i = 1; i < f->section_count; i++) {
		if (f->sections[i].type != SHT_NOTE || f->sections[i].size > NOTE_BYTES_MAX ||
		    f->sections[i].flags & SHF_COMPRESSED ||
		    strcmp(elf_section_name(f, i), ".note.gnu.build-id") ||
		    !elf_section_at(f, i, &s) || !s.data)
			continue;
		return build_id_of_notes(s.data, s.size, s.align, f->swap, ret);
	}
	return false;
}

/* Tries the section first: debug files and kernel modules have no usable segments. */
static void find_build_id(struct elf_file *f)
{
	if (id_in_sections(f, &f->build_id))
		return;
	if (f->memory)
		build_id_of_memory(f->memory, f->size, &f->build_id);
	else
		build_id_of_fd(f->fd, &f->build_id);
}

const struct build_id *elf_build_id(struct elf_file *f)
{
	return &f->build_id;
}
