#include "event/pmu.h"
#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PMUS_MAX       4096
#define FIELDS_MAX     256
#define FILE_BYTES_MAX 4096

static char *pmu_path(const struct pmus *pmus, const char *name, const char *rest)
{
	return xasprintf("%s/bus/event_source/devices/%s%s%s", pmus->roots->sys, name,
			 *rest ? "/" : "", rest);
}

static bool read_cpus(const struct pmus *pmus, struct pmu *pmu, const char *file)
{
	CLEANUP(free_ptr) char *path = pmu_path(pmus, pmu->name, file);
	CLEANUP(free_ptr) char *text = NULL;

	if (fs_read(path, FILE_BYTES_MAX, &text) < 0 || !*text)
		return false;
	return parse_cpulist(text, CPU_LIMIT, &pmu->cpus, &pmu->cpu_count);
}

/* Core PMUs without a "cpus" file: the only one of an x86, POWER or s390 machine, and Arm's. */
static bool is_core_name(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpum_cf") || !strncmp(name, "armv", 4);
}

static void add_pmu(struct pmus *pmus, const char *name)
{
	CLEANUP(free_ptr) char *path = pmu_path(pmus, name, "type");
	struct pmu pmu = {.name = (char *)name};
	long long type;

	if (!fs_number(&type, "%s", path) || type < 0 || type > UINT32_MAX)
		return;
	pmu.name = xstrdup(name);
	pmu.type = (uint32_t)type;
	if (read_cpus(pmus, &pmu, "cpus"))
		pmu.core = strncmp(name, "arm_spe", 7) != 0 && strncmp(name, "arm_dsu", 7) != 0;
	else if (!read_cpus(pmus, &pmu, "cpumask"))
		pmu.core = is_core_name(name);
	vec_push(&pmus->list, pmu);
}

void pmus_load(struct pmus *pmus, const struct roots *roots)
{
	CLEANUP(strvec_release) strvec names = {};
	CLEANUP(free_ptr) char *dir = NULL;

	*pmus = (struct pmus){.roots = roots};
	dir = pmu_path(pmus, "", "");
	fs_list(dir, &names);
	vec_each(&names, name)
		if (pmus->list.len < PMUS_MAX)
			add_pmu(pmus, *name);
}

void pmus_release(struct pmus *pmus)
{
	vec_each(&pmus->list, pmu) {
		vec_each(&pmu->fields, field)
			free(field->name);
		vec_release(&pmu->fields);
		free(pmu->name);
		free(pmu->cpus);
	}
	vec_release(&pmus->list);
}

struct pmu *pmus_find(struct pmus *pmus, const char *name)
{
	vec_each(&pmus->list, pmu)
		if (!strcmp(pmu->name, name))
			return pmu;
	return NULL;
}

struct pmu *pmus_core(struct pmus *pmus, size_t nth)
{
	vec_each(&pmus->list, pmu)
		if (pmu->core && !nth--)
			return pmu;
	return NULL;
}

bool pmu_field_parse(const char *text, struct pmu_field *field)
{
	unsigned word = 0;
	int used = 0;

	if (strncmp(text, "config", 6))
		return false;
	text += 6;
	if (isdigit((unsigned char)*text))
		word = (unsigned)(*text++ - '0');
	/* config3 (Linux 6.2, used only by Arm SPE) is not in the attr of Debian 12's headers. */
	if (*text++ != ':' || word > 2)
		return false;
	field->word = (uint8_t)word;
	field->range_count = 0;
	while (*text) {
		unsigned first, last;
		int n = sscanf(text, "%2u%n-%2u%n", &first, &used, &last, &used);

		if (n < 1 || !isdigit((unsigned char)*text))
			return false;
		if (n == 1)
			last = first;
		if (first > last || last > 63 || field->range_count == ARRAY_LEN(field->ranges))
			return false;
		field->ranges[field->range_count++] =
			(struct bit_range){(uint8_t)first, (uint8_t)last};
		text += used;
		if (*text && *text++ != ',')
			return false;
	}
	return field->range_count > 0;
}

static void load_fields(struct pmus *pmus, struct pmu *pmu)
{
	CLEANUP(free_ptr) char *dir = pmu_path(pmus, pmu->name, "format");
	CLEANUP(strvec_release) strvec names = {};

	pmu->loaded_fields = true;
	fs_list(dir, &names);
	vec_each(&names, name) {
		struct pmu_field field = {};
		char line[128];

		if (!fs_line(line, sizeof(line), "%s/%s", dir, *name) ||
		    !pmu_field_parse(line, &field) || pmu->fields.len == FIELDS_MAX)
			continue;
		field.name = xstrdup(*name);
		vec_push(&pmu->fields, field);
	}
}

const struct pmu_field *pmu_field(struct pmus *pmus, struct pmu *pmu, const char *name)
{
	if (!pmu->loaded_fields)
		load_fields(pmus, pmu);
	vec_each(&pmu->fields, field)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

bool pmu_field_set(const struct pmu_field *field, uint64_t value, struct perf_event_attr *attr)
{
	__u64 *const words[] = {&attr->config, &attr->config1, &attr->config2};
	__u64 *word = words[field->word];

	for (unsigned i = 0; i < field->range_count; i++) {
		unsigned width = field->ranges[i].last - field->ranges[i].first + 1u;
		uint64_t mask = width == 64 ? ~0ull : (1ull << width) - 1;

		*word &= ~(mask << field->ranges[i].first);
		*word |= (value & mask) << field->ranges[i].first;
		value = width == 64 ? 0 : value >> width;
	}
	return value == 0;
}

int pmu_event_names(struct pmus *pmus, const struct pmu *pmu, strvec *ret_names)
{
	CLEANUP(free_ptr) char *dir = pmu_path(pmus, pmu->name, "events");
	CLEANUP(strvec_release) strvec files = {};
	int r = fs_list(dir, &files);

	/* Skip NAME.unit, NAME.scale and NAME.snapshot, which accompany event NAME. */
	vec_each(&files, file)
		if (!strchr(*file, '.'))
			vec_push(ret_names, xstrdup(*file));
	return r;
}

bool pmu_event_read(struct pmus *pmus, const struct pmu *pmu, const char *name,
		    struct pmu_event *ret_event)
{
	CLEANUP(free_ptr) char *path = pmu_path(pmus, pmu->name, "events");
	char line[FILE_BYTES_MAX];
	struct buf unit = {};

	if (strchr(name, '/') || !fs_line(line, sizeof(line), "%s/%s", path, name))
		return false;
	*ret_event = (struct pmu_event){.name = name, .terms = xstrdup(line), .scale = 1};
	if (fs_line(line, sizeof(line), "%s/%s.unit", path, name)) {
		text_add_printable(&unit, line);
		ret_event->unit = buf_steal(&unit);
	}
	if (fs_line(line, sizeof(line), "%s/%s.scale", path, name) &&
	    (!parse_double(line, &ret_event->scale) || ret_event->scale <= 0))
		ret_event->scale = 1;
	return true;
}

void pmu_event_release(struct pmu_event *event)
{
	free(event->terms);
	free(event->unit);
}

bool pmu_name_matches(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	if (!strncmp(name, "uncore_", 7) && strncmp(wanted, "uncore_", 7))
		name += 7;
	if (strncmp(name, wanted, len))
		return false;
	name += len;
	name += *name == '_';
	return name[strspn(name, "0123456789")] == '\0';
}
