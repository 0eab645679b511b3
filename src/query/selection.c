#include "query/selection.h"
#include "analyze/paths/frame_filter.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST_MAX 10000u

static const char *param(const struct selection_params *p, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", p->prefix, name);
	return p->value(p->ctx, full);
}

static int parse_window(struct selection *sel, const struct selection_params *p,
			const struct run_data *d, struct err *e)
{
	const char *from = param(p, "from"), *to = param(p, "to"), *prefix = p->prefix;
	uint64_t ns;

	sel->to_ns = UINT64_MAX;
	if (from && !parse_time_ns(from, &ns))
		return err_set(
			e, EINVAL,
			"The parameter %sfrom is a time since the run began: nanoseconds, or "
			"a number with a unit, as 1.5s or 200ms.",
			prefix);
	if (from && __builtin_add_overflow(d->start_ns, ns, &sel->from_ns))
		sel->from_ns = UINT64_MAX;
	if (to && !parse_time_ns(to, &ns))
		return err_set(
			e, EINVAL,
			"The parameter %sto is a time since the run began: nanoseconds, or a "
			"number with a unit, as 1.5s or 200ms.",
			prefix);
	if (to && !__builtin_add_overflow(d->start_ns, ns, &ns))
		sel->to_ns = ns;
	if (sel->to_ns <= sel->from_ns)
		return err_set(e, EINVAL, "The window is empty: %sto is not larger than %sfrom.",
			       prefix, prefix);
	return 0;
}

/* Selects the threads in a list of tids or pids. A thread in either list is selected. */
static int add_threads(struct selection *sel, const char *list, bool by_pid, const char *name,
		       const struct run_data *d, struct err *e)
{
	CLEANUP(strvec_release) strvec pieces = {};

	if (!list)
		return 0;
	text_split(list, ",", &pieces);
	if (pieces.len > LIST_MAX)
		return err_set(e, EINVAL, "The parameter %s has more than %u numbers.", name,
			       LIST_MAX);
	if (!sel->threads)
		sel->threads = xcalloc(sel->thread_count, sizeof(*sel->threads));
	vec_each(&pieces, piece) {
		uint64_t number;

		if (!parse_u64(*piece, &number) || number > UINT32_MAX)
			return err_set(e, EINVAL,
				       "The parameter %s is a list of numbers, as 4711,4712.",
				       name);
		for (size_t i = 0; i < sel->thread_count; i++) {
			const struct profile_thread *t = &d->profile.threads.items[i];

			if ((by_pid ? t->pid : t->tid) == number)
				sel->threads[i] = true;
		}
	}
	return 0;
}

static int parse_cpus(struct selection *sel, const char *list, const char *prefix, struct err *e)
{
	int *cpus = NULL;
	size_t count;

	if (!list)
		return 0;
	if (!parse_cpulist(list, CPU_LIMIT, &cpus, &count))
		return err_set(e, EINVAL, "The parameter %scpus is a list of CPUs, as 0-3,8.",
			       prefix);
	sel->cpus = xcalloc(CPU_LIMIT, sizeof(*sel->cpus));
	for (size_t i = 0; i < count; i++)
		sel->cpus[cpus[i]] = true;
	free(cpus);
	return 0;
}

int selection_name_event(struct selection *sel, const char *name, const struct run_data *d,
			 struct err *e)
{
	CLEANUP(suggest_release) struct suggest nearest = {.wanted = name};
	CLEANUP(buf_release) struct buf text = {};

	sel->event = -1;
	if (!name)
		return 0;
	for (size_t i = 0; i < d->profile.events.len; i++) {
		const char *known = profile_text(&d->profile, d->profile.events.items[i].name);

		if (!strcmp(known, name)) {
			sel->event = (int64_t)i;
			return 0;
		}
		suggest_offer(&nearest, known);
	}
	buf_add(&text, "The run has no samples of an event '");
	text_add_printable(&text, name);
	buf_add(&text, "'");
	suggest_sentence(&nearest, &text);
	return err_set(e, EINVAL, "%s%s", buf_str(&text), nearest.count ? "" : ".");
}

int selection_parse(struct selection *sel, const struct selection_params *p,
		    const struct run_data *d, struct err *e)
{
	const char *frames = param(p, "frames");
	int rc;

	*sel = (struct selection){.thread_count = d->profile.threads.len};
	rc = parse_window(sel, p, d, e);
	if (rc == 0)
		rc = add_threads(sel, param(p, "threads"), false, "threads", d, e);
	if (rc == 0)
		rc = add_threads(sel, param(p, "pids"), true, "pids", d, e);
	if (rc == 0)
		rc = parse_cpus(sel, param(p, "cpus"), p->prefix, e);
	if (rc == 0)
		rc = selection_name_event(sel, param(p, "event"), d, e);
	if (rc == 0 && frames && *frames)
		rc = frame_filter_make(&sel->nodes, &d->paths, &d->profile, frames, e);
	if (rc < 0)
		selection_release(sel);
	return rc;
}

void selection_detach(struct selection *sel, const struct run_data *d)
{
	sel->grows = !d->ended;
	if (!sel->nodes)
		return;
	sel->stack_count = d->paths.stacks.of_stack.len;
	sel->stacks = xcalloc(sel->stack_count + 1, sizeof(*sel->stacks));
	sel->stacks[0] = sel->nodes[0];
	for (size_t i = 0; i < sel->stack_count; i++)
		sel->stacks[i] = sel->nodes[call_path_known(&d->paths, i)];
	free(sel->nodes);
	sel->nodes = NULL;
}

void selection_release(struct selection *sel)
{
	free(sel->threads);
	free(sel->cpus);
	free(sel->nodes);
	free(sel->stacks);
	*sel = (struct selection){};
}
