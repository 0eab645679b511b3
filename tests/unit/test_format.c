/*
 * Formats of tracepoints: texts as the kernel writes them with the lines that perf prints, every
 * conversion and macro on made-up data, and what broken texts and short data do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/fs.h"
#include "event/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const struct tracepoint_abi ours = {.long_bytes = 8};

/* ---- texts of a real kernel ---- */

static const char sched_switch[] =
	"name: sched_switch\nID: 372\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s "
	"next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	"(REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - 1)) ? __print_flags(REC->prev_state & "
	"((((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "
	"0x00000020 | 0x00000040) + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, "
	"\"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { "
	"0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
	"REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | "
	"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", REC->next_comm, "
	"REC->next_pid, REC->next_prio\n";

static const char process_exec[] =
	"name: sched_process_exec\nID: 361\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, "
	"REC->old_pid\n";

static const char enter_openat[] =
	"name: sys_enter_openat\nID: 700\n" COMMON
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"dfd: 0x%08lx, filename: 0x%08lx\", ((unsigned long)(REC->dfd)), "
	"((unsigned long)(REC->filename))\n";

static const char run_stats[] =
	"name: jbd2_checkpoint_stats\nID: 900\n" COMMON
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:tid_t tid;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long chp_time;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"dev %d,%d chp_time %u\", ((unsigned int) ((REC->dev) >> 20)), "
	"((unsigned int) ((REC->dev) & ((1U << 20) - 1))), jiffies_to_msecs(REC->chp_time)\n";

static void check_line(const char *text, const void *raw, size_t size, const char *want)
{
	CLEANUP(buf_release) struct buf out = {};
	struct tracepoint_format f;
	struct err e = {};

	if (tracepoint_format_parse(&f, "test", text, strlen(text), ours, &e))
		fail_msg("%s", e.text);
	tracepoint_format_print(&f, raw, size, NULL, &out);
	assert_string_equal(buf_str(&out), want);
	tracepoint_format_release(&f);
}

static void real_switch(void **state)
{
	struct {
		uint64_t common;
		char prev_comm[16];
		int prev_pid, prev_prio;
		long prev_state;
		char next_comm[16];
		int next_pid, next_prio;
	} raw = {0, "perf", 15016, 120, 2, "migration/0", 18, 0};

	(void)state;
	check_line(sched_switch, &raw, sizeof(raw),
		   "prev_comm=perf prev_pid=15016 prev_prio=120 prev_state=D ==> "
		   "next_comm=migration/0 next_pid=18 next_prio=0");
	raw.prev_state = 0x100;
	raw.next_pid = -1;
	check_line(sched_switch, &raw, sizeof(raw),
		   "prev_comm=perf prev_pid=15016 prev_prio=120 prev_state=R+ ==> "
		   "next_comm=migration/0 next_pid=-1 next_prio=0");
	raw.prev_state = 0x81;
	memset(raw.prev_comm, 'x', sizeof(raw.prev_comm));
	check_line(sched_switch, &raw, sizeof(raw),
		   "prev_comm=xxxxxxxxxxxxxxxx prev_pid=15016 prev_prio=120 prev_state=S|I ==> "
		   "next_comm=migration/0 next_pid=-1 next_prio=0");
}

static void real_others(void **state)
{
	struct {
		uint64_t common;
		uint32_t filename;
		int pid, old_pid;
		char text[20];
	} exec = {0, 20 | 15 << 16, 15018, 15017, "/usr/bin/sleep"};
	const uint64_t openat[] = {0, 257, 0xffffff9c, 0x7f00deadbeef};
	const uint64_t stats[] = {0, 0x700800003, 77};

	(void)state;
	check_line(process_exec, &exec, sizeof(exec),
		   "filename=/usr/bin/sleep pid=15018 old_pid=15017");
	check_line(enter_openat, openat, sizeof(openat),
		   "dfd: 0xffffff9c, filename: 0x7f00deadbeef");
	/* Nobody but the kernel knows how long a jiffy is. */
	check_line(run_stats, stats, sizeof(stats),
		   "[FAILED TO PARSE] dev=8388611 tid=7 chp_time=0x4d");
}

/* ---- everything once ---- */

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

static char *sample_format(const char *print_fmt)
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

static const char *symbol(void *arg, uint64_t address, uint64_t *ret_offset)
{
	(void)arg;
	*ret_offset = 0x1c;
	return address == 0xffffffff81000000 ? "schedule" : NULL;
}

static const char *string(void *arg, uint64_t address)
{
	(void)arg;
	return address == 0xffffffff81000000 ? "Start context switch" : NULL;
}

struct line {
	const char *print_fmt, *want;
};

static void check_lines(const struct line *lines, size_t count)
{
	const struct format_context ctx = {.symbol = symbol, .string = string};

	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf out = {};
		char *text = sample_format(lines[i].print_fmt);
		struct tracepoint_format f;

		assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL),
				 0);
		if (!f.print)
			fail_msg("%s: %s", lines[i].print_fmt, f.problem);
		tracepoint_format_print(&f, &sample, sizeof(sample), &ctx, &out);
		if (strcmp(buf_str(&out), lines[i].want))
			fail_msg("%s: '%s', not '%s'", lines[i].print_fmt, buf_str(&out),
				 lines[i].want);
		tracepoint_format_release(&f);
		free(text);
	}
}

