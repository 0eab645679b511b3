#include "perfdata/inflate.h"

#include <zstd.h>

struct inflate {
	ZSTD_DCtx *zstd;
	struct feed feed;
	uint64_t in, out, last_offset;
	bool broken;
	bool busy; /* a compressed record inside of a compressed one would come back here */
};

struct inflate *inflate_new(struct stream *stream)
{
	struct inflate *i = xcalloc(1, sizeof(*i));

	i->zstd = ZSTD_createDCtx();
	if (!i->zstd)
		abort();
	i->feed = (struct feed){.stream = stream, .outside = true};
	return i;
}

void inflate_free(struct inflate *i)
{
	if (!i)
		return;
	feed_release(&i->feed);
	ZSTD_freeDCtx(i->zstd);
	free(i);
}

static bool broken(struct inflate *i, uint64_t offset, const char *what)
{
	i->broken = true;
	stream_damage(i->feed.stream, offset, "a compressed record cannot be read: %s", what);
	return false;
}

bool inflate_piece(struct inflate *i, const void *data, size_t size, uint64_t file_offset)
{
	ZSTD_inBuffer in = {data, size, 0};
	bool more = true;

	if (i->broken)
		return false;
	if (i->busy)
		return broken(i, file_offset, "it stands inside of another one");
	i->in += size;
	i->busy = true;
	i->last_offset = i->feed.file_offset = file_offset;
	while ((in.pos < in.size || more) && !i->broken && !i->feed.stream->stopped) {
		size_t room, r;
		ZSTD_outBuffer out = {};

		out.dst = feed_room(&i->feed, &room);
		out.size = room;
		r = ZSTD_decompressStream(i->zstd, &out, &in);
		if (ZSTD_isError(r))
			return broken(i, file_offset, ZSTD_getErrorName(r));
		i->out += out.pos;
		if (i->out > INFLATE_FREE + i->in * INFLATE_RATIO_MAX)
			return broken(i, file_offset,
				      "it grows beyond all measure, which no recording does");
		/* A full buffer may mean that there is more inside. */
		more = out.pos == out.size;
		feed_bytes(&i->feed, out.pos);
	}
	i->busy = false;
	return !i->broken && !i->feed.stream->stopped;
}

void inflate_end(struct inflate *i)
{
	size_t left = feed_left(&i->feed);

	if ((left || i->feed.skip) && !i->feed.stream->stopped && !i->broken)
		stream_damage(
			i->feed.stream, i->last_offset,
			"the compressed records end in the middle of a record, %zu bytes of it "
			"are there",
			left);
}

uint64_t inflate_bytes_in(const struct inflate *i)
{
	return i->in;
}

uint64_t inflate_bytes_out(const struct inflate *i)
{
	return i->out;
}
