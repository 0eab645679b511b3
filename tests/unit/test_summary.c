/* Summaries of chunks, merging, and the code of functions as bytes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/code.h"
#include "profile/summary.h"

#include <errno.h>
#include <string.h>

static uint64_t noise(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static struct sample_row some_row(uint64_t i, uint64_t *seed)
{
	return (struct sample_row){
		.time_ns = 1000 * i,
		.weight = 1 + noise(seed) % 1000,
		.event = (uint32_t)(noise(seed) % 2),
		.thread = (uint32_t)(noise(seed) % 300),
		.stack = (uint32_t)(noise(seed) % 70000),
		.cpu = (uint32_t)(noise(seed) % 2),
	};
}

/* What the histogram says of a key is what counting by hand says. */
static void check_histogram(const struct sample_row *rows, size_t count, const struct histogram *h)
{
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < h->len; i++) {
		samples += h->samples[i];
		weight += h->weight[i];
		assert_true(!i || h->event[i] > h->event[i - 1] ||
			    (h->event[i] == h->event[i - 1] && (h->thread[i] > h->thread[i - 1] ||
								(h->thread[i] == h->thread[i - 1] &&
								 h->stack[i] > h->stack[i - 1]))));
	}
	assert_int_equal(samples, count);
	for (size_t i = 0; i < count; i++)
		weight -= rows[i].weight;
	assert_int_equal(weight, 0);
	for (size_t pick = 0; pick < h->len; pick += 1 + h->len / 50) {
		uint64_t by_hand = 0, weight_by_hand = 0;

		for (size_t i = 0; i < count; i++) {
			if (rows[i].event != h->event[pick] || rows[i].thread != h->thread[pick] ||
			    rows[i].stack != h->stack[pick])
				continue;
			by_hand++;
			weight_by_hand += rows[i].weight;
		}
		assert_int_equal(by_hand, h->samples[pick]);
		assert_int_equal(weight_by_hand, h->weight[pick]);
	}
}

static void test_histogram(void **state)
{
	size_t sizes[] = {1, 2, 100, 30000};
	CLEANUP(free_ptr) struct sample_row *rows = xcalloc(30000, sizeof(*rows));
	uint64_t seed = 99;

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(sizes); s++) {
		CLEANUP(buf_release) struct buf chunk = {}, bytes = {};
		struct sample_columns c;
		struct histogram h, back;
		struct chunk_info info;

		for (size_t i = 0; i < sizes[s]; i++) {
			rows[i] = some_row(i, &seed);
			/* Some are the same. */
			if (i % 3) {
				rows[i].stack = 5;
				rows[i].thread = i % 2;
			}
		}
		chunk_encode_samples(rows, sizes[s], &chunk, &info);
		assert_int_equal(chunk_decode_samples(chunk.s, chunk.len, &c, NULL), 0);
		histogram_make(&c, &h);
		check_histogram(rows, sizes[s], &h);
		histogram_encode(&h, &bytes);
		assert_int_equal(histogram_decode(bytes.s, bytes.len, &back, NULL), 0);
		assert_int_equal(back.len, h.len);
		check_histogram(rows, sizes[s], &back);
		histogram_release(&back);
		histogram_release(&h);
		sample_columns_release(&c);
		bytes.s[bytes.len / 2] ^= 4;
		assert_int_equal(histogram_decode(bytes.s, bytes.len, &back, NULL), -EBADMSG);
	}
}

static void test_blocks(void **state)
{
	CLEANUP(buf_release) struct buf chunk = {}, bytes = {};
	struct count_row rows[150];
	struct count_columns c;
	struct chunk_info info;
	count_blocks blocks, back;

	(void)state;
	for (size_t i = 0; i < 150; i++)
		rows[i] = (struct count_row){
			.time_ns = 1000 + 100 * (i + 1),
			.duration_ns = 100,
			.value = i == 70 ? 5000 : i,
			.running_ppm = i == 71 ? 250000 : 1000000,
		};
	chunk_encode_counts(1, rows, 150, &chunk, &info);
	assert_int_equal(chunk_decode_counts(chunk.s, chunk.len, &c, NULL), 0);
	count_blocks_make(&c, &blocks);
	count_blocks_encode(&blocks, &bytes);
	assert_int_equal(count_blocks_decode(bytes.s, bytes.len, &back, NULL), 0);
	assert_int_equal(back.len, 3);
	assert_memory_equal(blocks.items, back.items, 3 * sizeof(*back.items));
	assert_int_equal(back.items[0].first_ns, 1000);
	assert_int_equal(back.items[0].last_ns, 7400);
	assert_int_equal(back.items[0].sum, 63 * 64 / 2);
	assert_int_equal(back.items[1].first_ns, 7400);
	assert_int_equal(back.items[1].min, 64);
	assert_int_equal(back.items[1].max, 5000);
	assert_true(back.items[1].max_rate == 5000e9 / 100);
	assert_true(back.items[1].min_rate == 64e9 / 100);
	assert_int_equal(back.items[1].least_ppm, 250000);
	assert_int_equal(back.items[1].duration_ns, 6400);
	assert_int_equal(back.items[2].rows, 150 - 128);
	vec_release(&back);
	vec_release(&blocks);
	count_columns_release(&c);
	bytes.s[bytes.len - 1] ^= 4;
	assert_int_equal(count_blocks_decode(bytes.s, bytes.len, &back, NULL), -EBADMSG);
}

