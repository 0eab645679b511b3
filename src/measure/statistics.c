#include "measure/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Welford's method: no sum of squares, which would lose every digit of large close counts. */
void stats_add(struct stats *s, double value)
{
	double delta = value - s->mean;

	if (!isfinite(value))
		return;
	s->min = !s->n || value < s->min ? value : s->min;
	s->max = !s->n || value > s->max ? value : s->max;
	s->n++;
	s->mean += delta / (double)s->n;
	s->m2 += delta * (value - s->mean);
}

double stats_mean(const struct stats *s)
{
	return s->n ? s->mean : NAN;
}

double stats_stddev(const struct stats *s)
{
	return s->n < 2 ? NAN : sqrt(s->m2 / (double)(s->n - 1));
}

static double stderr_of_mean(const struct stats *s)
{
	return stats_stddev(s) / sqrt((double)s->n);
}

double stats_stderr_pct(const struct stats *s)
{
	double error = stderr_of_mean(s);

	if (s->mean == 0)
		return error == 0 ? 0 : NAN;
	return 100 * error / fabs(s->mean);
}

double stats_ci95(const struct stats *s)
{
	if (s->n < 2)
		return NAN;
	return student_t_quantile(0.975, (double)(s->n - 1)) * stderr_of_mean(s);
}

/*
 * The continued fraction of the incomplete beta function by the modified method of Lentz. It
 * converges quickly for x < (a + 1) / (a + b + 2), in about sqrt(max(a, b)) steps.
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + even / c;
		c = fabs(c) < tiny ? tiny : c;
		f *= c * d;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = 1 + odd / c;
		c = fabs(c) < tiny ? tiny : c;
		step = c * d;
		f *= step;
		if (fabs(step - 1) < 1e-16)
			break;
	}
	return f;
}

/* Logarithm of the gamma function without the global sign that lgamma() writes. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Regularised incomplete beta function; @y is 1 - x, a parameter so that it keeps its precision. */
static double beta_inc(double a, double b, double x, double y)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

/* Above this, log_gamma() loses digits and the normal distribution is as good. */
#define DF_LARGE 1e5
/* Above this, the square would overflow. */
#define T_MAX 1e150

double student_t_tail(double t, double df)
{
	double sum = df + t * t, tail;

	if (!(df > 0) || isnan(t))
		return NAN;
	if (fabs(t) > T_MAX)
		return t < 0;
	if (df > DF_LARGE)
		return erfc(t * (1 - 1 / (4 * df)) / sqrt(2 + t * t / df)) / 2;
	tail = beta_inc(df / 2, 0.5, df / sum, t * t / sum) / 2;
	return t < 0 ? 1 - tail : tail;
}

double student_t_quantile(double p, double df)
{
	double low = 0, high = 1, tail = p < 0.5 ? p : 1 - p;

	if (!(df > 0) || !(p > 0 && p < 1))
		return NAN;
	if (p == 0.5)
		return 0;
	while (student_t_tail(high, df) > tail && high < T_MAX) {
		low = high;
		high *= 2;
	}
	/* Bisection, to the last digit: it needs no derivative and cannot leave the interval. */
	for (int i = 0; i < 200; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (student_t_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return p < 0.5 ? -high : high;
}

static int compare_values(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	if (isnan(x) || isnan(y))
		return (isnan(x) != 0) - (isnan(y) != 0);
	return (x > y) - (x < y);
}

size_t values_sort(double *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), compare_values);
	while (n && isnan(values[n - 1]))
		n--;
	return n;
}

/* Interpolates between two neighbours, without overflow; exact if they are equal. */
static double between(double a, double b, double share)
{
	return a == b || share == 0 ? a : a * (1 - share) + b * share;
}

double values_percentile(const double *sorted, size_t n, double pct)
{
	double rank;
	size_t i;

	if (!n || isnan(pct))
		return NAN;
	rank = fmin(fmax(pct, 0), 100) / 100 * (double)(n - 1);
	i = (size_t)rank;
	if (i + 1 >= n)
		return sorted[n - 1];
	return between(sorted[i], sorted[i + 1], rank - (double)i);
}

double values_median(const double *sorted, size_t n)
{
	return values_percentile(sorted, n, 50);
}

/*
 * The distances from the median fall up to the median and rise after it: merging both sides from
 * the middle gives them in order, without a second array.
 */
double values_mad(const double *sorted, size_t n)
{
	double median = values_median(sorted, n), last = NAN, distance = NAN;
	size_t left = n / 2, right = n / 2;

	for (size_t i = 0; i <= n / 2 && n; i++) {
		double down = left ? median - sorted[left - 1] : INFINITY;
		double up = right < n ? sorted[right] - median : INFINITY;
		bool take_left = left && (down <= up || right == n);

		last = distance;
		distance = take_left ? down : up;
		if (take_left)
			left--;
		else
			right++;
	}
	return n % 2 ? distance : between(last, distance, 0.5);
}
