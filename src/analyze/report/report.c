#include "analyze/report/report.h"

#include <endian.h>
#include <string.h>

/*
 * There are two numberings. Nodes of the call tree are merged by *key*: a function (and its line,
 * if the user sorts by lines). Entries are made by *place*, which may be coarser: a library, or
 * nothing. key_of_name has the key of each of profile.names, place_of_key the place of each key.
 */
static bool has(const struct report *r, enum report_key key)
{
	return r->o.keys >> key & 1;
}

/* Sorted by lines without functions, samples count for the line of the innermost inlined code. */
static bool by_line_alone(const struct report *r)
{
	return (has(r, REPORT_SRCLINE) || has(r, REPORT_SRCFILE)) && !has(r, REPORT_SYM);
}

/* ---- places ---- */

static uint64_t place_hash(const struct report *r, const struct report_place *p)
{
	return hash_mix(hash_mix(r->profile->seed ^ p->function.n, p->module.n),
			hash_mix(p->address,
				 (uint64_t)p->file.n << 32 ^ p->line ^ (uint64_t)p->inlined << 63));
}

static bool same_place(const struct report_place *a, const struct report_place *b)
{
	return a->function.n == b->function.n && a->module.n == b->module.n &&
	       a->file.n == b->file.n && a->line == b->line && a->inlined == b->inlined &&
	       a->address == b->address;
}

struct place_table {
	VEC(struct report_place) items;
	struct slots slots;
};

static uint32_t intern_place(const struct report *r, struct place_table *t,
			     const struct report_place *place)
{
	uint64_t hash = place_hash(r, place);
	size_t at = slots_begin(&t->slots, hash);
	uint32_t n;

	while ((n = slots_next(&t->slots, hash, &at)))
		if (same_place(&t->items.items[n], place))
			return n;
	n = (uint32_t)t->items.len;
	vec_push(&t->items, *place);
	slots_add(&t->slots, hash, n);
	return n;
}

static string_id module_name(const struct report *r, function_id f)
{
	return r->profile->modules.items[function_of(r->profile, f)->module.n].name;
}

/* Returns the parts of a frame's name that the report is sorted by. */
static struct report_place place_of_name(const struct report *r, const struct frame_name *name)
{
	struct report_place place = {};

	if (has(r, REPORT_SYM)) {
		place.function = name->function;
		place.inlined = name->inlined;
	}
	if (has(r, REPORT_DSO))
		place.module = module_name(r, name->function);
	if (has(r, REPORT_SRCLINE) || has(r, REPORT_SRCFILE))
		place.file = name->file;
	if (has(r, REPORT_SRCLINE))
		place.line = name->line;
	/* An unknown line is shown as its function, so it is sorted by the function. */
	if ((has(r, REPORT_SRCLINE) || has(r, REPORT_SRCFILE)) && !name->file.n)
		place.function = name->function;
	return place;
}

/* Returns, by name, the address of its frame. The caller frees the array. */
static uint64_t *addresses_of_names(const struct profile *p)
{
	uint64_t *addresses = xcalloc(p->names.len, sizeof(*addresses));

	vec_each(&p->frames, frame)
		for (uint32_t i = 0; i < frame->name_count; i++)
			addresses[frame->names + i] = frame->address;
	return addresses;
}

