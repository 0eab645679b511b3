/* Counts how often the user has used each event, in a small file in the data directory, so that
 * lists can put the most used events first. Losing the file costs nothing. */
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
/* Adds 1 to the count of every event in @list and saves the file. */
void usage_note(const struct event_list *list);
void usage_release(struct usage *u);

#endif
