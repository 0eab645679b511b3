/*
 * Lines and inlined functions out of DWARF 2 to 5. Our own reader: the bytes are hostile, and only
 * the units that are asked for are ever decoded, each once.
 *
 * A unit is found by .debug_aranges where it is whole, else by the units' own ranges; its
 * subprograms and inlined subroutines become sorted ranges, its line program a sorted table. Asking
 * locks; an answer is a copy, valid for good.
 */
#ifndef TACHO_SYMBOL_DWARF_H
#define TACHO_SYMBOL_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DWARF_INLINE_DEPTH_MAX 64
#define DWARF_HELD_BYTES_MAX   (2ull << 30) /* of decoded units */

struct dwarf_bytes {
	const unsigned char *data;
	size_t size;
};

/* Sections, decompressed; those that are missing are empty. They outlive the struct dwarf. */
struct dwarf_sections {
	struct dwarf_bytes info, abbrev, str, line, line_str, ranges, rnglists, addr, str_offsets,
		aranges;
	/* Of the supplementary file that dwz makes (.gnu_debugaltlink), if it was found. */
	struct dwarf_bytes alt_info, alt_abbrev, alt_str;
	bool swap;
};

/* One level at an address, the outermost first. Strings belong to the struct dwarf. */
struct dwarf_place {
	const char *function;   /* linkage name if it has one, else its name; NULL: unknown */
	const char *file;       /* whole path as the compiler saw it; NULL: unknown */
	uint32_t line;          /* where it stands in this function: the call of the next level */
	uint32_t declared_line; /* of the function itself; 0: unknown */
	bool inlined;
};

struct dwarf;

/* Never NULL; without debug information it answers nothing. */
struct dwarf *dwarf_new(const struct dwarf_sections *sections);
void dwarf_free(struct dwarf *d);

/* Levels at an ELF virtual address, outermost first; 0: not covered. */
size_t dwarf_places(struct dwarf *d, uint64_t address, struct dwarf_place *ret, size_t max);

/* Only the line: cheaper, no functions. */
bool dwarf_line(struct dwarf *d, uint64_t address, const char **ret_file, uint32_t *ret_line);

/* Every row of the line tables in [from, to), ascending: for annotate. False from @row ends it. */
void dwarf_each_line(struct dwarf *d, uint64_t from, uint64_t to,
		     bool (*row)(void *ctx, uint64_t address, const char *file, uint32_t line),
		     void *ctx);

/* What was wrong with it, counted; the first reason as a constant sentence, or NULL. */
uint64_t dwarf_damages(const struct dwarf *d, const char **ret_reason);

/* How often something was left out because a limit was reached. */
uint64_t dwarf_refused(const struct dwarf *d);
/* Memory that decoded units take, and a smaller limit for it; to be set before anything is asked. */
uint64_t dwarf_held_bytes(const struct dwarf *d);
void dwarf_limit(struct dwarf *d, uint64_t held_bytes_max);

#endif
