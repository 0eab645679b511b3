/* The event language: everything that perf users type after -e. */
#ifndef TACHO_EVENT_PARSE_PARSE_H
#define TACHO_EVENT_PARSE_PARSE_H

#include "event/catalog.h"

/*
 * Appends the events of @text ("cycles:u,{a,b}:S,sched:*") to @list. On failure nothing is
 * appended, and the error shows the text with a mark under the wrong character.
 */
int events_parse(struct catalog *c, const char *text, struct event_list *list, struct err *e);

/* Applies the "PATTERN MODIFIERS" of TACHO_DEFAULT_MODIFIERS (separated by commas), then those of
 * the lines of events.conf, to events without modifiers. The first match wins. */
int events_apply_defaults(struct event_list *list, struct err *e);

/* Limits every event to one mode, for --all-user and --all-kernel. Returns -EINVAL if both are
 * given, or if an event has modifiers that contradict. */
int events_limit_modes(struct event_list *list, bool user, bool kernel, struct err *e);

/* Append the default events for counting and for sampling. The default for sampling is cycles, as
 * precise as possible; without a core PMU it is cpu-clock, and *ret_no_pmu is true. */
int events_default_counted(struct catalog *c, bool cpu_wide, struct event_list *list,
			   struct err *e);
int events_default_sampled(struct catalog *c, struct event_list *list, bool *ret_no_pmu,
			   struct err *e);

/* Replaces all cycles events by cpu-clock, also in name, if there is no PMU, as perf record does.
 * Returns whether there were any. */
bool events_sample_clock(struct event_list *list);

/* ---- shared by the parser's files ---- */

struct parse {
	struct catalog *c;
	const char *text; /* all of it, for messages */
	struct event_list *list;
	struct err *e;
};

/* Sets an error for character @at of the text and returns -EINVAL. */
int parse_error(struct parse *p, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Applies "u", "kpp" … to @event; @at points to them in the text. */
int parse_modifiers(struct parse *p, struct event *event, const char *at, size_t len);

/* Returns whether @s is not empty and every letter is a modifier. */
bool is_modifiers(const char *s, size_t len);

/* Parses one item that is not a group, from @at up to @end. Appends one or more events. */
int parse_one(struct parse *p, const char *at, const char *end);

/* Parses "name/terms/mods". @slash is the first slash. */
int parse_pmu_event(struct parse *p, const char *at, const char *slash, const char *end);

/* Parses a term that any event can have; @at points to its value in the text. Sets *ret_known to
 * false if @key is not such a term. */
int parse_config_term(struct parse *p, struct event *event, const char *key, const char *value,
		      const char *at, bool *ret_known);

/* Parses "name/terms/mods" of an event that is not written with its PMU: cycles/period=1000/u.
 * Returns -ENOENT if the name is unknown. */
int parse_with_terms(struct parse *p, const char *at, const char *slash, const char *close,
		     const char *end);

/* Parses terms of @pmu ("event=1,inv,name=x") into @event. */
int parse_terms(struct parse *p, struct pmu *pmu, struct event *event, const char *at,
		const char *end);

/* Returns a copy of catalog_no_pmu() for an event without a core PMU. The caller frees it. */
char *parse_no_pmu(struct parse *p);

/* Appends a new event to the list. Takes ownership of @name. */
struct event *parse_add(struct parse *p, char *name);

#endif
