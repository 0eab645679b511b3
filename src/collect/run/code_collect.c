#include "collect/run/code_collect.h"

#include "analyze/annotate/annotate.h"
#include "base/clock.h"

/* A function whose code is worth keeping, with its largest share of any event. */
struct worth {
	function_id function;
	double share;
};

typedef VEC(struct worth) worth_list;

static int by_share(const void *a, const void *b)
{
	const struct worth *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return (x->function.n > y->function.n) - (x->function.n < y->function.n);
}

/* Each function once, the hottest first. */
static void choose(const struct profile *p, unsigned of_each, worth_list *ret)
{
	CLEANUP(free_ptr) double *shares = xcalloc(p->functions.len, sizeof(*shares));

	for (uint32_t event = 0; event < p->events.len; event++) {
		hot_list hot = {};
		double all = 0;

		hot_functions(p, (event_id){event}, &hot);
		vec_each(&hot, h)
			all += (double)h->weight;
		for (size_t i = 0; i < hot.len && i < of_each; i++) {
			double share = all > 0 ? (double)hot.items[i].weight / all : 0;
			double *best = &shares[hot.items[i].function.n];

			/* Functions that were hit, but without weight, come after all others. */
			share = share > 0 ? share : 1e-12;
			*best = share > *best ? share : *best;
		}
		vec_release(&hot);
	}
	for (uint32_t n = 1; n < p->functions.len; n++)
		if (shares[n] > 0 && p->functions.items[n].named)
			vec_push(ret, (struct worth){{n}, shares[n]});
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), by_share);
}

/* Encodes a function, without its source if it is too large. Returns false if it still is. */
static bool encode(struct code_builder *b, function_id function, struct buf *out)
{
	struct code code;

	code_build(b, function, &code);
	code_encode(&code, out);
	if (out->len > CODE_BYTES_MAX) {
		buf_clear(out);
		code.lines.len = 0;
		vec_push(&code.notes,
			 code_stringf(&code, "The function is so large that its source was not "
					     "kept."));
		code_encode(&code, out);
	}
	code_release(&code);
	return out->len <= CODE_BYTES_MAX;
}

void code_collect(const struct profile *p, struct modules *modules, const struct code_options *o,
		  const struct code_limits *limits, code_emit emit, void *ctx,
		  struct code_report *ret)
{
	uint64_t begun = clock_now_ns();
	struct code_builder b;
	worth_list list = {};

	*ret = (struct code_report){};
	choose(p, limits->functions, &list);
	code_builder_init(&b, p, modules, o);
	vec_each(&list, w) {
		CLEANUP(buf_release) struct buf bytes = {};

		if (clock_now_ns() - begun > limits->time_ns)
			break;
		if (!encode(&b, w->function, &bytes) || ret->bytes + bytes.len > limits->bytes)
			continue;
		if (!emit(ctx, w->function, &bytes))
			break;
		ret->taken++;
		ret->bytes += bytes.len;
	}
	ret->left = (unsigned)list.len - ret->taken;
	code_builder_release(&b);
	vec_release(&list);
}
