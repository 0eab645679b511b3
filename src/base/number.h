/* Numbers from text, strict: the whole string must be the number, and it must fit. */
#ifndef TACHO_BASE_NUMBER_H
#define TACHO_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool parse_i64(const char *s, long long *ret_value);
bool parse_u64(const char *s, uint64_t *ret_value); /* decimal, 0x…, octal */
bool parse_hex(const char *s, size_t len, uint64_t *ret_value);
bool parse_double(const char *s, double *ret_value); /* finite only */

/* A size, "64K", "2M" or "1G"; a bare number is in units of @bare bytes. */
bool parse_bytes(const char *s, uint64_t bare, uint64_t *ret_bytes);

/* A time: "1500000" or "1500000ns", "1500us", "1.5ms", "0.0015s", "2m", "1h". */
bool parse_time_ns(const char *text, uint64_t *ret_ns);

/* A list as in sysfs, "0-3,8": sorted numbers without doubles. False if malformed, or if a number
 * is @limit or more. The caller frees *ret_cpus. */
bool parse_cpulist(const char *s, int limit, int **ret_cpus, size_t *ret_count);

/* No CPU number of a machine reaches this. */
#define CPU_LIMIT 65536

#endif
