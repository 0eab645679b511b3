#include "perf/build_id.h"
#include "base/alloc.h"
#include "base/cursor.h"
#include "base/fs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES        4096
#define NOTES_BYTES_MAX   (64u << 10)
#define SEGMENTS_MAX      512
#define CACHE_ENTRIES_MAX 100000

/* ---- ELF ---- */

/* An ELF file: bytes in memory, or what is read piece by piece. */
struct source {
	const unsigned char *data;
	size_t size;
	int fd; /* where @data is NULL */
	unsigned char head[HEAD_BYTES];
	size_t head_size;
};

struct segment {
	uint32_t type;
	uint64_t offset, size, align;
};

static bool source_read(struct source *s, uint64_t offset, void *to, size_t size)
{
	if (s->data || (offset <= s->head_size && size <= s->head_size - offset)) {
		struct cursor all =
			cursor_of(s->data ? s->data : s->head, s->data ? s->size : s->head_size);
		struct cursor part = cursor_part(&all, offset, size);

		if (!part.failed && size)
			memcpy(to, part.data, size);
		return !part.failed;
	}
	return offset <= INT64_MAX && pread(s->fd, to, size, (off_t)offset) == (ssize_t)size;
}

static uint64_t word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

static bool find_in_notes(struct cursor notes, uint64_t align, struct build_id *ret_id)
{
	uint64_t mask = align == 8 ? 7 : 3;

	while (!cursor_done(&notes)) {
		uint32_t name_size = cursor_u32(&notes), body_size = cursor_u32(&notes);
		uint32_t type = cursor_u32(&notes);
		struct cursor name = cursor_part(&notes, notes.at, name_size), body;

		/* The header has 12 bytes: it is the end of name and body that is aligned. */
		cursor_skip(&notes, name_size);
		cursor_skip(&notes, -(uint64_t)notes.at & mask);
		body = cursor_part(&notes, notes.at, body_size);
		if (notes.failed || name.failed || body.failed)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof("GNU") &&
		    !memcmp(name.data, "GNU", sizeof("GNU")) && body_size &&
		    body_size <= BUILD_ID_BYTES_MAX) {
			*ret_id = (struct build_id){.size = (uint8_t)body_size};
			memcpy(ret_id->bytes, body.data, body_size);
			return true;
		}
		cursor_skip(&notes, body_size);
		cursor_skip(&notes, -(uint64_t)notes.at & mask);
	}
	return false;
}

bool build_id_of_notes(const void *data, size_t size, uint64_t align, bool swap,
		       struct build_id *ret_id)
{
	struct cursor notes = cursor_of(data, size);

	notes.swap = swap;
	return find_in_notes(notes, align, ret_id);
}

static struct segment read_segment(struct source *s, uint64_t at, bool is64, bool swap)
{
	unsigned char bytes[sizeof(Elf64_Phdr)];
	size_t size = is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	struct cursor c = {.data = bytes, .size = size, .swap = swap};
	struct segment seg = {};

	if (!source_read(s, at, bytes, size))
		return seg;
	seg.type = cursor_u32(&c);
	if (is64)
		cursor_u32(&c); /* flags */
	seg.offset = word(&c, is64);
	word(&c, is64); /* addresses */
	word(&c, is64);
	seg.size = word(&c, is64);
	word(&c, is64); /* size in memory */
	if (!is64)
		cursor_u32(&c);
	seg.align = word(&c, is64);
	return seg;
}

static bool find_in_segment(struct source *s, const struct segment *seg, bool swap,
			    struct build_id *ret_id)
{
	size_t size = seg->size < NOTES_BYTES_MAX ? seg->size : NOTES_BYTES_MAX;
	CLEANUP(free_ptr) unsigned char *bytes = NULL;
	struct cursor notes;

	if (!size)
		return false;
	bytes = xcalloc(1, size);
	notes = cursor_of(bytes, size);
	notes.swap = swap;
	return source_read(s, seg->offset, bytes, size) && find_in_notes(notes, seg->align, ret_id);
}

