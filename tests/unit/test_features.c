/*
 * The sections of a recording's header as they are written: the machine, its tracepoints, and the build
 * ids of what was mapped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/build_id_table.h"
#include "perfdata/features_machine.h"
#include "perfdata/tracing_data.h"
#include "perfdata/writer.h"
#include "support.h"

#include <time.h>

static const uint64_t ids[] = {11, 12, 13};
static const struct writer_event events[] = {
	{.name = "cycles", .attr = {.type = 0, .config = 0}, .ids = ids, .id_count = 2},
	{.name = "faults", .attr = {.type = 1, .config = 2}, .ids = ids + 2, .id_count = 1},
};

static void test_machine(void **state)
{
	static const char *const argv[] = {"tacho", "record", "true"};
	static const struct feature_group groups[] = {{NULL, 0, 2}};
	CLEANUP(feature_set_release) struct feature_set set = {};
	struct roots roots = roots_find();
	struct feature_facts facts = {.roots = &roots,
				      .argv = argv,
				      .argc = 3,
				      .events = events,
				      .event_count = 2,
				      .groups = groups,
				      .group_count = 1,
				      .use_clockid = true,
				      .clockid = CLOCK_MONOTONIC,
				      .branch_stack = true};
	const uint32_t *numbers;

	(void)state;
	features_of_machine(&set, &facts);
	features_sample_time(&set, 5, 6);
	assert_string_equal(set.sections[FEATURE_VERSION].s + 4, "tacho " TACHO_VERSION);
	assert_int_equal(set.sections[FEATURE_CMDLINE].len, 4 + 3 * 68);
	assert_string_equal(set.sections[FEATURE_CMDLINE].s + 4 + 68 + 4, "record");
	assert_int_equal(set.sections[FEATURE_EVENT_DESC].len,
			 8 + 2 * (sizeof(struct perf_event_attr) + 4 + 68) + 3 * 8);
	assert_int_equal(set.sections[FEATURE_GROUP_DESC].len, 4 + 68 + 8);
	assert_int_equal(set.sections[FEATURE_CLOCK_DATA].len, 24);
	assert_int_equal(set.sections[FEATURE_SAMPLE_TIME].len, 16);
	assert_true(feature_set_has(&set, FEATURE_BRANCH_STACK));
	assert_false(feature_set_has(&set, FEATURE_BUILD_ID));
	if (!feature_set_has(&set, FEATURE_NRCPUS)) {
		print_message("no CPU lists in /sys: not tried\n");
		return;
	}
	numbers = (const uint32_t *)set.sections[FEATURE_NRCPUS].s;
	assert_true(numbers[0] >= numbers[1]);
	assert_int_equal(numbers[1], sysconf(_SC_NPROCESSORS_ONLN));
}

/* Machines of other kinds, broken ones among them: no section may be half. */
static void test_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(trees); i++) {
		CLEANUP(feature_set_release) struct feature_set set = {};
		struct feature_facts facts = {.events = events, .event_count = 2};
		struct roots roots;

		assert_int_equal(unpack_tree(trees[i]), 0);
		use_tree(trees[i]);
		roots = roots_find();
		facts.roots = &roots;
		features_of_machine(&set, &facts);
		if (feature_set_has(&set, FEATURE_CPU_TOPOLOGY)) {
			uint32_t avail = *(uint32_t *)set.sections[FEATURE_NRCPUS].s;

			assert_true(set.sections[FEATURE_CPU_TOPOLOGY].len >= 8 + 8 * avail);
		}
	}
	unsetenv("TACHO_SYSFS");
	unsetenv("TACHO_PROCFS");
}

