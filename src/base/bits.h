/* The 64 bits of a double as an integer and back: columns of tables keep every value as a uint64_t. */
#ifndef TACHO_BASE_BITS_H
#define TACHO_BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double double_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif
