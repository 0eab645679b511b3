#include "symbol/symtab.h"
#include "base/buf.h"
#include "symbol/budget.h"
#include "symbol/demangle.h"

#include <elf.h>
#include <string.h>

#define PAGE_BYTES      4096u
#define DIGIT_BITS      11
#define DIGITS          (1u << DIGIT_BITS)
#define ENCLOSING_TRIES 64 /* symbols that are checked for one that encloses an address */

/* ---- adding ---- */

/* Whether a list may grow to @count items, for which memory is taken from the budget. */
static bool may_grow(struct symtab *t, size_t count, size_t cap, size_t size)
{
	uint64_t bytes;

	if (count <= cap)
		return true;
	bytes = (uint64_t)(count > 2 * cap ? count : 2 * cap) - cap;
	if (!budget_take(t->budget, bytes * size))
		return false;
	t->held += bytes * size;
	return true;
}

char *symtab_add_names(struct symtab *t, size_t size, uint32_t *ret_base)
{
	char *room;

	if (size >= SYMTAB_NAME_BYTES_MAX - t->names.len ||
	    !may_grow(t, t->names.len + size + 1, t->names.cap, 1))
		return NULL;
	vec_reserve(&t->names, t->names.len + size + 1);
	room = t->names.items + t->names.len;
	room[size] = '\0';
	*ret_base = (uint32_t)t->names.len;
	t->names.len += size + 1;
	return room;
}

void symtab_add_symbol(struct symtab *t, const struct symbol *symbol)
{
	if (t->symbols.len >= SYMTAB_SYMBOLS_MAX || symbol->end < symbol->start ||
	    !may_grow(t, t->symbols.len + 1, t->symbols.cap, sizeof(*symbol))) {
		t->refused++;
		return;
	}
	vec_push(&t->symbols, *symbol);
}

void symtab_add(struct symtab *t, uint64_t start, uint64_t size, const char *name, size_t name_len,
		uint8_t type, uint8_t binding)
{
	struct symbol s = {.start = start, .binding = binding, .type = type};
	char *room = NULL;

	s.end = size <= UINT64_MAX - start ? start + size : UINT64_MAX;
	if (t->symbols.len < SYMTAB_SYMBOLS_MAX)
		room = symtab_add_names(t, name_len, &s.name);
	if (!room) {
		t->refused++;
		return;
	}
	if (name_len)
		memcpy(room, name, name_len);
	symtab_add_symbol(t, &s);
}

/* ---- sorting ---- */

static bool is_sorted(const struct symtab *t, uint64_t *ret_varying)
{
	bool sorted = true;

	*ret_varying = 0;
	for (size_t i = 1; i < t->symbols.len; i++) {
		*ret_varying |= t->symbols.items[i].start ^ t->symbols.items[0].start;
		sorted &= t->symbols.items[i - 1].start <= t->symbols.items[i].start;
	}
	return sorted;
}

