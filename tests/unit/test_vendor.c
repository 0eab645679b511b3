/* Event files of the vendors: parsing, and what the user has loaded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/vendor.h"
#include "support.h"

#include <jansson.h>
#include <strings.h>

static struct vendor_set parse(const char *text)
{
	struct vendor_set set = {};
	struct err e = {};

	if (vendor_parse(text, strlen(text), &set, &e))
		fail_msg("%s: %s", text, e.text);
	vendor_sort(&set);
	return set;
}

/* Terms of the one event that has these members beside its name. */
static void assert_terms_of(const char *name, const char *members, const char *want)
{
	char *text = xasprintf("[{\"EventName\": \"%s\", %s}]", name, members);
	struct vendor_set set = parse(text);

	assert_int_equal(set.events.len, 1);
	assert_string_equal(set.events.items[0].terms, want);
	vendor_release(&set);
	free(text);
}

static void assert_terms(const char *members, const char *want)
{
	assert_terms_of("X", members, want);
}

static void kernel_form(void **state)
{
	struct vendor_set set =
		parse("[{\"EventName\": \"b.two\", \"EventCode\": \"0x12\", \"UMask\": \"0x34\","
		      "  \"BriefDescription\": \"short\", \"PublicDescription\": \"long\"},"
		      " {\"EventName\": \"A.ONE\", \"EventCode\": \"0x1\", \"Deprecated\": \"1\","
		      "  \"PublicDescription\": \"only this\", \"Unit\": \"iMC\"},"
		      " {\"BriefDescription\": \"neither event nor metric\"}]");
	const struct vendor_event *event;

	(void)state;
	assert_int_equal(set.events.len, 2);
	assert_int_equal(set.metrics.len, 0);
	event = vendor_find(&set, "B.Two");
	assert_non_null(event);
	assert_string_equal(event->name, "b.two");
	assert_string_equal(event->terms, "event=0x12,umask=0x34");
	assert_string_equal(event->description, "short");
	assert_string_equal(event->details, "long");
	assert_null(event->unit);
	assert_int_equal(event->code, 0x12);
	assert_int_equal(event->umask, 0x34);
	assert_false(event->deprecated);
	event = vendor_find(&set, "a.one");
	assert_string_equal(event->description, "only this");
	assert_null(event->details);
	assert_string_equal(event->unit, "imc");
	assert_true(event->deprecated);
	assert_null(vendor_find(&set, "a.on"));
	vendor_release(&set);
	assert_null(vendor_find(&set, "a.one"));
}

static void intel_form(void **state)
{
	struct vendor_set set =
		parse("{\"Header\": {\"Version\": \"1.30\"}, \"Events\": ["
		      "{\"EventName\": \"INST_RETIRED.ANY\", \"EventCode\": \"0x00\","
		      " \"UMask\": \"0x01\", \"Errata\": \"null\", \"MSRIndex\": \"0x00\","
		      " \"MSRValue\": \"0x00\", \"CounterMask\": \"0\", \"Invert\": \"0\","
		      " \"PublicDescription\": \"null\"}]}");

	(void)state;
	assert_int_equal(set.events.len, 1);
	/* What the kernel wants to be told; what the file says is kept beside it. */
	assert_string_equal(set.events.items[0].terms, "event=0xc0");
	assert_int_equal(set.events.items[0].code, 0);
	assert_int_equal(set.events.items[0].umask, 1);
	assert_null(set.events.items[0].description);
	vendor_release(&set);
}

static void codes(void **state)
{
	(void)state;
	assert_terms("\"EventCode\": \"0xB7, 0xBB\", \"UMask\": \"0x01\"", "event=0xb7,umask=0x1");
	assert_terms("\"EventCode\": \"0xB7,0xBB\"", "event=0xb7");
	assert_terms("\"EventCode\": \" 0x1c2\"", "event=0x1c2");
	assert_terms("\"EventCode\": \"60\"", "event=0x3c");
	assert_terms("\"EventCode\": 60, \"UMask\": 2", "event=0x3c,umask=0x2");
	assert_terms("\"EventCode\": \"0x34\", \"UMask\": \"0x00\"", "event=0x34");
	assert_terms("\"ConfigCode\": \"0x1000000000000001\"", "config=0x1000000000000001");
	assert_terms("\"EventCode\": \"0xff\", \"ExtSel\": \"1\"", "event=0x1ff");
	assert_terms("\"EventCode\": null", "event=0x0");
	assert_terms("\"EventCode\": \"\", \"UMask\": \"null\"", "event=0x0");
}

