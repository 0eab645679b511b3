/* Code that is announced for later: what lies at an address depends on when one asks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/history.h"

#define PID 77u

static struct profile p;
static struct history h;

static int begin(void **state)
{
	(void)state;
	profile_init(&p);
	history_init(&h, &p);
	return 0;
}

static int end(void **state)
{
	(void)state;
	history_release(&h);
	profile_release(&p);
	return 0;
}

static void expect(uint64_t time_ns, uint64_t address, uint64_t length, uint64_t offset)
{
	struct coming_code code = {.time_ns = time_ns,
				   .length = length,
				   .mapping = {.start = address, .offset = offset, .image = 1},
				   .pid = PID};

	history_expect(&h, &code);
}

/* The offset of the mapping there; 0: none. */
static uint64_t offset_at(uint64_t time_ns, uint64_t address)
{
	uint32_t n;

	if (!maps_find(&h.maps, history_space(&h, PID, time_ns, NULL), address, &n))
		return 0;
	return h.mappings.items[n].offset;
}

static void by_its_time(void **state)
{
	(void)state;
	/* Not in order, as two files may be. */
	expect(300, 0x1000, 0x100, 30);
	expect(100, 0x1000, 0x100, 10);
	expect(200, 0x1080, 0x100, 20);
	expect(200, 0x1080, 0x100, 21);
	history_sort_coming(&h);
	history_catch_up(&h, 150);
	assert_int_equal(offset_at(150, 0x1080), 10);
	history_catch_up(&h, UINT64_MAX);
	assert_int_equal(offset_at(150, 0x1080), 10);
	assert_int_equal(offset_at(250, 0x1080), 21);
	assert_int_equal(offset_at(250, 0x1000), 10);
	assert_int_equal(offset_at(350, 0x1080), 30);
	assert_int_equal(offset_at(350, 0x1100), 21);
	assert_int_equal(offset_at(350, 0x1180), 0);
}

static struct record anonymous(uint64_t start, uint64_t length)
{
	struct record r = {.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};

	r.mmap.pid = r.mmap.tid = PID;
	r.mmap.start = start;
	r.mmap.length = length;
	r.mmap.filename = "//anon";
	return r;
}

/* Memory that becomes executable after its code was told does not hide it; before, it is hidden. */
static void beside_anonymous_memory(void **state)
{
	struct record r = anonymous(0x1000, 0x10000);

	(void)state;
	history_record(&h, &r, 50);
	assert_int_equal(offset_at(60, 0x1000), 0x1000);
	expect(100, 0x1000, 0x100, 10);
	history_sort_coming(&h);
	history_record(&h, &r, 120);
	assert_int_equal(offset_at(130, 0x1000), 10);
	assert_int_equal(offset_at(130, 0x1100), 0x1000);
	assert_int_equal(offset_at(60, 0x1000), 0x1000);
}

static unsigned announced;

static void count_announced(void *ctx, uint32_t image, uint32_t pid, uint64_t time_ns)
{
	(void)ctx;
	assert_int_equal(h.images.items[image].request.kind, MODULE_JITDUMP);
	assert_int_equal(pid, PID);
	assert_int_equal(time_ns, 10);
	announced++;
}

static void each_file_is_announced_once(void **state)
{
	struct record r = anonymous(0x5000, 0x1000);

	(void)state;
	h.on_jitdump = count_announced;
	r.mmap.filename = "/tmp/jit-77.dump";
	history_record(&h, &r, 10);
	history_record(&h, &r, 20);
	assert_int_equal(announced, 1);
}

static void when_it_began(void **state)
{
	struct record r = anonymous(0x5000, 0x1000);

	(void)state;
	assert_int_equal(history_beginning(&h, PID), 0);
	history_record(&h, &r, 10);
	history_record(&h, &r, 20);
	assert_int_equal(history_beginning(&h, PID), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_its_time, begin, end),
		cmocka_unit_test_setup_teardown(beside_anonymous_memory, begin, end),
		cmocka_unit_test_setup_teardown(each_file_is_announced_once, begin, end),
		cmocka_unit_test_setup_teardown(when_it_began, begin, end),
	};

	return cmocka_run_group_tests_name("jit_code", tests, NULL, NULL);
}
