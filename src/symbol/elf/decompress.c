#include "symbol/elf/decompress.h"
#include "base/alloc.h"

#include <lzma.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define FIRST_BYTES      65536u
#define XZ_MEMORY_MAX    (256ull << 20)
#define ZLIB_GZIP_WINDOW (15 + 16)
/* Debug sections shrink to a tenth; a larger ratio than this is an attempt to fill our memory. */
#define RATIO_MAX 1024u

static bool is_plausible(size_t packed_size, size_t size)
{
	return size <= FIRST_BYTES || size / RATIO_MAX <= packed_size;
}

unsigned char *decompress_zlib(const void *data, size_t data_size, size_t size)
{
	unsigned char *out = is_plausible(data_size, size) ? malloc(size ? size : 1) : NULL;
	uLongf got = size;
	uLong used = data_size;

	if (out && uncompress2(out, &got, data, &used) == Z_OK && got == size)
		return out;
	free(out);
	return NULL;
}

unsigned char *decompress_zstd(const void *data, size_t data_size, size_t size)
{
	unsigned char *out = is_plausible(data_size, size) ? malloc(size ? size : 1) : NULL;

	if (out && ZSTD_decompress(out, size, data, data_size) == size)
		return out;
	free(out);
	return NULL;
}

/* Memory that a stream is written into; it doubles until the limit. */
struct growing {
	unsigned char *data;
	size_t len, cap, limit;
};

static bool make_room(struct growing *g)
{
	size_t larger = g->cap ? 2 * g->cap : FIRST_BYTES;
	unsigned char *data;

	if (g->len < g->cap)
		return true;
	if (larger > g->limit)
		larger = g->limit;
	if (larger <= g->cap || !(data = realloc(g->data, larger)))
		return false;
	g->data = data;
	g->cap = larger;
	return true;
}

static bool read_xz(const void *data, size_t size, struct growing *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&s, XZ_MEMORY_MAX, LZMA_CONCATENATED);

	s.next_in = data;
	s.avail_in = size;
	while (r == LZMA_OK && make_room(out)) {
		s.next_out = out->data + out->len;
		s.avail_out = out->cap - out->len;
		r = lzma_code(&s, LZMA_FINISH);
		out->len = out->cap - s.avail_out;
	}
	lzma_end(&s);
	return r == LZMA_STREAM_END;
}

static bool read_gzip(const void *data, size_t size, struct growing *out)
{
	z_stream s = {.next_in = (z_const Bytef *)data};
	int r;

	if (size > UINT32_MAX || inflateInit2(&s, ZLIB_GZIP_WINDOW) != Z_OK)
		return false;
	s.avail_in = (uInt)size;
	do {
		size_t room;

		if (!make_room(out)) {
			r = Z_MEM_ERROR;
			break;
		}
		room = out->cap - out->len < UINT32_MAX ? out->cap - out->len : UINT32_MAX;
		s.next_out = out->data + out->len;
		s.avail_out = (uInt)room;
		r = inflate(&s, Z_NO_FLUSH);
		out->len += room - s.avail_out;
	} while (r == Z_OK);
	inflateEnd(&s);
	return r == Z_STREAM_END;
}

static bool read_zstd(const void *data, size_t size, struct growing *out)
{
	ZSTD_DStream *s = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, size, 0};
	size_t r = 1;

	while (s && r && make_room(out)) {
		ZSTD_outBuffer to = {out->data, out->cap, out->len};
		size_t in_before = in.pos;

		r = ZSTD_decompressStream(s, &to, &in);
		if (ZSTD_isError(r) || (to.pos == out->len && in.pos == in_before && r))
			break;
		out->len = to.pos;
	}
	ZSTD_freeDStream(s);
	return !r;
}

unsigned char *decompress_file(const void *data, size_t data_size, size_t limit, size_t *ret_size)
{
	struct growing out = {.limit = limit};
	bool whole = false;

	if (data_size >= 6 && !memcmp(data,
				      "\xfd"
				      "7zXZ",
				      6))
		whole = read_xz(data, data_size, &out);
	else if (data_size >= 4 && !memcmp(data, "\x1f\x8b", 2))
		whole = read_gzip(data, data_size, &out);
	else if (data_size >= 4 && !memcmp(data, "\x28\xb5\x2f\xfd", 4))
		whole = read_zstd(data, data_size, &out);
	if (!whole) {
		free(out.data);
		return NULL;
	}
	*ret_size = out.len;
	return out.data;
}
