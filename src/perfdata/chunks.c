#include "perfdata/chunks.h"
#include "base/io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool chunks_possible(const struct perfdata *p)
{
	uint64_t others = 1ull << FEATURE_AUXTRACE | 1ull << FEATURE_COMPRESSED;

	return p->seekable && !p->pipe && !p->directory && !p->stream.swap &&
	       !(p->features.present & others);
}

void chunks_note(struct chunk_list *list, const struct perf_event_header *record,
		 uint64_t file_offset)
{
	struct chunk *last = list->chunks.len ? &list->chunks.items[list->chunks.len - 1] : NULL;

	list->end = file_offset + record->size;
	if (last && file_offset - last->offset < CHUNK_BYTES)
		return;
	if (last)
		last->size = file_offset - last->offset;
	vec_push(&list->chunks, (struct chunk){.offset = file_offset});
}

void chunks_finish(struct chunk_list *list)
{
	struct chunk *last = list->chunks.len ? &list->chunks.items[list->chunks.len - 1] : NULL;

	if (last)
		last->size = list->end - last->offset;
}

void chunks_release(struct chunk_list *list)
{
	vec_release(&list->chunks);
}

bool chunk_open(struct chunk_reader *r, const struct perfdata *p, const struct chunk *chunk)
{
	/* Records are aligned in memory if they are in the file. */
	size_t shift = chunk->offset & 7, need = shift + chunk->size;

	r->fd = p->fd;
	if (need > r->room) {
		free(r->bytes);
		r->room = need > 2 * CHUNK_BYTES ? need : 2 * CHUNK_BYTES;
		r->bytes = xcalloc(1, r->room);
	}
	r->at = r->size = shift;
	if (io_read_at(r->fd, r->bytes + shift, chunk->size, chunk->offset) != (ssize_t)chunk->size)
		return false;
	r->size = need;
	return true;
}

const struct perf_event_header *chunk_next(struct chunk_reader *r)
{
	struct perf_event_header h;
	unsigned char *bytes = r->bytes + r->at;

	if (r->size - r->at < sizeof(h))
		return NULL;
	memcpy(&h, bytes, sizeof(h));
	if (h.size < sizeof(h) || h.size > r->size - r->at)
		return NULL;
	r->at += h.size;
	if (!((uintptr_t)bytes & 7))
		return (const void *)bytes;
	if (!r->aligned)
		r->aligned = xcalloc(1, RECORD_BYTES_MAX + 1);
	memcpy(r->aligned, bytes, h.size);
	return (const void *)r->aligned;
}

void chunk_reader_release(struct chunk_reader *r)
{
	free(r->bytes);
	free(r->aligned);
}
