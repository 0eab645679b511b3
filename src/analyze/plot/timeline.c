#include "analyze/plot/timeline.h"

#include <math.h>

#define NS_A_SECOND    1e9
#define BLOCKS_A_PIXEL 2 /* at least, to use blocks: rows are exact, but may be half a million */

void timeline_init(struct timeline *t, uint64_t from_ns, uint64_t to_ns, uint32_t pixels)
{
	*t = (struct timeline){.from_ns = from_ns, .to_ns = to_ns, .pixels = pixels};
	t->pixel_ns = (double)(to_ns - from_ns) / pixels;
	t->min = xcalloc(pixels, sizeof(*t->min));
	t->max = xcalloc(pixels, sizeof(*t->max));
	t->mean = xcalloc(pixels, sizeof(*t->mean));
	t->sum = xcalloc(pixels, sizeof(*t->sum));
	t->duration_ns = xcalloc(pixels, sizeof(*t->duration_ns));
	t->running_ppm = xcalloc(pixels, sizeof(*t->running_ppm));
	for (uint32_t i = 0; i < pixels; i++)
		t->min[i] = INFINITY;
}

void timeline_release(struct timeline *t)
{
	free(t->min);
	free(t->max);
	free(t->mean);
	free(t->sum);
	free(t->duration_ns);
	free(t->running_ppm);
	*t = (struct timeline){};
}

/* A time interval with counts, which are spread evenly over the pixels it touches. */
struct stretch {
	double from, to; /* ns after the start of the window */
	double sum, min_rate, max_rate;
	double counted; /* part of the interval that was counted */
	uint32_t least_ppm;
};

static inline void add_to_pixel(struct timeline *t, uint32_t pixel, const struct stretch *s,
				double part)
{
	t->sum[pixel] += s->sum * part;
	t->duration_ns[pixel] += (s->to - s->from) * s->counted * part;
	if (s->min_rate < t->min[pixel])
		t->min[pixel] = s->min_rate;
	if (s->max_rate > t->max[pixel])
		t->max[pixel] = s->max_rate;
	/* Until timeline_finish(), holds the missing part, so that 0 means "nothing yet". */
	if (1000000 - s->least_ppm > t->running_ppm[pixel])
		t->running_ppm[pixel] = 1000000 - s->least_ppm;
}

static void spread(struct timeline *t, const struct stretch *s)
{
	double length = s->to - s->from, end = t->pixels * t->pixel_ns;
	double from = s->from > 0 ? s->from : 0, to = s->to < end ? s->to : end;
	uint32_t pixel, last;

	if (!(from < to))
		return;
	pixel = (uint32_t)(from / t->pixel_ns);
	last = (uint32_t)(to / t->pixel_ns);
	if (last >= t->pixels)
		last = t->pixels - 1;
	if (pixel >= last) {
		add_to_pixel(t, last, s, (to - from) / length);
		return;
	}
	for (; pixel <= last; pixel++) {
		double left = pixel * t->pixel_ns, right = left + t->pixel_ns;
		double a = from > left ? from : left, b = to < right ? to : right;

		if (a < b)
			add_to_pixel(t, pixel, s, (b - a) / length);
	}
}

/* Most stretches lie in one pixel, and there may be half a million of them. */
static inline void add_stretch(struct timeline *t, const struct stretch *s, double pixels_a_ns)
{
	double place = s->from * pixels_a_ns;
	uint32_t pixel = place >= 0 && place < t->pixels ? (uint32_t)place : UINT32_MAX;

	if (pixel < t->pixels && s->to <= (pixel + 1) * t->pixel_ns)
		add_to_pixel(t, pixel, s, 1);
	else
		spread(t, s);
}

static double after(const struct timeline *t, uint64_t ns)
{
	return ns >= t->from_ns ? (double)(ns - t->from_ns) : -(double)(t->from_ns - ns);
}

bool timeline_takes_block(const struct timeline *t, const struct count_block *b)
{
	/*
	 * A block cut by the window would add counts from outside. A block on the border of two
	 * pixels is spread over both, so it must be too short for that to be visible.
	 */
	return b->first_ns >= t->from_ns && b->last_ns <= t->to_ns &&
	       (double)(b->last_ns - b->first_ns) * BLOCKS_A_PIXEL <= t->pixel_ns;
}

void timeline_add_block(struct timeline *t, const struct count_block *b)
{
	double length = (double)(b->last_ns - b->first_ns);
	double counted = (double)b->duration_ns / length;
	struct stretch s = {after(t, b->first_ns), after(t, b->last_ns), (double)b->sum,
			    b->min_rate,           b->max_rate,          counted < 1 ? counted : 1,
			    b->least_ppm};

	if (b->last_ns > b->first_ns)
		add_stretch(t, &s, 1 / t->pixel_ns);
}

void timeline_add_rows(struct timeline *t, const struct count_columns *c, size_t from, size_t to)
{
	double pixels_a_ns = 1 / t->pixel_ns, limit = t->pixels * t->pixel_ns;

	for (size_t i = from; i < to && i < c->rows; i++) {
		double end = after(t, c->time_ns[i]), length = (double)c->duration_ns[i];
		double begin = end - length, value = (double)c->value[i];
		struct stretch s = {begin, end, value, 0, 0, 1, c->running_ppm[i]};

		if (length <= 0 || end <= 0 || begin >= limit)
			continue;
		s.min_rate = s.max_rate = value / length * NS_A_SECOND;
		add_stretch(t, &s, pixels_a_ns);
	}
}

void timeline_finish(struct timeline *t)
{
	for (uint32_t i = 0; i < t->pixels; i++) {
		if (t->duration_ns[i] > 0) {
			t->mean[i] = t->sum[i] / t->duration_ns[i] * NS_A_SECOND;
			t->running_ppm[i] = 1000000 - t->running_ppm[i];
		} else {
			t->min[i] = t->max[i] = t->mean[i] = NAN;
			t->running_ppm[i] = 0;
		}
	}
}
