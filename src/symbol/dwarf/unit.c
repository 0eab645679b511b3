#include "symbol/dwarf/state.h"

static bool read_header(struct dwarf *d, struct reader *r, struct unit *u)
{
	unsigned offset_size = 4;

	if (!read_unit_length(r, &offset_size))
		return false;
	u->offset_size = (uint8_t)offset_size;
	u->version = read_u16(r);
	u->type = UNIT_COMPILE;
	if (u->version >= 5) {
		u->type = read_u8(r);
		u->address_size = read_u8(r);
		u->abbrev_offset = read_sized(r, offset_size);
		if (u->type == UNIT_SKELETON || u->type == UNIT_SPLIT_COMPILE)
			read_skip(r, 8);
		else if (u->type == UNIT_TYPE || u->type == UNIT_SPLIT_TYPE)
			read_skip(r, 8 + offset_size);
	} else {
		u->abbrev_offset = read_sized(r, offset_size);
		u->address_size = read_u8(r);
	}
	/* Skip a unit that cannot be read: its length is known. */
	if (r->failed || u->version < 2 || u->version > 5 ||
	    (u->address_size != 4 && u->address_size != 8)) {
		dwarf_damage(d, "a unit has a version or size that is not known");
		u->version = 0;
	}
	return true;
}

static void read_headers(struct dwarf *d, struct dwarf_bytes info, bool alt)
{
	uint64_t offset = 0;
	size_t passed_over = 0;

	while (offset < info.size) {
		struct reader r = reader_at(info, offset, d->sections.swap);
		struct unit u = {.offset = offset,
				 .alt = alt,
				 .abbrev_slot = DWARF_NOTHING,
				 .line_slot = DWARF_NOTHING};

		if (d->units.len + passed_over >= DWARF_UNITS_MAX) {
			atomic_fetch_add(&d->refused, 1);
			return;
		}
		if (!read_header(d, &r, &u)) {
			dwarf_damage(d, "a unit is longer than its section");
			return;
		}
		u.first_die = (uint64_t)(r.at - info.data);
		u.end = offset = (uint64_t)(r.end - info.data);
		if (u.version && !dwarf_push(d, &d->units, u))
			return;
		if (!u.version)
			passed_over++;
	}
}

struct slot_key {
	uint64_t offset;
	uint32_t unit;
	bool alt;
};

static int compare_keys(const void *a, const void *b)
{
	const struct slot_key *x = a, *y = b;

	if (x->alt != y->alt)
		return x->alt ? 1 : -1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->unit > y->unit) - (x->unit < y->unit);
}

typedef VEC(struct slot_key) slot_keys;

/* Numbers the distinct offsets, so that units that share a table share its slot. Returns how many
 * there are. */
static size_t number_slots(struct dwarf *d, slot_keys *keys, bool lines)
{
	size_t slots = 0;

	if (keys->len)
		qsort(keys->items, keys->len, sizeof(*keys->items), compare_keys);
	vec_each(keys, key) {
		struct unit *u = &d->units.items[key->unit];

		if (key == keys->items || key[-1].offset != key->offset || key[-1].alt != key->alt)
			slots++;
		*(lines ? &u->line_slot : &u->abbrev_slot) = (uint32_t)slots - 1;
	}
	vec_release(keys);
	return slots;
}

static uint64_t base_of(const struct die *die, enum die_slot slot, uint64_t otherwise)
{
	return die_has(die, slot) ? die->values[slot].u : otherwise;
}

static void read_unit(struct dwarf *d, struct unit *u, struct spans *spans, slot_keys *lines)
{
	uint32_t number = (uint32_t)(u - d->units.items);
	bool wide = u->offset_size == 8;
	size_t before = spans->items.len;
	struct die die;

	if (u->type == UNIT_TYPE || u->type == UNIT_SPLIT_TYPE || u->first_die == u->end)
		return;
	if (!dwarf_top_die(d, u, &die, &u->tag)) {
		dwarf_damage(d, "a unit's first entry cannot be read");
		return;
	}
	u->str_offsets_base = base_of(&die, DIE_STR_OFFSETS_BASE,
				      u->version < 5 ? 0
				      : wide         ? 16
						     : 8);
	u->addr_base = base_of(&die, DIE_ADDR_BASE, u->version < 5 ? 0 : wide ? 16 : 8);
	u->rnglists_base = base_of(&die, DIE_RNGLISTS_BASE, wide ? 20 : 12);
	if (die_has(&die, DIE_COMP_DIR))
		u->comp_dir = value_string(d, u, &die.values[DIE_COMP_DIR]);
	if (die_has(&die, DIE_LOW))
		value_address(d, u, &die.values[DIE_LOW], &u->low);
	if (u->alt)
		return;
	if (die_has(&die, DIE_STMT_LIST)) {
		u->stmt_list = die.values[DIE_STMT_LIST].u;
		vec_push(lines, (struct slot_key){.offset = u->stmt_list, .unit = number});
	}
	if (u->tag != TAG_PARTIAL_UNIT)
		spans_add_die(d, u, &die, spans, number, 0);
	if (die_has(&die, DIE_DWO_NAME) && spans->items.len > before)
		dwarf_damage(d, "functions are in .dwo files, which are not read");
}

