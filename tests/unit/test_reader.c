/* perf.data in file form: whole, cut anywhere, lying, old, foreign; and what is none at all. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata_build.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>

/* Eight records, the samples of two events, in rounds. */
static void add_records(struct build *b)
{
	build_comm(b, 100);
	build_sample(b, 300, 1);
	build_sample(b, 200, 11);
	build_round(b);
	build_sample(b, 250, 2);
	build_sample(b, 400, 12);
	build_round(b);
	build_sample(b, 350, 1);
}

static void make_small(struct image *im, bool foreign)
{
	im->b.foreign = foreign;
	image_file(im, 2, PERF_ATTR_SIZE_VER5);
	add_records(&im->b);
	section_text(im, FEATURE_HOSTNAME, "a host");
	section_text(im, FEATURE_OSRELEASE, "6.1.0");
	section_text(im, FEATURE_ARCH, "riscv64");
	image_finish(im);
}

static void assert_ascending(const struct seen *s)
{
	for (size_t i = 1; i < s->records.len; i++)
		assert_true(s->records.items[i - 1].time_ns <= s->records.items[i].time_ns);
}

/* ---- good ones ---- */

static void small_file(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct image im = {};
		struct seen s = {.image = &im};

		make_small(&im, foreign);
		assert_true(seen_image(&s, &im, NULL));
		assert_int_equal(s.result, 0);
		assert_int_equal(s.p->stream.swap, foreign);
		assert_int_equal(s.p->stream.events.len, 2);
		assert_int_equal(s.p->stream.events.items[1].ids.len, 2);
		assert_int_equal(s.records.len, 6);
		assert_ascending(&s);
		assert_int_equal(s.wrong_offsets, 0);
		assert_int_equal(seen_samples(&s, 0), 3);
		assert_int_equal(seen_samples(&s, 1), 2);
		assert_int_equal(s.summary.events.items[0].period, 15000);
		assert_int_equal(s.summary.first_ns, 100);
		assert_int_equal(s.summary.last_ns, 400);
		assert_string_equal(s.p->facts.hostname, "a host");
		assert_string_equal(s.p->facts.os_release, "6.1.0");
		assert_string_equal(s.p->facts.arch, "riscv64");
		assert_null(s.p->facts.version);
		assert_int_equal(s.p->stream.counts[USER_FINISHED_ROUND], 2);
		assert_int_equal(s.p->stream.order.late, 0);
		seen_release(&s);
		image_release(&im);
	}
}

