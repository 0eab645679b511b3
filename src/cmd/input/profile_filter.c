/* Filters the samples of text input, with the same filter as for perf.data. */
#include "cmd/input/profile_input.h"
#include "import/text.h"

#include <string.h>

#define NAME_MAX_BYTES 256 /* longer names of events and threads are cut before comparing */

static const char *ended(char to[NAME_MAX_BYTES], const char *text, size_t len)
{
	if (len >= NAME_MAX_BYTES)
		len = NAME_MAX_BYTES - 1;
	memcpy(to, text, len);
	to[len] = '\0';
	return to;
}

int text_filter_make(struct filter *f, const struct sample_filter *o, struct err *e)
{
	/* The time span of text is not known in advance: filter_make() refuses shares of it. */
	struct perfdata_facts nothing = {};

	return filter_make(f, o, &nothing, e);
}

bool text_filter_wants_event(void *ctx, const char *name)
{
	return filter_event(ctx, name);
}

/* A field that the sample lacks does not exclude it. profile_input_load() refuses filters on fields
 * that no sample of the text has. */
bool text_filter_wants(void *ctx, const struct text_sample *s)
{
	const struct filter *f = ctx;
	char name[NAME_MAX_BYTES];

	if (f->events.len && s->event && !filter_event(f, ended(name, s->event, s->event_len)))
		return false;
	if (s->has_thread && (f->comms.len || f->pids.len || f->tids.len) &&
	    !filter_task(f, s->pid, s->tid, ended(name, s->comm, s->comm_len)))
		return false;
	if (s->has_cpu && !filter_cpu(f, s->cpu))
		return false;
	return !s->has_time || filter_time(f, s->time_ns);
}
