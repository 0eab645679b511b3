#include "event/filter.h"
#include "base/fs.h"
#include "base/predicate/predicate.h"

#include <errno.h>
#include <string.h>

/* What the kernel lets every filter use, unless the tracepoint has a field of that name. */
static const struct {
	const char *name;
	enum predicate_type type;
} kernel_fields[] = {
	{"CPU", PREDICATE_SIGNED},
	{"COMM", PREDICATE_TEXT},
	{"cpu", PREDICATE_SIGNED},
	{"comm", PREDICATE_TEXT},
};

/* The kernel decides by the words of the type, too. */
static enum predicate_type type_of(const struct tracepoint_field *f)
{
	bool pointer = !strcmp(f->type, "char *") || !strcmp(f->type, "const char *");

	if (pointer || ((f->is_array || f->place != FIELD_HERE) && strstr(f->type, "char")))
		return PREDICATE_TEXT;
	if (f->place != FIELD_HERE ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return PREDICATE_OPAQUE;
	return f->is_signed ? PREDICATE_SIGNED : PREDICATE_UNSIGNED;
}

static bool is_named(const char *name, const char *word, size_t len)
{
	return strlen(name) == len && !memcmp(name, word, len);
}

static int find_field(const void *ctx, const char *name, size_t len, enum predicate_type *ret_type)
{
	const struct tracepoint_format *format = ctx;

	vec_each(&format->fields, f) {
		if (!is_named(f->name, name, len))
			continue;
		*ret_type = type_of(f);
		return (int)(f - format->fields.items);
	}
	for (size_t i = 0; i < ARRAY_LEN(kernel_fields); i++) {
		if (!is_named(kernel_fields[i].name, name, len))
			continue;
		*ret_type = kernel_fields[i].type;
		return (int)(format->fields.len + i);
	}
	return -1;
}

/* Of a task's name, too, the kernel looks at all bytes. */
static bool in_array(const void *ctx, unsigned field)
{
	const struct tracepoint_format *format = ctx;
	const struct tracepoint_field *f;

	if (field >= format->fields.len)
		return true;
	f = &format->fields.items[field];
	return f->is_array && f->place == FIELD_HERE;
}

/* The tracepoint's own fields, then the kernel's, then those that all tracepoints have. */
static const char *name_field(const void *ctx, size_t n)
{
	const struct tracepoint_format *format = ctx;
	size_t own = format->fields.len - format->common_count;

	if (n < own)
		return format->fields.items[format->common_count + n].name;
	n -= own;
	if (n < ARRAY_LEN(kernel_fields))
		return kernel_fields[n].name;
	n -= ARRAY_LEN(kernel_fields);
	return n < format->common_count ? format->fields.items[n].name : NULL;
}

int event_filter_check_format(const struct tracepoint_format *format, const char *name,
			      const char *filter, struct err *e)
{
	const struct predicate_names names = {.find = find_field,
					      .name = name_field,
					      .ctx = format,
					      .subject = name,
					      .for_kernel = true,
					      .in_array = in_array};
	struct predicate *p = NULL;
	int r = predicate_parse(&p, filter, &names, e);

	predicate_free(p);
	return r;
}

int event_filter_check(const struct roots *roots, const struct event *event, const char *filter,
		       struct err *e)
{
	const struct tracepoint_abi abi = {.long_bytes = sizeof(long)};
	CLEANUP(tracepoint_format_release) struct tracepoint_format format = {};
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(free_ptr) char *system = NULL;
	CLEANUP(free_ptr) char *text = NULL;
	const char *colon = event->tracepoint ? strchr(event->tracepoint, ':') : NULL;

	if (!colon)
		return err_set(e, EINVAL,
			       "filters are for tracepoints: '%s' is not one, it has no fields to "
			       "filter by",
			       event->name);
	system = xstrndup(event->tracepoint, (size_t)(colon - event->tracepoint));
	path = xasprintf("%s/events/%s/%s/format", roots->tracefs, system, colon + 1);
	/* The kernel has a grammar of its own for events of ftrace. */
	if (!roots->tracefs[0] || !strcmp(system, "ftrace") ||
	    fs_read(path, FORMAT_TEXT_LIMIT, &text) < 0 ||
	    tracepoint_format_parse(&format, system, text, strlen(text), abi, NULL) < 0)
		return 0;
	return event_filter_check_format(&format, event->tracepoint, filter, e);
}
