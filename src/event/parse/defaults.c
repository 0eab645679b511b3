/* What is measured when nobody says what. */
#include "event/parse/parse.h"

#include <string.h>

#define COUNTED                                                                                    \
	"context-switches,cpu-migrations,page-faults,cycles,instructions,branches,"                \
	"branch-misses"

/* Everybody's task-clock is the time itself; a system is watched by its CPUs' clock. */
int events_default_counted(struct catalog *c, bool cpu_wide, struct event_list *list, struct err *e)
{
	int r = events_parse(c, cpu_wide ? "cpu-clock" : "task-clock", list, e);

	return r < 0 ? r : events_parse(c, COUNTED, list, e);
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

		/* Not written by the user: it may still fall back to user mode. */
		event->precise_max = true;
		name = xasprintf("%s%sP", event->name, event->name[len - 1] == '/' ? "" : ":");
		free(event->name);
		event->name = name;
	}
	return 0;
}
