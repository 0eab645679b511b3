#include "cmd/script.h"
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

static int add_share(struct script *s, const char *text, struct err *e)
{
	uint64_t first = s->data->facts.first_sample_ns, last = s->data->facts.last_sample_ns;
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
	vec_push(&s->ranges, (struct script_range){first + (uint64_t)llround(from * whole),
						   first + (uint64_t)llround(to * whole)});
	return 0;
}

static int add_span(struct script *s, const char *text, struct err *e)
{
	size_t first = strcspn(text, ",");
	struct script_range range = {};

	if (!parse_seconds(text, first, &range.from_ns) ||
	    (text[first] &&
	     !parse_seconds(text + first + 1, strlen(text + first + 1), &range.to_ns)))
		return err_set(e, EINVAL,
			       "--time: '%s' is not a time; give seconds (START,STOP, either may "
			       "be missing) or shares (10%%/2, 10%%-20%%)",
			       text);
	if (range.to_ns && range.to_ns < range.from_ns)
		return err_set(e, EINVAL, "--time: '%s' ends before it begins", text);
	vec_push(&s->ranges, range);
	return 0;
}

static int parse_times(struct script *s, const char *text, struct err *e)
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
		int r = shares ? add_share(s, *word, e) : add_span(s, *word, e);

		if (r < 0)
			return r;
	}
	return 0;
}

bool script_time_wanted(const struct script *s, uint64_t time_ns)
{
	if (!s->ranges.len || !time_ns)
		return true;
	/* One behind the other, the next begins where the last one ended: that belongs to one. */
	for (size_t i = 0; i < s->ranges.len; i++) {
		const struct script_range *range = &s->ranges.items[i];
		bool last = i + 1 == s->ranges.len;

		if (time_ns >= range->from_ns &&
		    (!range->to_ns || time_ns < range->to_ns || (last && time_ns == range->to_ns)))
			return true;
	}
	return false;
}

/* ---- tasks and CPUs ---- */

static int parse_numbers(const char *option, const char *text, struct script *s, bool tids,
			 struct err *e)
{
	CLEANUP(strvec_release) strvec words = {};

	text_split(text, ",", &words);
	vec_each(&words, word) {
		uint64_t number;

		if (!parse_u64(*word, &number) || number > UINT32_MAX)
			return err_set(e, EINVAL, "%s: '%s' is not a number", option, *word);
		if (tids)
			vec_push(&s->tids, (uint32_t)number);
		else
			vec_push(&s->pids, (uint32_t)number);
	}
	return words.len ? 0 : err_set(e, EINVAL, "%s: no number is given", option);
}

int script_filters_make(struct script *s, struct err *e)
{
	if (s->o.comms)
		text_split(s->o.comms, ",", &s->comms);
	if (s->o.comms && !s->comms.len)
		return err_set(e, EINVAL, "--comms: no name is given");
	if (s->o.pids && parse_numbers("--pid", s->o.pids, s, false, e) < 0)
		return -EINVAL;
	if (s->o.tids && parse_numbers("--tid", s->o.tids, s, true, e) < 0)
		return -EINVAL;
	if (s->o.cpus && !parse_cpulist(s->o.cpus, CPU_LIMIT, &s->cpus, &s->cpu_count))
		return err_set(e, EINVAL, "--cpu: '%s' is not a list of CPUs (0,2-3)", s->o.cpus);
	return s->o.time ? parse_times(s, s->o.time, e) : 0;
}

bool script_cpu_wanted(const struct script *s, uint32_t cpu)
{
	if (!s->o.cpus || cpu == UINT32_MAX)
		return true;
	for (size_t i = 0; i < s->cpu_count; i++)
		if ((uint32_t)s->cpus[i] == cpu)
			return true;
	return false;
}

bool script_thread_wanted(const struct script *s, const struct thread *thread)
{
	bool wanted = !s->comms.len;

	vec_each(&s->comms, comm)
		wanted |= !strcmp(*comm, thread->comm);
	if (!wanted)
		return false;
	wanted = !s->pids.len;
	vec_each(&s->pids, pid)
		wanted |= *pid == thread->pid;
	if (!wanted)
		return false;
	wanted = !s->tids.len;
	vec_each(&s->tids, tid)
		wanted |= *tid == thread->tid;
	return wanted;
}
