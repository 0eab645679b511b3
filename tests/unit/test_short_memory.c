/*
 * Memory that runs out: each large allocation of each question about a stored run fails once, alone. The question is
 * answered as always or fails with -ENOMEM and a sentence, and the next one is answered as always.
 *
 * The linker leads all allocations of this program to the functions below (--wrap), so that nothing of this is in the
 * server.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "support.h"
#include "base/clock.h"
#include "base/reserve.h"
#include "base/vec.h"
#include "bus/bus.h"
#include "query/run_cache.h"
#include "runs/live/live.h"
#include "runs/runs.h"
#include "server/api/api.h"
#include "../fuzz/store_seed.h"

#define ASK_HANDLED() (void)end_failing()
static unsigned end_failing(void);
#include "../fuzz/store_ask.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* What is smaller is not sized by what is stored or asked. */
#define LARGE_BYTES 1024u
#define MIB         (1u << 20)

/* ---- allocations that fail ---- */

static atomic_uint allocations; /* large ones between begin_failing() and end_failing() */
static atomic_uint failing;     /* the one that fails, from 1; 0: none */
static atomic_bool armed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
char *__real_strndup(const char *s, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
char *__wrap_strndup(const char *s, size_t len);

static bool fails(size_t bytes)
{
	return bytes >= LARGE_BYTES && atomic_load(&armed) &&
	       atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&failing);
}

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return fails(count * size) ? NULL : __real_reallocarray(old, count, size);
}

char *__wrap_strndup(const char *s, size_t len)
{
	return fails(strnlen(s, len)) ? NULL : __real_strndup(s, len);
}

static void begin_failing(unsigned number)
{
	atomic_store(&failing, number);
	atomic_store(&allocations, 0);
	atomic_store(&armed, true);
}

/* Returns how many large allocations there were. */
static unsigned end_failing(void)
{
	atomic_store(&armed, false);
	return atomic_load(&allocations);
}

/* ---- a server that is asked ---- */

static char directory[300], session[UUID_BYTES];
static struct err error;

static struct {
	struct server server;
	struct api api;
} world;

/* With an empty cache, so that all that is needed is read. */
static int ask_failing(const char *question, const struct asked *who, unsigned number,
		       struct buf *ret_body, unsigned *ret_count)
{
	int r;

	world.server.cache = run_cache_new(0);
	begin_failing(number);
	r = ask(&world.api, question, who, ret_body);
	*ret_count = end_failing();
	reserve_settle();
	run_cache_free(world.server.cache);
	return r;
}

struct figures {
	unsigned points, right, failed;
};

static void fail_each_of(const char *question, const struct asked *who, struct figures *sum)
{
	CLEANUP(buf_release) struct buf right = {};
	CLEANUP(buf_release) struct buf again = {};
	unsigned count, seen;
	int r = ask_failing(question, who, 0, &right, &count);
	bool same; /* some answers tell the time */

	ask_failing(question, who, 0, &again, &seen);
	same = !strcmp(buf_str(&right), buf_str(&again));

	for (unsigned n = 1; n <= count; n++) {
		CLEANUP(buf_release) struct buf body = {};
		int now = ask_failing(question, who, n, &body, &seen);

		sum->points++;
		if (now == -ENOMEM && r != -ENOMEM) {
			sum->failed++;
			continue;
		}
		if (now != r || (same && strcmp(buf_str(&body), buf_str(&right)) != 0))
			fail_msg("%s, allocation %u of %u: %d %.2000s, not %d %.2000s", question, n,
				 count, now, buf_str(&body), r, buf_str(&right));
		sum->right++;
	}
}

static void test_each_allocation_fails_its_question_alone(void **state)
{
	struct figures sum = {};

	(void)state;
	for (unsigned run = 0; run < 2; run++)
		for (size_t i = 0; i < ARRAY_LEN(questions); i++)
			fail_each_of(
				questions[i],
				&(struct asked){{seed_uuids[run], seed_uuids[run + 1]}, session},
				&sum);
	assert_true(sum.failed > 0);
	print_message("# %u points in %zu questions: %u failed, %u were answered as always\n",
		      sum.points, 2 * ARRAY_LEN(questions), sum.failed, sum.right);
}

/* ---- the reserve ---- */

/* What this process has of it: threads of the parent, whose stacks and heaps a fork copies, take an unknown part. */
static rlim_t address_space_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages;

	if (!statm || fscanf(statm, "%lu", &pages) != 1)
		_exit(4);
	fclose(statm);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Takes address space in pieces until there is none; returns at the first one that needs the reserve. */
static void take_all(bool with_reserve)
{
	struct rlimit limit;
	VEC(void *) pieces = {};

	signal(SIGABRT, SIG_DFL);
	reserve_begin(with_reserve ? 64 * MIB : 0);
	vec_reserve(&pieces, 4096);
	limit.rlim_cur = limit.rlim_max = address_space_bytes() + 256 * MIB;
	if (setrlimit(RLIMIT_AS, &limit))
		_exit(3);
	/* The second time all is as it was before. */
	for (int round = 0; round < 2; round++) {
		while (!reserve_is_short())
			vec_push(&pieces, xcalloc(1, MIB));
		/* What is still to be done finds room. */
		for (int i = 0; i < 32; i++)
			vec_push(&pieces, xcalloc(1, MIB));
		vec_each(&pieces, piece)
			free(*piece);
		pieces.len = 0;
		reserve_settle();
	}
	_exit(0);
}

static int status_of(bool with_reserve)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){});
		take_all(with_reserve);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void test_the_reserve_is_there_when_memory_is_not(void **state)
{
	int status;

	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	print_message("# SKIP address space cannot be limited under ASan\n");
	skip();
#endif
	assert_int_equal(status_of(true), 0);
	status = status_of(false);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* ---- all of it ---- */

static int begin(void **state)
{
	if (make_support_dir(state))
		return -1;
	snprintf(directory, sizeof(directory), "%s/data", support_dir);
	seed_make(directory, session);
	world.server = (struct server){
		.config = {.data = directory, .queue_max = 10, .running_max = 2}, .lock_fd = -1};
	world.server.host.settings.data = directory;
	world.server.host.clock = &system_clock;
	world.server.host.bus = bus_new(&system_clock);
	world.server.host.live = live_new(&world.server.host);
	if (store_open(&world.api.store, &(struct store_options){.directory = directory}, &error) <
		    0 ||
	    runs_prepare(&world.server.host.runs, &world.server.host, &error) < 0) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	world.api.server = &world.server;
	server_begin_memory();
	return 0;
}

static int end(void **state)
{
	reserve_begin(0);
	runs_stop(world.server.host.runs);
	live_free(world.server.host.live);
	bus_free(world.server.host.bus);
	strvec_release(&world.server.host.notices);
	store_close(world.api.store);
	return remove_support_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_fails_its_question_alone),
		cmocka_unit_test(test_the_reserve_is_there_when_memory_is_not),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
