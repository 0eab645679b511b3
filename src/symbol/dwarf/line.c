#include "symbol/dwarf/state.h"

struct machine {
	struct dwarf *d;
	struct line_table *t;
	struct line_header h;
	struct spans spans; /* of sequences */
	uint64_t address;
	uint32_t operation, file, line;
	size_t first; /* first row of the sequence */
	bool sorted;  /* the rows of the sequence are sorted */
	bool cut;     /* the budget cuts off the program */
};

static void begin_sequence(struct machine *m)
{
	m->address = 0;
	m->operation = 0;
	m->file = m->line = 1;
	m->first = m->t->rows.len;
	m->sorted = true;
}

static void advance(struct machine *m, uint64_t operations)
{
	if (m->h.max_operations == 1) {
		m->address += operations * m->h.min_instruction_length;
		return;
	}
	operations += m->operation;
	m->address += operations / m->h.max_operations * m->h.min_instruction_length;
	m->operation = (uint32_t)(operations % m->h.max_operations);
}

static void add_row(struct machine *m)
{
	struct line_table *t = m->t;
	struct line_row row = {m->address, m->file, m->line};

	if (t->rows.len > m->first) {
		struct line_row *last = &t->rows.items[t->rows.len - 1];

		/* The last row at an address wins. A row that differs only in the column or the
		 * statement flag changes nothing. */
		if (last->address == row.address) {
			*last = row;
			return;
		}
		if (last->file == row.file && last->line == row.line && last->address < row.address)
			return;
		m->sorted &= last->address < row.address;
	}
	if (t->rows.len >= DWARF_LINE_ROWS_MAX || !dwarf_push(m->d, &t->rows, row))
		m->spans.refused = true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct line_row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Sorts rows that are not in order; keeps one per address. Returns how many are left. */
static size_t sort_rows(struct line_row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count; i++) {
		if (kept && rows[kept - 1].address == rows[i].address)
			kept--;
		rows[kept++] = rows[i];
	}
	return kept;
}

static void end_sequence(struct machine *m)
{
	struct line_table *t = m->t;
	size_t count = t->rows.len - m->first;
	struct line_row *rows = count ? t->rows.items + m->first : NULL;
	uint64_t highest = m->h.address_size == 4 ? UINT32_MAX - 1 : UINT64_MAX - 1;

	if (count && !m->sorted)
		t->rows.len = m->first + (count = sort_rows(rows, count));
	/* A function that the linker dropped is at 0, or at one of the highest addresses. */
	if (!count || !rows->address || rows->address >= highest || m->address <= rows->address) {
		t->rows.len = m->first;
	} else {
		spans_add(&m->spans, rows->address, m->address, (uint32_t)t->sequences.len, 0);
		vec_push(&t->sequences, (struct line_sequence){m->first, count});
	}
	begin_sequence(m);
}

static void run_extended(struct machine *m, struct reader *r)
{
	uint64_t length = read_uleb(r);
	const unsigned char *end;
	const char *name;
	uint64_t directory;

	if (!length || length > reader_left(r)) {
		reader_fail(r);
		return;
	}
	end = r->at + length;
	switch (read_u8(r)) {
	case LINE_END_SEQUENCE:
		end_sequence(m);
		break;
	case LINE_SET_ADDRESS:
		m->address = read_sized(r, (unsigned)length - 1);
		m->operation = 0;
		break;
	case LINE_DEFINE_FILE:
		name = read_string(r);
		directory = read_uleb(r);
		if (!r->failed && directory < UINT32_MAX && m->t->files.len < DWARF_LINE_FILES_MAX)
			vec_push(
				&m->t->files,
				(struct line_file){.name = name, .directory = (uint32_t)directory});
		break;
	}
	if (!r->failed)
		r->at = end;
}

static void run_standard(struct machine *m, struct reader *r, uint8_t opcode)
{
	switch (opcode) {
	case LINE_COPY:
		add_row(m);
		break;
	case LINE_ADVANCE_PC:
		advance(m, read_uleb(r));
		break;
	case LINE_ADVANCE_LINE:
		m->line += (uint32_t)read_sleb(r);
		break;
	case LINE_SET_FILE:
		m->file = (uint32_t)read_uleb(r);
		break;
	case LINE_CONST_ADD_PC:
		advance(m, (255 - m->h.opcode_base) / m->h.line_range);
		break;
	case LINE_FIXED_ADVANCE_PC:
		m->address += read_u16(r);
		m->operation = 0;
		break;
	case LINE_NEGATE_STMT:
	case LINE_SET_BASIC_BLOCK:
	case LINE_SET_PROLOGUE_END:
	case LINE_SET_EPILOGUE_BEGIN:
		break;
	default: /* column or unknown opcode: the header says how many arguments */
		for (unsigned i = 0; i < m->h.lengths[opcode]; i++)
			read_uleb(r);
	}
}

