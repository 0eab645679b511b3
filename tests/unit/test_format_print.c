/*
 * Lines of tracepoints: texts as the kernel writes them with what perf prints, and every conversion,
 * operator and macro on made-up data.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/format/format.h"
#include "format_sample.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_switch), cmocka_unit_test(real_others),
		cmocka_unit_test(numbers),     cmocka_unit_test(expressions),
		cmocka_unit_test(strings),     cmocka_unit_test(pointers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