/* Numbers the keys and the places of all names. */
static void number_places(struct report *r)
{
	const struct profile *p = r->profile;
	struct place_table keys = {}, places = {};
	bool chain_lines = r->o.chain_key != CHAIN_BY_FUNCTION;
	bool lines = has(r, REPORT_SRCLINE) || has(r, REPORT_SRCFILE) || chain_lines;
	CLEANUP(free_ptr)
	uint64_t *addresses = r->o.chain_key == CHAIN_BY_ADDRESS ? addresses_of_names(p) : NULL;
	struct report_place none = {};
	VEC(uint32_t) place_of_key = {};

	vec_push(&keys.items, none);
	vec_push(&places.items, none);
	vec_push(&place_of_key, 0);
	r->key_of_name = xcalloc(p->names.len, sizeof(*r->key_of_name));
	for (size_t i = 1; i < p->names.len; i++) {
		const struct frame_name *name = &p->names.items[i];
		struct report_place key = {.function = name->function, .inlined = name->inlined};

		if (lines) {
			key.file = name->file;
			key.line = has(r, REPORT_SRCLINE) || chain_lines ? name->line : 0;
		}
		if (addresses)
			key.address = addresses[i];
		r->key_of_name[i] = intern_place(r, &keys, &key);
		if (r->key_of_name[i] == place_of_key.len) {
			struct report_place place = place_of_name(r, name);

			vec_push(&place_of_key, intern_place(r, &places, &place));
		}
	}
	r->hidden_key = xcalloc(keys.items.len, sizeof(*r->hidden_key));
	if (r->o.want_function)
		for (size_t i = 0; i < keys.items.len; i++)
			r->hidden_key[i] = !r->o.want_function(
				r->o.ctx, function_of(p, keys.items.items[i].function));
	r->place_of_key = place_of_key.items;
	r->places.items = places.items.items;
	r->places.len = places.items.len;
	slots_release(&places.slots);
	r->steps.items = keys.items.items;
	r->steps.len = keys.items.len;
	slots_release(&keys.slots);
}

/* ---- groups ---- */

static uint32_t group_of_row(struct report *r, const struct profile_row *row)
{
	const struct profile_thread *thread = &r->profile->threads.items[row->thread.n];
	struct report_group g = {.event = row->event, .thread = row->thread};
	uint64_t hash;
	size_t at;
	uint32_t n;

	if (has(r, REPORT_COMM))
		g.comm = thread->comm;
	if (has(r, REPORT_PID))
		g.pid = thread->pid;
	if (has(r, REPORT_TID))
		g.tid = thread->tid;
	if (has(r, REPORT_CPU))
		g.cpu = row->cpu;
	if (has(r, REPORT_TIME))
		g.bucket = row->bucket;
	if (has(r, REPORT_FIELDS))
		g.fields = row->key;
	hash = hash_mix(hash_mix(r->profile->seed ^ ((uint64_t)g.pid << 32 | g.tid),
				 (uint64_t)g.comm.n << 32 | g.cpu),
			((uint64_t)g.event.n << 32 | g.bucket) ^
				g.fields.n * 0x9e3779b97f4a7c15ull);
	at = slots_begin(&r->group_slots, hash);
	while ((n = slots_next(&r->group_slots, hash, &at))) {
		const struct report_group *known = &r->groups.items[n];

		if (known->event.n == g.event.n && known->comm.n == g.comm.n &&
		    known->pid == g.pid && known->tid == g.tid && known->cpu == g.cpu &&
		    known->bucket == g.bucket && known->fields.n == g.fields.n)
			return n;
	}
	n = (uint32_t)r->groups.len;
	vec_push(&r->groups, g);
	slots_add(&r->group_slots, hash, n);
	return n;
}

static bool wants_row(const struct report *r, const struct profile_row *row)
{
	return !r->o.want_thread ||
	       r->o.want_thread(r->o.ctx, &r->profile->threads.items[row->thread.n]);
}

/* ---- entries ---- */

/* Finds the entry of a place in the current group; groups are done one after the other. */
struct finder {
	uint32_t *entry;   /* by place */
	uint32_t *group;   /* group for which `entry` is valid, + 1 */
	uint32_t *on_path; /* by place: its innermost node above the current one; 0: none */
	uint32_t group_now;
};

static void finder_init(struct finder *f, const struct report *r)
{
	f->entry = xcalloc(r->places.len, sizeof(uint32_t));
	f->group = xcalloc(r->places.len, sizeof(uint32_t));
	f->on_path = xcalloc(r->places.len, sizeof(uint32_t));
	f->group_now = 0;
}

static void finder_release(struct finder *f)
{
	free(f->entry);
	free(f->group);
	free(f->on_path);
}

/* The result is valid until the next call. */
static struct report_entry *entry_of(struct report *r, struct finder *f, uint32_t place,
				     uint32_t depth)
{
	struct report_entry *e;

	if (f->group[place] != f->group_now + 1) {
		f->group[place] = f->group_now + 1;
		f->entry[place] = (uint32_t)r->entries.len;
		vec_push(&r->entries, (struct report_entry){.group = f->group_now,
							    .place = place,
							    .depth = depth});
	}
	e = &r->entries.items[f->entry[place]];
	if (depth < e->depth)
		e->depth = depth;
	return e;
}

