/* Shared by the files of `tacho list`. */
#ifndef TACHO_CMD_LIST_LIST_H
#define TACHO_CMD_LIST_LIST_H

#include "base/option.h"
#include "base/term.h"
#include "event/catalog.h"
#include "event/usage.h"
#include "perf/availability.h"

struct list_options {
	const char *search, *group, *uarch;
	option_list binaries;
	bool json, names;
};

struct verdict {
	bool tested;
	int code; /* 0: can be opened */
	struct buf reason;
};

/* A line of the text output, kept until its group is complete. */
struct list_line {
	char *name, *text, *reason, *masks;
	unsigned uses;
};

struct list {
	const struct list_options *options;
	struct catalog_query query;
	const char *glob;
	struct availability availability;
	struct catalog *catalog;
	struct verdict verdict;
	struct usage usage;
	struct term term;
	VEC(struct list_line) lines[KIND_COUNT];
	char *notes[KIND_COUNT];
	struct buf out;
	size_t shown, problems;
};

void list_text_begin(struct list *list);
void list_text_entry(struct list *list, const struct catalog_entry *entry);
void list_text_note(struct list *list, enum event_kind kind, const char *sentence);
void list_text_finish(struct list *list);
void list_json_entry(struct list *list, const struct catalog_entry *entry);

#endif
