/* The sections of the header, of either byte order, and such as lie. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/facts.h"
#include "record_build.h"

struct fixture {
	struct build b;
	struct stream stream;
	struct perfdata_facts facts;
};

static void begin(struct fixture *f, bool foreign, unsigned events)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	uint32_t event;

	*f = (struct fixture){.b.foreign = foreign};
	for (unsigned i = 0; i < events; i++)
		stream_add_event(&f->stream, &attr, &event);
}

/* What was built so far is a section; true if it is valid. */
static bool add(struct fixture *f, enum feature feature)
{
	struct cursor c = cursor_of(f->b.out.s, f->b.out.len);
	uint64_t before = f->stream.damage_count;

	c.swap = f->b.foreign;
	facts_add(&f->facts, &f->stream, feature, c, 500);
	buf_clear(&f->b.out);
	return f->stream.damage_count == before;
}

static void end(struct fixture *f)
{
	build_release(&f->b);
	facts_release(&f->facts);
	stream_release(&f->stream);
}

static void build_string(struct build *b, const char *s)
{
	build_u32(b, (uint32_t)(strlen(s) / 8 * 8 + 8));
	build_text(b, s);
}

static void small_sections(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct fixture f;

		begin(&f, foreign, 1);
		build_u32(&f.b, 16);
		build_u32(&f.b, 12);
		assert_true(add(&f, FEATURE_NRCPUS));
		assert_int_equal(f.facts.cpus_available, 16);
		assert_int_equal(f.facts.cpus_online, 12);
		build_u32(&f.b, 2);
		build_string(&f.b, "perf");
		build_string(&f.b, "record");
		assert_true(add(&f, FEATURE_CMDLINE));
		assert_int_equal(f.facts.cmdline.len, 2);
		assert_string_equal(f.facts.cmdline.items[1], "record");
		build_u32(&f.b, 1);
		build_u32(&f.b, 7);
		build_u64(&f.b, 1000);
		build_u64(&f.b, 2000);
		assert_true(add(&f, FEATURE_CLOCK_DATA));
		assert_true(f.facts.has_clock);
		assert_int_equal(f.facts.clock_id, 7);
		assert_int_equal(f.facts.clock_ns, 2000);
		build_u64(&f.b, 12345);
		assert_true(add(&f, FEATURE_TOTAL_MEM));
		assert_int_equal(f.facts.total_memory_kb, 12345);
		end(&f);
	}
}

/* Again means instead, not in addition. */
static void pmus_are_replaced(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, false, 1);
	for (unsigned i = 0; i < 100; i++) {
		build_u32(&f.b, 2);
		build_u32(&f.b, 4);
		build_string(&f.b, "cpu");
		build_u32(&f.b, 10 + i);
		build_string(&f.b, "uncore");
		assert_true(add(&f, FEATURE_PMU_MAPPINGS));
	}
	assert_int_equal(f.facts.pmus.len, 2);
	assert_int_equal(f.facts.pmus.items[1].type, 109);
	build_u32(&f.b, UINT32_MAX);
	assert_false(add(&f, FEATURE_PMU_MAPPINGS));
	end(&f);
}

static void build_group(struct build *b, uint32_t leader, uint32_t members)
{
	build_string(b, "{a,b}");
	build_u32(b, leader);
	build_u32(b, members);
}

static void groups(void **state)
{
	static const uint32_t leaders[] = {0, 1, 1, 3, 3, 3};
	struct fixture f;

	(void)state;
	begin(&f, false, 6);
	build_u32(&f.b, 2);
	build_group(&f.b, 1, 2);
	build_group(&f.b, 3, 3);
	assert_true(add(&f, FEATURE_GROUP_DESC));
	for (size_t i = 0; i < ARRAY_LEN(leaders); i++)
		assert_int_equal(f.stream.events.items[i].leader, leaders[i]);
	assert_int_equal(f.stream.events.items[3].members, 3);
	end(&f);
}