/* Samples of a node count for the function that holds the code, not for one inlined there. */
static void add_self(struct report *r, struct finder *f, uint32_t n, uint32_t depth)
{
	const struct call_node *nodes = r->tree.nodes.items, *owner = &nodes[n];
	struct call_self self = call_self(&r->tree, n);
	uint32_t key;
	struct report_entry *e;

	if (!self.samples)
		return;
	while (!by_line_alone(r) && owner->inlined && nodes[owner->parent].parent)
		owner = &nodes[owner->parent];
	key = owner->parent ? owner->key : 0;
	if (r->hidden_key[key])
		return;
	e = entry_of(r, f, r->place_of_key[key], depth);
	e->self += self.weight;
	e->self_samples += self.samples;
	r->next_leaf[n] = e->first_leaf;
	e->first_leaf = n;
	if (!r->o.children || !owner->parent) { /* the latter: no stack */
		e->total += self.weight;
		e->total_samples += self.samples;
	}
}

static void enter_node(struct report *r, struct finder *f, uint32_t n, uint32_t depth)
{
	const struct call_node *node = &r->tree.nodes.items[n];
	uint32_t place = r->place_of_key[node->key];

	r->same_above[n] = f->on_path[place];
	add_self(r, f, n, depth);
	if (r->hidden_key[node->key])
		return;
	if (r->o.children) {
		struct report_entry *e = entry_of(r, f, place, depth);

		if (!f->on_path[place]) {
			e->total += node->total;
			e->total_samples += node->total_samples;
		}
		r->next_same[n] = e->first_node;
		e->first_node = n;
	}
	f->on_path[place] = n;
}

static void leave_node(const struct report *r, struct finder *f, uint32_t n)
{
	f->on_path[r->place_of_key[r->tree.nodes.items[n].key]] = r->same_above[n];
}

/* Walks the nodes below a group's node depth first, without recursion. */
static void walk_group(struct report *r, struct finder *f, uint32_t root)
{
	const struct call_node *nodes = r->tree.nodes.items;
	uint32_t n = nodes[root].first_child, depth = 1;

	f->group_now = nodes[root].key;
	add_self(r, f, root, 0);
	while (n) {
		enter_node(r, f, n, depth);
		if (nodes[n].first_child) {
			n = nodes[n].first_child;
			depth++;
			continue;
		}
		while (n != root) {
			leave_node(r, f, n);
			if (nodes[n].next_sibling) {
				n = nodes[n].next_sibling;
				break;
			}
			n = nodes[n].parent;
			depth--;
		}
		if (n == root)
			break;
	}
}

static function_id root_of_row(void *ctx, const struct profile_row *row)
{
	/* The number of a group: the first level of the tree has no functions. */
	return (function_id){group_of_row(ctx, row)};
}

static bool want_row(void *ctx, const struct profile_row *row)
{
	return wants_row(ctx, row);
}

static void entries_of_tree(struct report *r)
{
	struct calltree_options o = {.no_inlines = r->o.no_inlines,
				     .keys = r->key_of_name,
				     .root = root_of_row,
				     .want = r->o.want_thread ? want_row : NULL,
				     .ctx = r};
	struct finder f;

	calltree_build(&r->tree, r->profile, &o);
	r->next_same = xcalloc(r->tree.nodes.len, sizeof(uint32_t));
	r->same_above = xcalloc(r->tree.nodes.len, sizeof(uint32_t));
	r->next_leaf = xcalloc(r->tree.nodes.len, sizeof(uint32_t));
	finder_init(&f, r);
	for (uint32_t root = r->tree.nodes.items[0].first_child; root;
	     root = r->tree.nodes.items[root].next_sibling)
		walk_group(r, &f, root);
	finder_release(&f);
}

