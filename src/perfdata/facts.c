#include "perfdata/facts.h"
#include "perfdata/attr.h"

#include <string.h>

/* More of anything than this is a lie. */
#define WORDS_MAX       65536u
#define BUILD_IDS_MAX   1000000u
#define BUILD_ID_BYTES  20u
#define NAMES_BYTES_MAX (64u << 20) /* of all files with a build id */

/* A string of a feature: its length with padding, then its bytes, somewhere among them a NUL. */
static char *take_string(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	struct cursor part = cursor_part(c, c->at, len);

	if (c->failed || part.failed) {
		c->failed = true;
		return NULL;
	}
	cursor_skip(c, len);
	return xstrndup((const char *)part.data, strnlen((const char *)part.data, len));
}

static void put_string(struct cursor *c, char **to)
{
	char *s = take_string(c);

	if (!s)
		return;
	free(*to);
	*to = s;
}

static void read_cmdline(struct perfdata_facts *f, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	if (count > WORDS_MAX) {
		c->failed = true;
		return;
	}
	strvec_release(&f->cmdline);
	for (uint32_t i = 0; i < count && !c->failed; i++) {
		char *word = take_string(c);

		if (word)
			vec_push(&f->cmdline, word);
	}
}

/* Names of events and, for what the attr section has not, their ids. */
static void read_event_desc(struct stream *s, struct cursor *c)
{
	uint32_t count = cursor_u32(c), attr_size = cursor_u32(c);

	for (uint32_t i = 0; i < count && !c->failed; i++) {
		struct perf_event_attr attr;
		uint32_t ids;
		char *name;

		if (!attr_read(c, attr_size, &attr)) {
			c->failed = true;
			return;
		}
		ids = cursor_u32(c);
		name = take_string(c);
		cursor_skip(c, 8ull * ids);
		if (!name)
			return;
		if (i < s->events.len && *name)
			stream_name_event(&s->events.items[i], name);
		free(name);
	}
}

static void read_groups(struct stream *s, struct cursor *c)
{
	uint32_t count = cursor_u32(c), next = 0;

	for (uint32_t i = 0; i < count && !c->failed; i++) {
		char *name = take_string(c);
		uint32_t leader = cursor_u32(c), members = cursor_u32(c);

		free(name);
		/* Groups stand in the order of their events, and no event is in two. */
		if (c->failed || leader < next || leader >= s->events.len || !members ||
		    members > s->events.len - leader) {
			c->failed = true;
			return;
		}
		next = leader + members;
		s->events.items[leader].members = members;
		for (uint32_t k = 0; k < members; k++)
			s->events.items[leader + k].leader = leader;
	}
}

static void read_pmus(struct perfdata_facts *f, struct cursor *c)
{
	uint32_t count = cursor_u32(c);

	if (count > WORDS_MAX) {
		c->failed = true;
		return;
	}
	vec_each(&f->pmus, pmu)
		free(pmu->name);
	f->pmus.len = 0;
	for (uint32_t i = 0; i < count && !c->failed; i++) {
		struct pmu_fact pmu = {.type = cursor_u32(c)};

		pmu.name = take_string(c);
		if (pmu.name)
			vec_push(&f->pmus, pmu);
	}
}

void facts_add_build_id(struct perfdata_facts *f, struct cursor entry, uint16_t misc, bool has_size)
{
	struct build_id_fact fact = {.misc = misc, .size = BUILD_ID_BYTES};
	struct cursor id, name;

	fact.pid = (int32_t)cursor_u32(&entry);
	id = cursor_part(&entry, entry.at, 24);
	name = cursor_part(&entry, 28, entry.size > 28 ? entry.size - 28 : 0);
	if (entry.failed || id.failed || name.failed || f->build_ids.len >= BUILD_IDS_MAX ||
	    f->build_id_names_bytes + name.size > NAMES_BYTES_MAX)
		return;
	f->build_id_names_bytes += name.size;
	if (has_size && id.data[BUILD_ID_BYTES] <= BUILD_ID_BYTES)
		fact.size = id.data[BUILD_ID_BYTES];
	memcpy(fact.id, id.data, BUILD_ID_BYTES);
	fact.filename =
		xstrndup((const char *)name.data, strnlen((const char *)name.data, name.size));
	vec_push(&f->build_ids, fact);
}

static void read_build_ids(struct perfdata_facts *f, struct cursor *c)
{
	while (!cursor_done(c)) {
		size_t start = c->at;
		struct cursor entry;
		uint16_t misc, size;

		cursor_u32(c); /* type: none */
		misc = cursor_u16(c);
		size = cursor_u16(c);
		entry = cursor_part(c, start + 8, size < 8u ? UINT64_MAX : size - 8u);
		if (c->failed || entry.failed) {
			c->failed = true;
			return;
		}
		facts_add_build_id(f, entry, misc, misc & MISC_BUILD_ID_SIZE);
		cursor_skip(c, size - 8u);
	}
}

