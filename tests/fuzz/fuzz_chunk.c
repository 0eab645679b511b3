/* Chunks: whatever decodes can be encoded again and then is the same. */
#include "profile/schema.h"
#include "profile/summary.h"
#include "packed_run.h"

static void encode_samples_again(const struct sample_columns *c)
{
	CLEANUP(free_ptr) struct sample_row *rows = xcalloc(c->rows, sizeof(*rows));
	CLEANUP(buf_release) struct buf out = {};
	struct sample_columns back;
	struct chunk_info info;

	for (size_t i = 0; i < c->rows; i++)
		rows[i] = (struct sample_row){
			c->time_ns[i], c->weight[i], c->address ? c->address[i] : 0,
			c->event[i],   c->thread[i], c->stack[i],
			c->cpu[i]};
	chunk_encode_samples(rows, c->rows, &out, &info);
	if (chunk_decode_samples(out.s, out.len, &back, NULL) || back.rows != c->rows ||
	    memcmp(back.time_ns, c->time_ns, c->rows * sizeof(*c->time_ns)) ||
	    memcmp(back.weight, c->weight, c->rows * sizeof(*c->weight)) ||
	    memcmp(back.stack, c->stack, c->rows * sizeof(*c->stack)) ||
	    memcmp(back.thread, c->thread, c->rows * sizeof(*c->thread)))
		abort();
	sample_columns_release(&back);
}

static void encode_counts_again(uint32_t counter, const struct count_columns *c)
{
	CLEANUP(free_ptr) struct count_row *rows = xcalloc(c->rows, sizeof(*rows));
	CLEANUP(buf_release) struct buf out = {};
	struct count_columns back;
	struct chunk_info info;

	for (size_t i = 0; i < c->rows; i++)
		rows[i] = (struct count_row){c->time_ns[i], c->duration_ns[i], c->value[i],
					     c->running_ppm[i]};
	chunk_encode_counts(counter, rows, c->rows, &out, &info);
	if (chunk_decode_counts(out.s, out.len, &back, NULL) || back.rows != c->rows ||
	    memcmp(back.duration_ns, c->duration_ns, c->rows * sizeof(*c->duration_ns)) ||
	    memcmp(back.value, c->value, c->rows * sizeof(*c->value)))
		abort();
	count_columns_release(&back);
}

/* Merging is decoding all columns and encoding them again; nothing of it may be lost. */
static void merge_again(const void *bytes, size_t size, const struct chunk_columns *c)
{
	struct chunk_columns *back = xcalloc(1, sizeof(*back));
	struct chunk_piece piece = {bytes, size};
	CLEANUP(buf_release) struct buf out = {};
	struct chunk_info info;

	if (chunks_merge(&piece, 1, &out, &info, NULL) ||
	    chunk_decode(out.s, out.len, NULL, back, NULL) || back->rows != c->rows ||
	    info.schema != c->info.schema || info.sampled != c->info.sampled)
		abort();
	for (size_t i = 0; i < c->count; i++) {
		const uint64_t *was = c->columns[i].values;
		const uint64_t *is = chunk_column(back, c->columns[i].tag);

		for (size_t n = 0; n < c->rows; n++)
			if (was[n] != (is ? is[n] : 0))
				abort();
	}
	chunk_columns_release(back);
	free(back);
}

static void take_table(const void *bytes, size_t size)
{
	struct chunk_columns *c = xcalloc(1, sizeof(*c));
	CLEANUP(buf_release) struct buf summary = {};
	struct chunk_piece piece = {bytes, size};

	if (!chunk_decode(bytes, size, NULL, c, NULL)) {
		merge_again(bytes, size, c);
		chunk_summarize(&piece, &summary, NULL);
	}
	chunk_columns_release(c);
	free(c);
}

static void take(const void *bytes, size_t size)
{
	struct sample_columns samples;
	struct count_columns counts;
	struct chunk_info info;
	struct err e = {};
	int peeked = chunk_peek(bytes, size, &info, &e);

	take_table(bytes, size);
	if (!chunk_decode_samples(bytes, size, &samples, &e)) {
		if (peeked || !info.sampled || info.rows != samples.rows)
			abort();
		encode_samples_again(&samples);
		sample_columns_release(&samples);
	} else if (!chunk_decode_counts(bytes, size, &counts, &e)) {
		if (peeked || info.schema != SCHEMA_COUNTS || info.rows != counts.rows)
			abort();
		encode_counts_again(info.partition, &counts);
		count_columns_release(&counts);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	packed_run(PACKED_CHUNK, 28, data, size, take);
	packed_run(PACKED_ROWS, 32, data, size, take);
	return 0;
}