static void optional_terms(void **state)
{
	(void)state;
	assert_terms("\"EventCode\": \"0xa3\", \"CounterMask\": \"4\", \"Invert\": \"1\","
		     "\"EdgeDetect\": \"1\", \"AnyThread\": \"1\"",
		     "event=0xa3,cmask=0x4,inv=0x1,edge=0x1,any=0x1");
	assert_terms("\"EventCode\": \"0x83\", \"PortMask\": \"0x0f\", \"FCMask\": \"0x07\"",
		     "event=0x83,ch_mask=0xf,fc_mask=0x7");
	assert_terms("\"EventCode\": \"0x04\", \"EnAllCores\": \"0x1\", \"ThreadMask\": \"0x3\","
		     "\"Unit\": \"L3PMC\"",
		     "event=0x4,enallcores=0x1,threadmask=0x3");
}

static void extra_registers(void **state)
{
	(void)state;
	assert_terms("\"EventCode\": \"0xB7, 0xBB\", \"UMask\": \"0x01\","
		     "\"MSRIndex\": \"0x1a6,0x1a7\", \"MSRValue\": \"0x10003C0001\"",
		     "event=0xb7,umask=0x1,offcore_rsp=0x10003c0001");
	assert_terms("\"EventCode\": \"0xcd\", \"MSRIndex\": \"0x3F6\", \"MSRValue\": \"0x80\"",
		     "event=0xcd,ldlat=0x80");
	assert_terms("\"EventCode\": \"0xc6\", \"MSRIndex\": \"0x3F7\", \"MSRValue\": \"0x12\"",
		     "event=0xc6,frontend=0x12");
	assert_terms("\"EventCode\": \"0xc6\", \"MSRIndex\": \"0x999\", \"MSRValue\": \"0x12\"",
		     "event=0xc6");
}

static void fixed_counters(void **state)
{
	const char *zero = "\"EventCode\": \"0x00\", \"UMask\": \"0x03\"";

	(void)state;
	assert_terms_of("CPU_CLK_UNHALTED.THREAD", zero, "event=0x3c");
	assert_terms_of("cpu_clk_unhalted.core", zero, "event=0x3c");
	assert_terms_of("CPU_CLK_UNHALTED.THREAD_ANY", zero, "event=0x3c,any=1");
	assert_terms_of("TOPDOWN.SLOTS", zero, "event=0x0,umask=0x04");
	/* No other code for it: the kernel knows the fixed counter by this one. */
	assert_terms_of("CPU_CLK_UNHALTED.REF_TSC", zero, "event=0x0,umask=0x3");
	/* The same name on a general counter stays as it is written. */
	assert_terms_of("CPU_CLK_UNHALTED.THREAD", "\"EventCode\": \"0x3C\", \"UMask\": \"0x1\"",
			"event=0x3c,umask=0x1");
}

