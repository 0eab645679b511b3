#include "query/run_rows.h"

#include "base/vec.h"
#include "profile/slots.h"

#include <string.h>

struct run_rows {
	size_t rows, bytes;
	uint64_t *base_ns;   /* of each block */
	uint32_t *offset_ns; /* from base_ns; NULL: a block is too long for 32 bits, see time_ns */
	uint64_t *time_ns;
	bool weights_differ;        /* within a kind; else see the weights of kinds */
	struct run_numbers weights; /* only if they differ */
	struct run_numbers address;
	uint32_t *stack; /* NULL: no row has one */
	uint16_t *kind;  /* a chunk has at most 65,536 rows */
	struct row_kind *kinds;
	size_t kind_count;
};

/* ---- numbers ---- */

static void numbers_release(struct run_numbers *n)
{
	free(n->narrow);
	free(n->wide);
}

static bool has_numbers(const struct run_numbers *n)
{
	return n->narrow || n->wide;
}

/* Returns how many bytes they take. */
static size_t keep_numbers(struct run_numbers *n, const uint64_t *values, size_t rows)
{
	uint64_t any = 0;

	for (size_t i = 0; i < rows; i++)
		any |= values[i];
	if (!any)
		return 0;
	if (any > UINT32_MAX) {
		n->wide = xrealloc(NULL, rows, sizeof(*n->wide));
		memcpy(n->wide, values, rows * sizeof(*n->wide));
		return rows * sizeof(*n->wide);
	}
	n->narrow = xrealloc(NULL, rows, sizeof(*n->narrow));
	for (size_t i = 0; i < rows; i++)
		n->narrow[i] = (uint32_t)values[i];
	return rows * sizeof(*n->narrow);
}

static uint32_t *keep_stacks(const uint32_t *stack, size_t rows)
{
	uint32_t *ret, any = 0;

	for (size_t i = 0; i < rows; i++)
		any |= stack[i];
	if (!any)
		return NULL;
	ret = xrealloc(NULL, rows, sizeof(*ret));
	memcpy(ret, stack, rows * sizeof(*ret));
	return ret;
}

void run_rows_free(struct run_rows *r)
{
	if (!r)
		return;
	free(r->base_ns);
	free(r->offset_ns);
	free(r->time_ns);
	numbers_release(&r->weights);
	numbers_release(&r->address);
	free(r->stack);
	free(r->kind);
	free(r->kinds);
	free(r);
}

size_t run_rows_bytes(const struct run_rows *r)
{
	return r->bytes;
}

/* ---- kinds ---- */

struct kind_finder {
	VEC(struct row_kind) kinds;
	uint32_t *slots; /* kind + 1 */
	size_t mask;
	bool weights_differ; /* within a kind */
};

static size_t kind_hash(const struct row_kind *k)
{
	return (size_t)hash_mix((uint64_t)k->thread << 32 | k->cpu, k->event);
}

static bool same_kind(const struct row_kind *a, const struct row_kind *b)
{
	return a->event == b->event && a->thread == b->thread && a->cpu == b->cpu;
}

static void grow_slots(struct kind_finder *f)
{
	free(f->slots);
	f->mask = f->mask ? f->mask * 2 + 1 : 255;
	f->slots = xcalloc(f->mask + 1, sizeof(*f->slots));
	for (uint32_t i = 0; i < f->kinds.len; i++) {
		size_t at = kind_hash(&f->kinds.items[i]) & f->mask;

		while (f->slots[at])
			at = (at + 1) & f->mask;
		f->slots[at] = i + 1;
	}
}

static uint16_t find_kind(struct kind_finder *f, const struct row_kind *k)
{
	size_t at;

	if (f->kinds.len * 2 >= f->mask)
		grow_slots(f);
	for (at = kind_hash(k) & f->mask; f->slots[at]; at = (at + 1) & f->mask) {
		const struct row_kind *known = &f->kinds.items[f->slots[at] - 1];

		if (same_kind(known, k)) {
			f->weights_differ |= known->weight != k->weight;
			return (uint16_t)(f->slots[at] - 1);
		}
	}
	vec_push(&f->kinds, *k);
	f->slots[at] = (uint32_t)f->kinds.len;
	return (uint16_t)(f->kinds.len - 1);
}

