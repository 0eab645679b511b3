/* The event language, against pretended machines: what is opened, and where a mistake is marked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "event/parse/parse.h"
#include "event/pfm.h"
#include "support.h"

#include <ctype.h>
#include <pthread.h>

/* ---- one event as one line ---- */

static void describe_units(struct buf *b, const struct event *event)
{
	buf_addf(b, " %s", event->units.len ? "" : "-");
	vec_each(&event->units, unit)
		buf_addf(b, "%s%u%s%s", unit == event->units.items ? "" : "+", unit->type,
			 unit->pmu ? "@" : "", unit->pmu ? unit->pmu->name : "");
}

static void describe_flags(struct buf *b, const struct event *event)
{
	const struct perf_event_attr *a = &event->attr;
	const struct {
		bool on;
		const char *text;
	} flags[] = {{a->exclude_user, " -u"},    {a->exclude_kernel, " -k"},
		     {a->exclude_hv, " -h"},      {a->exclude_guest, " -guest"},
		     {a->exclude_host, " -host"}, {a->exclude_idle, " -idle"},
		     {a->pinned, " pinned"},      {a->exclusive, " exclusive"},
		     {event->sample_read, " S"},  {event->weak_group, " W"},
		     {event->precise_max, " P"}};

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (flags[i].on)
			buf_add(b, flags[i].text);
	if (a->precise_ip)
		buf_addf(b, " p%d", a->precise_ip);
}

/* "name type@pmu config… flags {group} scale unit !missing" */
static void describe(struct buf *b, const struct event *event)
{
	const struct perf_event_attr *a = &event->attr;

	buf_add(b, event->name);
	describe_units(b, event);
	buf_addf(b, " %#llx", (unsigned long long)a->config);
	if (a->bp_type)
		buf_addf(b, " bp%u", a->bp_type);
	if (a->config1 || a->config2)
		buf_addf(b, ",%#llx,%#llx", (unsigned long long)a->config1,
			 (unsigned long long)a->config2);
	if (a->sample_period)
		buf_addf(b, " %s%llu", a->freq ? "freq" : "period",
			 (unsigned long long)a->sample_period);
	describe_flags(b, event);
	if (event->calls_chosen)
		buf_addf(b, " calls%d", (int)event->calls);
	if (event->stack_bytes || event->max_stack)
		buf_addf(b, " stack%u/%u", event->stack_bytes, event->max_stack);
	if (event->inherit)
		buf_addf(b, " inherit%+d", event->inherit);
	if (event->group >= 0)
		buf_addf(b, " {%d}", event->group);
	if (event->unit_text || event->scale != 1)
		buf_addf(b, " *%.6g %s", event->scale, event->unit_text ? event->unit_text : "-");
	if (event->missing)
		buf_addf(b, " !%s", event->missing);
}

static struct catalog catalog;

static void enter(const char *tree)
{
	use_tree(tree);
	catalog_init(&catalog);
	assert_true(catalog.roots.foreign);
}

static void leave(void)
{
	catalog_release(&catalog);
}

