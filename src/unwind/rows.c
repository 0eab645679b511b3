#include "unwind/rows.h"

#include <string.h>

#define FIRST_PLACES 4096u /* powers of two */
#define FIRST_SLOTS  1024u

void rows_init(struct rows *r)
{
	*r = (struct rows){.place_mask = FIRST_PLACES - 1, .slot_mask = FIRST_SLOTS - 1};
	r->places = xcalloc(FIRST_PLACES, sizeof(*r->places));
	r->slots = xcalloc(FIRST_SLOTS, sizeof(*r->slots));
}

void rows_release(struct rows *r)
{
	free(r->places);
	free(r->slots);
	vec_release(&r->rows);
	vec_release(&r->full);
	*r = (struct rows){};
}

static bool is_unchanged(const struct cfi_rule *rule)
{
	return rule->how == CFI_UNSET || rule->how == CFI_SAME;
}

/* The return address, if it is where it mostly is. */
static bool compile_return(const struct machine *m, const struct cfi_row *from, struct row *ret)
{
	const struct cfi_rule *rule = &from->regs[from->return_register];

	ret->return_reg = from->return_register;
	if (rule->how == CFI_SAVED) {
		ret->return_offset = (int32_t)rule->offset;
		return ret->return_offset == rule->offset;
	}
	ret->return_in_register = 1;
	return m->lr && from->return_register == m->lr && is_unchanged(rule);
}

static bool compile_saved(const struct cfi_row *from, struct row *ret)
{
	for (uint8_t i = 0; i < CFI_REGISTERS; i++) {
		const struct cfi_rule *rule = &from->regs[i];
		int64_t slot = rule->offset / 8;

		if (i == from->return_register || is_unchanged(rule))
			continue;
		if (rule->how != CFI_SAVED || rule->offset % 8 || slot != (int16_t)slot ||
		    ret->saved_count == ROW_SAVED_MAX)
			return false;
		ret->saved_reg[ret->saved_count] = i;
		ret->saved_slot[ret->saved_count++] = (int16_t)slot;
	}
	return true;
}

/* False: it does not fit. */
static bool compile_simple(const struct machine *m, const struct cfi_row *from, struct row *ret)
{
	*ret = (struct row){.kind = ROW_SIMPLE, .return_signed = from->return_signed};
	if (from->cfa.how != CFI_REGISTER || from->signal_frame ||
	    !is_unchanged(&from->regs[m->sp]) || from->regs[m->pc].how > CFI_SAVED)
		return false;
	ret->cfa_reg = from->cfa.reg;
	ret->cfa_offset = (int32_t)from->cfa.offset;
	return ret->cfa_offset == from->cfa.offset && compile_return(m, from, ret) &&
	       compile_saved(from, ret);
}

static bool find_rules(const struct machine *m, struct unwind_tables *tables, uint64_t address,
		       struct cfi_row *ret)
{
	unsigned char code[16];
	size_t size;

	if (tables->cfi && cfi_find(tables->cfi, address, ret))
		return true;
	/* A handler's return address is the code's first byte, and @address the one before it. */
	if (!tables->module)
		return false;
	size = module_code(tables->module, address, code, sizeof(code));
	return machine_signal_return(m, code, size, ret) ||
	       (size && machine_signal_return(m, code + 1, size - 1, ret));
}

static struct row compile(struct rows *r, const struct machine *m, struct unwind_tables *tables,
			  uint64_t address)
{
	struct cfi_row rules;
	struct row row = {.kind = ROW_NO_INFO};

	if (!find_rules(m, tables, address, &rules))
		return row;
	if (rules.regs[rules.return_register].how == CFI_UNDEFINED)
		return (struct row){.kind = ROW_OUTERMOST};
	if (compile_simple(m, &rules, &row))
		return row;
	row = (struct row){.kind = ROW_FULL, .full = (uint32_t)r->full.len};
	vec_push(&r->full, rules);
	return row;
}

static size_t content_hash(const struct row *row)
{
	const unsigned char *p = (const unsigned char *)row;
	uint64_t h = 0;

	for (size_t i = 0; i < sizeof(*row) / 4; i++) {
		uint32_t word;

		memcpy(&word, p + 4 * i, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return (size_t)h;
}

static void put_slot(struct rows *r, uint32_t number)
{
	size_t i = content_hash(&r->rows.items[number]);

	while (r->slots[i & r->slot_mask])
		i++;
	r->slots[i & r->slot_mask] = number + 1;
}

static uint32_t intern(struct rows *r, const struct row *row)
{
	for (size_t i = content_hash(row); r->slots[i & r->slot_mask]; i++) {
		uint32_t number = r->slots[i & r->slot_mask] - 1;

		if (!memcmp(&r->rows.items[number], row, sizeof(*row)))
			return number;
	}
	vec_push(&r->rows, *row);
	if (r->rows.len > r->slot_mask / 2) {
		r->slot_mask = 2 * r->slot_mask + 1;
		free(r->slots);
		r->slots = xcalloc(r->slot_mask + 1, sizeof(*r->slots));
		for (uint32_t i = 0; i + 1 < r->rows.len; i++)
			put_slot(r, i);
	}
	put_slot(r, (uint32_t)r->rows.len - 1);
	return (uint32_t)r->rows.len - 1;
}

static void put_place(struct rows *r, struct row_place place)
{
	size_t i = row_place_hash(place.tables, place.address);

	while (r->places[i & r->place_mask].tables)
		i++;
	r->places[i & r->place_mask] = place;
}

static void grow_places(struct rows *r)
{
	struct row_place *old = r->places;
	size_t old_size = r->place_mask + 1;

	r->place_mask = 2 * r->place_mask + 1;
	r->places = xcalloc(r->place_mask + 1, sizeof(*r->places));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].tables)
			put_place(r, old[i]);
	free(old);
}

static void forget_all(struct rows *r)
{
	memset(r->places, 0, (r->place_mask + 1) * sizeof(*r->places));
	memset(r->slots, 0, (r->slot_mask + 1) * sizeof(*r->slots));
	r->place_count = r->rows.len = r->full.len = 0;
}

const struct row *rows_add(struct rows *r, const struct machine *m, struct unwind_tables *tables,
			   uint64_t address)
{
	struct row row;
	uint32_t number;

	if (r->place_count >= ROWS_PLACES_MAX || r->full.len >= ROWS_FULL_MAX)
		forget_all(r);
	if (r->place_count >= r->place_mask / 2)
		grow_places(r);
	row = compile(r, m, tables, address);
	number = intern(r, &row);
	put_place(r, (struct row_place){address, tables->id, number});
	r->place_count++;
	return &r->rows.items[number];
}
