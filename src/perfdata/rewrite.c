#include "perfdata/rewrite.h"
#include "perf/record.h"

#include <errno.h>
#include <string.h>

/* Records are handed to the writer in pieces of this size; each piece is a round. */
#define CHUNK_BYTES (1u << 20)

/* ---- the header ---- */

/* Sections that only told how the old file was laid out. */
#define LAYOUT_FEATURES                                                                            \
	(1ull << FEATURE_COMPRESSED | 1ull << FEATURE_AUXTRACE | 1ull << FEATURE_DIR_FORMAT)

static void add_string(struct feature_set *set, enum feature feature, const char *s)
{
	if (s)
		feature_add_str(feature_set_begin(set, feature), s);
}

static void add_build_ids(struct feature_set *set, const struct perfdata_facts *f)
{
	struct buf *b;

	if (!f->build_ids.len)
		return;
	b = feature_set_begin(set, FEATURE_BUILD_ID);
	vec_each(&f->build_ids, id) {
		size_t name = (strlen(id->filename) + 8) & ~(size_t)7;
		unsigned char bytes[24] = {};
		struct perf_event_header h = {.misc = id->misc | MISC_BUILD_ID_SIZE};

		if (sizeof(h) + 28 + name > RECORD_BYTES_MAX)
			continue;
		h.size = (uint16_t)(sizeof(h) + 28 + name);
		memcpy(bytes, id->id, sizeof(id->id));
		bytes[20] = id->size;
		buf_add_mem(b, &h, sizeof(h));
		feature_add_u32(b, (uint32_t)id->pid);
		buf_add_mem(b, bytes, sizeof(bytes));
		buf_add(b, id->filename);
		buf_pad(b, name - strlen(id->filename), '\0');
	}
}

static void add_event_desc(struct feature_set *set, const struct stream *s)
{
	struct buf *b = feature_set_begin(set, FEATURE_EVENT_DESC);

	feature_add_u32(b, (uint32_t)s->events.len);
	feature_add_u32(b, sizeof(struct perf_event_attr));
	vec_each(&s->events, event) {
		struct perf_event_attr attr = event->attr;

		attr.size = sizeof(attr);
		buf_add_mem(b, &attr, sizeof(attr));
		feature_add_u32(b, (uint32_t)event->ids.len);
		feature_add_str(b, perfdata_event_name(event));
		buf_add_mem(b, event->ids.items, event->ids.len * sizeof(uint64_t));
	}
}

/* Groups keep their leaders; the names of groups are lost, they are never shown. */
static void add_groups(struct feature_set *set, const struct stream *s)
{
	uint32_t groups = 0;
	struct buf *b;

	vec_each(&s->events, event)
		groups += event->members > 1;
	if (!groups)
		return;
	b = feature_set_begin(set, FEATURE_GROUP_DESC);
	feature_add_u32(b, groups);
	for (uint32_t i = 0; i < s->events.len; i++) {
		if (s->events.items[i].members < 2)
			continue;
		feature_add_str(b, "{anon_group}");
		feature_add_u32(b, i);
		feature_add_u32(b, s->events.items[i].members);
	}
}

static void add_times(struct feature_set *set, const struct perfdata_facts *f)
{
	struct buf *b;

	if (f->last_sample_ns) {
		b = feature_set_begin(set, FEATURE_SAMPLE_TIME);
		feature_add_u64(b, f->first_sample_ns);
		feature_add_u64(b, f->last_sample_ns);
	}
	if (f->clock_resolution_ns)
		feature_add_u64(feature_set_begin(set, FEATURE_CLOCKID), f->clock_resolution_ns);
	if (f->has_clock) {
		b = feature_set_begin(set, FEATURE_CLOCK_DATA);
		feature_add_u32(b, 1); /* version */
		feature_add_u32(b, f->clock_id);
		feature_add_u64(b, f->wall_ns);
		feature_add_u64(b, f->clock_ns);
	}
}

static void add_pmus(struct feature_set *set, const struct perfdata_facts *f)
{
	struct buf *b;

	if (!f->pmus.len)
		return;
	b = feature_set_begin(set, FEATURE_PMU_MAPPINGS);
	feature_add_u32(b, (uint32_t)f->pmus.len);
	vec_each(&f->pmus, pmu) {
		feature_add_u32(b, pmu->type);
		feature_add_str(b, pmu->name);
	}
}

/* What we understand of a foreign header, said in our byte order. */
static void translate_features(struct rewrite *r)
{
	const struct perfdata_facts *f = &r->from->facts;
	struct feature_set *set = &r->features;

	add_string(set, FEATURE_HOSTNAME, f->hostname);
	add_string(set, FEATURE_OSRELEASE, f->os_release);
	add_string(set, FEATURE_VERSION, f->version);
	add_string(set, FEATURE_ARCH, f->arch);
	add_string(set, FEATURE_CPUDESC, f->cpu_desc);
	add_string(set, FEATURE_CPUID, f->cpuid);
	if (f->cpus_online) {
		struct buf *b = feature_set_begin(set, FEATURE_NRCPUS);

		feature_add_u32(b, f->cpus_available);
		feature_add_u32(b, f->cpus_online);
	}
	if (f->total_memory_kb)
		feature_add_u64(feature_set_begin(set, FEATURE_TOTAL_MEM), f->total_memory_kb);
	if (f->cmdline.len) {
		struct buf *b = feature_set_begin(set, FEATURE_CMDLINE);

		feature_add_u32(b, (uint32_t)f->cmdline.len);
		vec_each(&f->cmdline, word)
			feature_add_str(b, *word);
	}
	add_event_desc(set, &r->from->stream);
	add_groups(set, &r->from->stream);
	add_build_ids(set, f);
	add_times(set, f);
	add_pmus(set, f);
	/* These bytes name their own byte order. */
	if (feature_set_has(&r->from->features, FEATURE_TRACING_DATA)) {
		const struct buf *old = &r->from->features.sections[FEATURE_TRACING_DATA];

		buf_add_mem(feature_set_begin(set, FEATURE_TRACING_DATA), buf_str(old), old->len);
	}
}

