#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		e->code = code;
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
	}
	return -code;
}

void err_prefix(struct err *e, const char *fmt, ...)
{
	char context[sizeof(e->text)], old[sizeof(e->text)];
	va_list ap;
	int n;

	if (!e)
		return;
	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	memcpy(old, e->text, sizeof(old));
	n = snprintf(e->text, sizeof(e->text), "%s: ", context);
	if (n > 0 && (size_t)n < sizeof(e->text))
		snprintf(e->text + n, sizeof(e->text) - (size_t)n, "%.*s",
			 (int)(sizeof(e->text) - (size_t)n - 1), old);
}