static void unordered_and_whole(void **state)
{
	static const uint64_t as_they_stand[] = {100, 300, 200, 250, 400, 350};
	struct perfdata_options unordered = {.unordered = true}, whole = {.whole = true};
	struct image im = {};
	struct seen s = {};

	(void)state;
	make_small(&im, false);
	assert_true(seen_image(&s, &im, &unordered));
	assert_int_equal(s.records.len, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(s.records.items[i].time_ns, as_they_stand[i]);
	seen_release(&s);
	assert_true(seen_image(&s, &im, &whole));
	assert_int_equal(s.records.len, 6);
	assert_ascending(&s);
	seen_release(&s);
	image_release(&im);
}

static void visitor_stops(void **state)
{
	struct image im = {};

	(void)state;
	make_small(&im, false);
	for (uint64_t n = 1; n <= 6; n++) {
		struct seen s = {.stop_after = n};

		assert_true(seen_image(&s, &im, NULL));
		assert_int_equal(s.result, 0);
		assert_int_equal(s.records.len, n);
		seen_release(&s);
	}
	image_release(&im);
}

/* Attrs were 64 bytes long in the beginning, some said 0, and those to come are longer than ours. */
static void attr_sizes(void **state)
{
	static const uint32_t sizes[] = {0, 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 400};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (int foreign = 0; foreign < 2; foreign++) {
			struct image im = {.b.foreign = foreign};
			struct seen s = {};

			image_file(&im, 2, sizes[i]);
			add_records(&im.b);
			image_finish(&im);
			assert_true(seen_image(&s, &im, NULL));
			assert_int_equal(s.result, 0);
			assert_int_equal(seen_samples(&s, 0), 3);
			assert_int_equal(seen_samples(&s, 1), 2);
			assert_int_equal(s.p->stream.events.items[1].attr.config, 1);
			assert_int_equal(s.p->stream.events.items[1].attr.sample_id_all, 1);
			seen_release(&s);
			image_release(&im);
		}
}

/* The size of the data is written at the very end. */
static void recorder_was_cut_off(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_file(&im, 2, PERF_ATTR_SIZE_VER5);
	add_records(&im.b);
	image_finish(&im);
	build_patch(&im.b, 48, 0, 8, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_true(s.p->cut_off);
	assert_int_equal(s.records.len, 6);
	seen_release(&s);
	image_release(&im);
}

static void ids_of_nobody(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_file(&im, 2, PERF_ATTR_SIZE_VER5);
	build_sample(&im.b, 100, 1);
	build_sample(&im.b, 200, 99);
	build_sample(&im.b, 300, 0); /* 0 is the first event's */
	image_finish(&im);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.p->stream.unknown_ids, 1);
	assert_int_equal(seen_samples(&s, 0), 2);
	seen_release(&s);
	image_release(&im);
}

/* Without any ids everything is the first event's. */
static void no_ids(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	make_small(&im, false);
	for (size_t i = 0; i < 2; i++)
		build_patch(&im.b,
			    HEADER_BYTES + 2 * IDS_BYTES + i * (PERF_ATTR_SIZE_VER5 + 16) +
				    PERF_ATTR_SIZE_VER5 + 8,
			    0, 8, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.p->stream.events.items[1].ids.len, 0);
	assert_int_equal(seen_samples(&s, 0), 5);
	assert_int_equal(s.p->stream.unknown_ids, 0);
	seen_release(&s);
	image_release(&im);
}

static void late_by_seconds(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_file(&im, 1, PERF_ATTR_SIZE_VER5);
	build_sample(&im.b, 9000000000, 1);
	build_round(&im.b);
	build_round(&im.b);
	build_sample(&im.b, 2000000000, 1);
	image_finish(&im);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.records.len, 2);
	assert_int_equal(s.p->stream.order.late, 1);
	assert_int_equal(s.p->stream.order.worst_late_ns, 7000000000);
	seen_release(&s);
	image_release(&im);
}

/* ---- damaged ones ---- */

/* How many records that are given out end at or before @len. */
static size_t whole_records(const struct image *im, size_t len)
{
	size_t count = 0, at = im->data_at;

	while (at + 8 <= im->data_end) {
		struct perf_event_header h;

		memcpy(&h, im->b.out.s + at, sizeof(h));
		at += h.size;
		if (at > len)
			break;
		count += h.type < RECORD_USER_START;
	}
	return count;
}

static void cut_anywhere(void **state)
{
	struct image im = {};

	(void)state;
	make_small(&im, false);
	for (size_t len = 0; len < im.b.out.len; len++) {
		struct seen s = {};
		char offset[32];

		if (!seen_bytes(&s, im.b.out.s, len, NULL)) {
			assert_in_range(len, 0, im.data_at - 1);
			assert_true(s.e.code && s.e.text[0]);
			continue;
		}
		assert_int_equal(s.result, -EBADMSG);
		assert_non_null(strstr(s.e.text, "at offset "));
		assert_int_equal(s.records.len, whole_records(&im, len));
		assert_int_equal(s.wrong_offsets, 0);
		if (len > im.data_at && len < im.data_end) {
			snprintf(offset, sizeof(offset), "at offset %zu:", len);
			assert_non_null(strstr(s.e.text, offset));
		}
		seen_release(&s);
	}
	image_release(&im);
}

/* A byte changed anywhere never does more than an error or other figures. */
static void changed_anywhere(void **state)
{
	static const unsigned char changes[] = {0x01, 0x10, 0x80, 0xff};
	struct image im = {};

	(void)state;
	make_small(&im, false);
	for (size_t at = 0; at < im.b.out.len; at++)
		for (size_t k = 0; k < ARRAY_LEN(changes); k++) {
			struct seen s = {};

			im.b.out.s[at] ^= (char)changes[k];
			if (seen_image(&s, &im, NULL)) {
				assert_in_range(s.records.len, 0, 6);
				seen_release(&s);
			} else {
				assert_true(s.e.code && s.e.text[0]);
			}
			im.b.out.s[at] ^= (char)changes[k];
		}
	image_release(&im);
}

