#include "analyze/paths/path_flame.h"

#include <string.h>

void path_totals(const struct call_paths *c, const uint64_t *self, uint64_t *ret)
{
	memcpy(ret, self, c->nodes.len * sizeof(*ret));
	for (size_t i = c->nodes.len; i-- > 1;)
		if (ret[i])
			ret[c->nodes.items[i].parent] += ret[i];
}

static uint64_t *totals_of(const struct call_paths *c, const uint64_t *self)
{
	uint64_t *total = table_alloc(c->nodes.len, sizeof(*total));

	path_totals(c, self, total);
	return total;
}

static void totals_free(const struct call_paths *c, uint64_t *total)
{
	table_free(total, c->nodes.len, sizeof(*total));
}

static uint64_t least_weight(const struct flame_options *o, uint64_t whole)
{
	double least = o->min_share * (double)whole;

	return least < 1 ? 1 : (uint64_t)least;
}

/* ---- no more nodes than the limit ---- */

static int by_weight(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Keeps the nodes heavier than @threshold and the first @even ones of that weight. A child never
 * weighs more than its parent, and comes after it, so what stays is connected. */
static void keep_above(struct path_flame *f, uint64_t threshold, size_t even)
{
	uint32_t *to = xcalloc(f->nodes.len, sizeof(*to)), kept = 0;

	for (size_t i = 0; i < f->nodes.len; i++) {
		struct flame_node node = f->nodes.items[i];
		bool is_even =
			even && node.total == threshold && (!i || to[node.parent] != UINT32_MAX);

		to[i] = UINT32_MAX;
		even -= is_even;
		if (i && node.total <= threshold && !is_even) {
			f->hidden_nodes++;
			if (to[node.parent] != UINT32_MAX)
				f->hidden_weight += node.total;
			continue;
		}
		if (i)
			node.parent = to[node.parent];
		to[i] = kept;
		f->nodes.items[kept++] = node;
	}
	f->nodes.len = kept;
	free(to);
}

static void keep_heaviest(struct path_flame *f, size_t limit)
{
	uint64_t *weights;
	size_t first = limit;

	if (!limit || f->nodes.len <= limit)
		return;
	weights = xcalloc(f->nodes.len, sizeof(*weights));
	for (size_t i = 0; i < f->nodes.len; i++)
		weights[i] = f->nodes.items[i].total;
	qsort(weights, f->nodes.len, sizeof(*weights), by_weight);
	while (first && weights[first - 1] == weights[limit])
		first--;
	keep_above(f, weights[limit], limit - first);
	free(weights);
}

/* ---- from the root ---- */

void path_flame_plain(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
		      const struct flame_options *o)
{
	uint64_t *total = totals_of(c, self), least = least_weight(o, total[0]);
	uint32_t *to = table_alloc(c->nodes.len, sizeof(*to));

	*f = (struct path_flame){};
	vec_push(&f->nodes, (struct flame_node){.self = self[0], .total = total[0]});
	for (size_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];

		if (!total[i])
			continue;
		if (total[i] < least) {
			f->hidden_nodes++;
			if (total[n->parent] >= least)
				f->hidden_weight += total[i];
			continue;
		}
		to[i] = (uint32_t)f->nodes.len;
		vec_push(&f->nodes, (struct flame_node){to[n->parent], n->name, n->inlined, self[i],
							total[i]});
	}
	table_free(to, c->nodes.len, sizeof(*to));
	totals_free(c, total);
	keep_heaviest(f, o->limit);
}

/* ---- from the leaf ---- */

/* A walk from one node towards the root: the node it has reached, and its weight. */
struct climber {
	uint32_t node;
	uint64_t weight;
};

typedef VEC(struct climber) climbers;

/* Climbers that have taken the same way so far. They are one node of the graph. */
struct climb_group {
	uint32_t flame_node;
	size_t from, to; /* in the climbers of the level */
};

typedef VEC(struct climb_group) climb_groups;

/* The climbers of a group whose next function is the same. Indexed by way_key(). */
struct climb_way {
	uint64_t weight;
	size_t count, next; /* next: free place in the next level */
	uint32_t flame_node;
	bool shown;
};

struct climb {
	struct path_flame *f;
	const struct call_paths *c;
	uint64_t least;
	struct climb_way *ways;
	VEC(uint32_t) touched; /* ways of this group */
	climbers level, next_level;
	climb_groups groups, next_groups;
};

static uint32_t way_key(const struct call_paths *c, uint32_t node)
{
	return c->nodes.items[node].name << 1 | c->nodes.items[node].inlined;
}

/* Makes a node of each way that is heavy enough, and room for its climbers. */
static void open_ways(struct climb *k, const struct climb_group *g)
{
	size_t place = k->next_level.len;

	vec_each(&k->touched, key) {
		struct climb_way *way = &k->ways[*key];

		way->shown = way->weight >= k->least;
		if (!way->shown) {
			k->f->hidden_nodes++;
			k->f->hidden_weight += way->weight;
			continue;
		}
		way->flame_node = (uint32_t)k->f->nodes.len;
		vec_push(&k->f->nodes,
			 (struct flame_node){g->flame_node, *key >> 1, *key & 1, 0, way->weight});
		vec_push(&k->next_groups,
			 (struct climb_group){way->flame_node, place, place + way->count});
		way->next = place;
		place += way->count;
	}
	vec_reserve(&k->next_level, place);
	k->next_level.len = place;
}

