/* Encoding and decoding of levels of lanes. */
#include "profile/lanes.h"

#include "profile/columns.h"
#include "profile/packed.h"

#include <errno.h>

#define HEAD_SIZE 28u /* u32 by, key, shift, lanes, cells; u64 first cell */

/* ---- writing ---- */

#define ADD_COLUMN(scratch, count, body, value)                                                    \
	do {                                                                                       \
		for (size_t i = 0; i < (count); i++)                                               \
			(scratch)[i] = (value);                                                    \
		column_encode((scratch), (count), (body));                                         \
	} while (0)

void lane_level_encode(const struct lane_level *l, struct buf *out)
{
	size_t most = l->cell_count > l->lane_count ? l->cell_count : l->lane_count;
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, most + 1, sizeof(*scratch));
	CLEANUP(buf_release) struct buf head = {}, body = {};
	const struct lane_cell *c = l->cells;
	uint64_t start_ns = l->first << l->shift;

	put_u32(&head, l->by);
	put_u32(&head, l->key);
	put_u32(&head, l->shift);
	put_u32(&head, (uint32_t)l->lane_count);
	put_u32(&head, (uint32_t)l->cell_count);
	put_u64(&head, l->first);
	ADD_COLUMN(scratch, l->lane_count, &body, l->lanes[i]);
	ADD_COLUMN(scratch, l->lane_count, &body, l->begin[i + 1] - l->begin[i]);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].cell);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].starts);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].covered_ns);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].longest.duration_ns);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].longest.start_ns - start_ns);
	ADD_COLUMN(scratch, l->cell_count, &body, c[i].longest.key);
	packed_seal(PACKED_LANES, &head, &body, out);
}

/* ---- reading ---- */

static bool read_head(struct cursor head, struct lane_level *ret)
{
	uint32_t by = cursor_u32(&head);

	ret->by = (enum lanes_by)by;
	ret->key = cursor_u32(&head);
	ret->shift = cursor_u32(&head);
	ret->lane_count = cursor_u32(&head);
	ret->cell_count = cursor_u32(&head);
	ret->first = cursor_u64(&head);
	return by < LANES_BY_COUNT && ret->shift < 64 && ret->cell_count <= LANES_CELLS_MAX &&
	       ret->lane_count <= ret->cell_count;
}

int lane_level_peek(const void *bytes, size_t size, struct lane_level *ret, struct err *e)
{
	struct cursor head;
	int rc = packed_peek(PACKED_LANES, bytes, size, HEAD_SIZE, &head, e);

	*ret = (struct lane_level){};
	if (rc == 0 && !read_head(head, ret))
		rc = err_set(e, EBADMSG, "stored lanes are damaged: the head makes no sense");
	ret->lane_count = ret->cell_count = 0;
	return rc;
}

#define TAKE_COLUMN(x, scratch, count, max, target)                                                \
	do {                                                                                       \
		if (!column_decode((x), (count), (max), (scratch)))                                \
			return false;                                                              \
		for (size_t i = 0; i < (count); i++) {                                             \
			uint64_t v = (scratch)[i];                                                 \
			target;                                                                    \
		}                                                                                  \
	} while (0)

static bool take_columns(struct cursor *body, struct lane_level *l, uint64_t *scratch)
{
	uint64_t start_ns = l->first << l->shift;
	struct lane_cell *c = l->cells;

	TAKE_COLUMN(body, scratch, l->lane_count, UINT32_MAX, l->lanes[i] = (uint32_t)v);
	l->begin[0] = 0;
	TAKE_COLUMN(body, scratch, l->lane_count, LANES_CELLS_MAX,
		    l->begin[i + 1] = l->begin[i] + (uint32_t)v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT32_MAX, c[i].cell = (uint32_t)v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT32_MAX, c[i].starts = (uint32_t)v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT64_MAX, c[i].covered_ns = v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT64_MAX, c[i].longest.duration_ns = v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT64_MAX, c[i].longest.start_ns = start_ns + v);
	TAKE_COLUMN(body, scratch, l->cell_count, UINT64_MAX, c[i].longest.key = v);
	return body->at == body->size;
}

/* Checks the conditions that code walking the lanes relies on. */
static bool makes_sense(const struct lane_level *l)
{
	uint64_t most = UINT64_MAX >> l->shift;

	if (l->begin[l->lane_count] != l->cell_count || l->first > most)
		return false;
	for (size_t lane = 0; lane < l->lane_count; lane++) {
		if ((lane && l->lanes[lane] <= l->lanes[lane - 1]) ||
		    l->begin[lane] >= l->begin[lane + 1])
			return false;
		for (size_t i = l->begin[lane]; i < l->begin[lane + 1]; i++)
			if (!lane_cell_exists(&l->cells[i]) || l->cells[i].cell > most - l->first ||
			    (i > l->begin[lane] && l->cells[i].cell <= l->cells[i - 1].cell))
				return false;
	}
	return true;
}

int lane_level_decode(const void *bytes, size_t size, struct lane_level *ret, struct err *e)
{
	CLEANUP(free_ptr) uint64_t *scratch = NULL;
	struct packed p = {};
	bool good;
	int rc = packed_open(PACKED_LANES, bytes, size, HEAD_SIZE, CHUNK_BYTES_MAX, &p, e);

	*ret = (struct lane_level){};
	if (rc)
		return rc;
	good = read_head(p.head, ret);
	if (good) {
		scratch = xrealloc(NULL, ret->cell_count + 1, sizeof(*scratch));
		ret->lanes = xrealloc(NULL, ret->lane_count + 1, sizeof(*ret->lanes));
		ret->begin = xrealloc(NULL, ret->lane_count + 1, sizeof(*ret->begin));
		ret->cells = xcalloc(ret->cell_count + 1, sizeof(*ret->cells));
		good = take_columns(&p.body, ret, scratch) && makes_sense(ret);
	}
	packed_release(&p);
	if (good)
		return 0;
	lane_level_release(ret);
	return err_set(e, EBADMSG, "stored lanes of spans are damaged");
}
