#include "resolve/name_lookup.h"
#include "base/clock.h"

#include <semaphore.h>
#include <string.h>

void name_lookup_init(struct name_lookup *l, const struct resolve_options *o,
		      struct module *const *modules, const struct profile *p, size_t first,
		      size_t count)
{
	*l = (struct name_lookup){
		.options = o,
		.modules = modules,
		.frames = p->frames.items + first,
		.first = (uint32_t)first,
		.count = count,
		.findings = xcalloc(count, sizeof(*l->findings)),
	};
}

void name_lookup_release(struct name_lookup *l)
{
	free(l->findings);
	vec_release(&l->places);
}

static void find_places(struct name_lookup *l, struct module *m, uint64_t address,
			struct finding *f)
{
	struct dwarf_place places[DWARF_INLINE_DEPTH_MAX];
	struct dwarf *d = module_dwarf(m);
	size_t count = d ? dwarf_places(d, address, places, ARRAY_LEN(places)) : 0;

	if (!count && module_line(m, address, &places[0].file, &places[0].line)) {
		places[0].function = NULL;
		places[0].inlined = false;
		count = 1;
	}
	f->places = (uint32_t)l->places.len;
	f->place_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++)
		vec_push(&l->places, places[i]);
}

void name_lookup_one(struct name_lookup *l, struct module *m, uint64_t address, struct finding *ret)
{
	ret->symbol = resolver_symbol(m, address, &ret->name);
	if (l->options->lines || !l->options->no_inlines)
		find_places(l, m, address, ret);
}

void *name_lookup_run(void *ctx)
{
	struct name_lookup *l = ctx;

	for (size_t i = 0; i < l->count; i++) {
		const struct profile_frame *frame = &l->frames[i];
		struct module *m = frame->names ? NULL : l->modules[frame->module.n];

		if (m)
			name_lookup_one(l, m, frame->address, &l->findings[i]);
	}
	return NULL;
}

/* ---- beside other work ---- */

struct lookup_beside {
	struct name_lookup lookup;
	struct module **modules;
	struct profile_frame *frames;
	sem_t ended;
	bool done;
};

static void *run_beside(void *ctx)
{
	struct lookup_beside *b = ctx;

	name_lookup_run(&b->lookup);
	sem_post(&b->ended);
	return NULL;
}

void lookup_beside_free(struct lookup_beside *b)
{
	sem_destroy(&b->ended);
	name_lookup_release(&b->lookup);
	free(b->modules);
	free(b->frames);
	free(b);
}

struct lookup_beside *lookup_beside_start(const struct resolve_options *o, struct module **modules,
					  const struct profile *p, size_t first, size_t count)
{
	struct lookup_beside *b = xcalloc(1, sizeof(*b));

	b->modules = modules;
	b->frames = xcalloc(count, sizeof(*b->frames));
	memcpy(b->frames, p->frames.items + first, count * sizeof(*b->frames));
	name_lookup_init(&b->lookup, o, modules, p, first, count);
	b->lookup.frames = b->frames;
	sem_init(&b->ended, 0, 0);
	if (!pthread_create(&b->lookup.thread, NULL, run_beside, b))
		return b;
	lookup_beside_free(b);
	return NULL;
}

bool lookup_beside_wait(struct lookup_beside *b, uint64_t ns)
{
	uint64_t until_ns = clock_now_ns() + ns;
	struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SEC),
				 .tv_nsec = (long)(until_ns % NS_PER_SEC)};

	if (!b->done)
		b->done = !(ns ? sem_clockwait(&b->ended, CLOCK_MONOTONIC, &until)
			       : sem_trywait(&b->ended));
	return b->done;
}

struct name_lookup *lookup_beside_join(struct lookup_beside *b)
{
	pthread_join(b->lookup.thread, NULL);
	return &b->lookup;
}
