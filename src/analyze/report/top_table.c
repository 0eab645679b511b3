#include "analyze/report/top_table.h"

#include <string.h>

#define OLDER "[older]"

static const struct top_limits default_limits = {
	.cells = 256u << 10, .nodes = 512u << 10, .string_bytes = 32u << 20, .entries = 2u << 20};

/* ---- interning ---- */

static uint32_t string_of(struct top_table *t, const char *text)
{
	return profile_string(&t->names, text).n;
}

uint32_t top_process(struct top_table *t, uint32_t pid, const char *comm)
{
	struct top_process key = {.pid = pid, .comm = string_of(t, comm)};
	uint64_t hash = hash_mix((uint64_t)key.pid << 32 | key.comm, t->seed);
	size_t at = slots_begin(&t->process_slots, hash);
	uint32_t n;

	while ((n = slots_next(&t->process_slots, hash, &at)))
		if (t->processes.items[n].pid == key.pid && t->processes.items[n].comm == key.comm)
			return n;
	n = (uint32_t)t->processes.len;
	vec_push(&t->processes, key);
	slots_add(&t->process_slots, hash, n);
	return n;
}

uint32_t top_function(struct top_table *t, const char *dso, const char *name, enum code_kind kind)
{
	struct top_function key = {string_of(t, dso), string_of(t, name), kind};
	uint64_t hash = hash_mix((uint64_t)key.dso << 32 | key.name, t->seed);
	size_t at = slots_begin(&t->function_slots, hash);
	uint32_t n;

	while ((n = slots_next(&t->function_slots, hash, &at)))
		if (t->functions.items[n].dso == key.dso && t->functions.items[n].name == key.name)
			return n;
	n = (uint32_t)t->functions.len;
	vec_push(&t->functions, key);
	slots_add(&t->function_slots, hash, n);
	return n;
}

uint32_t top_node(struct top_table *t, uint32_t parent, uint32_t function)
{
	uint32_t *child = children_at(&t->children, parent, function);

	if (!*child) {
		*child = (uint32_t)t->nodes.len;
		vec_push(&t->nodes, (struct top_node){parent, function});
	}
	return *child;
}

static uint32_t cell_of(struct top_table *t, uint32_t event, uint32_t process, uint32_t node)
{
	uint64_t hash = hash_mix((uint64_t)process << 32 | node, t->seed + event);
	size_t at = slots_begin(&t->cell_slots, hash);
	uint32_t n;

	while ((n = slots_next(&t->cell_slots, hash, &at))) {
		const struct top_cell *c = &t->cells.items[n];

		if (c->node == node && c->process == process && c->event == event)
			return n;
	}
	n = (uint32_t)t->cells.len;
	vec_push(&t->cells, (struct top_cell){.event = event, .process = process, .node = node});
	slots_add(&t->cell_slots, hash, n);
	return n;
}

/* ---- slices ---- */

static struct top_slice *current_slice(struct top_table *t)
{
	return &t->slices.items[t->slices.len - 1];
}

static void begin_slice(struct top_table *t)
{
	t->slice_number++;
	vec_push(&t->slices, (struct top_slice){});
}

/* Adds to the entry of cell @n in the current slice. */
static void add_to_slice(struct top_table *t, uint32_t n, uint64_t samples, uint64_t weight)
{
	struct top_slice *slice = current_slice(t);
	struct top_cell *cell = &t->cells.items[n];

	if (cell->slice == t->slice_number) {
		slice->entries.items[cell->entry].samples += (uint32_t)samples;
		slice->entries.items[cell->entry].weight += weight;
		return;
	}
	cell->slice = t->slice_number;
	cell->entry = (uint32_t)slice->entries.len;
	vec_push(&slice->entries, (struct top_entry){n, (uint32_t)samples, weight});
	t->entry_count++;
}