static void numbers(void **state)
{
	static const struct line lines[] = {
		{"\"%llu %llx %lx %x %d %hu %hhd\", REC->v, REC->v, REC->v, REC->v, REC->v, "
		 "REC->v, "
		 "REC->v",
		 "18364758544493064720 fedcba9876543210 fedcba9876543210 76543210 1985229328 12816 "
		 "16"},
		{"\"%d %u %ld %x %i %o\", REC->i, REC->i, (long)REC->i, REC->i, REC->sb, 8",
		 "-5 4294967291 -5 fffffffb -3 10"},
		{"\"%5d|%-5d|%05d|%+d|% d|%#x|%#o|%#x|%.5d|%8.3d\", REC->i, REC->i, REC->i, 5, 5, "
		 "REC->b, 8, 0, REC->b, REC->b",
		 "   -5|-5   |-0005|+5| 5|0xc8|010|0|00200|     200"},
		{"\"%08lx %016llx %#010x %X %#08x\", REC->v, REC->b, REC->b, REC->b, REC->b",
		 "fedcba9876543210 00000000000000c8 0x000000c8 C8 0x0000c8"},
		{"\"%*d|%-*d|%.*d|%0*x\", 4, 7, 4, 7, 3, 7, 4, 0xab", "   7|7   |007|00ab"},
		{"\"%zu %Lu %zd%%|%5%\", REC->v, REC->v, (long)REC->i",
		 "18364758544493064720 18364758544493064720 -5%|%"},
		{"\"%c%c|%3c\", 'A', 66, '\\x43'", "AB|  C"},
		{"\"plain\"", "plain"},
		{"\"more %d\", 1, 2", "more 1"},
	};

	(void)state;
	check_lines(lines, ARRAY_LEN(lines));
}

static void expressions(void **state)
{
	static const struct line lines[] = {
		{"\"%d %d %d %d\", 7 / 2, 7 % 4, -7 / 2, 1 - 2 - 3", "3 3 -3 -4"},
		{"\"%d %d %d %d\", 2 * 3 + 4, 4 + 2 * 3, 16 >> 2 >> 1, 1 << 2 + 1", "10 10 2 8"},
		{"\"%d %d %d\", REC->i < 0, (unsigned int)REC->i < 0, REC->i == -5", "1 0 1"},
		{"\"%d %d %d %d\", !REC->i, ~REC->b, -REC->b, 5 ^ 3 & 1 | 8", "0 -201 -200 12"},
		{"\"%d %d %d\", 5 && 0, 5 || 0, 3 >= 4 || 3 <= 4", "0 1 1"},
		{"\"%llu %d %d\", REC->v / 0, 7 % 0, (-2147483647 - 1) / -1", "0 0 -2147483648"},
		{"\"%lld %lld\", 0x7fffffff + 1, 0x7fffffffU + 1", "-2147483648 2147483648"},
		{"\"%llx %llx\", 1ULL << 63, ((( unsigned long)(1UL << 10)) | 1)",
		 "8000000000000000 401"},
		{"\"%d %d %d\", (s8)REC->b, (u8)REC->i, (bool)REC->b", "-56 251 1"},
		{"\"%d %d %d\", sizeof(u64), sizeof(REC->w), (int)sizeof(struct foo *)", "8 8 8"},
		{"\"%d %x %d\", REC->arr[3], REC->w[1], REC->w[7]", "4 aabbccdd 0"},
		{"\"%x %x\", ((u32 *)__get_dynamic_array(a))[1], *((u32 *)__get_dynamic_array(a))",
		 "ffffffff 1"},
		{"\"%d\", __get_dynamic_array_len(a) / sizeof(u32)", "3"},
		{"\"%s %s\", REC->i > 3 ? \"big\" : REC->i == -5 ? \"m5\" : \"small\", "
		 "__get_str(d)[0] ? REC->s : \"no\"",
		 "m5 hello"},
		{"\"%d\", __builtin_expect(!!(REC->v), 0) ? 3 : 4", "3"},
		{"\"%lld.%09lld\", __print_ns_to_secs(REC->p), __print_ns_without_secs(REC->p)",
		 "18446744071.578845184"},
		{"\"%d\", SOME_NAME", "0"},
		{"\"%llu\", (gfp_t)(REC->v)", "1985229328"},
	};

	(void)state;
	check_lines(lines, ARRAY_LEN(lines));
}