/* Returns the rows in the order of their groups. The caller frees both arrays. */
static uint32_t *rows_by_group(struct report *r, size_t *ret_count, uint32_t **ret_groups)
{
	const struct profile *p = r->profile;
	uint32_t *group = xcalloc(p->rows.len, sizeof(*group)), *rows, *place;
	size_t count = 0;

	for (size_t i = 0; i < p->rows.len; i++)
		group[i] = wants_row(r, &p->rows.items[i]) ? group_of_row(r, &p->rows.items[i]) : 0;
	place = xcalloc(r->groups.len + 1, sizeof(*place));
	for (size_t i = 0; i < p->rows.len; i++)
		place[group[i] + 1] += group[i] > 0;
	for (size_t i = 1; i <= r->groups.len; i++)
		place[i] += place[i - 1];
	rows = xcalloc(p->rows.len, sizeof(*rows));
	for (size_t i = 0; i < p->rows.len; i++)
		if (group[i]) {
			rows[place[group[i]]++] = (uint32_t)i;
			count++;
		}
	free(place);
	*ret_groups = group;
	*ret_count = count;
	return rows;
}

/* Without callers no tree is needed: each row goes to the place that was sampled. */
static void entries_of_rows(struct report *r)
{
	const struct profile *p = r->profile;
	uint32_t *group, *rows;
	size_t count;
	struct finder f;

	rows = rows_by_group(r, &count, &group);
	finder_init(&f, r);
	for (size_t i = 0; i < count; i++) {
		const struct profile_row *row = &p->rows.items[rows[i]];
		const struct profile_frame *frame =
			&p->frames.items[p->stacks.items[row->stack.n].frame.n];
		uint32_t name = frame->names, key;
		struct report_entry *e;

		if (by_line_alone(r) && frame->name_count && !r->o.no_inlines)
			name += frame->name_count - 1;
		key = r->key_of_name[name];
		if (r->hidden_key[key])
			continue;
		f.group_now = group[rows[i]];
		e = entry_of(r, &f, r->place_of_key[key], 0);
		e->self += row->weight;
		e->self_samples += row->samples;
		e->total += row->weight;
		e->total_samples += row->samples;
	}
	finder_release(&f);
	free(group);
	free(rows);
}

/* ---- sections ---- */

uint64_t report_whole(const struct report *r, const struct report_entry *e)
{
	return r->event_weight.items[r->groups.items[e->group].event.n];
}

uint64_t report_whole_samples(const struct report *r, const struct report_entry *e)
{
	return r->event_samples.items[r->groups.items[e->group].event.n];
}

/*
 * What entries are sorted by, next to each other in memory: there may be a hundred thousand entries
 * with one sample each, and then most comparisons come down to the name.
 */
struct sort_key {
	double amount;
	uint64_t name;    /* first bytes of the name */
	uint64_t address; /* start of the function, if the first bytes are equal */
	uint32_t depth, entry;
};

static const char *name_of_entry(const struct report *r, uint32_t entry)
{
	return function_text(r->profile, r->places.items[r->entries.items[entry].place].function);
}

static struct sort_key sort_key_of(const struct report *r, uint32_t n)
{
	const struct report_entry *e = &r->entries.items[n];
	struct sort_key key = {
		.amount = (double)(r->o.children ? e->total : e->self),
		.address = function_of(r->profile, r->places.items[e->place].function)->start,
		.depth = r->o.children ? e->depth : 0,
		.entry = n};
	char first[sizeof(key.name)] = "";

	/* Counts of different events can only be compared by their shares. */
	if (r->o.one_section)
		key.amount /= (double)(report_whole(r, e) ?: 1);
	memcpy(first, name_of_entry(r, n), strnlen(name_of_entry(r, n), sizeof(first)));
	memcpy(&key.name, first, sizeof(first));
	key.name = be64toh(key.name);
	return key;
}