void top_add(struct top_table *t, uint32_t event, uint32_t process, uint32_t node, uint64_t samples,
	     uint64_t weight)
{
	uint32_t n = cell_of(t, event, process, node);
	struct top_cell *cell = &t->cells.items[n];

	cell->window.samples += samples;
	cell->window.weight += weight;
	cell->all.samples += samples;
	cell->all.weight += weight;
	add_to_slice(t, n, samples, weight);
}

static void leave_window(struct top_table *t, const struct top_slice *slice)
{
	vec_each(&slice->entries, entry) {
		t->cells.items[entry->cell].window.samples -= entry->samples;
		t->cells.items[entry->cell].window.weight -= entry->weight;
	}
}

static void drop_slices(struct top_table *t, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct top_slice *slice = &t->slices.items[i];

		if (i >= t->first_in_window)
			leave_window(t, slice);
		t->entry_count -= slice->entries.len;
		vec_release(&slice->entries);
	}
	t->slices.len -= count;
	memmove(t->slices.items, t->slices.items + count, t->slices.len * sizeof(*t->slices.items));
	t->first_in_window = t->first_in_window > count ? t->first_in_window - count : 0;
}

/* Takes slices that are too old out of the window, and frees those older than any window. */
static void move_window(struct top_table *t, uint64_t now_ns)
{
	size_t gone = 0, ended = t->slices.len - 1;

	while (t->first_in_window < ended &&
	       t->slices.items[t->first_in_window].end_ns + t->window_ns <= now_ns)
		leave_window(t, &t->slices.items[t->first_in_window++]);
	while (gone < t->first_in_window && t->slices.items[gone].end_ns + TOP_KEEP_NS <= now_ns)
		gone++;
	drop_slices(t, gone);
}

/* ---- staying within limits ---- */

static bool is_above(const struct top_table *t, size_t part)
{
	return t->cells.len > t->limits.cells / part || t->nodes.len > t->limits.nodes / part ||
	       t->names.strings.bytes.len > t->limits.string_bytes / part;
}

static void init_tables(struct top_table *t)
{
	profile_init(&t->names);
	vec_push(&t->processes, (struct top_process){});
	vec_push(&t->functions, (struct top_function){});
	vec_push(&t->nodes, (struct top_node){});
	vec_push(&t->cells, (struct top_cell){});
}

static void release_tables(struct top_table *t)
{
	profile_release(&t->names);
	vec_release(&t->processes);
	vec_release(&t->functions);
	vec_release(&t->nodes);
	vec_release(&t->cells);
	slots_release(&t->process_slots);
	slots_release(&t->function_slots);
	children_release(&t->children);
	slots_release(&t->cell_slots);
}

/* Parents have smaller numbers: a pass from the end marks used nodes, one from the start copies. */
static uint32_t *copy_used_nodes(struct top_table *to, const struct top_table *from,
				 const bool *used_cells)
{
	uint32_t *numbers = xcalloc(from->nodes.len, sizeof(*numbers));

	for (size_t i = 1; i < from->cells.len; i++)
		if (used_cells[i])
			numbers[from->cells.items[i].node] = 1;
	for (size_t i = from->nodes.len; i-- > 1;)
		if (numbers[i])
			numbers[from->nodes.items[i].parent] = 1;
	numbers[0] = 0;
	for (size_t i = 1; i < from->nodes.len; i++) {
		const struct top_node *node = &from->nodes.items[i];
		const struct top_function *f = &from->functions.items[node->function];

		if (numbers[i])
			numbers[i] = top_node(to, numbers[node->parent],
					      top_function(to, top_text(from, f->dso),
							   top_text(from, f->name), f->kind));
	}
	return numbers;
}

static uint32_t older_cell(struct top_table *t, uint32_t event)
{
	return cell_of(t, event, top_process(t, 0, OLDER),
		       top_node(t, 0, top_function(t, OLDER, OLDER, CODE_UNKNOWN)));
}

