#include "base/number.h"
#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_NS_MAX 9000000000000000000ull /* 285 years */

bool parse_i64(const char *s, long long *ret_value)
{
	char *end;
	long long v;

	if (!*s || isspace((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end)
		return false;
	*ret_value = v;
	return true;
}

bool parse_u64(const char *s, uint64_t *ret_value)
{
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || *end)
		return false;
	*ret_value = v;
	return true;
}

bool parse_hex(const char *s, size_t len, uint64_t *ret_value)
{
	uint64_t v = 0;

	if (!len || len > 16)
		return false;
	for (size_t i = 0; i < len; i++) {
		int c = tolower((unsigned char)s[i]);

		if (!isxdigit(c))
			return false;
		v = v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret_value = v;
	return true;
}

bool parse_double(const char *s, double *ret_value)
{
	char *end;
	double v;

	if (!*s || isspace((unsigned char)*s))
		return false;
	errno = 0;
	v = strtod(s, &end);
	if (*end || !isfinite(v))
		return false;
	*ret_value = v;
	return true;
}

bool parse_cpulist(const char *s, int limit, int **ret_cpus, size_t *ret_count)
{
	unsigned char *seen = xcalloc((size_t)limit, 1);
	int *cpus, highest = -1;
	size_t count = 0;
	bool ok = true;

	while (*s && ok) {
		char *end;
		long first, last;

		first = last = strtol(s, &end, 10);
		ok = end != s && isdigit((unsigned char)*s);
		if (ok && *end == '-') {
			s = end + 1;
			last = strtol(s, &end, 10);
			ok = end != s && isdigit((unsigned char)*s);
		}
		ok = ok && first >= 0 && first <= last && last < limit;
		for (long i = first; ok && i <= last; i++) {
			count += !seen[i];
			seen[i] = 1;
			highest = i > highest ? (int)i : highest;
		}
		ok = ok && (*end == '\0' || (*end == ',' && end[1]));
		s = *end == ',' ? end + 1 : end;
	}
	if (ok) {
		cpus = xcalloc(count, sizeof(*cpus));
		count = 0;
		for (int i = 0; i <= highest; i++)
			if (seen[i])
				cpus[count++] = i;
		*ret_cpus = cpus;
		*ret_count = count;
	}
	free(seen);
	return ok;
}

bool parse_bytes(const char *s, uint64_t bare, uint64_t *ret_bytes)
{
	static const char suffixes[] = "BKMGT";
	size_t len = strlen(s);
	const char *suffix = len > 1 ? strchr(suffixes, toupper((unsigned char)s[len - 1])) : NULL;
	uint64_t number, unit = suffix ? 1ull << (10 * (suffix - suffixes)) : bare;
	char digits[24];

	len -= suffix != NULL;
	if (!len || len >= sizeof(digits))
		return false;
	memcpy(digits, s, len);
	digits[len] = '\0';
	if (!parse_u64(digits, &number) || (unit && number > UINT64_MAX / unit))
		return false;
	*ret_bytes = number * unit;
	return true;
}

bool parse_time_ns(const char *text, uint64_t *ret)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	size_t len = strspn(text, "0123456789.");
	char number[64];
	double value, unit = 0;

	/* Exact beyond 2^53, which a run of a hundred days reaches. */
	if (!text[len])
		return text[0] >= '0' && text[0] <= '9' && parse_u64(text, ret) &&
		       *ret <= TIME_NS_MAX;
	if (!len || len >= sizeof(number))
		return false;
	memcpy(number, text, len);
	number[len] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (!strcmp(text + len, units[i].name))
			unit = units[i].ns;
	if (!unit || !parse_double(number, &value) || value * unit > TIME_NS_MAX)
		return false;
	*ret = (uint64_t)llround(value * unit);
	return true;
}
