#include "symbol/dwarf/dwarf.h"
#include "symbol/dwarf/state.h"

void dwarf_damage(struct dwarf *d, const char *reason)
{
	const char *none = NULL;

	atomic_fetch_add_explicit(&d->damages, 1, memory_order_relaxed);
	atomic_compare_exchange_strong(&d->reason, &none, reason);
}

bool dwarf_hold(struct dwarf *d, size_t bytes)
{
	if (atomic_fetch_add(&d->held_bytes, bytes) + bytes <= d->held_max &&
	    budget_take(d->budget, bytes))
		return true;
	atomic_fetch_sub(&d->held_bytes, bytes);
	atomic_fetch_add(&d->refused, 1);
	return false;
}

bool dwarf_fits(struct dwarf *d, size_t bytes)
{
	if (bytes <= d->held_max && d->held_bytes <= d->held_max - bytes &&
	    budget_fits(d->budget, bytes))
		return true;
	atomic_fetch_add(&d->refused, 1);
	return false;
}

bool reader_afford(struct reader *r, _Atomic int64_t *budget)
{
	int64_t left = atomic_load_explicit(budget, memory_order_relaxed);

	if (r->failed || (left > 0 && (uint64_t)left >= reader_left(r)))
		return false;
	r->end = r->at + (left > 0 ? left : 0);
	return true;
}

void dwarf_unreadable(struct dwarf *d, bool cut, const char *reason)
{
	if (cut)
		atomic_fetch_add(&d->refused, 1);
	else
		dwarf_damage(d, reason);
}

static void set_budget(_Atomic int64_t *budget, uint64_t bytes, unsigned times)
{
	atomic_init(budget, (int64_t)(bytes * times + (1 << 20)));
}

struct dwarf *dwarf_new(const struct dwarf_sections *sections)
{
	struct dwarf *d = xcalloc(1, sizeof(*d));

	d->sections = *sections;
	d->held_max = DWARF_HELD_BYTES_MAX;
	pthread_mutex_init(&d->index_lock, NULL);
	pthread_mutex_init(&d->abbrev_lock, NULL);
	for (size_t i = 0; i < DWARF_LOCKS; i++) {
		pthread_mutex_init(&d->unit_locks[i], NULL);
		pthread_mutex_init(&d->line_locks[i], NULL);
	}
	set_budget(&d->abbrev_budget, sections->abbrev.size + sections->alt_abbrev.size, 2);
	set_budget(&d->range_budget, sections->ranges.size + sections->rnglists.size, 8);
	set_budget(&d->line_budget, sections->line.size, 2);
	return d;
}

void dwarf_free(struct dwarf *d)
{
	if (!d)
		return;
	budget_give(d->budget, d->held_bytes);
	vec_each(&d->units, u)
		functions_free(atomic_load_explicit(&u->functions, memory_order_relaxed));
	for (size_t i = 0; i < d->abbrev_slots; i++)
		abbrevs_free(atomic_load_explicit(&d->abbrevs[i], memory_order_relaxed));
	for (size_t i = 0; i < d->line_slots; i++)
		line_table_free(atomic_load_explicit(&d->lines[i], memory_order_relaxed));
	free(d->abbrevs);
	free(d->lines);
	free(d->index.items);
	vec_release(&d->units);
	pthread_mutex_destroy(&d->index_lock);
	pthread_mutex_destroy(&d->abbrev_lock);
	for (size_t i = 0; i < DWARF_LOCKS; i++) {
		pthread_mutex_destroy(&d->unit_locks[i]);
		pthread_mutex_destroy(&d->line_locks[i]);
	}
	free(d);
}

static struct unit *unit_at(struct dwarf *d, uint64_t address)
{
	uint32_t number;

	dwarf_index(d);
	number = steps_find(&d->index, address);
	return number == DWARF_NOTHING ? NULL : &d->units.items[number];
}

static struct function *function_at(struct dwarf *d, struct unit *u, uint64_t address)
{
	struct functions *f = unit_functions(d, u);
	uint32_t number = steps_find(&f->steps, address);

	if (number == DWARF_NOTHING && f->skipped) {
		f = unit_all_functions(d, u);
		number = steps_find(&f->steps, address);
	}
	return number == DWARF_NOTHING ? NULL : &f->items[number];
}

struct stack {
	struct dwarf *d;
	struct unit *u;
	struct line_table *lines;
	struct body *body;
	struct dwarf_place *places;
	size_t max;
};

/*
 * Fills levels from the innermost inlined call outwards; level 0 is the function itself. If there
 * is no room for all, leaves out the levels next to the function.
 */
static size_t fill_inlined(struct stack *s, uint32_t innermost, const struct line_row *row)
{
	uint32_t file = row ? row->file : 0, line = row ? row->line : 0;
	bool known = row != NULL;
	size_t count = 1, level;

	for (uint32_t i = innermost; i != DWARF_NOTHING && count < s->max;
	     i = s->body->inlined[i].parent)
		count++;
	level = count;
	for (uint32_t i = innermost; i != DWARF_NOTHING; i = s->body->inlined[i].parent) {
		struct inlined *in = &s->body->inlined[i];

		if (level > 1) {
			struct dwarf_place *p = &s->places[--level];

			p->function = die_name(s->d, s->u, in->die, &in->name, &in->declared_line);
			p->declared_line =
				atomic_load_explicit(&in->declared_line, memory_order_relaxed);
			p->file = known ? line_table_path(s->d, s->lines, file) : NULL;
			p->line = line;
			p->inlined = true;
		}
		file = in->call_file;
		line = in->call_line;
		known = true;
	}
	s->places[0] = (struct dwarf_place){
		.file = known ? line_table_path(s->d, s->lines, file) : NULL,
		.line = line,
	};
	return count;
}

