/* Bit fields and CPU lists as sysfs writes them. */
#include "base/number.h"
#include "event/pmu.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CPUS 1024

/* All ones must fit exactly into as many bits as the field has. */
static void check_field(const struct pmu_field *field)
{
	struct perf_event_attr attr = {};
	unsigned bits = 0;

	if (field->word > 2 || !field->range_count || field->range_count > 8)
		abort();
	for (unsigned i = 0; i < field->range_count; i++) {
		if (field->ranges[i].first > field->ranges[i].last || field->ranges[i].last > 63)
			abort();
		bits += field->ranges[i].last - field->ranges[i].first + 1u;
	}
	if (!pmu_field_set(field, bits >= 64 ? ~0ull : (1ull << bits) - 1, &attr))
		abort();
	if (bits < 64 && pmu_field_set(field, 1ull << bits, &attr))
		abort();
}

static void check_cpus(const char *text)
{
	size_t count = 0;
	int *cpus = NULL;

	if (!parse_cpulist(text, CPUS, &cpus, &count))
		return;
	for (size_t i = 0; i < count; i++)
		if (cpus[i] < 0 || cpus[i] >= CPUS || (i && cpus[i] <= cpus[i - 1]))
			abort();
	free(cpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct pmu_field field = {};

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (pmu_field_parse(text, &field))
		check_field(&field);
	check_cpus(text);
	free(text);
	return 0;
}
