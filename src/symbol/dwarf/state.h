/*
 * Internal declarations of the DWARF reader; not for other code.
 *
 *	units ──► index (address → unit)
 *	  unit ──► functions (address → function) ──► body (address → inlined call and its callers)
 *	  unit ──► line table (address → sequence → row)
 *
 * Each of these maps is a list of steps: sorted addresses, each with the item that applies from
 * there on. The index is built once. The rest is built when first needed, under one of several
 * locks, and published by a pointer that is read with acquire. Published data does not change
 * and is not freed before dwarf_free(), except for fields that are atomic themselves.
 */
#ifndef TACHO_SYMBOL_DWARF_STATE_H
#define TACHO_SYMBOL_DWARF_STATE_H

#include "base/vec.h"
#include "symbol/budget.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/dwarf/constants.h"
#include "symbol/dwarf/reader.h"

#include <pthread.h>
#include <stdatomic.h>

#define DWARF_UNITS_MAX       (1u << 20)
#define DWARF_ATTRIBUTES_MAX  64         /* of one abbreviation */
#define DWARF_DIE_DEPTH_MAX   256        /* of nested entries */
#define DWARF_CHAIN_MAX       16         /* hops from a function to the entry with its name */
#define DWARF_SPANS_MAX       (4u << 20) /* of one unit, or of one function */
#define DWARF_INDEX_SPANS_MAX (8u << 20)
#define DWARF_LINE_ROWS_MAX   (16u << 20)
#define DWARF_LINE_FILES_MAX  (1u << 20)
#define DWARF_PATH_MAX        16384
#define DWARF_LOCKS           16
#define DWARF_NOTHING         UINT32_MAX

/* Attributes that we use, each with a slot in struct die. */
enum die_slot {
	DIE_LOW,
	DIE_HIGH,
	DIE_RANGES,
	DIE_SIBLING,
	DIE_NAME,
	DIE_LINKAGE_NAME,
	DIE_ORIGIN,
	DIE_SPECIFICATION,
	DIE_CALL_FILE,
	DIE_CALL_LINE,
	DIE_DECL_LINE,
	DIE_STMT_LIST,
	DIE_COMP_DIR,
	DIE_STR_OFFSETS_BASE,
	DIE_ADDR_BASE,
	DIE_RNGLISTS_BASE,
	DIE_DWO_NAME,
	DIE_SLOTS,
	DIE_IGNORED = 0xff,
};

struct value {
	uint64_t u; /* for FORM_STRING the pointer */
	uint16_t form;
};

struct die {
	uint32_t present; /* bits of die_slot */
	struct value values[DIE_SLOTS];
};

struct abbrev_attribute {
	uint16_t form;
	uint8_t slot;
	uint32_t implicit;
};

struct abbrev {
	uint64_t code;
	uint32_t first; /* index of its first attribute */
	uint16_t tag;
	uint16_t fixed_bytes; /* with the three counts below: its size, unless it varies */
	uint8_t count, addresses, offsets, ref_addrs;
	bool children, varies;
};

struct abbrevs {
	VEC(struct abbrev) items; /* sorted by code */
	VEC(struct abbrev_attribute) attributes;
	bool dense; /* the codes are 1, 2, 3 …, without a gap */
};

/* The item that applies from an address up to the next step. */
struct step {
	uint64_t at;
	uint32_t item; /* or DWARF_NOTHING */
};

struct steps {
	struct step *items;
	size_t len;
};

struct span {
	uint64_t low, high;
	uint32_t item, depth;
};

struct spans {
	VEC(struct span) items;
	size_t max;
	bool refused; /* there were more than max */
};

/* An inlined call; its name is looked up when first needed. */
struct inlined {
	uint64_t die;
	uint32_t parent; /* index of the inlined caller; DWARF_NOTHING: the function itself */
	uint32_t call_file, call_line;
	uint32_t _Atomic declared_line;
	const char *_Atomic name; /* NULL: not looked for yet */
};