static void test_merge_samples(void **state)
{
	CLEANUP(buf_release) struct buf chunk = {}, summary = {};
	struct buf bytes[10] = {};
	struct chunk_piece pieces[10];
	struct sample_row rows[1000];
	struct chunk_info info;
	struct sample_columns c;
	struct histogram h;
	uint64_t seed = 3;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		rows[i] = some_row(i, &seed);
	/* Two overlap each time. */
	for (size_t i = 0; i < 10; i++) {
		struct sample_row mine[100];

		for (size_t k = 0; k < 100; k++)
			mine[k] = rows[i / 2 * 200 + k * 2 + i % 2];
		chunk_encode_samples(mine, 100, &bytes[i], &info);
		pieces[i] = (struct chunk_piece){bytes[i].s, bytes[i].len};
	}
	assert_int_equal(chunks_merge(pieces, 10, &chunk, &info, NULL), 0);
	assert_int_equal(info.rows, 1000);
	assert_int_equal(info.last_ns, 999000);
	assert_int_equal(chunk_decode_samples(chunk.s, chunk.len, &c, NULL), 0);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(c.time_ns[i], rows[i].time_ns);
		assert_int_equal(c.stack[i], rows[i].stack);
		assert_int_equal(c.weight[i], rows[i].weight);
	}
	assert_int_equal(chunk_summarize(&(struct chunk_piece){chunk.s, chunk.len}, &summary, NULL),
			 0);
	assert_int_equal(histogram_decode(summary.s, summary.len, &h, NULL), 0);
	check_histogram(rows, 1000, &h);
	histogram_release(&h);
	sample_columns_release(&c);
	for (size_t i = 0; i < 10; i++)
		buf_release(&bytes[i]);
}

static void test_merge_refuses(void **state)
{
	CLEANUP(buf_release) struct buf first = {}, second = {}, samples = {}, out = {};
	CLEANUP(free_ptr) struct sample_row *rows = xcalloc(CHUNK_ROWS_MAX, sizeof(*rows));
	struct count_row count = {.time_ns = 1};
	struct chunk_info info;
	struct err e = {};

	(void)state;
	chunk_encode_counts(1, &count, 1, &first, &info);
	chunk_encode_counts(2, &count, 1, &second, &info);
	chunk_encode_samples(rows, CHUNK_ROWS_MAX, &samples, &info);
	assert_int_equal(
		chunks_merge((struct chunk_piece[]){{first.s, first.len}, {second.s, second.len}},
			     2, &out, &info, &e),
		-EINVAL);
	assert_int_equal(
		chunks_merge((struct chunk_piece[]){{first.s, first.len}, {samples.s, samples.len}},
			     2, &out, &info, &e),
		-EINVAL);
	assert_int_equal(chunks_merge((struct chunk_piece[]){{samples.s, samples.len},
							     {samples.s, samples.len}},
				      2, &out, &info, &e),
			 -EINVAL);
	assert_int_equal(
		chunks_merge((struct chunk_piece[]){{first.s, first.len}, {first.s, first.len}}, 2,
			     &out, &info, &e),
		0);
	assert_int_equal(info.rows, 2);
}

static void test_code(void **state)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct code c, back;

	(void)state;
	code_init(&c);
	c.function = 77;
	c.start = 0x1000;
	c.end = 0x1100;
	c.build_id = code_string(&c, "abcd", 4);
	vec_push(&c.notes, code_stringf(&c, "Only %d bytes.", 5));
	for (uint32_t i = 0; i < 60; i++) {
		vec_push(&c.instructions,
			 (struct code_instruction){.address = 0x1000 + 4 * i,
						   .size = 4,
						   .flow = i % 4,
						   .bad = i == 7,
						   .text = code_stringf(&c, "mov %u", i)});
		vec_push(&c.rows, (struct code_row){.address = 0x1000 + 4 * i,
						    .file = c.build_id,
						    .line = i + 1});
		vec_push(&c.lines, (struct code_line){.file = c.build_id, .number = i + 1});
	}
	code_encode(&c, &bytes);
	assert_int_equal(code_decode(bytes.s, bytes.len, &back, NULL), 0);
	assert_int_equal(back.function, 77);
	assert_int_equal(back.end, 0x1100);
	assert_string_equal(code_text(&back, back.build_id), "abcd");
	assert_string_equal(code_text(&back, back.notes.items[0]), "Only 5 bytes.");
	assert_int_equal(back.instructions.len, 60);
	for (uint32_t i = 0; i < 60; i++) {
		assert_int_equal(back.instructions.items[i].address, 0x1000 + 4 * i);
		assert_int_equal(back.instructions.items[i].flow, i % 4);
		assert_int_equal(back.instructions.items[i].bad, i == 7);
		assert_string_equal(code_text(&back, back.instructions.items[i].text),
				    code_text(&c, c.instructions.items[i].text));
		assert_int_equal(back.rows.items[i].line, i + 1);
		assert_int_equal(back.lines.items[i].number, i + 1);
	}
	code_release(&back);
	for (size_t i = 0; i < bytes.len; i++) {
		bytes.s[i] ^= 1;
		assert_int_equal(code_decode(bytes.s, bytes.len, &back, NULL), -EBADMSG);
		bytes.s[i] ^= 1;
	}
	code_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histogram),     cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_merge_samples), cmocka_unit_test(test_merge_refuses),
		cmocka_unit_test(test_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
