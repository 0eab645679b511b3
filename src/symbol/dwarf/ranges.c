#include "symbol/dwarf/state.h"

/*
 * Functions that the linker dropped have an address without code: 0, or one of the highest.
 */
static bool is_dropped(const struct unit *u, uint64_t low)
{
	return !low || low >= (u->address_size == 4 ? UINT32_MAX - 1 : UINT64_MAX - 1);
}

void spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t item, uint32_t depth)
{
	if (low >= high)
		return;
	if (s->items.len >= s->max) {
		s->refused = true;
		return;
	}
	vec_push(&s->items, (struct span){low, high, item, depth});
}

void spans_release(struct spans *s)
{
	vec_release(&s->items);
}

struct range_list {
	struct dwarf *d;
	const struct unit *u;
	struct spans *to;
	uint32_t item, depth;
	uint64_t base;
};

static void add_range(struct range_list *l, uint64_t low, uint64_t high)
{
	if (!is_dropped(l->u, low))
		spans_add(l->to, low, high, l->item, l->depth);
}

/* .debug_ranges: pairs of addresses */
static void read_pairs(struct range_list *l, struct reader *r)
{
	unsigned size = l->u->address_size;
	uint64_t highest = size == 4 ? UINT32_MAX : UINT64_MAX;

	while (!l->to->refused) {
		uint64_t low = read_sized(r, size), high = read_sized(r, size);

		if (r->failed || (!low && !high))
			return;
		if (low == highest)
			l->base = high;
		else if (low != high)
			add_range(l, l->base + low, l->base + high);
	}
}

/* Reads one entry of .debug_rnglists. Returns false after the last one, or on failure. */
static bool read_entry(struct range_list *l, struct reader *r)
{
	unsigned size = l->u->address_size;
	uint64_t a, b, low, high;

	switch (read_u8(r)) {
	case RANGE_BASE_ADDRESSX:
		return unit_address(l->d, l->u, read_uleb(r), &l->base);
	case RANGE_STARTX_ENDX:
		a = read_uleb(r);
		b = read_uleb(r);
		if (!unit_address(l->d, l->u, a, &low) || !unit_address(l->d, l->u, b, &high))
			return false;
		break;
	case RANGE_STARTX_LENGTH:
		a = read_uleb(r);
		if (!unit_address(l->d, l->u, a, &low))
			return false;
		high = low + read_uleb(r);
		break;
	case RANGE_OFFSET_PAIR:
		low = l->base + read_uleb(r);
		high = l->base + read_uleb(r);
		break;
	case RANGE_BASE_ADDRESS:
		l->base = read_sized(r, size);
		return !r->failed;
	case RANGE_START_END:
		low = read_sized(r, size);
		high = read_sized(r, size);
		break;
	case RANGE_START_LENGTH:
		low = read_sized(r, size);
		high = low + read_uleb(r);
		break;
	default: /* the end, or an unknown entry */
		return false;
	}
	if (!r->failed)
		add_range(l, low, high);
	return !r->failed && !l->to->refused;
}

/* Offset of the list in its section, which depends on the version. */
static bool list_offset(const struct range_list *l, const struct value *v, uint64_t *ret)
{
	const struct unit *u = l->u;
	struct reader r;

	*ret = v->u;
	if (v->form != FORM_RNGLISTX)
		return v->form == FORM_SEC_OFFSET || v->form == FORM_DATA4 || v->form == FORM_DATA8;
	if (v->u > l->d->sections.rnglists.size / u->offset_size)
		return false;
	r = reader_at(l->d->sections.rnglists, u->rnglists_base, l->d->sections.swap);
	read_skip(&r, v->u * u->offset_size);
	*ret = u->rnglists_base + read_sized(&r, u->offset_size);
	return !r.failed;
}

static void read_list(struct range_list *l, const struct value *v)
{
	const struct dwarf_sections *s = &l->d->sections;
	bool entries = l->u->version >= 5, cut;
	const unsigned char *start;
	uint64_t offset;
	struct reader r;

	if (!list_offset(l, v, &offset)) {
		dwarf_damage(l->d, "a list of address ranges is not where it should be");
		return;
	}
	r = reader_at(entries ? s->rnglists : s->ranges, offset, s->swap);
	start = r.at;
	cut = reader_afford(&r, &l->d->range_budget);
	if (!entries)
		read_pairs(l, &r);
	else
		while (read_entry(l, &r))
			;
	if (r.failed)
		dwarf_unreadable(l->d, cut, "a list of address ranges does not end");
	dwarf_spend(&l->d->range_budget, (size_t)(r.at - start) + 16);
}

bool spans_add_die(struct dwarf *d, const struct unit *u, const struct die *die, struct spans *s,
		   uint32_t item, uint32_t depth)
{
	struct range_list l = {d, u, s, item, depth, u->low};
	uint64_t low, high;

	if (die_has(die, DIE_RANGES)) {
		read_list(&l, &die->values[DIE_RANGES]);
		return true;
	}
	if (!die_has(die, DIE_LOW) || !die_has(die, DIE_HIGH) ||
	    !value_address(d, u, &die->values[DIE_LOW], &low))
		return false;
	if (!value_address(d, u, &die->values[DIE_HIGH], &high))
		high = low + die->values[DIE_HIGH].u;
	add_range(&l, low, high);
	return true;
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

struct flattening {
	VEC(struct step) steps;
	VEC(struct span) open; /* a stack; the top one applies */
};

static void put_step(struct flattening *f, uint64_t at, uint32_t item)
{
	struct step *last = f->steps.len ? &f->steps.items[f->steps.len - 1] : NULL;

	if (last && last->at == at) {
		last->item = item;
		if (f->steps.len > 1 && last[-1].item == item)
			f->steps.len--;
	} else if (!last || last->item != item) {
		vec_push(&f->steps, (struct step){at, item});
	}
}

static void close_until(struct flattening *f, uint64_t address)
{
	while (f->open.len && f->open.items[f->open.len - 1].high <= address) {
		uint64_t end = f->open.items[--f->open.len].high;

		while (f->open.len && f->open.items[f->open.len - 1].high <= end)
			f->open.len--;
		put_step(f, end, f->open.len ? f->open.items[f->open.len - 1].item : DWARF_NOTHING);
	}
}

void spans_flatten(struct spans *s, struct steps *ret)
{
	struct flattening f = {};

	if (s->items.len)
		qsort(s->items.items, s->items.len, sizeof(*s->items.items), compare_spans);
	vec_each(&s->items, span) {
		close_until(&f, span->low);
		vec_push(&f.open, *span);
		put_step(&f, span->low, span->item);
	}
	close_until(&f, UINT64_MAX);
	vec_release(&f.open);
	ret->len = f.steps.len;
	ret->items = f.steps.len ? xrealloc(f.steps.items, f.steps.len, sizeof(*ret->items)) : NULL;
}

size_t steps_at(const struct steps *s, uint64_t address)
{
	size_t low = 0, high = s->len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : SIZE_MAX;
}

uint32_t steps_find(const struct steps *s, uint64_t address)
{
	size_t n = steps_at(s, address);

	return n == SIZE_MAX ? DWARF_NOTHING : s->items[n].item;
}
