#include "base/alloc.h"
#include "base/reserve.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES   (2u << 20)
#define LARGE_ARRAY_BYTES (8u << 20)

static void *or_abort(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Once more with what the reserve was, if there is one. */
#define WITH_RESERVE(call)                                                                         \
	({                                                                                         \
		void *p_ = (call);                                                                 \
		or_abort(p_ || !reserve_use() ? p_ : (call));                                      \
	})

void *xcalloc(size_t count, size_t size)
{
	return WITH_RESERVE(calloc(count ? count : 1, size ? size : 1));
}

/* Faulting in small pages one by one takes longer than most of what is done with a large array. */
static void use_huge_pages(void *array, size_t bytes)
{
	uintptr_t begin = ((uintptr_t)array + HUGE_PAGE_BYTES - 1) & -(uintptr_t)HUGE_PAGE_BYTES;
	uintptr_t end = ((uintptr_t)array + bytes) & -(uintptr_t)HUGE_PAGE_BYTES;

	if (end > begin)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

void *xrealloc(void *old, size_t count, size_t size)
{
	void *array = WITH_RESERVE(reallocarray(old, count ? count : 1, size ? size : 1));

	if (count * size >= LARGE_ARRAY_BYTES)
		use_huge_pages(array, count * size);
	return array;
}

char *xstrdup(const char *s)
{
	return WITH_RESERVE(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return WITH_RESERVE(strndup(s, len));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vasprintf(&s, fmt, ap);
	if (n < 0 && (!reserve_use() || vasprintf(&s, fmt, again) < 0))
		abort();
	va_end(again);
	va_end(ap);
	return s;
}

void *alloc_checked(size_t count, size_t size, size_t limit_bytes)
{
	if (size && count > limit_bytes / size)
		return NULL;
	return calloc(count ? count : 1, size ? size : 1);
}

void free_ptr(void *ptr_to_ptr)
{
	free(*(void **)ptr_to_ptr);
}

#define KEPT_BYTES  (32 << 20)
#define SMALL_BYTES (256 << 10)

void alloc_keep_freed(void)
{
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES / 2);
}

void alloc_share_arenas(void)
{
	mallopt(M_ARENA_MAX, ALLOC_ARENAS_MAX);
}

void alloc_return_freed(void)
{
	mallopt(M_TRIM_THRESHOLD, SMALL_BYTES);
	mallopt(M_MMAP_THRESHOLD, SMALL_BYTES);
}

void alloc_give_back(void)
{
	malloc_trim(0);
}

/* ---- tables ---- */

static size_t mapped_bytes(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		abort();
	return bytes < HUGE_PAGE_BYTES ? 0
				       : (bytes + HUGE_PAGE_BYTES - 1) & -(size_t)HUGE_PAGE_BYTES;
}

static void *map_pages(size_t bytes)
{
	void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

void *table_alloc(size_t count, size_t size)
{
	size_t bytes = mapped_bytes(count, size), before;
	char *room;

	if (!bytes)
		return xcalloc(count, size);
	/* One page more than needed, so that an aligned piece is in it; the rest is given back. */
	room = WITH_RESERVE(map_pages(bytes + HUGE_PAGE_BYTES));
	before = -(uintptr_t)room & (HUGE_PAGE_BYTES - 1);
	if (before)
		munmap(room, before);
	munmap(room + before + bytes, HUGE_PAGE_BYTES - before);
	madvise(room + before, bytes, MADV_HUGEPAGE);
	return room + before;
}

void *table_double(void *table, size_t count, size_t size)
{
	size_t old = mapped_bytes(count, size), now = mapped_bytes(count * 2, size);
	char *room;

	if (!now) {
		room = xrealloc(table, count * 2, size);
		memset(room + count * size, 0, count * size);
		return room;
	}
	room = table_alloc(count * 2, size);
	if (!old) {
		memcpy(room, table, count * size);
		free(table);
		return room;
	}
	/* Its pages are moved, not copied, to where they are aligned again. */
	if (mremap(table, old, now, MREMAP_MAYMOVE | MREMAP_FIXED, room) == MAP_FAILED)
		abort();
	return room;
}

void table_free(void *table, size_t count, size_t size)
{
	size_t bytes = mapped_bytes(count, size);

	if (!table)
		return;
	if (bytes)
		munmap(table, bytes);
	else
		free(table);
}
