/*
 * Small perf.data files and pipes in memory, of either byte order, and a reader of them that notes
 * what it is given. Static functions, so that a test stays one file.
 */
#ifndef TACHO_TESTS_PERFDATA_BUILD_H
#define TACHO_TESTS_PERFDATA_BUILD_H

#include "perf/record.h"
#include "perfdata/summary.h"
#include "record_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COMMON_TYPE                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_PERIOD)
#define HEADER_BYTES 104
#define IDS_BYTES    16 /* of each event: two */

struct image {
	struct build b;
	size_t data_at, data_end;
	struct {
		unsigned feature;
		size_t at, size;
	} sections[16];
	size_t section_count;
	struct buf section_bytes;
};

static inline void image_release(struct image *im)
{
	build_release(&im->b);
	buf_release(&im->section_bytes);
}

/* An attr of @size bytes: software event @config, ids at the end of all records. */
static inline void build_attr(struct build *b, uint32_t size, uint64_t config)
{
	size_t start = b->out.len;

	build_u32(b, PERF_TYPE_SOFTWARE);
	build_u32(b, size);
	build_u64(b, config);
	build_u64(b, 4000);
	build_u64(b, COMMON_TYPE);
	build_u64(b, 0);
	/* sample_id_all is the 19th flag, counted from the end that the byte order begins with */
	build_u64(b, 1ull << (b->foreign ? 63 - 18 : 18));
	build_zeros(b, start + (size ? size : PERF_ATTR_SIZE_VER0) - b->out.len);
}

static inline void image_magic(struct image *im, uint64_t size)
{
	build_u64(&im->b, PERFDATA_MAGIC);
	build_u64(&im->b, size);
}

/* Event n has the ids 10n + 1 and 10n + 2. */
static inline void image_file(struct image *im, unsigned events, uint32_t attr_size)
{
	struct build *b = &im->b;
	uint32_t room = attr_size ? attr_size : PERF_ATTR_SIZE_VER0;
	size_t attrs_at;

	image_magic(im, HEADER_BYTES);
	build_zeros(b, HEADER_BYTES - 16);
	for (unsigned i = 0; i < events; i++) {
		build_u64(b, 10 * i + 1);
		build_u64(b, 10 * i + 2);
	}
	attrs_at = b->out.len;
	for (unsigned i = 0; i < events; i++) {
		build_attr(b, attr_size, i);
		build_u64(b, HEADER_BYTES + i * IDS_BYTES);
		build_u64(b, IDS_BYTES);
	}
	build_patch(b, 16, room + 16, 8, b->foreign);
	build_patch(b, 24, attrs_at, 8, b->foreign);
	build_patch(b, 32, b->out.len - attrs_at, 8, b->foreign);
	im->data_at = b->out.len;
}

/* A section that is one string. To be added in the order of their numbers. */
static inline void section_text(struct image *im, unsigned feature, const char *text)
{
	struct build s = {.foreign = im->b.foreign};

	build_u32(&s, (uint32_t)strlen(text) + 8);
	buf_add_mem(&s.out, text, strlen(text));
	build_zeros(&s, 8);
	im->sections[im->section_count].feature = feature;
	im->sections[im->section_count].at = im->section_bytes.len;
	im->sections[im->section_count++].size = s.out.len;
	buf_add_mem(&im->section_bytes, s.out.s, s.out.len);
	build_release(&s);
}

static inline void image_finish(struct image *im)
{
	struct build *b = &im->b;
	size_t sections_at;
	uint64_t bits = 0;

	im->data_end = b->out.len;
	sections_at = im->data_end + 16 * im->section_count;
	for (size_t i = 0; i < im->section_count; i++) {
		bits |= 1ull << im->sections[i].feature;
		build_u64(b, sections_at + im->sections[i].at);
		build_u64(b, im->sections[i].size);
	}
	if (im->section_bytes.len)
		buf_add_mem(&b->out, im->section_bytes.s, im->section_bytes.len);
	build_patch(b, 40, im->data_at, 8, b->foreign);
	build_patch(b, 48, im->data_end - im->data_at, 8, b->foreign);
	build_patch(b, 72, bits, 8, b->foreign);
}

static inline void image_pipe(struct image *im, unsigned events)
{
	image_magic(im, 16);
	im->data_at = 16;
	for (unsigned i = 0; i < events; i++) {
		build_begin(&im->b, USER_HEADER_ATTR, 0);
		build_attr(&im->b, PERF_ATTR_SIZE_VER5, i);
		build_u64(&im->b, 10 * i + 1);
		build_u64(&im->b, 10 * i + 2);
		build_end(&im->b);
	}
}

static inline void build_sample(struct build *b, uint64_t time_ns, uint64_t id)
{
	build_begin(b, PERF_RECORD_SAMPLE, 2);
	build_u64(b, id);
	build_u64(b, 0x401000);
	build_u32(b, 100);
	build_u32(b, 101);
	build_u64(b, time_ns);
	build_u64(b, 5000);
	build_end(b);
}

static inline void build_comm(struct build *b, uint64_t time_ns)
{
	build_begin(b, PERF_RECORD_COMM, 0);
	build_u32(b, 100);
	build_u32(b, 101);
	build_text(b, "busy");
	build_u32(b, 100);
	build_u32(b, 101);
	build_u64(b, time_ns);
	build_u64(b, 1);
	build_end(b);
}

static inline void build_round(struct build *b)
{
	build_begin(b, USER_FINISHED_ROUND, 0);
	build_end(b);
}

/* ---- reading ---- */

struct seen {
	VEC(struct stream_record) records; /* without what they point to */
	uint64_t stop_after;               /* 0: never */
	const struct image *image;         /* to compare offsets with, or NULL */
	uint64_t wrong_offsets;
	struct summary summary;
	struct perfdata *p;
	struct err e;
	int result;
};

static inline bool seen_record(void *ctx, const struct stream_record *r)
{
	struct seen *s = ctx;

	vec_push(&s->records, *r);
	if (s->image && !s->image->b.foreign &&
	    (r->file_offset + r->header->size > s->image->b.out.len ||
	     memcmp(s->image->b.out.s + r->file_offset, r->header, r->header->size)))
		s->wrong_offsets++;
	summary_visitor.record(&s->summary, r);
	return s->records.len != s->stop_after;
}

static const struct stream_visitor seen_visitor = {.record = seen_record};

/* False: it cannot be opened; s->e says why. */
static inline bool seen_path(struct seen *s, const char *path,
			     const struct perfdata_options *options)
{
	s->result = perfdata_open(&s->p, path, options, &s->e);
	if (s->result < 0)
		return false;
	s->summary.file = s->p;
	s->result = perfdata_read(s->p, &seen_visitor, s, &s->e);
	return true;
}

static inline bool seen_bytes(struct seen *s, const void *bytes, size_t size,
			      const struct perfdata_options *options)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	char path[64];
	bool opened;

	if (fd < 0 || (size && write(fd, bytes, size) != (ssize_t)size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = seen_path(s, path, options);
	close(fd);
	return opened;
}

static inline bool seen_image(struct seen *s, const struct image *im,
			      const struct perfdata_options *options)
{
	return seen_bytes(s, im->b.out.s, im->b.out.len, options);
}

static inline uint64_t seen_samples(const struct seen *s, size_t event)
{
	return event < s->summary.events.len ? s->summary.events.items[event].samples : 0;
}

static inline void seen_release(struct seen *s)
{
	vec_release(&s->records);
	summary_release(&s->summary);
	perfdata_close(s->p);
	*s = (struct seen){};
}

#endif
