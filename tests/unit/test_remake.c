/*
 * perf.data made from tables and samples, read back: the same functions, tasks, times and weights. The
 * program that was "recorded" is the test itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/resolve.h"
#include "server/export/remake.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int remade_leaf(int x);
int remade_caller(int x);

__attribute__((noinline)) int remade_leaf(int x)
{
	volatile int y = x;

	return y * 3 + 1;
}

__attribute__((noinline)) int remade_caller(int x)
{
	return remade_leaf(x) + remade_leaf(x + 1);
}

static struct profile profile, back;
static char file[] = "/tmp/tacho-remake-XXXXXX";
static frame_id leaf, caller, kernel, nowhere, mark;
static thread_id before, after, other;
static struct resolve_report report;

static uint64_t address_of(struct module *m, const char *name)
{
	const struct symtab *t = module_symbols(m);

	for (size_t i = 0; t && i < t->symbols.len; i++)
		if (!strcmp(symtab_name(t, &t->symbols.items[i]), name))
			return t->symbols.items[i].start;
	fail_msg("no symbol '%s'", name);
	return 0;
}

/* Tables as resolving a recording makes them. */
static int set_up(void **state)
{
	struct modules *modules = modules_new(NULL);
	char path[4096], id[64] = "";
	const struct elf_segment *segments;
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	struct module *m;
	module_id self;
	int fd;

	(void)state;
	if (len < 0)
		return -1;
	path[len] = '\0';
	profile_init(&profile);
	profile_init(&back);
	profile_event(&profile, "cycles:u");
	profile_event(&profile, "my-event");
	m = modules_get(modules, &(struct module_request){.kind = MODULE_ELF, .path = path});
	for (size_t i = 0; i < m->build_id.size; i++)
		snprintf(id + 2 * i, 3, "%02x", m->build_id.bytes[i]);
	self = profile_module(&profile, path, id, CODE_USER);
	for (size_t i = elf_segments(module_elf(m), &segments); i-- > 0;)
		if (segments[i].type == PT_LOAD && (segments[i].flags & PF_X))
			profile.modules.items[self.n].bias =
				segments[i].address - segments[i].offset;
	leaf = profile_frame(&profile, self, address_of(m, "remade_leaf") + 2);
	caller = profile_frame(&profile, self, address_of(m, "remade_caller") + 9);
	kernel = profile_frame(&profile,
			       profile_module(&profile, "[kernel.kallsyms]", NULL, CODE_KERNEL),
			       0xffffffff81001234);
	nowhere = profile_frame(&profile, profile_module(&profile, "[unknown]", NULL, CODE_UNKNOWN),
				0);
	mark = profile_frame_named(&profile, "[stack cut off]", 15, CODE_UNKNOWN);
	before = profile_thread(&profile, 100, 101, profile_string(&profile, "early"));
	after = profile_thread(&profile, 100, 101, profile_string(&profile, "late"));
	other = profile_thread(&profile, 200, 200, profile_string(&profile, "other"));
	modules_free(modules);
	strcpy(file, "/tmp/tacho-remake-XXXXXX");
	fd = mkstemp(file);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	unlink(file);
	profile_release(&profile);
	profile_release(&back);
	return 0;
}

/* Outermost first. */
static uint32_t stack_of(size_t count, const frame_id *frames)
{
	stack_id stack = {};

	for (size_t i = 0; i < count; i++)
		stack = profile_stack(&profile, stack, frames[i]);
	return stack.n;
}

#define STACK(...)                                                                                 \
	stack_of(sizeof((frame_id[]){__VA_ARGS__}) / sizeof(frame_id), (frame_id[]){__VA_ARGS__})