static void sort_by_digit(const struct symbol *from, struct symbol *to, size_t count,
			  unsigned shift)
{
	uint32_t at[DIGITS] = {}, sum = 0;

	for (size_t i = 0; i < count; i++)
		at[from[i].start >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		uint32_t n = at[i];

		at[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
}

/* Stable radix sort: symbols with the same address keep the order of the file. Skips digits that
 * are the same in all addresses. */
static void sort(struct symtab *t)
{
	struct symbol *other, *from, *to;
	uint64_t varying;

	if (is_sorted(t, &varying))
		return;
	from = t->symbols.items;
	other = xrealloc(NULL, t->symbols.len, sizeof(*other));
	to = other;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct symbol *swap = from;

		if (!(varying >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(from, to, t->symbols.len, shift);
		from = to;
		to = swap;
	}
	if (from != t->symbols.items) {
		memcpy(t->symbols.items, from, t->symbols.len * sizeof(*from));
	}
	free(other);
}

/* ---- choosing ---- */

static size_t underscores(const char *name)
{
	size_t n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* Whether the names are variants of one constructor or destructor: these differ in one digit and
 * have the same demangled name. */
static bool are_variants(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	return i && (a[i - 1] == 'C' || a[i - 1] == 'D') && a[i] >= '0' && a[i] <= '9' &&
	       b[i] >= '0' && b[i] <= '9' && !strcmp(a + i + 1, b + i + 1);
}

static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}

static bool first_name_is_better(const char *a, const char *b)
{
	CLEANUP(buf_release) struct buf shown_a = {}, shown_b = {};
	size_t len_a, len_b;

	if (may_be_mangled(a) || may_be_mangled(b)) {
		if (are_variants(a, b))
			return true;
		if (demangle(a, &shown_a))
			a = buf_str(&shown_a);
		if (demangle(b, &shown_b))
			b = buf_str(&shown_b);
	}
	if (underscores(a) != underscores(b))
		return underscores(a) < underscores(b);
	len_a = strlen(a);
	len_b = strlen(b);
	if (len_a != len_b)
		return len_a > len_b;
	return strncmp(a, "SyS", 3) && strncmp(a, "compat_SyS", 10);
}

bool symtab_prefers(const struct symtab *t, const struct symbol *a, const struct symbol *b)
{
	if (t->last_is_best)
		return false;
	if ((a->end > a->start) != (b->end > b->start))
		return a->end > a->start;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return b->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return a->binding == STB_GLOBAL;
	if (a->name == b->name)
		return true;
	return first_name_is_better(symtab_name(t, a), symtab_name(t, b));
}

/* Further aliases of one address are ignored: comparing many very long names is expensive. */
#define ALIASES_MAX 64

static void keep_one_a_place(struct symtab *t)
{
	size_t kept = 0, aliases = 0;

	for (size_t i = 0; i < t->symbols.len; i++) {
		const struct symbol *s = &t->symbols.items[i];

		if (!kept || t->symbols.items[kept - 1].start != s->start) {
			t->symbols.items[kept++] = *s;
			aliases = 0;
		} else if (aliases++ < ALIASES_MAX &&
			   !symtab_prefers(t, &t->symbols.items[kept - 1], s)) {
			t->symbols.items[kept - 1] = *s;
		}
	}
	t->symbols.len = kept;
}

static uint64_t end_of_page(uint64_t address)
{
	uint64_t up = (address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + PAGE_BYTES;

	return up > address ? up : UINT64_MAX;
}

/* A symbol without a size extends to the next symbol, but not across a gap between modules. */
static void give_sizes(struct symtab *t)
{
	for (size_t i = 0; i < t->symbols.len; i++) {
		struct symbol *s = &t->symbols.items[i];
		const struct symbol *next = i + 1 < t->symbols.len ? s + 1 : NULL;

		if (s->end > s->start)
			continue;
		if (next && next->part == s->part)
			s->end = next->start;
		else if (next && next->start < end_of_page(s->start))
			s->end = next->start;
		else
			s->end = end_of_page(s->start);
	}
}

static void make_index(struct symtab *t)
{
	t->index.len = 0;
	vec_reserve(&t->index, t->symbols.len / SYMTAB_STEP + 1);
	for (size_t i = 0; i < t->symbols.len; i += SYMTAB_STEP)
		vec_push(&t->index, t->symbols.items[i].start);
}

void symtab_finish(struct symtab *t)
{
	sort(t);
	keep_one_a_place(t);
	give_sizes(t);
	make_index(t);
	if (t->symbols.len && t->symbols.cap > t->symbols.len + t->symbols.len / 8) {
		t->symbols.cap = t->symbols.len;
		t->symbols.items =
			xrealloc(t->symbols.items, t->symbols.cap, sizeof(*t->symbols.items));
	}
}

/* ---- finding ---- */

const struct symbol *symtab_find(const struct symtab *t, uint64_t address)
{
	const struct symbol *first = t->symbols.items;
	size_t count = t->index.len, step = 0;

	if (!count || address < first->start)
		return NULL;
	while (count > 1) {
		size_t half = count / 2;

		step = t->index.items[step + half] <= address ? step + half : step;
		count -= half;
	}
	first += step * SYMTAB_STEP;
	count = t->symbols.len - step * SYMTAB_STEP;
	if (count > SYMTAB_STEP)
		count = SYMTAB_STEP;
	while (count > 1) {
		size_t half = count / 2;

		first = first[half].start <= address ? first + half : first;
		count -= half;
	}
	/* If the nearest symbol ends before @address, an earlier one may enclose both. */
	for (size_t i = 0; i < ENCLOSING_TRIES; i++, first--) {
		if (address < first->end)
			return first;
		if (first == t->symbols.items)
			break;
	}
	return NULL;
}

size_t symtab_bytes(const struct symtab *t)
{
	return t->symbols.cap * sizeof(*t->symbols.items) + t->index.cap * sizeof(*t->index.items) +
	       t->names.cap;
}

void symtab_release(struct symtab *t)
{
	vec_release(&t->symbols);
	vec_release(&t->index);
	vec_release(&t->names);
	budget_give(t->budget, t->held);
	t->refused = t->held = 0;
}
