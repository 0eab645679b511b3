/*
 * Lines and inlined functions out of DWARF 2 to 5. Our own reader: the bytes are hostile, and only
 * the units that are asked for are ever decoded, each once.
 *
 * A unit is found by the ranges that it gives itself, or by .debug_aranges if it gives none; its
 * functions and what was inlined into those that are asked for become sorted steps, its line program
 * a sorted table. Functions in .dwo files (split DWARF) are not read, only their lines are known.
 *
 * Any thread may ask. Decoding locks inside; what is decoded already is read without a lock.
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

/* Sections, decompressed; those that are missing are empty. They outlive the struct dwarf. */
struct dwarf_sections {
	struct dwarf_bytes info, abbrev, str, line, line_str, ranges, rnglists, addr, str_offsets,
		aranges;
	/* Of the supplementary file that dwz makes (.gnu_debugaltlink), if it was found. */
	struct dwarf_bytes alt_info, alt_abbrev, alt_str;
	bool swap;
};

/* One level at an address, the outermost first. Strings belong to the struct dwarf or its sections. */
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

/* Levels at an ELF virtual address, outermost first; 0: not covered. If there are more than @max, the
 * function itself and the innermost ones are given. */
size_t dwarf_places(struct dwarf *d, uint64_t address, struct dwarf_place *ret, size_t max);

/* Only the line: cheaper, no functions. */
bool dwarf_line(struct dwarf *d, uint64_t address, const char **ret_file, uint32_t *ret_line);

/*
 * Every row of the line tables in [from, to), ascending: for annotate. The first may begin before
 * @from, and is given with that. Rows that differ in columns only are one. Line 0: no line of the
 * source. False from @row ends it.
 */
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
