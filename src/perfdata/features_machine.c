#include "perfdata/features_machine.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "event/vendor.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PMUS_MAX 4096

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

static void set_str(struct feature_set *set, enum feature feature, const char *s)
{
	if (*s)
		feature_add_str(feature_set_begin(set, feature), s);
}

static void add_names(struct feature_set *set)
{
	struct utsname name;

	set_str(set, FEATURE_VERSION, "tacho " TACHO_VERSION);
	if (uname(&name))
		return;
	set_str(set, FEATURE_HOSTNAME, name.nodename);
	set_str(set, FEATURE_OSRELEASE, name.release);
	set_str(set, FEATURE_ARCH, name.machine);
}

/* The first lines of a file that may be very long: the kernel makes the text while it is read. */
static void read_head(const char *dir, const char *name, char *text, size_t size)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void add_cpu(struct feature_set *set, const struct roots *roots)
{
	static const char *const fields[] = {"model name", "cpu model", "Processor", "cpu",
					     "uarch"};
	char info[4096], value[256], vendor[64], family[16], model[16], stepping[16];

	read_head(roots->proc, "cpuinfo", info, sizeof(info));
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (text_field(info, fields[i], value, sizeof(value))) {
			set_str(set, FEATURE_CPUDESC, value);
			break;
		}
	if (text_field(info, "vendor_id", vendor, sizeof(vendor)) &&
	    text_field(info, "cpu family", family, sizeof(family)) &&
	    text_field(info, "model", model, sizeof(model)) &&
	    text_field(info, "stepping", stepping, sizeof(stepping)))
		snprintf(value, sizeof(value), "%s,%s,%s,%s", vendor, family, model, stepping);
	else
		cpuid_text(roots, value, sizeof(value));
	set_str(set, FEATURE_CPUID, value);
}

static void add_memory(struct feature_set *set, const struct roots *roots)
{
	char info[512], value[64];

	read_head(roots->proc, "meminfo", info, sizeof(info));
	if (text_field(info, "MemTotal", value, sizeof(value)))
		feature_add_u64(feature_set_begin(set, FEATURE_TOTAL_MEM),
				strtoull(value, NULL, 10));
}

static void add_cmdline(struct feature_set *set, const struct feature_facts *facts)
{
	struct buf *b;

	if (!facts->argc)
		return;
	b = feature_set_begin(set, FEATURE_CMDLINE);
	feature_add_u32(b, (uint32_t)facts->argc);
	for (size_t i = 0; i < facts->argc; i++)
		feature_add_str(b, facts->argv[i]);
}

void features_events(struct feature_set *set, const struct writer_event *events, size_t count)
{
	struct buf *b = feature_set_begin(set, FEATURE_EVENT_DESC);

	feature_add_u32(b, (uint32_t)count);
	feature_add_u32(b, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < count; i++) {
		const struct writer_event *event = &events[i];
		struct perf_event_attr attr = event->attr;

		attr.size = sizeof(attr);
		buf_add_mem(b, &attr, sizeof(attr));
		feature_add_u32(b, (uint32_t)event->id_count);
		feature_add_str(b, event->name ? event->name : "");
		buf_add_mem(b, event->ids, event->id_count * sizeof(*event->ids));
	}
}

static void add_groups(struct feature_set *set, const struct feature_facts *facts)
{
	struct buf *b;

	if (!facts->group_count)
		return;
	b = feature_set_begin(set, FEATURE_GROUP_DESC);
	feature_add_u32(b, (uint32_t)facts->group_count);
	for (size_t i = 0; i < facts->group_count; i++) {
		const struct feature_group *group = &facts->groups[i];

		feature_add_str(b, group->name ? group->name : "{anon_group}");
		feature_add_u32(b, group->leader);
		feature_add_u32(b, group->count);
	}
}

static void add_pmus(struct feature_set *set, const struct roots *roots)
{
	CLEANUP(free_ptr) char *dir = xasprintf("%s/bus/event_source/devices", roots->sys);
	CLEANUP(strvec_release) strvec names = {};
	struct buf *b;
	uint32_t count = 0;

	if (fs_list(dir, &names) < 0)
		return;
	b = feature_set_begin(set, FEATURE_PMU_MAPPINGS);
	feature_add_u32(b, 0);
	vec_each(&names, name) {
		long long type;

		if (count == PMUS_MAX || !fs_number(&type, "%s/%s/type", dir, *name))
			continue;
		feature_add_u32(b, (uint32_t)type);
		feature_add_str(b, *name);
		count++;
	}
	memcpy(b->s, &count, sizeof(count));
}

/* What ties the clock of the samples to the time of day. */
static void add_clock(struct feature_set *set, const struct feature_facts *facts)
{
	struct timespec resolution;
	struct buf *b;

	if (!facts->use_clockid || clock_getres(facts->clockid, &resolution))
		return;
	feature_add_u64(feature_set_begin(set, FEATURE_CLOCKID),
			(uint64_t)resolution.tv_sec * NS_PER_SEC + (uint64_t)resolution.tv_nsec);
	b = feature_set_begin(set, FEATURE_CLOCK_DATA);
	feature_add_u32(b, 1);
	feature_add_u32(b, (uint32_t)facts->clockid);
	feature_add_u64(b, clock_ns_of(CLOCK_REALTIME));
	feature_add_u64(b, clock_ns_of(facts->clockid));
}

void features_of_machine(struct feature_set *set, const struct feature_facts *facts)
{
	add_names(set);
	add_cpu(set, facts->roots);
	add_memory(set, facts->roots);
	add_cmdline(set, facts);
	features_events(set, facts->events, facts->event_count);
	features_topology(set, facts->roots);
	add_pmus(set, facts->roots);
	add_groups(set, facts);
	add_clock(set, facts);
	if (facts->branch_stack)
		feature_set_begin(set, FEATURE_BRANCH_STACK);
}

void features_sample_time(struct feature_set *set, uint64_t first_ns, uint64_t last_ns)
{
	struct buf *b = feature_set_begin(set, FEATURE_SAMPLE_TIME);

	feature_add_u64(b, first_ns);
	feature_add_u64(b, last_ns);
}