static void copy_features(struct rewrite *r)
{
	const struct feature_set *old = &r->from->features;

	for (unsigned f = 1; f < FEATURE_END; f++)
		if (feature_set_has(old, f) && !(LAYOUT_FEATURES >> f & 1))
			buf_add_mem(feature_set_begin(&r->features, f), buf_str(&old->sections[f]),
				    old->sections[f].len);
	/* A pipe has them as records. */
	if (!feature_set_has(old, FEATURE_BUILD_ID))
		add_build_ids(&r->features, &r->from->facts);
	if (!feature_set_has(old, FEATURE_EVENT_DESC) && old->present)
		add_event_desc(&r->features, &r->from->stream);
}

static void fill_features(struct rewrite *r)
{
	if (r->from->stream.swap)
		translate_features(r);
	else
		copy_features(r);
}

/* ---- the records ---- */

/* In pipe form the events come along with the records, so the output begins with the first one. */
static int begin(struct rewrite *r)
{
	struct writer_options options = {
		.path = r->path,
		.features = &r->features,
		.zstd_level = r->zstd_level,
	};
	int result;

	fill_features(r);
	vec_each(&r->from->stream.events, event)
		vec_push(&r->events, (struct writer_event){.name = perfdata_event_name(event),
							   .attr = event->attr,
							   .ids = event->ids.items,
							   .id_count = event->ids.len});
	options.events = r->events.items;
	options.event_count = r->events.len;
	result = writer_open(&r->writer, &options, r->e);
	if (result == 0)
		r->lane = writer_lane_new(r->writer);
	return result;
}

static bool flush(struct rewrite *r)
{
	if (r->result == 0 && !r->writer)
		r->result = begin(r);
	if (r->result == 0 && r->chunk.len)
		r->result = writer_append(r->lane, r->chunk.s, r->chunk.len, NULL, 0, r->e);
	/* Nothing may come between a record and what follows it. */
	if (r->result == 0 && !r->following)
		r->result = writer_round(r->writer, r->e);
	buf_clear(&r->chunk);
	return r->result == 0;
}

static bool put(struct rewrite *r, const void *bytes, size_t size)
{
	buf_add_mem(&r->chunk, bytes, size);
	return r->chunk.len < CHUNK_BYTES || flush(r);
}

static bool put_record(void *ctx, const struct stream_record *from)
{
	struct rewrite *r = ctx;
	struct record view;
	const char *reason;

	/* A size that is no multiple of 8 would spoil the alignment of all that follows. */
	if (from->header->size % 8 ||
	    record_decode(&from->event->layout, from->header, &view, &reason) < 0) {
		r->dropped++;
		return true;
	}
	r->records++;
	r->following = false;
	return put(r, from->header, from->header->size);
}

/* Whether a tool's record has a meaning in the new file. */
static bool is_kept(uint32_t type)
{
	switch (type) {
	case USER_HEADER_ATTR: /* the header has it */
	case USER_EVENT_TYPE:
	case USER_EVENT_UPDATE:
	case USER_TRACING_DATA:
	case USER_BUILD_ID:
	case USER_HEADER_FEATURE:
	case USER_FINISHED_ROUND: /* the writer makes its own */
	case USER_COMPRESSED:     /* what was in it comes by itself */
	case USER_COMPRESSED2:
		return false;
	default:
		return type < USER_RECORD_END;
	}
}

static void put_user(void *ctx, unsigned char *bytes, uint64_t file_offset, uint64_t *ret_skip)
{
	struct rewrite *r = ctx;
	const struct perf_event_header *h = (const void *)bytes;

	(void)file_offset;
	(void)ret_skip;
	r->following = false;
	if (!is_kept(h->type) || h->size % 8)
		return;
	if (r->from->stream.swap || (r->zstd_level && h->type == USER_AUXTRACE)) {
		r->left_out++;
		return;
	}
	r->following = h->type == USER_AUXTRACE;
	put(r, bytes, h->size);
}

static void put_follow(void *ctx, const unsigned char *bytes, size_t size)
{
	struct rewrite *r = ctx;

	if (r->following)
		put(r, bytes, size);
}

static const struct stream_visitor rewriter = {
	.record = put_record, .user = put_user, .follow = put_follow};

int rewrite_run(struct rewrite *r, bool *ret_written, struct err *e)
{
	struct err ours = {};
	int read_result;

	r->e = &ours;
	read_result = perfdata_read(r->from, &rewriter, r, e);
	r->following = false;
	if (r->result == 0)
		flush(r);
	fill_features(r); /* a pipe may have said more */
	if (r->lane)
		writer_lane_free(r->lane);
	if (r->writer) {
		int finished = writer_finish(r->writer, r->result ? NULL : &ours);

		if (r->result == 0)
			r->result = finished;
	}
	*ret_written = r->result == 0;
	if (r->result < 0) {
		read_result = r->result;
		if (e)
			*e = ours;
	}
	buf_release(&r->chunk);
	vec_release(&r->events);
	feature_set_release(&r->features);
	return read_result;
}