static void assert_events(const char *text, const char *want)
{
	struct event_list list = {};
	struct buf b = {};
	struct err e = {};

	if (events_parse(&catalog, text, &list, &e))
		fail_msg("%s: %s", text, e.text);
	vec_each(&list.events, event) {
		assert_int_equal(event->attr.size, sizeof(event->attr));
		buf_add(&b, b.len ? "; " : "");
		describe(&b, event);
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	event_list_release(&list);
}

/* ---- mistakes ---- */

/* Column of the mark: the last line is the indent, as many spaces, and '^'. */
static size_t mark_column(const char *sentence)
{
	const char *last = strrchr(sentence, '\n');

	assert_non_null(last);
	assert_memory_equal(last, "\n  ", 3);
	assert_int_equal(strspn(last + 3, " ") + 1, strlen(last + 3));
	assert_int_equal(last[strlen(last) - 1], '^');
	return strlen(last) - 4;
}

static void refuse(const char *text, struct err *e)
{
	struct event_list list = {};

	*e = (struct err){};
	assert_int_equal(events_parse(&catalog, "cs", &list, e), 0);
	if (events_parse(&catalog, text, &list, e) != -EINVAL)
		fail_msg("'%s' was not refused", text);
	assert_int_equal(e->code, EINVAL);
	/* What was there before stays, and nothing else. */
	assert_int_equal(list.events.len, 1);
	assert_int_equal(list.group_count, 0);
	event_list_release(&list);
}

/* @marked has a '^' before the character that the mark must stand under. */
static void assert_wrong(const char *marked, const char *sentence)
{
	size_t at = strcspn(marked, "^");
	char *text = xasprintf("%.*s%s", (int)at, marked, marked + at + 1);
	struct err e;

	refuse(text, &e);
	if (!strstr(e.text, sentence))
		fail_msg("%s: '%s' does not say '%s'", text, e.text, sentence);
	if (mark_column(e.text) != at)
		fail_msg("%s: the mark stands at %zu, not %zu", text, mark_column(e.text), at);
	assert_non_null(strstr(e.text, text));
	free(text);
}

/* ---- forms ---- */

static void generic_events_of_amd(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("cycles", "cycles 0 0");
	assert_events("cpu-cycles", "cpu-cycles 0 0");
	assert_events("CYCLES", "CYCLES 0 0");
	assert_events("cycles:u", "cycles:u 0 0 -k -h");
	assert_events("instructions,branch-misses", "instructions 0 0x1; branch-misses 0 0x5");
	assert_events("cs,faults", "cs 1 0x3; faults 1 0x2");
	assert_events("task-clock", "task-clock 1 0x1 *1e-06 msec");
	assert_events("duration_time", "duration_time - 0 *1 ns");
	leave();
}

static void cache_events(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("L1-dcache-load-misses", "L1-dcache-load-misses 3 0x10000");
	assert_events("l1d-loads", "l1d-loads 3 0");
	assert_events("LLC-stores:k", "LLC-stores:k 3 0x102 -u -h");
	assert_events("dTLB-prefetch-misses", "dTLB-prefetch-misses 3 0x10203");
	assert_events("node-load-misses", "node-load-misses 3 0x10006");
	assert_events("L1-icache-load-misses", "L1-icache-load-misses 3 0x10001");
	assert_events("branch-loads", "branch-loads 3 0x5");
	assert_wrong("^L1-icache-store-misses", "unknown event 'L1-icache-store-misses'");
	assert_wrong("^L1-dcache-loud-misses", "did you mean 'L1-dcache-load-misses'");
	leave();
}

static void raw_events(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("r1a8", "r1a8 4 0x1a8");
	assert_events("r1A8:u", "r1A8:u 4 0x1a8 -k -h");
	assert_events("rffffffffffffffff", "rffffffffffffffff 4 0xffffffffffffffff");
	assert_wrong("^r10000000000000000", "unknown event");
	leave();
}

static void pmu_events(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("cpu/event=0xc0,umask=1,inv/", "cpu/event=0xc0,umask=1,inv/ 4@cpu 0x8001c0");
	assert_events("cpu/event=0xc0,cmask=0xff,edge=1/k",
		      "cpu/event=0xc0,cmask=0xff,edge=1/k 4@cpu 0xff0400c0 -u -h");
	/* The number of the event is split over bits 0-7 and 32-35. */
	assert_events("cpu/event=0xfff/", "cpu/event=0xfff/ 4@cpu 0xf000000ff");
	assert_events("cpu/ref-cycles/", "cpu/ref-cycles/ 4@cpu 0x100000120");
	assert_events("amd_df/event=0x3fff,umask=0xfff/",
		      "amd_df/event=0x3fff,umask=0xfff/ 12@amd_df 0x3f0f00ffff");
	assert_events("msr/tsc/", "msr/tsc/ 17@msr 0");
	assert_events("power/energy-pkg/", "power/energy-pkg/ 11@power 0x2 *2.32831e-10 Joules");
	assert_events("cpu/config=1,config1=2,config2=0x3,name=mine,period=100/",
		      "mine 4@cpu 0x1,0x2,0x3 period100");
	assert_events("cpu/event=1,freq=99/", "cpu/event=1,freq=99/ 4@cpu 0x1 freq99");
	assert_events("amd_umc/event=1/", "amd_umc/event=1/ 14@amd_umc_0+15@amd_umc_1 0x1");
	assert_events("amd_umc_1/event=1/", "amd_umc_1/event=1/ 15@amd_umc_1 0x1");
	assert_events("amd_*mc_?/event=1/", "amd_*mc_?/event=1/ 14@amd_umc_0+15@amd_umc_1 0x1");
	leave();
}

static void terms_of_any_event(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("cycles/period=1000,name=mine/u", "mine 0 0 period1000 -k -h");
	assert_events("cycles/period=0x10/:k", "cycles/period=0x10/:k 0 0 period16 -u -h");
	assert_events("cs/freq=9/,faults", "cs/freq=9/ 1 0x3 freq9; faults 1 0x2");
	/* They are one field: the last one counts. */
	assert_events("cs/freq=9,period=7/", "cs/freq=9,period=7/ 1 0x3 period7");
	assert_events("cs/period=7,freq=9/", "cs/period=7,freq=9/ 1 0x3 freq9");
	assert_events("faults//,cs//u", "faults// 1 0x2; cs//u 1 0x3 -k -h");
	assert_events("L1-dcache-loads/name=x/", "x 3 0");
	assert_events("r1a8/config1=2,name=x/", "x 4 0x1a8,0x2,0");
	assert_events("cs/config=2/", "cs/config=2/ 1 0x2");
	assert_events("{cs/name=a/,faults/name=b/}:u", "a 1 0x3 -k -h {0}; b 1 0x2 -k -h {0}");
	assert_events("cs/call-graph=dwarf,stack-size=509/",
		      "cs/call-graph=dwarf,stack-size=509/ 1 0x3 calls2 stack512/0");
	assert_events("cs/call-graph=no,max-stack=5,time=0,no-overwrite,name=x/",
		      "x 1 0x3 calls0 stack0/5");
	assert_events("cs/inherit,name=a/,cs/no-inherit,name=b/",
		      "a 1 0x3 inherit+1; b 1 0x3 inherit-1");
	assert_events("cpu/event=1,call-graph=fp,name=x/", "x 4@cpu 0x1 calls1");
	assert_events("duration_time/name=wall/", "wall - 0 *1 ns");
	assert_wrong("cs/^bogus/", "unknown term 'bogus' (there are name, period");
	assert_wrong("cs/^bogus=1/", "unknown term 'bogus'");
	assert_wrong("cs/period=^x/", "term 'period' needs a number");
	assert_wrong("cs/^period/", "term 'period' needs a number");
	assert_wrong("cs/time=^2/", "from 0 to 1");
	assert_wrong("cs/stack-size=^65529/", "from 8 to 65528");
	assert_wrong("cs/max-stack=^0/", "from 1 to 65535");
	assert_wrong("cs/call-graph=^up/", "use fp, dwarf, lbr or no");
	assert_wrong("cs/inherit=^1/", "takes no value");
	assert_wrong("cs/^percore/", "--per-core");
	assert_wrong("cs/name=^/", "the name is missing");
	assert_wrong("cs/name=a,^/", "a term is missing");
	assert_wrong("cs/^,name=a/", "a term is missing");
	assert_wrong("cs/name=a/^q", "'q' is not a modifier");
	assert_wrong("cs^/name=a", "the closing '/' after the terms is missing");
	assert_wrong("duration_time/^period=1/", "takes only the term name");
	assert_wrong("^cycels/period=1/", "did you mean 'cycles'");
	leave();
	enter("hybrid-intel");
	assert_events("cycles/period=5/u", "cpu_atom/cycles,period=5/u 0@cpu_atom 0xa00000000 "
					   "period5 -k -h; cpu_core/cycles,period=5/u 0@cpu_core "
					   "0x400000000 period5 -k -h");
	assert_events("cycles/config=1,name=x/", "x 0@cpu_atom 0xa00000001; x 0@cpu_core "
						 "0x400000001");
	assert_null(catalog_no_pmu(&catalog));
	leave();
}

static void modes_of_all_events(void **state)
{
	struct event_list list = {};
	struct err e = {};

	(void)state;
	enter("amd-zen4");
	assert_int_equal(events_parse(&catalog, "cs,cycles:u,faults:p,duration_time", &list, &e),
			 0);
	assert_int_equal(events_limit_modes(&list, false, false, &e), 0);
	assert_int_equal(list.events.items[0].attr.exclude_kernel, 0);
	assert_int_equal(events_limit_modes(&list, true, true, &e), -EINVAL);
	assert_int_equal(events_limit_modes(&list, true, false, &e), 0);
	for (size_t i = 0; i < 3; i++) {
		const struct perf_event_attr *a = &list.events.items[i].attr;

		assert_true(!a->exclude_user && a->exclude_kernel && a->exclude_hv);
	}
	assert_int_equal(events_limit_modes(&list, false, true, &e), -EINVAL);
	event_list_release(&list);
	leave();
}

static void clock_instead_of_cycles(void **state)
{
	struct event_list list = {};
	struct buf b = {};
	struct err e = {};

	(void)state;
	enter("vm-no-pmu");
	assert_int_equal(events_parse(&catalog,
				      "cycles:kpp,cycles/period=9,name=x/,instructions,cs", &list,
				      &e),
			 0);
	assert_true(events_sample_clock(&list));
	vec_each(&list.events, event) {
		buf_add(&b, b.len ? "; " : "");
		describe(&b, event);
	}
	assert_string_equal(buf_str(&b), "cpu-clock:k 1 0 -u -h *1e-06 msec; cpu-clock 1 0 period9 "
					 "*1e-06 msec; instructions 0 0x1; cs 1 0x3");
	assert_false(events_sample_clock(&list));
	buf_release(&b);
	event_list_release(&list);
	leave();
	enter("amd-zen4");
	assert_int_equal(events_parse(&catalog, "cycles", &list, &e), 0);
	assert_false(events_sample_clock(&list));
	event_list_release(&list);
	leave();
}

static void tracepoints(void **state)
{
	(void)state;
	enter("hybrid-intel");
	assert_events("sched:sched_switch", "sched:sched_switch 2 0x13c");
	assert_events("sched:sched_switch:u", "sched:sched_switch:u 2 0x13c -k -h");
	assert_events("syscalls:sys_enter_*", "syscalls:sys_enter_read 2 0x2cd; "
					      "syscalls:sys_enter_write 2 0x2cb");
	assert_events("{sched:*}:S", "sched:sched_switch 2 0x13c S {0}; "
				     "sched:sched_wakeup 2 0x13e S {0}");
	assert_events("kprobes:open_probe", "kprobes:open_probe 2 0x835");
	assert_wrong("^sched:sched_swich", "did you mean 'sched:sched_switch'");
	assert_wrong("cs,^sched:nothing_*", "no tracepoint matches 'sched:nothing_*'");
	assert_wrong("sched:sched_switch:^z", "'z' is not a modifier");
	assert_wrong("..^/sched:sched_switch", "the closing '/' after the terms is missing");
	assert_wrong("sched:..^/sched_switch", "the closing '/' after the terms is missing");
	leave();
	enter("amd-zen4");
	assert_wrong("^sched:sched_switch", "there is no tracefs in this tree");
	leave();
}

static void breakpoints(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("mem:0x601040", "mem:0x601040 5 0 bp3,0x601040,0x4");
	assert_events("mem:0x601040:rw", "mem:0x601040:rw 5 0 bp3,0x601040,0x4");
	assert_events("mem:0x601040/8:w:u", "mem:0x601040/8:w:u 5 0 bp2,0x601040,0x8 -k -h");
	assert_events("mem:0x601040:x", "mem:0x601040:x 5 0 bp4,0x601040,0x8");
	assert_events("mem:0x10/1,cs", "mem:0x10/1 5 0 bp3,0x10,0x1; cs 1 0x3");
	assert_events("{cs, mem:0x10/4:w}", "cs 1 0x3 {0}; mem:0x10/4:w 5 0 bp2,0x10,0x4 {0}");
	assert_wrong("mem:^zz", "'zz' is not an address");
	assert_wrong("mem:0x10:r^q", "'q' is not an access");
	assert_wrong("mem:0x10/^3", "a length is 1, 2, 4 or 8");
	assert_wrong("mem:0x10/^", "a length is 1, 2, 4 or 8");
	assert_wrong("mem:0x10/8:w:^y", "'y' is not a modifier");
	leave();
}

struct symbolic {
	char *name;
};

static bool take_first(void *ctx, const struct pfm_event *event)
{
	struct symbolic *found = ctx;
	char *name = xasprintf("%s::%s%s%s", event->pmu, event->name, event->mask_count ? ":" : "",
			       event->mask_count ? event->masks[0].name : "");

	if (!event->uncore && event->present && !found->name)
		found->name = name;
	else
		free(name);
	return !found->name;
}

static bool take_none(void *ctx, const struct pfm_event *event)
{
	(void)ctx;
	(void)event;
	return false;
}

/* The same as libpfm4 says, asked directly. */
static void assert_symbolic(const char *text)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct event_list list = {};
	struct err e = {};

	assert_true(pfm_encode(text, &attr));
	if (events_parse(&catalog, text, &list, &e))
		fail_msg("%s", e.text);
	assert_int_equal(list.events.len, 1);
	assert_string_equal(list.events.items[0].name, text);
	assert_memory_equal(&list.events.items[0].attr, &attr, sizeof(attr));
	assert_int_equal(list.events.items[0].units.items[0].type, attr.type);
	event_list_release(&list);
}

