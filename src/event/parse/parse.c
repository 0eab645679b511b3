#include "event/parse/parse.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int parse_error(struct parse *p, const char *at, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf sentence = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&sentence, fmt, ap);
	va_end(ap);
	return text_error(p->e, p->text, at, buf_str(&sentence));
}

struct event *parse_add(struct parse *p, char *name)
{
	struct event event = {.name = name, .scale = 1, .group = -1};

	event.attr.size = sizeof(event.attr);
	vec_push(&p->list->events, event);
	return &p->list->events.items[p->list->events.len - 1];
}

char *parse_no_pmu(struct parse *p)
{
	const char *reason = catalog_no_pmu(p->c);

	return xstrdup(reason ? reason : "there is no such PMU here");
}

static void event_release(struct event *event)
{
	free(event->name);
	free(event->unit_text);
	free(event->tracepoint);
	free(event->missing);
	vec_release(&event->units);
}

static void drop_after(struct event_list *list, size_t len)
{
	while (list->events.len > len)
		event_release(&list->events.items[--list->events.len]);
}

void event_list_release(struct event_list *list)
{
	drop_after(list, 0);
	vec_release(&list->events);
}

/* Returns the end of the event at @at: a comma or brace outside of slashes. */
static const char *event_end(const char *at)
{
	bool in_terms = false;
	bool address = !strncmp(at, "mem:", 4); /* its slash precedes a length */

	for (; *at; at++) {
		if (*at == '/' && !address)
			in_terms = !in_terms;
		else if (!in_terms && (*at == ',' || *at == '}' || *at == '{'))
			break;
	}
	return at;
}

static const char *skip_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static int parse_trimmed(struct parse *p, const char *at, const char *end)
{
	at = skip_space(at);
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	if (end <= at)
		return parse_error(
			p, at, *at ? "an event is missing here" : "an event is missing at the end");
	if (p->list->events.len >= EVENTS_MAX)
		return parse_error(p, at, "more than %d events", EVENTS_MAX);
	return parse_one(p, at, end);
}

/* Parses "{a,b}:mods". *at points to the brace and is advanced past the group. */
static int parse_group(struct parse *p, const char **at)
{
	const char *open = *at, *s = open + 1, *mods;
	size_t first = p->list->events.len;
	int r, number = p->list->group_count++;

	for (;; s++) {
		const char *end;

		s = skip_space(s);
		end = event_end(s);
		if (*end == '{')
			return parse_error(p, end, "a group cannot stand inside a group");
		r = parse_trimmed(p, s, end);
		if (r < 0)
			return r;
		s = end;
		if (*s == '}')
			break;
		if (!*s)
			return parse_error(p, open, "this group is not closed by '}'");
	}
	mods = s + 1;
	s = mods + (*mods == ':');
	while (*s && *s != ',' && *s != '}' && !isspace((unsigned char)*s))
		s++;
	if (s > mods && *mods != ':')
		return parse_error(p, mods, "expected ',' or ':' after a group");
	for (size_t i = first; i < p->list->events.len; i++) {
		struct event *event = &p->list->events.items[i];

		event->group = number;
		if (s > mods)
			r = parse_modifiers(p, event, mods + 1, (size_t)(s - mods - 1));
		if (r < 0)
			return r;
	}
	*at = skip_space(s);
	return 0;
}

static int parse_all(struct parse *p)
{
	const char *s = p->text;

	if (!*skip_space(s))
		return err_set(p->e, EINVAL, "the list of events is empty");
	for (;;) {
		int r;

		s = skip_space(s);
		if (*s == '{') {
			r = parse_group(p, &s);
		} else {
			const char *end = event_end(s);

			r = parse_trimmed(p, s, end);
			s = end;
		}
		if (r < 0)
			return r;
		if (!*s)
			return 0;
		if (*s != ',')
			return parse_error(p, s, "expected ',' here");
		s++;
	}
}

int events_parse(struct catalog *c, const char *text, struct event_list *list, struct err *e)
{
	struct parse p = {.c = c, .text = text, .list = list, .e = e};
	size_t before = list->events.len;
	int groups = list->group_count, r = parse_all(&p);

	if (r < 0) {
		drop_after(list, before);
		list->group_count = groups;
	}
	return r;
}