struct body {
	struct steps steps;
	struct inlined *inlined;
	size_t count;
};

struct function {
	uint64_t die;
	struct body *_Atomic body;
	uint32_t _Atomic declared_line;
	const char *_Atomic name;
};

struct functions {
	struct steps steps;
	struct function *items;
	size_t count;
	bool skipped; /* entries nested in functions were not searched */
	struct functions *replaced;
};

struct line_file {
	const char *name;
	uint32_t directory;
	char *_Atomic path;
};

struct line_row {
	uint64_t address;
	uint32_t file, line;
};

struct line_sequence {
	size_t first, count;
};

struct line_table {
	VEC(struct line_file) files;
	VEC(const char *) directories;
	VEC(struct line_row) rows;
	VEC(struct line_sequence) sequences;
	struct steps steps; /* of sequences */
	const char *comp_dir;
	uint16_t version;
};

struct unit {
	uint64_t offset, end; /* in .debug_info */
	uint64_t first_die, abbrev_offset;
	uint64_t low; /* base address of ranges */
	uint64_t stmt_list, str_offsets_base, addr_base, rnglists_base;
	const char *comp_dir;
	uint32_t abbrev_slot, line_slot; /* DWARF_NOTHING: none */
	uint16_t version, tag;
	uint8_t address_size, offset_size, type;
	bool alt;
	_Atomic bool searched; /* all of its entries were searched for functions */
	struct functions *_Atomic functions;
};

struct dwarf {
	struct dwarf_sections sections;
	_Atomic bool indexed;
	pthread_mutex_t index_lock, abbrev_lock;
	pthread_mutex_t unit_locks[DWARF_LOCKS], line_locks[DWARF_LOCKS];

	VEC(struct unit) units; /* sorted by offset; from main_units on those of the alt file */
	size_t main_units;
	struct steps index;

	struct abbrevs *_Atomic *abbrevs; /* by abbrev_slot */
	size_t abbrev_slots;
	struct line_table *_Atomic *lines; /* by line_slot */
	size_t line_slots;

	struct memory_budget *budget; /* of which held_bytes are a part; NULL: none */
	uint64_t held_max;
	_Atomic uint64_t held_bytes, refused, damages;
	const char *_Atomic reason;
	/* Bytes that may still be decoded. A valid file is read once or twice; a malicious one, in
	 * which all entries point to the same long list, exceeds the budget. */
	_Atomic int64_t abbrev_budget, range_budget, line_budget;
};

/* dwarf.c */
void dwarf_damage(struct dwarf *d, const char *reason);
/* Counts memory as held. Returns false, and counts it as refused, if that exceeds the limit. */
bool dwarf_hold(struct dwarf *d, size_t bytes);
/* Returns false, and counts it as refused, if dwarf_hold() could not hold that much. */
bool dwarf_fits(struct dwarf *d, size_t bytes);
/* Appends to a list that is being decoded. False: there is no memory for a longer one. */
#define dwarf_push(d, v, ...)                                                                      \
	(((v)->len < (v)->cap || dwarf_fits((d), 2 * ((v)->cap + 1) * sizeof(*(v)->items)))        \
		 ? ({                                                                              \
			   vec_push((v), __VA_ARGS__);                                             \
			   true;                                                                   \
		   })                                                                              \
		 : false)
/* Ends the reader where the budget ends; returns whether that cuts something off. The caller must
 * report what it has read to dwarf_spend(). */
bool reader_afford(struct reader *r, _Atomic int64_t *budget);
/* Counts unreadable data as damage, or as refused if the budget cut it off. */
void dwarf_unreadable(struct dwarf *d, bool cut, const char *reason);
static inline void dwarf_spend(_Atomic int64_t *budget, size_t bytes)
{
	atomic_fetch_sub_explicit(budget, (int64_t)bytes, memory_order_relaxed);
}