static void symbolic_events(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	struct symbolic found = {};
	char *text;

	(void)state;
	pfm_visit(NULL, true, take_first, &found);
	if (!found.name || !pfm_encode(found.name, &attr)) {
		print_message("# SKIP libpfm4 is not installed or does not know this CPU\n");
		free(found.name);
		skip();
	}
	/* It knows this machine's CPU only, so this test stays here. */
	unsetenv("TACHO_SYSFS");
	unsetenv("TACHO_PROCFS");
	catalog_init(&catalog);
	assert_symbolic(found.name);
	text = xasprintf("%s:u", found.name);
	assert_symbolic(text);
	free(text);
	text = xasprintf("cs,^%s:no_such_mask", found.name);
	assert_wrong(text, "unknown event");
	free(text);
	leave();
	enter("vm-no-pmu");
	text = xasprintf("^%s", found.name);
	assert_wrong(text, "unknown event");
	free(text);
	free(found.name);
	leave();
}

static bool count_event(void *ctx, const struct pfm_event *event)
{
	(void)event;
	++*(size_t *)ctx;
	return true;
}

#define ASKED_TIMES 20

struct asking {
	size_t expected, right, known;
};

static void *ask_often(void *ctx)
{
	struct asking *a = ctx;

	for (int i = 0; i < ASKED_TIMES; i++) {
		struct perf_event_attr attr = {.size = sizeof(attr)};
		size_t count = 0;

		pfm_visit("all", false, count_event, &count);
		a->right += count == a->expected;
		a->known += pfm_encode("no_such_event_of_any_cpu", &attr);
	}
	return NULL;
}

