/*
 * Power that fails: whatever a disk has kept of what was not synced, and in whatever order, the store opens, is
 * sound, and every run that was reported done is whole. TACHO_POWER_CUTS: how many cuts; TACHO_SEED: which.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "store_faults.h"
#include "power_vfs.h"
#include "profile/summary.h"

#define CUTS       120u
#define CUTS_LYING 200u /* of a disk that does not sync: one of them is found out */
#define RUN_PIECES 8u   /* transactions of a run */
#define CHUNK_ROWS 40u
#define CUT_EVERY  60u /* writes between two cuts, at most */

/* What has been reported to somebody when the power failed. */
struct reported {
	uint32_t done[4]; /* the last runs that were done, 1 + their number; 0: none */
	uint64_t runs;    /* that were done so far */
};

static struct {
	char *watched, *cut; /* directories */
	struct reported now, then;
	uint64_t next;
	bool waiting; /* a cut was made and is to be looked at */
} power_test;

static void maybe_cut(void *unused)
{
	(void)unused;
	if (power_test.waiting || power.writes < power_test.next)
		return;
	remove_tree(power_test.cut);
	if (mkdir(power_test.cut, 0700))
		abort();
	power_cut(power_test.cut);
	power_test.then = power_test.now;
	power_test.waiting = true;
}

/* ---- a server at work ---- */

static void make_chunk(uint32_t number, struct buf *ret, struct chunk_info *ret_info)
{
	struct count_row rows[CHUNK_ROWS];

	for (uint32_t i = 0; i < CHUNK_ROWS; i++)
		rows[i] = (struct count_row){1000ull * number + i + 1, 1, number, 1000000};
	chunk_encode_counts(1, rows, CHUNK_ROWS, ret, ret_info);
}

static void write_piece(struct store *s, struct stored_run *run, uint32_t piece)
{
	CLEANUP(buf_release) struct buf bytes = {};
	struct chunk_info info;

	make_chunk(piece, &bytes, &info);
	OK(store_begin(s, &error));
	OK(store_chunk_add(s, run->id, 0, &info, bytes.s, bytes.len, NULL, 0, NULL, &error));
	OK(store_output_add(s, run->id, 1, piece, bytes.s, bytes.len, &error));
	run->samples += CHUNK_ROWS;
	run->state = piece + 1 == RUN_PIECES ? STATE_DONE : STATE_RUNNING;
	OK(store_run_update(s, run, &error));
	OK(store_commit(s, &error));
}

/* As the thread that tidies up: two chunks become one. */
static void merge_two(struct store *s, int64_t run)
{
	CLEANUP(buf_release) struct buf merged = {};
	struct buf bytes[2] = {};
	struct chunk_piece pieces[2];
	stored_chunks chunks = {};
	struct chunk_info info;
	int64_t old[2];

	OK(store_chunks(s, run, &(struct chunk_query){}, &chunks, &error));
	for (size_t i = 0; i < 2; i++) {
		old[i] = chunks.items[i].id;
		OK(store_chunk_read(s, &chunks.items[i], &bytes[i], NULL, &error));
		pieces[i] = (struct chunk_piece){bytes[i].s, bytes[i].len};
	}
	OK(chunks_merge(pieces, 2, &merged, &info, &error));
	OK(store_chunks_replace(s, run, old, 2, 0, &info, &merged, NULL, &error));
	for (size_t i = 0; i < 2; i++)
		buf_release(&bytes[i]);
	vec_release(&chunks);
}

/* Deletes the run, and gives its room back. */
static void remove_run(struct store *s, int64_t run)
{
	bool more = true;

	OK(store_run_delete(s, run, &error));
	while (more)
		OK(store_purge(s, 0, 1 << 20, &more, &error));
	store_shrink(s, 16384);
}

/* ---- after the cut ---- */