static void strings(void **state)
{
	static const struct line lines[] = {
		{"\"%s|%10s|%-10s|%.3s|%.*s|%*s|\", REC->s, REC->s, REC->s, REC->s, 2, REC->s, 8, "
		 "REC->s",
		 "hello|     hello|hello     |hel|he|   hello|"},
		{"\"%s %s %s\", __get_str(d), __get_rel_str(r), (char *)__get_dynamic_array(d)",
		 "dynam dynam dynam"},
		{"\"%s %s %s\", REC->p, REC->v, &REC->s[1]",
		 "Start context switch fedcba9876543210 ello"},
		{"\"cat\" \" two\\n\\t\\\\ \\\"q\\\" %s\", \"a%sb\" \"c\"",
		 "cat two\n\t\\ \"q\" a%sbc"},
		{"\"%.*s|%s\", 0, ((void *)0), ((void *)0)", "|(null)"},
		{"\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"}, {8, \"B\"}, {64, \"C\"})",
		 "B|C|0x80"},
		{"\"%s\", __print_flags(REC->b, \"\", { 8, \"B\" }, { 64, \"C\" }, { 128, \"D\" }, "
		 ")",
		 "BCD"},
		{"\"%s|%s\", __print_flags(0, \"|\", {1, \"A\"}), __print_flags(3, \"|\", {NAME, "
		 "\"A\"}, "
		 "{ 0, ((void *)0) })",
		 "|0x3"},
		{"\"%s %s %s\", __print_symbolic(REC->b, {1, \"A\"}, {200, \"Z\" \"Z\"}), "
		 "__print_symbolic(REC->i, {-5, \"M5\"}), __print_symbolic(REC->i, { })",
		 "ZZ M5 0xfffffffb"},
		{"\"%5s|%-5s|\", __print_symbolic(1, {1, \"A\"}), __print_flags(3, \"|\", {1, "
		 "\"A\"}, {2, "
		 "\"B\"})",
		 "    A|A|B  |"},
		{"\"%s\", __print_symbolic(3, {HI_SOFTIRQ, \"HI\"}, {NET_RX_SOFTIRQ, \"NET_RX\"})",
		 "NET_RX"},
		{"\"%s|%s|%s\", __print_hex(REC->arr, 5), __print_hex_str(REC->arr, 3), "
		 "__print_hex(REC->w, 99)",
		 "01 02 03 04 05|010203|44 33 22 11 dd cc bb aa"},
		{"\"%s|%s|%s\", __print_array(REC->arr, 3, 1), "
		 "__print_array(__get_dynamic_array(a), "
		 "__get_dynamic_array_len(a) / sizeof(u32), sizeof(u32)), __print_array(REC->arr, "
		 "3, 3)",
		 "1 2 3|1 4294967295 128|"},
		{"\"%s\", __print_dynamic_array(a, 4)", "1 4294967295 128"},
		{"\"%s %s\", __get_bitmask(m), __get_cpumask(m)",
		 "00000000,00000005,f0000000,0000000f 00000000,00000005,f0000000,0000000f"},
		{"\"%s %s\", __get_sockaddr(sa), __get_sockaddr(sa6)",
		 "127.0.0.1:8080 [fe80::7]:80"},
	};

	(void)state;
	check_lines(lines, ARRAY_LEN(lines));
}