/* The server's threads ask whenever they like; the library itself has one state a process. */
static void symbolic_events_of_threads(void **state)
{
	struct asking asking[4] = {};
	pthread_t threads[ARRAY_LEN(asking)];
	size_t all = 0;

	(void)state;
	pfm_visit("all", false, count_event, &all);
	if (!all) {
		print_message("# SKIP libpfm4 is not installed\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(asking); i++) {
		asking[i].expected = all;
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &asking[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(asking); i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < ARRAY_LEN(asking); i++) {
		assert_int_equal(asking[i].right, ASKED_TIMES);
		assert_int_equal(asking[i].known, 0);
	}
}

static bool take_absent(void *ctx, const struct pfm_event *event)
{
	char **name = ctx;

	if (event->present || event->uncore || event->mask_count)
		return true;
	*name = xasprintf("%s::%s", event->pmu, event->name);
	return false;
}

/* Whatever the environment says, a name of a CPU that is not here has no meaning; and the
 * environment, which workloads are given, is not touched. */
static void symbolic_events_and_the_environment(void **state)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	char *absent = NULL;

	(void)state;
	unsetenv("LIBPFM_ENCODE_INACTIVE");
	pfm_visit("all", true, take_absent, &absent);
	assert_null(getenv("LIBPFM_ENCODE_INACTIVE"));
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_false(absent && pfm_encode(absent, &attr));
	assert_string_equal(getenv("LIBPFM_ENCODE_INACTIVE"), "1");
	unsetenv("LIBPFM_ENCODE_INACTIVE");
	free(absent);
}

/* A name of another microarchitecture is not known, but said to exist there. */
static void symbolic_elsewhere(void **state)
{
	static const char *const names[] = {"FP_COMP_OPS_EXE", "RETIRED_SSE_AVX_OPERATIONS",
					    "OFFCORE_RESPONSE_0", "RETIRED_UOPS", "PM_1FLOP_CMPL"};
	struct err e = {};

	(void)state;
	enter("vm-no-pmu");
	if (!pfm_visit("all", false, take_none, NULL)) {
		print_message("# SKIP libpfm4 is not installed\n");
		leave();
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(names) && !strstr(e.text, "it exists on "); i++)
		if (!pfm_encode(names[i], &(struct perf_event_attr){}))
			refuse(names[i], &e);
	assert_non_null(strstr(e.text, "' on this CPU; it exists on "));
	assert_int_equal(mark_column(e.text), 0);
	leave();
}

/* ---- modifiers and groups ---- */

static void modifiers(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("cycles:k", "cycles:k 0 0 -u -h");
	assert_events("cycles:uk", "cycles:uk 0 0 -h");
	assert_events("cycles:h", "cycles:h 0 0 -u -k");
	assert_events("cycles:ukh", "cycles:ukh 0 0");
	assert_events("cycles:G", "cycles:G 0 0 -host");
	assert_events("cycles:H", "cycles:H 0 0 -guest");
	assert_events("cycles:GH", "cycles:GH 0 0");
	assert_events("cycles:p", "cycles:p 0 0 p1");
	assert_events("cycles:ppp", "cycles:ppp 0 0 p3");
	assert_events("cycles:upp", "cycles:upp 0 0 -k -h p2");
	assert_events("cycles:P", "cycles:P 0 0 P");
	assert_events("cycles:S", "cycles:S 0 0 S");
	assert_events("cycles:D", "cycles:D 0 0 pinned");
	assert_events("cycles:W", "cycles:W 0 0 W");
	assert_events("cycles:e", "cycles:e 0 0 exclusive");
	assert_events("cycles:I", "cycles:I 0 0 -idle");
	assert_events("cpu/event=1/:u", "cpu/event=1/:u 4@cpu 0x1 -k -h");
	assert_wrong("cycles:u^z", "'z' is not a modifier (they are ukhGHpPSDWeI)");
	assert_wrong("cycles:^pppp", "'p' can be given at most three times");
	assert_wrong("cycles:^", "modifiers are missing behind ':'");
	assert_wrong("cpu/event=1/^z", "'z' is not a modifier");
	assert_wrong("cycles:u^:k", "':' is not a modifier");
	leave();
}

static void groups(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_events("{cycles,cs}", "cycles 0 0 {0}; cs 1 0x3 {0}");
	assert_events("{cycles,cs}:S", "cycles 0 0 S {0}; cs 1 0x3 S {0}");
	assert_events("{cycles},cs,{faults,cs}:D",
		      "cycles 0 0 {0}; cs 1 0x3; faults 1 0x2 pinned {1}; cs 1 0x3 pinned {1}");
	assert_events("{cpu/event=1,umask=2/,r3}:u",
		      "cpu/event=1,umask=2/ 4@cpu 0x201 -k -h {0}; r3 4 0x3 -k -h {0}");
	/* The group's modifiers add to the event's, as in perf. */
	assert_events("{faults:k,cs}:u", "faults:k 1 0x2 -h {0}; cs 1 0x3 -k -h {0}");
	assert_events("{cycles:u,instructions:kp}:p",
		      "cycles:u 0 0 -k -h p1 {0}; instructions:kp 0 0x1 -u -h p2 {0}");
	assert_events("{cs:G,faults}:H", "cs:G 1 0x3 {0}; faults 1 0x2 -guest {0}");
	assert_wrong("{cycles:pp,cs}:^pp", "'p' can be given at most three times");
	assert_wrong("{cycles,cs}:u^z", "'z' is not a modifier");
	assert_wrong("{cycles}^u", "expected ',' or ':' after a group");
	assert_wrong("{cycles}:^", "modifiers are missing behind ':'");
	assert_wrong("{cycles,^{cs}}", "a group cannot stand inside a group");
	assert_wrong("^{cycles,cs", "this group is not closed by '}'");
	assert_wrong("cs,^{cpu/event=1/,cs", "this group is not closed by '}'");
	assert_wrong("{^}", "an event is missing here");
	assert_wrong("{cs,^}", "an event is missing here");
	assert_wrong("{cs}^}", "expected ','");
	assert_wrong("cycles^{", "expected ',' here");
	assert_wrong("cycles^}", "expected ',' here");
	leave();
}

static void group_numbers_go_on(void **state)
{
	struct event_list list = {};

	(void)state;
	enter("amd-zen4");
	assert_int_equal(events_parse(&catalog, "{cs,faults}", &list, NULL), 0);
	assert_int_equal(events_parse(&catalog, "{cs},{faults}", &list, NULL), 0);
	assert_int_equal(list.events.len, 4);
	assert_int_equal(list.group_count, 3);
	assert_int_equal(list.events.items[1].group, 0);
	assert_int_equal(list.events.items[2].group, 1);
	assert_int_equal(list.events.items[3].group, 2);
	event_list_release(&list);
	leave();
}

static void white_space(void **state)
{
	struct event_list list = {};
	struct err e = {};

	(void)state;
	enter("amd-zen4");
	assert_events(" cs ,\tfaults \n", "cs 1 0x3; faults 1 0x2");
	assert_events("{ cs , faults }:u , cs",
		      "cs 1 0x3 -k -h {0}; faults 1 0x2 -k -h {0}; cs 1 0x3");
	assert_int_equal(events_parse(&catalog, "", &list, &e), -EINVAL);
	assert_string_equal(e.text, "the list of events is empty");
	assert_int_equal(events_parse(&catalog, " \n", &list, &e), -EINVAL);
	assert_wrong("cs,^", "an event is missing at the end");
	assert_wrong("cs, ^,faults", "an event is missing here");
	assert_wrong("^,cs", "an event is missing here");
	assert_wrong("  ^cycels", "did you mean 'cycles'?");
	event_list_release(&list);
	leave();
}

static void mistakes(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_wrong("^cycels", "unknown event 'cycels'; did you mean 'cycles'?");
	assert_wrong("cs,cs,^instuctions", "did you mean 'instructions'?");
	assert_wrong("^:u", "an event name is missing before ':'");
	assert_wrong("cpu^/event=1", "the closing '/' after the terms is missing");
	assert_wrong("^nosuch/event=1/", "there is no PMU 'nosuch' here (there are: amd_df");
	assert_wrong("cpu/^evnt=1/", "has no event or term 'evnt'; did you mean 'event'?");
	assert_wrong("cpu/event=1,^/", "a term is missing here");
	assert_wrong("cpu/^,event=1/", "a term is missing here");
	assert_wrong("cpu/event=1,^=2/", "a term is missing here");
	assert_wrong("cpu/event=^x/", "'x' is not a number");
	assert_wrong("cpu/event=^-1/", "'-1' is not a number");
	assert_wrong("cpu/event=^/", "'' is not a number");
	assert_wrong("cpu/umask=^0x100/", "0x100 does not fit into 'umask' of PMU 'cpu'");
	assert_wrong("cpu/event=^0x1000/", "does not fit into 'event'");
	assert_wrong("cpu/config=^/", "term 'config' needs a number");
	assert_wrong("cpu/name=^/", "the name is missing");
	assert_wrong("cpu/^zzzzzzzzzzzz/", "it has the terms config, config1, config2");
	assert_wrong("^/event=1/", "there is no PMU ''");
	leave();
}

static void marks_in_odd_text(void **state)
{
	struct err e;

	(void)state;
	enter("amd-zen4");
	/* Two bytes, one column. */
	refuse("cpu/name=\xc3\xa9,bad=1/", &e);
	assert_int_equal(mark_column(e.text), 11);
	/* Nothing that a terminal would obey. */
	refuse("cy\x1b[31mcles", &e);
	assert_null(strchr(e.text, '\x1b'));
	assert_non_null(strstr(e.text, "cy?[31mcles"));
	/* Bytes that are no text take a column each. */
	refuse("cpu/name=\x80\xff\xfe,bad=1/", &e);
	assert_non_null(strstr(e.text, "cpu/name=???,bad=1/"));
	assert_int_equal(mark_column(e.text), 13);
	refuse("cs\n,cpu/bad=1/", &e);
	assert_int_equal(mark_column(e.text), 8);
	leave();
}

/* Around the mark of a long list, only a part is shown. */
static void marks_in_long_text(void **state)
{
	struct buf b = {};
	struct err e;
	char *line;

	(void)state;
	enter("amd-zen4");
	for (int i = 0; i < 200; i++)
		buf_add(&b, "cs,");
	buf_add(&b, "cycels");
	for (int i = 0; i < 200; i++)
		buf_add(&b, ",cs");
	refuse(buf_str(&b), &e);
	line = strchr(e.text, '\n') + 3;
	assert_true(strcspn(line, "\n") <= 80);
	assert_memory_equal(line + mark_column(e.text), "cycels,cs", 9);
	buf_release(&b);
	leave();
}

/* ---- size ---- */

static void many_events(void **state)
{
	struct event_list list = {};
	struct buf b = {};
	struct err e = {};

	(void)state;
	enter("amd-zen4");
	for (int i = 0; i < 10000; i++)
		buf_addf(&b, "%s%s", i ? "," : "", i % 2 ? "cs:u" : "r1");
	assert_int_equal(events_parse(&catalog, buf_str(&b), &list, &e), 0);
	assert_int_equal(list.events.len, 10000);
	assert_string_equal(list.events.items[9999].name, "cs:u");
	event_list_release(&list);
	buf_clear(&b);
	for (int i = 0; i < EVENTS_MAX; i++)
		buf_add(&b, "cs,");
	buf_add(&b, "cs");
	refuse(buf_str(&b), &e);
	assert_non_null(strstr(e.text, "more than 20000 events"));
	buf_release(&b);
	leave();
}

static void long_names(void **state)
{
	static const char *const frames[][2] = {{"", ""},     {"cpu/", "/"}, {"cpu/event=", "/"},
						{"", "/x/"},  {"a:", ""},    {"cycles:", ""},
						{"mem:", ""}, {"{", "}"},    {"r", ""}};
	size_t len = 1 << 20;
	char *name = xcalloc(len + 1, 1);
	uint64_t begin = clock_now_ns();
	struct err e;

	(void)state;
	memset(name, 'x', len);
	enter("hybrid-intel");
	for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
		char *text = xasprintf("%s%s%s", frames[i][0], name, frames[i][1]);

		refuse(text, &e);
		mark_column(e.text);
		free(text);
	}
	assert_true(clock_now_ns() - begin < 20 * NS_PER_SEC);
	free(name);
	leave();
}

