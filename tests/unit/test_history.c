/* What was mapped where, and who was who, at any time. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "resolve/history.h"

#include <string.h>

/* ---- sets of mappings ---- */

#define PLACES 200

/* Against the plainest model there is: an array with what lies at each address, a copy a version. */
static void sets_agree_with_an_array(void **state)
{
	enum { VERSIONS = 300 };
	static uint32_t truth[VERSIONS + 1][PLACES];
	uint32_t roots[VERSIONS + 1] = {0};
	uint64_t dice = 12345;
	struct maps m;

	(void)state;
	maps_init(&m);
	for (uint32_t v = 1; v <= VERSIONS; v++) {
		uint64_t start, end;

		dice = dice * 6364136223846793005ull + 1442695040888963407ull;
		start = (dice >> 33) % PLACES;
		end = start + 1 + (dice >> 13) % 40;
		roots[v] = maps_add(&m, roots[v - 1], start, end, v);
		memcpy(truth[v], truth[v - 1], sizeof(truth[v]));
		for (uint64_t at = start; at < end && at < PLACES; at++)
			truth[v][at] = v;
	}
	/* Old sets are still what they were. */
	for (uint32_t v = 0; v <= VERSIONS; v++)
		for (uint32_t at = 0; at < PLACES; at++) {
			uint32_t found = 0;

			maps_find(&m, roots[v], at, &found);
			assert_int_equal(found, truth[v][at]);
		}
	maps_release(&m);
}

static void ascending_mappings_stay_cheap(void **state)
{
	struct maps m;
	uint32_t root = 0, found;

	(void)state;
	maps_init(&m);
	for (uint32_t i = 1; i <= 20000; i++)
		root = maps_add(&m, root, i * 10ull, i * 10ull + 10, i);
	for (uint32_t i = 1; i <= 20000; i++) {
		assert_true(maps_find(&m, root, i * 10ull + 3, &found));
		assert_int_equal(found, i);
	}
	/* A way of ten to thirty nodes each, not of thousands. */
	assert_true(m.nodes.len < 20000u * 100);
	assert_false(maps_find(&m, root, 5, &found));
	assert_false(maps_find(&m, root, 200010, &found));
	maps_release(&m);
}

static void an_empty_range_adds_nothing(void **state)
{
	struct maps m;

	(void)state;
	maps_init(&m);
	assert_int_equal(maps_add(&m, 0, 10, 10, 1), 0);
	assert_int_equal(maps_add(&m, 0, 10, 5, 1), 0);
	maps_release(&m);
}

/* ---- processes ---- */

struct fixture {
	struct profile profile;
	struct history history;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	profile_init(&f->profile);
	history_init(&f->history, &f->profile);
	return f;
}

static void fixture_free(struct fixture *f)
{
	history_release(&f->history);
	profile_release(&f->profile);
	free(f);
}

static void map(struct fixture *f, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t length,
		const char *path)
{
	struct record r = {
		.type = PERF_RECORD_MMAP2,
		.misc = pid == KERNEL_PID ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.mmap = {.pid = pid,
			 .tid = pid,
			 .start = start,
			 .length = length,
			 .filename = path},
	};

	history_record(&f->history, &r, time_ns);
}

static void comm(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid, const char *name,
		 bool exec)
{
	struct record r = {
		.type = PERF_RECORD_COMM,
		.misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		.comm = {.pid = pid, .tid = tid, .comm = name},
	};

	history_record(&f->history, &r, time_ns);
}

static void fork_task(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t parent)
{
	struct record r = {
		.type = PERF_RECORD_FORK,
		.task = {.pid = pid, .tid = pid, .parent_pid = parent, .parent_tid = parent},
	};

	history_record(&f->history, &r, time_ns);
}

/* The path of what lies at an address of a process, "" if nothing does. */
static const char *path_at(const struct fixture *f, uint32_t pid, uint64_t time_ns,
			   uint64_t address)
{
	const struct history *h = &f->history;
	uint32_t root = pid == KERNEL_PID ? history_kernel(h, time_ns, NULL)
					  : history_space(h, pid, time_ns, NULL);
	uint32_t n;

	if (!maps_find(&h->maps, root, address, &n))
		return "";
	return h->images.items[h->mappings.items[n].image].request.path;
}

static const char *comm_at(const struct fixture *f, uint32_t tid, uint64_t time_ns)
{
	thread_id t = history_thread(&f->history, tid, time_ns, NULL);

	return profile_text(&f->profile, f->profile.threads.items[t.n].comm);
}