static void run_program(struct machine *m, struct reader *r)
{
	begin_sequence(m);
	while (r->at < r->end && !m->spans.refused) {
		uint8_t opcode = *r->at++;

		if (opcode >= m->h.opcode_base) {
			unsigned special = opcode - m->h.opcode_base;

			advance(m, special / m->h.line_range);
			m->line += (uint32_t)(m->h.line_base + (int)(special % m->h.line_range));
			add_row(m);
		} else if (opcode == LINE_EXTENDED) {
			run_extended(m, r);
		} else {
			run_standard(m, r, opcode);
		}
	}
	/* Drop a sequence without an end: it is not known how far its last row extends. */
	m->t->rows.len = m->first;
	if (r->failed)
		dwarf_unreadable(m->d, m->cut, "a line program cannot be read");
	if (m->spans.refused)
		atomic_fetch_add(&m->d->refused, 1);
}

static struct line_table no_lines;

static struct line_table *read_lines(struct dwarf *d, const struct unit *u)
{
	struct line_table *t = xcalloc(1, sizeof(*t));
	struct machine m = {.d = d, .t = t, .spans.max = DWARF_SPANS_MAX};
	struct reader r = reader_at(d->sections.line, u->stmt_list, d->sections.swap);
	const unsigned char *start = r.at;
	size_t bytes;

	t->comp_dir = u->comp_dir;
	m.cut = reader_afford(&r, &d->line_budget);
	if (!r.failed && line_header_read(d, u, t, &r, &m.h))
		run_program(&m, &r);
	else
		dwarf_unreadable(d, m.cut, "the header of a line program cannot be read");
	dwarf_spend(&d->line_budget, (size_t)(r.at - start));
	spans_flatten(&m.spans, &t->steps);
	spans_release(&m.spans);
	if (t->rows.len && t->rows.cap > t->rows.len) {
		t->rows.items = xrealloc(t->rows.items, t->rows.len, sizeof(*t->rows.items));
		t->rows.cap = t->rows.len;
	}
	bytes = sizeof(*t) + t->rows.cap * sizeof(*t->rows.items) +
		t->files.cap * sizeof(*t->files.items) +
		t->sequences.cap * sizeof(*t->sequences.items) +
		t->steps.len * sizeof(*t->steps.items);
	if (!dwarf_hold(d, bytes)) {
		line_table_free(t);
		return &no_lines;
	}
	return t;
}

struct line_table *unit_lines(struct dwarf *d, struct unit *u)
{
	struct line_table *_Atomic *slot;
	struct line_table *t;
	pthread_mutex_t *lock;

	if (u->line_slot == DWARF_NOTHING)
		return &no_lines;
	slot = &d->lines[u->line_slot];
	t = atomic_load_explicit(slot, memory_order_acquire);
	if (t)
		return t;
	lock = &d->line_locks[u->line_slot % DWARF_LOCKS];
	pthread_mutex_lock(lock);
	t = atomic_load_explicit(slot, memory_order_relaxed);
	if (!t) {
		t = read_lines(d, u);
		atomic_store_explicit(slot, t, memory_order_release);
	}
	pthread_mutex_unlock(lock);
	return t;
}

void line_table_free(struct line_table *t)
{
	if (!t || t == &no_lines)
		return;
	vec_each(&t->files, file)
		free(atomic_load_explicit(&file->path, memory_order_relaxed));
	vec_release(&t->files);
	vec_release(&t->directories);
	vec_release(&t->rows);
	vec_release(&t->sequences);
	free(t->steps.items);
	free(t);
}

const struct line_row *line_table_find(const struct line_table *t, uint64_t address)
{
	uint32_t number = steps_find(&t->steps, address);
	const struct line_row *rows;
	size_t low = 0, high;

	if (number == DWARF_NOTHING)
		return NULL;
	rows = t->rows.items + t->sequences.items[number].first;
	high = t->sequences.items[number].count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &rows[low - 1] : NULL;
}

static char *build_path(const struct line_table *t, const struct line_file *file)
{
	const char *directory = NULL, *top = t->comp_dir, *name = file->name;

	if (file->directory < t->directories.len)
		directory = t->directories.items[file->directory];
	if (strnlen(name, DWARF_PATH_MAX) == DWARF_PATH_MAX)
		return xstrdup("");
	if (*name == '/')
		return xstrdup(name);
	if (!directory || !*directory || strnlen(directory, DWARF_PATH_MAX) == DWARF_PATH_MAX)
		directory = NULL;
	if ((directory && *directory == '/') || !top || !*top ||
	    strnlen(top, DWARF_PATH_MAX) == DWARF_PATH_MAX)
		top = NULL;
	return xasprintf("%s%s%s%s%s", top ? top : "", top ? "/" : "", directory ? directory : "",
			 directory ? "/" : "", name);
}

const char *line_table_path(struct dwarf *d, struct line_table *t, uint32_t file)
{
	struct line_file *f = file < t->files.len ? &t->files.items[file] : NULL;
	char *path, *known = NULL;

	if (!f || !f->name || !*f->name)
		return NULL;
	path = atomic_load_explicit(&f->path, memory_order_acquire);
	if (path)
		return *path ? path : NULL;
	path = build_path(t, f);
	if (!dwarf_hold(d, strlen(path) + 1))
		*path = '\0';
	if (!atomic_compare_exchange_strong(&f->path, &known, path)) {
		free(path);
		path = known;
	}
	return *path ? path : NULL;
}