static void many_braces(void **state)
{
	char *text = xcalloc(1, 200001);
	struct err e;

	(void)state;
	enter("amd-zen4");
	memset(text, '{', 200000);
	refuse(text, &e);
	assert_int_equal(mark_column(e.text), 1);
	memset(text, '/', 200000);
	refuse(text, &e);
	memset(text, ':', 200000);
	refuse(text, &e);
	memset(text, ',', 200000);
	refuse(text, &e);
	free(text);
	leave();
}

/* ---- machines ---- */

static void hybrid_intel(void **state)
{
	(void)state;
	enter("hybrid-intel");
	assert_events("cycles", "cpu_atom/cycles/ 0@cpu_atom 0xa00000000; "
				"cpu_core/cycles/ 0@cpu_core 0x400000000");
	assert_events("instructions:u", "cpu_atom/instructions/u 0@cpu_atom 0xa00000001 -k -h; "
					"cpu_core/instructions/u 0@cpu_core 0x400000001 -k -h");
	assert_events("LLC-load-misses", "cpu_atom/LLC-load-misses/ 3@cpu_atom 0xa00010002; "
					 "cpu_core/LLC-load-misses/ 3@cpu_core 0x400010002");
	assert_events("cs", "cs 1 0x3");
	assert_events("cpu_core/cycles/u", "cpu_core/cycles/u 0@cpu_core 0x400000000 -k -h");
	assert_events("cpu_atom/L1-dcache-loads/",
		      "cpu_atom/L1-dcache-loads/ 3@cpu_atom 0xa00000000");
	assert_events("cpu_core/event=0xcd,umask=1,ldlat=30/",
		      "cpu_core/event=0xcd,umask=1,ldlat=30/ 4@cpu_core 0x1cd,0x1e,0");
	assert_events("cpu_core/mem-loads,ldlat=50/",
		      "cpu_core/mem-loads,ldlat=50/ 4@cpu_core 0x1cd,0x32,0");
	assert_events("cpu_core/slots/", "cpu_core/slots/ 4@cpu_core 0x400");
	assert_wrong("cpu_atom/^slots/", "PMU 'cpu_atom' has no event or term 'slots'");
	leave();
}

