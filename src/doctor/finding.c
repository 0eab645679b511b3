#include "doctor/doctor.h"

#define FINDING_BYTES_MAX 1024

/* Names of processes, PMUs and vendors come from outside: they must not control the terminal. */
static void add_plain(struct buf *b, const char *fmt, va_list ap)
{
	CLEANUP(buf_release) struct buf raw = {};

	buf_addv(&raw, fmt, ap);
	if (raw.len) {
		doctor_make_plain(raw.s);
		buf_add_mem(b, raw.s, raw.len < FINDING_BYTES_MAX ? raw.len : FINDING_BYTES_MAX);
	}
}

void finding_set(struct finding *f, enum check_status status, const char *fmt, ...)
{
	va_list ap;

	f->status = status;
	buf_clear(&f->text);
	va_start(ap, fmt);
	add_plain(&f->text, fmt, ap);
	va_end(ap);
}

void finding_cost(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&f->cost);
	va_start(ap, fmt);
	add_plain(&f->cost, fmt, ap);
	va_end(ap);
}

void finding_command(struct finding *f, const char *fix_name, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&f->fix);
	f->fix_is_command = true;
	f->fix_name = fix_name;
	va_start(ap, fmt);
	add_plain(&f->fix, fmt, ap);
	va_end(ap);
}

void finding_advice(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	buf_clear(&f->fix);
	f->fix_is_command = false;
	f->fix_name = NULL;
	va_start(ap, fmt);
	add_plain(&f->fix, fmt, ap);
	va_end(ap);
}

void finding_untested(struct finding *f)
{
	finding_set(f, CHECK_INFO, NOT_TESTED);
}

void finding_unknown(const struct doctor *d, struct finding *f, const char *file)
{
	finding_set(f, CHECK_INFO,
		    d->roots.foreign ? "not known: no %s in this copy" : "this kernel has no %s",
		    file);
}

void finding_release(struct finding *f)
{
	buf_release(&f->text);
	buf_release(&f->cost);
	buf_release(&f->fix);
}

const char *status_word(enum check_status status)
{
	static const char *const words[CHECK_STATUS_COUNT] = {"ok", "limited", "missing", "info"};

	return words[status];
}