static void keep_kinds(struct run_rows *r, const struct sample_columns *c, uint32_t events,
		       uint32_t threads)
{
	struct kind_finder f = {};

	r->kind = xcalloc(r->rows, sizeof(*r->kind));
	for (size_t i = 0; i < r->rows; i++) {
		const struct row_kind k = {.event = c->event[i] < events ? c->event[i] : 0,
					   .thread = c->thread[i] < threads ? c->thread[i] : 0,
					   .cpu = c->cpu[i],
					   .weight = c->weight[i]};

		r->kind[i] = find_kind(&f, &k);
	}
	free(f.slots);
	r->kinds = f.kinds.items;
	r->kind_count = f.kinds.len;
	r->bytes += r->rows * sizeof(*r->kind) + f.kinds.cap * sizeof(*r->kinds);
	r->weights_differ = f.weights_differ;
	if (f.weights_differ)
		r->bytes += keep_numbers(&r->weights, c->weight, r->rows);
}

/* ---- times ---- */

static bool blocks_are_short(const struct sample_columns *c)
{
	for (size_t from = 0; from < c->rows; from += RUN_ROWS_BLOCK) {
		size_t last = from + RUN_ROWS_BLOCK < c->rows ? from + RUN_ROWS_BLOCK : c->rows;

		if (c->time_ns[last - 1] - c->time_ns[from] > UINT32_MAX)
			return false;
	}
	return true;
}

static void keep_times(struct run_rows *r, const struct sample_columns *c)
{
	size_t blocks = (r->rows + RUN_ROWS_BLOCK - 1) / RUN_ROWS_BLOCK;

	r->base_ns = xcalloc(blocks, sizeof(*r->base_ns));
	for (size_t i = 0; i < blocks; i++)
		r->base_ns[i] = c->time_ns[i * RUN_ROWS_BLOCK];
	r->bytes += blocks * sizeof(*r->base_ns);
	if (blocks_are_short(c)) {
		r->offset_ns = xcalloc(r->rows, sizeof(*r->offset_ns));
		for (size_t i = 0; i < r->rows; i++)
			r->offset_ns[i] =
				(uint32_t)(c->time_ns[i] - r->base_ns[i / RUN_ROWS_BLOCK]);
		r->bytes += r->rows * sizeof(*r->offset_ns);
		return;
	}
	r->time_ns = xcalloc(r->rows, sizeof(*r->time_ns));
	memcpy(r->time_ns, c->time_ns, r->rows * sizeof(*r->time_ns));
	r->bytes += r->rows * sizeof(*r->time_ns);
}

struct run_rows *run_rows_make(const struct sample_columns *c, uint32_t events, uint32_t threads)
{
	struct run_rows *r = xcalloc(1, sizeof(*r));

	r->rows = c->rows;
	r->bytes = sizeof(*r);
	keep_kinds(r, c, events, threads);
	keep_times(r, c);
	r->stack = c->stack ? keep_stacks(c->stack, r->rows) : NULL;
	if (r->stack)
		r->bytes += r->rows * sizeof(*r->stack);
	if (c->address)
		r->bytes += keep_numbers(&r->address, c->address, r->rows);
	return r;
}

/* ---- reading rows ---- */

uint64_t run_rows_time(const struct run_rows *r, size_t row)
{
	return r->time_ns ? r->time_ns[row] : r->base_ns[row / RUN_ROWS_BLOCK] + r->offset_ns[row];
}

