/* What to say about a name that nobody knows: the nearest ones, or where it does exist. */
#ifndef TACHO_EVENT_PARSE_SUGGEST_H
#define TACHO_EVENT_PARSE_SUGGEST_H

#include "base/text.h"
#include "event/parse/parse.h"

/* Offers the kernel's names: generic and cache events. */
void suggest_offer_generic(struct suggest *near);

/* Both set the error and return its negative number. */
int suggest_event(struct parse *p, const char *at, const char *end);
int suggest_tracepoint(struct parse *p, const char *at, const char *system, const char *name);

#endif
