/* Histograms, blocks of counts, code of functions. */
#include "profile/code.h"
#include "profile/summary.h"
#include "packed_run.h"

static void take_histogram(const void *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf out = {};
	struct histogram h, back;

	if (histogram_decode(bytes, size, &h, NULL))
		return;
	histogram_encode(&h, &out);
	if (histogram_decode(out.s, out.len, &back, NULL) || back.len != h.len ||
	    memcmp(back.weight, h.weight, h.len * sizeof(*h.weight)))
		abort();
	histogram_release(&back);
	histogram_release(&h);
}

static void take_blocks(const void *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf out = {};
	count_blocks b, back;

	if (count_blocks_decode(bytes, size, &b, NULL))
		return;
	count_blocks_encode(&b, &out);
	if (count_blocks_decode(out.s, out.len, &back, NULL) || back.len != b.len)
		abort();
	vec_release(&back);
	vec_release(&b);
}

static void take_code(const void *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf out = {};
	struct code c, back;
	size_t sum = 0;

	if (code_decode(bytes, size, &c, NULL))
		return;
	vec_each(&c.instructions, i)
		sum += strlen(code_text(&c, i->text)) + strlen(code_text(&c, i->comment));
	vec_each(&c.rows, row)
		sum += strlen(code_text(&c, row->file)) + strlen(code_text(&c, row->scope));
	vec_each(&c.lines, line)
		sum += strlen(code_text(&c, line->file)) + strlen(code_text(&c, line->text));
	vec_each(&c.notes, note)
		sum += strlen(code_text(&c, *note));
	code_encode(&c, &out);
	if (out.len <= CODE_BYTES_MAX) {
		if (code_decode(out.s, out.len, &back, NULL) || back.rows.len != c.rows.len ||
		    !~sum)
			abort();
		code_release(&back);
	}
	code_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	packed_run(PACKED_HISTOGRAM, 4, data, size, take_histogram);
	packed_run(PACKED_BLOCKS, 4, data, size, take_blocks);
	packed_run(PACKED_CODE, 4, data, size, take_code);
	return 0;
}
