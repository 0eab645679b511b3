/* Every part of a sample: alone, all together, in many mixtures; cut at every byte; foreign. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "record_build.h"
#include "record_touch.h"

#include <errno.h>

#define W(n) (0x1122334455667700ull + (n))
#define D(n) (0x11223300u + (n))

#define ALL_BITS      ((1ull << 25) - 1)
#define ALL_FORMATS   32u
#define MASK_USER     0x8000000000000015ull
#define MASK_INTR     0x3ull
#define BRANCH_EXTRAS (PERF_SAMPLE_BRANCH_HW_INDEX | SAMPLE_BRANCH_COUNTERS)

/* ---- building ---- */

static void add_fixed(struct build *b, uint64_t type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		build_u64(b, W(1));
	if (type & PERF_SAMPLE_IP)
		build_u64(b, W(2));
	if (type & PERF_SAMPLE_TID) {
		build_u32(b, D(3));
		build_u32(b, D(4));
	}
	if (type & PERF_SAMPLE_TIME)
		build_u64(b, W(5));
	if (type & PERF_SAMPLE_ADDR)
		build_u64(b, W(6));
	if (type & PERF_SAMPLE_ID)
		build_u64(b, W(1));
	if (type & PERF_SAMPLE_STREAM_ID)
		build_u64(b, W(7));
	if (type & PERF_SAMPLE_CPU) {
		build_u32(b, D(8));
		build_u32(b, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		build_u64(b, W(9));
}

static void add_value(struct build *b, uint64_t format, unsigned n)
{
	if (format & PERF_FORMAT_GROUP)
		build_u64(b, W(n));
	if (format & PERF_FORMAT_ID)
		build_u64(b, W(n + 1));
	if (format & PERF_FORMAT_LOST)
		build_u64(b, W(n + 2));
}

static void add_read(struct build *b, uint64_t format)
{
	build_u64(b, format & PERF_FORMAT_GROUP ? 2 : W(20));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		build_u64(b, W(10));
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		build_u64(b, W(11));
	add_value(b, format, 20);
	if (format & PERF_FORMAT_GROUP)
		add_value(b, format, 30);
}

/* The bit fields of struct perf_branch_entry, each where a machine of that byte order has it. */
static void add_branch_flags(struct build *b)
{
	static const struct {
		unsigned value, bits;
	} fields[] = {{1, 1}, {0, 1}, {1, 1},  {0, 1}, {0x1234, 16},
		      {9, 4}, {2, 2}, {11, 4}, {5, 3}};
	uint64_t flags = 0;
	unsigned at = 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		unsigned shift = b->foreign ? 64 - at - fields[i].bits : at;

		flags |= (uint64_t)fields[i].value << shift;
		at += fields[i].bits;
	}
	build_u64(b, flags);
}

static void add_branches(struct build *b, uint64_t branch_type)
{
	build_u64(b, 2);
	if (branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		build_u64(b, W(40));
	for (unsigned i = 0; i < 2; i++) {
		build_u64(b, W(41 + i));
		build_u64(b, W(43 + i));
		add_branch_flags(b);
	}
	if (branch_type & SAMPLE_BRANCH_COUNTERS) {
		build_u64(b, W(45));
		build_u64(b, W(46));
	}
}

static void add_regs(struct build *b, uint64_t mask, unsigned n)
{
	build_u64(b, 2);
	for (int i = 0; i < __builtin_popcountll(mask); i++)
		build_u64(b, W(n + (unsigned)i));
}

static void add_weight(struct build *b, uint64_t type)
{
	if (!(type & PERF_SAMPLE_WEIGHT_STRUCT)) {
		build_u64(b, W(60));
	} else if (b->foreign) {
		build_u16(b, 0x1357);
		build_u16(b, 0x2468);
		build_u32(b, D(60));
	} else {
		build_u32(b, D(60));
		build_u16(b, 0x2468);
		build_u16(b, 0x1357);
	}
}

static void add_tail(struct build *b, uint64_t type)
{
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		add_weight(b, type);
	if (type & PERF_SAMPLE_DATA_SRC)
		build_u64(b, W(61));
	if (type & PERF_SAMPLE_TRANSACTION)
		build_u64(b, W(62));
	if (type & PERF_SAMPLE_REGS_INTR)
		add_regs(b, MASK_INTR, 70);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		build_u64(b, W(63));
	if (type & PERF_SAMPLE_CGROUP)
		build_u64(b, W(64));
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		build_u64(b, W(65));
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		build_u64(b, W(66));
	if (type & PERF_SAMPLE_AUX) {
		build_u64(b, 16);
		buf_add_mem(&b->out, "a trace, 16 byte", 16);
	}
}

static void build_sample(struct build *b, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	build_begin(b, PERF_RECORD_SAMPLE, 2);
	add_fixed(b, type);
	if (type & PERF_SAMPLE_READ)
		add_read(b, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		build_u64(b, 3);
		build_u64(b, PERF_CONTEXT_USER);
		build_u64(b, W(50));
		build_u64(b, W(51));
	}
	if (type & PERF_SAMPLE_RAW) {
		build_u32(b, 12);
		buf_add_mem(&b->out, "twelve bytes", 12);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		add_branches(b, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		add_regs(b, MASK_USER, 80);
	if (type & PERF_SAMPLE_STACK_USER) {
		build_u64(b, 16);
		buf_add_mem(&b->out, "this is a stack!", 16);
		build_u64(b, 8);
	}
	add_tail(b, type);
	build_end(b);
}

/* ---- checking ---- */

static void check_fixed(const struct record *r, uint64_t type)
{
	const struct sample *s = &r->sample;

	assert_true(r->has_id);
	assert_int_equal(r->id.id, type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? W(1) : 0);
	assert_int_equal(s->ip, type & PERF_SAMPLE_IP ? W(2) : 0);
	assert_int_equal(r->id.pid, type & PERF_SAMPLE_TID ? D(3) : 0);
	assert_int_equal(r->id.tid, type & PERF_SAMPLE_TID ? D(4) : 0);
	assert_int_equal(r->id.time_ns, type & PERF_SAMPLE_TIME ? W(5) : 0);
	assert_int_equal(s->addr, type & PERF_SAMPLE_ADDR ? W(6) : 0);
	assert_int_equal(r->id.stream_id, type & PERF_SAMPLE_STREAM_ID ? W(7) : 0);
	assert_int_equal(r->id.cpu, type & PERF_SAMPLE_CPU ? D(8) : 0);
	assert_int_equal(s->period, type & PERF_SAMPLE_PERIOD ? W(9) : 0);
}

static void check_read(const struct read_view *v, uint64_t format)
{
	uint64_t count = format & PERF_FORMAT_GROUP ? 2 : 1;

	assert_int_equal(v->count, count);
	assert_int_equal(v->enabled_ns, format & PERF_FORMAT_TOTAL_TIME_ENABLED ? W(10) : 0);
	assert_int_equal(v->running_ns, format & PERF_FORMAT_TOTAL_TIME_RUNNING ? W(11) : 0);
	for (unsigned i = 0; i < count; i++) {
		struct read_value one = read_values_get(v, i);

		assert_int_equal(one.value, W(20 + 10 * i));
		assert_int_equal(one.id, format & PERF_FORMAT_ID ? W(21 + 10 * i) : 0);
		assert_int_equal(one.lost, format & PERF_FORMAT_LOST ? W(22 + 10 * i) : 0);
	}
	assert_int_equal(read_values_get(v, count).value, 0);
}

static void check_branches(const struct branch_view *v, uint64_t branch_type)
{
	union {
		struct perf_branch_entry entry;
		uint64_t words[3];
	} first;

	assert_int_equal(v->count, 2);
	assert_int_equal(v->hw_index,
			 branch_type & PERF_SAMPLE_BRANCH_HW_INDEX ? W(40) : UINT64_MAX);
	assert_int_equal(v->entries[0].from, W(41));
	assert_int_equal(v->entries[1].from, W(42));
	assert_int_equal(v->entries[1].to, W(44));
	memcpy(&first, &v->entries[0], sizeof(first));
	assert_int_equal(first.entry.mispred, 1);
	assert_int_equal(first.entry.predicted, 0);
	assert_int_equal(first.entry.in_tx, 1);
	assert_int_equal(first.entry.abort, 0);
	assert_int_equal(first.entry.cycles, 0x1234);
	assert_int_equal(first.entry.type, 9);
	assert_int_equal(first.words[2] >> 24 & 3, 2);
	assert_int_equal(first.words[2] >> 26 & 15, 11);
	assert_int_equal(first.words[2] >> 30 & 7, 5);
	assert_int_equal(first.words[2] >> 33, 0);
	if (branch_type & SAMPLE_BRANCH_COUNTERS)
		assert_int_equal(v->counters[1], W(46));
	else
		assert_null(v->counters);
}

static void check_regs(const struct regs_view *v, uint64_t mask, unsigned n)
{
	assert_int_equal(v->abi, 2);
	assert_int_equal(v->mask, mask);
	for (int i = 0; i < __builtin_popcountll(mask); i++)
		assert_int_equal(v->values[i], W(n + (unsigned)i));
}

static void check_tail(const struct sample *s, uint64_t type)
{
	if (type & PERF_SAMPLE_WEIGHT_STRUCT) {
		assert_int_equal(s->weight, D(60));
		assert_int_equal(s->weight_low, D(60));
		assert_int_equal(s->weight_mid, 0x2468);
		assert_int_equal(s->weight_high, 0x1357);
	} else {
		assert_int_equal(s->weight, type & PERF_SAMPLE_WEIGHT ? W(60) : 0);
	}
	assert_int_equal(s->data_src, type & PERF_SAMPLE_DATA_SRC ? W(61) : 0);
	assert_int_equal(s->transaction, type & PERF_SAMPLE_TRANSACTION ? W(62) : 0);
	if (type & PERF_SAMPLE_REGS_INTR)
		check_regs(&s->regs_intr, MASK_INTR, 70);
	assert_int_equal(s->phys_addr, type & PERF_SAMPLE_PHYS_ADDR ? W(63) : 0);
	assert_int_equal(s->cgroup, type & PERF_SAMPLE_CGROUP ? W(64) : 0);
	assert_int_equal(s->data_page_size, type & PERF_SAMPLE_DATA_PAGE_SIZE ? W(65) : 0);
	assert_int_equal(s->code_page_size, type & PERF_SAMPLE_CODE_PAGE_SIZE ? W(66) : 0);
	assert_int_equal(s->aux.size, type & PERF_SAMPLE_AUX ? 16 : 0);
	if (s->aux.size)
		assert_memory_equal(s->aux.data, "a trace, 16 byte", 16);
}

static void check_sample(const struct record *r, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;
	const struct sample *s = &r->sample;

	check_fixed(r, type);
	if (type & PERF_SAMPLE_READ)
		check_read(&s->read, attr->read_format);
	assert_int_equal(s->chain_len, type & PERF_SAMPLE_CALLCHAIN ? 3 : 0);
	if (s->chain_len)
		assert_int_equal(s->chain[2], W(51));
	assert_int_equal(s->raw.size, type & PERF_SAMPLE_RAW ? 12 : 0);
	if (s->raw.size)
		assert_memory_equal(s->raw.data, "twelve bytes", 12);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		check_branches(&s->branches, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		check_regs(&s->regs_user, MASK_USER, 80);
	assert_int_equal(s->stack_user.size, type & PERF_SAMPLE_STACK_USER ? 8 : 0);
	if (s->stack_user.size)
		assert_memory_equal(s->stack_user.data, "this is ", 8);
	check_tail(s, type);
}

/* ---- what is done with each ---- */

static struct perf_event_attr attr_of(uint64_t type, uint64_t format, uint64_t branch)
{
	return (struct perf_event_attr){
		.sample_type = type,
		.read_format = format,
		.branch_sample_type = branch,
		.sample_regs_user = MASK_USER,
		.sample_regs_intr = MASK_INTR,
		.sample_id_all = 1,
	};
}

/* Its first @len bytes in memory of just that size: all of them are needed. */
static void cut(const struct layout *l, const struct build *b, size_t len)
{
	struct perf_event_header *h = malloc(len);
	const char *reason = NULL;
	struct record r;

	assert_non_null(h);
	memcpy(h, b->out.s, len);
	h->size = (uint16_t)len;
	if (b->foreign)
		assert_int_equal(record_swap(l, h, &reason), -EBADMSG);
	else
		assert_int_equal(record_decode(l, h, &r, &reason), -EBADMSG);
	assert_true(reason && *reason);
	free(h);
}

static void all_of(const struct perf_event_attr *attr, bool with_cuts)
{
	struct build ours = {}, foreign = {.foreign = true, .our_headers = true};
	const char *reason = NULL;
	struct layout l;
	struct record r;

	layout_init(&l, attr);
	build_sample(&ours, attr);
	build_sample(&foreign, attr);
	if (record_decode(&l, ours.out.s, &r, &reason) < 0)
		fail_msg("sample_type 0x%llx: %s", (unsigned long long)attr->sample_type, reason);
	touch_record((const void *)ours.out.s, &l, &r);
	check_sample(&r, attr);
	for (size_t len = 8; with_cuts && len < ours.out.len; len++) {
		cut(&l, &ours, len);
		cut(&l, &foreign, len);
	}
	assert_int_equal(record_swap(&l, foreign.out.s, &reason), 0);
	assert_memory_equal(foreign.out.s, ours.out.s, ours.out.len);
	build_release(&ours);
	build_release(&foreign);
}

static void one_part(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 25; bit++)
		for (unsigned extras = 0; extras < 2; extras++) {
			struct perf_event_attr attr =
				attr_of(1ull << bit, 0, extras ? BRANCH_EXTRAS : 0);

			all_of(&attr, true);
		}
}

static void all_parts(void **state)
{
	struct perf_event_attr attr = attr_of(ALL_BITS, 31, BRANCH_EXTRAS);

	(void)state;
	all_of(&attr, true);
}

static void all_read_formats(void **state)
{
	(void)state;
	for (unsigned format = 0; format < ALL_FORMATS; format++) {
		struct perf_event_attr attr = attr_of(
			PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_TIME, format, 0);

		all_of(&attr, true);
	}
}

static void mixtures(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		struct perf_event_attr attr;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		attr = attr_of(seed >> 20 & ALL_BITS, seed >> 50 & 31,
			       seed >> 60 & 1 ? BRANCH_EXTRAS : 0);
		all_of(&attr, i % 50 == 0);
	}
}

/* The id and the time are where the layout says, whatever else there is. */
static void positions(void **state)
{
	static const uint64_t bits[] = {
		PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
		PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID,  PERF_SAMPLE_CPU,  PERF_SAMPLE_PERIOD,
	};

	(void)state;
	for (unsigned choice = 0; choice < 1u << ARRAY_LEN(bits); choice++) {
		struct perf_event_attr attr = {};
		struct build b = {};
		struct layout l;
		uint64_t word;

		for (size_t i = 0; i < ARRAY_LEN(bits); i++)
			attr.sample_type |= choice >> i & 1 ? bits[i] : 0;
		layout_init(&l, &attr);
		build_sample(&b, &attr);
		assert_int_equal(l.fixed_bytes, b.out.len - 8);
		if (l.sample_time_at != LAYOUT_NONE) {
			memcpy(&word, b.out.s + 8 + l.sample_time_at, 8);
			assert_int_equal(word, W(5));
		}
		if (l.sample_id_at != LAYOUT_NONE) {
			memcpy(&word, b.out.s + 8 + l.sample_id_at, 8);
			assert_int_equal(word, W(1));
		}
		assert_int_equal(l.sample_time_at != LAYOUT_NONE,
				 !!(attr.sample_type & PERF_SAMPLE_TIME));
		assert_int_equal(l.sample_id_at != LAYOUT_NONE,
				 !!(attr.sample_type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)));
		build_release(&b);
	}
}

/* ---- lies ---- */

static void refused(uint64_t type, uint64_t format, const uint64_t *words, size_t count)
{
	struct perf_event_attr attr = attr_of(type, format, 0);
	struct build b = {};
	const char *reason = NULL;
	struct layout l;
	struct record r;

	layout_init(&l, &attr);
	build_begin(&b, PERF_RECORD_SAMPLE, 0);
	for (size_t i = 0; i < count; i++)
		build_u64(&b, words[i]);
	build_end(&b);
	assert_int_equal(record_decode(&l, b.out.s, &r, &reason), -EBADMSG);
	assert_int_equal(record_swap(&l, b.out.s, &reason), -EBADMSG);
	build_release(&b);
}

static void counts_that_lie(void **state)
{
	static const uint64_t lies[] = {5, 1ull << 32, 1ull << 60, 1ull << 61, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		const uint64_t words[] = {lies[i], 1, 2, 3};

		refused(PERF_SAMPLE_CALLCHAIN, 0, words, 4);
		refused(PERF_SAMPLE_BRANCH_STACK, 0, words, 4);
		refused(PERF_SAMPLE_READ, PERF_FORMAT_GROUP, words, 4);
		refused(PERF_SAMPLE_READ, PERF_FORMAT_GROUP | PERF_FORMAT_ID, words, 4);
	}
	refused(PERF_SAMPLE_STACK_USER, 0, (const uint64_t[]){UINT64_MAX, 1}, 2);
	refused(PERF_SAMPLE_STACK_USER, 0, (const uint64_t[]){16, 1, 2}, 3);
	refused(PERF_SAMPLE_AUX, 0, (const uint64_t[]){UINT64_MAX, 1}, 2);
	refused(PERF_SAMPLE_RAW, 0, (const uint64_t[]){0xffffffff, 1}, 2);
}

/* More of the stack is valid than was copied: what was copied counts. */
static void valid_stack_is_bounded(void **state)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_STACK_USER, 0, 0);
	struct build b = {};
	const char *reason = NULL;
	struct layout l;
	struct record r;

	(void)state;
	layout_init(&l, &attr);
	build_begin(&b, PERF_RECORD_SAMPLE, 0);
	build_u64(&b, 8);
	build_u64(&b, W(1));
	build_u64(&b, UINT64_MAX);
	build_end(&b);
	assert_int_equal(record_decode(&l, b.out.s, &r, &reason), 0);
	assert_int_equal(r.sample.stack_user.size, 8);
	build_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_part),
		cmocka_unit_test(all_parts),
		cmocka_unit_test(all_read_formats),
		cmocka_unit_test(mixtures),
		cmocka_unit_test(positions),
		cmocka_unit_test(counts_that_lie),
		cmocka_unit_test(valid_stack_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
