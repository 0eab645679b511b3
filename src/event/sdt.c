#include "event/sdt.h"
#include "base/cursor.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SDT_NOTE_TYPE 3
/* Linkers write one. A hostile file may have thousands that share their bytes. */
#define NOTE_SECTIONS_MAX 64

struct section {
	uint32_t name, type;
	uint64_t offset, size;
};

static uint64_t word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

static struct section read_section(const struct cursor *file, uint64_t at, bool is64)
{
	struct cursor c = cursor_part(file, at, is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	struct section s = {.name = cursor_u32(&c), .type = cursor_u32(&c)};

	word(&c, is64); /* flags */
	word(&c, is64); /* address */
	s.offset = word(&c, is64);
	s.size = word(&c, is64);
	if (c.failed)
		s = (struct section){};
	return s;
}

/* Compares only as many bytes as needed: names may be long, and sections many. */
static bool section_is(const struct cursor *file, const struct section *strings,
		       const struct section *s, const char *name)
{
	struct cursor names = cursor_part(file, strings->offset, strings->size);
	struct cursor own = cursor_part(&names, s->name, strlen(name) + 1);

	return !names.failed && !own.failed && !memcmp(own.data, name, own.size);
}

/* A note's body: three addresses (marker, base, semaphore) and three strings. */
static bool visit_note(struct cursor body, bool is64, sdt_visitor visit, void *ctx)
{
	struct sdt_marker marker = {.address = word(&body, is64)};

	word(&body, is64);
	word(&body, is64);
	marker.provider = cursor_str(&body);
	marker.name = cursor_str(&body);
	marker.arguments = cursor_str(&body);
	return body.failed || visit(ctx, &marker);
}

static bool visit_notes(struct cursor notes, bool is64, sdt_visitor visit, void *ctx)
{
	while (!cursor_done(&notes)) {
		uint32_t name_size = cursor_u32(&notes), body_size = cursor_u32(&notes);
		uint32_t type = cursor_u32(&notes);
		struct cursor name = cursor_part(&notes, notes.at, name_size), body;

		cursor_skip(&notes, ((uint64_t)name_size + 3) & ~3ull);
		body = cursor_part(&notes, notes.at, body_size);
		cursor_skip(&notes, ((uint64_t)body_size + 3) & ~3ull);
		if (name.failed || body.failed)
			break;
		if (type == SDT_NOTE_TYPE && name_size == 8 && !memcmp(name.data, "stapsdt", 8) &&
		    !visit_note(body, is64, visit, ctx))
			return false;
	}
	return true;
}

int sdt_parse(const void *data, size_t size, sdt_visitor visit, void *ctx, struct err *e)
{
	struct cursor file = cursor_of(data, size), c;
	const unsigned char *ident = data;
	uint64_t table, entry_size, count;
	struct section strings;
	size_t found = 0;
	bool is64;

	if (size < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG))
		return err_set(e, ENOEXEC, "this is not an ELF file");
	is64 = ident[EI_CLASS] == ELFCLASS64;
	file.swap = ident[EI_DATA] !=
		    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	c = cursor_part(&file, 0, is64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	cursor_skip(&c, is64 ? 40 : 32);
	table = word(&c, is64);
	cursor_skip(&c, 4 + 2 + 2 + 2);
	entry_size = cursor_u16(&c);
	count = cursor_u16(&c);
	if (c.failed || entry_size < (is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) ||
	    table > size)
		return err_set(e, ENOEXEC, "the ELF header is broken");
	strings = read_section(&file, table + entry_size * cursor_u16(&c), is64);
	for (uint64_t i = 0; i < count && found < NOTE_SECTIONS_MAX; i++) {
		struct section s = read_section(&file, table + entry_size * i, is64);

		if (s.type != SHT_NOTE || !section_is(&file, &strings, &s, ".note.stapsdt"))
			continue;
		found++;
		if (!visit_notes(cursor_part(&file, s.offset, s.size), is64, visit, ctx))
			break;
	}
	return 0;
}

int sdt_visit_file(const char *path, sdt_visitor visit, void *ctx, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;
	struct stat st;
	void *data;

	if (fd < 0)
		return err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		return err_set(e, EINVAL, "cannot read '%s': it is empty or not a regular file",
			       path);
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return err_set(e, errno, "cannot map '%s': %s", path, strerror(errno));
	r = sdt_parse(data, (size_t)st.st_size, visit, ctx, e);
	munmap(data, (size_t)st.st_size);
	if (r < 0)
		err_prefix(e, "cannot read '%s'", path);
	return r;
}