static void groups_that_lie(void **state)
{
	static const uint32_t lies[][4] = {
		{0, 3, 2, 2},                                      /* over each other */
		{2, 2, 0, 1},                                      /* backwards */
		{0, 7, 0, 0},                                      /* more than there are */
		{6, 1, 0, 0}, {5, UINT32_MAX, 0, 0}, {0, 0, 0, 0}, /* nobody */
	};
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
		begin(&f, false, 6);
		build_u32(&f.b, 2);
		build_group(&f.b, lies[i][0], lies[i][1]);
		build_group(&f.b, lies[i][2], lies[i][3]);
		assert_false(add(&f, FEATURE_GROUP_DESC));
		for (size_t k = 0; k < 6; k++)
			assert_true(f.stream.events.items[k].leader <= k);
		end(&f);
	}
}

static void build_id_entry(struct build *b, uint16_t misc, unsigned size, const char *name)
{
	build_begin(b, 0, misc);
	build_u32(b, UINT32_MAX);
	for (unsigned i = 0; i < 20; i++)
		buf_add_char(&b->out, (char)(i + 1));
	buf_add_char(&b->out, (char)size);
	build_zeros(b, 3);
	build_text(b, name);
	build_end(b);
}

static void build_ids(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct fixture f;

		begin(&f, foreign, 1);
		build_id_entry(&f.b, 2, 0, "/bin/old");
		build_id_entry(&f.b, 1u << 15 | 2, 16, "/bin/new");
		build_id_entry(&f.b, 1u << 15 | 2, 200, "/bin/lie");
		assert_true(add(&f, FEATURE_BUILD_ID));
		assert_int_equal(f.facts.build_ids.len, 3);
		assert_int_equal(f.facts.build_ids.items[0].pid, -1);
		assert_int_equal(f.facts.build_ids.items[0].size, 20);
		assert_int_equal(f.facts.build_ids.items[1].size, 16);
		assert_int_equal(f.facts.build_ids.items[1].id[15], 16);
		assert_int_equal(f.facts.build_ids.items[2].size, 20);
		assert_string_equal(f.facts.build_ids.items[1].filename, "/bin/new");
		build_id_entry(&f.b, 2, 0, "/bin/cut");
		f.b.out.len -= 3;
		assert_false(add(&f, FEATURE_BUILD_ID));
		end(&f);
	}
}

/* The names of all of them together have a limit; a pipe may bring them without end. */
static void build_ids_are_limited(void **state)
{
	CLEANUP(free_ptr) char *name = xcalloc(60001, 1);
	struct fixture f;

	(void)state;
	memset(name, 'x', 60000);
	begin(&f, false, 1);
	for (unsigned i = 0; i < 2000; i++) {
		build_id_entry(&f.b, 2, 0, name);
		assert_true(add(&f, FEATURE_BUILD_ID));
	}
	assert_in_range(f.facts.build_ids.len, 1000, 1200);
	assert_in_range(f.facts.build_id_names_bytes, 60 << 20, 64 << 20);
	end(&f);
}

/* Cut anywhere, in memory of just that size. */
static void cut_anywhere(void **state)
{
	static const enum feature features[] = {
		FEATURE_NRCPUS,       FEATURE_CMDLINE,  FEATURE_EVENT_DESC,   FEATURE_GROUP_DESC,
		FEATURE_PMU_MAPPINGS, FEATURE_BUILD_ID, FEATURE_TRACING_DATA, FEATURE_CLOCK_DATA};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		for (size_t len = 0; len < 60; len++) {
			unsigned char *bytes = malloc(len + 1);
			struct fixture f;

			assert_non_null(bytes);
			memset(bytes, (int)i + 1, len);
			begin(&f, false, 3);
			facts_add(&f.facts, &f.stream, features[i], cursor_of(bytes, len), 0);
			end(&f);
			free(bytes);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_sections), cmocka_unit_test(pmus_are_replaced),
		cmocka_unit_test(groups),         cmocka_unit_test(groups_that_lie),
		cmocka_unit_test(build_ids),      cmocka_unit_test(build_ids_are_limited),
		cmocka_unit_test(cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
