#include "analyze/annotate/leaf_weights.h"

#include <string.h>

void leaf_weights_init(struct leaf_weights *l, const struct profile *p)
{
	*l = (struct leaf_weights){
		.p = p,
		.weight = xcalloc(p->frames.len, sizeof(*l->weight)),
		.samples = xcalloc(p->frames.len, sizeof(*l->samples)),
	};
}

void leaf_weights_release(struct leaf_weights *l)
{
	free(l->weight);
	free(l->samples);
	*l = (struct leaf_weights){};
}

void leaf_weights_add(struct leaf_weights *l, uint32_t stack, uint64_t samples, uint64_t weight)
{
	uint32_t frame = stack < l->p->stacks.len ? l->p->stacks.items[stack].frame.n : 0;

	l->weight[frame] += weight;
	l->samples[frame] += samples;
	l->all_weight += weight;
	l->all_samples += samples;
}

/* Returns the function that holds the code, not an inlined one; number 0 if it has no name. */
static function_id function_at(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = &p->frames.items[frame];

	return f->names ? p->names.items[f->names].function : (function_id){0};
}

static bool is_wanted(const struct profile *p, uint32_t n, const char *name, const char *module)
{
	const struct profile_function *f = &p->functions.items[n];
	const struct profile_module *m = &p->modules.items[f->module.n];

	if (strcmp(profile_text(p, f->name), name) && strcmp(profile_text(p, f->label), name))
		return false;
	return !module || !strcmp(profile_text(p, m->path), module) ||
	       !strcmp(profile_text(p, m->name), module);
}

function_id leaf_weights_find(const struct leaf_weights *l, const char *name, const char *module)
{
	const struct profile *p = l->p;
	CLEANUP(free_ptr) uint64_t *weights = xcalloc(p->functions.len, sizeof(*weights));
	function_id best = {0};

	for (uint32_t frame = 1; frame < p->frames.len; frame++)
		weights[function_at(p, frame).n] += l->weight[frame];
	for (uint32_t n = 1; n < p->functions.len; n++) {
		const struct profile_function *f = &p->functions.items[n];

		if (!is_wanted(p, n, name, module))
			continue;
		/* If equally heavy, prefer one that has code: inlined functions have none. */
		if (!best.n || weights[n] > weights[best.n] ||
		    (weights[n] == weights[best.n] && f->size && !function_of(p, best)->size))
			best.n = n;
	}
	return best;
}

void leaf_weights_annotate(const struct leaf_weights *l, event_id event, function_id function,
			   const struct code *code, const char *problem, struct annotation *a)
{
	const struct profile *p = l->p;
	const struct profile_function *f = function_of(p, function);

	annotation_init(a);
	annotation_set_names(a, p, event, function);
	a->all_weight = l->all_weight;
	a->all_samples = l->all_samples;
	for (uint32_t frame = 1; frame < p->frames.len; frame++) {
		if (!l->samples[frame] || function_at(p, frame).n != function.n)
			continue;
		a->weight += l->weight[frame];
		a->samples += l->samples[frame];
		annotation_add_weight(a, p->frames.items[frame].address, l->weight[frame],
				      l->samples[frame]);
	}
	if (code) {
		annotation_of_code(a, code);
		return;
	}
	a->start = f->start;
	a->end = f->start + f->size < f->start ? UINT64_MAX : f->start + f->size;
	a->problem = annotation_stringf(a, "%s", problem);
	annotation_finish(a, NULL, NULL);
}
