#include "import/perf_script.h"

#include <string.h>

struct word {
	const char *s;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct word next_word(const char **at, const char *end)
{
	struct word w;

	while (*at < end && is_blank(**at))
		(*at)++;
	w.s = *at;
	while (*at < end && !is_blank(**at))
		(*at)++;
	w.len = (size_t)(*at - w.s);
	return w;
}

static bool number_of(const char *s, size_t len, uint64_t *ret)
{
	uint64_t v = 0;

	if (!len || len > 19)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(s[i]))
			return false;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	*ret = v;
	return true;
}

/* "12", "12/34", "-1": a task that is gone. */
static bool thread_of(struct word w, struct text_sample *ret)
{
	const char *slash = memchr(w.s, '/', w.len);
	size_t first = slash ? (size_t)(slash - w.s) : w.len;
	uint64_t pid, tid;

	if (w.len == 2 && !memcmp(w.s, "-1", 2)) {
		ret->pid = ret->tid = 0;
		return true;
	}
	if (!number_of(w.s, first, &pid) || pid > UINT32_MAX)
		return false;
	tid = pid;
	if (slash && (!number_of(slash + 1, w.len - first - 1, &tid) || tid > UINT32_MAX))
		return false;
	ret->pid = (uint32_t)pid;
	ret->tid = (uint32_t)tid;
	return true;
}

/* "[003]" */
static bool cpu_of(struct word w, struct text_sample *ret)
{
	uint64_t cpu;

	if (w.len < 3 || w.s[0] != '[' || w.s[w.len - 1] != ']' ||
	    !number_of(w.s + 1, w.len - 2, &cpu) || cpu > UINT32_MAX)
		return false;
	ret->cpu = (uint32_t)cpu;
	ret->has_cpu = true;
	return true;
}

/* "12.345678:", with six or nine digits behind the point. */
static bool time_of(struct word w, struct text_sample *ret)
{
	const char *dot = memchr(w.s, '.', w.len);
	uint64_t seconds, part;
	size_t digits;

	if (!dot || w.len < 4 || w.s[w.len - 1] != ':')
		return false;
	digits = (size_t)(w.s + w.len - 1 - (dot + 1));
	if (digits > 9 || !number_of(w.s, (size_t)(dot - w.s), &seconds) ||
	    !number_of(dot + 1, digits, &part) || seconds > UINT64_MAX / 1000000000 - 1)
		return false;
	for (; digits < 9; digits++)
		part *= 10;
	ret->time_ns = seconds * 1000000000 + part;
	ret->has_time = true;
	return true;
}

/* "[period] event:" and what follows. */
static void event_of(const char *at, const char *end, struct text_sample *ret,
		     const char **ret_rest)
{
	struct word w;
	uint64_t period;

	*ret_rest = at;
	w = next_word(&at, end);
	ret->period = 1;
	if (number_of(w.s, w.len, &period)) {
		w = next_word(&at, end);
		/* A number that no event follows is no period. */
		if (w.len < 2 || w.s[w.len - 1] != ':')
			return;
		if (period)
			ret->period = period;
	}
	if (w.len < 2 || w.s[w.len - 1] != ':')
		return;
	ret->event = w.s;
	ret->event_len = w.len - 1;
	*ret_rest = at;
}

/*
 * The thread is the number that the CPU or the time follows; without both, the first one that stands
 * behind a name.
 */
bool perf_script_header(const char *line, size_t len, struct text_sample *ret,
			const char **ret_rest)
{
	const char *end = line + len, *at = line, *comm, *after;
	struct text_sample s = {}, found = {};
	bool any = false;
	struct word w;

	while (at < end && is_blank(*at))
		at++;
	comm = at;
	next_word(&at, end); /* at least a word of the name */
	while (at < end) {
		const char *comm_end = at;
		const char *look;

		w = next_word(&at, end);
		if (!w.len || !thread_of(w, &s))
			continue;
		look = at;
		w = next_word(&look, end);
		if (cpu_of(w, &s)) {
			at = look;
			w = next_word(&look, end);
		}
		if (time_of(w, &s))
			at = look;
		if (s.has_cpu || s.has_time || !any) {
			any = true;
			found = s;
			found.comm = comm;
			found.comm_len = (size_t)(comm_end - comm);
			after = at;
		}
		if (s.has_cpu || s.has_time)
			break;
	}
	if (!any)
		return false;
	found.has_thread = true;
	event_of(after, end, &found, ret_rest);
	*ret = found;
	return true;
}
