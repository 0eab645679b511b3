/* From rings to the sink: build ids for mappings, which code was hit, and a limit of bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/drain.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RING_BYTES 4096
#define MARKED     PERF_RECORD_MISC_MMAP_BUILD_ID
#define NAME       "/a/file"

/* ---- records ---- */

struct mapping_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char name[8];
	uint8_t trailer[32];
};

struct sample_record {
	struct perf_event_header header;
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time, cpu, period;
	uint64_t depth, chain[3];
};

static struct mapping_record mapping(uint64_t inode, uint16_t misc)
{
	return (struct mapping_record){
		.header = {PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | misc,
			   sizeof(struct mapping_record)},
		.pid = 7,
		.tid = 7,
		.start = 0x10000,
		.length = 0x1000,
		.major = 254,
		.inode = inode,
		.generation = 5,
		.prot = PROT_READ | PROT_EXEC,
		.name = NAME,
	};
}

static struct sample_record sample(uint64_t ip, uint64_t caller)
{
	return (struct sample_record){
		.header = {PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(struct sample_record)},
		.ip = ip,
		.time = 1,
		.depth = 3,
		.chain = {PERF_CONTEXT_USER, ip, caller},
	};
}

/* ---- a ring that we write, and a sink that we read ---- */

static struct perf_event_mmap_page *control;
static unsigned char *data;
static struct event event;
static struct sampling sampling;
static struct buf written;
static unsigned told, peeked;

static int take(struct sink *s, unsigned lane, const struct ring_view *view, struct err *e)
{
	(void)s;
	(void)lane;
	(void)e;
	buf_add_mem(&written, view->first, view->first_bytes);
	buf_add_mem(&written, view->second, view->second_bytes);
	return 0;
}

static const struct sink_ops ops = {.append = take};
static struct sink sink = {.ops = &ops};

/* Inode 1 has an id, no other one has. */
static bool visit(void *ctx, const struct record *r, struct build_id *ret_id)
{
	(void)ctx;
	assert_null(r->mmap.build_id);
	assert_int_equal(r->mmap.major, 254);
	assert_string_equal(r->mmap.filename, NAME);
	told++;
	if (!ret_id) {
		peeked++;
		return false;
	}
	if (r->mmap.inode != 1)
		return false;
	*ret_id = (struct build_id){.size = 8, .bytes = {1, 2, 3, 4, 5, 6, 7, 8}};
	return true;
}

static void put(const void *record, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[(control->data_head + i) % RING_BYTES] = ((const unsigned char *)record)[i];
	control->data_head += size;
}

/* @begin: so much has gone through the ring before. */
static struct drain *begin_at(uint64_t begin)
{
	struct sampling_row row = {
		.event = &event,
		.leader = -1,
		.attr = {.sample_id_all = 1, .sample_type = SAMPLE_ALWAYS | PERF_SAMPLE_CALLCHAIN}};
	struct sampling_ring ring = {
		.ring = {.base = control, .data = data, .bytes = RING_BYTES, .tail = begin}};
	struct drain *d;

	control->data_head = control->data_tail = begin;
	vec_release(&sampling.rows);
	vec_release(&sampling.rings);
	vec_push(&sampling.rows, row);
	vec_push(&sampling.rings, ring);
	buf_clear(&written);
	told = peeked = 0;
	d = drain_new(&sampling, 1, visit, NULL);
	assert_int_equal(drain_start(d, &sink, NULL), 0);
	return d;
}

static const struct mapping_record *written_mapping(size_t number)
{
	assert_true(written.len >= (number + 1) * sizeof(struct mapping_record));
	return (const void *)(written.s + number * sizeof(struct mapping_record));
}

/* ---- tests ---- */

