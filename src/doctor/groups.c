#include "doctor/doctor.h"

const struct check_group check_groups[] = {
	{"Counting and sampling", event_checks},
	{"Limits", limit_checks},
	{"Tracing", trace_checks},
	{"Names and tools", symbol_checks},
	{"Machine", machine_checks},
	{"Noise", noise_checks}, /* last: its time window runs from the start */
	{},
};