static void climb_on(struct climb *k, const struct climb_group *g)
{
	size_t first_group = k->next_groups.len;

	k->touched.len = 0;
	for (size_t i = g->from; i < g->to; i++) {
		const struct climber *at = &k->level.items[i];
		uint32_t key = way_key(k->c, at->node);

		if (!k->ways[key].count++)
			vec_push(&k->touched, key);
		k->ways[key].weight += at->weight;
	}
	open_ways(k, g);
	for (size_t i = g->from; i < g->to; i++) {
		struct climber at = k->level.items[i];
		struct climb_way *way = &k->ways[way_key(k->c, at.node)];

		if (!way->shown)
			continue;
		at.node = k->c->nodes.items[at.node].parent;
		if (at.node)
			k->next_level.items[way->next++] = at;
		else
			k->f->nodes.items[way->flame_node].self += at.weight;
	}
	/* Climbers that reached the root leave places unused: shorten the groups. */
	for (size_t i = first_group; i < k->next_groups.len; i++) {
		struct climb_group *next = &k->next_groups.items[i];
		const struct flame_node *n = &k->f->nodes.items[next->flame_node];

		next->to = k->ways[n->name << 1 | n->inlined].next;
	}
	vec_each(&k->touched, key)
		k->ways[*key] = (struct climb_way){};
}

/* Climbs level by level, so that parents come first. @k has the first level. */
static void climb(struct climb *k)
{
	k->ways = xcalloc(k->c->names.len * 2, sizeof(*k->ways));
	vec_push(&k->groups, (struct climb_group){0, 0, k->level.len});
	while (k->groups.len) {
		__typeof__(k->level) level = k->level;
		__typeof__(k->groups) groups = k->groups;

		k->next_level.len = k->next_groups.len = 0;
		vec_each(&k->groups, g)
			if (g->from < g->to)
				climb_on(k, g);
		k->level = k->next_level;
		k->next_level = level;
		k->groups = k->next_groups;
		k->next_groups = groups;
	}
	vec_release(&k->level);
	vec_release(&k->next_level);
	vec_release(&k->groups);
	vec_release(&k->next_groups);
	vec_release(&k->touched);
	free(k->ways);
}

void path_flame_inverted(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			 const struct flame_options *o)
{
	struct climb k = {.f = f, .c = c};
	struct flame_node root = {.self = self[0], .total = self[0]};

	*f = (struct path_flame){};
	for (uint32_t i = 1; i < c->nodes.len; i++) {
		if (!self[i])
			continue;
		root.total += self[i];
		vec_push(&k.level, (struct climber){i, self[i]});
	}
	vec_push(&f->nodes, root);
	k.least = least_weight(o, root.total);
	climb(&k);
	keep_heaviest(f, o->limit);
}

/* ---- through one function ---- */

/* Returns, by node: 1 for the outermost call of a wanted function, 2 below one, else 0. */
static uint8_t *outermost_calls(const struct call_paths *c, const bool *wanted)
{
	uint8_t *is = table_alloc(c->nodes.len, 1);

	for (size_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];

		is[i] = is[n->parent] ? 2 : wanted[n->name];
	}
	return is;
}

void path_flame_callers(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o)
{
	uint64_t *total = totals_of(c, self);
	uint8_t *is = outermost_calls(c, wanted);
	struct climb k = {.f = f, .c = c};
	struct flame_node root = {};

	*f = (struct path_flame){};
	for (uint32_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];

		if (is[i] != 1 || !total[i])
			continue;
		root.name = n->name;
		root.total += total[i];
		if (n->parent)
			vec_push(&k.level, (struct climber){n->parent, total[i]});
		else
			root.self += total[i];
	}
	vec_push(&f->nodes, root);
	k.least = least_weight(o, root.total);
	climb(&k);
	keep_heaviest(f, o->limit);
	table_free(is, c->nodes.len, 1);
	totals_free(c, total);
}

/* Merges the nodes below the function into one tree; light ones are dropped later. */
static void merge_below(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const uint64_t *total, const uint8_t *is)
{
	uint32_t *to = table_alloc(c->nodes.len, sizeof(*to));
	struct children children = {}; /* by way_key() */

	for (uint32_t i = 1; i < c->nodes.len; i++) {
		const struct call_path *n = &c->nodes.items[i];
		uint32_t *known, at = 0;

		if (!is[i] || !total[i])
			continue;
		if (is[i] == 2) {
			known = children_at(&children, to[n->parent], way_key(c, i));
			if (!*known) {
				*known = (uint32_t)f->nodes.len;
				vec_push(&f->nodes, (struct flame_node){to[n->parent], n->name,
									n->inlined, 0, 0});
			}
			at = *known;
		} else {
			f->nodes.items[0].name = n->name;
		}
		to[i] = at;
		f->nodes.items[at].self += self[i];
		f->nodes.items[at].total += total[i];
	}
	children_release(&children);
	table_free(to, c->nodes.len, sizeof(*to));
}

void path_flame_callees(struct path_flame *f, const struct call_paths *c, const uint64_t *self,
			const bool *wanted, const struct flame_options *o)
{
	uint64_t *total = totals_of(c, self);
	uint8_t *is = outermost_calls(c, wanted);

	*f = (struct path_flame){};
	vec_push(&f->nodes, (struct flame_node){});
	merge_below(f, c, self, total, is);
	keep_above(f, least_weight(o, f->nodes.items[0].total) - 1, 0);
	keep_heaviest(f, o->limit);
	table_free(is, c->nodes.len, 1);
	totals_free(c, total);
}

void path_flame_release(struct path_flame *f)
{
	vec_release(&f->nodes);
}
