/* Every record type and every part of a sample, whole, cut at every byte, and of a foreign machine. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_build.h"
#include "record_touch.h"

#include <errno.h>

#define W(n) (0x1122334455667700ull + (n)) /* no two bytes of it are alike */
#define D(n) (0x11223300u + (n))

/* ---- records that are not samples ---- */

struct kind {
	uint32_t type;
	uint16_t misc;
	void (*make)(struct build *b);
	void (*check)(const struct record *r);
	bool never_short; /* has no body that could be missed */
	bool ids;         /* whoever opened the event has asked for build ids */
};

static void two(struct build *b)
{
	build_u32(b, D(1));
	build_u32(b, D(2));
}

static void three_words(struct build *b)
{
	build_u64(b, W(1));
	build_u64(b, W(2));
	build_u64(b, W(3));
}

static void make_mmap(struct build *b)
{
	two(b);
	three_words(b);
	build_text(b, "/usr/bin/a program");
}

static void check_mmap(const struct record *r)
{
	assert_int_equal(r->mmap.pid, D(1));
	assert_int_equal(r->mmap.tid, D(2));
	assert_int_equal(r->mmap.start, W(1));
	assert_int_equal(r->mmap.length, W(2));
	assert_int_equal(r->mmap.file_offset, W(3));
	assert_string_equal(r->mmap.filename, "/usr/bin/a program");
}

static void add_device(struct build *b)
{
	build_u32(b, D(3));
	build_u32(b, D(4));
	build_u64(b, W(4));
	build_u64(b, W(5));
}

static void make_mmap2(struct build *b)
{
	two(b);
	three_words(b);
	add_device(b);
	build_u32(b, 5);
	build_u32(b, 2);
	build_text(b, "/usr/bin/a program");
}

static void check_device(const struct record *r)
{
	check_mmap(r);
	assert_int_equal(r->mmap.major, D(3));
	assert_int_equal(r->mmap.minor, D(4));
	assert_int_equal(r->mmap.inode, W(4));
	assert_int_equal(r->mmap.inode_generation, W(5));
	assert_null(r->mmap.build_id);
}

static void check_mmap2(const struct record *r)
{
	check_device(r);
	assert_int_equal(r->mmap.prot, 5);
	assert_int_equal(r->mmap.flags, 2);
}

static void make_mmap2_old(struct build *b)
{
	two(b);
	three_words(b);
	add_device(b);
	build_text(b, "/usr/bin/a program");
}

static void check_mmap2_old(const struct record *r)
{
	check_device(r);
	assert_int_equal(r->mmap.prot, 0);
}

static void make_mmap2_build_id(struct build *b)
{
	two(b);
	three_words(b);
	buf_add_mem(&b->out, "\x14\0\0\0abcdefghijklmnopqrst", 24);
	build_u32(b, 7);
	build_u32(b, 1);
	build_text(b, "/usr/bin/a program");
}

static void check_mmap2_build_id(const struct record *r)
{
	check_mmap(r);
	assert_int_equal(r->mmap.build_id_size, 20);
	assert_memory_equal(r->mmap.build_id, "abcdefghijklmnopqrst", 20);
	assert_int_equal(r->mmap.prot, 7);
	assert_int_equal(r->mmap.flags, 1);
}

/* A size beyond the room of an id is a lie, and so is the id. */
static void check_mmap2_long_build_id(const struct record *r)
{
	check_mmap(r);
	assert_int_equal(r->mmap.build_id_size, 0);
}

static void make_build_id_lies(struct build *b)
{
	two(b);
	three_words(b);
	buf_add_mem(&b->out, "\xff\0\0\0abcdefghijklmnopqrst", 24);
	build_u32(b, 7);
	build_u32(b, 1);
	build_text(b, "/usr/bin/a program");
}

/* The numbers of a disk that could be the length of an id, and the beginning of one. */
static void make_small_device(struct build *b)
{
	two(b);
	three_words(b);
	build_u32(b, 8);
	build_u32(b, 1);
	build_u64(b, 4711);
	build_u64(b, 0);
	build_u32(b, 5);
	build_u32(b, 2);
	build_text(b, "/usr/bin/a program");
}

