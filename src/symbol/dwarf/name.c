#include "symbol/dwarf/state.h"

static const char no_name[] = "";

struct naming {
	const char *linkage, *name;
	uint32_t line;
};

/* Reads what one entry says about the name. Returns false if it refers to no other entry. */
static bool ask_die(struct dwarf *d, const struct unit *u, uint64_t offset, struct naming *n,
		    bool *ret_alt, uint64_t *ret_next)
{
	struct dwarf_bytes info = u->alt ? d->sections.alt_info : d->sections.info;
	struct reader r =
		reader_at((struct dwarf_bytes){info.data, u->end}, offset, d->sections.swap);
	const struct abbrevs *table = dwarf_abbrevs(d, u);
	const struct abbrev *a = abbrevs_find(table, read_uleb(&r));
	struct die die;

	if (!a)
		return false;
	die_read(&r, u, table, a, &die);
	if (r.failed)
		return false;
	if (die_has(&die, DIE_LINKAGE_NAME))
		n->linkage = value_string(d, u, &die.values[DIE_LINKAGE_NAME]);
	if (die_has(&die, DIE_NAME) && !n->name)
		n->name = value_string(d, u, &die.values[DIE_NAME]);
	if (die_has(&die, DIE_DECL_LINE) && !n->line)
		n->line = (uint32_t)die.values[DIE_DECL_LINE].u;
	if (die_has(&die, DIE_ORIGIN))
		return value_reference(u, &die.values[DIE_ORIGIN], ret_alt, ret_next);
	return die_has(&die, DIE_SPECIFICATION) &&
	       value_reference(u, &die.values[DIE_SPECIFICATION], ret_alt, ret_next);
}

const char *die_name(struct dwarf *d, const struct unit *u, uint64_t die, const char *_Atomic *name,
		     uint32_t _Atomic *declared_line)
{
	const char *known = atomic_load_explicit(name, memory_order_acquire);
	struct naming n = {};
	bool alt = u->alt;

	if (known)
		return known == no_name ? NULL : known;
	for (unsigned hops = 0; hops < DWARF_CHAIN_MAX && u; hops++) {
		if (!ask_die(d, u, die, &n, &alt, &die) || n.linkage)
			break;
		u = dwarf_unit_of_die(d, alt, die);
	}
	known = n.linkage ? n.linkage : n.name;
	if (!known || !*known)
		known = no_name;
	atomic_store_explicit(declared_line, n.line, memory_order_relaxed);
	/* A thread that looks up the name at the same time stores the same one. */
	atomic_store_explicit(name, known, memory_order_release);
	return known == no_name ? NULL : known;
}
