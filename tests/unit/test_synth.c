/*
 * Records for what was there before, and build ids: of this very process, of made-up files of all
 * four kinds of ELF, and of broken ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "perf/build_id.h"
#include "perf/synth.h"
#include "perf/synth_read.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/prctl.h>

/* ---- build ids ---- */

static struct build_id id_of_corpus(const char *name)
{
	const char *source = getenv("TACHO_SOURCE");
	CLEANUP(free_ptr)
	char *path = xasprintf("%s/tests/fuzz/corpus/build_id/%s", source ? source : ".", name);
	struct build_id id = {}, again = {};
	int fd = open(path, O_RDONLY);
	unsigned char bytes[8192];
	ssize_t size;

	assert_true(fd >= 0);
	size = read(fd, bytes, sizeof(bytes));
	assert_true(size > 0);
	build_id_of_memory(bytes, (size_t)size, &id);
	build_id_of_fd(fd, &again);
	assert_memory_equal(&id, &again, sizeof(id));
	/* Cut anywhere it must not read on; the memory ends there. */
	for (size_t cut = 0; cut < (size_t)size; cut++) {
		unsigned char *copy = malloc(cut ? cut : 1);

		memcpy(copy, bytes, cut);
		again = (struct build_id){};
		if (build_id_of_memory(copy, cut, &again))
			assert_memory_equal(&id, &again, sizeof(id));
		free(copy);
	}
	close(fd);
	return id;
}

static void test_elf_kinds(void **state)
{
	static const struct {
		const char *name;
		unsigned size;
	} cases[] = {{"elf64_little", 20}, {"elf64_big", 20},     {"elf32_little", 16},
		     {"elf32_big", 8},     {"align8", 20},        {"huge_name", 0},
		     {"huge_body", 0},     {"huge_note", 0},      {"many_segments", 0},
		     {"too_long_id", 0},   {"table_past_end", 0}, {"maps_line", 0}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct build_id id = id_of_corpus(cases[i].name);

		assert_int_equal(id.size, cases[i].size);
		for (unsigned k = 0; k < id.size; k++)
			assert_int_equal(id.bytes[k], k + 1);
	}
}

static void test_files(void **state)
{
	struct build_id id = {};
	char *fifo = xstrdup(in_dir("fifo"));

	(void)state;
	assert_true(build_id_of_file("/proc/self/exe", 0, &id));
	assert_int_equal(id.size, 20);
	id = (struct build_id){};
	assert_false(build_id_of_file("/proc/self/exe", 1, &id));
	/* Would hang, if it were opened for reading as it is. */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_false(build_id_of_file(fifo, 0, &id));
	assert_false(build_id_of_file("/dev/zero", 0, &id));
	assert_false(build_id_of_file(support_dir, 0, &id));
	write_text("text", "no program");
	assert_false(build_id_of_file(in_dir("text"), 0, &id));
	write_text("empty", "");
	assert_false(build_id_of_file(in_dir("empty"), 0, &id));
	assert_int_equal(id.size, 0);
	free(fifo);
}

static void test_cache(void **state)
{
	struct build_id_cache cache = {};

	(void)state;
	assert_null(build_id_cache_find(&cache, 1, 1));
	for (uint64_t i = 0; i < 5000; i++) {
		struct build_id id = {.size = (uint8_t)(i % 21)};

		build_id_cache_add(&cache, i % 3, i, &id);
	}
	for (uint64_t i = 0; i < 5000; i++) {
		assert_non_null(build_id_cache_find(&cache, i % 3, i));
		assert_int_equal(build_id_cache_find(&cache, i % 3, i)->size, i % 21);
		assert_null(build_id_cache_find(&cache, i % 3 + 1, i));
	}
	build_id_cache_release(&cache);
}

/* ---- records ---- */

static int take(void *ctx, const void *records, size_t size)
{
	buf_add_mem(ctx, records, size);
	return 0;
}

static const struct perf_event_attr tracking = {
	.sample_id_all = 1,
	.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
		       PERF_SAMPLE_IDENTIFIER,
};

struct found {
	size_t counts[32];
	size_t with_id;
	bool own_program, own_thread;
};

/* Walks over whole records; each ends with what the attr asks for. */
static struct found look_at(const struct buf *b, uint64_t id)
{
	struct found found = {};

