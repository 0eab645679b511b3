/*
 * Memory: allocations of our own abort when the system is out of memory, unless a reserve was set aside
 * (base/reserve.h). What is sized by input goes through alloc_checked(), which refuses sizes above a named limit and
 * may fail, or bounds its size before.
 */
#ifndef TACHO_BASE_ALLOC_H
#define TACHO_BASE_ALLOC_H

#include <stddef.h>
#include <stdlib.h>

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define ARRAY_LEN(a)           (sizeof(a) / sizeof((a)[0]))

/* Scope cleanup: `CLEANUP(buf_release) struct buf b = {};` */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/* libiberty, which is linked for its demanglers, has functions of these names with other parameters. */
#define xcalloc   base_xcalloc
#define xrealloc  base_xrealloc
#define xstrdup   base_xstrdup
#define xstrndup  base_xstrndup
#define xasprintf base_xasprintf

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t count, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t len);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* Zeroed memory for @count items, or NULL when that is more than @limit_bytes. */
void *alloc_checked(size_t count, size_t size, size_t limit_bytes);

/*
 * Zeroed memory for a hash table, which is touched all over: large ones are put into huge pages,
 * because faulting in small ones one by one would take longer than using them.
 */
void *table_alloc(size_t count, size_t size);
/* The same table with twice as many items; the new ones are zero. */
void *table_double(void *table, size_t count, size_t size);
/* With the same numbers; NULL is fine. */
void table_free(void *table, size_t count, size_t size);

/*
 * Memory that was freed is kept to be used again, up to some megabytes a thread, because getting it from
 * the kernel page by page takes as long as using it. Whoever is then idle gives it back.
 */
void alloc_keep_freed(void);
void alloc_give_back(void);
/*
 * For a process with many threads, before it starts them: they share ALLOC_ARENAS_MAX arenas. Otherwise each
 * gets one of its own, up to 8 a CPU, and what is free at the end of it cannot be given back.
 */
#define ALLOC_ARENAS_MAX 2
void alloc_share_arenas(void);
/* For who goes on for days and seldom needs much: what is large goes back at once when it is freed. */
void alloc_return_freed(void);

/* For CLEANUP(): frees the pointer that the variable holds. */
void free_ptr(void *ptr_to_ptr);

#endif
