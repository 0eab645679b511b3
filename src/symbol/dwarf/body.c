#include "symbol/dwarf/state.h"

struct walk {
	struct dwarf *d;
	const struct unit *u;
	const struct abbrevs *table;
	struct reader r;
	struct spans spans;
	VEC(struct inlined) found;
	size_t depth;
	size_t hidden_at; /* depth of a nested function that is being skipped; 0: none */
	uint32_t parents[DWARF_DIE_DEPTH_MAX];
};

static uint32_t small(const struct die *die, enum die_slot slot, uint32_t otherwise)
{
	if (!die_has(die, slot) || die->values[slot].u > UINT32_MAX)
		return otherwise;
	return (uint32_t)die->values[slot].u;
}

/* Reads the inlined call at the reader. Returns its number, or DWARF_NOTHING on failure. */
static uint32_t add_inlined(struct walk *w, const struct abbrev *a, uint64_t offset)
{
	uint32_t number = (uint32_t)w->found.len;
	struct die die;

	die_read(&w->r, w->u, w->table, a, &die);
	if (w->r.failed)
		return DWARF_NOTHING;
	if (!dwarf_push(w->d, &w->found,
			(struct inlined){.die = offset,
					 .parent = w->parents[w->depth],
					 .call_file = small(&die, DIE_CALL_FILE, DWARF_NOTHING),
					 .call_line = small(&die, DIE_CALL_LINE, 0)}))
		return DWARF_NOTHING;
	spans_add_die(w->d, w->u, &die, &w->spans, number, (uint32_t)w->depth);
	return number;
}

/* Visits one entry. If it has children, they come next. */
static void visit(struct walk *w, const struct abbrev *a, uint64_t offset)
{
	uint32_t inner = w->parents[w->depth];

	if (a->tag == TAG_INLINED_SUBROUTINE && !w->hidden_at && w->found.len < w->spans.max)
		inner = add_inlined(w, a, offset);
	else
		die_skip(&w->r, w->u, w->table, a);
	if (!a->children)
		return;
	if (w->depth + 1 == DWARF_DIE_DEPTH_MAX) {
		w->r.failed = true;
		return;
	}
	w->depth++;
	w->parents[w->depth] = inner;
	if (a->tag == TAG_SUBPROGRAM && !w->hidden_at)
		w->hidden_at = w->depth;
}

static void walk_body(struct walk *w)
{
	const unsigned char *info = w->d->sections.info.data;
	const struct abbrev *a = abbrevs_find(w->table, read_uleb(&w->r));

	if (!a || !a->children)
		return;
	die_skip(&w->r, w->u, w->table, a);
	w->depth = 1;
	w->parents[1] = DWARF_NOTHING;
	while (w->r.at < w->r.end && !w->r.failed && !w->spans.refused) {
		uint64_t offset = (uint64_t)(w->r.at - info), code = read_uleb(&w->r);

		if (!code) {
			if (w->depth == w->hidden_at)
				w->hidden_at = 0;
			if (!--w->depth)
				break;
			continue;
		}
		a = abbrevs_find(w->table, code);
		if (!a)
			w->r.failed = true;
		else
			visit(w, a, offset);
	}
	if (w->r.failed)
		dwarf_damage(w->d, "an entry of a function cannot be read");
}

static struct body empty_body;

static struct body *read_body(struct dwarf *d, const struct unit *u, const struct function *f)
{
	struct walk w = {.d = d, .u = u, .spans.max = DWARF_SPANS_MAX};
	struct body *b;

	w.table = dwarf_abbrevs(d, u);
	w.r = reader_at((struct dwarf_bytes){d->sections.info.data, u->end}, f->die,
			d->sections.swap);
	walk_body(&w);
	if (w.spans.refused)
		atomic_fetch_add(&d->refused, 1);
	if (!w.spans.items.len) {
		vec_release(&w.found);
		return &empty_body;
	}
	b = xcalloc(1, sizeof(*b));
	spans_flatten(&w.spans, &b->steps);
	spans_release(&w.spans);
	b->count = w.found.len;
	b->inlined = xrealloc(w.found.items, b->count, sizeof(*b->inlined));
	if (!dwarf_hold(d, sizeof(*b) + b->steps.len * sizeof(*b->steps.items) +
				   b->count * sizeof(*b->inlined))) {
		body_free(b);
		return &empty_body;
	}
	return b;
}

void body_free(struct body *b)
{
	if (!b || b == &empty_body)
		return;
	free(b->steps.items);
	free(b->inlined);
	free(b);
}

struct body *function_body(struct dwarf *d, struct unit *u, struct function *f)
{
	struct body *b = atomic_load_explicit(&f->body, memory_order_acquire);
	pthread_mutex_t *lock = &d->unit_locks[(size_t)(u - d->units.items) % DWARF_LOCKS];

	if (b)
		return b;
	pthread_mutex_lock(lock);
	b = atomic_load_explicit(&f->body, memory_order_relaxed);
	if (!b) {
		b = read_body(d, u, f);
		atomic_store_explicit(&f->body, b, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return b;
}