static void units(void **state)
{
	static const char *const rows[][2] = {{"CBO", "cbox"},         {"iMC", "imc"},
					      {"CHA", "cha"},          {"UPI LL", "upi"},
					      {"L3PMC", "amd_l3"},     {"DFPMC", "amd_df"},
					      {"CPU-M-CF", "cpum_cf"}, {"cpu_core", "cpu_core"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = xasprintf("[{\"EventName\": \"X\", \"Unit\": \"%s\"}]", rows[i][0]);
		struct vendor_set set = parse(text);

		assert_string_equal(set.events.items[0].unit, rows[i][1]);
		vendor_release(&set);
		free(text);
	}
}

static void kernel_metrics(void **state)
{
	struct vendor_set set = parse(
		"[{\"MetricName\": \"ipc\", \"MetricExpr\": \"instructions / cycles\","
		"  \"MetricGroup\": \"Summary\", \"ScaleUnit\": \"100%\","
		"  \"BriefDescription\": \"what it is\"},"
		" {\"MetricName\": \"plain\", \"MetricExpr\": \"a\", \"ScaleUnit\": \"MB/s\"},"
		" {\"MetricName\": \"small\", \"MetricExpr\": \"a\","
		"  \"ScaleUnit\": \"6.1e-5MiB\"},"
		" {\"MetricName\": \"no_formula\"}]");

	(void)state;
	assert_int_equal(set.metrics.len, 3);
	assert_string_equal(set.metrics.items[0].name, "ipc");
	assert_string_equal(set.metrics.items[0].expression, "instructions / cycles");
	assert_string_equal(set.metrics.items[0].group, "Summary");
	assert_string_equal(set.metrics.items[0].description, "what it is");
	assert_true(set.metrics.items[0].scale == 100);
	assert_string_equal(set.metrics.items[0].unit, "%");
	assert_true(set.metrics.items[1].scale == 1);
	assert_string_equal(set.metrics.items[1].unit, "MB/s");
	assert_true(set.metrics.items[2].scale == 6.1e-5);
	assert_string_equal(set.metrics.items[2].unit, "MiB");
	vendor_release(&set);
}

static void intel_metrics(void **state)
{
	struct vendor_set set =
		parse("{\"Header\": {}, \"Metrics\": [{\"MetricName\": \"Retiring\", \"Level\": 1,"
		      "\"UnitOfMeasure\": \"percent\", \"Events\": ["
		      "{\"Name\": \"PERF_METRICS.RETIRING\", \"Alias\": \"a\"},"
		      "{\"Name\": \"TOPDOWN.SLOTS:k\", \"Alias\": \"b\"}],"
		      "\"Constants\": [{\"Name\": \"SYSTEM_TSC_FREQ\", \"Alias\": \"ab\"}],"
		      "\"Formula\": \"100 * ( a / ( a + b ) ) * ab + max( a, b )\"}]}");

	(void)state;
	assert_int_equal(set.metrics.len, 1);
	assert_string_equal(set.metrics.items[0].expression,
			    "100 * ( PERF_METRICS.RETIRING / ( PERF_METRICS.RETIRING + "
			    "TOPDOWN.SLOTS:k ) ) * SYSTEM_TSC_FREQ + "
			    "max( PERF_METRICS.RETIRING, TOPDOWN.SLOTS:k )");
	assert_string_equal(set.metrics.items[0].unit, "percent");
	vendor_release(&set);
}

/* ---- mistakes ---- */

static void assert_wrong(const char *text, const char *sentence)
{
	struct vendor_set set = {};
	struct err e = {};

	assert_int_equal(vendor_parse(text, strlen(text), &set, &e), -EINVAL);
	assert_int_equal(e.code, EINVAL);
	if (!strstr(e.text, sentence))
		fail_msg("'%s' does not say '%s'", e.text, sentence);
	assert_int_equal(vendor_parse(text, strlen(text), &set, NULL), -EINVAL);
	vendor_release(&set);
}

static void broken_json(void **state)
{
	(void)state;
	assert_wrong("", "line 1, column 0: ");
	assert_wrong("[\n{\"EventName\": \"a\",}\n]", "line 2, column 19: ");
	assert_wrong("[{\"EventName\": \"a\"}", "line 1, column 19: ");
	assert_wrong("[\n\n   nonsense]", "line 3, column ");
	assert_wrong("[{\"EventName\": \"\xff\"}]", "line 1, column ");
	assert_wrong("[] x", "line 1, column 4: ");
}

static void wrong_shapes(void **state)
{
	struct vendor_set set;

	(void)state;
	/* A code that cannot be read must not become another event's. */
	assert_wrong("[{\"EventName\": \"X\", \"EventCode\": \"many\"}]",
		     "event 'X': EventCode 'many' is not a number");
	assert_wrong("[{\"EventName\": \"X\", \"UMask\": {}}]", "event 'X': UMask");
	assert_wrong("[{\"EventName\": \"X\", \"EventCode\": [1, 2]}]", "is not a number");
	assert_wrong("[{\"EventName\": \"X\", \"ConfigCode\": \"0x12345678901234567890\"}]",
		     "is not a number");
	assert_wrong("{}", "not a list of events or metrics");
	assert_wrong("{\"Events\": {}}", "not a list of events or metrics");
	assert_wrong("{\"Events\": null}", "not a list of events or metrics");
	assert_wrong("[1]", "entry 1 is not an object");
	assert_wrong("[{}, \"x\"]", "entry 2 is not an object");
	assert_wrong("[[]]", "entry 1 is not an object");
	set = parse("[{\"EventName\": 5}, {\"EventName\": \"\"}, {\"MetricName\": [],"
		    " \"MetricExpr\": {}}, {\"EventName\": \"good\", \"Unit\": 7,"
		    " \"BriefDescription\": [], \"Deprecated\": {}}]");
	assert_int_equal(set.events.len, 1);
	assert_string_equal(set.events.items[0].name, "good");
	assert_null(set.events.items[0].unit);
	vendor_release(&set);
	set = parse("[]");
	assert_int_equal(set.events.len, 0);
	vendor_release(&set);
}

static void deep_json(void **state)
{
	struct buf b = {};

	(void)state;
	buf_pad(&b, 1 << 20, '[');
	assert_wrong(buf_str(&b), "line 1, column ");
	buf_release(&b);
}

/* ---- what is loaded ---- */

static struct roots roots;

/* An empty store, and an x86 machine of which only the CPU is known. */
static int new_store(void **state)
{
	(void)state;
	remove_tree(in_dir("data"));
	remove_tree(in_dir("files"));
	write_text("sys/x", "");
	write_text("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				   "model\t\t: 106\nmodel name\t: Something\nstepping\t: 6\n");
	setenv("TACHO_SYSFS", in_dir("sys"), 1);
	setenv("TACHO_PROCFS", in_dir("proc"), 1);
	roots = roots_find();
	return 0;
}

static void set_midr(const char *text)
{
	write_text("arm/devices/system/cpu/cpu0/regs/identification/midr_el1", text);
	setenv("TACHO_SYSFS", in_dir("arm"), 1);
	roots = roots_find();
}

static void install(const char *path, const char *uarch, const char *cpu, const char *want)
{
	vendor_installed_list list = {};
	struct buf b = {};
	struct err e = {};

	if (vendor_install(in_dir(path), uarch, cpu, &list, &e))
		fail_msg("%s: %s", path, e.text);
	vec_each(&list, item)
		buf_addf(&b, "%s%s %zu %zu", b.len ? "; " : "", item->uarch, item->events,
			 item->metrics);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	vendor_installed_release(&list);
}

static void assert_not_installed(const char *path, const char *uarch, const char *cpu, int code,
				 const char *sentence)
{
	vendor_installed_list list = {};
	struct err e = {};

	assert_int_equal(vendor_install(in_dir(path), uarch, cpu, &list, &e), -code);
	if (!strstr(e.text, sentence))
		fail_msg("'%s' does not say '%s'", e.text, sentence);
	assert_int_equal(list.len, 0);
	assert_int_equal(vendor_install(in_dir(path), uarch, cpu, &list, NULL), -code);
	assert_int_equal(list.len, 0);
}

/* "name=terms" of all events of the set, or "-" if there is no set. */
static void assert_loaded(const char *uarch, const char *want)
{
	struct vendor_set set = {};
	struct buf b = {};
	struct err e = {};
	int r = vendor_load(&roots, uarch, &set, &e);

	if (r < 0 && r != -ENOENT)
		fail_msg("%s", e.text);
	if (r < 0)
		buf_add(&b, "-");
	vec_each(&set.events, event)
		buf_addf(&b, "%s%s=%s", b.len ? " " : "", event->name, event->terms);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	vendor_release(&set);
}

static void one_file(void **state)
{
	(void)state;
	write_text("files/icelakex_core.json", "[{\"EventName\": \"A\", \"EventCode\": \"0x1\"},"
					       "{\"MetricName\": \"m\", \"MetricExpr\": \"A\"}]");
	assert_loaded(NULL, "-");
	install("files/icelakex_core.json", NULL, NULL, "icelakex 1 1");
	assert_loaded("icelakex", "A=event=0x1");
	assert_loaded("ICELAKEX", "A=event=0x1");
	assert_loaded("other", "-");
	assert_loaded(NULL, "-"); /* nobody said which CPUs it is for */
}

static void names_and_cpus_by_the_user(void **state)
{
	(void)state;
	write_text("files/x.json", "[{\"EventName\": \"A\", \"EventCode\": \"0x1\"}]");
	install("files/x.json", "mine", "GenuineIntel-6-(6A|6C)", "mine 1 0");
	assert_loaded(NULL, "A=event=0x1");
	install("files/x.json", "mine", "GenuineIntel-6-6A-[0-5]", "mine 1 0");
	assert_loaded(NULL, "-");
	install("files/x.json", "mine", "genuineintel-6-6a-6", "mine 1 0");
	assert_loaded(NULL, "A=event=0x1");
	install("files/x.json", "mine", "GenuineIntel-6-6", "mine 1 0");
	assert_loaded(NULL, "-"); /* the whole id, not its beginning */
	assert_not_installed("files/x.json", "mine", "((", EINVAL, "is not a regular expression");
}

static void intel_mapfile(void **state)
{
	(void)state;
	write_text("files/mapfile.csv",
		   "Family-model,Version,Filename,EventType,Core Type,Native Model ID\r\n"
		   "GenuineIntel-6-55-[01234],V1.37,/SKX/events/skylakex_core.json,core,,\r\n"
		   "GenuineIntel-6-6A,V1.30,/ICX/events/icelakex_core.json,core,,\r\n"
		   "GenuineIntel-6-6C,V1.30,/ICX/events/icelakex_core.json,core,,\r\n");
	write_text(
		"files/ICX/events/icelakex_core.json",
		"{\"Header\": {}, \"Events\": [{\"EventName\": \"I\", \"EventCode\": \"0x1\"}]}");
	write_text(
		"files/SKX/events/skylakex_core.json",
		"{\"Header\": {}, \"Events\": [{\"EventName\": \"S\", \"EventCode\": \"0x2\"}]}");
	install("files", NULL, NULL, "icelakex 1 0; skylakex 1 0");
	assert_loaded(NULL, "I=event=0x1");
	/* The map is also found from below. */
	remove_tree(in_dir("data"));
	install("files/ICX/events/icelakex_core.json", NULL, NULL, "icelakex 1 0");
	assert_loaded(NULL, "I=event=0x1");
}

static void kernel_mapfile(void **state)
{
	(void)state;
	write_text("files/mapfile.csv", "Family-model,Version,Filename,EventType\n"
					"#comment,v1,icelakex,core\n"
					"GenuineIntel-6-6[AC],v1.24,icelakex,core\n"
					"0x00000000410fd0c0,v1,arm/neoverse-n1,core\n");
	write_text("files/icelakex/cache.json", "[{\"EventName\": \"c\", \"EventCode\": \"0x1\"}]");
	write_text("files/icelakex/other.json", "[{\"EventName\": \"d\", \"EventCode\": \"0x2\"}]");
	write_text("files/arm/neoverse-n1/branch.json",
		   "[{\"EventName\": \"b\", \"EventCode\": \"0x3\"}]");
	install("files", NULL, NULL, "neoverse-n1 1 0; icelakex 2 0");
	assert_loaded(NULL, "c=event=0x1 d=event=0x2");
	/* Any variant and revision of the CPU. */
	set_midr("0x00000000413fd0c1\n");
	assert_loaded(NULL, "b=event=0x3");
	set_midr("0x00000000413fd0d1\n");
	assert_loaded(NULL, "-");
}

static void arch_standard_events(void **state)
{
	(void)state;
	write_text("files/mapfile.csv", "0x00000000410fd0c0,v1,arm/neoverse-n1,core\n");
	write_text("files/common-and-microarch.json",
		   "[{\"EventName\": \"BR_RETIRED\", \"EventCode\": \"0x21\","
		   "  \"BriefDescription\": \"general\"},"
		   " {\"EventName\": \"STALL\", \"EventCode\": \"0x3C\"}]");
	write_text("files/arm/neoverse-n1/branch.json",
		   "[{\"ArchStdEvent\": \"BR_RETIRED\", \"BriefDescription\": \"own\"},"
		   " {\"ArchStdEvent\": \"stall\"}, {\"ArchStdEvent\": \"UNKNOWN\"}]");
	install("files", NULL, NULL, "neoverse-n1 2 0; common-and-microarch 2 0");
	assert_loaded("neoverse-n1", "BR_RETIRED=event=0x21 STALL=event=0x3c");
	{
		struct vendor_set set = {};

		assert_int_equal(vendor_load(&roots, "neoverse-n1", &set, NULL), 0);
		assert_string_equal(vendor_find(&set, "br_retired")->description, "own");
		vendor_release(&set);
	}
}

static void loading_again(void **state)
{
	(void)state;
	write_text("files/u_core.json", "[{\"EventName\": \"A\", \"EventCode\": \"0x1\"},"
					"{\"EventName\": \"B\", \"EventCode\": \"0x2\"}]");
	install("files/u_core.json", NULL, "GenuineIntel-6-6A", "u 2 0");
	write_text("files/u_uncore.json", "[{\"EventName\": \"B\", \"EventCode\": \"0x3\"},"
					  "{\"EventName\": \"B\", \"EventCode\": \"0x4\","
					  " \"Unit\": \"iMC\"},"
					  "{\"EventName\": \"C\", \"EventCode\": \"0x5\"}]");
	/* The new one wins, the rest stays, and so do the CPUs. */
	install("files/u_uncore.json", NULL, NULL, "u 4 0");
	{
		struct vendor_set set = {};

		assert_int_equal(vendor_load(&roots, NULL, &set, NULL), 0);
		assert_int_equal(set.events.len, 4);
		assert_string_equal(vendor_find(&set, "A")->terms, "event=0x1");
		assert_string_equal(vendor_find(&set, "C")->terms, "event=0x5");
		vendor_release(&set);
	}
}

static void listing_and_removing(void **state)
{
	vendor_installed_list list = {};
	struct err e = {};

	(void)state;
	write_text("files/b.json", "[{\"EventName\": \"A\"}]");
	write_text("files/a.json", "[{\"EventName\": \"A\"}, {\"EventName\": \"B\"}]");
	install("files/b.json", NULL, "GenuineIntel-6-6A", "b 1 0");
	install("files/a.json", NULL, NULL, "a 2 0");
	assert_int_equal(vendor_list(&roots, &list), 0);
	assert_int_equal(list.len, 2);
	assert_string_equal(list.items[0].uarch, "a");
	assert_int_equal(list.items[0].events, 2);
	assert_false(list.items[0].this_cpu);
	assert_true(list.items[1].this_cpu);
	vendor_installed_release(&list);
	assert_int_equal(vendor_remove("b", &e), 0);
	assert_loaded("b", "-");
	assert_loaded("a", "A=event=0x0 B=event=0x0");
	assert_int_equal(vendor_remove("b", &e), -ENOENT);
	assert_non_null(strstr(e.text, "no events are loaded for 'b'"));
}

static void hostile_names(void **state)
{
	static const char *const names[] = {"../x", "..", ".hidden", "", "a/b", "a b", "a\n"};
	struct err e = {};

	(void)state;
	write_text("files/x.json", "[{\"EventName\": \"A\"}]");
	write_text("data/tacho/events.json", "precious");
	write_text("data/tacho/cpus", "precious");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_not_installed("files/x.json", names[i], NULL, EINVAL, "is not a name");
		assert_int_equal(vendor_remove(names[i], &e), -ENOENT);
	}
	assert_true(fs_exists("%s", in_dir("data/tacho/events.json")));
	assert_loaded("../events", "-");
	/* A mapfile cannot lead out of the store either. */
	write_text("files/mapfile.csv", "GenuineIntel-6-6A,v1,..,core\nx,v1,/,core\n");
	write_text("files/_.json", "[]");
	assert_not_installed("files/_.json", NULL, NULL, EINVAL, "give it by --uarch NAME");
}

static void broken_files(void **state)
{
	(void)state;
	assert_not_installed("files/nothing", NULL, NULL, ENOENT, "cannot open '");
	write_text("files/bad.json", "[\n {\"EventName\": }\n]");
	assert_not_installed("files/bad.json", NULL, NULL, EINVAL,
			     "bad.json': line 2, column 16: ");
	/* A whole folder is loaded, or nothing of it. */
	write_text("files/a.json", "[{\"EventName\": \"A\"}]");
	assert_not_installed("files", NULL, NULL, EINVAL, "bad.json': line 2, column 16: ");
	assert_loaded("a", "-");
	write_text("files/empty/readme.txt", "nothing here");
	assert_not_installed("files/empty", NULL, NULL, ENOENT, "there are no .json files");
	/* A store that somebody damaged is said to be so. */
	remove_tree(in_dir("files/bad.json"));
	install("files/a.json", NULL, NULL, "a 1 0");
	write_text("data/tacho/events/a/events.json", "[}");
	{
		struct vendor_set set = {};
		struct err e = {};

		assert_int_equal(vendor_load(&roots, "a", &set, &e), -EINVAL);
		assert_non_null(strstr(e.text, "events/a/events.json: line 1, column 2"));
	}
	install("files/a.json", NULL, NULL, "a 1 0");
}

static void links_are_not_followed(void **state)
{
	(void)state;
	write_text("files/real/a.json", "[{\"EventName\": \"A\"}]");
	assert_int_equal(symlink("..", in_dir("files/real/up")), 0);
	assert_int_equal(symlink("/dev/zero", in_dir("files/real/zero.json")), 0);
	assert_int_equal(mkfifo(in_dir("files/real/pipe.json"), 0600), 0);
	alarm(300);
	install("files", NULL, NULL, "a 1 0");
	alarm(0);
}

static void cpu_names(void **state)
{
	char text[128];

	(void)state;
	cpuid_text(&roots, text, sizeof(text));
	assert_string_equal(text, "GenuineIntel-6-6A-6");
	write_text("proc/cpuinfo", "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17\n"
				   "stepping : 1\n");
	cpuid_text(&roots, text, sizeof(text));
	assert_string_equal(text, "AuthenticAMD-25-11-1");
	write_text("proc/cpuinfo", "vendor_id : x\nmodel name : 5\n");
	cpuid_text(&roots, text, sizeof(text));
	assert_string_equal(text, "");
	set_midr("0x00000000410fd034\n");
	cpuid_text(&roots, text, sizeof(text));
	assert_string_equal(text, "0x00000000410fd030");
}

/* ---- the published files, if they are at hand ---- */

static uint64_t first_number(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s ? strtoull(s, NULL, 0) : 0;
}

static size_t compare_file(const char *path, const struct vendor_set *set)
{
	json_t *root = json_load_file(path, 0, NULL), *item;
	size_t i, compared = 0;

	assert_non_null(root);
	json_array_foreach(json_object_get(root, "Events"), i, item)
	{
		const char *name = json_string_value(json_object_get(item, "EventName"));
		const struct vendor_event *event = vendor_find(set, name);
		char *terms;

		if (!event)
			fail_msg("%s: %s is missing", path, name);
		if (event->code != first_number(item, "EventCode") ||
		    event->umask != first_number(item, "UMask"))
			fail_msg("%s: %s has another code", path, name);
		terms = xasprintf("event=0x%llx", (unsigned long long)event->code);
		if (event->code && strncmp(event->terms, terms, strlen(terms)))
			fail_msg("%s: %s is %s", path, name, event->terms);
		free(terms);
		compared++;
	}
	json_decref(root);
	return compared;
}

static void published_files(void **state)
{
	const char *source = getenv("TACHO_SOURCE");
	char *dir = xasprintf("%s/../shared/emaps", source ? source : ".");
	vendor_installed_list list = {};
	struct err e = {};

	(void)state;
	if (!fs_exists("%s", dir)) {
		print_message("# SKIP %s is not there\n", dir);
		free(dir);
		skip();
	}
	if (vendor_install(dir, NULL, NULL, &list, &e))
		fail_msg("%s", e.text);
	assert_true(list.len > 0);
	vec_each(&list, item) {
		char *path = xasprintf("%s/%s_core.json", dir, item->uarch);
		struct vendor_set set = {};

		assert_int_equal(vendor_load(&roots, item->uarch, &set, &e), 0);
		assert_int_equal(compare_file(path, &set), set.events.len);
		assert_true(set.events.len > 100);
		print_message("# %s: %zu events compared\n", item->uarch, set.events.len);
		vendor_release(&set);
		free(path);
	}
	{
		struct vendor_set set = {};

		/* The pretended CPU is an Ice Lake server, which the map knows. */
		assert_int_equal(vendor_load(&roots, NULL, &set, &e), 0);
		assert_string_equal(set.uarch, "icelakex");
		vendor_release(&set);
	}
	vendor_installed_release(&list);
	free(dir);
}

#define store_test(f) cmocka_unit_test_setup(f, new_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_form),
		cmocka_unit_test(intel_form),
		cmocka_unit_test(codes),
		cmocka_unit_test(optional_terms),
		cmocka_unit_test(extra_registers),
		cmocka_unit_test(fixed_counters),
		cmocka_unit_test(units),
		cmocka_unit_test(kernel_metrics),
		cmocka_unit_test(intel_metrics),
		cmocka_unit_test(broken_json),
		cmocka_unit_test(wrong_shapes),
		cmocka_unit_test(deep_json),
		store_test(one_file),
		store_test(names_and_cpus_by_the_user),
		store_test(intel_mapfile),
		store_test(kernel_mapfile),
		store_test(arch_standard_events),
		store_test(loading_again),
		store_test(listing_and_removing),
		store_test(hostile_names),
		store_test(broken_files),
		store_test(links_are_not_followed),
		store_test(cpu_names),
		store_test(published_files),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