static void pointers(void **state)
{
	static const struct line lines[] = {
		{"\"%p %p %px %pK|\", REC->p, 0, REC->p, REC->p",
		 "0xffffffff81000000 (nil) 0xffffffff81000000 0xffffffff81000000|"},
		{"\"%pS %ps %pF %pf %ps\", REC->p, REC->p, REC->p, REC->p, REC->v",
		 "schedule+0x1c schedule schedule+0x1c schedule 0xfedcba9876543210"},
		{"\"%pI4 %pi4 %pI4\", REC->ip, REC->ip, REC->arr",
		 "192.168.1.20 192.168.001.020 INVALIDIPv4"},
		{"\"%pI6c %pI6 %pi6 %pI6c\", REC->zip, REC->zip, REC->zip, REC->arr",
		 "2001:db8::1 2001:0db8:0000:0000:0000:0000:0000:0001 "
		 "20010db8000000000000000000000001 "
		 "102:304:506:708:90a:b0c:d0e:f10"},
		{"\"%pM %pMF %pMR %pm %pM\", REC->mac, REC->mac, REC->mac, REC->mac, REC->arr",
		 "02:42:ac:11:00:09 02-42-ac-11-00-09 09:00:11:ac:42:02 0242ac110009 INVALIDMAC"},
		{"\"%pU %pUl %pUB %pU\", REC->arr, REC->arr, REC->arr, REC->ip",
		 "01020304-0506-0708-090a-0b0c0d0e0f10 04030201-0605-0807-090a-0b0c0d0e0f10 "
		 "01020304-0506-0708-090A-0B0C0D0E0F10 INVALIDUUID"},
		{"\"%4ph %*phC %3phD %2phN\", REC->arr, 3, REC->arr, REC->arr, REC->arr",
		 "01 02 03 04 01:02:03 01-02-03 0102"},
		{"\"%*pbl %*pb\", 64, REC->arr, 12, REC->arr",
		 "0,9,16-17,26,32,34,41-42,48-50,59 201"},
		{"\"%pISpc %pIS\", __get_dynamic_array(sa), __get_dynamic_array(sa6)",
		 "127.0.0.1:8080 fe80::7"},
	};

	(void)state;
	check_lines(lines, ARRAY_LEN(lines));
}

/* ---- what cannot be evaluated ---- */

/* A line feed is printable to perf, which is why sa6 looks as it does. */
static void falls_back(void **state)
{
	static const char *const texts[] = {
		"\"%d\"",
		"\"%d %d\", 1",
		"\"%q\", 1",
		"\"%s\", kernel_function(REC->v)",
		"\"%d\", REC->nothing",
		"\"%s\", __get_str(nothing)",
		"\"%d\", ({ int x = 1; x; })",
		"\"%d\", (REC->v",
		"\"%d\", REC->v +",
		"\"%d\", 0x1g",
		"\"%d\", 99999999999999999999",
		"\"%d\", ''",
		"\"open, REC->v",
		"\"%d\", sizeof(struct unknown)",
		"\"%s\", __print_symbolic(REC->v",
		"\"%s\", __print_flags(REC->v)",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(buf_release) struct buf out = {};
		char *text = sample_format(texts[i]);
		struct tracepoint_format f;

		assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL),
				 0);
		if (f.print || !f.problem[0])
			fail_msg("%s was parsed", texts[i]);
		tracepoint_format_print(&f, &sample, sizeof(sample), NULL, &out);
		assert_string_equal(
			buf_str(&out),
			"[FAILED TO PARSE] v=18364758544493064720 i=-5 b=200 sb=-3 h=48879 s=hello "
			"d=dynam a=ARRAY[01, 00, 00, 00, ff, ff, ff, ff, 80, 00, 00, 00] "
			"arr=ARRAY[01, 02, 03, 04, 05, 06, 07, 08, 09, 0a, 0b, 0c, 0d, 0e, 0f, 10] "
			"p=0xffffffff81000000 r=dynam w=ARRAY[44, 33, 22, 11, dd, cc, bb, aa] "
			"m=ARRAY[0f, 00, 00, 00, 00, 00, 00, f0, 05, 00, 00, 00, 00, 00, 00, 00] "
			"sa=ARRAY[02, 00, 1f, 90, 7f, 00, 00, 01, 00, 00, 00, 00, 00, 00, 00, 00] "
			"sa6=\n mac=ARRAY[02, 42, ac, 11, 00, 09] "
			"ip=ARRAY[c0, a8, 01, 14] zip=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, "
			"00, 00, "
			"00, 00, 00, 00, 01]");
		tracepoint_format_release(&f);
		free(text);
	}
}

