#include "measure/significance.h"

#include <math.h>

/* Enough for a narrow interval (t is 2.09), few enough that a slice is longer than most rhythms. */
#define SLICES_MAX 20u
/* Minimum readings in a slice. One on the border of two slices counts in both: with fewer readings
 * both slices would be alike. */
#define READINGS_A_SLICE 2u

/* Variance of the mean. */
static double mean_variance(const struct stats *s)
{
	return s->m2 / (double)(s->n - 1) / (double)s->n;
}

/*
 * Degrees of freedom by Welch and Satterthwaite. Only the share of one side in the variance
 * matters, so that squares of large or small variances are not needed.
 */
static double freedom(const struct stats *before, const struct stats *after)
{
	double b = mean_variance(before), a = mean_variance(after), share = b / (b + a);

	return 1 / (share * share / (double)(before->n - 1) +
		    (1 - share) * (1 - share) / (double)(after->n - 1));
}

static enum significance_verdict verdict_of(double low, double high)
{
	if (isnan(low) || isnan(high))
		return SIGNIFICANCE_UNKNOWN;
	if (low > 0)
		return SIGNIFICANCE_MORE;
	return high < 0 ? SIGNIFICANCE_LESS : SIGNIFICANCE_UNCLEAR;
}

void significance_compare(const struct stats *before, const struct stats *after,
			  struct significance *ret)
{
	double variance, half = 0;

	*ret = (struct significance){stats_mean(after) - stats_mean(before), NAN, NAN,
				     SIGNIFICANCE_UNKNOWN};
	if (before->n < 2 || after->n < 2)
		return;
	variance = mean_variance(before) + mean_variance(after);
	if (variance > 0)
		half = student_t_quantile((1 + SIGNIFICANCE_CONFIDENCE) / 2,
					  freedom(before, after)) *
		       sqrt(variance);
	ret->low = ret->difference - half;
	ret->high = ret->difference + half;
	ret->verdict = verdict_of(ret->low, ret->high);
}

const char *significance_name(enum significance_verdict verdict)
{
	static const char *const names[] = {
		[SIGNIFICANCE_UNKNOWN] = "unknown",
		[SIGNIFICANCE_UNCLEAR] = "unclear",
		[SIGNIFICANCE_MORE] = "more",
		[SIGNIFICANCE_LESS] = "less",
	};

	return names[verdict];
}

unsigned significance_slices(uint64_t readings)
{
	if (readings < 2 * READINGS_A_SLICE)
		return readings < 2 ? (unsigned)readings : 2;
	return readings < (uint64_t)SLICES_MAX * READINGS_A_SLICE
		       ? (unsigned)(readings / READINGS_A_SLICE)
		       : SLICES_MAX;
}
