/* For the tests of tracepoint formats: a format with a field of every kind, and data for it. */
#ifndef TACHO_TESTS_FORMAT_SAMPLE_H
#define TACHO_TESTS_FORMAT_SAMPLE_H

#include "event/format/format.h"

#include <stdio.h>
#include <string.h>

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct tracepoint_abi ours = {.long_bytes = 8};

struct __attribute__((packed)) sample {
	uint64_t common;
	uint64_t v;
	int32_t i;
	uint8_t b;
	int8_t sb;
	uint16_t h;
	char s[16];
	uint32_t d, a;
	uint8_t arr[16];
	uint64_t p;
	uint32_t r;
	uint32_t w[2];
	uint32_t m, sa, sa6;
	uint8_t mac[6];
	uint8_t ip[4];
	uint8_t zip[16];
	uint16_t end;
	char dynamic[8];
	uint32_t dynamic_a[3];
	uint32_t mask[4];
	uint8_t in[16], in6[28];
};

#define AT(member)        (uint32_t) offsetof(struct sample, member)
#define LOC(member, size) (AT(member) | (uint32_t)(size) << 16)

static const struct sample sample = {
	.v = 0xfedcba9876543210,
	.i = -5,
	.b = 200,
	.sb = -3,
	.h = 0xbeef,
	.s = "hello",
	.d = LOC(dynamic, 6),
	.a = LOC(dynamic_a, 12),
	.arr = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
	.p = 0xffffffff81000000,
	.r = (AT(dynamic) - AT(r) - 4) | 6u << 16,
	.w = {0x11223344, 0xaabbccdd},
	.m = LOC(mask, 16),
	.sa = LOC(in, 16),
	.sa6 = LOC(in6, 28),
	.mac = {2, 0x42, 0xac, 0x11, 0, 9},
	.ip = {192, 168, 1, 20},
	.zip = {0x20, 1, 0xd, 0xb8, [15] = 1},
	.dynamic = "dynam",
	.dynamic_a = {1, 0xffffffff, 0x80},
	.mask = {0xf, 0xf0000000, 5, 0},
	.in = {2, 0, 0x1f, 0x90, 127, 0, 0, 1},
	.in6 = {10, 0, 0, 80, [8] = 0xfe, 0x80, [23] = 7},
};

static const struct {
	const char *declaration;
	uint32_t offset, size;
	bool is_signed;
} sample_fields[] = {
	{"u64 v", AT(v), 8, false},
	{"int i", AT(i), 4, true},
	{"u8 b", AT(b), 1, false},
	{"s8 sb", AT(sb), 1, true},
	{"u16 h", AT(h), 2, false},
	{"char s[16]", AT(s), 16, false},
	{"__data_loc char[] d", AT(d), 4, true},
	{"__data_loc u32[] a", AT(a), 4, false},
	{"u8 arr[16]", AT(arr), 16, false},
	{"const char * p", AT(p), 8, false},
	{"__rel_loc char[] r", AT(r), 4, true},
	{"u32 w[2]", AT(w), 8, false},
	{"__data_loc unsigned long[] m", AT(m), 4, false},
	{"__data_loc u8[] sa", AT(sa), 4, false},
	{"__data_loc u8[] sa6", AT(sa6), 4, false},
	{"u8 mac[6]", AT(mac), 6, false},
	{"__u8 ip[4]", AT(ip), 4, false},
	{"__u8 zip[16]", AT(zip), 16, false},
};

static inline char *sample_format(const char *print_fmt)
{
	struct buf b = {};

	buf_add(&b, "name: all\nID: 1\n" COMMON);
	for (size_t i = 0; i < ARRAY_LEN(sample_fields); i++)
		buf_addf(&b, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			 sample_fields[i].declaration, sample_fields[i].offset,
			 sample_fields[i].size, sample_fields[i].is_signed);
	buf_addf(&b, "\nprint fmt: %s\n", print_fmt);
	return buf_steal(&b);
}

#endif