static void test_tracing_data(void **state)
{
	static const char *const names[] = {"b:two", "a:one", "b:three", "b:two"};
	static const char *const missing[] = {"a:none"};
	static const char expected[] = "\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0"
				       "header_page\0\2\0\0\0\0\0\0\0P\n"
				       "header_event\0\2\0\0\0\0\0\0\0E\n"
				       "\0\0\0\0\2\0\0\0"
				       "a\0\1\0\0\0\4\0\0\0\0\0\0\0one\n"
				       "b\0\2\0\0\0\6\0\0\0\0\0\0\0three\n\4\0\0\0\0\0\0\0two\n"
				       "\0\0\0\0\3\0\0\0pk\n\0\0\0\0\0\0\0";
	CLEANUP(feature_set_release) struct feature_set set = {};
	struct roots roots = {.sys = "/sys", .proc = "/proc"};
	struct err e = {};

	(void)state;
	snprintf(roots.tracefs, sizeof(roots.tracefs), "%s", in_dir("tracefs"));
	write_text("tracefs/events/header_page", "P\n");
	write_text("tracefs/events/header_event", "E\n");
	write_text("tracefs/events/a/one/format", "one\n");
	write_text("tracefs/events/b/two/format", "two\n");
	write_text("tracefs/events/b/three/format", "three\n");
	write_text("tracefs/printk_formats", "pk\n");
	assert_int_equal(tracing_data_add(&set, &roots, names, 4, &e), 0);
	if (sysconf(_SC_PAGESIZE) == 4096 && sizeof(long) == 8 && *(uint16_t *)"\1\0" == 1) {
		assert_int_equal(set.sections[FEATURE_TRACING_DATA].len, sizeof(expected));
		assert_memory_equal(set.sections[FEATURE_TRACING_DATA].s, expected,
				    sizeof(expected));
	}
	assert_int_equal(tracing_data_add(&set, &roots, missing, 1, &e), -ENOENT);
	assert_non_null(strstr(e.text, "a/none/format"));
	assert_false(feature_set_has(&set, FEATURE_TRACING_DATA));
	roots.tracefs[0] = '\0';
	assert_int_equal(tracing_data_add(&set, &roots, names, 4, &e), -ENOENT);
}

static void add_mmap2(struct buf *b, const char *name, uint8_t first, uint8_t size, bool with_id)
{
	struct {
		struct perf_event_header header;
		uint64_t rest[4];
		uint8_t size, pad[3], id[20];
		uint32_t prot, flags;
	} m = {.header = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER},
	       .size = size,
	       .id = {first}};

	if (with_id)
		m.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	m.header.size = (uint16_t)(sizeof(m) + 16);
	buf_add_mem(b, &m, sizeof(m));
	buf_add(b, name);
	buf_pad(b, 16 - strlen(name), '\0');
}

static void test_build_ids(void **state)
{
	CLEANUP(feature_set_release) struct feature_set set = {};
	CLEANUP(buf_release) struct buf b = {};
	struct build_id_table *table = build_id_table_new();
	const struct perf_event_header other = {.type = PERF_RECORD_SAMPLE, .size = sizeof(other)};
	const struct perf_event_header *header;
	const char *section;

	(void)state;
	add_mmap2(&b, "/bin/a", 1, 20, true);
	add_mmap2(&b, "/bin/a", 1, 20, true);
	add_mmap2(&b, "/bin/a", 2, 20, true);
	buf_add_mem(&b, &other, sizeof(other));
	add_mmap2(&b, "/bin/b", 1, 16, true);
	add_mmap2(&b, "/bin/c", 1, 20, false);
	add_mmap2(&b, "/bin/d", 1, 0, true);
	add_mmap2(&b, "/bin/e", 1, 21, true);
	add_mmap2(&b, "sixteen bytes...", 1, 20, true); /* no NUL */
	build_id_table_feature(table, &set);
	assert_false(feature_set_has(&set, FEATURE_BUILD_ID));
	for (size_t cut = 0; cut < b.len; cut++)
		build_id_table_see(table, b.s, cut);
	build_id_table_see(table, b.s, b.len);
	assert_int_equal(build_id_table_count(table), 3);
	build_id_table_feature(table, &set);
	section = set.sections[FEATURE_BUILD_ID].s;
	header = (const void *)section;
	assert_int_equal(set.sections[FEATURE_BUILD_ID].len, 3 * 100);
	assert_int_equal(header->size, 100);
	assert_int_equal(header->misc, PERF_RECORD_MISC_USER | 1 << 15);
	assert_int_equal(section[12], 1);
	assert_int_equal(section[32], 20);
	assert_string_equal(section + 36, "/bin/a");
	assert_int_equal(section[200 + 32], 16);
	/* There is an end to it. */
	for (uint32_t i = 0; i < 100100; i++) {
		struct build_id id = {.size = 4};

		memcpy(id.bytes, &i, sizeof(i));
		build_id_table_add(table, -1, PERF_RECORD_MISC_USER, &id, "/bin/many");
	}
	assert_int_equal(build_id_table_count(table), 100000);
	build_id_table_free(table);
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_tracing_data),
		cmocka_unit_test(test_build_ids),
	};

	return cmocka_run_group_tests_name("features", tests, make_support_dir, remove_support_dir);
}