static void check_small_device(const struct record *r)
{
	check_mmap(r);
	assert_int_equal(r->mmap.major, 8);
	assert_int_equal(r->mmap.inode, 4711);
	assert_null(r->mmap.build_id);
	assert_int_equal(r->mmap.prot, 5);
}

static void make_lost(struct build *b)
{
	build_u64(b, W(1));
	build_u64(b, W(2));
}

static void check_lost(const struct record *r)
{
	assert_int_equal(r->lost.id, W(1));
	assert_int_equal(r->lost.lost, W(2));
}

static void make_comm(struct build *b)
{
	two(b);
	build_text(b, "a name");
}

static void check_comm(const struct record *r)
{
	assert_int_equal(r->comm.pid, D(1));
	assert_int_equal(r->comm.tid, D(2));
	assert_string_equal(r->comm.comm, "a name");
}

static void make_task(struct build *b)
{
	two(b);
	build_u32(b, D(3));
	build_u32(b, D(4));
	build_u64(b, W(1));
}

static void check_task(const struct record *r)
{
	assert_int_equal(r->task.pid, D(1));
	assert_int_equal(r->task.parent_pid, D(2));
	assert_int_equal(r->task.tid, D(3));
	assert_int_equal(r->task.parent_tid, D(4));
	assert_int_equal(r->task.time_ns, W(1));
}

static void check_throttle(const struct record *r)
{
	assert_int_equal(r->throttle.time_ns, W(1));
	assert_int_equal(r->throttle.id, W(2));
	assert_int_equal(r->throttle.stream_id, W(3));
}

static void check_aux(const struct record *r)
{
	assert_int_equal(r->aux.offset, W(1));
	assert_int_equal(r->aux.size, W(2));
	assert_int_equal(r->aux.flags, W(3));
}

static void make_read(struct build *b)
{
	two(b);
	build_u64(b, W(1));
}

static void check_read(const struct record *r)
{
	assert_int_equal(r->read.pid, D(1));
	assert_int_equal(r->read.tid, D(2));
	assert_int_equal(r->read.values.count, 1);
	assert_int_equal(read_values_get(&r->read.values, 0).value, W(1));
	assert_int_equal(read_values_get(&r->read.values, 1).value, 0);
}

static void check_itrace(const struct record *r)
{
	assert_int_equal(r->itrace.pid, D(1));
	assert_int_equal(r->itrace.tid, D(2));
}

static void make_word(struct build *b)
{
	build_u64(b, W(1));
}

static void check_lost_samples(const struct record *r)
{
	assert_int_equal(r->lost.lost, W(1));
}

static void make_nothing(struct build *b)
{
	(void)b;
}

static void check_nothing(const struct record *r)
{
	(void)r;
}

static void check_switch(const struct record *r)
{
	assert_int_equal(r->context_switch.pid, D(1));
	assert_int_equal(r->context_switch.tid, D(2));
}

static void make_namespaces(struct build *b)
{
	two(b);
	build_u64(b, 2);
	build_u64(b, W(1));
	build_u64(b, W(2));
	build_u64(b, W(3));
	build_u64(b, W(4));
}

static void check_namespaces(const struct record *r)
{
	assert_int_equal(r->namespaces.count, 2);
	assert_int_equal(r->namespaces.entries[0].device, W(1));
	assert_int_equal(r->namespaces.entries[1].inode, W(4));
}

static void make_ksymbol(struct build *b)
{
	build_u64(b, W(1));
	build_u32(b, D(1));
	build_u16(b, 0x1234);
	build_u16(b, 0x5678);
	build_text(b, "bpf_prog_1");
}

static void check_ksymbol(const struct record *r)
{
	assert_int_equal(r->ksymbol.address, W(1));
	assert_int_equal(r->ksymbol.length, D(1));
	assert_int_equal(r->ksymbol.type, 0x1234);
	assert_int_equal(r->ksymbol.flags, 0x5678);
	assert_string_equal(r->ksymbol.name, "bpf_prog_1");
}

static void make_bpf(struct build *b)
{
	build_u16(b, 0x1234);
	build_u16(b, 0x5678);
	build_u32(b, D(1));
	buf_add_mem(&b->out, "tagtagta", 8);
}