struct unit *dwarf_unit_of_die(struct dwarf *d, bool alt, uint64_t offset)
{
	size_t low = alt ? d->main_units : 0, high = alt ? d->units.len : d->main_units;
	size_t first = low;
	struct unit *u;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (d->units.items[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return NULL;
	u = &d->units.items[low - 1];
	return offset >= u->first_die && offset < u->end ? u : NULL;
}

/* Reads one set of .debug_aranges, unless its unit has address ranges of its own. */
static void read_arange_set(struct dwarf *d, struct reader *r, unsigned offset_size,
			    const unsigned char *start, const bool *covered, struct spans *spans)
{
	uint16_t version = read_u16(r);
	uint64_t info = read_sized(r, offset_size);
	unsigned size = read_u8(r), segment = read_u8(r);
	struct unit *u = NULL;
	size_t number, pair = 2 * (size_t)size;

	/* @info is the offset of the unit's header, so dwarf_unit_of_die() would not find it. */
	for (size_t low = 0, high = d->main_units; low < high;) {
		size_t middle = low + (high - low) / 2;

		u = &d->units.items[middle];
		if (u->offset == info)
			break;
		if (u->offset < info)
			low = middle + 1;
		else
			high = middle;
	}
	if (r->failed || version != 2 || segment || (size != 4 && size != 8) || !u ||
	    u->offset != info)
		return;
	number = (size_t)(u - d->units.items);
	if (covered[number])
		return;
	if ((size_t)(r->at - start) % pair)
		read_skip(r, pair - (size_t)(r->at - start) % pair);
	while (!spans->refused) {
		uint64_t low = read_sized(r, size), length = read_sized(r, size);

		if (r->failed || (!low && !length))
			return;
		if (low && low + length > low)
			spans_add(spans, low, low + length, (uint32_t)number, 0);
	}
}

static void read_aranges(struct dwarf *d, struct spans *spans)
{
	struct dwarf_bytes section = d->sections.aranges;
	bool *covered = xcalloc(d->main_units, sizeof(*covered));
	uint64_t offset = 0;

	vec_each(&spans->items, span)
		covered[span->item] = true;
	for (size_t sets = 0; offset < section.size && sets < DWARF_UNITS_MAX; sets++) {
		struct reader r = reader_at(section, offset, d->sections.swap);
		const unsigned char *start = r.at, *end;
		unsigned offset_size;

		if (!read_unit_length(&r, &offset_size))
			break;
		end = r.end;
		read_arange_set(d, &r, offset_size, start, covered, spans);
		offset = (uint64_t)(end - section.data);
	}
	free(covered);
}

static void build_index(struct dwarf *d)
{
	struct spans spans = {.max = DWARF_INDEX_SPANS_MAX};
	slot_keys tables = {}, lines = {};

	read_headers(d, d->sections.info, false);
	d->main_units = d->units.len;
	read_headers(d, d->sections.alt_info, true);
	vec_each(&d->units, u)
		vec_push(&tables, (struct slot_key){u->abbrev_offset,
						    (uint32_t)(u - d->units.items), u->alt});
	d->abbrev_slots = number_slots(d, &tables, false);
	d->abbrevs = xcalloc(d->abbrev_slots, sizeof(*d->abbrevs));
	vec_each(&d->units, u)
		read_unit(d, u, &spans, &lines);
	d->line_slots = number_slots(d, &lines, true);
	d->lines = xcalloc(d->line_slots, sizeof(*d->lines));
	read_aranges(d, &spans);
	if (spans.refused)
		atomic_fetch_add(&d->refused, 1);
	spans_flatten(&spans, &d->index);
	spans_release(&spans);
}

void dwarf_index(struct dwarf *d)
{
	if (atomic_load_explicit(&d->indexed, memory_order_acquire))
		return;
	pthread_mutex_lock(&d->index_lock);
	if (!atomic_load_explicit(&d->indexed, memory_order_relaxed)) {
		build_index(d);
		atomic_store_explicit(&d->indexed, true, memory_order_release);
	}
	pthread_mutex_unlock(&d->index_lock);
}