/* abbrev.c */
struct abbrevs *dwarf_abbrevs(struct dwarf *d, const struct unit *u);
void abbrevs_free(struct abbrevs *a);
const struct abbrev *abbrevs_find(const struct abbrevs *a, uint64_t code);
/* Reads the first entry of the unit, if possible without decoding all of its abbreviations. */
bool dwarf_top_die(struct dwarf *d, const struct unit *u, struct die *die, uint16_t *ret_tag);

/* form.c */
bool form_read(struct reader *r, const struct unit *u, uint16_t form, uint32_t implicit,
	       struct value *v);
/* Adds the size of a form to @a: fixed bytes, one of the three counts, or `varies`. */
void form_measure(struct abbrev *a, uint16_t form);
void die_read(struct reader *r, const struct unit *u, const struct abbrevs *table,
	      const struct abbrev *a, struct die *die);
void die_skip(struct reader *r, const struct unit *u, const struct abbrevs *table,
	      const struct abbrev *a);
static inline bool die_has(const struct die *die, enum die_slot slot)
{
	return die->present >> slot & 1;
}
/* Returns NULL if the value is not a string, or is outside of its section. */
const char *value_string(struct dwarf *d, const struct unit *u, const struct value *v);
bool value_address(struct dwarf *d, const struct unit *u, const struct value *v, uint64_t *ret);
/* Gets the offset in .debug_info that a reference leads to; *ret_alt: in that of the alt file. */
bool value_reference(const struct unit *u, const struct value *v, bool *ret_alt, uint64_t *ret);
/* Reads the address with number @index in .debug_addr, for FORM_ADDRX and similar forms. */
bool unit_address(struct dwarf *d, const struct unit *u, uint64_t index, uint64_t *ret);

/* ranges.c */
void spans_add(struct spans *s, uint64_t low, uint64_t high, uint32_t item, uint32_t depth);
/* Adds the address ranges of a DIE. Returns false if it has none. */
bool spans_add_die(struct dwarf *d, const struct unit *u, const struct die *die, struct spans *s,
		   uint32_t item, uint32_t depth);
/* Converts spans to steps. Of overlapping spans the one that begins last wins, then the shorter,
 * then the deeper one. Sorts the spans. */
void spans_flatten(struct spans *s, struct steps *ret);
void spans_release(struct spans *s);
/* Returns the index of the step that applies at @address, or SIZE_MAX. */
size_t steps_at(const struct steps *s, uint64_t address);
uint32_t steps_find(const struct steps *s, uint64_t address);

/* unit.c */
void dwarf_index(struct dwarf *d);
struct unit *dwarf_unit_of_die(struct dwarf *d, bool alt, uint64_t offset);

/* function.c */
struct functions *unit_functions(struct dwarf *d, struct unit *u);
/* The same, but also finds functions nested in functions. */
struct functions *unit_all_functions(struct dwarf *d, struct unit *u);
void functions_free(struct functions *f);

/* body.c */
struct body *function_body(struct dwarf *d, struct unit *u, struct function *f);
void body_free(struct body *b);

/* name.c */
const char *die_name(struct dwarf *d, const struct unit *u, uint64_t die, const char *_Atomic *name,
		     uint32_t _Atomic *declared_line);

/* line.c, line_header.c */
struct line_header {
	unsigned min_instruction_length, max_operations, opcode_base, line_range;
	int line_base;
	uint8_t address_size;
	uint8_t lengths[256];
};
bool line_header_read(struct dwarf *d, const struct unit *u, struct line_table *t, struct reader *r,
		      struct line_header *ret);
struct line_table *unit_lines(struct dwarf *d, struct unit *u);
void line_table_free(struct line_table *t);
/* Returns NULL if no row covers @address. */
const struct line_row *line_table_find(const struct line_table *t, uint64_t address);
const char *line_table_path(struct dwarf *d, struct line_table *t, uint32_t file);

#endif