static void check_bpf(const struct record *r)
{
	assert_int_equal(r->bpf.type, 0x1234);
	assert_int_equal(r->bpf.flags, 0x5678);
	assert_int_equal(r->bpf.id, D(1));
	assert_memory_equal(r->bpf.tag, "tagtagta", 8);
}

static void make_cgroup(struct build *b)
{
	build_u64(b, W(1));
	build_text(b, "/user.slice");
}

static void check_cgroup(const struct record *r)
{
	assert_int_equal(r->cgroup.id, W(1));
	assert_string_equal(r->cgroup.path, "/user.slice");
}

static void make_text_poke(struct build *b)
{
	build_u64(b, W(1));
	build_u16(b, 3);
	build_u16(b, 5);
	buf_add_mem(&b->out, "oldnewer\0\0\0\0", 12);
}

static void check_text_poke(const struct record *r)
{
	assert_int_equal(r->text_poke.address, W(1));
	assert_int_equal(r->text_poke.old_size, 3);
	assert_int_equal(r->text_poke.new_size, 5);
	assert_memory_equal(r->text_poke.bytes, "oldnewer", 8);
}

static void check_hw_id(const struct record *r)
{
	assert_int_equal(r->hw_id, W(1));
}

static void make_deferred(struct build *b)
{
	build_u64(b, W(1));
	build_u64(b, 2);
	build_u64(b, W(2));
	build_u64(b, W(3));
}

static void check_deferred(const struct record *r)
{
	assert_int_equal(r->deferred.cookie, W(1));
	assert_int_equal(r->deferred.chain_len, 2);
	assert_int_equal(r->deferred.chain[1], W(3));
}

static const struct kind kinds[] = {
	{PERF_RECORD_MMAP, 0, make_mmap, check_mmap, false},
	{PERF_RECORD_LOST, 0, make_lost, check_lost, false},
	{PERF_RECORD_COMM, 0, make_comm, check_comm, false},
	{PERF_RECORD_EXIT, 0, make_task, check_task, false},
	{PERF_RECORD_THROTTLE, 0, three_words, check_throttle, false},
	{PERF_RECORD_UNTHROTTLE, 0, three_words, check_throttle, false},
	{PERF_RECORD_FORK, 0, make_task, check_task, false},
	{PERF_RECORD_READ, 0, make_read, check_read, false},
	{PERF_RECORD_MMAP2, 0, make_mmap2, check_mmap2, false},
	{PERF_RECORD_MMAP2, 0, make_mmap2_old, check_mmap2_old, false},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, make_mmap2_build_id,
	 check_mmap2_build_id, false, true},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, make_build_id_lies,
	 check_mmap2_long_build_id, false, true},
	/* Marked because somebody else has asked; put there by who rewrote the file. */
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, make_mmap2, check_mmap2, false},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, make_small_device, check_small_device,
	 false},
	{PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, make_mmap2_build_id,
	 check_mmap2_build_id, false},
	{PERF_RECORD_AUX, 0, three_words, check_aux, false},
	{PERF_RECORD_ITRACE_START, 0, two, check_itrace, false},
	{PERF_RECORD_LOST_SAMPLES, 0, make_word, check_lost_samples, false},
	{PERF_RECORD_SWITCH, 0, make_nothing, check_nothing, true},
	{PERF_RECORD_SWITCH_CPU_WIDE, 0, two, check_switch, false},
	{PERF_RECORD_NAMESPACES, 0, make_namespaces, check_namespaces, false},
	{PERF_RECORD_KSYMBOL, 0, make_ksymbol, check_ksymbol, false},
	{PERF_RECORD_BPF_EVENT, 0, make_bpf, check_bpf, false},
	{PERF_RECORD_CGROUP, 0, make_cgroup, check_cgroup, false},
	{PERF_RECORD_TEXT_POKE, 0, make_text_poke, check_text_poke, false},
	{PERF_RECORD_AUX_OUTPUT_HW_ID, 0, make_word, check_hw_id, false},
	{RECORD_CALLCHAIN_DEFERRED, 0, make_deferred, check_deferred, false},
};

/* ---- what all records end with ---- */

static const uint64_t trailer_bits[] = {
	PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER,
};

