/* Answers questions about lanes of the spans of a table (query/table.h). */
#include "base/open_table.h"
#include "server/api/table.h"

#include <errno.h>
#include <string.h>

#define LANES 64u
#define CELLS 1000u

/* ---- names of spans ---- */

/* The distinct keys of the cells, in order of first use. */
struct key_list {
	VEC(uint64_t) keys;
	struct key_slot {
		uint64_t key;
		uint32_t place; /* 1 + index in `keys`; 0: free */
	} * slots;
	size_t mask;
	uint64_t seed;
};

static bool key_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct key_slot *s = slot;

	*ret_hash = hash_mix(seed, s->key);
	return s->place;
}

static uint32_t key_place(struct key_list *k, uint64_t key)
{
	size_t at;

	if (!k->slots || k->keys.len * 3 > k->mask * 2)
		k->slots =
			open_table_grow(k->slots, &k->mask, sizeof(*k->slots), key_home, k->seed);
	for (at = hash_mix(k->seed, key) & k->mask; k->slots[at].place; at = (at + 1) & k->mask)
		if (k->slots[at].key == key)
			return k->slots[at].place - 1;
	vec_push(&k->keys, key);
	k->slots[at] = (struct key_slot){key, (uint32_t)k->keys.len};
	return (uint32_t)k->keys.len - 1;
}

static void key_list_release(struct key_list *k)
{
	table_free(k->slots, k->slots ? k->mask + 1 : 0, sizeof(*k->slots));
	vec_release(&k->keys);
}

static void write_keys(struct table_question *a, const struct table_lanes *l, uint32_t *places)
{
	const struct table_column *column = l->key < 0 ? NULL : &a->t.columns.items[l->key];
	struct key_list keys = {.seed = hash_seed()};

	for (size_t i = 0; i < l->cells.len; i++)
		places[i] = key_place(&keys, l->cells.items[i].longest.key);
	jw_kv_str(a->j, "key", column ? column->schema.name : NULL);
	jw_key(a->j, "keys");
	jw_open(a->j, '[');
	vec_each(&keys.keys, key)
		if (column)
			table_question_value(a, column, *key);
		else
			jw_null(a->j);
	jw_close(a->j, ']');
	key_list_release(&keys);
}

/* ---- the answer ---- */

static void write_lanes(struct table_question *a, const struct table_lanes *l)
{
	jw_key(a->j, "lanes");
	jw_open(a->j, '[');
	vec_each(&l->lanes, lane) {
		jw_open(a->j, '{');
		jw_key(a->j, l->by == LANES_CPU ? "cpu" : "thread");
		if (l->by == LANES_CPU)
			jw_u64(a->j, lane->number);
		else
			table_question_thread(a, lane->number);
		jw_kv_u64(a->j, "covered_ns", lane->covered_ns);
		jw_kv_u64(a->j, "starts", lane->starts);
		jw_kv_u64(a->j, "first", lane->first);
		jw_kv_u64(a->j, "count", lane->count);
		jw_close(a->j, '}');
	}
	jw_close(a->j, ']');
}

#define WRITE_COLUMN(answer, write, key, scratch, lanes, value)                                    \
	do {                                                                                       \
		for (size_t i = 0; i < (lanes)->cells.len; i++) {                                  \
			const struct lane_cell *c = &(lanes)->cells.items[i];                      \
			(scratch)[i] = (value);                                                    \
		}                                                                                  \
		write((answer), (key), (scratch), (lanes)->cells.len);                             \
	} while (0)

static void write_cells(struct table_question *a, const struct table_lanes *l)
{
	CLEANUP(free_ptr) uint64_t *scratch = xrealloc(NULL, l->cells.len + 1, sizeof(*scratch));
	struct answer *to = &a->q->answer;
	uint32_t *narrow = (uint32_t *)scratch;
	int64_t *times = (int64_t *)scratch;

	write_keys(a, l, narrow);
	answer_u32(to, "longest_key", narrow, l->cells.len);
	WRITE_COLUMN(to, answer_u32, "cell", narrow, l, c->cell);
	WRITE_COLUMN(to, answer_u64, "covered_ns", scratch, l, c->covered_ns);
	WRITE_COLUMN(to, answer_u32, "starts", narrow, l, c->starts);
	WRITE_COLUMN(to, answer_u64, "longest_ns", scratch, l, c->longest.duration_ns);
	WRITE_COLUMN(to, answer_i64, "longest_start_ns", times, l,
		     question_since_start(a->q, c->longest.start_ns));
}

static void write_answer(struct table_question *a, const struct table_lanes *l)
{
	uint64_t from_ns = l->first << l->shift;
	int64_t since_start = question_since_start(a->q, from_ns);

	jw_open(a->j, '{');
	jw_kv_str(a->j, "table", a->t.table.name);
	jw_kv_str(a->j, "by", l->by == LANES_CPU ? "cpu" : "thread");
	jw_key(a->j, "from_ns");
	jw_i64(a->j, since_start);
	jw_key(a->j, "to_ns");
	jw_i64(a->j, question_since_start(a->q, from_ns + ((uint64_t)l->cell_count << l->shift)));
	jw_kv_u64(a->j, "cell_ns", 1ull << l->shift);
	jw_kv_u64(a->j, "pixels", l->cell_count);
	jw_kv_u64(a->j, "lanes_in_all", l->lanes_in_all);
	jw_kv_u64(a->j, "rest_covered_ns", l->rest_covered_ns);
	jw_kv_u64(a->j, "rest_starts", l->rest_starts);
	write_lanes(a, l);
	write_cells(a, l);
	jw_close(a->j, '}');
}

static int parse_by(const struct table_question *a, enum lanes_by *ret, struct err *e)
{
	const char *by = http_query(a->q->r, "by");

	*ret = by && !strcmp(by, "thread") ? LANES_THREAD : LANES_CPU;
	if (by && *ret == LANES_CPU && strcmp(by, "cpu") != 0)
		return err_set(e, EINVAL, "The parameter by is cpu or thread.");
	return 0;
}

static int answer_lanes(struct table_question *a, struct err *e)
{
	uint64_t pixels = CELLS, limit = LANES, from_ns, to_ns;
	struct table_lanes lanes = {};
	enum lanes_by by;
	int rc = parse_by(a, &by, e);

	if (rc == 0)
		rc = api_param_u64(a->q->r, "pixels", TABLE_LANE_CELLS_MAX, &pixels, e);
	if (rc == 0)
		rc = api_param_u64(a->q->r, "limit", TABLE_LANES_MAX, &limit, e);
	if (rc == 0 && (pixels < TABLE_LANE_CELLS_MIN || !limit))
		rc = err_set(e, EINVAL, "The parameter pixels is at least %u, limit at least 1.",
			     TABLE_LANE_CELLS_MIN);
	if (rc < 0)
		return rc;
	question_window(a->q, &from_ns, &to_ns);
	rc = table_lanes_make(&a->t, by, from_ns, to_ns, (uint32_t)pixels, (uint32_t)limit, &lanes,
			      e);
	answer_time(&a->q->answer, "lanes");
	if (rc == 0)
		write_answer(a, &lanes);
	table_lanes_release(&lanes);
	return rc;
}

static int lanes(struct question *q, struct err *e)
{
	return table_question_ask(q, answer_lanes, e);
}

int api_table_lanes(void *worker, const struct http_request *r, struct http_reply *reply,
		    struct err *e)
{
	static const char *const params[] = {SELECTION_PARAMS, "format", "where", "by",
					     "pixels",         "limit",  NULL};

	return question_ask(worker, r, reply, params, lanes, e);
}
