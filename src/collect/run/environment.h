/* The machine that a run was measured on, as JSON: this one, or what an imported file says. */
#ifndef TACHO_COLLECT_RUN_ENVIRONMENT_H
#define TACHO_COLLECT_RUN_ENVIRONMENT_H

#include "base/json.h"
#include "event/roots.h"
#include "perfdata/facts.h"

/* Each writes a JSON object. */
void run_environment_here(const struct roots *roots, struct json *j);
void run_environment_of_file(const struct perfdata_facts *facts, struct json *j);

#endif