static uint64_t bits_of(unsigned choice, const uint64_t *bits, size_t count)
{
	uint64_t type = 0;

	for (size_t i = 0; i < count; i++)
		if (choice >> i & 1)
			type |= bits[i];
	return type;
}

static void add_trailer(struct build *b, uint64_t type)
{
	if (type & PERF_SAMPLE_TID) {
		build_u32(b, D(10));
		build_u32(b, D(11));
	}
	if (type & PERF_SAMPLE_TIME)
		build_u64(b, W(12));
	if (type & PERF_SAMPLE_ID)
		build_u64(b, W(13));
	if (type & PERF_SAMPLE_STREAM_ID)
		build_u64(b, W(14));
	if (type & PERF_SAMPLE_CPU) {
		build_u32(b, D(15));
		build_u32(b, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		build_u64(b, W(13));
}

static void check_id(const struct record *r, uint64_t type)
{
	assert_true(r->has_id);
	assert_int_equal(r->id.pid, type & PERF_SAMPLE_TID ? D(10) : 0);
	assert_int_equal(r->id.tid, type & PERF_SAMPLE_TID ? D(11) : 0);
	assert_int_equal(r->id.time_ns, type & PERF_SAMPLE_TIME ? W(12) : 0);
	assert_int_equal(r->id.id, type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? W(13) : 0);
	assert_int_equal(r->id.stream_id, type & PERF_SAMPLE_STREAM_ID ? W(14) : 0);
	assert_int_equal(r->id.cpu, type & PERF_SAMPLE_CPU ? D(15) : 0);
}

/* ---- what is done with each ---- */

/* Only its first @len bytes, in memory of just that size. */
static void decode_cut(const struct layout *l, const struct build *b, size_t len)
{
	struct perf_event_header *h = malloc(len);
	const char *reason = NULL;
	struct record r;

	assert_non_null(h);
	memcpy(h, b->out.s, len);
	h->size = (uint16_t)len;
	if (b->foreign) {
		if (record_swap(l, h, &reason) == 0)
			assert_int_equal(record_decode(l, h, &r, &reason), 0);
	} else if (record_decode(l, h, &r, &reason) == 0) {
		touch_record(h, l, &r);
	} else {
		assert_non_null(reason);
	}
	free(h);
}

static struct record decode_whole(const struct layout *l, const struct build *b)
{
	const char *reason = NULL;
	struct record r;

	if (record_decode(l, b->out.s, &r, &reason) < 0)
		fail_msg("type %u: %s", r.type, reason);
	touch_record((const void *)b->out.s, l, &r);
	return r;
}

/* The foreign copy, turned around, is what the same machine would have written here. */
static void swap_is_same(const struct layout *l, struct build *foreign, const struct build *ours)
{
	const char *reason = NULL;

	assert_int_equal(foreign->out.len, ours->out.len);
	if (record_swap(l, foreign->out.s, &reason) < 0)
		fail_msg("%s", reason);
	assert_memory_equal(foreign->out.s, ours->out.s, ours->out.len);
}

static void build_kind(struct build *b, const struct kind *k, uint64_t type)
{
	build_begin(b, k->type, k->misc);
	k->make(b);
	add_trailer(b, type);
	build_end(b);
}

static void every_kind_and_trailer(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (unsigned choice = 0; choice < 64; choice++) {
			uint64_t type = bits_of(choice, trailer_bits, 6);
			struct perf_event_attr attr = {
				.sample_type = type, .sample_id_all = 1, .build_id = kinds[i].ids};
			struct build ours = {}, foreign = {.foreign = true, .our_headers = true};
			struct layout l;
			struct record r;

			layout_init(&l, &attr);
			build_kind(&ours, &kinds[i], type);
			build_kind(&foreign, &kinds[i], type);
			r = decode_whole(&l, &ours);
			assert_int_equal(r.type, kinds[i].type);
			assert_int_equal(r.misc, kinds[i].misc);
			assert_int_equal(r.size, ours.out.len);
			kinds[i].check(&r);
			if (type)
				check_id(&r, type);
			for (size_t len = 8; len <= ours.out.len; len++) {
				decode_cut(&l, &ours, len);
				decode_cut(&l, &foreign, len);
			}
			swap_is_same(&l, &foreign, &ours);
			build_release(&ours);
			build_release(&foreign);
		}
}

/* Without an id at the end, everything but the padding of names is needed. */
static void short_is_refused(void **state)
{
	struct perf_event_attr attr = {};
	struct layout l;

	(void)state;
	layout_init(&l, &attr);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct perf_event_header h = {.type = kinds[i].type, .size = sizeof(h)};
		const char *reason = NULL;
		struct record r;

		assert_int_equal(record_decode(&l, &h, &r, &reason) == 0, kinds[i].never_short);
		assert_true(kinds[i].never_short || (reason && *reason));
		assert_non_null(record_type_name(kinds[i].type));
	}
	assert_null(record_type_name(RECORD_KERNEL_END));
	assert_null(record_type_name(0));
	assert_null(record_type_name(UINT32_MAX));
}

static void name_without_end(void **state)
{
	struct perf_event_attr attr = {};
	struct build b = {};
	const char *reason = NULL;
	struct layout l;
	struct record r;

	(void)state;
	layout_init(&l, &attr);
	build_begin(&b, PERF_RECORD_COMM, 0);
	two(&b);
	buf_add(&b.out, "12345678");
	build_end(&b);
	assert_int_equal(record_decode(&l, b.out.s, &r, &reason), -EBADMSG);
	build_release(&b);
}

static void unknown_types(void **state)
{
	static const uint32_t types[] = {0, 23, 40, 63, 64, 1000, UINT32_MAX};
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1};
	struct layout l;

	(void)state;
	layout_init(&l, &attr);
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct build b = {};
		struct record r;

		build_begin(&b, types[i], 7);
		build_u64(&b, W(1));
		build_end(&b);
		r = decode_whole(&l, &b);
		assert_int_equal(r.type, types[i]);
		assert_false(r.has_id);
		build_release(&b);
	}
}