static void refuses(void **state)
{
	static const struct {
		const char *text;
		int code;
	} cases[] = {
		{"", EINVAL},
		{"ID: 3\n", EINVAL},
		{"name: x\n", EINVAL},
		{"name: x\nID: 70000\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:;\toffset:0;\tsize:4;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a];\toffset:0;\tsize:4;\n", EINVAL},
		{"name: x\nID: 3\n\tfield:int a;\toffset:99999999999;\tsize:4;\n", EINVAL},
	};
	struct tracepoint_format f;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		e = (struct err){};
		assert_int_equal(tracepoint_format_parse(&f, "t", cases[i].text,
							 strlen(cases[i].text), ours, &e),
				 -cases[i].code);
		assert_true(e.text[0]);
	}
	assert_int_equal(tracepoint_format_parse(&f, "t", "", FORMAT_TEXT_LIMIT + 1, ours, &e),
			 -EFBIG);
}

static void limits(void **state)
{
	struct buf deep = {}, chain = {}, fields = {};
	struct tracepoint_format f;
	struct err e = {};
	char *text;

	(void)state;
	buf_add(&deep, "\"%d\", ");
	buf_pad(&deep, 100000, '(');
	buf_add(&chain, "\"%d\", REC->v");
	for (int i = 0; i < 1000; i++)
		buf_add(&chain, " + REC->v");
	text = sample_format(buf_str(&deep));
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.problem, "print fmt is nested too deeply");
	tracepoint_format_release(&f);
	free(text);
	text = sample_format(buf_str(&chain));
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.problem, "print fmt is too large");
	tracepoint_format_release(&f);
	free(text);
	buf_add(&fields, "name: x\nID: 1\n");
	for (int i = 0; i <= FORMAT_FIELD_LIMIT; i++)
		buf_addf(&fields, "field:int f%d;offset:%d;size:4;signed:1;\n", i, 4 * i);
	assert_int_equal(tracepoint_format_parse(&f, "t", fields.s, fields.len, ours, &e), -E2BIG);
	buf_release(&deep);
	buf_release(&chain);
	buf_release(&fields);
}

/* Whatever is cut off is missing, and nothing else is touched; ASan watches. */
static void short_data(void **state)
{
	char *text = sample_format(
		"\"%d %s %s %s %pU %s %s %s %*pbl %pM %s\", REC->i, REC->s, __get_str(d), "
		"__get_rel_str(r), REC->arr, __print_hex(REC->arr, REC->v), __get_bitmask(m), "
		"__get_sockaddr(sa6), 99, REC->w, REC->mac, __print_array(__get_dynamic_array(a), "
		"9, 4)");
	struct tracepoint_format f;
	struct buf out = {};

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	assert_non_null(f.print);
	for (size_t size = 0; size <= sizeof(sample); size++) {
		void *raw = malloc(size ? size : 1);

		memcpy(raw, &sample, size);
		buf_clear(&out);
		tracepoint_format_print(&f, raw, size, NULL, &out);
		free(raw);
	}
	buf_clear(&out);
	tracepoint_format_print(&f, NULL, 0, NULL, &out);
	assert_string_equal(buf_str(&out), "0    INVALIDUUID     INVALIDMAC ");
	tracepoint_format_release(&f);
	free(text);
	text = sample_format("\"%999999999d %*s\", 1, 2000000000, \"x\"");
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text), ours, NULL), 0);
	buf_clear(&out);
	tracepoint_format_print(&f, &sample, sizeof(sample), NULL, &out);
	assert_int_equal(out.len, FORMAT_OUTPUT_LIMIT);
	tracepoint_format_release(&f);
	free(text);
	buf_release(&out);
}

/* ---- fields ---- */