/* Raw and named events exist on each kind of core as well. */
static void hybrid_intel_each_core(void **state)
{
	(void)state;
	enter("hybrid-intel");
	assert_events("r1a8", "cpu_atom/r1a8/ 10@cpu_atom 0x1a8; cpu_core/r1a8/ 4@cpu_core 0x1a8");
	assert_events("cpu/event=0xc0/u", "cpu_atom/event=0xc0/u 10@cpu_atom 0xc0 -k -h; "
					  "cpu_core/event=0xc0/u 4@cpu_core 0xc0 -k -h");
	assert_events("topdown-retiring", "cpu_atom/topdown-retiring/ 10@cpu_atom 0xc2; "
					  "cpu_core/topdown-retiring/ 4@cpu_core 0x8000");
	assert_events("topdown-heavy-ops", "cpu_core/topdown-heavy-ops/ 4@cpu_core 0x8400");
	leave();
}

static void hybrid_intel_uncore(void **state)
{
	(void)state;
	enter("hybrid-intel");
	assert_events("data_read", "data_read 12@uncore_imc_free_running_0+13@"
				   "uncore_imc_free_running_1 0x20ff *6.10352e-05 MiB");
	assert_events(
		"uncore_cbox/event=0x34,umask=0x8f/",
		"uncore_cbox/event=0x34,umask=0x8f/ 14@uncore_cbox_0+15@uncore_cbox_1 0x8f34");
	assert_events("cbox/event=1,threshold=63/",
		      "cbox/event=1,threshold=63/ 14@uncore_cbox_0+15@uncore_cbox_1 0x3f000001");
	assert_events("uncore_cbox_1/event=1/", "uncore_cbox_1/event=1/ 15@uncore_cbox_1 0x1");
	assert_events("imc_free_running/data_read/",
		      "imc_free_running/data_read/ 12@uncore_imc_free_running_0+13@"
		      "uncore_imc_free_running_1 0x20ff *6.10352e-05 MiB");
	assert_events("power/energy-pkg/", "power/energy-pkg/ 9@power 0x2 *2.32831e-10 Joules");
	assert_events("energy-cores", "energy-cores 9@power 0x1 *2.32831e-10 Joules");
	assert_events("i915/rcs0-busy/", "i915/rcs0-busy/ 19@i915 0 *1 ns");
	assert_events("i915/rc6-residency/", "i915/rc6-residency/ 19@i915 0x100003 *1 ns");
	leave();
}

