/*
 * Reads lines and inlined functions from DWARF 2 to 5. This is our own reader because the bytes
 * are not trusted and only the units that are needed are decoded, each once.
 *
 * A unit is found by its own address ranges, or by .debug_aranges if it has none. Its functions,
 * and the calls inlined into those that are looked up, become sorted steps; its line program
 * becomes a sorted table. Functions in .dwo files (split DWARF) are not read; only their lines are
 * known.
 *
 * Any thread may call these functions. Decoding takes locks; decoded data is read without a lock.
 */
#ifndef TACHO_SYMBOL_DWARF_DWARF_H
#define TACHO_SYMBOL_DWARF_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_INLINE_DEPTH_MAX 64
#define DWARF_HELD_BYTES_MAX   (2ull << 30) /* of decoded units */

struct dwarf_bytes {
	const unsigned char *data;
	size_t size;
};

/* Decompressed sections; missing ones are empty. They must outlive the struct dwarf. */
struct dwarf_sections {
	struct dwarf_bytes info, abbrev, str, line, line_str, ranges, rnglists, addr, str_offsets,
		aranges;
	/* Of the supplementary file that dwz makes (.gnu_debugaltlink), if it was found. */
	struct dwarf_bytes alt_info, alt_abbrev, alt_str;
	bool swap;
};

/* One level of inlining at an address. Strings belong to the struct dwarf or its sections. */
struct dwarf_place {
	const char *function;   /* linkage name if it has one, else its name; NULL: unknown */
	const char *file;       /* whole path as the compiler saw it; NULL: unknown */
	uint32_t line;          /* in this function: of the next level's call, or of the address */
	uint32_t declared_line; /* of the function itself; 0: unknown */
	bool inlined;
};

struct dwarf;

/* Never returns NULL; without debug information lookups find nothing. */
struct dwarf *dwarf_new(const struct dwarf_sections *sections);
void dwarf_free(struct dwarf *d);

/* Stores the levels at an ELF virtual address, outermost first. Returns how many; 0 if the address
 * is not covered. If there are more than @max, stores the function itself and the innermost
 * ones. */
size_t dwarf_places(struct dwarf *d, uint64_t address, struct dwarf_place *ret, size_t max);

/* Finds only the line. This is cheaper: no functions are decoded. */
bool dwarf_line(struct dwarf *d, uint64_t address, const char **ret_file, uint32_t *ret_line);

/*
 * Calls @row for every row of the line tables in [from, to), ascending, until it returns false:
 * for annotate. A row that begins before @from is passed with @from as its address. Rows that
 * differ only in columns are merged. Line 0: no line of the source.
 */
void dwarf_each_line(struct dwarf *d, uint64_t from, uint64_t to,
		     bool (*row)(void *ctx, uint64_t address, const char *file, uint32_t line),
		     void *ctx);

/* Returns how many errors were found in the data. *ret_reason: the first one as a constant
 * sentence, or NULL. */
uint64_t dwarf_damages(const struct dwarf *d, const char **ret_reason);

/* How often something was left out because a limit was reached. */
uint64_t dwarf_refused(const struct dwarf *d);
/* dwarf_held_bytes() returns the memory of decoded units. dwarf_limit() sets a smaller limit for
 * it, before the first lookup. */
uint64_t dwarf_held_bytes(const struct dwarf *d);
void dwarf_limit(struct dwarf *d, uint64_t held_bytes_max);
struct memory_budget;
/* The memory counts in @budget, too, which must outlive @d. Before the first lookup. */
void dwarf_share(struct dwarf *d, struct memory_budget *budget);

#endif
