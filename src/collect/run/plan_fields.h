/* Internal to plans: their fields, each by itself. */
#ifndef TACHO_COLLECT_RUN_PLAN_FIELDS_H
#define TACHO_COLLECT_RUN_PLAN_FIELDS_H

#include "collect/run/plan.h"

/* Hostile input: a command of more words is none. */
#define WORDS_MAX 65536u

/* What the object says goes into @p, which holds what was taken even on failure. */
int run_plan_take_fields(const json_t *json, struct run_plan *p, struct err *e);

/* "'name' must be …" */
int run_plan_wrong(struct err *e, const char *name, const char *wanted);

#endif
