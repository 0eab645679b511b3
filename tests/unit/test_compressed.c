/* Compressed records: in pieces, cut, inside of each other, and such as grow without end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/inflate.h"
#include "perfdata_build.h"

#include <errno.h>
#include <zstd.h>

static void *deflate(const void *bytes, size_t size, size_t *ret_size)
{
	size_t room = ZSTD_compressBound(size);
	void *out = malloc(room);

	if (!out)
		abort();
	*ret_size = ZSTD_compress(out, room, bytes, size, 1);
	assert_false(ZSTD_isError(*ret_size));
	return out;
}

/* @raw in records of @piece compressed bytes. */
static void build_compressed(struct build *b, uint32_t type, const struct buf *raw, size_t piece)
{
	size_t size;
	char *packed = deflate(raw->s, raw->len, &size);

	for (size_t at = 0; at < size; at += piece) {
		size_t len = piece < size - at ? piece : size - at;

		build_begin(b, type, 0);
		if (type == USER_COMPRESSED2)
			build_u64(b, len);
		buf_add_mem(&b->out, packed + at, len);
		if (type == USER_COMPRESSED2)
			build_zeros(b, (8 - len % 8) % 8);
		build_end(b);
	}
	free(packed);
}

/* However the pieces fall: records are cut by them, and behind odd ones nothing is aligned. */
static void in_pieces(void **state)
{
	static const size_t pieces[] = {1, 2, 3, 7, 8, 50, 1000, 60000};

	(void)state;
	for (int foreign = 0; foreign < 2; foreign++)
		for (size_t i = 0; i < 2 * ARRAY_LEN(pieces); i++) {
			uint32_t type = i % 2 ? USER_COMPRESSED : USER_COMPRESSED2;
			struct image im = {.b.foreign = foreign};
			struct build raw = {.foreign = foreign};
			struct seen s = {};

			for (uint64_t k = 1; k <= 500; k++)
				build_sample(&raw, 1000 + k * 7919 % 500, k % 2 ? 1 : 11);
			image_pipe(&im, 2);
			build_compressed(&im.b, type, &raw.out, pieces[i / 2]);
			build_sample(&im.b, 5000, 1);
			assert_true(seen_image(&s, &im, NULL));
			assert_int_equal(s.result, 0);
			assert_int_equal(seen_samples(&s, 0), 251);
			assert_int_equal(seen_samples(&s, 1), 250);
			assert_int_equal(inflate_bytes_out(s.p->parts.items[0].inflate),
					 raw.out.len);
			for (size_t k = 1; k < s.records.len; k++)
				assert_true(s.records.items[k - 1].time_ns <=
					    s.records.items[k].time_ns);
			seen_release(&s);
			build_release(&raw);
			image_release(&im);
		}
}

/* More unaligned records than a block of copies holds, from a record that lies in one itself. */
static void unaligned(void **state)
{
	struct image im = {};
	struct build raw = {};
	struct seen s = {};

	(void)state;
	build_begin(&raw, 100, 0);
	build_zeros(&raw, 1);
	build_end(&raw);
	for (uint64_t k = 1; k <= 60000; k++)
		build_sample(&raw, 0, 1 + k * 7919 % 2); /* without a time nothing waits */
	image_pipe(&im, 1);
	build_begin(&im.b, 100, 0);
	build_zeros(&im.b, 1);
	build_end(&im.b);
	build_compressed(&im.b, USER_COMPRESSED, &raw.out, 60001);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(seen_samples(&s, 0), 60000);
	seen_release(&s);
	build_release(&raw);
	image_release(&im);
}

static void cut_in_a_record(void **state)
{
	struct image im = {};
	struct build raw = {};
	struct seen s = {};

	(void)state;
	build_sample(&raw, 100, 1);
	build_sample(&raw, 200, 1);
	raw.out.len -= 8;
	image_pipe(&im, 1);
	build_compressed(&im.b, USER_COMPRESSED, &raw.out, 60000);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_non_null(strstr(s.e.text, "middle of a record"));
	assert_int_equal(s.records.len, 1);
	seen_release(&s);
	build_release(&raw);
	image_release(&im);
}

