/* Which samples of text count: what resolve_file() does for perf.data by the same options. */
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/profile_input.h"
#include "import/text.h"

#include <errno.h>
#include <string.h>

#define RANGES_MAX 4096

struct number_range {
	uint64_t from, to; /* both inside */
};

typedef VEC(struct number_range) range_list;

struct text_filter {
	strvec comms, events;
	range_list pids, tids, cpus, times;
};

/* "12.5" in nanoseconds, digit by digit: a double would not hold them. */
static bool parse_seconds(const char *text, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0, unit = NS_PER_SEC;

	for (; *text >= '0' && *text <= '9'; text++) {
		if (seconds > UINT64_MAX / NS_PER_SEC / 10 - 1)
			return false;
		seconds = seconds * 10 + (uint64_t)(*text - '0');
	}
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++) {
			unit /= 10;
			ns += (uint64_t)(*text - '0') * unit;
		}
	*ret_ns = seconds * NS_PER_SEC + ns;
	return !*text;
}

static int parse_span(const char *text, range_list *ret, struct err *e)
{
	CLEANUP(free_ptr) char *copy = xstrdup(text);
	struct number_range span = {0, UINT64_MAX};
	char *comma = strchr(copy, ',');

	if (strchr(text, '%'))
		return err_set(e, EINVAL,
			       "--time: '%s' cannot be worked out, text does not say beforehand "
			       "how long it is; give seconds (FROM,TO)",
			       text);
	if (comma)
		*comma++ = '\0';
	if (!parse_seconds(copy, &span.from) ||
	    (comma && *comma && !parse_seconds(comma, &span.to)))
		return err_set(e, EINVAL, "--time: '%s' is not a time; give seconds (FROM,TO)",
			       text);
	if (span.to < span.from)
		return err_set(e, EINVAL, "--time: '%s' ends before it begins", text);
	vec_push(ret, span);
	return 0;
}

static int parse_times(const char *text, range_list *ret, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(text, " ", &words);
	if (!words.len || words.len > RANGES_MAX)
		return err_set(e, EINVAL, "--time: give seconds (FROM,TO)");
	vec_each(&words, word) {
		int r = parse_span(*word, ret, e);

		if (r < 0)
			return r;
	}
	return 0;
}

/* "1,2,7-9" */
static int parse_numbers(const char *option, const char *text, range_list *ret, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(text, ",", &words);
	vec_each(&words, word) {
		struct number_range r;
		char *dash = strchr(*word, '-');

		if (dash)
			*dash = '\0';
		if (!parse_u64(*word, &r.from) || !parse_u64(dash ? dash + 1 : *word, &r.to))
			return err_set(e, EINVAL, "%s: '%s' is not a list of numbers (1,2,7-9)",
				       option, text);
		vec_push(ret, r);
	}
	if (!words.len || words.len > RANGES_MAX)
		return err_set(e, EINVAL, "%s: no number is given, or too many", option);
	return 0;
}

int text_filter_new(const struct sample_filter *f, struct text_filter **ret, struct err *e)
{
	struct text_filter *new = xcalloc(1, sizeof(*new));
	int r = 0;

	if (f->comms)
		text_split(f->comms, ",", &new->comms);
	if (f->events)
		text_split(f->events, ",", &new->events);
	if (f->pids)
		r = parse_numbers("--pid", f->pids, &new->pids, e);
	if (!r && f->tids)
		r = parse_numbers("--tid", f->tids, &new->tids, e);
	if (!r && f->cpus)
		r = parse_numbers("--cpu", f->cpus, &new->cpus, e);
	if (!r && f->time)
		r = parse_times(f->time, &new->times, e);
	if (r < 0) {
		text_filter_free(new);
		return r;
	}
	*ret = new;
	return 0;
}

void text_filter_free(struct text_filter *f)
{
	if (!f)
		return;
	strvec_release(&f->comms);
	strvec_release(&f->events);
	vec_release(&f->pids);
	vec_release(&f->tids);
	vec_release(&f->cpus);
	vec_release(&f->times);
	free(f);
}

static bool has_name(const strvec *names, const char *name, size_t len)
{
	if (!names->len)
		return true;
	vec_each(names, n)
		if (strlen(*n) == len && !memcmp(*n, name, len))
			return true;
	return false;
}

static bool has_number(const range_list *ranges, uint64_t n)
{
	if (!ranges->len)
		return true;
	vec_each(ranges, r)
		if (n >= r->from && n <= r->to)
			return true;
	return false;
}

/* What a sample does not say cannot exclude it; profile_input_load() refuses such a filter. */
bool text_filter_wants(void *ctx, const struct text_sample *s)
{
	const struct text_filter *f = ctx;

	return (!s->event || has_name(&f->events, s->event, s->event_len)) &&
	       (!s->comm || has_name(&f->comms, s->comm, s->comm_len)) &&
	       (!s->has_thread || (has_number(&f->pids, s->pid) && has_number(&f->tids, s->tid))) &&
	       (!s->has_cpu || has_number(&f->cpus, s->cpu)) &&
	       (!s->has_time || has_number(&f->times, s->time_ns));
}