static void copy_cells(struct top_table *to, const struct top_table *from, const bool *used,
		       const uint32_t *nodes, uint32_t *ret_numbers)
{
	for (size_t i = 1; i < from->cells.len; i++) {
		const struct top_cell *cell = &from->cells.items[i];
		const struct top_process *p = &from->processes.items[cell->process];
		struct top_cell *copy;
		uint32_t n;

		if (used[i])
			n = cell_of(to, cell->event,
				    top_process(to, p->pid, top_text(from, p->comm)),
				    nodes[cell->node]);
		else
			n = older_cell(to, cell->event);
		ret_numbers[i] = n;
		copy = &to->cells.items[n];
		copy->window.samples += cell->window.samples;
		copy->window.weight += cell->window.weight;
		copy->all.samples += cell->all.samples;
		copy->all.weight += cell->all.weight;
		if (used[i]) {
			copy->slice = cell->slice;
			copy->entry = cell->entry;
		}
	}
}

/* Copies everything that slices refer to into new tables; sums of the rest go to "[older]". */
static void forget_unused(struct top_table *t)
{
	bool *used = xcalloc(t->cells.len, sizeof(*used));
	uint32_t *cells = xcalloc(t->cells.len, sizeof(*cells)), *nodes;
	struct top_table fresh = *t;

	memset(&fresh.processes, 0, sizeof(fresh.processes));
	memset(&fresh.functions, 0, sizeof(fresh.functions));
	memset(&fresh.nodes, 0, sizeof(fresh.nodes));
	memset(&fresh.cells, 0, sizeof(fresh.cells));
	fresh.children = (struct children){};
	fresh.process_slots = fresh.function_slots = fresh.cell_slots = (struct slots){};
	init_tables(&fresh);
	vec_each(&t->slices, slice)
		vec_each(&slice->entries, entry)
			used[entry->cell] = true;
	nodes = copy_used_nodes(&fresh, t, used);
	copy_cells(&fresh, t, used, nodes, cells);
	vec_each(&fresh.slices, slice)
		vec_each(&slice->entries, entry)
			entry->cell = cells[entry->cell];
	fresh.generation++;
	release_tables(t);
	*t = fresh;
	free(nodes);
	free(cells);
	free(used);
}

/* Above a limit, drops slices from the oldest on until at most half of the limit is used. */
static void make_room(struct top_table *t)
{
	size_t count = 0, entries = t->entry_count;

	while (entries > t->limits.entries / 2 && count + 1 < t->slices.len)
		entries -= t->slices.items[count++].entries.len;
	if (t->entry_count > t->limits.entries)
		drop_slices(t, count);
	if (!is_above(t, 1))
		return;
	forget_unused(t);
	while (is_above(t, 2) && t->slices.len > 1) {
		drop_slices(t, (t->slices.len + 1) / 2);
		forget_unused(t);
	}
}

/* ---- the interface ---- */

void top_table_init(struct top_table *t, uint64_t window_ns, const struct top_limits *limits)
{
	*t = (struct top_table){.limits = limits ? *limits : default_limits,
				.window_ns = window_ns,
				.seed = hash_seed()};
	init_tables(t);
	begin_slice(t);
}

void top_table_release(struct top_table *t)
{
	release_tables(t);
	vec_each(&t->slices, slice)
		vec_release(&slice->entries);
	vec_release(&t->slices);
}

void top_end_slice(struct top_table *t, uint64_t now_ns)
{
	current_slice(t)->end_ns = now_ns;
	begin_slice(t);
	move_window(t, now_ns);
	make_room(t);
}

void top_set_window(struct top_table *t, uint64_t window_ns)
{
	size_t ended = t->slices.len - 1;
	uint64_t now_ns = ended ? t->slices.items[ended - 1].end_ns : 0;

	t->window_ns = window_ns;
	while (t->first_in_window > 0 &&
	       t->slices.items[t->first_in_window - 1].end_ns + window_ns > now_ns) {
		const struct top_slice *slice = &t->slices.items[--t->first_in_window];

		vec_each(&slice->entries, entry) {
			t->cells.items[entry->cell].window.samples += entry->samples;
			t->cells.items[entry->cell].window.weight += entry->weight;
		}
	}
	move_window(t, now_ns);
}