static bool is_sound(const char *directory)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/tacho.db", directory);
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool sound;

	sound = sqlite3_open(path, &db) == SQLITE_OK &&
		sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL) == SQLITE_OK &&
		sqlite3_step(stmt) == SQLITE_ROW &&
		!strcmp((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return sound;
}

static int add_size(void *ctx, int stream, uint64_t time_ns, const void *bytes, size_t size)
{
	(void)stream;
	(void)time_ns;
	(void)bytes;
	*(size_t *)ctx += size > 0;
	return 0;
}

static bool is_whole(struct store *s, int64_t id)
{
	struct stored_run run = {};
	stored_chunks chunks = {};
	size_t pieces = 0;
	uint64_t rows = 0;
	bool whole = store_run_get_id(s, id, &run, &error) == 0 && run.state == STATE_DONE &&
		     run.samples == RUN_PIECES * CHUNK_ROWS &&
		     store_output_each(s, id, 0, add_size, &pieces, &error) == 0 &&
		     pieces == RUN_PIECES &&
		     store_chunks(s, id, &(struct chunk_query){}, &chunks, &error) == 0;

	vec_each(&chunks, c) {
		CLEANUP(buf_release) struct buf bytes = {};
		struct count_columns columns = {};

		rows += c->info.rows;
		whole = whole && store_chunk_read(s, c, &bytes, NULL, &error) == 0 &&
			chunk_decode_counts(bytes.s, bytes.len, &columns, &error) == 0;
		count_columns_release(&columns);
	}
	vec_release(&chunks);
	stored_run_release(&run);
	return whole && rows == RUN_PIECES * CHUNK_ROWS;
}

/* False: something that was reported is lost, or the store is damaged. */
static bool survives(void)
{
	struct store *s = NULL;
	bool well;

	error.text[0] = '\0';
	well = store_open(&s, &(struct store_options){.directory = power_test.cut}, &error) == 0;
	for (size_t i = 0; i < ARRAY_LEN(power_test.then.done) && well; i++)
		if (power_test.then.done[i])
			well = is_whole(s, power_test.then.done[i] - 1);
	store_close(s);
	return well && is_sound(power_test.cut);
}

/* ---- tests ---- */

/* Looks at a cut if there was one; false: not survived. */
static bool look(unsigned *cuts)
{
	if (!power_test.waiting)
		return true;
	if (!survives())
		return false;
	++*cuts;
	power_test.waiting = false;
	power_test.next = power.writes + 1 + power_dice(CUT_EVERY);
	return true;
}

static uint64_t seed(void)
{
	const char *text = getenv("TACHO_SEED");

	return text ? strtoull(text, NULL, 10) : 1;
}

/* Measures runs until the power has failed so often; false: a cut was not survived. *cuts is which one. */
static bool run_through(unsigned wanted, bool syncs_lie, unsigned *cuts)
{
	struct stored_session session = {};
	struct store *s;
	bool well = true;

	power_test.now = (struct reported){};
	power_test.waiting = false;
	power_test.next = UINT64_MAX;
	power_begin(power_test.watched, seed(), maybe_cut, NULL);
	power.syncs_lie = false;
	s = open_store(power_test.watched);
	OK(store_session_add(s, "s", &session, &error));
	power.syncs_lie = syncs_lie;
	power_test.next = 1;
	while (*cuts < wanted && well) {
		struct stored_run run = {.session_id = session.id, .command = (char *)"x"};
		uint32_t *slot =
			&power_test.now.done[power_test.now.runs % ARRAY_LEN(power_test.now.done)];

		OK(store_run_add(s, &run, &error));
		for (uint32_t i = 0; i < RUN_PIECES && well; i++) {
			write_piece(s, &run, i);
			well = look(cuts);
		}
		/* The oldest makes room before the new one is reported. */
		if (*slot) {
			uint32_t old = *slot - 1;

			*slot = 0;
			remove_run(s, old);
		}
		*slot = (uint32_t)run.id + 1;
		power_test.now.runs++;
		if (well)
			merge_two(s, run.id);
		well = well && look(cuts);
		/* Now and then the server is restarted. */
		if (power_dice(8) == 0) {
			store_close(s);
			s = open_store(power_test.watched);
		}
		well = well && look(cuts);
	}
	power_test.waiting = true;
	store_close(s);
	stored_session_release(&session);
	power_end();
	return well;
}

static void test_power_fails_at_any_moment(void **state)
{
	const char *text = getenv("TACHO_POWER_CUTS");
	unsigned cuts = 0, wanted = text ? (unsigned)atoi(text) : CUTS;

	(void)state;
	if (!run_through(wanted, false, &cuts))
		fail_msg("cut %u, TACHO_SEED=%llu: %s", cuts, (unsigned long long)seed(),
			 error.text);
	print_message("# %u cuts, %llu runs, TACHO_SEED=%llu\n", cuts,
		      (unsigned long long)power_test.now.runs, (unsigned long long)seed());
}

/* The test can fail: on a disk that does not do what it is told, something is lost. */
static void test_a_disk_that_does_not_sync_is_found_out(void **state)
{
	unsigned cuts = 0;

	(void)state;
	assert_false(run_through(CUTS_LYING, true, &cuts));
	print_message("# found out at cut %u\n", cuts);
}

static int begin(void **state)
{
	(void)state;
	power_test.watched = xstrdup(in_dir("watched"));
	power_test.cut = xstrdup(in_dir("cut"));
	return 0;
}

static int end(void **state)
{
	(void)state;
	remove_tree(power_test.watched);
	remove_tree(power_test.cut);
	free(power_test.watched);
	free(power_test.cut);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_power_fails_at_any_moment, begin, end),
		cmocka_unit_test_setup_teardown(test_a_disk_that_does_not_sync_is_found_out, begin,
						end),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
