/*
 * What happens to the store when others are in the way: the process is killed, somebody has locked the
 * database, many write at once. What disks do to it is in test_store_disk.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "profile/schema.h"
#include "store/store.h"
#include "store_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>

/* ---- killed ---- */

/* What the child says that it has committed; shared memory outlives it. */
struct progress {
	volatile int64_t run;
	volatile uint64_t committed; /* transactions: each adds ROWS_EACH pieces numbered by it */
};

static void write_for_ever(const char *directory, struct progress *p)
{
	struct store *s = NULL;
	char piece[PIECE_BYTES] = "";
	struct chunk_info info = {
		.schema = SCHEMA_SAMPLES, .sampled = true, .rows = 1, .first_ns = 1, .last_ns = 1};
	bool more;

	if (store_open(&s, &(struct store_options){.directory = directory}, NULL))
		_exit(1);
	for (uint64_t n = p->committed + 1;; n++) {
		if (store_begin(s, NULL))
			_exit(2);
		memcpy(piece, &n, sizeof(n));
		info.first_ns = n;
		info.last_ns = n;
		for (int i = 0; i < ROWS_EACH; i++)
			if (store_output_add(s, p->run, 1, n, piece, sizeof(piece), NULL) ||
			    store_chunk_add(s, p->run, 0, &info, piece, sizeof(piece), NULL, 0,
					    NULL, NULL))
				_exit(3);
		if (store_commit(s, NULL))
			_exit(4);
		p->committed = n;
		/* Deleting and giving room back are cut off as well. */
		if (n % 7 == 0) {
			struct stored_run other = {.session_id = 1, .command = (char *)"y"};

			if (store_run_add(s, &other, NULL) ||
			    store_output_add(s, other.id, 1, 1, piece, sizeof(piece), NULL) ||
			    store_run_delete(s, other.id, NULL))
				_exit(5);
			for (more = true; more;)
				if (store_purge(s, 0, 1 << 20, &more, NULL))
					_exit(6);
			store_shrink(s, 16384);
		}
	}
}

static void check_all_there(const char *directory, struct progress *p)
{
	struct store *s = open_store(directory);
	struct found found = {};
	stored_chunks chunks = {};
	struct stored_run run;

	OK(store_output_each(s, p->run, 0, find_piece, &found, &error));
	/* The last one may be committed, but not said. */
	assert_true(found.last >= p->committed && found.last <= p->committed + 1);
	assert_int_equal(found.pieces, found.last * ROWS_EACH);
	OK(store_chunks(s, p->run, &(struct chunk_query){}, &chunks, &error));
	assert_int_equal(chunks.len, found.pieces);
	OK(store_run_get_id(s, p->run, &run, &error));
	assert_int_equal(run.bytes, (int64_t)found.pieces * PIECE_BYTES * 2);
	stored_run_release(&run);
	vec_release(&chunks);
	p->committed = found.last;
	store_close(s);
}

static void test_killed_at_any_moment(void **state)
{
	const char *rounds = getenv("TACHO_KILLS");
	int kills = rounds ? atoi(rounds) : 25;
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("killed"));
	struct progress *p =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct store *s = open_store(directory);
	unsigned seed = 12345;

	(void)state;
	assert_ptr_not_equal(p, MAP_FAILED);
	p->run = new_run(s);
	store_close(s);
	for (int i = 0; i < kills; i++) {
		uint64_t before = p->committed;
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0); /* kill(-1) would be for every process */
		if (!pid)
			write_for_ever(directory, p);
		/* It has to have got somewhere, then any moment is right. */
		while (p->committed < before + 3 && !waitpid(pid, &status, WNOHANG))
			usleep(200);
		usleep((useconds_t)(rand_r(&seed) % 8000));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		check_all_there(directory, p);
		check_integrity(directory);
	}
	print_message("# %d kills, %llu transactions\n", kills, (unsigned long long)p->committed);
	munmap(p, 4096);
}

/* ---- locked ---- */

static void test_locked_by_another(void **state)
{
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("locked"));
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	struct store *s = NULL;
	int64_t run;
	struct stored_run got;
	uint64_t before;
	sqlite3 *db;

	(void)state;
	OK(store_open(&s, &(struct store_options){.directory = directory, .busy_ms = 200}, &error));
	run = new_run(s);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	before = clock_now_ns();
	assert_int_equal(store_begin(s, &error), -EAGAIN);
	assert_true(clock_now_ns() - before >= 190 * NS_PER_MSEC);
	assert_non_null(strstr(error.text, "locked by another program"));
	assert_int_equal(store_note_add(s, run, 1, "x", &error), -EAGAIN);
	/* Reading goes on. */
	OK(store_run_get_id(s, run, &got, &error));
	stored_run_release(&got);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	OK(store_begin(s, &error));
	OK(store_note_add(s, run, 1, "x", &error));
	OK(store_commit(s, &error));
	store_close(s);
}