static void make(const struct sample_row *rows, size_t count, uint64_t lost)
{
	CLEANUP(buf_release) struct buf lacks = {};
	CLEANUP(free_ptr) char *path = NULL;
	struct remake_options o = {
		.profile = &profile, .monotonic = true, .hostname = "far-away", .lost = lost};
	struct err e = {};
	struct remake *r;
	FILE *f = fopen(file, "r+");

	assert_non_null(f);
	path = xasprintf("/proc/self/fd/%d", fileno(f));
	o.path = path;
	if (remake_open(&r, &o, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < count; i++)
		if (remake_sample(r, &rows[i], &e))
			fail_msg("%s", e.text);
	if (remake_finish(r, &lacks, &e))
		fail_msg("%s", e.text);
	assert_non_null(strstr(lacks.s, "load addresses are not the real ones"));
	fclose(f);
}

static void read_back(void)
{
	struct resolve_options o = {.precision = RESOLVE_ADDRESSES, .by_cpu = true, .threads = 1};
	struct modules *modules = modules_new(NULL);
	struct perfdata *in;
	struct err e = {};

	if (perfdata_open(&in, file, NULL, &e) || resolve_file(in, modules, &o, &back, &report, &e))
		fail_msg("%s", e.text);
	assert_string_equal(in->facts.hostname, "far-away");
	assert_non_null(strstr(in->facts.version, "made from a stored run"));
	perfdata_close(in);
	modules_free(modules);
}

/* "comm cpu event weight outer;inner" of a row. */
static void describe(const struct profile_row *row, struct buf *out)
{
	frame_id frames[16];
	size_t count = 0;

	buf_addf(out, "%s %u %s %llu", profile_text(&back, back.threads.items[row->thread.n].comm),
		 row->cpu, profile_text(&back, back.events.items[row->event.n].name),
		 (unsigned long long)row->weight);
	for (uint32_t s = row->stack.n; s && count < 16; s = back.stacks.items[s].parent.n)
		frames[count++] = back.stacks.items[s].frame;
	while (count--) {
		const struct profile_frame *f = &back.frames.items[frames[count].n];

		if (f->module.n && back.modules.items[f->module.n].kind == CODE_KERNEL)
			buf_addf(out, " kernel:%llx", (unsigned long long)f->address);
		else
			buf_addf(out, " %s",
				 function_text(&back, names_of(&back, frames[count])->function));
	}
	buf_add_char(out, '\n');
}

static void expect(const char *line)
{
	CLEANUP(buf_release) struct buf all = {};

	vec_each(&back.rows, row)
		describe(row, &all);
	if (!strstr(buf_str(&all), line))
		fail_msg("'%s' is not in:\n%s", line, buf_str(&all));
}

static bool has_address(uint64_t address)
{
	vec_each(&back.frames, frame)
		if (frame->address == address)
			return true;
	return false;
}

static void test_round_trip(void **state)
{
	struct sample_row rows[] = {
		{.time_ns = 1000,
		 .weight = 7,
		 .thread = before.n,
		 .cpu = 3,
		 .stack = STACK(caller, leaf)},
		{.time_ns = 2000,
		 .weight = 8,
		 .thread = before.n,
		 .event = 1,
		 .stack = STACK(caller, kernel)},
		{.time_ns = 2500, .weight = 3, .thread = other.n, .stack = STACK(leaf)},
		{.time_ns = 3000,
		 .weight = 9,
		 .thread = after.n,
		 .stack = STACK(mark, nowhere, caller, leaf)},
		{.time_ns = 4000, .weight = 1, .thread = after.n, .stack = STACK(nowhere)},
	};

	(void)state;
	make(rows, ARRAY_LEN(rows), 5);
	read_back();
	assert_int_equal(report.samples, 5);
	assert_int_equal(back.first_ns, 1000);
	assert_int_equal(back.last_ns, 4000);
	expect("early 3 cycles:u 7 remade_caller remade_leaf\n");
	expect("early 0 my-event 8 remade_caller kernel:ffffffff81001234\n");
	expect("other 0 cycles:u 3 remade_leaf\n");
	expect("late 0 cycles:u 9 [unknown] remade_caller remade_leaf\n");
	expect("late 0 cycles:u 1 [unknown]\n");
	/* Of a caller, too, the address is the one that the tables had. */
	assert_true(has_address(profile.frames.items[caller.n].address));
	assert_true(has_address(profile.frames.items[leaf.n].address));
	assert_int_equal(back.lost, 5);
}

static void test_numbers_that_lead_nowhere(void **state)
{
	struct sample_row rows[] = {
		{.time_ns = 1, .weight = 1, .thread = 99, .stack = 12345, .event = 77},
		{.time_ns = 2, .weight = 1, .stack = STACK(caller, leaf)},
	};

	(void)state;
	make(rows, 2, 0);
	read_back();
	assert_int_equal(report.samples, 2);
}

static void test_hostile_addresses(void **state)
{
	module_id self = {1};
	struct sample_row rows[] = {
		{.time_ns = 1,
		 .weight = 1,
		 .stack = STACK(profile_frame(&profile, self, 0),
				profile_frame(&profile, self, UINT64_MAX - 5000),
				profile_frame(&profile, self, UINT64_MAX))},
		{.time_ns = 2,
		 .weight = 1,
		 .stack = STACK(profile_frame(
			 &profile, profile_module(&profile, "bpf_prog", NULL, CODE_KERNEL), 5))},
		{.time_ns = 3,
		 .weight = 1,
		 .stack = STACK(profile_frame(
			 &profile, profile_module(&profile, "/tmp/perf-9.map", NULL, CODE_JIT),
			 UINT64_MAX - 4095))},
	};

	(void)state;
	make(rows, 3, 0);
	read_back();
	assert_int_equal(report.samples, 3);
}

static void test_deep_stack(void **state)
{
	struct sample_row row = {.time_ns = 1, .weight = 1};
	stack_id stack = {};

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		stack = profile_stack(&profile, stack, caller);
	row.stack = stack.n;
	make(&row, 1, 0);
	read_back();
	assert_int_equal(report.samples, 1);
}

static void test_nothing(void **state)
{
	struct remake_options o = {.path = file, .profile = &profile};
	struct remake *r;
	struct err e = {};

	(void)state;
	profile.events.len = 0;
	assert_int_equal(remake_open(&r, &o, &e), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),        TEST(test_numbers_that_lead_nowhere),
		TEST(test_hostile_addresses), TEST(test_deep_stack),
		TEST(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
