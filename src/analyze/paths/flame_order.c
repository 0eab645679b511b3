#include "analyze/paths/flame_order.h"

#define GAP_SPACES 5u /* after this many usual intervals without a sample, the thread did not run */
/* Pauses shorter than 1/250 of the shown time are not drawn: a thread on a busy machine has one
 * every few milliseconds, and such stripes would hide which function it was in. */
#define GAP_PART 250u

void flame_order_init(struct flame_order *f, uint64_t from_ns, uint64_t to_ns, size_t pixels)
{
	*f = (struct flame_order){.from_ns = from_ns, .to_ns = to_ns, .pixels = pixels};
	f->columns = xcalloc(pixels, sizeof(*f->columns));
	f->spaces = xcalloc(FLAME_ORDER_SPACES, sizeof(*f->spaces));
}

void flame_order_release(struct flame_order *f)
{
	free(f->columns);
	free(f->spaces);
	vec_release(&f->boxes);
}

static struct order_column *column_at(struct flame_order *f, uint64_t time_ns)
{
	double share = (double)(time_ns - f->from_ns) / (double)(f->to_ns - f->from_ns);
	size_t pixel = (size_t)(share * (double)f->pixels);

	return &f->columns[pixel < f->pixels ? pixel : f->pixels - 1];
}

void flame_order_add(struct flame_order *f, uint64_t time_ns, uint64_t weight, uint32_t node)
{
	struct order_column *c = column_at(f, time_ns);

	if (time_ns > f->last_ns && f->samples)
		f->spaces[f->space_count++ % FLAME_ORDER_SPACES] = time_ns - f->last_ns;
	f->last_ns = time_ns;
	f->samples++;
	f->weight += weight;
	if (!c->seen || time_ns < c->first_ns)
		c->first_ns = time_ns;
	if (!c->seen || weight > c->weight || (weight == c->weight && time_ns < c->best_ns)) {
		c->best_ns = time_ns;
		c->weight = weight;
		c->node = node;
	}
	if (!c->seen || time_ns > c->last_ns)
		c->last_ns = time_ns;
	c->seen = true;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns the median space between samples, or the width of a column if there is none. */
static uint64_t usual_space(struct flame_order *f)
{
	size_t count = f->space_count < FLAME_ORDER_SPACES ? f->space_count : FLAME_ORDER_SPACES;

	if (!count)
		return (f->to_ns - f->from_ns) / f->pixels + 1;
	qsort(f->spaces, count, sizeof(*f->spaces), by_size);
	return f->spaces[count / 2];
}

/* The stack that is being drawn: its nodes, the outermost first, and the box of each. */
struct open_boxes {
	VEC(uint32_t) nodes, boxes;
	VEC(uint32_t) path; /* nodes of the next stack */
	uint64_t to_ns;
};

static void find_path(struct open_boxes *o, const struct call_paths *c, uint32_t node)
{
	o->path.len = 0;
	for (; node; node = c->nodes.items[node].parent)
		vec_push(&o->path, node);
	for (size_t i = 0; i < o->path.len / 2; i++) {
		uint32_t *a = &o->path.items[i], *b = &o->path.items[o->path.len - 1 - i],
			 kept = *a;

		*a = *b;
		*b = kept;
	}
}

static void draw(struct flame_order *f, struct open_boxes *o, const struct call_paths *c,
		 uint32_t node, uint64_t from_ns, uint64_t to_ns)
{
	size_t same = 0;

	find_path(o, c, node);
	if (o->to_ns == from_ns)
		while (same < o->path.len && same < o->nodes.len &&
		       o->path.items[same] == o->nodes.items[same])
			same++;
	for (size_t i = 0; i < same; i++)
		f->boxes.items[o->boxes.items[i]].to_ns = to_ns;
	o->nodes.len = o->boxes.len = same;
	for (size_t i = same; i < o->path.len; i++) {
		uint32_t at = o->path.items[i];

		vec_push(&o->nodes, at);
		vec_push(&o->boxes, (uint32_t)f->boxes.len);
		vec_push(&f->boxes,
			 (struct order_box){from_ns, to_ns, (uint32_t)i, c->nodes.items[at].name});
	}
	o->to_ns = to_ns;
}

/* Returns the end of a column's boxes: the next column, or earlier if the pause is long. */
static uint64_t end_of(const struct flame_order *f, size_t pixel, size_t next, uint64_t space)
{
	uint64_t last = f->columns[pixel].last_ns, end = last + space;
	uint64_t follows = next < f->pixels ? f->columns[next].first_ns : f->to_ns;
	uint64_t seen = (f->to_ns - f->from_ns) / GAP_PART, late = GAP_SPACES * space;

	if (next < f->pixels && follows - last <= (late > seen ? late : seen))
		return follows;
	return end < follows ? end : follows;
}

static size_t next_column(const struct flame_order *f, size_t from)
{
	while (from < f->pixels && !f->columns[from].seen)
		from++;
	return from;
}

void flame_order_finish(struct flame_order *f, const struct call_paths *c)
{
	uint64_t space = usual_space(f);
	struct open_boxes o = {};

	for (size_t pixel = next_column(f, 0); pixel < f->pixels;) {
		const struct order_column *column = &f->columns[pixel];
		size_t next = next_column(f, pixel + 1);

		draw(f, &o, c, column->node, column->first_ns, end_of(f, pixel, next, space));
		pixel = next;
	}
	vec_release(&o.nodes);
	vec_release(&o.boxes);
	vec_release(&o.path);
}
