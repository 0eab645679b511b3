/*
 * From a chain to the stack of a profile. The hash of a chain goes from the outermost step to the leaf,
 * so that it has those of all its callers on its way: a new chain is looked up from the leaf outwards,
 * and only what is not known of it needs frames.
 */
#include "resolve/resolver.h"
#include "base/open_table.h"

/* Of who forgets: 8 MB. The server, which is told of stacks once, remembers more: see runs/live/stacks.c. */
#define STACKS_KNOWN (256u << 10)

/* Their slots are fetched before it is known whether they are needed: they mostly are. */
#define STEPS_AHEAD  2
#define CHAINS_AHEAD 4

static size_t stack_slot(const struct known_stacks *k, uint64_t hash)
{
	size_t at = hash & k->mask;

	while (k->slots[at].stack && k->slots[at].hash != hash)
		at = (at + 1) & k->mask;
	return at;
}

static bool stack_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct known_stack *known = slot;

	(void)seed;
	*ret_hash = known->hash;
	return known->stack;
}

static struct known_stack *find(const struct known_stacks *k, uint64_t hash)
{
	struct known_stack *known;

	if (!k->slots)
		return NULL;
	known = &k->slots[stack_slot(k, hash)];
	return known->stack ? known : NULL;
}

static uint32_t number_of(const struct known_stack *known)
{
	return (known->stack & ~STACK_USED) - 1;
}

static void add(struct known_stacks *k, uint64_t hash, uint32_t stack, uint32_t leaf)
{
	if (!k->slots || k->count * 3 > k->mask * 2)
		k->slots = open_table_grow(k->slots, &k->mask, sizeof(*k->slots), stack_home, 0);
	k->slots[stack_slot(k, hash)] = (struct known_stack){hash, stack + 1, leaf};
	k->count++;
}

static void fetch(const struct known_stacks *k, uint64_t hash)
{
	if (k->slots)
		__builtin_prefetch(&k->slots[hash & k->mask]);
}

/* The hash of each step and all outside of it. */
static void hash_steps(struct resolver *r, const chain_steps *steps, uint64_t *ret)
{
	uint64_t h = r->shared->seed;

	for (size_t i = steps->len; i-- > 0;)
		ret[i] = h = resolver_hash_step(r, h, &steps->items[i]);
}

static void fetch_steps(const struct resolver *r, const struct chain_step *steps,
			const uint64_t *hashes, size_t len)
{
	for (size_t i = 0; i < len && i <= STEPS_AHEAD; i++)
		fetch(&r->stacks, hashes[i]);
	resolver_fetch_frames(r, steps, len < STEPS_AHEAD ? len : STEPS_AHEAD);
}

/* The stacks of the @unknown innermost steps, inside of @found. */
static struct found_stack make_stacks(struct resolver *r, const struct chain_step *steps,
				      const uint64_t *hashes, size_t unknown,
				      struct found_stack found)
{
	struct profile *p = r->profile;
	stack_id stack = {found.stack};

	r->twins |= r->stacks_seen != p->stacks.len;
	for (size_t i = unknown; i-- > 0;) {
		frame_id frame = resolver_frame(r, &steps[i]);

		if (frame.n) {
			stack = r->twins && !p->stacks_forgotten
					? profile_stack(p, stack, frame)
					: profile_stack_new(p, stack, frame);
			found.leaf = frame.n;
		}
		/* What found no room in the profile is not to take any here, but for whole chains. */
		if (stack.n || !i)
			add(&r->stacks, hashes[i], stack.n, found.leaf);
	}
	r->stacks_seen = p->stacks.len;
	found.stack = stack.n;
	return found;
}

static struct found_stack stack_of_steps(struct resolver *r, const struct chain_step *steps,
					 const uint64_t *hashes, size_t len)
{
	struct found_stack found = {};
	struct known_stack *known = NULL;
	size_t unknown = 0;

	while (unknown < len && !(known = find(&r->stacks, hashes[unknown])))
		unknown++;
	if (known) {
		known->stack |= STACK_USED;
		found = (struct found_stack){number_of(known), known->leaf};
	}
	return make_stacks(r, steps, hashes, unknown, found);
}

/* Its number is one of our own, until somebody who has the profile of all looks for its stack. */
static uint32_t put_off(struct resolver *r, const chain_steps *steps, uint64_t hash)
{
	struct new_chains *c = &r->new_chains;
	uint32_t number = (uint32_t)r->stacks.count;
	size_t at = c->steps.len;

	vec_reserve(&c->steps, at + steps->len);
	vec_reserve(&c->hashes, at + steps->len);
	for (size_t i = 0; i < steps->len; i++)
		c->steps.items[at + i] = steps->items[i];
	hash_steps(r, steps, c->hashes.items + at);
	c->steps.len = c->hashes.len = at + steps->len;
	vec_push(&c->lens, (uint32_t)steps->len);
	add(&r->stacks, hash, number, 0);
	return number;
}

