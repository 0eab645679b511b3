/*
 * Detects whether the machine is a virtual machine, and of which hypervisor. That decides whether
 * there is a hardware PMU and how to get one. Used by tacho doctor, by the errors of stat and
 * record and by the lists of events.
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

/* Returns NULL if there is none. @product, unless NULL, gets the firmware's name of the machine. */
const struct hypervisor *hypervisor_find(const struct roots *roots,
					 char product[HYPERVISOR_PRODUCT_SIZE]);

/* Half a sentence that says why there are no hardware events in a machine without a core PMU. */
void hypervisor_no_pmu(const struct hypervisor *h, struct buf *out);

#endif
