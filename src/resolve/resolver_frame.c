/* From an address to what is mapped there, and to the frame of a profile. */
#include "base/open_table.h"
#include "resolve/image.h"
#include "resolve/resolver.h"

#include <string.h>

#define NAMELESS_PAGE 4096

struct module *resolver_module(struct resolver *r, uint32_t image)
{
	const struct image *i = &r->shared->history->images.items[image];

	while (r->modules.len <= image)
		vec_push(&r->modules, NULL);
	if (!r->modules.items[image] || r->modules.items[image]->closed) {
		struct module_request request = i->request;

		if (!request.build_id.size)
			image_find_build_id(r->shared->facts, &request);
		if (r->shared->facts->has_clock)
			modules_set_recording(r->shared->modules, r->shared->facts->wall_ns,
					      r->shared->facts->clock_ns);
		r->modules.items[image] = modules_get(r->shared->modules, &request);
	}
	return r->modules.items[image];
}

/* ---- places ---- */

/* Kernel code that no record tells of belongs to the kernel proper. */
void resolver_find_place(const struct history *h, uint32_t root, uint64_t address,
			 struct known_place *ret)
{
	uint64_t end;
	uint32_t n;

	ret->root = root;
	ret->mask = UINT64_MAX;
	if (maps_find_range(&h->maps, root & ~KERNEL_ROOT, address, &ret->start, &end, &n)) {
		ret->image = h->mappings.items[n].image;
		ret->delta = mapping_offset(&h->mappings.items[n], 0);
	} else {
		ret->image = !(root & KERNEL_ROOT) ? 0
			     : h->kernel_image     ? h->kernel_image
						   : h->hidden_kernel;
		ret->delta = 0;
		/* Stacks of code without frame pointers are full of addresses that lead nowhere,
		 * hardly two of them the same: they are taken for one. */
		if (!ret->image)
			ret->mask = 0;
	}
	ret->size = end - ret->start;
}

struct chain_step resolver_step(struct resolver *r, uint64_t address, uint32_t root)
{
	struct chain_step step = {.ip = address};

	resolver_set_place(r, &step, root);
	return step;
}

/* ---- frames ---- */

static frame_id mark_frame(struct resolver *r, enum unwind_end end)
{
	const char *text = unwind_end_text(end);

	if (!text)
		return (frame_id){};
	return profile_frame_named(r->profile, text, strlen(text), CODE_UNKNOWN);
}

static frame_id other_frame(struct resolver *r)
{
	static const char name[] = "[other]";

	if (!r->other.n)
		r->other = profile_frame_named(r->profile, name, sizeof(name) - 1, CODE_UNKNOWN);
	return r->other;
}

/*
 * The code that a signal handler returns to is never called: its first instruction is the return
 * address. One less, which is right for callers, would be another function, or none.
 */
static bool returns_from_signal(const char *name)
{
	return !strcmp(name, "__restore_rt") || !strcmp(name, "__restore") ||
	       !strcmp(name, "__kernel_rt_sigreturn");
}

const struct symbol *resolver_symbol(struct module *m, uint64_t address, const char **ret_name)
{
	const struct symbol *s = module_symbol(m, address, ret_name);
	const struct symbol *next;
	const char *next_name;

	if (s && s->end > address + 1)
		return s;
	next = module_symbol(m, address + 1, &next_name);
	if (!next || next->start != address + 1 || !returns_from_signal(next_name))
		return s;
	*ret_name = next_name;
	return next;
}

/* What a runtime has made may get its name later. */
static uint64_t coarse_nameless(const struct resolver *r, struct module *m, uint64_t address)
{
	size_t fine = r->shared->options->fine_frames;
	const char *name;

	if (!fine || r->profile->frames.len < fine || m->kind != MODULE_ELF || module_dwarf(m) ||
	    resolver_symbol(m, address, &name))
		return address;
	return address & ~(uint64_t)(NAMELESS_PAGE - 1);
}