void resolver_fetch_stack(const struct resolver *r, uint64_t hash)
{
	fetch(&r->stacks, hash);
}

/* It was met again, and with it its callers. */
static void use_again(struct resolver *r, const chain_steps *steps)
{
	vec_reserve(&r->hashes, steps->len);
	hash_steps(r, steps, r->hashes.items);
	for (size_t i = 0; i < steps->len; i++) {
		struct known_stack *known = find(&r->stacks, r->hashes.items[i]);

		if (known)
			known->stack |= STACK_USED;
	}
}

struct found_stack resolver_stack(struct resolver *r, const chain_steps *steps, uint64_t hash)
{
	struct known_stack *known = find(&r->stacks, hash);

	if (known) {
		if (r->stacks.count_max && !(known->stack & STACK_USED))
			use_again(r, steps);
		return (struct found_stack){number_of(known), known->leaf};
	}
	if (r->puts_off)
		return (struct found_stack){put_off(r, steps, hash), 0};
	vec_reserve(&r->hashes, steps->len);
	hash_steps(r, steps, r->hashes.items);
	fetch_steps(r, steps->items, r->hashes.items, steps->len);
	return stack_of_steps(r, steps->items, r->hashes.items, steps->len);
}

/* ---- forgetting ---- */

static size_t used_again(const struct known_stacks *k)
{
	size_t count = 0;

	for (size_t i = 0; i <= k->mask; i++)
		count += k->slots[i].stack & STACK_USED ? 1 : 0;
	return count;
}

static void keep_used(struct known_stacks *k)
{
	struct known_stacks kept = {.count = used_again(k)};
	size_t room = OPEN_TABLE_FIRST;

	/* As much again as stays has room, so that it is not soon the same. */
	kept.count_max = 2 * kept.count > STACKS_KNOWN ? 2 * kept.count : STACKS_KNOWN;
	while (room * 2 < kept.count_max * 3)
		room *= 2;
	kept.mask = room - 1;
	kept.slots = table_alloc(room, sizeof(*kept.slots));
	for (size_t i = 0; i <= k->mask; i++)
		if (k->slots[i].stack & STACK_USED) {
			struct known_stack *to = &kept.slots[stack_slot(&kept, k->slots[i].hash)];

			*to = k->slots[i];
			to->stack &= ~STACK_USED;
		}
	table_free(k->slots, k->mask + 1, sizeof(*k->slots));
	*k = kept;
}

void resolver_forget_stacks(struct resolver *r)
{
	struct known_stacks *k = &r->stacks;

	r->stacks_seen = r->profile->stacks.len;
	if (!k->count_max)
		k->count_max = STACKS_KNOWN;
	if (k->count > k->count_max)
		keep_used(k);
}

/* The chains that were put off since the last time. */
static void find_stacks(struct resolver *from, struct resolver *to)
{
	struct new_chains *c = &from->new_chains;
	const struct chain_step *steps = c->steps.items;
	const uint64_t *hashes = c->hashes.items;
	const uint32_t *lens = c->lens.items;
	size_t at = 0, fetched = 0, fetched_at = 0;
	struct found_stack found;

	for (size_t i = 0; i < c->lens.len; i++) {
		for (; fetched < c->lens.len && fetched <= i + CHAINS_AHEAD; fetched++) {
			fetch_steps(to, steps + fetched_at, hashes + fetched_at, lens[fetched]);
			fetched_at += lens[fetched];
		}
		found = stack_of_steps(to, steps + at, hashes + at, lens[i]);
		vec_push(&c->stacks, (stack_id){found.stack});
		at += lens[i];
	}
	c->lens.len = c->steps.len = c->hashes.len = 0;
}

void resolver_translate(struct resolver *from, struct resolver *to, struct sample_row *rows,
			size_t count)
{
	find_stacks(from, to);
	for (size_t i = 0; i < count; i++) {
		thread_id thread = {rows[i].thread};

		rows[i].stack = from->new_chains.stacks.items[rows[i].stack].n;
		rows[i].leaf = to->profile->stacks.items[rows[i].stack].frame.n;
		rows[i].thread = resolver_merge_thread(to->profile, from->profile, thread).n;
	}
}