static void memory_is_that_of_the_time(void **state)
{
	struct fixture *f = fixture_new();

	(void)state;
	map(f, 10, 7, 0x1000, 0x1000, "/lib/a.so");
	map(f, 20, 7, 0x1000, 0x1000, "/lib/b.so");
	assert_string_equal(path_at(f, 7, 15, 0x1800), "/lib/a.so");
	assert_string_equal(path_at(f, 7, 20, 0x1800), "/lib/b.so");
	assert_string_equal(path_at(f, 7, 99, 0x2000), "");
	assert_string_equal(path_at(f, 8, 99, 0x1800), "");
	fixture_free(f);
}

static void a_fork_inherits_and_an_exec_replaces(void **state)
{
	struct fixture *f = fixture_new();

	(void)state;
	comm(f, 1, 7, 7, "sh", false);
	map(f, 10, 7, 0x1000, 0x1000, "/bin/sh");
	fork_task(f, 20, 8, 7);
	map(f, 25, 7, 0x1000, 0x1000, "/lib/late.so");
	assert_string_equal(path_at(f, 8, 30, 0x1800), "/bin/sh");
	assert_string_equal(comm_at(f, 8, 30), "sh");
	comm(f, 40, 8, 8, "ls", true);
	map(f, 41, 8, 0x5000, 0x1000, "/bin/ls");
	assert_string_equal(path_at(f, 8, 39, 0x1800), "/bin/sh");
	assert_string_equal(path_at(f, 8, 45, 0x5800), "/bin/ls");
	/* The call of exec itself is still in the old program. */
	assert_string_equal(path_at(f, 8, 40, 0x1800), "/bin/sh");
	map(f, 46, 8, 0x1000, 0x1000, "/lib/new.so");
	assert_string_equal(path_at(f, 8, 47, 0x1800), "/lib/new.so");
	assert_string_equal(comm_at(f, 8, 39), "sh");
	assert_string_equal(comm_at(f, 8, 40), "ls");
	fixture_free(f);
}

static void exit_task(struct fixture *f, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct record r = {.type = PERF_RECORD_EXIT, .task = {.pid = pid, .tid = tid}};

	history_record(&f->history, &r, time_ns);
}

/* A process that lives shortly: forked by 7, another program, gone. */
static void short_life(struct fixture *f, uint64_t time_ns, uint32_t pid)
{
	fork_task(f, time_ns, pid, 7);
	comm(f, time_ns + 1, pid, pid, "ls", true);
	for (uint64_t i = 0; i < 5; i++)
		map(f, time_ns + 2 + i, pid, 0x1000 + i * 0x800, 0x1000, "/bin/ls");
	exit_task(f, time_ns + 9, pid, pid);
}

/* However many processes come and go, and whatever is forgotten, what is now stays as it was. */
static void what_is_over_is_forgotten(void **state)
{
	struct fixture *f = fixture_new();
	size_t most_nodes = 0, most_eras = 0;
	uint64_t now = 100;

	(void)state;
	comm(f, 1, 7, 7, "sh", false);
	map(f, 10, 7, 0x1000, 0x1000, "/bin/sh");
	map(f, 10, KERNEL_PID, 0xffff000000000000, 0x1000, "[kernel.kallsyms]");
	comm(f, 11, 9, 9, "main", false);
	comm(f, 12, 9, 10, "helper", false);
	map(f, 13, 9, 0x1000, 0x1000, "/bin/threads");
	exit_task(f, 14, 9, 9); /* its other thread goes on */
	for (uint32_t round = 0; round < 50; round++) {
		for (uint32_t i = 0; i < 100; i++, now += 10)
			short_life(f, now, 1000 + (round * 100 + i) % 1500);
		history_forget(&f->history, now - 100, now);
		if (f->history.maps.nodes.len > most_nodes)
			most_nodes = f->history.maps.nodes.len;
		if (f->history.era_count > most_eras)
			most_eras = f->history.era_count;
		/* The last ten are still asked for. */
		for (uint32_t i = 0; i < 10; i++) {
			uint32_t pid = 1000 + (round * 100 + 99 - i) % 1500;
			uint64_t begun = now - 10 - 10ull * i;

			assert_string_equal(path_at(f, pid, begun, 0x1800), "/bin/sh");
			assert_string_equal(path_at(f, pid, begun + 9, 0x1800), "/bin/ls");
			assert_string_equal(comm_at(f, pid, begun), "sh");
			assert_string_equal(comm_at(f, pid, begun + 9), "ls");
		}
		assert_string_equal(path_at(f, 7, now, 0x1800), "/bin/sh");
		assert_string_equal(path_at(f, 9, now, 0x1800), "/bin/threads");
		assert_string_equal(path_at(f, KERNEL_PID, now, 0xffff000000000010),
				    "[kernel.kallsyms]");
	}
	assert_true(most_nodes < 10000);
	assert_true(most_eras < 10000);
	assert_true(f->history.mappings.len < 2000);
	/* Of those who are gone not even the number is remembered: here they are used again, elsewhere
	 * there are four million. */
	assert_true(f->history.threads.count < 300);
	assert_true(f->history.task_eras.len < 300);
	assert_true(f->history.spaces.len < 300);
	assert_int_equal(f->history.refused, 0);
	fixture_free(f);
}