static void zero_size_record(void **state)
{
	struct image im = {};
	struct seen s = {};
	char expected[32];

	(void)state;
	image_file(&im, 1, PERF_ATTR_SIZE_VER5);
	build_sample(&im.b, 100, 1);
	snprintf(expected, sizeof(expected), "at offset %zu:", im.b.out.len);
	build_zeros(&im.b, 8);
	build_sample(&im.b, 200, 1);
	image_finish(&im);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_non_null(strstr(s.e.text, expected));
	assert_int_equal(s.records.len, 1);
	seen_release(&s);
	image_release(&im);
}

static void undecodable_sample(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct image im = {.b.foreign = foreign};
		struct seen s = {};
		size_t at;

		image_file(&im, 1, PERF_ATTR_SIZE_VER5);
		build_sample(&im.b, 100, 1);
		at = im.b.out.len;
		build_begin(&im.b, PERF_RECORD_SAMPLE, 0);
		build_u64(&im.b, 1);
		build_end(&im.b);
		build_sample(&im.b, 200, 1);
		image_finish(&im);
		assert_true(seen_image(&s, &im, NULL));
		assert_int_equal(seen_samples(&s, 0), 2);
		assert_int_equal(s.p->stream.damage_count, 1);
		assert_int_equal(s.p->stream.damages.items[0].offset, at);
		seen_release(&s);
		image_release(&im);
	}
}

/* Only the first damages are kept, all are counted. */
static void many_damages(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_file(&im, 1, PERF_ATTR_SIZE_VER5);
	for (unsigned i = 0; i < 1000; i++) {
		build_begin(&im.b, PERF_RECORD_SAMPLE, 0);
		build_end(&im.b);
	}
	image_finish(&im);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.p->stream.damage_count, 1000);
	assert_int_equal(s.p->stream.damages.len, DAMAGES_MAX);
	seen_release(&s);
	image_release(&im);
}

/* Each patch of the table of sections: the fact is missing, the records are not. */
static void sections_that_lie(void **state)
{
	static const uint64_t lies[] = {1 << 20, 1ull << 40, UINT64_MAX, UINT64_MAX - 15};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lies); i++)
		for (size_t word = 0; word < 2; word++) {
			struct image im = {};
			struct seen s = {};

			make_small(&im, false);
			build_patch(&im.b, im.data_end + 8 * word, lies[i], 8, false);
			assert_true(seen_image(&s, &im, NULL));
			assert_int_equal(s.result, -EBADMSG);
			assert_null(s.p->facts.hostname);
			assert_string_equal(s.p->facts.arch, "riscv64");
			assert_int_equal(s.records.len, 6);
			seen_release(&s);
			image_release(&im);
		}
}

