#include "symbol/dwarf/state.h"

struct walk {
	struct dwarf *d;
	const struct unit *u;
	const struct abbrevs *table;
	struct reader r;
	struct spans spans;
	VEC(struct function) found;
	bool all, skipped;
};

/* Skips the children of an entry, if the entry says where they end. */
static bool jump_to_sibling(struct walk *w, const struct die *die)
{
	const unsigned char *info = w->d->sections.info.data;
	uint64_t to;
	bool alt;

	if (!die_has(die, DIE_SIBLING) ||
	    !value_reference(w->u, &die->values[DIE_SIBLING], &alt, &to) || alt || to > w->u->end ||
	    to <= (uint64_t)(w->r.at - info))
		return false;
	w->r.at = info + to;
	return true;
}

static bool is_type(uint16_t tag)
{
	return tag == TAG_STRUCTURE_TYPE || tag == TAG_CLASS_TYPE || tag == TAG_UNION_TYPE ||
	       tag == TAG_ENUMERATION_TYPE || tag == TAG_SUBROUTINE_TYPE || tag == TAG_ARRAY_TYPE ||
	       tag == TAG_INTERFACE_TYPE;
}

/* Visits one entry. Returns whether its children come next. */
static bool visit(struct walk *w, const struct abbrev *a, uint64_t offset)
{
	size_t before = w->spans.items.len;
	struct die die;

	if (a->tag != TAG_SUBPROGRAM && (!a->children || !is_type(a->tag))) {
		die_skip(&w->r, w->u, w->table, a);
		return a->children;
	}
	die_read(&w->r, w->u, w->table, a, &die);
	if (w->r.failed)
		return false;
	if (a->tag == TAG_SUBPROGRAM) {
		spans_add_die(w->d, w->u, &die, &w->spans, (uint32_t)w->found.len, 0);
		if (w->spans.items.len > before &&
		    !dwarf_push(w->d, &w->found, (struct function){.die = offset})) {
			w->spans.items.len = before;
			w->spans.refused = true;
		}
	}
	if (!a->children)
		return false;
	/* Skip children if possible: GCC, which writes siblings, has no code inside types, and
	 * functions inside functions are so rare that we search for them only if an address is not
	 * found. */
	if (a->tag == TAG_SUBPROGRAM && w->all)
		return true;
	if (!jump_to_sibling(w, &die))
		return true;
	w->skipped |= a->tag == TAG_SUBPROGRAM;
	return false;
}

static void walk_unit(struct walk *w)
{
	const unsigned char *info = w->d->sections.info.data;
	size_t depth = 0;

	while (w->r.at < w->r.end && !w->spans.refused) {
		uint64_t offset = (uint64_t)(w->r.at - info), code = read_uleb(&w->r);
		const struct abbrev *a;

		if (!code) {
			if (!depth || !--depth)
				break;
			continue;
		}
		a = abbrevs_find(w->table, code);
		if (!a) {
			w->r.failed = true;
			break;
		}
		depth += visit(w, a, offset);
		if (!depth)
			break;
	}
	if (w->r.failed)
		dwarf_damage(w->d, "an entry of a unit cannot be read");
}

static struct functions no_functions;

static struct functions *read_functions(struct dwarf *d, const struct unit *u, bool all)
{
	struct walk w = {.d = d, .u = u, .all = all, .spans.max = DWARF_SPANS_MAX};
	struct functions *f = xcalloc(1, sizeof(*f));
	size_t bytes;

	w.table = dwarf_abbrevs(d, u);
	w.r = reader_at((struct dwarf_bytes){d->sections.info.data, u->end}, u->first_die,
			d->sections.swap);
	walk_unit(&w);
	if (w.spans.refused)
		atomic_fetch_add(&d->refused, 1);
	spans_flatten(&w.spans, &f->steps);
	spans_release(&w.spans);
	f->count = w.found.len;
	f->skipped = w.skipped;
	bytes = f->steps.len * sizeof(*f->steps.items) + f->count * sizeof(*f->items);
	if (f->count)
		f->items = xrealloc(w.found.items, f->count, sizeof(*f->items));
	if (!dwarf_hold(d, bytes)) {
		functions_free(f);
		return &no_functions;
	}
	return f;
}

void functions_free(struct functions *f)
{
	while (f && f != &no_functions) {
		struct functions *next = f->replaced;

		for (size_t i = 0; i < f->count; i++)
			body_free(atomic_load_explicit(&f->items[i].body, memory_order_relaxed));
		free(f->items);
		free(f->steps.items);
		free(f);
		f = next;
	}
}

static pthread_mutex_t *unit_lock(struct dwarf *d, const struct unit *u)
{
	return &d->unit_locks[(size_t)(u - d->units.items) % DWARF_LOCKS];
}

struct functions *unit_functions(struct dwarf *d, struct unit *u)
{
	struct functions *f = atomic_load_explicit(&u->functions, memory_order_acquire);

	if (f)
		return f;
	pthread_mutex_lock(unit_lock(d, u));
	f = atomic_load_explicit(&u->functions, memory_order_relaxed);
	if (!f) {
		f = read_functions(d, u, false);
		atomic_store_explicit(&u->functions, f, memory_order_release);
	}
	pthread_mutex_unlock(unit_lock(d, u));
	return f;
}

struct functions *unit_all_functions(struct dwarf *d, struct unit *u)
{
	struct functions *f, *all;

	/* `searched` is stored after the functions: a thread that sees it sees those, too. */
	if (atomic_load_explicit(&u->searched, memory_order_acquire))
		return unit_functions(d, u);
	unit_functions(d, u);
	pthread_mutex_lock(unit_lock(d, u));
	f = atomic_load_explicit(&u->functions, memory_order_relaxed);
	if (f->skipped && !atomic_load(&u->searched)) {
		all = read_functions(d, u, true);
		/* Other threads may still read the old functions: dwarf_free() frees them. */
		if (all != &no_functions) {
			all->replaced = f;
			atomic_store_explicit(&u->functions, all, memory_order_release);
			f = all;
		}
		atomic_store_explicit(&u->searched, true, memory_order_release);
	}
	pthread_mutex_unlock(unit_lock(d, u));
	return f;
}
