/*
 * Virtual machine or not, and whose: that decides whether there is a hardware PMU and how one gets
 * it. tacho doctor, the refusals of stat and record and the lists of events all take it from here.
 *
 * Reads the files below @roots, which may be a copy from another machine. Any thread.
 */
#ifndef TACHO_EVENT_HYPERVISOR_H
#define TACHO_EVENT_HYPERVISOR_H

#include "base/buf.h"
#include "event/roots.h"

struct hypervisor {
	const char *name;
	const char *pmu_advice; /* how its guests get a hardware PMU */
};

#define HYPERVISOR_PRODUCT_SIZE 160

/* NULL: none known. @product, unless NULL, gets what the firmware calls the machine. */
const struct hypervisor *hypervisor_find(const struct roots *roots,
					 char product[HYPERVISOR_PRODUCT_SIZE]);

/* Half a sentence that says why there are no hardware events in a machine without a core PMU. */
void hypervisor_no_pmu(const struct hypervisor *h, struct buf *out);

#endif
