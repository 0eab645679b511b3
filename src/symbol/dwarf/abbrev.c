#include "symbol/dwarf/state.h"

static uint8_t slot_of(uint64_t attribute)
{
	switch (attribute) {
	case AT_LOW_PC:
		return DIE_LOW;
	case AT_HIGH_PC:
		return DIE_HIGH;
	case AT_RANGES:
		return DIE_RANGES;
	case AT_SIBLING:
		return DIE_SIBLING;
	case AT_NAME:
		return DIE_NAME;
	case AT_LINKAGE_NAME:
	case AT_MIPS_LINKAGE_NAME:
		return DIE_LINKAGE_NAME;
	case AT_ABSTRACT_ORIGIN:
		return DIE_ORIGIN;
	case AT_SPECIFICATION:
		return DIE_SPECIFICATION;
	case AT_CALL_FILE:
		return DIE_CALL_FILE;
	case AT_CALL_LINE:
		return DIE_CALL_LINE;
	case AT_DECL_LINE:
		return DIE_DECL_LINE;
	case AT_STMT_LIST:
		return DIE_STMT_LIST;
	case AT_COMP_DIR:
		return DIE_COMP_DIR;
	case AT_STR_OFFSETS_BASE:
		return DIE_STR_OFFSETS_BASE;
	case AT_ADDR_BASE:
	case AT_GNU_ADDR_BASE:
		return DIE_ADDR_BASE;
	case AT_RNGLISTS_BASE:
		return DIE_RNGLISTS_BASE;
	case AT_DWO_NAME:
	case AT_GNU_DWO_NAME:
		return DIE_DWO_NAME;
	default:
		return DIE_IGNORED;
	}
}

/* Reads the declaration after its code. Returns false if it cannot be read. */
static bool read_declaration(struct reader *r, struct abbrevs *t, uint64_t code)
{
	struct abbrev a = {.code = code, .first = (uint32_t)t->attributes.len};
	uint64_t tag = read_uleb(r);

	a.tag = tag > UINT16_MAX ? 0 : (uint16_t)tag;
	a.children = read_u8(r) != 0;
	for (;;) {
		uint64_t attribute = read_uleb(r), form = read_uleb(r);
		struct abbrev_attribute at = {.slot = slot_of(attribute)};

		if (r->failed)
			return false;
		if (!attribute && !form)
			break;
		if (a.count == DWARF_ATTRIBUTES_MAX)
			return false;
		at.form = form > UINT16_MAX ? FORM_UNKNOWN : (uint16_t)form;
		if (form == FORM_IMPLICIT_CONST)
			at.implicit = (uint32_t)read_sleb(r);
		form_measure(&a, at.form);
		vec_push(&t->attributes, at);
		a.count++;
	}
	vec_push(&t->items, a);
	return true;
}

static int compare_codes(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static struct reader abbrev_reader(struct dwarf *d, const struct unit *u)
{
	return reader_at(u->alt ? d->sections.alt_abbrev : d->sections.abbrev, u->abbrev_offset,
			 d->sections.swap);
}

static struct abbrevs *read_table(struct dwarf *d, const struct unit *u)
{
	struct abbrevs *t = xcalloc(1, sizeof(*t));
	struct reader r = abbrev_reader(d, u);
	const unsigned char *start = r.at;
	bool cut = reader_afford(&r, &d->abbrev_budget);
	uint64_t code;

	t->dense = true;
	while ((code = read_uleb(&r)) && !r.failed) {
		if (!read_declaration(&r, t, code)) {
			dwarf_unreadable(d, cut, "an abbreviation cannot be read");
			break;
		}
		t->dense &= code == t->items.len;
	}
	dwarf_spend(&d->abbrev_budget, (size_t)(r.at - start));
	if (!dwarf_hold(d, t->items.cap * sizeof(*t->items.items) +
				   t->attributes.cap * sizeof(*t->attributes.items))) {
		vec_release(&t->items);
		vec_release(&t->attributes);
	}
	if (!t->dense && t->items.len)
		qsort(t->items.items, t->items.len, sizeof(*t->items.items), compare_codes);
	return t;
}

struct abbrevs *dwarf_abbrevs(struct dwarf *d, const struct unit *u)
{
	struct abbrevs *_Atomic *slot = &d->abbrevs[u->abbrev_slot];
	struct abbrevs *t = atomic_load_explicit(slot, memory_order_acquire);

	if (t)
		return t;
	pthread_mutex_lock(&d->abbrev_lock);
	t = atomic_load_explicit(slot, memory_order_relaxed);
	if (!t) {
		t = read_table(d, u);
		atomic_store_explicit(slot, t, memory_order_release);
	}
	pthread_mutex_unlock(&d->abbrev_lock);
	return t;
}

void abbrevs_free(struct abbrevs *a)
{
	if (!a)
		return;
	vec_release(&a->items);
	vec_release(&a->attributes);
	free(a);
}

const struct abbrev *abbrevs_find(const struct abbrevs *a, uint64_t code)
{
	size_t low = 0, high = a->items.len;

	if (a->dense)
		return code && code <= a->items.len ? &a->items.items[code - 1] : NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (a->items.items[middle].code == code)
			return &a->items.items[middle];
		if (a->items.items[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool dwarf_top_die(struct dwarf *d, const struct unit *u, struct die *die, uint16_t *ret_tag)
{
	struct dwarf_bytes info = u->alt ? d->sections.alt_info : d->sections.info;
	struct reader r =
		reader_at((struct dwarf_bytes){info.data, u->end}, u->first_die, d->sections.swap);
	struct reader abbrev = abbrev_reader(d, u);
	struct abbrevs first = {}, *table = &first;
	uint64_t code = read_uleb(&r);
	const struct abbrev *a = NULL;

	/* Compilers declare the unit's own abbreviation first. */
	if (code && read_uleb(&abbrev) == code && read_declaration(&abbrev, &first, code))
		a = first.items.items;
	if (!a && code) {
		table = dwarf_abbrevs(d, u);
		a = abbrevs_find(table, code);
	}
	if (a && !r.failed) {
		die_read(&r, u, table, a, die);
		*ret_tag = a->tag;
	}
	vec_release(&first.items);
	vec_release(&first.attributes);
	return a && !r.failed;
}