static void fields(void **state)
{
	char *text = sample_format("\"\"");
	const struct tracepoint_field *field;
	struct tracepoint_format f;
	uint64_t v = 0;
	size_t len;

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "sys", text, strlen(text), ours, NULL), 0);
	assert_string_equal(f.system, "sys");
	assert_string_equal(f.name, "all");
	assert_int_equal(f.id, 1);
	assert_int_equal(f.common_count, 4);
	assert_int_equal(f.fields.len, 4 + ARRAY_LEN(sample_fields));
	assert_null(tracepoint_format_field(&f, "nothing"));
	field = tracepoint_format_field(&f, "w");
	assert_string_equal(field->type, "u32");
	assert_true(field->is_array && field->array_len == 2 && field->unit_bytes == 4);
	field = tracepoint_format_field(&f, "m");
	assert_true(field->place == FIELD_DATA_LOC && field->is_array && field->unit_bytes == 8);
	field = tracepoint_format_field(&f, "p");
	assert_true(field->is_pointer && !field->is_array);
	field = tracepoint_format_field(&f, "sb");
	assert_true(tracepoint_field_value(&f, field, &sample, sizeof(sample), &v));
	assert_true(v == (uint64_t)-3);
	assert_false(tracepoint_field_value(&f, field, &sample, field->offset, &v));
	field = tracepoint_format_field(&f, "r");
	assert_ptr_equal(tracepoint_field_text(&f, field, &sample, sizeof(sample), &len),
			 sample.dynamic);
	assert_int_equal(len, 5);
	assert_null(tracepoint_field_text(&f, field, &sample, AT(dynamic) + 5, &len));
	tracepoint_format_release(&f);
	free(text);
}

static void foreign_order(void **state)
{
	static const char text[] = "name: x\nID: 3\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n"
				   "\tfield:__data_loc char[] s;\toffset:4;\tsize:4;\tsigned:0;\n"
				   "\tfield:unsigned long l;\toffset:8;\tsize:4;\tsigned:0;\n\n"
				   "print fmt: \"%d %s %lx %d\", REC->a, __get_str(s), "
				   "(unsigned long)-1, sizeof(long)\n";
	static const unsigned char raw[] = {0xff, 0xff, 0xff, 0xfe, 0,   3,   0, 12,
					    0,    0,    0,    1,    'a', 'b', 0};
	uint16_t one = 1;
	bool is_little = *(unsigned char *)&one == 1;
	struct tracepoint_format f;
	struct buf out = {};

	(void)state;
	assert_int_equal(tracepoint_format_parse(&f, "t", text, strlen(text),
						 (struct tracepoint_abi){is_little, 4}, NULL),
			 0);
	tracepoint_format_print(&f, raw, sizeof(raw), NULL, &out);
	assert_string_equal(buf_str(&out), "-2 ab ffffffff 4");
	tracepoint_format_release(&f);
	buf_release(&out);
}

/* ---- this kernel ---- */

static size_t check_system(const char *dir, const char *system, size_t *fallbacks)
{
	strvec names = {};
	size_t count = 0;
	char *path = xasprintf("%s/%s", dir, system);

	fs_list(path, &names);
	vec_each(&names, name) {
		char *file = xasprintf("%s/%s/format", path, *name), *text = NULL;
		struct tracepoint_format f;
		struct err e = {};

		if (!fs_read(file, FORMAT_TEXT_LIMIT, &text)) {
			if (tracepoint_format_parse(&f, system, text, strlen(text), ours, &e))
				fail_msg("%s: %s", file, e.text);
			assert_string_equal(f.name, *name);
			*fallbacks += !f.print;
			count++;
			tracepoint_format_release(&f);
		}
		free(text);
		free(file);
	}
	strvec_release(&names);
	free(path);
	return count;
}

static void this_kernel(void **state)
{
	static const char dir[] = "/sys/kernel/tracing/events";
	size_t count = 0, fallbacks = 0;
	strvec systems = {};

	(void)state;
	fs_list(dir, &systems);
	vec_each(&systems, system)
		count += check_system(dir, *system, &fallbacks);
	strvec_release(&systems);
	if (!count) {
		print_message("# SKIP tracefs cannot be read\n");
		skip();
	}
	print_message("# %zu formats, %zu of them without a print fmt that can be evaluated\n",
		      count, fallbacks);
	/* One in a hundred calls functions of the kernel. */
	assert_true(fallbacks * 100 <= count + 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_switch), cmocka_unit_test(real_others),
		cmocka_unit_test(numbers),     cmocka_unit_test(expressions),
		cmocka_unit_test(strings),     cmocka_unit_test(pointers),
		cmocka_unit_test(falls_back),  cmocka_unit_test(refuses),
		cmocka_unit_test(limits),      cmocka_unit_test(short_data),
		cmocka_unit_test(fields),      cmocka_unit_test(foreign_order),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