/* Threads with connections of their own, all writing: everybody gets their turn, nothing is lost. */
struct writer {
	const char *directory;
	int64_t run;
	int failures;
};

static void *write_some(void *arg)
{
	struct writer *w = arg;
	struct store *s = NULL;

	if (store_open(&s, &(struct store_options){.directory = w->directory, .busy_ms = 60000},
		       NULL)) {
		w->failures++;
		return NULL;
	}
	for (int i = 0; i < 50; i++)
		w->failures += store_note_add(s, w->run, 1, "one of many", NULL) != 0;
	store_close(s);
	return NULL;
}

static int count_note(void *ctx, uint64_t time_ns, const char *text)
{
	(void)time_ns;
	(void)text;
	++*(int *)ctx;
	return 0;
}

static void test_many_writers(void **state)
{
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("many"));
	struct store *s = open_store(directory);
	struct writer writers[6];
	pthread_t threads[ARRAY_LEN(writers)];
	int notes = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
		writers[i] = (struct writer){directory, new_run(s), 0};
		assert_int_equal(pthread_create(&threads[i], NULL, write_some, &writers[i]), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].failures, 0);
		OK(store_notes(s, writers[i].run, count_note, &notes, &error));
	}
	assert_int_equal(notes, 50 * ARRAY_LEN(writers));
	store_close(s);
}

/* All of them make the database at the same time. */
static void *open_and_close(void *arg)
{
	struct writer *w = arg;
	struct store *s = NULL;

	w->failures = store_open(
		&s, &(struct store_options){.directory = w->directory, .busy_ms = 60000}, NULL);
	store_close(s);
	return NULL;
}

static void test_opened_by_many_at_once(void **state)
{
	CLEANUP(free_ptr) char *directory = NULL;
	struct writer writers[8];
	pthread_t threads[ARRAY_LEN(writers)];

	(void)state;
	for (int round = 0; round < 5; round++) {
		free(directory);
		directory = xasprintf("%s/at-once-%d", support_dir, round);
		for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
			writers[i] = (struct writer){.directory = directory};
			assert_int_equal(
				pthread_create(&threads[i], NULL, open_and_close, &writers[i]), 0);
		}
		for (size_t i = 0; i < ARRAY_LEN(writers); i++) {
			pthread_join(threads[i], NULL);
			assert_int_equal(writers[i].failures, 0);
		}
	}
}

/*
 * Deleting much does not keep others from writing for long: it is done in many steps, and between any two of
 * them others can write. The purger waits after each step until somebody has written once more.
 */
struct purger {
	const char *directory;
	atomic_int written;
	int purges, shrinks;
	atomic_bool over;
	int failures;
};

static void let_others_write(struct purger *p)
{
	int before = p->written;

	while (p->written == before)
		usleep(1000);
}

static void *purge_all(void *arg)
{
	struct purger *p = arg;
	struct store *s = NULL;
	bool more = true;

	p->failures = store_open(
		&s, &(struct store_options){.directory = p->directory, .busy_ms = 60000}, NULL);
	while (more && !p->failures) {
		p->failures = store_purge(s, 0, 4 << 20, &more, NULL);
		p->purges++;
		let_others_write(p);
	}
	while (!p->failures && store_shrink(s, 2 << 20)) {
		p->shrinks++;
		let_others_write(p);
	}
	store_close(s);
	p->over = true;
	return NULL;
}