static bool find_in_source(struct source *s, struct build_id *ret_id)
{
	unsigned char bytes[sizeof(Elf64_Ehdr)] = {};
	struct cursor c = cursor_of(bytes, sizeof(bytes));
	uint64_t table, entry_size, count;
	bool is64;

	if (!source_read(s, 0, bytes, sizeof(Elf32_Ehdr)) || memcmp(bytes, ELFMAG, SELFMAG))
		return false;
	is64 = bytes[EI_CLASS] == ELFCLASS64;
	if (is64 && !source_read(s, 0, bytes, sizeof(Elf64_Ehdr)))
		return false;
	c.swap = bytes[EI_DATA] !=
		 (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	cursor_skip(&c, is64 ? 32 : 28);
	table = word(&c, is64);
	word(&c, is64); /* sections */
	cursor_skip(&c, 4 + 2);
	entry_size = cursor_u16(&c);
	count = cursor_u16(&c);
	if (entry_size < (is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) || table > INT64_MAX)
		return false;
	for (uint64_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
		struct segment seg = read_segment(s, table + entry_size * i, is64, c.swap);

		if (seg.type == PT_NOTE && find_in_segment(s, &seg, c.swap, ret_id))
			return true;
	}
	return false;
}

bool build_id_of_memory(const void *data, size_t size, struct build_id *ret_id)
{
	struct source s = {.data = data, .size = size, .fd = -1};

	return size && find_in_source(&s, ret_id);
}

bool build_id_of_fd(int fd, struct build_id *ret_id)
{
	struct source s = {.fd = fd};
	ssize_t n = pread(fd, s.head, sizeof(s.head), 0);

	s.head_size = n > 0 ? (size_t)n : 0;
	return n > 0 && find_in_source(&s, ret_id);
}

bool build_id_of_file(const char *path, uint64_t inode, struct build_id *ret_id)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char again[64];
	struct stat st;
	bool found;

	if (place < 0)
		return false;
	/* Looked at before it is opened: opening a device may start something. */
	if (fstat(place, &st) || !S_ISREG(st.st_mode) || (inode && st.st_ino != inode)) {
		close(place);
		return false;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	close(place);
	if (fd < 0)
		return false;
	found = build_id_of_fd(fd, ret_id);
	close(fd);
	return found;
}

/* ---- the kernel ---- */

static bool find_in_note_file(const char *path, struct build_id *ret_id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char notes[HEAD_BYTES];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, notes, sizeof(notes));
	close(fd);
	return n > 0 && find_in_notes(cursor_of(notes, (size_t)n), 4, ret_id);
}

bool build_id_of_kernel(const struct roots *roots, struct build_id *ret_id)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/kernel/notes", roots->sys);

	return find_in_note_file(path, ret_id);
}

bool build_id_of_module(const struct roots *roots, const char *name, struct build_id *ret_id)
{
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/module/%s/notes/.note.gnu.build-id", roots->sys, name);

	return !strchr(name, '/') && find_in_note_file(path, ret_id);
}

/* ---- cache ---- */

struct build_id_slot {
	uint64_t device, inode;
	bool used;
	struct build_id id;
};

static struct build_id_slot *slot_of(const struct build_id_cache *cache, uint64_t device,
				     uint64_t inode)
{
	uint64_t hash = (inode ^ device << 40) * 0x9e3779b97f4a7c15ull;
	size_t at = (hash >> 32) & (cache->room - 1);

	while (cache->slots[at].used &&
	       (cache->slots[at].device != device || cache->slots[at].inode != inode))
		at = (at + 1) & (cache->room - 1);
	return &cache->slots[at];
}

const struct build_id *build_id_cache_find(const struct build_id_cache *cache, uint64_t device,
					   uint64_t inode)
{
	const struct build_id_slot *slot = cache->room ? slot_of(cache, device, inode) : NULL;

	return slot && slot->used ? &slot->id : NULL;
}

static void cache_grow(struct build_id_cache *cache)
{
	struct build_id_cache larger = {.room = cache->room ? 2 * cache->room : 256};

	larger.slots = xcalloc(larger.room, sizeof(*larger.slots));
	for (size_t i = 0; i < cache->room; i++) {
		const struct build_id_slot *old = &cache->slots[i];

		if (old->used)
			*slot_of(&larger, old->device, old->inode) = *old;
	}
	larger.count = cache->count;
	free(cache->slots);
	*cache = larger;
}

void build_id_cache_add(struct build_id_cache *cache, uint64_t device, uint64_t inode,
			const struct build_id *id)
{
	struct build_id_slot *slot;

	if (cache->count >= CACHE_ENTRIES_MAX)
		return;
	if (2 * (cache->count + 1) > cache->room)
		cache_grow(cache);
	slot = slot_of(cache, device, inode);
	cache->count += !slot->used;
	*slot = (struct build_id_slot){device, inode, true, *id};
}

void build_id_cache_release(struct build_id_cache *cache)
{
	free(cache->slots);
	*cache = (struct build_id_cache){};
}
