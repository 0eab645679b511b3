/* Event files: parse, sort, find each again; their metrics go on into the formula parser. */
#include "measure/expr.h"
#include "event/vendor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_events(const struct vendor_set *set)
{
	vec_each(&set->events, event) {
		const struct vendor_event *found = vendor_find(set, event->name);

		if (!event->name[0] || !found || strcasecmp(found->name, event->name))
			abort();
		if (strncmp(event->terms, "event=0x", 8) && strncmp(event->terms, "config=0x", 9))
			abort();
		if (event > set->events.items && strcasecmp(event[-1].name, event->name) > 0)
			abort();
	}
}

static void check_metrics(const struct vendor_set *set)
{
	vec_each(&set->metrics, metric) {
		struct expr *x;

		if (!metric->name[0] || !metric->expression || !(metric->scale > 0))
			abort();
		if (!expr_parse(metric->expression, &x, NULL))
			expr_free(x);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vendor_set set = {};
	struct err e = {};

	if (vendor_parse((const char *)data, size, &set, &e) < 0 && (!e.code || !e.text[0]))
		abort();
	vendor_sort(&set);
	check_events(&set);
	check_metrics(&set);
	vendor_release(&set);
	return 0;
}
