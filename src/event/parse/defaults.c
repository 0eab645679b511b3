/* The events that are measured if the user names none. */
#include "event/parse/parse.h"

#include <string.h>

#define COUNTED                                                                                    \
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"                \
	"branch-misses"

/* The task-clock of all tasks is just elapsed time, so CPU-wide counting uses cpu-clock. */
int events_default_counted(struct catalog *c, bool cpu_wide, struct event_list *list, struct err *e)
{
	int r = events_parse(c, cpu_wide ? "cpu-clock" : "task-clock", list, e);

	return r < 0 ? r : events_parse(c, COUNTED, list, e);
}

static char *clock_name(const struct perf_event_attr *attr)
{
	bool modes = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;

	return xasprintf(
		"cpu-clock%s%s%s%s", modes ? ":" : "", modes && !attr->exclude_user ? "u" : "",
		modes && !attr->exclude_kernel ? "k" : "", modes && !attr->exclude_hv ? "h" : "");
}

bool events_sample_clock(struct event_list *list)
{
	const struct generic_event *clock = generic_find("cpu-clock");
	bool found = false;

	vec_each(&list->events, event) {
		if (!event->no_pmu || event->units.len != 1 ||
		    event->units.items[0].type != PERF_TYPE_HARDWARE ||
		    event->attr.config != PERF_COUNT_HW_CPU_CYCLES)
			continue;
		event->units.items[0].type = clock->type;
		event->attr.config = clock->config;
		event->attr.precise_ip = 0;
		event->precise_max = false;
		event->no_pmu = NULL;
		event->scale = clock->scale;
		free(event->unit_text);
		event->unit_text = xstrdup(clock->unit);
		free(event->name);
		event->name = clock_name(&event->attr);
		found = true;
	}
	return found;
}

int events_default_sampled(struct catalog *c, struct event_list *list, bool *ret_no_pmu,
			   struct err *e)
{
	bool pmu = pmus_core(catalog_pmus(c), 0);
	size_t first = list->events.len;
	int r = events_parse(c, pmu ? "cycles" : "cpu-clock", list, e);

	if (r < 0)
		return r;
	*ret_no_pmu = !pmu;
	for (size_t i = first; pmu && i < list->events.len; i++) {
		struct event *event = &list->events.items[i];
		size_t len = strlen(event->name);
		char *name;

		/* Do not set `modified`: the event may still fall back to user mode. */
		event->precise_max = true;
		name = xasprintf("%s%sP", event->name, event->name[len - 1] == '/' ? "" : ":");
		free(event->name);
		event->name = name;
	}
	return 0;
}
