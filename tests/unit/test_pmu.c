/* PMUs as sysfs describes them, and the places of CPUs, on pretended machines. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/pmu.h"
#include "perf/topology.h"
#include "support.h"

static struct roots roots;
static struct pmus pmus;

static void enter(const char *tree)
{
	use_tree(tree);
	roots = roots_find();
	assert_true(roots.foreign);
	pmus_load(&pmus, &roots);
}

static void leave(void)
{
	pmus_release(&pmus);
}

/* ---- bit fields ---- */

static void assert_field(const char *text, const char *want)
{
	struct pmu_field f = {};
	struct buf b = {};

	if (!pmu_field_parse(text, &f))
		fail_msg("'%s' was refused", text);
	buf_addf(&b, "%u:", f.word);
	for (unsigned i = 0; i < f.range_count; i++)
		buf_addf(&b, " %u-%u", f.ranges[i].first, f.ranges[i].last);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void fields(void **state)
{
	static const char *const wrong[] = {"",
					    "config",
					    "config:",
					    ":0-7",
					    "config:63-0",
					    "config:64",
					    "config:0-64",
					    "config9:1-2",
					    "config3:0",
					    "config:0-",
					    "config:-5",
					    "config:,,,",
					    "config : 0",
					    "config:-1--1",
					    "config:100",
					    "config:0-7x",
					    "config:0 -7",
					    "cfg:0-7",
					    "config:0,1,2,3,4,5,6,7,8",
					    "config:0-4294967295",
					    "config:18446744073709551616"};
	struct pmu_field f = {};

	(void)state;
	assert_field("config:0-7", "0: 0-7");
	assert_field("config:18", "0: 18-18");
	assert_field("config:0-7,32-35", "0: 0-7 32-35");
	assert_field("config1:0-63", "1: 0-63");
	assert_field("config2:3-8", "2: 3-8");
	assert_field("config:0,2,4,6,8,10,12,63", "0: 0-0 2-2 4-4 6-6 8-8 10-10 12-12 63-63");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (pmu_field_parse(wrong[i], &f))
			fail_msg("'%s' was taken for a field", wrong[i]);
}

static struct perf_event_attr set(const char *text, uint64_t value, bool fits)
{
	struct perf_event_attr attr = {};
	struct pmu_field f = {};

	assert_true(pmu_field_parse(text, &f));
	assert_int_equal(pmu_field_set(&f, value, &attr), fits);
	return attr;
}

static void values(void **state)
{
	struct perf_event_attr attr = {.config = 0xffff};
	struct pmu_field f = {};

	(void)state;
	assert_int_equal(set("config:8-15", 0x12, true).config, 0x1200);
	assert_true(set("config:0-7,32-35", 0x120, true).config == 0x100000020);
	assert_true(set("config:0-7,32-35", 0xfff, true).config == 0xf000000ff);
	assert_true(set("config:8-15,24-27", 0xabc, true).config == 0xa00bc00);
	assert_true(set("config1:0-63", UINT64_MAX, true).config1 == UINT64_MAX);
	assert_true(set("config2:63", 1, true).config2 == 1ull << 63);
	set("config2:63", 2, false);
	set("config:0-7", 0x100, false);
	set("config:0-7,32-35", 0x1000, false);
	/* A field that is given again replaces, and leaves its neighbours alone. */
	assert_true(pmu_field_parse("config:4-11", &f));
	assert_true(pmu_field_set(&f, 0x12, &attr));
	assert_int_equal(attr.config, 0xf12f);
}

/* ---- machines ---- */

static void assert_cores(const char *tree, const char *want)
{
	struct buf b = {};

	enter(tree);
	for (size_t i = 0; pmus_core(&pmus, i); i++)
		buf_addf(&b, "%s%s/%u/%zu", i ? " " : "", pmus_core(&pmus, i)->name,
			 pmus_core(&pmus, i)->type, pmus_core(&pmus, i)->cpu_count);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	leave();
}

/* name/type/number of CPUs, 0 for all */
static void core_pmus(void **state)
{
	(void)state;
	assert_cores("hybrid-intel", "cpu_atom/10/3 cpu_core/4/12");
	assert_cores("amd-zen4", "cpu/4/0");
	assert_cores("arm64-big-little", "armv8_cortex_a53/8/4 armv8_cortex_a72/9/2");
	assert_cores("arm64-server", "armv8_pmuv3_0/8/8");
	assert_cores("s390x", "cpum_cf/8/0");
	assert_cores("vm-no-pmu", "");
	assert_cores("hostile", "");
}

static void assert_cpus(const char *pmu_name, const char *want)
{
	struct pmu *pmu = pmus_find(&pmus, pmu_name);
	struct buf b = {};

	assert_non_null(pmu);
	for (size_t i = 0; i < pmu->cpu_count; i++)
		buf_addf(&b, "%s%d", i ? " " : "", pmu->cpus[i]);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
}

static void pmu_cpus(void **state)
{
	(void)state;
	enter("hybrid-intel");
	assert_cpus("cpu_atom", "12 13 15");
	assert_cpus("power", "0");
	assert_cpus("cstate_core", "0 2 4 6 8 10 12 13 15");
	assert_cpus("software", "");
	assert_false(pmus_find(&pmus, "power")->core);
	assert_null(pmus_find(&pmus, "cpu"));
	leave();
	enter("amd-zen4");
	assert_cpus("amd_l3", "0 4");
	assert_cpus("amd_umc_1", "4");
	leave();
	enter("arm64-server");
	assert_cpus("arm_spe_0", "0 1 2 3 4 5 6 7");
	assert_false(pmus_find(&pmus, "arm_spe_0")->core);
	assert_cpus("arm_dsu_2", "4");
	leave();
}

static void pmu_fields_and_events(void **state)
{
	const struct pmu_field *field;
	struct pmu_event event;
	strvec names = {};
	struct pmu *pmu;

	(void)state;
	enter("amd-zen4");
	pmu = pmus_find(&pmus, "cpu");
	field = pmu_field(&pmus, pmu, "event");
	assert_non_null(field);
	assert_int_equal(field->range_count, 2);
	assert_int_equal(field->ranges[1].last, 35);
	assert_null(pmu_field(&pmus, pmu, "ldlat"));
	assert_int_equal(pmu_event_names(&pmus, pmu, &names), 0);
	assert_int_equal(names.len, 8);
	strvec_release(&names);
	pmu = pmus_find(&pmus, "power");
	assert_int_equal(pmu_event_names(&pmus, pmu, &names), 0);
	assert_int_equal(names.len, 1); /* .scale and .unit are no events */
	strvec_release(&names);
	assert_true(pmu_event_read(&pmus, pmu, "energy-pkg", &event));
	assert_string_equal(event.terms, "event=0x02");
	assert_string_equal(event.unit, "Joules");
	assert_true(event.scale == 0x1p-32);
	pmu_event_release(&event);
	assert_false(pmu_event_read(&pmus, pmu, "nothing", &event));
	assert_false(pmu_event_read(&pmus, pmu, "../type", &event));
	leave();
	enter("arm64-server");
	/* Ends with two newlines, as the driver writes it. */
	assert_non_null(pmu_field(&pmus, pmus_find(&pmus, "arm_spe_0"), "jitter"));
	leave();
}

static void names_match(void **state)
{
	static const struct {
		const char *name, *wanted;
		bool matches;
	} rows[] = {
		{"uncore_cbox_0", "uncore_cbox", true},
		{"uncore_cbox_12", "uncore_cbox", true},
		{"uncore_cbox_0", "cbox", true},
		{"uncore_cbox", "uncore_cbox", true},
		{"uncore_imc_0", "imc", true},
		{"uncore_imc_0", "imc_0", true},
		{"uncore_imc0", "imc", true},
		{"amd_umc_1", "amd_umc", true},
		{"uncore_cbox_x", "cbox", false},
		{"uncore_cboxes_0", "cbox", false},
		{"uncore_imc_free_running_0", "imc", false},
		{"cpu_core", "cpu", false},
		{"cpum_cf", "cpu", false},
		{"cpu", "cpu_core", false},
		{"imc_0", "uncore_imc", false},
		{"uncore_imc_1", "imc_0", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (pmu_name_matches(rows[i].name, rows[i].wanted) != rows[i].matches)
			fail_msg("%s and %s", rows[i].name, rows[i].wanted);
}

static void hostile_pmus(void **state)
{
	static const char *const absent[] = {
		"type_empty", "type_negative", "type_huge", "type_text", "type_trailing",
		"type_hex",   "type_float",    "type_dir",  "no_type",   "a_file",
		"empty_dir",  "dangling",      "self",      "loop_a",    "chain0"};

	(void)state;
	enter("hostile");
	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (pmus_find(&pmus, absent[i]))
			fail_msg("%s was taken for a PMU", absent[i]);
	assert_int_equal(pmus_find(&pmus, "good")->type, 42);
	assert_int_equal(pmus_find(&pmus, "type_no_newline")->type, 43);
	assert_non_null(pmus_find(&pmus, "chain50"));
	assert_cpus("good", "0");
	assert_cpus("cpus_dup", "0 1");
	assert_cpus("cpus_missing", "4000");
	/* A list that cannot be read is none at all. */
	assert_cpus("cpus_huge", "");
	assert_cpus("cpus_reversed", "");
	assert_cpus("cpus_stride", "");
	assert_cpus("cpus_long", "");
	leave();
}

static void hostile_fields(void **state)
{
	static const char *const absent[] = {"reversed", "huge",         "overflow",   "past_end",
					     "no_bits",  "no_colon",     "no_word",    "open_end",
					     "comma",    "unknown_word", "open_start", "many",
					     "text",     "megabyte",     "long_list",  "nul"};
	struct pmu *pmu;

	(void)state;
	enter("hostile");
	pmu = pmus_find(&pmus, "bad_format");
	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (pmu_field(&pmus, pmu, absent[i]))
			fail_msg("%s was taken for a field", absent[i]);
	assert_non_null(pmu_field(&pmus, pmu, "event"));
	assert_non_null(pmu_field(&pmus, pmu, "overlap_b"));
	leave();
}

/* Reads everything there is; the sanitizers and the time limit look for the rest. */
static void reads_everything(void **state)
{
	size_t events = 0;

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(trees); t++) {
		enter(trees[t]);
		vec_each(&pmus.list, pmu) {
			strvec names = {};

			pmu_field(&pmus, pmu, "x");
			pmu_event_names(&pmus, pmu, &names);
			vec_each(&names, name) {
				struct pmu_event event;

				if (!pmu_event_read(&pmus, pmu, *name, &event))
					continue;
				assert_true(event.scale == event.scale);
				events++;
				pmu_event_release(&event);
			}
			strvec_release(&names);
		}
		leave();
	}
	assert_true(events > 250);
}

/* ---- topology ---- */

/* "cpu:socket.die.core …" */
static void assert_topology(const char *tree, const char *want)
{
	struct topology t = {};
	struct buf b = {};

	use_tree(tree);
	roots = roots_find();
	topology_load(&t, &roots);
	for (size_t i = 0; i < t.count; i++)
		buf_addf(&b, "%s%d:%d.%d.%d", i ? " " : "", t.cpus[i].cpu, t.cpus[i].socket,
			 t.cpus[i].die, t.cpus[i].core);
	assert_string_equal(buf_str(&b), want);
	buf_release(&b);
	topology_release(&t);
	assert_null(t.cpus);
}

static void topologies(void **state)
{
	(void)state;
	assert_topology("hybrid-intel",
			"0:0.0.0 1:0.0.0 2:0.0.4 3:0.0.4 4:0.0.8 5:0.0.8 6:0.0.12 7:0.0.12 "
			"8:0.0.16 9:0.0.16 10:0.0.20 11:0.0.20 12:0.0.24 13:0.0.25 15:0.0.27");
	assert_topology("amd-zen4", "0:0.0.0 1:0.0.1 2:0.0.2 3:0.0.3 4:1.0.0 5:1.0.1 7:1.0.3 "
				    "8:0.0.0 9:0.0.1 10:0.0.2 11:0.0.3 12:1.0.0 13:1.0.1 15:1.0.3");
	/* The kernel numbers the cores of each cluster from 0, and the sockets of each book. */
	assert_topology("arm64-big-little", "0:0.0.0 1:0.0.1 3:0.0.2 4:0.0.3 5:0.0.4");
	assert_topology("s390x", "0:0.0.0 1:0.0.0 2:1.0.1 3:1.0.1 4:2.0.2 5:2.0.2 6:3.0.3");
	assert_topology("vm-no-pmu", "0:0.0.0 1:1.0.0 2:2.0.0 3:3.0.0");
	assert_topology("arm64-server", "0:0.0.0 1:0.0.1 2:0.0.2 3:0.0.3 4:0.0.4 5:0.0.5 6:0.0.6 "
					"7:0.0.7");
}

/* Which CPUs share a core: no two of these do, although their core_id may be the same. */
static void assert_apart(const char *tree, int a, int b)
{
	struct cpu_place pa, pb;
	struct topology t = {};

	use_tree(tree);
	roots = roots_find();
	topology_load(&t, &roots);
	pa = topology_of(&t, a);
	pb = topology_of(&t, b);
	topology_release(&t);
	if (pa.core == pb.core && pa.die == pb.die && pa.socket == pb.socket)
		fail_msg("%s: cpu %d and cpu %d are not the same core", tree, a, b);
}

static void cores_apart(void **state)
{
	(void)state;
	assert_apart("hybrid-intel", 0, 2);
	assert_apart("amd-zen4", 0, 4);
	assert_apart("vm-no-pmu", 0, 1);
	assert_apart("arm64-big-little", 0, 1);
	assert_apart("arm64-big-little", 0, 4);
	assert_apart("s390x", 0, 4);
	assert_apart("s390x", 0, 6);
}

static void offline_cpus(void **state)
{
	struct topology t = {};
	struct cpu_place place;

	(void)state;
	use_tree("s390x");
	roots = roots_find();
	topology_load(&t, &roots);
	assert_int_equal(t.count, 7);
	place = topology_of(&t, 7);
	assert_int_equal(place.cpu, 7);
	assert_int_equal(place.core, 0);
	place = topology_of(&t, 6);
	assert_int_equal(place.core, 3);
	topology_release(&t);
}

static void hostile_topology(void **state)
{
	struct topology t = {};

	(void)state;
	use_tree("hostile");
	roots = roots_find();
	topology_load(&t, &roots);
	/* The list cannot be; what the C library says is used instead. */
	assert_int_equal(t.count, sysconf(_SC_NPROCESSORS_ONLN));
	assert_int_equal(t.cpus[0].socket, 0);
	assert_int_equal(t.cpus[0].core, 0);
	topology_release(&t);
	setenv("TACHO_SYSFS", in_dir("nothing"), 1);
	roots = roots_find();
	topology_load(&t, &roots);
	assert_true(t.count >= 1);
	for (size_t i = 0; i < t.count; i++)
		assert_true(t.cpus[i].socket == 0 && t.cpus[i].core == 0);
	topology_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(values),
		cmocka_unit_test(core_pmus),
		cmocka_unit_test(pmu_cpus),
		cmocka_unit_test(pmu_fields_and_events),
		cmocka_unit_test(names_match),
		cmocka_unit_test(hostile_pmus),
		cmocka_unit_test(hostile_fields),
		cmocka_unit_test(reads_everything),
		cmocka_unit_test(topologies),
		cmocka_unit_test(cores_apart),
		cmocka_unit_test(offline_cpus),
		cmocka_unit_test(hostile_topology),
	};

	return cmocka_run_group_tests(tests, unpack_all, remove_support_dir);
}