/* Of many that live shortly only those who have samples get into the profile. */
static void threads_on_demand(void **state)
{
	struct fixture *f = fixture_new();
	size_t before;
	thread_id asked;

	(void)state;
	f->history.threads_on_demand = true;
	comm(f, 1, 7, 7, "sh", false);
	before = f->profile.threads.len;
	for (uint32_t i = 0; i < 100; i++)
		short_life(f, 100 + 10 * i, 1000 + i);
	assert_int_equal(f->profile.threads.len, before);
	asked = history_thread_now(&f->history, 1050, 605, NULL);
	assert_int_equal(f->profile.threads.len, before + 1);
	assert_int_equal(f->profile.threads.items[asked.n].tid, 1050);
	assert_string_equal(comm_at(f, 1050, 605), "ls");
	assert_int_equal(history_thread_now(&f->history, 1050, 606, NULL).n, asked.n);
	fixture_free(f);
}

static void kinds_of_code_are_told_apart(void **state)
{
	static const struct {
		const char *path, *shown;
		enum module_kind kind;
	} rows[] = {
		{"/usr/bin/x", "/usr/bin/x", MODULE_ELF},
		{"//anon", "/tmp/perf-7.map", MODULE_PERF_MAP},
		{"/memfd:jit (deleted)", "/tmp/perf-7.map", MODULE_PERF_MAP},
		{"[vdso]", "[vdso]", MODULE_VDSO},
		{"[heap]", "[heap]", MODULE_OPAQUE},
		{"/tmp/jit-7.dump", "/tmp/jit-7.dump", MODULE_JITDUMP},
	};
	struct fixture *f = fixture_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t start = 0x1000 * (i + 1);
		const struct image *image;
		uint32_t n = 0;

		map(f, 10 + i, 7, start, 0x1000, rows[i].path);
		assert_string_equal(path_at(f, 7, 99, start), rows[i].shown);
		assert_true(maps_find(&f->history.maps, history_space(&f->history, 7, 99, NULL),
				      start, &n));
		image = &f->history.images.items[f->history.mappings.items[n].image];
		assert_int_equal(image->request.kind, rows[i].kind);
	}
	map(f, 50, KERNEL_PID, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text");
	map(f, 51, KERNEL_PID, 0xffffffffc0000000, 0x1000, "[ext4]");
	assert_string_equal(path_at(f, KERNEL_PID, 99, 0xffffffff81000010), "[kernel.kallsyms]");
	assert_string_equal(path_at(f, KERNEL_PID, 99, 0xffffffffc0000010), "[ext4]");
	fixture_free(f);
}

static void a_mapping_to_the_end_of_memory_is_no_surprise(void **state)
{
	struct fixture *f = fixture_new();

	(void)state;
	map(f, 1, 7, 0xfffffffffffff000, 0x2000, "/lib/end.so");
	assert_string_equal(path_at(f, 7, 2, 0xfffffffffffff800), "/lib/end.so");
	fixture_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_agree_with_an_array),
		cmocka_unit_test(ascending_mappings_stay_cheap),
		cmocka_unit_test(an_empty_range_adds_nothing),
		cmocka_unit_test(memory_is_that_of_the_time),
		cmocka_unit_test(a_fork_inherits_and_an_exec_replaces),
		cmocka_unit_test(what_is_over_is_forgotten),
		cmocka_unit_test(threads_on_demand),
		cmocka_unit_test(kinds_of_code_are_told_apart),
		cmocka_unit_test(a_mapping_to_the_end_of_memory_is_no_surprise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
