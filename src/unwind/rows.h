/*
 * Rules of call frame information, compiled: what a step needs, in one cache line, shared by all
 * addresses with the same rules, and found by (module, address) in a hash table. What does not fit
 * the common form keeps its whole struct cfi_row.
 *
 * Belongs to one thread. Pointers are valid until the next look-up.
 */
#ifndef TACHO_UNWIND_ROWS_H
#define TACHO_UNWIND_ROWS_H

#include "base/vec.h"
#include "unwind/machine.h"
#include "unwind/tables.h"

#define ROWS_PLACES_MAX (4u << 20) /* addresses; when they are that many, all starts anew */
#define ROWS_FULL_MAX   (1u << 16) /* rows kept whole, likewise */
#define ROW_SAVED_MAX   12u

enum row_kind {
	ROW_NO_INFO,
	ROW_OUTERMOST, /* there is no caller */
	ROW_SIMPLE,
	ROW_FULL,
};

/* Without holes, so that it can be compared as bytes. */
struct row {
	int32_t cfa_offset;
	int32_t return_offset;             /* from the CFA */
	uint32_t full;                     /* of ROW_FULL: its number */
	int16_t saved_slot[ROW_SAVED_MAX]; /* from the CFA, in words */
	uint8_t saved_reg[ROW_SAVED_MAX];
	uint8_t saved_count;
	uint8_t kind; /* enum row_kind */
	uint8_t cfa_reg, return_reg;
	uint8_t return_in_register, return_signed; /* booleans */
	uint8_t unused[2];
};

struct row_place {
	uint64_t address;
	uint32_t tables; /* their id; 0: free */
	uint32_t row;
};

struct rows {
	struct row_place *places;
	size_t place_count, place_mask;
	VEC(struct row) rows;
	uint32_t *slots; /* of rows by content, number + 1 */
	size_t slot_mask;
	VEC(struct cfi_row) full;
};

void rows_init(struct rows *r);
void rows_release(struct rows *r);

/* Works the rules out if they are not known yet. @tables must be of machine @m. */
const struct row *rows_add(struct rows *r, const struct machine *m, struct unwind_tables *tables,
			   uint64_t address);

static inline size_t row_place_hash(uint32_t tables, uint64_t address)
{
	uint64_t h = (address + ((uint64_t)tables << 40)) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h ^ h >> 32);
}

static inline const struct row *rows_find(struct rows *r, const struct machine *m,
					  struct unwind_tables *tables, uint64_t address)
{
	for (size_t i = row_place_hash(tables->id, address);; i++) {
		const struct row_place *p = &r->places[i & r->place_mask];

		if (p->address == address && p->tables == tables->id)
			return &r->rows.items[p->row];
		if (!p->tables)
			return rows_add(r, m, tables, address);
	}
}

#endif