static void garbage(void **state)
{
	struct image im = {};
	struct seen s = {};
	size_t at;

	(void)state;
	image_pipe(&im, 1);
	at = im.b.out.len;
	build_begin(&im.b, USER_COMPRESSED2, 0);
	build_u64(&im.b, 1);
	build_end(&im.b);
	build_begin(&im.b, USER_COMPRESSED, 0);
	buf_add(&im.b.out, "this is not zstd");
	build_end(&im.b);
	build_sample(&im.b, 200, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_int_equal(s.p->stream.damage_count, 2);
	assert_int_equal(s.p->stream.damages.items[0].offset, at);
	assert_int_equal(s.p->stream.damages.items[1].offset, at + 16);
	assert_int_equal(s.records.len, 1);
	seen_release(&s);
	image_release(&im);
}

/* The last bytes do not fit beside what came out before, and no more go in to push them. */
static void full_buffer(void **state)
{
	struct image im = {};
	struct build raw = {};
	struct seen s = {};

	(void)state;
	while (raw.out.len < BLOCK_ROOM + 8) {
		size_t left = BLOCK_ROOM + 8 - raw.out.len;

		build_begin(&raw, 100, 0);
		build_zeros(&raw, left > 65000 ? 60000 - 8 : left - 8);
		build_end(&raw);
	}
	image_pipe(&im, 1);
	build_compressed(&im.b, USER_COMPRESSED, &raw.out, 60000);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(inflate_bytes_out(s.p->parts.items[0].inflate), raw.out.len);
	seen_release(&s);
	build_release(&raw);
	image_release(&im);
}

/* Inside of each other they would read into the buffer that is being read from. */
static void inside_of_another(void **state)
{
	struct image im = {};
	struct build inner = {}, outer = {};
	struct seen s = {};

	(void)state;
	build_sample(&inner, 100, 1);
	build_sample(&outer, 50, 1);
	build_compressed(&outer, USER_COMPRESSED, &inner.out, 60000);
	image_pipe(&im, 1);
	build_compressed(&im.b, USER_COMPRESSED, &outer.out, 60000);
	build_sample(&im.b, 200, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_non_null(strstr(s.e.text, "inside of another"));
	assert_int_equal(s.records.len, 2);
	seen_release(&s);
	build_release(&inner);
	build_release(&outer);
	image_release(&im);
}

/* Valid records without end from a few bytes. */
static void bomb(void **state)
{
	struct image im = {};
	struct build raw = {};
	struct seen s = {.stop_after = UINT64_MAX};

	(void)state;
	build_begin(&raw, 100, 0);
	build_zeros(&raw, 65520);
	build_end(&raw);
	while (raw.out.len < 3 * (size_t)INFLATE_FREE) {
		struct buf twice = {};

		buf_add_mem(&twice, raw.out.s, raw.out.len);
		buf_add_mem(&raw.out, twice.s, twice.len);
		buf_release(&twice);
	}
	image_pipe(&im, 1);
	build_compressed(&im.b, USER_COMPRESSED, &raw.out, 60000);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_non_null(strstr(s.e.text, "beyond all measure"));
	assert_in_range(inflate_bytes_out(s.p->parts.items[0].inflate), 1,
			INFLATE_FREE + im.b.out.len * INFLATE_RATIO_MAX + BLOCK_BYTES);
	assert_in_range(s.p->stream.order.block_count, 1, 2);
	seen_release(&s);
	build_release(&raw);
	image_release(&im);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_pieces),
		cmocka_unit_test(unaligned),
		cmocka_unit_test(cut_in_a_record),
		cmocka_unit_test(garbage),
		cmocka_unit_test(full_buffer),
		cmocka_unit_test(inside_of_another),
		cmocka_unit_test(bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