/* The address that stands for all that are not to be told apart from this one. */
static uint64_t coarse_address(struct resolver *r, struct module *m, uint64_t address)
{
	const struct resolve_options *o = r->shared->options;
	const struct symbol *s;
	const char *name;

	if (o->precision == RESOLVE_ADDRESSES)
		return coarse_nameless(r, m, address);
	if (o->lines || (!o->no_inlines && module_dwarf(m)))
		return address;
	/* Finer than needed does no harm, waiting would. */
	if (module_is_being_read(m))
		return address;
	s = resolver_symbol(m, address, &name);
	if (s)
		return s->start;
	if (o->precision == RESOLVE_FUNCTIONS)
		return address;
	r->report.unnamed_frames++;
	return NAMELESS_ADDRESS;
}

static frame_id find_frame(struct resolver *r, const struct chain_step *step)
{
	const struct resolve_options *o = r->shared->options;
	uint64_t address = step->offset;

	if (step->image == IMAGE_MARK)
		return mark_frame(r, (enum unwind_end)step->offset);
	if (!step->image) {
		if (o->want_place)
			return other_frame(r);
		r->report.unmapped_frames++;
		return profile_frame(r->profile, r->shared->nowhere, 0);
	}
	if (!o->no_names) {
		struct module *m = resolver_module(r, step->image);

		address = module_address(m, address, step->ip - step->back);
		if (o->want_place && !o->want_place(o->want_ctx, m, address))
			return other_frame(r);
		address = coarse_address(r, m, address);
	}
	return profile_frame(r->profile, r->shared->history->images.items[step->image].module,
			     address);
}

static uint64_t frame_hash(uint64_t seed, uint64_t offset, uint32_t image)
{
	return hash_mix(offset ^ seed, image);
}

static size_t frame_slot(const struct known_frames *k, uint64_t offset, uint32_t image)
{
	size_t at = frame_hash(k->seed, offset, image) & k->mask;

	while (k->slots[at].frame.n &&
	       (k->slots[at].offset != offset || k->slots[at].image != image))
		at = (at + 1) & k->mask;
	return at;
}

static bool frame_home(const void *slot, uint64_t seed, uint64_t *ret_hash)
{
	const struct known_frame *known = slot;

	*ret_hash = frame_hash(seed, known->offset, known->image);
	return known->frame.n;
}

void resolver_forget_frames(struct resolver *r)
{
	struct known_frames *k = &r->frames;

	if (k->count < FRAMES_KNOWN)
		return;
	table_free(k->slots, k->mask + 1, sizeof(*k->slots));
	*k = (struct known_frames){.seed = k->seed};
}

frame_id resolver_frame(struct resolver *r, const struct chain_step *step)
{
	struct known_frames *k = &r->frames;
	size_t at;

	/* Asking again is cheaper than a table of places that nobody wants. */
	if (r->shared->options->want_place)
		return find_frame(r, step);
	if (!k->slots || k->count * 3 > k->mask * 2)
		k->slots =
			open_table_grow(k->slots, &k->mask, sizeof(*k->slots), frame_home, k->seed);
	at = frame_slot(k, step->offset, step->image);
	if (!k->slots[at].frame.n) {
		size_t before = r->profile->frames.len;
		frame_id frame = find_frame(r, step);

		k->slots[at] = (struct known_frame){step->offset, step->image, frame};
		k->count += frame.n != 0;
		r->twins |= frame.n && frame.n < before;
	}
	return k->slots[at].frame;
}

/* The table of frames is larger than the caches: what will be needed is on its way meanwhile. */
void resolver_fetch_frames(const struct resolver *r, const struct chain_step *steps, size_t count)
{
	const struct known_frames *k = &r->frames;

	for (size_t i = 0; k->slots && i < count; i++) {
		uint64_t hash = frame_hash(k->seed, steps[i].offset, steps[i].image);

		__builtin_prefetch(&k->slots[hash & k->mask]);
	}
}
