/* Shared by the files of `tacho diff`. */
#ifndef TACHO_CMD_DIFF_DIFF_H
#define TACHO_CMD_DIFF_DIFF_H

#include "analyze/tree/diff.h"
#include "cmd/input/profile_input.h"

struct diff_options {
	struct profile_options profile;
	option_list inputs;
	const char *output, *by, *min, *title;
	unsigned width, limit;
	bool table, json, no_normalize, negate, reverse, icicle, quiet;
};

/* The two profiles to compare; both may be events of one file. */
struct pair {
	struct profile_input inputs[2];
	size_t loaded;
	struct profile *profiles[2];
	event_id events[2];
	const char *names[2];
};

/* The name of a side's event, NULL if the input does not say. Valid until a text is added to the profile. */
const char *pair_event_name(const struct pair *pair, int side);

/* Append the functions with the largest change; JSON has all functions unless --limit is set. */
void diff_table_text(const struct diff *d, const struct diff_options *o, const struct pair *pair,
		     struct buf *out);
void diff_table_json(const struct diff *d, const struct diff_options *o, const struct pair *pair,
		     struct buf *out);

#endif
