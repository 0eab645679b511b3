#include "analyze/plot/heat.h"

void heat_spread(struct heat *h, uint64_t from_ns, uint64_t to_ns, double value)
{
	double row_ns = (double)NS_PER_SEC / h->rows;
	uint64_t base = h->start_ns + h->first_s * NS_PER_SEC;
	double from = from_ns > base ? (double)(from_ns - base) : 0;
	double to = to_ns > base ? (double)(to_ns - base) : 0;
	double length = to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
	size_t cells = (size_t)h->seconds * h->rows;

	for (size_t i = (size_t)(from / row_ns); i < cells && length > 0; i++) {
		double left = (double)i * row_ns, right = left + row_ns;
		double a = from > left ? from : left, b = to < right ? to : right;

		if (left >= to)
			break;
		if (a < b)
			h->cells[i] += value * (b - a) / length;
	}
}

void heat_add_counts(struct heat *h, const struct count_columns *rows, size_t from, size_t to,
		     uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = from; i < to && i < rows->rows; i++) {
		uint64_t end = rows->time_ns[i], begin = end - rows->duration_ns[i];
		uint64_t a = begin > from_ns ? begin : from_ns, b = end < to_ns ? end : to_ns;

		if (a < b)
			heat_spread(h, a, b,
				    (double)rows->value[i] * (double)(b - a) /
					    (double)rows->duration_ns[i]);
	}
}

double heat_max(const struct heat *h)
{
	double max = 0;

	for (size_t i = 0; i < (size_t)h->seconds * h->rows; i++)
		max = h->cells[i] > max ? h->cells[i] : max;
	return max;
}
