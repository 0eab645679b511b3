/* Metric formulas: parse, list the names, fold, evaluate. */
#include "measure/expr.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t hash_of(enum expr_use use, const char *name)
{
	uint32_t h = 2166136261u + (uint32_t)use;

	while (*name)
		h = (h ^ (unsigned char)*name++) * 16777619u;
	return h ^ h >> 15;
}

/* The same answer for the same name, among them the values that break arithmetic. */
static double lookup_all(void *arg, enum expr_use use, const char *name, bool *ret_known)
{
	static const double odd[] = {0, -0.0, 1, -1, 0.5, 1e308, -1e308, 5e-324, NAN, INFINITY};
	uint32_t h = hash_of(use, name);

	(void)arg;
	*ret_known = true;
	return h % 4 ? (double)(h >> 8) : odd[(h >> 8) % ARRAY_LEN(odd)];
}

static double lookup_some(void *arg, enum expr_use use, const char *name, bool *ret_known)
{
	double value = lookup_all(arg, use, name, ret_known);

	*ret_known = hash_of(use, name) >> 31;
	return value;
}

static void count_name(void *arg, enum expr_use use, const char *name)
{
	if (use > EXPR_CPUID || !*name)
		abort();
	++*(size_t *)arg;
}

static void check(struct expr *x)
{
	size_t before = 0, after = 0;
	double plain = 0, folded = 0;
	struct err e = {};

	expr_names(x, count_name, &before);
	if (expr_eval(x, lookup_all, NULL, &plain, &e) || isinf(plain))
		abort();
	if (expr_eval(x, lookup_some, NULL, &folded, &e) && (e.code == 0 || !e.text[0]))
		abort();
	/* What is known early must not change the result. */
	expr_fold(x, lookup_some, NULL);
	expr_names(x, count_name, &after);
	if (after > before || expr_eval(x, lookup_all, NULL, &folded, &e))
		abort();
	if (plain != folded && !(isnan(plain) && isnan(folded)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct expr *x;
	struct err e = {};

	if (!text)
		return 0;
	/* An allocation of its own, so that a read past the end is seen. */
	memcpy(text, data, size);
	text[size] = '\0';
	if (!expr_parse(text, &x, &e)) {
		check(x);
		expr_free(x);
	} else if (e.code == 0 || !e.text[0]) {
		abort();
	}
	free(text);
	return 0;
}