	for (size_t at = 0; at < b->len;) {
		struct perf_event_header h;
		uint64_t tail[4];
		const char *r = b->s + at;

		assert_true(b->len - at >= sizeof(h));
		memcpy(&h, r, sizeof(h));
		assert_true(h.size % 8 == 0 && h.size > sizeof(h) + sizeof(tail));
		assert_true(h.size <= b->len - at && h.type < 32);
		memcpy(tail, r + h.size - sizeof(tail), sizeof(tail));
		assert_int_equal((uint32_t)tail[0], *(uint32_t *)(r + 8)); /* pid */
		assert_int_equal(tail[1], 0);                              /* time */
		assert_int_equal(tail[3], id);
		found.counts[h.type]++;
		if (h.type == PERF_RECORD_MMAP2) {
			found.with_id += !!(h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
			found.own_program |= !!strstr(r + 72, "test_synth");
		}
		if (h.type == PERF_RECORD_COMM)
			found.own_thread |= !strcmp(r + 16, "synth-thread");
		at += h.size;
	}
	return found;
}

static pthread_barrier_t barrier;

static void *named_thread(void *ctx)
{
	prctl(PR_SET_NAME, "synth-thread");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return ctx;
}

static void test_own_process(void **state)
{
	struct roots roots = roots_find();
	CLEANUP(buf_release) struct buf b = {};
	struct synth_options options = {.roots = &roots,
					.attr = &tracking,
					.id = 77,
					.build_ids = true,
					.sink = take,
					.ctx = &b};
	struct synth *s = synth_new(&options);
	void *jit = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;
	struct found found;

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, named_thread, NULL);
	pthread_barrier_wait(&barrier);
	assert_int_equal(synth_process(s, getpid()), 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	found = look_at(&b, 77);
	assert_true(found.counts[PERF_RECORD_COMM] >= 2);
	assert_int_equal(found.counts[PERF_RECORD_FORK], found.counts[PERF_RECORD_COMM]);
	assert_true(found.own_thread && found.own_program);
	assert_true(found.with_id >= 2); /* this program, libc */
	assert_true(found.counts[PERF_RECORD_MMAP2] > found.with_id);
	assert_non_null(memmem(b.s, b.len, "//anon", 7));
	assert_false(synth_cut(s));
	assert_int_equal(synth_process(s, 0x3ffffff), -ESRCH);
	synth_free(s);
	munmap(jit, 4096);
}

static void test_all_processes(void **state)
{
	struct roots roots = roots_find();
	CLEANUP(buf_release) struct buf b = {};
	struct synth_options options = {
		.roots = &roots, .attr = &tracking, .id = 1, .sink = take, .ctx = &b};
	struct synth *s = synth_new(&options);

	(void)state;
	assert_int_equal(synth_all(s), 0);
	assert_int_equal(look_at(&b, 1).with_id, 0);
	assert_true(look_at(&b, 1).own_program);
	synth_free(s);
}

static int refuse(void *ctx, const void *records, size_t size)
{
	(void)ctx;
	(void)records;
	(void)size;
	return -ENOSPC;
}

static void test_limits(void **state)
{
	struct roots roots = roots_find();
	CLEANUP(buf_release) struct buf b = {};
	struct synth_options options = {
		.roots = &roots, .attr = &tracking, .limit_bytes = 500, .sink = take, .ctx = &b};
	struct synth *s = synth_new(&options);

	(void)state;
	assert_int_equal(synth_process(s, getpid()), 0);
	assert_true(synth_cut(s));
	assert_in_range(b.len, 300, 500);
	look_at(&b, 0);
	synth_free(s);
	options.limit_bytes = 0;
	options.deadline_ns = clock_now_ns();
	s = synth_new(&options);
	assert_int_equal(synth_all(s), 0);
	assert_true(synth_cut(s));
	synth_free(s);
	options.deadline_ns = 0;
	options.sink = refuse;
	s = synth_new(&options);
	assert_int_equal(synth_process(s, getpid()), -ENOSPC);
	synth_free(s);
}

/* A program that was deleted, and another in its place: the right build id or none. */
static void test_deleted(void **state)
{
	struct roots roots = roots_find();
	CLEANUP(buf_release) struct buf b = {};
	struct synth_options options = {
		.roots = &roots, .attr = &tracking, .build_ids = true, .sink = take, .ctx = &b};
	struct synth *s = synth_new(&options);
	char *path = xstrdup(in_dir("program")), *text = NULL;
	int fd = open("/proc/self/exe", O_RDONLY), copy = open(path, O_RDWR | O_CREAT, 0700);
	struct build_id id = {};
	void *map;

	(void)state;
	assert_true(fd >= 0 && copy >= 0);
	/* Not copy_file_range(): the build may be on another file system than the test's folder. */
	while (sendfile(copy, fd, NULL, 1 << 20) > 0)
		;
	assert_true(build_id_of_fd(copy, &id));
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, copy, 0);
	if (map == MAP_FAILED) {
		print_message("# SKIP no executable mappings in the test's folder\n");
		skip();
	}
	unlink(path);
	write_text("program", "something else");
	assert_int_equal(synth_process(s, getpid()), 0);
	text = memmem(b.s, b.len, path, strlen(path));
	assert_non_null(text);
	/* The kernel's link to it can be opened by root. */
	if (text[-72 + 5] & 0x40 || geteuid() == 0)
		assert_memory_equal(text - 72 + 44, id.bytes, id.size);
	munmap(map, 4096);
	close(fd);
	close(copy);
	synth_free(s);
	free(path);
}