/* Orders entries of the same name by everything else, so that every run shows the same. */
static int compare_rest(const struct report *r, uint32_t a, uint32_t b)
{
	const struct profile *p = r->profile;
	const struct report_entry *x = &r->entries.items[a], *y = &r->entries.items[b];
	const struct report_group *g = &r->groups.items[x->group], *h = &r->groups.items[y->group];
	const struct report_place *s = &r->places.items[x->place], *t = &r->places.items[y->place];
	const uint64_t ours[] = {
		g->event.n, g->pid,  g->tid,     g->cpu,
		g->bucket,  s->line, s->inlined, function_of(p, s->function)->start};
	const uint64_t theirs[] = {
		h->event.n, h->pid,  h->tid,     h->cpu,
		h->bucket,  t->line, t->inlined, function_of(p, t->function)->start};
	int c = strcmp(profile_text(p, g->comm), profile_text(p, h->comm));

	if (!c)
		c = strcmp(profile_text(p, s->module), profile_text(p, t->module));
	if (!c)
		c = strcmp(profile_text(p, s->file), profile_text(p, t->file));
	if (!c)
		c = strcmp(profile_text(p, g->fields), profile_text(p, h->fields));
	for (size_t i = 0; !c && i < ARRAY_LEN(ours); i++)
		c = ours[i] < theirs[i] ? -1 : ours[i] > theirs[i];
	return c ? c : a < b ? -1 : 1;
}

static int compare_keys(const void *a, const void *b, void *ctx)
{
	const struct sort_key *x = a, *y = b;
	int c;

	if (x->amount != y->amount)
		return x->amount > y->amount ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	c = strcmp(name_of_entry(ctx, x->entry), name_of_entry(ctx, y->entry));
	return c ? c : compare_rest(ctx, x->entry, y->entry);
}

static void sort_section(struct report *r, struct report_section *s)
{
	struct sort_key *keys = xcalloc(s->entries.len, sizeof(*keys));

	for (size_t i = 0; i < s->entries.len; i++)
		keys[i] = sort_key_of(r, s->entries.items[i]);
	if (s->entries.len)
		qsort_r(keys, s->entries.len, sizeof(*keys), compare_keys, r);
	for (size_t i = 0; i < s->entries.len; i++)
		s->entries.items[i] = keys[i].entry;
	free(keys);
}

static struct report_section *section_of(struct report *r, event_id event)
{
	return &r->sections.items[r->o.one_section ? 0 : event.n];
}

static void add_sections(struct report *r)
{
	const struct profile *p = r->profile;
	size_t events = p->events.len ? p->events.len : 1;

	for (uint32_t i = 0; i < events; i++) {
		vec_push(&r->event_weight, 0);
		vec_push(&r->event_samples, 0);
		if (!i || !r->o.one_section)
			vec_push(&r->sections, (struct report_section){.event = {i}});
	}
	vec_each(&p->rows, row) {
		bool wanted = wants_row(r, row);

		if (!r->o.relative) {
			r->event_weight.items[row->event.n] += row->weight;
			r->event_samples.items[row->event.n] += row->samples;
		}
		if (wanted || !r->o.relative)
			section_of(r, row->event)->samples += row->samples;
	}
}

static void fill_sections(struct report *r)
{
	vec_each(&r->entries, e) {
		event_id event = r->groups.items[e->group].event;

		/* A place without samples of its own is an entry only in reports with children. */
		if (!r->o.children && !e->self_samples)
			continue;
		vec_push(&section_of(r, event)->entries, (uint32_t)(e - r->entries.items));
		if (r->o.relative) {
			r->event_weight.items[event.n] += e->self;
			r->event_samples.items[event.n] += e->self_samples;
		}
	}
	vec_each(&r->sections, s) {
		s->weight = r->event_weight.items[s->event.n];
		sort_section(r, s);
	}
}

void report_build(struct report *r, const struct profile *p, const struct report_options *o)
{
	*r = (struct report){.profile = p, .o = *o};
	/* struct slots cannot hold number 0. */
	vec_push(&r->groups, (struct report_group){});
	number_places(r);
	add_sections(r);
	if (o->children || o->chains)
		entries_of_tree(r);
	else
		entries_of_rows(r);
	fill_sections(r);
}

void report_release(struct report *r)
{
	vec_each(&r->sections, s)
		vec_release(&s->entries);
	vec_release(&r->sections);
	vec_release(&r->groups);
	vec_release(&r->places);
	vec_release(&r->entries);
	vec_release(&r->event_weight);
	vec_release(&r->event_samples);
	vec_release(&r->steps);
	slots_release(&r->group_slots);
	if (r->tree.nodes.items)
		calltree_release(&r->tree);
	free(r->key_of_name);
	free(r->place_of_key);
	free(r->hidden_key);
	free(r->next_same);
	free(r->same_above);
	free(r->next_leaf);
	free(r->scratch);
}