static void arm_big_little(void **state)
{
	(void)state;
	enter("arm64-big-little");
	assert_events("cycles", "armv8_cortex_a53/cycles/ 0@armv8_cortex_a53 0x800000000; "
				"armv8_cortex_a72/cycles/ 0@armv8_cortex_a72 0x900000000");
	assert_events("armv8_cortex_a72/inst_spec/",
		      "armv8_cortex_a72/inst_spec/ 9@armv8_cortex_a72 0x1b");
	assert_wrong("armv8_cortex_a53/^inst_spec/", "has no event or term 'inst_spec'");
	assert_events("armv8_cortex_a53/event=0x11,long/",
		      "armv8_cortex_a53/event=0x11,long/ 8@armv8_cortex_a53 0x11,0x1,0");
	assert_events("rockchip_ddr/read-bytes/",
		      "rockchip_ddr/read-bytes/ 10@rockchip_ddr 0x1 *9.53674e-07 MB");
	leave();
}

static void arm_server(void **state)
{
	(void)state;
	enter("arm64-server");
	assert_events("cycles", "cycles 0 0");
	assert_events("stall_backend", "stall_backend 8@armv8_pmuv3_0 0x24");
	/* "cpu" is the core PMU, whatever its name. */
	assert_events("cpu/event=0x11/", "cpu/event=0x11/ 8@armv8_pmuv3_0 0x11");
	assert_events("arm_cmn_0/hnf_cache_miss/",
		      "arm_cmn_0/hnf_cache_miss/ 10@arm_cmn_0 0x10005");
	assert_events("arm_dmc620_10008c000/clkdiv2_rdwr/",
		      "arm_dmc620_10008c000/clkdiv2_rdwr/ 11@arm_dmc620_10008c000 0,0,0x290");
	assert_events("arm_spe_0/ts_enable=1,min_latency=5/",
		      "arm_spe_0/ts_enable=1,min_latency=5/ 9@arm_spe_0 0x1,0,0x5");
	assert_events("arm_dsu/cycles/", "arm_dsu/cycles/ 13@arm_dsu_0+14@arm_dsu_1+15@arm_dsu_2+"
					 "16@arm_dsu_3 0x11");
	assert_wrong("arm_cmn_0/^watchpoint_up/", "which cannot be parsed");
	leave();
}

static void s390(void **state)
{
	(void)state;
	enter("s390x");
	assert_events("cycles", "cycles 0 0");
	assert_events("cpum_cf/DCW_REQ/", "cpum_cf/DCW_REQ/ 8@cpum_cf 0x91");
	assert_events("AES_CYCLES", "AES_CYCLES 8@cpum_cf 0x4d");
	assert_events("cpu/event=0x20/", "cpu/event=0x20/ 8@cpum_cf 0x20");
	assert_events("pai_crypto/KM_AES_128/", "pai_crypto/KM_AES_128/ 10@pai_crypto 0x1007");
	leave();
}

#define NO_PMU "this virtual machine has no PMU (it is a guest of an unknown hypervisor)"

static void machine_without_pmu(void **state)
{
	(void)state;
	enter("vm-no-pmu");
	/* Parses, and opening it will say why it cannot be. */
	assert_events("cycles", "cycles 0 0");
	assert_events("cpu/event=1/", "cpu/event=1/ 4 0 !" NO_PMU);
	assert_events("cpu/event=1/u", "cpu/event=1/u 4 0 -k -h !" NO_PMU);
	assert_string_equal(catalog_no_pmu(&catalog), NO_PMU);
	assert_events("msr/tsc/", "msr/tsc/ 9@msr 0");
	assert_wrong("msr/^aperf/", "has no event or term 'aperf'");
	leave();
}

static void vendor_events(void **state)
{
	(void)state;
	write_text("data/tacho/events/alderlake/cpus", "GenuineIntel-6-9A\n");
	write_text("data/tacho/events/alderlake/events.json",
		   "[{\"EventName\": \"MY.EVENT\", \"EventCode\": \"0xd1\", \"UMask\": \"0x02\"},"
		   "{\"EventName\": \"UNC_CBO\", \"EventCode\": \"0x34\", \"Unit\": \"CBO\"},"
		   "{\"EventName\": \"UNC_NOT\", \"EventCode\": \"0x34\", \"Unit\": \"iMC\"}]");
	enter("hybrid-intel");
	assert_events("my.event:u", "my.event:u 10@cpu_atom 0x2d1 -k -h");
	assert_events("cpu_core/MY.EVENT,cmask=1/",
		      "cpu_core/MY.EVENT,cmask=1/ 4@cpu_core 0x10002d1");
	assert_events("UNC_CBO", "UNC_CBO 14@uncore_cbox_0+15@uncore_cbox_1 0x34");
	assert_events("UNC_NOT", "UNC_NOT 4 0 !there is no PMU 'imc' here");
	leave();
	remove_tree(in_dir("data"));
}

static void hostile_machine(void **state)
{
	struct event_list list = {};

	(void)state;
	enter("hostile");
	assert_events("good/fine/", "good/fine/ 42@good 0x1");
	assert_events("bad_events/good_one/", "bad_events/good_one/ 51@bad_events 0x3412");
	assert_events("bad_events/decimal/", "bad_events/decimal/ 51@bad_events 0x2a12");
	assert_events("bad_scale/ok/", "bad_scale/ok/ 53@bad_scale 0xd *0.5 MiB");
	assert_events("bad_scale/nan/,bad_scale/inf/,bad_scale/overflow/,bad_scale/text/",
		      "bad_scale/nan/ 53@bad_scale 0x1; bad_scale/inf/ 53@bad_scale 0x2; "
		      "bad_scale/overflow/ 53@bad_scale 0x4; bad_scale/text/ 53@bad_scale 0x6");
	assert_wrong("bad_events/^self/", "which cannot be parsed");
	assert_wrong("bad_events/^too_wide/", "which cannot be parsed");
	assert_wrong("bad_events/^overflow/", "which cannot be parsed");
	assert_wrong("bad_events/^unknown_term/", "which cannot be parsed");
	assert_wrong("bad_format/^reversed=1/", "has no event or term 'reversed'");
	assert_wrong("bad_format/^huge=1/", "has no event or term 'huge'");
	assert_wrong("bad_events/^../good/", "");
	assert_int_equal(events_parse(&catalog, "bad:*", &list, NULL), 0);
	assert_int_equal(list.events.len, 1);
	event_list_release(&list);
	leave();
}

