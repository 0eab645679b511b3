#include "perfdata/build_id_table.h"
#include "perf/record.h"
#include "perf/synth_read.h"

#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX  100000
#define NAME_MAX_LEN 4096
#define NAME_ALIGN   64u

struct entry {
	char *name;
	uint64_t hash;
	int32_t pid;
	uint16_t cpumode;
	struct build_id id;
};

struct build_id_table {
	struct entry *entries;
	size_t count, cap;
	uint32_t *slots; /* entry's number + 1, by hash */
	size_t room;     /* a power of two */
};

struct build_id_table *build_id_table_new(void)
{
	return xcalloc(1, sizeof(struct build_id_table));
}

void build_id_table_free(struct build_id_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		free(t->entries[i].name);
	free(t->entries);
	free(t->slots);
	free(t);
}

size_t build_id_table_count(const struct build_id_table *t)
{
	return t->count;
}

static uint64_t mix(uint64_t hash, const void *mem, size_t size)
{
	const unsigned char *bytes = mem;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return hash;
}

static uint64_t hash_of(const struct entry *e)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	hash = mix(hash, &e->pid, sizeof(e->pid));
	hash = mix(hash, &e->cpumode, sizeof(e->cpumode));
	hash = mix(hash, e->id.bytes, e->id.size);
	return mix(hash, e->name, strlen(e->name));
}

static bool same(const struct entry *a, const struct entry *b)
{
	return a->hash == b->hash && a->pid == b->pid && a->cpumode == b->cpumode &&
	       a->id.size == b->id.size && !memcmp(a->id.bytes, b->id.bytes, a->id.size) &&
	       !strcmp(a->name, b->name);
}

/* The slot of an equal entry, or the empty one where it would go. */
static uint32_t *slot_of(const struct build_id_table *t, const struct entry *e)
{
	size_t at = (e->hash >> 20) & (t->room - 1);

	while (t->slots[at] && !same(&t->entries[t->slots[at] - 1], e))
		at = (at + 1) & (t->room - 1);
	return &t->slots[at];
}

static void grow(struct build_id_table *t)
{
	t->room = t->room ? 2 * t->room : 1024;
	free(t->slots);
	t->slots = xcalloc(t->room, sizeof(*t->slots));
	for (size_t i = 0; i < t->count; i++)
		*slot_of(t, &t->entries[i]) = (uint32_t)i + 1;
}

void build_id_table_add(struct build_id_table *t, int32_t pid, uint16_t cpumode,
			const struct build_id *id, const char *name)
{
	struct entry e = {.name = (char *)name, .pid = pid, .cpumode = cpumode, .id = *id};
	uint32_t *slot;

	if (!id->size || id->size > BUILD_ID_BYTES_MAX || t->count >= ENTRIES_MAX)
		return;
	if (2 * (t->count + 1) > t->room)
		grow(t);
	e.hash = hash_of(&e);
	slot = slot_of(t, &e);
	if (*slot)
		return;
	if (t->count == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 256;
		t->entries = xrealloc(t->entries, t->cap, sizeof(*t->entries));
	}
	e.name = xstrndup(name, NAME_MAX_LEN);
	t->entries[t->count] = e;
	*slot = (uint32_t)++t->count;
}

static void see_mmap2(struct build_id_table *t, const unsigned char *record)
{
	/* The name ends by itself: where the record's id begins does not matter. */
	static const struct layout without_id;
	struct build_id id = {};
	const char *reason;
	struct record r;

	if (record_decode(&without_id, record, &r, &reason) < 0 || !r.mmap.build_id)
		return;
	id.size = r.mmap.build_id_size;
	memcpy(id.bytes, r.mmap.build_id, sizeof(id.bytes));
	build_id_table_add(t, -1, r.misc & PERF_RECORD_MISC_CPUMODE_MASK, &id, r.mmap.filename);
}

void build_id_table_see(struct build_id_table *t, const void *records, size_t size)
{
	const unsigned char *bytes = records;
	struct perf_event_header header;

	for (size_t at = 0; size - at >= sizeof(header); at += header.size) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			return;
		if (header.type == PERF_RECORD_MMAP2)
			see_mmap2(t, bytes + at);
	}
}

struct kernel_visit {
	struct build_id_table *t;
	const struct roots *roots;
};

static bool visit_module(void *ctx, const char *name, uint64_t address, uint64_t size)
{
	struct kernel_visit *v = ctx;
	struct build_id id;
	char text[160];

	(void)address;
	(void)size;
	snprintf(text, sizeof(text), "[%s]", name);
	if (build_id_of_module(v->roots, name, &id))
		build_id_table_add(v->t, -1, PERF_RECORD_MISC_KERNEL, &id, text);
	return true;
}

void build_id_table_add_kernel(struct build_id_table *t, const struct roots *roots)
{
	struct kernel_visit v = {t, roots};
	struct build_id id;

	if (build_id_of_kernel(roots, &id))
		build_id_table_add(t, -1, PERF_RECORD_MISC_KERNEL, &id, "[kernel.kallsyms]");
	synth_read_modules(roots, visit_module, &v);
}

void build_id_table_feature(const struct build_id_table *t, struct feature_set *set)
{
	static const char zeros[NAME_ALIGN];
	struct buf *b;

	if (!t->count)
		return;
	b = feature_set_begin(set, FEATURE_BUILD_ID);
	for (size_t i = 0; i < t->count; i++) {
		const struct entry *e = &t->entries[i];
		struct perf_event_header header = {.misc = e->cpumode | MISC_BUILD_ID_SIZE};
		size_t len = strlen(e->name);
		size_t room = (len + NAME_ALIGN) / NAME_ALIGN * NAME_ALIGN;

		header.size = (uint16_t)(sizeof(header) + 28 + room);
		buf_add_mem(b, &header, sizeof(header));
		feature_add_u32(b, (uint32_t)e->pid);
		buf_add_mem(b, e->id.bytes, sizeof(e->id.bytes));
		feature_add_u32(b, e->id.size);
		buf_add_mem(b, e->name, len);
		buf_add_mem(b, zeros, room - len);
	}
}