size_t run_rows_at(const struct run_rows *r, uint64_t ns)
{
	size_t low = 0, high = r->rows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run_rows_time(r, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool run_rows_weights_differ(const struct run_rows *r)
{
	return r->weights_differ;
}

size_t run_rows_kinds(const struct run_rows *r, const struct row_kind **ret)
{
	*ret = r->kinds;
	return r->kind_count;
}

/* Fills @place with the rows of wanted kinds. Returns their number. */
static size_t choose(const uint16_t *kind, size_t count, const bool *wanted, uint16_t *place)
{
	size_t chosen = 0;

	if (!wanted) {
		for (size_t i = 0; i < count; i++)
			place[i] = (uint16_t)i;
		return count;
	}
	for (size_t i = 0; i < count; i++) {
		place[chosen] = (uint16_t)i;
		chosen += wanted[kind[i]];
	}
	return chosen;
}

static void fill_times(const struct run_rows *r, size_t from, size_t count, struct row_block *b)
{
	b->columns.time_ns = b->time_ns;
	for (size_t i = 0; i < count; i++)
		b->time_ns[i] = run_rows_time(r, from + b->place[i]);
}

static void fill_weights(const struct run_rows *r, size_t from, size_t count, struct row_block *b)
{
	b->columns.weight = b->weight;
	if (r->weights_differ)
		for (size_t i = 0; i < count; i++)
			b->weight[i] = run_number(&r->weights, from + b->place[i]);
	else
		for (size_t i = 0; i < count; i++)
			b->weight[i] = r->kinds[r->kind[from + b->place[i]]].weight;
}

static void fill_kinds(const struct run_rows *r, size_t from, size_t count, struct row_block *b)
{
	b->columns.event = b->event;
	b->columns.thread = b->thread;
	b->columns.cpu = b->cpu;
	for (size_t i = 0; i < count; i++) {
		const struct row_kind *k = &r->kinds[r->kind[from + b->place[i]]];

		b->event[i] = k->event;
		b->thread[i] = k->thread;
		b->cpu[i] = k->cpu;
	}
}

size_t run_rows_block(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		      unsigned columns, struct row_block *b)
{
	size_t end = (from / RUN_ROWS_BLOCK + 1) * RUN_ROWS_BLOCK;
	size_t count = (end < to ? end : to) - from;
	size_t chosen = choose(r->kind + from, count, wanted, b->place);

	b->columns = (struct sample_columns){.rows = chosen, .stack = b->stack};
	for (size_t i = 0; i < chosen; i++)
		b->stack[i] = r->stack ? r->stack[from + b->place[i]] : 0;
	if (has_numbers(&r->address)) {
		b->columns.address = b->address;
		for (size_t i = 0; i < chosen; i++)
			b->address[i] = run_number(&r->address, from + b->place[i]);
	}
	if (columns & ROWS_TIME)
		fill_times(r, from, chosen, b);
	if (columns & ROWS_WEIGHT)
		fill_weights(r, from, chosen, b);
	if (columns & ROWS_KIND)
		fill_kinds(r, from, chosen, b);
	return count;
}

struct run_rows_view run_rows_view(const struct run_rows *r)
{
	return (struct run_rows_view){
		.base_ns = r->base_ns,
		.offset_ns = r->offset_ns,
		.time_ns = r->time_ns,
		.kind = r->kind,
		.weights_differ = r->weights_differ,
		.weight = r->weights,
		.address = r->address,
	};
}

/* ---- sums ---- */

void kind_scratch_release(struct kind_scratch *s)
{
	free(s->places);
	free(s->touched);
	*s = (struct kind_scratch){};
}

static void scratch_room(struct kind_scratch *s, size_t kinds)
{
	if (s->len >= kinds)
		return;
	kind_scratch_release(s);
	s->len = kinds;
	s->places = xcalloc(kinds, sizeof(*s->places));
	s->touched = xcalloc(kinds, sizeof(*s->touched));
}

void run_rows_sum(const struct run_rows *r, size_t from, size_t to, const bool *wanted,
		  struct kind_scratch *scratch, void (*add)(void *ctx, const struct kind_sum *sum),
		  void *ctx)
{
	size_t touched = 0;

	scratch_room(scratch, r->kind_count);
	for (size_t i = from; i < to; i++) {
		struct kind_place *place = &scratch->places[r->kind[i]];

		if (!place->samples++) {
			scratch->touched[touched++] = r->kind[i];
			place->first = (uint32_t)i;
		}
		place->last = (uint32_t)i;
		if (r->weights_differ)
			place->weight += run_number(&r->weights, i);
	}
	for (size_t i = 0; i < touched; i++) {
		struct kind_place *place = &scratch->places[scratch->touched[i]];
		const struct row_kind *kind = &r->kinds[scratch->touched[i]];
		struct kind_sum sum = {.kind = kind,
				       .samples = place->samples,
				       .weight = r->weights_differ ? place->weight
								   : place->samples * kind->weight,
				       .first_ns = run_rows_time(r, place->first),
				       .last_ns = run_rows_time(r, place->last)};

		if (!wanted || wanted[scratch->touched[i]])
			add(ctx, &sum);
		*place = (struct kind_place){};
	}
}