static void check_ids(uint64_t begin)
{
	struct mapping_record has = mapping(1, 0), lies = mapping(1, MARKED), none = mapping(2, 0),
			      lying_none = mapping(2, MARKED);
	static const unsigned char part[24] = {8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
	struct drain *d = begin_at(begin);

	put(&has, sizeof(has));
	put(&lies, sizeof(lies));
	put(&none, sizeof(none));
	put(&lying_none, sizeof(lying_none));
	drain_peek(d);
	assert_int_equal(peeked, 4);
	assert_int_equal(written.len, 0);
	assert_int_equal(drain_round(d, NULL), 0);
	assert_int_equal(told, 8);
	assert_int_equal(written.len, 4 * sizeof(has));
	for (size_t i = 0; i < 2; i++) {
		const struct mapping_record *m = written_mapping(i);

		assert_true(m->header.misc & MARKED);
		assert_memory_equal(&m->major, part, sizeof(part));
		assert_memory_equal(&m->prot, &has.prot,
				    sizeof(has) - offsetof(struct mapping_record, prot));
		assert_int_equal(m->start, has.start);
	}
	/* The kernel's mark without an id is taken away. */
	assert_memory_equal(written_mapping(2), &none, sizeof(none));
	assert_memory_equal(written_mapping(3), &none, sizeof(none));
	assert_int_equal(control->data_tail, control->data_head);
	drain_free(d);
}

static void mappings_get_build_ids(void **state)
{
	(void)state;
	check_ids(0);
}

static void also_around_the_end_of_the_ring(void **state)
{
	(void)state;
	for (uint64_t before = 8; before < 3 * sizeof(struct mapping_record); before += 8)
		check_ids(10 * RING_BYTES - before);
}

static void nothing_is_copied_without_need(void **state)
{
	struct sample_record s = sample(0x1000, 0x2000);
	struct drain *d = begin_at(0);

	(void)state;
	put(&s, sizeof(s));
	assert_int_equal(drain_round(d, NULL), 0);
	assert_int_equal(written.len, sizeof(s));
	assert_memory_equal(written.s, &s, sizeof(s));
	drain_free(d);
}

static void samples_and_callers_are_hits(void **state)
{
	struct sample_record s = sample(0x7f0000001234, 0x555500000010),
			     kernel = sample(0xffffffff81000000, 0x666600000000);

	(void)state;
	for (uint64_t begin = RING_BYTES - 2 * sizeof(s); begin <= RING_BYTES; begin += 8) {
		struct drain *d = begin_at(begin);
		struct hits hits = {};

		assert_true(drain_watch_hits(d));
		put(&s, sizeof(s));
		put(&kernel, sizeof(kernel));
		assert_int_equal(drain_round(d, NULL), 0);
		drain_hits(d, &hits);
		hits_sort(&hits);
		assert_int_equal(hits.sorted.len, 3);
		assert_true(hits_in(&hits, 0x7f0000000000, 0x10000));
		assert_true(hits_in(&hits, 0x7f0000001000, 0x1000));
		assert_false(hits_in(&hits, 0x7f0000002000, 0x10000));
		assert_false(hits_in(&hits, 0x7f0000000000, 0x1000));
		assert_true(hits_in(&hits, 0x555500000000, 0x1000));
		assert_true(hits_in(&hits, 0x666600000000, 0x1000));
		hits_release(&hits);
		drain_free(d);
	}
}

static void who_must_unwind_does_not_know_callers(void **state)
{
	struct drain *d = begin_at(0);

	(void)state;
	sampling.rows.items[0].attr.exclude_callchain_user = 1;
	assert_false(drain_watch_hits(d));
	drain_free(d);
}

static void too_many_pages_are_all(void **state)
{
	struct hits hits = {}, other = {};

	(void)state;
	for (uint64_t i = 0; i < HIT_PAGES_MAX; i++)
		hits_add(&hits, i << HIT_PAGE_SHIFT);
	assert_false(hits.all);
	hits_merge(&other, &hits);
	hits_sort(&other);
	assert_false(hits_in(&other, (uint64_t)HIT_PAGES_MAX << HIT_PAGE_SHIFT, 1));
	assert_true(hits_in(&other, (uint64_t)(HIT_PAGES_MAX - 1) << HIT_PAGE_SHIFT, 1));
	hits_add(&hits, UINT64_C(1) << 40);
	assert_true(hits.all);
	assert_true(hits_in(&hits, 0x123456789000, 1));
	hits_merge(&other, &hits);
	assert_true(other.all);
	hits_release(&hits);
	hits_release(&other);
}

/* Samples are left out, what explains others is not. */
static void a_limit_is_kept(void **state)
{
	struct sample_record s = sample(0x1000, 0x2000);
	struct mapping_record m = mapping(2, 0);

	(void)state;
	for (uint64_t begin = 0; begin < RING_BYTES; begin += 8) {
		struct drain *d = begin_at(begin);
		struct record_counts counts;

		drain_limit(d, 3 * sizeof(s));
		put(&s, sizeof(s));
		put(&s, sizeof(s));
		assert_int_equal(drain_round(d, NULL), 0);
		assert_false(drain_is_cut(d));
		for (int i = 0; i < 4; i++)
			put(&s, sizeof(s));
		put(&m, sizeof(m));
		put(&s, sizeof(s));
		assert_int_equal(drain_round(d, NULL), 0);
		assert_true(drain_is_cut(d));
		assert_int_equal(written.len, 3 * sizeof(s) + sizeof(m));
		assert_memory_equal(written.s + 3 * sizeof(s), &m, sizeof(m));
		drain_counts(d, &counts);
		assert_int_equal(counts.samples, 3);
		assert_int_equal(control->data_tail, control->data_head);
		drain_free(d);
	}
}

static int make(void **state)
{
	(void)state;
	control = calloc(1, sizeof(*control));
	data = calloc(1, RING_BYTES);
	return !control || !data;
}

static int release(void **state)
{
	(void)state;
	free(control);
	free(data);
	vec_release(&sampling.rows);
	vec_release(&sampling.rings);
	buf_release(&written);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_get_build_ids),
		cmocka_unit_test(also_around_the_end_of_the_ring),
		cmocka_unit_test(nothing_is_copied_without_need),
		cmocka_unit_test(samples_and_callers_are_hits),
		cmocka_unit_test(who_must_unwind_does_not_know_callers),
		cmocka_unit_test(too_many_pages_are_all),
		cmocka_unit_test(a_limit_is_kept),
	};

	return cmocka_run_group_tests_name("drain", tests, make, release);
}