/* Old tools left the id out of what they made up themselves: then there is no room for it. */
static void no_room_for_the_id(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID,
		.sample_id_all = 1,
	};
	struct build b = {};
	struct layout l;
	struct record r;

	(void)state;
	layout_init(&l, &attr);
	build_begin(&b, PERF_RECORD_SWITCH_CPU_WIDE, 0);
	two(&b);
	build_end(&b);
	r = decode_whole(&l, &b);
	assert_false(r.has_id);
	check_switch(&r);
	build_release(&b);
}

/* ---- where the id and the time stand ---- */

static uint64_t word_at(const struct build *b, size_t at)
{
	uint64_t v;

	assert_in_range(at, 8, b->out.len - 8);
	memcpy(&v, b->out.s + at, sizeof(v));
	return v;
}

static void trailer_positions(void **state)
{
	(void)state;
	for (unsigned choice = 0; choice < 64; choice++) {
		uint64_t type = bits_of(choice, trailer_bits, 6);
		struct perf_event_attr attr = {.sample_type = type, .sample_id_all = 1};
		struct build b = {};
		struct layout l;

		layout_init(&l, &attr);
		build_begin(&b, PERF_RECORD_SWITCH, 0);
		add_trailer(&b, type);
		build_end(&b);
		assert_int_equal(l.trailer_bytes, b.out.len - 8);
		if (type & PERF_SAMPLE_TIME)
			assert_int_equal(word_at(&b, b.out.len - l.trailer_time_at), W(12));
		else
			assert_int_equal(l.trailer_time_at, LAYOUT_NONE);
		if (type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
			assert_int_equal(word_at(&b, b.out.len - l.trailer_id_at), W(13));
		else
			assert_int_equal(l.trailer_id_at, LAYOUT_NONE);
		attr.sample_id_all = 0;
		layout_init(&l, &attr);
		assert_int_equal(l.trailer_bytes, 0);
		assert_int_equal(l.trailer_time_at, LAYOUT_NONE);
		assert_int_equal(l.trailer_id_at, LAYOUT_NONE);
		build_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_and_trailer), cmocka_unit_test(short_is_refused),
		cmocka_unit_test(name_without_end),       cmocka_unit_test(unknown_types),
		cmocka_unit_test(no_room_for_the_id),     cmocka_unit_test(trailer_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
