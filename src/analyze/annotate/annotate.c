#include "analyze/annotate/annotate.h"
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

void annotation_init(struct annotation *a)
{
	*a = (struct annotation){};
	vec_push(&a->pool, '\0');
}

void annotation_release(struct annotation *a)
{
	vec_release(&a->pool);
	vec_release(&a->notes);
	vec_release(&a->instructions);
	vec_release(&a->lines);
	vec_release(&a->files);
	slots_release(&a->file_slots);
	vec_release(&a->rows);
	vec_release(&a->weights);
}

pool_text annotation_string(struct annotation *a, const char *text, size_t len)
{
	size_t at = a->pool.len;

	if (!len)
		return (pool_text){0};
	if (len >= ANNOTATION_TEXT_MAX - at) {
		a->refused++;
		return (pool_text){0};
	}
	vec_reserve(&a->pool, at + len + 1);
	memcpy(a->pool.items + at, text, len);
	a->pool.items[at + len] = '\0';
	a->pool.len = at + len + 1;
	return (pool_text){(uint32_t)at};
}

pool_text annotation_stringf(struct annotation *a, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	return annotation_string(a, buf_str(&text), text.len);
}

void annotation_add_instruction(struct annotation *a, const struct annotated_instruction *i)
{
	vec_push(&a->instructions, *i);
}

void annotation_add_weight(struct annotation *a, uint64_t address, uint64_t weight,
			   uint64_t samples)
{
	vec_push(&a->weights, (struct address_weight){address, weight, samples});
}

uint32_t annotation_find(const struct annotation *a, uint64_t address)
{
	size_t low = 0, high = a->instructions.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct annotated_instruction *i = &a->instructions.items[mid];

		if (address < i->address)
			high = mid;
		else if (address - i->address >= i->size)
			low = mid + 1;
		else
			return (uint32_t)mid + 1;
	}
	return 0;
}

static void place_weights(struct annotation *a)
{
	vec_each(&a->weights, w) {
		uint32_t found = annotation_find(a, w->address);

		if (!found) {
			a->lost_weight += w->weight;
			continue;
		}
		a->instructions.items[found - 1].weight += w->weight;
		a->instructions.items[found - 1].samples += w->samples;
	}
	for (uint32_t i = 0; i < a->instructions.len; i++) {
		uint64_t most = a->hottest ? a->instructions.items[a->hottest - 1].weight : 0;

		if (a->instructions.items[i].weight > most)
			a->hottest = i + 1;
	}
}

static void place_jumps(struct annotation *a)
{
	vec_each(&a->instructions, i) {
		uint32_t found;

		if (i->flow != ANNOTATED_JUMP || !i->target)
			continue;
		found = annotation_find(a, i->target);
		/* Ignore a jump into the middle of an instruction: nothing shown begins there. */
		if (!found || a->instructions.items[found - 1].address != i->target)
			continue;
		i->jumps_to = found;
		a->instructions.items[found - 1].jumpers++;
	}
}

void annotation_finish(struct annotation *a, annotation_source source, void *ctx)
{
	place_weights(a);
	place_jumps(a);
	annotation_place_lines(a, source, ctx);
}

double annotation_share(const struct annotation *a, enum percent_type type, uint64_t weight,
			uint64_t samples)
{
	bool hits = type == LOCAL_HITS || type == GLOBAL_HITS;
	bool local = type == LOCAL_PERIOD || type == LOCAL_HITS;
	uint64_t part = hits ? samples : weight;
	uint64_t all = local  ? hits ? a->samples : a->weight
		       : hits ? a->all_samples
			      : a->all_weight;

	return all ? 100.0 * (double)part / (double)all : 0;
}

enum annotation_heat annotation_heat(double share_pct)
{
	return share_pct >= 5     ? HEAT_HOT
	       : share_pct >= 0.5 ? HEAT_WARM
	       : share_pct > 0    ? HEAT_LITTLE
				  : HEAT_NONE;
}

size_t annotation_hot_lines(const struct annotation *a, uint32_t *ret, size_t max)
{
	size_t count = 0;

	for (uint32_t n = 0; n < a->lines.len; n++) {
		uint64_t weight = a->lines.items[n].weight;
		size_t at = count;

		if (!weight)
			continue;
		while (at && a->lines.items[ret[at - 1]].weight < weight)
			at--;
		if (at == max)
			continue;
		count += count < max;
		memmove(ret + at + 1, ret + at, (count - at - 1) * sizeof(*ret));
		ret[at] = n;
	}
	return count;
}

/* ---- from a profile ---- */

/* Returns the function that a row's samples hit; number 0 if it has no name. */
static function_id leaf_function(const struct profile *p, const struct profile_row *row,
				 const struct profile_frame **ret_frame)
{
	const struct profile_frame *f = &p->frames.items[p->stacks.items[row->stack.n].frame.n];

	*ret_frame = f;
	return f->names ? p->names.items[f->names].function : (function_id){0};
}

static int by_weight(const void *a, const void *b)
{
	const struct hot_function *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->function.n > y->function.n) - (x->function.n < y->function.n);
}

void hot_functions(const struct profile *p, event_id event, hot_list *ret)
{
	struct hot_function *all = xcalloc(p->functions.len + 1, sizeof(*all));
	const struct profile_frame *frame;

	vec_each(&p->rows, row) {
		function_id f = leaf_function(p, row, &frame);

		if (row->event.n != event.n || !f.n)
			continue;
		all[f.n].weight += row->weight;
		all[f.n].samples += row->samples;
	}
	for (uint32_t n = 1; n < p->functions.len; n++)
		if (all[n].samples)
			vec_push(ret, (struct hot_function){.function = {n},
							    .weight = all[n].weight,
							    .samples = all[n].samples});
	free(all);
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_weight);
}

void hot_addresses(const struct profile *p, event_id event, function_id function,
		   struct annotation *ret)
{
	const struct profile_frame *frame;

	vec_each(&p->rows, row) {
		function_id f = leaf_function(p, row, &frame);

		if (row->event.n != event.n)
			continue;
		ret->all_weight += row->weight;
		ret->all_samples += row->samples;
		if (f.n != function.n)
			continue;
		ret->weight += row->weight;
		ret->samples += row->samples;
		annotation_add_weight(ret, frame->address, row->weight, row->samples);
	}
}
