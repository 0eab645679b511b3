#include "resolve/filter.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define RANGES_MAX 4096

/* ---- --time ---- */

/* "12.5" in nanoseconds, digit by digit: a double would not hold them. */
static bool parse_seconds(const char *text, size_t len, uint64_t *ret_ns)
{
	uint64_t seconds = 0, ns = 0, unit = NS_PER_SEC;
	size_t i = 0;

	for (; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
		if (seconds > UINT64_MAX / NS_PER_SEC / 10 - 1)
			return false;
		seconds = seconds * 10 + (uint64_t)(text[i] - '0');
	}
	if (i < len && text[i] == '.')
		for (i++; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
			unit /= 10;
			ns += (uint64_t)(text[i] - '0') * unit;
		}
	*ret_ns = seconds * NS_PER_SEC + ns;
	return i == len;
}

static bool parse_percent(const char *text, size_t len, double *ret_share)
{
	CLEANUP(free_ptr) char *copy = NULL;

	if (len < 2 || text[len - 1] != '%')
		return false;
	copy = xstrndup(text, len - 1);
	if (!parse_double(copy, ret_share) || *ret_share < 0 || *ret_share > 100)
		return false;
	*ret_share /= 100;
	return true;
}

/* "10%/2" the second tenth, "10%-20%", "10%" the first. */
static bool parse_share(const char *text, double *ret_from, double *ret_to)
{
	size_t first = strcspn(text, "/-");
	uint64_t number = 1;
	double share;

	if (!parse_percent(text, first, &share))
		return false;
	if (text[first] == '-') {
		*ret_from = share;
		text += first + 1;
		return parse_percent(text, strlen(text), ret_to) && *ret_from <= *ret_to;
	}
	if (text[first] == '/' &&
	    (!parse_u64(text + first + 1, &number) || !number || number > 100000))
		return false;
	*ret_from = share * (double)(number - 1);
	*ret_to = share * (double)number;
	return *ret_from < 1;
}

static int add_share(struct filter *f, const char *text, struct err *e)
{
	uint64_t first = f->first_ns, last = f->last_ns;
	double from, to, whole = (double)(last - first);

	if (!parse_share(text, &from, &to))
		return err_set(e, EINVAL,
			       "--time: '%s' is not a share of the time (10%%/2, or 10%%-20%%)",
			       text);
	if (!last || last < first)
		return err_set(e, EINVAL,
			       "--time: '%s' cannot be worked out, the file does not say when its "
			       "first and last samples were; give seconds (START,STOP)",
			       text);
	vec_push(&f->ranges, (struct time_range){first + (uint64_t)llround(from * whole),
						 first + (uint64_t)llround(to * whole)});
	return 0;
}

static int add_span(struct filter *f, const char *text, struct err *e)
{
	size_t first = strcspn(text, ",");
	struct time_range range = {};

	if (!parse_seconds(text, first, &range.from_ns) ||
	    (text[first] &&
	     !parse_seconds(text + first + 1, strlen(text + first + 1), &range.to_ns)))
		return err_set(e, EINVAL,
			       "--time: '%s' is not a time; give seconds (START,STOP, either may "
			       "be missing) or shares (10%%/2, 10%%-20%%)",
			       text);
	if (range.to_ns && range.to_ns < range.from_ns)
		return err_set(e, EINVAL, "--time: '%s' ends before it begins", text);
	vec_push(&f->ranges, range);
	return 0;
}

static int parse_times(struct filter *f, const char *text, struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};
	bool shares = strchr(text, '%') != NULL;

	/* Shares are separated by commas, spans have one inside. */
	text_split(text, shares ? ", " : " ", &words);
	if (!words.len)
		return err_set(e, EINVAL, "--time: no time is given");
	if (words.len > RANGES_MAX)
		return err_set(e, E2BIG, "--time: more than %d ranges", RANGES_MAX);
	vec_each(&words, word) {
		int r = shares ? add_share(f, *word, e) : add_span(f, *word, e);

		if (r < 0)
			return r;
	}
	return 0;
}

bool filter_time(const struct filter *f, uint64_t time_ns)
{
	if (!f->ranges.len || !time_ns)
		return true;
	/* One behind the other, the next begins where the last one ended: that belongs to one. */
	for (size_t i = 0; i < f->ranges.len; i++) {
		const struct time_range *range = &f->ranges.items[i];
		bool last = i + 1 == f->ranges.len;

		if (time_ns >= range->from_ns &&
		    (!range->to_ns || time_ns < range->to_ns || (last && time_ns == range->to_ns)))
			return true;
	}
	return false;
}

/* ---- tasks and CPUs ---- */

static int parse_numbers(const char *option, const char *text, struct filter *f, bool tids,
			 struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(text, ",", &words);
	vec_each(&words, word) {
		uint64_t number;

		if (!parse_u64(*word, &number) || number > UINT32_MAX)
			return err_set(e, EINVAL, "%s: '%s' is not a number", option, *word);
		if (tids)
			vec_push(&f->tids, (uint32_t)number);
		else
			vec_push(&f->pids, (uint32_t)number);
	}
	return words.len ? 0 : err_set(e, EINVAL, "%s: no number is given", option);
}

int filter_make(struct filter *f, const struct sample_filter *o, const struct perfdata_facts *facts,
		struct err *e)
{
	f->first_ns = facts->first_sample_ns;
	f->last_ns = facts->last_sample_ns;
	if (o->comms)
		text_split(o->comms, ",", &f->comms);
	if (o->comms && !f->comms.len)
		return err_set(e, EINVAL, "--comm: no name is given");
	if (o->events)
		text_split(o->events, ",", &f->events);
	if (o->pids && parse_numbers("--pid", o->pids, f, false, e) < 0)
		return -EINVAL;
	if (o->tids && parse_numbers("--tid", o->tids, f, true, e) < 0)
		return -EINVAL;
	f->by_cpu = o->cpus != NULL;
	if (o->cpus && !parse_cpulist(o->cpus, CPU_LIMIT, &f->cpus, &f->cpu_count))
		return err_set(e, EINVAL, "--cpu: '%s' is not a list of CPUs (0,2-3)", o->cpus);
	return o->time ? parse_times(f, o->time, e) : 0;
}

void filter_release(struct filter *f)
{
	vec_release(&f->ranges);
	strvec_release(&f->comms);
	strvec_release(&f->events);
	vec_release(&f->pids);
	vec_release(&f->tids);
	free(f->cpus);
}

bool filter_event(const struct filter *f, const char *name)
{
	if (!f->events.len)
		return true;
	vec_each(&f->events, event) {
		size_t len = strlen(*event);

		if (!strncmp(*event, name, len) && (!name[len] || name[len] == ':'))
			return true;
	}
	return false;
}

bool filter_cpu(const struct filter *f, uint32_t cpu)
{
	if (!f->by_cpu || cpu == UINT32_MAX)
		return true;
	for (size_t i = 0; i < f->cpu_count; i++)
		if ((uint32_t)f->cpus[i] == cpu)
			return true;
	return false;
}

bool filter_task(const struct filter *f, uint32_t pid, uint32_t tid, const char *comm)
{
	bool wanted = !f->comms.len;

	vec_each(&f->comms, known)
		wanted |= !strcmp(*known, comm);
	if (!wanted)
		return false;
	wanted = !f->pids.len;
	vec_each(&f->pids, known)
		wanted |= *known == pid;
	if (!wanted)
		return false;
	wanted = !f->tids.len;
	vec_each(&f->tids, known)
		wanted |= *known == tid;
	return wanted;
}
