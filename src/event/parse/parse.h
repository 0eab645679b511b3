/* The event language: everything that perf users type after -e. */
#ifndef TACHO_EVENT_PARSE_PARSE_H
#define TACHO_EVENT_PARSE_PARSE_H

#include "event/catalog.h"

/*
 * Appends the events of @text ("cycles:u,{a,b}:S,sched:*") to @list. On failure nothing is
 * appended, and the sentence is followed by the text with a mark under the character.
 */
int events_parse(struct catalog *c, const char *text, struct event_list *list, struct err *e);

/* "PATTERN MODIFIERS" of TACHO_DEFAULT_MODIFIERS (separated by commas) and of the lines of events.conf,
 * applied to events without modifiers. The first that fits counts. */
int events_apply_defaults(struct event_list *list, struct err *e);

/* --all-user, --all-kernel: every event in this mode only. -EINVAL if both are wanted, or if an
 * event has modifiers that say otherwise. */
int events_limit_modes(struct event_list *list, bool user, bool kernel, struct err *e);

/* What is counted, and what is sampled, when nothing was asked for: of the latter as precisely as it
 * gets where there are counters, else by the clock, and *ret_no_pmu says so. */
int events_default_counted(struct catalog *c, bool cpu_wide, struct event_list *list,
			   struct err *e);
int events_default_sampled(struct catalog *c, struct event_list *list, bool *ret_no_pmu,
			   struct err *e);

/* Makes cpu-clock, with its name, of all cycles where there is no PMU, as perf record does. True if
 * there were any. */
bool events_sample_clock(struct event_list *list);

/* ---- shared by the parser's files ---- */

struct parse {
	struct catalog *c;
	const char *text; /* all of it, for messages */
	struct event_list *list;
	struct err *e;
};

/* An error at character @at of the text. */
int parse_error(struct parse *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Applies "u", "kpp" … to @event; @at is where they stand in the text. */
int parse_modifiers(struct parse *p, struct event *event, const char *at, size_t len);

/* True if every letter of it is a modifier. */
bool is_modifiers(const char *s, size_t len);

/* One event, not a group: text from @at up to @end. Appends one or more events. */
int parse_one(struct parse *p, const char *at, const char *end);

/* "name/terms/mods". @slash is the first slash. */
int parse_pmu_event(struct parse *p, const char *at, const char *slash, const char *end);

/* Term @key of those that any event can have; @at is where its value stands in the text.
 * *ret_known says whether there is such a one. */
int parse_config_term(struct parse *p, struct event *event, const char *key, const char *value,
		      const char *at, bool *ret_known);

/* "name/terms/mods" of an event that is not written by its PMU: cycles/period=1000/u. -ENOENT if
 * nobody knows the name. */
int parse_with_terms(struct parse *p, const char *at, const char *slash, const char *close,
		     const char *end);

/* Terms of @pmu ("event=1,inv,name=x") into @event. */
int parse_terms(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
		const char *end);

/* A copy of catalog_no_pmu() for an event whose core PMU was looked for in vain. */
char *parse_no_pmu(struct parse *p);

/* A new event at the end of the list. */
struct event *parse_add(struct parse *p, char *name);

#endif
