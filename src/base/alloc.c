#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *or_abort(void *p)
{
	if (!p)
		abort();
	return p;
}

void *xcalloc(size_t count, size_t size)
{
	return or_abort(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t count, size_t size)
{
	return or_abort(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return or_abort(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return or_abort(strndup(s, len));
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
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
