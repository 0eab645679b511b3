/* Which events the user counts most: a small file in the data directory, so that lists can put
 * them first. Losing it costs nothing. */
#ifndef TACHO_EVENT_USAGE_H
#define TACHO_EVENT_USAGE_H

#include "event/event.h"

struct usage {
	VEC(struct usage_row {
		char *name;
		unsigned count;
	})
	rows; /* most used first */
};

void usage_load(struct usage *u);
unsigned usage_of(const struct usage *u, const char *name);
/* Counts every event of @list once more and saves. */
void usage_note(const struct event_list *list);
void usage_release(struct usage *u);

#endif
