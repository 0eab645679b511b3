/* Errors for unknown names: they suggest similar names, or say on which CPUs the name exists. */
#ifndef TACHO_EVENT_PARSE_SUGGEST_H
#define TACHO_EVENT_PARSE_SUGGEST_H

#include "base/text.h"
#include "event/parse/parse.h"

/* Offers the kernel's names: generic and cache events. */
void suggest_offer_generic(struct suggest *near);

/* Both set the error and return a negative errno. */
int suggest_event(struct parse *p, const char *at, const char *end);
int suggest_tracepoint(struct parse *p, const char *at, const char *system, const char *name);

#endif