static void test_others_write_while_much_is_deleted(void **state)
{
	CLEANUP(free_ptr) char *directory = xstrdup(in_dir("much"));
	struct chunk_info info = {
		.schema = SCHEMA_SAMPLES, .sampled = true, .rows = 1, .first_ns = 1, .last_ns = 1};
	struct store *s = open_store(directory);
	/* Static: the thread goes on if the test fails. */
	static struct purger purger;
	int64_t run = new_run(s), other = new_run(s);
	char *bytes = xcalloc(1, 1 << 20);
	uint64_t size, unused;
	pthread_t thread;

	(void)state;
	purger.directory = directory;
	OK(store_begin(s, &error));
	for (int i = 0; i < 100; i++)
		OK(store_chunk_add(s, run, 0, &info, bytes, 1 << 20, NULL, 0, NULL, &error));
	OK(store_commit(s, &error));
	OK(store_run_delete(s, run, &error));
	assert_int_equal(pthread_create(&thread, NULL, purge_all, &purger), 0);
	while (!purger.over) {
		OK(store_note_add(s, other, 1, "meanwhile", &error));
		purger.written++;
		usleep(1000);
	}
	pthread_join(thread, NULL);
	print_message("# %d and %d steps, %d transactions meanwhile\n", purger.purges,
		      purger.shrinks, purger.written);
	assert_int_equal(purger.failures, 0);
	/* 100 MB by 4 MB, and given back by 2 MB; in one go it would be one step each. */
	assert_true(purger.purges >= 25);
	assert_true(purger.shrinks >= 40);
	while (store_shrink(s, 2 << 20))
		;
	OK(store_size(s, &size, &unused, &error));
	assert_true(size < 8 << 20);
	free(bytes);
	store_close(s);
}

/* ---- taken away while it is open ---- */

static struct store *open_in(const char *name, char **ret_path)
{
	*ret_path = xasprintf("%s/%s/tacho.db", support_dir, name);
	return open_store(in_dir(name));
}

/* Nothing is stored any more, in transactions or without, and what was stored can be read. */
static void check_lost(struct store *s, int64_t run)
{
	struct stored_run more = {.session_id = 1, .command = (char *)"y"}, got = {};
	int notes = 0;

	assert_int_equal(store_check(s, &error), -ESTALE);
	assert_non_null(strstr(error.text, "deleted or replaced"));
	assert_int_equal(store_note_add(s, run, 1, "x", &error), -ESTALE);
	assert_non_null(strstr(error.text, "deleted or replaced"));
	assert_int_equal(store_run_add(s, &more, &error), -ESTALE);
	OK(store_begin(s, &error));
	OK(store_note_add(s, run, 1, "x", &error));
	assert_int_equal(store_commit(s, &error), -ESTALE);
	OK(store_run_get_id(s, run, &got, &error));
	stored_run_release(&got);
	OK(store_notes(s, run, count_note, &notes, &error));
	assert_int_equal(notes, 0);
}

static void test_deleted_while_open(void **state)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		CLEANUP(free_ptr) char *path = NULL, *name = xasprintf("deleted%zu", i);
		struct store *s = open_in(name, &path);
		CLEANUP(free_ptr) char *file = xasprintf("%s%s", path, suffixes[i]);
		int64_t run = new_run(s);

		OK(store_check(s, &error));
		assert_int_equal(unlink(file), 0);
		check_lost(s, run);
		store_close(s);
	}
}

static void test_moved_away_and_back(void **state)
{
	CLEANUP(free_ptr) char *path = NULL;
	struct store *s = open_in("moved", &path);
	int64_t run = new_run(s);

	(void)state;
	assert_int_equal(rename(path, in_dir("away")), 0);
	check_lost(s, run);
	assert_int_equal(rename(in_dir("away"), path), 0);
	OK(store_check(s, &error));
	OK(store_note_add(s, run, 1, "x", &error));
	store_close(s);
}

static void test_replaced_while_open(void **state)
{
	CLEANUP(free_ptr) char *path = NULL, *other_path = NULL;
	struct store *s = open_in("replaced", &path), *other = open_in("other", &other_path);
	int64_t run = new_run(s);
	int notes = 0;

	(void)state;
	store_close(other);
	assert_int_equal(rename(other_path, path), 0);
	check_lost(s, run);
	/* For those who still read it. */
	store_settle_lost(s, true);
	OK(store_note_add(s, run, 1, "the end", &error));
	store_settle_lost(s, false);
	assert_int_equal(store_note_add(s, run, 1, "x", &error), -ESTALE);
	OK(store_notes(s, run, count_note, &notes, &error));
	assert_int_equal(notes, 1);
	store_close(s);
	/* The other one has not suffered. */
	s = open_store(in_dir("replaced"));
	assert_int_equal(store_run_get_id(s, run, &(struct stored_run){}, &error), -ENOENT);
	OK(store_check(s, &error));
	store_close(s);
	check_integrity(in_dir("replaced"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_at_any_moment),
		cmocka_unit_test(test_locked_by_another),
		cmocka_unit_test(test_many_writers),
		cmocka_unit_test(test_opened_by_many_at_once),
		cmocka_unit_test(test_others_write_while_much_is_deleted),
		cmocka_unit_test(test_deleted_while_open),
		cmocka_unit_test(test_moved_away_and_back),
		cmocka_unit_test(test_replaced_while_open),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