static void read_clock(struct perfdata_facts *f, struct cursor *c)
{
	cursor_u32(c); /* version */
	f->clock_id = cursor_u32(c);
	f->wall_ns = cursor_u64(c);
	f->clock_ns = cursor_u64(c);
	f->has_clock = !c->failed;
}

static void read_compressed(struct perfdata_facts *f, struct cursor *c)
{
	f->compressed.version = cursor_u32(c);
	f->compressed.type = cursor_u32(c);
	f->compressed.level = cursor_u32(c);
	f->compressed.ratio = cursor_u32(c);
	f->compressed.mmap_len = cursor_u32(c);
}

static void read_section(struct perfdata_facts *f, struct stream *s, enum feature feature,
			 struct cursor *c, uint64_t file_offset)
{
	switch (feature) {
	case FEATURE_HOSTNAME:
		put_string(c, &f->hostname);
		break;
	case FEATURE_OSRELEASE:
		put_string(c, &f->os_release);
		break;
	case FEATURE_VERSION:
		put_string(c, &f->version);
		break;
	case FEATURE_ARCH:
		put_string(c, &f->arch);
		break;
	case FEATURE_CPUDESC:
		put_string(c, &f->cpu_desc);
		break;
	case FEATURE_CPUID:
		put_string(c, &f->cpuid);
		break;
	case FEATURE_NRCPUS:
		f->cpus_available = cursor_u32(c);
		f->cpus_online = cursor_u32(c);
		break;
	case FEATURE_TOTAL_MEM:
		f->total_memory_kb = cursor_u64(c);
		break;
	case FEATURE_CMDLINE:
		read_cmdline(f, c);
		break;
	case FEATURE_EVENT_DESC:
		read_event_desc(s, c);
		break;
	case FEATURE_GROUP_DESC:
		read_groups(s, c);
		break;
	case FEATURE_SAMPLE_TIME:
		f->first_sample_ns = cursor_u64(c);
		f->last_sample_ns = cursor_u64(c);
		break;
	case FEATURE_CLOCKID:
		f->clock_resolution_ns = cursor_u64(c);
		break;
	case FEATURE_CLOCK_DATA:
		read_clock(f, c);
		break;
	case FEATURE_COMPRESSED:
		read_compressed(f, c);
		break;
	case FEATURE_PMU_MAPPINGS:
		read_pmus(f, c);
		break;
	case FEATURE_BUILD_ID:
		read_build_ids(f, c);
		break;
	case FEATURE_TRACING_DATA:
		facts_add_tracing(f, s, *c, file_offset);
		break;
	default:
		break; /* kept as bytes, not needed yet */
	}
}

void facts_add(struct perfdata_facts *facts, struct stream *stream, enum feature feature,
	       struct cursor section, uint64_t file_offset)
{
	read_section(facts, stream, feature, &section, file_offset);
	if (section.failed)
		stream_damage(stream, file_offset, "the %s section of the header is not valid",
			      feature_name(feature));
}

const char *feature_name(enum feature feature)
{
	static const char *const names[FEATURE_END] = {
		"RESERVED",
		"TRACING_DATA",
		"BUILD_ID",
		"HOSTNAME",
		"OSRELEASE",
		"VERSION",
		"ARCH",
		"NRCPUS",
		"CPUDESC",
		"CPUID",
		"TOTAL_MEM",
		"CMDLINE",
		"EVENT_DESC",
		"CPU_TOPOLOGY",
		"NUMA_TOPOLOGY",
		"BRANCH_STACK",
		"PMU_MAPPINGS",
		"GROUP_DESC",
		"AUXTRACE",
		"STAT",
		"CACHE",
		"SAMPLE_TIME",
		"MEM_TOPOLOGY",
		"CLOCKID",
		"DIR_FORMAT",
		"BPF_PROG_INFO",
		"BPF_BTF",
		"COMPRESSED",
		"CPU_PMU_CAPS",
		"CLOCK_DATA",
		"HYBRID_TOPOLOGY",
		"PMU_CAPS",
		"CPU_DOMAIN_INFO",
	};

	return (unsigned)feature < FEATURE_END ? names[feature] : "unknown";
}

void facts_release(struct perfdata_facts *f)
{
	char *const strings[] = {f->hostname, f->os_release, f->version,
				 f->arch,     f->cpu_desc,   f->cpuid};

	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		free(strings[i]);
	strvec_release(&f->cmdline);
	vec_each(&f->pmus, pmu)
		free(pmu->name);
	vec_each(&f->build_ids, id)
		free(id->filename);
	vec_each(&f->tracepoints, t) {
		free(t->system);
		free(t->name);
		free(t->format);
	}
	vec_release(&f->pmus);
	vec_release(&f->build_ids);
	vec_each(&f->strings, string)
		free(string->text);
	vec_release(&f->tracepoints);
	vec_release(&f->strings);
	*f = (struct perfdata_facts){};
}