static void assert_no_controls(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text) && *text != '\n')
			fail_msg("control character %#x in an error", *text);
}

/* Every event of every PMU of every machine is either opened or refused with a sentence. */
static void every_event_of_every_tree(void **state)
{
	size_t good = 0, bad = 0;

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
		enter(trees[t]);
		vec_each(&catalog_pmus(&catalog)->list, pmu) {
			strvec names = {};

			pmu_event_names(&catalog.pmus, pmu, &names);
			vec_each(&names, name) {
				char *text = xasprintf("%s/%s/", pmu->name, *name);
				struct event_list list = {};
				struct err e = {};
				int r = events_parse(&catalog, text, &list, &e);

				assert_true(r < 0 ? *e.text : list.events.len > 0);
				assert_no_controls(e.text);
				r < 0 ? bad++ : good++;
				if (r < 0 && strcmp(trees[t], "hostile") &&
				    !strstr(text, "watchpoint"))
					fail_msg("%s: %s", trees[t], e.text);
				event_list_release(&list);
				free(text);
			}
			strvec_release(&names);
		}
		leave();
	}
	assert_true(good > 250 && bad > 10);
}

/* ---- defaults ---- */

static void assert_defaults(const char *config, const char *text, const char *want)
{
	struct event_list list = {};
	struct buf b = {};
	struct err e = {};

	write_text("config/tacho/events.conf", config);
	assert_int_equal(events_parse(&catalog, text, &list, &e), 0);
	if (events_apply_defaults(&list, &e))
		fail_msg("%s", e.text);
	vec_each(&list.events, event) {
		buf_add(&b, b.len ? "; " : "");
		describe(&b, event);
	}
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	event_list_release(&list);
}

static void default_modifiers(void **state)
{
	(void)state;
	enter("amd-zen4");
	assert_defaults("", "cycles", "cycles 0 0");
	assert_defaults("# comment\n\ncycles u\r\n", "cycles,cs", "cycles:u 0 0 -k -h; cs 1 0x3");
	assert_defaults("cycles u\n", "cycles:k", "cycles:k 0 0 -u -h");
	assert_defaults("L1-* :pp\n* k", "L1-dcache-loads,cs",
			"L1-dcache-loads:pp 3 0 p2; cs:k 1 0x3 -u -h");
	/* The first line that fits decides. */
	assert_defaults("cs u\ncs k\n", "cs", "cs:u 1 0x3 -k -h");
	assert_defaults("cpu/* u\n", "cpu/event=1/", "cpu/event=1/u 4@cpu 0x1 -k -h");
	assert_defaults("* u\n", "duration_time", "duration_time - 0 *1 ns");
	leave();
	enter("hybrid-intel");
	assert_defaults("cycles u\n", "cycles",
			"cpu_atom/cycles/u 0@cpu_atom 0xa00000000 -k -h; "
			"cpu_core/cycles/u 0@cpu_core 0x400000000 -k -h");
	leave();
}

static void default_mistakes(void **state)
{
	static const char *const wrong[] = {"cycles\n", "cycles z\n", "cycles u k\n", "cycles :\n"};
	struct event_list list = {};
	struct err e = {};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		write_text("config/tacho/events.conf", wrong[i]);
		assert_int_equal(events_apply_defaults(&list, &e), -EINVAL);
		assert_non_null(strstr(e.text, "config/tacho/events.conf: '"));
		assert_non_null(strstr(e.text, "is not 'PATTERN MODIFIERS'"));
	}
	remove_tree(in_dir("config"));
	assert_int_equal(events_apply_defaults(&list, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generic_events_of_amd),
		cmocka_unit_test(cache_events),
		cmocka_unit_test(raw_events),
		cmocka_unit_test(pmu_events),
		cmocka_unit_test(terms_of_any_event),
		cmocka_unit_test(modes_of_all_events),
		cmocka_unit_test(clock_instead_of_cycles),
		cmocka_unit_test(tracepoints),
		cmocka_unit_test(breakpoints),
		cmocka_unit_test(symbolic_events),
		cmocka_unit_test(symbolic_events_of_threads),
		cmocka_unit_test(symbolic_events_and_the_environment),
		cmocka_unit_test(symbolic_elsewhere),
		cmocka_unit_test(modifiers),
		cmocka_unit_test(groups),
		cmocka_unit_test(group_numbers_go_on),
		cmocka_unit_test(white_space),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(marks_in_odd_text),
		cmocka_unit_test(marks_in_long_text),
		cmocka_unit_test(many_events),
		cmocka_unit_test(long_names),
		cmocka_unit_test(many_braces),
		cmocka_unit_test(hybrid_intel),
		cmocka_unit_test(hybrid_intel_each_core),
		cmocka_unit_test(hybrid_intel_uncore),
		cmocka_unit_test(arm_big_little),
		cmocka_unit_test(arm_server),
		cmocka_unit_test(s390),
		cmocka_unit_test(machine_without_pmu),
		cmocka_unit_test(vendor_events),
		cmocka_unit_test(hostile_machine),
		cmocka_unit_test(every_event_of_every_tree),
		cmocka_unit_test(default_modifiers),
		cmocka_unit_test(default_mistakes),
	};

	return cmocka_run_group_tests(tests, unpack_all, remove_support_dir);
}