static void length_in_section_lies(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	make_small(&im, false);
	build_patch(&im.b, im.data_end + 3 * 16, 0xffffffff, 4, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_non_null(strstr(s.e.text, "HOSTNAME"));
	assert_null(s.p->facts.hostname);
	assert_string_equal(s.p->facts.os_release, "6.1.0");
	seen_release(&s);
	image_release(&im);
}

/* Bits without a section: what comes after them cannot be found. */
static void bits_that_lie(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	make_small(&im, false);
	build_patch(&im.b, 72, UINT64_MAX, 8, false);
	build_patch(&im.b, 96, UINT64_MAX, 8, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_int_equal(s.records.len, 6);
	seen_release(&s);
	image_release(&im);
}

static void refused(size_t at, uint64_t value)
{
	struct image im = {};
	struct seen s = {};

	make_small(&im, false);
	build_patch(&im.b, at, value, 8, false);
	assert_false(seen_image(&s, &im, NULL));
	assert_true(s.e.code && s.e.text[0]);
	image_release(&im);
}

static void headers_that_lie(void **state)
{
	static const uint64_t wide[] = {1 << 20, 1ull << 62, UINT64_MAX};

	(void)state;
	refused(0, 0x3145434f46524550ull);
	refused(8, 0);
	refused(8, 17);
	refused(8, 71);
	refused(16, 0);
	refused(16, 79);
	refused(16, 4097);
	for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
		refused(16, wide[i]);
		refused(24, wide[i]);
		refused(32, wide[i]);
	}
}

static void data_outside(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	make_small(&im, false);
	build_patch(&im.b, 40, UINT64_MAX - 5, 8, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_int_equal(s.records.len, 0);
	seen_release(&s);
	build_patch(&im.b, 40, im.data_at, 8, false);
	build_patch(&im.b, 48, UINT64_MAX, 8, false);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_true(s.records.len >= 6);
	seen_release(&s);
	image_release(&im);
}

/* Many events whose ids are all the same large part of the file: limits are for all together. */
static void ids_over_each_other(void **state)
{
	enum { EVENTS = 2000, SIZE = 8 << 20 };
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_file(&im, EVENTS, PERF_ATTR_SIZE_VER0);
	build_sample(&im.b, 100, 0);
	image_finish(&im);
	for (size_t i = 0; i < EVENTS; i++)
		build_patch(&im.b, HEADER_BYTES + EVENTS * IDS_BYTES + i * 80 + 72, SIZE, 8, false);
	build_zeros(&im.b, SIZE);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.p->stream.id_count, STREAM_IDS_MAX);
	assert_int_equal(s.p->stream.damage_count, EVENTS - 8ull * STREAM_IDS_MAX / SIZE);
	seen_release(&s);
	image_release(&im);
}

static void sections_over_each_other(void **state)
{
	enum { SIZE = 20 << 20 };
	struct image im = {};
	struct seen s = {};
	uint64_t sum = 0;

	(void)state;
	image_file(&im, 1, PERF_ATTR_SIZE_VER5);
	build_sample(&im.b, 100, 1);
	for (unsigned f = 0; f < 16; f++)
		section_text(&im, FEATURE_HOSTNAME + f, "");
	image_finish(&im);
	for (size_t i = 0; i < 16; i++) {
		build_patch(&im.b, im.data_end + 16 * i, 0, 8, false);
		build_patch(&im.b, im.data_end + 16 * i + 8, SIZE, 8, false);
	}
	build_zeros(&im.b, SIZE);
	assert_true(seen_image(&s, &im, NULL));
	for (size_t i = 0; i < FEATURE_END; i++)
		sum += s.p->features.sections[i].len;
	assert_in_range(sum, 1, 64 << 20);
	seen_release(&s);
	image_release(&im);
}

/* ---- what is no perf.data ---- */

static void fails(const char *path, const char *sentence)
{
	struct seen s = {};

	assert_false(seen_path(&s, path, NULL));
	assert_non_null(strstr(s.e.text, sentence));
}

static void not_perfdata(void **state)
{
	(void)state;
	write_text("empty", "");
	write_text("short", "PERFILE2");
	write_text("text", "this is not what you are looking for");
	fails(in_dir("missing"), "No such file");
	fails(in_dir("empty"), "is empty");
	fails(in_dir("short"), "shorter than a header");
	fails(in_dir("text"), "is not perf.data");
	fails(support_dir, "is a directory");
	fails("/dev/null", "is empty");
	fails("/dev/zero", "is not perf.data");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_file),
		cmocka_unit_test(unordered_and_whole),
		cmocka_unit_test(visitor_stops),
		cmocka_unit_test(attr_sizes),
		cmocka_unit_test(recorder_was_cut_off),
		cmocka_unit_test(ids_of_nobody),
		cmocka_unit_test(no_ids),
		cmocka_unit_test(late_by_seconds),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(changed_anywhere),
		cmocka_unit_test(zero_size_record),
		cmocka_unit_test(undecodable_sample),
		cmocka_unit_test(many_damages),
		cmocka_unit_test(sections_that_lie),
		cmocka_unit_test(length_in_section_lies),
		cmocka_unit_test(bits_that_lie),
		cmocka_unit_test(headers_that_lie),
		cmocka_unit_test(data_outside),
		cmocka_unit_test(ids_over_each_other),
		cmocka_unit_test(sections_over_each_other),
		cmocka_unit_test_setup_teardown(not_perfdata, make_support_dir, remove_support_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