/* ---- the kernel ---- */

static void check_kernel(const char *kallsyms, const char *iomem, const char *modules,
			 const char *symbol, uint64_t start, uint64_t size, size_t records)
{
	static char proc[300];
	struct roots roots = {.sys = "/sys", .proc = proc};
	CLEANUP(buf_release) struct buf b = {};
	struct synth_options options = {
		.roots = &roots, .attr = &tracking, .id = 5, .sink = take, .ctx = &b};
	struct synth *s = synth_new(&options);
	struct kernel_text text = {};

	snprintf(proc, sizeof(proc), "%s", in_dir("proc"));
	write_text("proc/kallsyms", kallsyms);
	write_text("proc/iomem", iomem);
	write_text("proc/modules", modules);
	assert_int_equal(synth_read_kernel(&roots, &text), symbol != NULL);
	if (symbol) {
		assert_string_equal(text.symbol, symbol);
		assert_int_equal(text.start, start);
		assert_int_equal(text.size, size);
	}
	assert_int_equal(synth_kernel(s), 0);
	assert_int_equal(look_at(&b, 5).counts[PERF_RECORD_MMAP], records);
	synth_free(s);
}

static void test_kernel(void **state)
{
	const char *modules = "ext4 1011712 1 - Live 0xffffffffc0300000\n"
			      "jbd2 200704 1 ext4, Live 0xffffffffc0200000 (E)\n";
	const char *iomem = "00000000-00000fff : Reserved\n01000000-7fffffff : System RAM\n"
			    "  01000000-01ffffff : Kernel code\n";

	(void)state;
	check_kernel("ffffffff81000000 T _stext\nffffffff81000000 T _text\n", iomem, modules,
		     "_text", 0xffffffff81000000, 0x1000000, 3);
	check_kernel("0000000000000000 A cpu_data\nffff800080000000 T _text\n"
		     "ffff800080010000 T _stext\n",
		     "", "", "_text", 0xffff800080000000, UINT64_MAX - 0xffff800080000000, 1);
	check_kernel("ffffffff81000000 T _stext\nffffffff81000040 T other\n"
		     "ffffffff81000080 T _text\n",
		     iomem, "", "_stext", 0xffffffff81000000, 0x1000000, 1);
	/* Hidden from whoever may not see them. */
	check_kernel("0000000000000000 T _stext\n0000000000000000 T _text\n",
		     "00000000-00000000 : Kernel code\n", "ext4 1011712 1 - Live 0x0\n", NULL, 0, 0,
		     0);
	check_kernel("", "", "rubbish\n\n", NULL, 0, 0, 0);
}

static void test_maps_lines(void **state)
{
	static const struct {
		const char *line;
		bool good;
		const char *name;
	} cases[] = {
		{"1000-2000 r-xp 00000a00 fe:01 77   /bin/a b", true, "/bin/a b"},
		{"1000-2000 rwxs 00000000 00:00 0 ", true, "//anon"},
		{"1000-2000 rwxs 00000000 00:00 0", true, "//anon"},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]", true,
		 "[vsyscall]"},
		{"2000-1000 r-xp 00000000 00:00 0 x", false, NULL},
		{"1000-2000 r-x", false, NULL},
		{"1000-11112222333344445 r-xp 00000000 00:00 0 x", false, NULL},
		{"", false, NULL},
		{"hello", false, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(free_ptr) char *line = xstrdup(cases[i].line);
		struct mapping m;

		assert_int_equal(mapping_parse(line, &m), cases[i].good);
		if (cases[i].good)
			assert_string_equal(m.name, cases[i].name);
		if (i == 0) {
			assert_int_equal(m.inode, 77);
			assert_int_equal(m.major, 0xfe);
			assert_int_equal(m.offset, 0xa00);
			assert_int_equal(m.prot, PROT_READ | PROT_EXEC);
			assert_int_equal(m.flags, MAP_PRIVATE);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf_kinds),     cmocka_unit_test(test_files),
		cmocka_unit_test(test_cache),         cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_all_processes), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_deleted),       cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_maps_lines),
	};

	return cmocka_run_group_tests_name("synth", tests, make_support_dir, remove_support_dir);
}
