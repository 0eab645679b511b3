/* Internal to plan.c: parses the fields of a plan, each by itself. */
#ifndef TACHO_COLLECT_RUN_PLAN_FIELDS_H
#define TACHO_COLLECT_RUN_PLAN_FIELDS_H

#include "collect/run/plan.h"

/* Limit of words in a command, against hostile input. */
#define WORDS_MAX 65536u

/* Fills @p from the object. On failure @p keeps the fields parsed so far. */
int run_plan_take_fields(const json_t *json, struct run_plan *p, struct err *e);

/* "'name' must be …" */
int run_plan_wrong(struct err *e, const char *name, const char *wanted);

#endif