size_t dwarf_places(struct dwarf *d, uint64_t address, struct dwarf_place *ret, size_t max)
{
	struct unit *u = unit_at(d, address);
	struct stack s = {.d = d, .u = u, .places = ret, .max = max};
	const struct line_row *row;
	uint32_t innermost = DWARF_NOTHING;
	struct function *f;
	size_t count;

	if (!u || !max)
		return 0;
	s.lines = unit_lines(d, u);
	row = line_table_find(s.lines, address);
	f = function_at(d, u, address);
	if (!f && !row)
		return 0;
	if (f) {
		s.body = function_body(d, u, f);
		innermost = steps_find(&s.body->steps, address);
	}
	count = fill_inlined(&s, innermost, row);
	if (f) {
		ret[0].function = die_name(d, u, f->die, &f->name, &f->declared_line);
		ret[0].declared_line =
			atomic_load_explicit(&f->declared_line, memory_order_relaxed);
	}
	return count;
}

bool dwarf_line(struct dwarf *d, uint64_t address, const char **ret_file, uint32_t *ret_line)
{
	struct unit *u = unit_at(d, address);
	struct line_table *t = u ? unit_lines(d, u) : NULL;
	const struct line_row *row = t ? line_table_find(t, address) : NULL;

	if (!row)
		return false;
	*ret_file = line_table_path(d, t, row->file);
	*ret_line = row->line;
	return true;
}

uint64_t dwarf_damages(const struct dwarf *d, const char **ret_reason)
{
	if (ret_reason)
		*ret_reason = atomic_load_explicit(&d->reason, memory_order_relaxed);
	return atomic_load_explicit(&d->damages, memory_order_relaxed);
}

uint64_t dwarf_refused(const struct dwarf *d)
{
	return atomic_load_explicit(&d->refused, memory_order_relaxed);
}

void dwarf_limit(struct dwarf *d, uint64_t held_bytes_max)
{
	d->held_max = held_bytes_max;
}

void dwarf_share(struct dwarf *d, struct memory_budget *budget)
{
	d->budget = budget;
}

uint64_t dwarf_held_bytes(const struct dwarf *d)
{
	return atomic_load_explicit(&d->held_bytes, memory_order_relaxed);
}

/* Returns the address where step @n ends. */
static uint64_t step_end(const struct steps *s, size_t n)
{
	return n + 1 < s->len ? s->items[n + 1].at : UINT64_MAX;
}

struct row_walk {
	struct dwarf *d;
	struct line_table *t;
	bool (*row)(void *ctx, uint64_t address, const char *file, uint32_t line);
	void *ctx;
};

/* Visits the rows of one sequence in [from, to). Returns false if the callback ended the walk. */
static bool walk_rows(struct row_walk *w, uint64_t from, uint64_t to)
{
	const struct line_row *row = line_table_find(w->t, from);
	const struct line_sequence *q = &w->t->sequences.items[steps_find(&w->t->steps, from)];
	const struct line_row *end = w->t->rows.items + q->first + q->count;

	for (; row && row < end && row->address < to; row++)
		if (!w->row(w->ctx, row->address < from ? from : row->address,
			    line_table_path(w->d, w->t, row->file), row->line))
			return false;
	return true;
}

/* Visits the rows of one unit in [from, to), which must belong to this unit alone. */
static bool walk_sequences(struct row_walk *w, uint64_t from, uint64_t to)
{
	const struct steps *s = &w->t->steps;
	size_t n = steps_at(s, from);

	for (n = n == SIZE_MAX ? 0 : n; n < s->len && s->items[n].at < to; n++) {
		uint64_t low = s->items[n].at < from ? from : s->items[n].at;
		uint64_t high = step_end(s, n) < to ? step_end(s, n) : to;

		if (s->items[n].item != DWARF_NOTHING && !walk_rows(w, low, high))
			return false;
	}
	return true;
}

void dwarf_each_line(struct dwarf *d, uint64_t from, uint64_t to,
		     bool (*row)(void *ctx, uint64_t address, const char *file, uint32_t line),
		     void *ctx)
{
	struct row_walk w = {.d = d, .row = row, .ctx = ctx};
	size_t n;

	dwarf_index(d);
	n = steps_at(&d->index, from);
	for (n = n == SIZE_MAX ? 0 : n; n < d->index.len && d->index.items[n].at < to; n++) {
		const struct step *step = &d->index.items[n];
		uint64_t low = step->at < from ? from : step->at;
		uint64_t high = step_end(&d->index, n) < to ? step_end(&d->index, n) : to;

		if (step->item == DWARF_NOTHING)
			continue;
		w.t = unit_lines(d, &d->units.items[step->item]);
		if (!walk_sequences(&w, low, high))
			return;
	}
}
