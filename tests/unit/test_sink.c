/* Sinks: what the flight recorder keeps and drops, and that files begin with what they need. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "collect/sink.h"
#include "support.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/* A record of a type with a number to tell it by. */
struct numbered {
	struct perf_event_header header;
	uint64_t number;
};

#define BEGIN_NUMBER 1000

static unsigned begun;

static void add(struct buf *out, uint32_t type, uint64_t number)
{
	struct numbered record = {{.type = type, .size = sizeof(record)}, number};

	buf_add_mem(out, &record, sizeof(record));
}

static int begin(void *ctx, struct buf *out, struct err *e)
{
	(void)ctx;
	(void)e;
	add(out, PERF_RECORD_COMM, BEGIN_NUMBER + begun++);
	return 0;
}

static void written(void *ctx, const char *path)
{
	snprintf(ctx, 512, "%s", path);
}

/*
 * The sinks ask the kernel for the time when they end a round by themselves. A test may be held up for
 * any number of seconds, so what memory keeps is more than that: only times that a test makes up are further
 * apart than KEEP_NS.
 */
#define KEEP_NS (24 * 3600 * NS_PER_SEC)

static unsigned noted;

static void note(void *ctx, const char *text)
{
	(void)ctx;
	assert_non_null(strstr(text, "only about the last"));
	noted++;
}

static const uint64_t id = 77;
static struct writer_event event = {.name = "dummy",
				    .attr = {.type = PERF_TYPE_SOFTWARE,
					     .size = sizeof(struct perf_event_attr),
					     .config = PERF_COUNT_SW_DUMMY,
					     .sample_type = PERF_SAMPLE_IDENTIFIER},
				    .ids = &id,
				    .id_count = 1};
static struct feature_set features;
static char last_written[512];

static struct sink_options options(enum sink_kind kind)
{
	begun = 0;
	last_written[0] = '\0';
	return (struct sink_options){
		.kind = kind,
		.writer = {.path = in_dir("x.data"),
			   .events = &event,
			   .event_count = 1,
			   .features = &features},
		.lanes = 2,
		.keep_ns = KEEP_NS,
		.keep_bytes = 1 << 20,
		.begin = begin,
		.note = note,
		.written = written,
		.ctx = last_written,
	};
}

static void append(struct sink *s, unsigned lane, uint32_t type, uint64_t number)
{
	struct numbered record = {{.type = type, .size = sizeof(record)}, number};
	/* As if the ring ended in the middle of it. */
	struct ring_view view = {.first = (const void *)&record,
				 .first_bytes = 8,
				 .second = (const unsigned char *)&record + 8,
				 .second_bytes = 8};
	struct err e;

	assert_int_equal(sink_append(s, lane, &view, &e), 0);
}

/* Numbers of our records in the order of the file, as "1000 3 4 ". */
static char *numbers_in(const char *path)
{
	struct buf text = {};
	FILE *f = fopen(path, "r");
	struct perfdata_file_header header;
	struct perf_event_header record;

	assert_non_null(f);
	assert_int_equal(fread(&header, sizeof(header), 1, f), 1);
	for (uint64_t at = header.data.offset; at < header.data.offset + header.data.size;
	     at += record.size) {
		uint64_t number = 0;

		fseek(f, (long)at, SEEK_SET);
		assert_int_equal(fread(&record, sizeof(record), 1, f), 1);
		assert_true(record.size >= sizeof(record));
		if (record.type >= 64 || record.size != sizeof(struct numbered))
			continue;
		assert_int_equal(fread(&number, sizeof(number), 1, f), 1);
		buf_addf(&text, "%llu ", (unsigned long long)number);
	}
	fclose(f);
	return buf_steal(&text) ?: xstrdup("");
}

static void assert_numbers(const char *path, const char *expected)
{
	char *numbers = numbers_in(path);

	assert_string_equal(numbers, expected);
	free(numbers);
}

static void plain_file(void **state)
{
	struct sink_options o = options(SINK_FILE);
	struct sink *s;
	struct err e;

	(void)state;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	append(s, 1, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(sink_round(s, 0, &e), 0);
	assert_int_equal(sink_finish(s, &e), 0);
	assert_numbers(in_dir("x.data"), "1000 1 2 ");
}

/* Old samples go, what tells of processes and mappings stays. */
static void memory_drops_by_age(void **state)
{
	struct sink_options o = options(SINK_MEMORY);
	uint64_t now = clock_now_ns();
	struct sink *s;
	struct err e;

	(void)state;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	append(s, 1, PERF_RECORD_MMAP2, 2);
	append(s, 0, PERF_RECORD_LOST, 3);
	append(s, 0, PERF_RECORD_FORK, 4);
	assert_int_equal(sink_round(s, now, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 5);
	/* The first round is just not too old, then it is. */
	assert_int_equal(sink_round(s, now + KEEP_NS, &e), 0);
	assert_int_equal(sink_bytes(s), 6 * sizeof(struct numbered));
	append(s, 1, PERF_RECORD_SAMPLE, 6);
	assert_int_equal(sink_round(s, now + KEEP_NS + 1, &e), 0);
	assert_int_equal(sink_bytes(s), 5 * sizeof(struct numbered));
	assert_int_equal(sink_finish(s, &e), 0);
	assert_numbers(in_dir("x.data"), "1000 4 2 5 6 ");
}

static void memory_drops_by_size(void **state)
{
	struct sink_options o = options(SINK_MEMORY);
	struct sink *s;
	struct err e;

	(void)state;
	noted = 0;
	o.keep_bytes = 3 * sizeof(struct numbered);
	assert_int_equal(sink_new(&s, &o, &e), 0);
	for (uint64_t i = 1; i <= 500; i++) {
		append(s, i % 2, i == 7 ? PERF_RECORD_COMM : PERF_RECORD_SAMPLE, i);
		assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
		assert_true(sink_bytes(s) <= 5 * sizeof(struct numbered));
	}
	assert_int_equal(sink_finish(s, &e), 0);
	assert_numbers(in_dir("x.data"), "1000 7 498 499 500 ");
	assert_int_equal(noted, 1); /* that it is not the day that was promised */
}

static void memory_snapshots(void **state)
{
	struct sink_options o = options(SINK_MEMORY);
	struct sink *s;
	struct err e;

	(void)state;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	assert_int_equal(sink_snapshot(s, &e), 0);
	assert_numbers(last_written, "1000 1 ");
	append(s, 0, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(sink_finish(s, &e), 0);
	assert_numbers(in_dir("x.data"), "1000 1 2 ");
}

/* Each file begins anew; the oldest go. */
static void switches_files(void **state)
{
	struct sink_options o = options(SINK_SWITCH);
	char first[512];
	struct sink *s;
	struct err e;

	(void)state;
	o.switch_max_files = 2;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	assert_int_equal(sink_snapshot(s, &e), 0);
	assert_numbers(last_written, "1000 1 ");
	strcpy(first, last_written);
	append(s, 0, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(sink_snapshot(s, &e), 0);
	assert_numbers(last_written, "1001 2 ");
	assert_true(fs_exists("%s", first));
	append(s, 0, PERF_RECORD_SAMPLE, 3);
	assert_int_equal(sink_finish(s, &e), 0);
	assert_numbers(last_written, "1002 3 ");
	assert_false(fs_exists("%s", first));
}

static void switches_by_size(void **state)
{
	struct sink_options o = options(SINK_SWITCH);
	struct sink *s;
	struct err e;

	(void)state;
	o.switch_bytes = 1;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	assert_numbers(last_written, "1000 1 ");
	assert_int_equal(sink_finish(s, &e), 0);
}

/* ---- live ---- */

/* What came out of the live sink's pipe: samples, records that explain, rounds, told losses. */
struct watched {
	uint64_t samples, explaining, rounds, lost;
	uint64_t lost_ns; /* when the last loss is said to have been */
	bool disordered;  /* samples do not ascend by their numbers */
};

static struct watched take_all(int fd)
{
	struct watched w = {};
	struct buf bytes = {};
	struct perf_event_header header;
	uint64_t last = 0, number;
	char block[65536];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_add_mem(&bytes, block, (size_t)n);
	for (size_t at = sizeof(struct perfdata_pipe_header); at < bytes.len; at += header.size) {
		struct lost_record lost;

		memcpy(&header, bytes.s + at, sizeof(header));
		assert_true(header.size >= sizeof(header) && header.size <= bytes.len - at);
		w.samples += header.type == PERF_RECORD_SAMPLE;
		if (header.type == PERF_RECORD_SAMPLE) {
			memcpy(&number, bytes.s + at + sizeof(header), sizeof(number));
			w.disordered |= number < last;
			last = number;
		}
		w.explaining += header.type == PERF_RECORD_COMM;
		w.rounds += header.type == USER_FINISHED_ROUND;
		if (header.type == PERF_RECORD_LOST) {
			assert_int_equal(header.size, sizeof(lost));
			memcpy(&lost, bytes.s + at, sizeof(lost));
			assert_int_equal(lost.id, id);
			assert_int_equal(lost.cpu, ~0u);
			w.lost += lost.lost;
			w.lost_ns = lost.time_ns;
		}
	}
	buf_release(&bytes);
	close(fd);
	return w;
}

static struct sink_options live_options(int *ret_fd)
{
	struct sink_options o = options(SINK_LIVE);
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	o.writer.fd = fds[1];
	*ret_fd = fds[0];
	return o;
}

static void *taker(void *arg)
{
	static struct watched w;

	w = take_all(*(int *)arg);
	return &w;
}

static struct watched finish_and_take(struct sink *s, int fd)
{
	struct err e = {};
	pthread_t thread;
	void *w;

	pthread_create(&thread, NULL, taker, &fd);
	assert_int_equal(sink_finish(s, &e), 0);
	pthread_join(thread, &w);
	return *(struct watched *)w;
}

static void live_passes_on(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	struct watched w;
	struct sink *s;
	struct err e;

	(void)state;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	append(s, 1, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	append(s, 1, PERF_RECORD_COMM, 3);
	assert_int_equal(sink_snapshot(s, &e), 0);
	assert_numbers(last_written, "1000 1 2 3 ");
	w = finish_and_take(s, fd);
	assert_int_equal(w.samples, 2);
	assert_int_equal(w.explaining, 2);
	assert_true(w.rounds >= 2);
	assert_int_equal(w.lost, 0);
	/* Only the file that was asked for. */
	assert_false(fs_exists("%s", in_dir("x.data")));
}

/* Nobody reads: appending goes on, samples are left out and counted, the rest comes through. */
static void live_never_blocks(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	const unsigned rounds = 100, of_a_round = 20000;
	uint64_t *times = xcalloc((size_t)rounds * of_a_round, sizeof(*times));
	struct watched w;
	struct sink *s;
	struct err e;

	(void)state;
	o.keep_bytes = UINT64_MAX;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < of_a_round; k++) {
			times[i * of_a_round + k] = clock_now_ns();
			append(s, k % 2, PERF_RECORD_SAMPLE, k);
		}
		append(s, 0, PERF_RECORD_COMM, i);
		assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	}
	/* The end tells what was left out, however much still waits. */
	append(s, 0, PERF_RECORD_COMM, 0);
	w = finish_and_take(s, fd);
	assert_int_equal(w.explaining, 1 + rounds + 1);
	assert_true(w.lost > 0);
	assert_int_equal(w.samples + w.lost, rounds * of_a_round);
	/* Samples that were kept are older, those that might be kept after the last round are younger. */
	assert_in_range(w.lost_ns, times[w.samples - 1], times[(rounds - 1) * of_a_round]);
	free(times);
}

/* @rounds of @of_a_round samples each and one record that explains, with nobody reading. */
static void append_rounds(struct sink *s, unsigned rounds, unsigned of_a_round)
{
	uint64_t number = 1;
	struct err e;

	for (unsigned i = 0; i < rounds; i++) {
		for (unsigned k = 0; k < of_a_round; k++)
			append(s, 0, PERF_RECORD_SAMPLE, number++);
		append(s, 0, PERF_RECORD_COMM, i);
		assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	}
}

/* Nobody reads: what does not fit into memory waits in a file that nobody sees. */
static void live_waits_on_the_disk(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	const unsigned rounds = 100, of_a_round = 20000;
	struct live_counts counts;
	struct watched w;
	struct sink *s;
	struct err e;
	strvec names = {};

	(void)state;
	o.live_keep = LIVE_KEEP_NONE;
	fs_mkdir_p(in_dir("spill"));
	o.spill_directory = xstrdup(in_dir("spill"));
	o.spill_bytes = 1u << 30;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append_rounds(s, rounds, of_a_round);
	sink_live_counts(s, &counts);
	assert_int_equal(counts.dropped, 0);
	assert_true(counts.spilled_bytes > 0);
	assert_true(counts.waiting_bytes >= counts.spilled_bytes);
	assert_int_equal(fs_list(o.spill_directory, &names), 0);
	assert_int_equal(names.len, 0);
	w = finish_and_take(s, fd);
	assert_int_equal(w.samples, rounds * of_a_round);
	assert_int_equal(w.explaining, 1 + rounds);
	assert_int_equal(w.lost, 0);
	assert_false(w.disordered);
	free((char *)o.spill_directory);
}

/* The file has a limit: beyond it samples are left out, and all is told. */
static void live_fills_its_file(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	const unsigned rounds = 120, of_a_round = 20000;
	struct live_counts counts;
	struct watched w;
	struct sink *s;
	struct err e;

	(void)state;
	o.live_keep = LIVE_KEEP_NONE;
	o.spill_directory = support_dir;
	o.spill_bytes = 4u << 20;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append_rounds(s, rounds, of_a_round);
	sink_live_counts(s, &counts);
	assert_true(counts.dropped > 0);
	assert_true(counts.spilled_bytes < 8u << 20);
	w = finish_and_take(s, fd);
	assert_int_equal(w.samples + w.lost, rounds * of_a_round);
	assert_int_equal(w.lost, counts.dropped);
	assert_int_equal(w.explaining, 1 + rounds);
	assert_false(w.disordered);
}

static unsigned full_notes;

static void note_full(void *ctx, const char *text)
{
	(void)ctx;
	assert_non_null(strstr(text, "no room"));
	full_notes++;
}

/* A disk that is full is told once; what has no room is counted. */
static void live_on_a_full_disk(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	const unsigned rounds = 120, of_a_round = 20000;
	struct rlimit before, tight;
	struct watched w;
	struct sink *s;
	struct err e;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	tight = before;
	tight.rlim_cur = 3u << 20;
	setrlimit(RLIMIT_FSIZE, &tight);
	o.live_keep = LIVE_KEEP_NONE;
	o.spill_directory = support_dir;
	o.spill_bytes = 1u << 30;
	o.note = note_full;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append_rounds(s, rounds, of_a_round);
	w = finish_and_take(s, fd);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(full_notes, 1);
	assert_true(w.lost > 0);
	assert_int_equal(w.samples + w.lost, rounds * of_a_round);
	assert_int_equal(w.explaining, 1 + rounds);
}

/* All of it goes to a file besides; counts do not, where there are samples. */
static void live_keeps_a_file(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	struct numbered count = {{.type = USER_STAT, .size = sizeof(count)}, 9};
	struct sink *s;
	struct err e;

	(void)state;
	o.live_keep = LIVE_KEEP_FILE;
	o.sampled = 1;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	assert_int_equal(sink_append_counts(s, &count, sizeof(count), &e), 0);
	assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	append(s, 1, PERF_RECORD_SAMPLE, 2);
	assert_int_equal(finish_and_take(s, fd).samples, 2);
	assert_numbers(in_dir("x.data"), "1000 1 2 ");
	unlink(in_dir("x.data"));
}

/* Rounds without records say nothing new after a while. */
static void live_is_quiet(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	struct watched w;
	struct sink *s;
	struct err e;

	(void)state;
	o.live_keep = LIVE_KEEP_NONE;
	o.skip_empty = true;
	assert_int_equal(sink_new(&s, &o, &e), 0);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(sink_round(s, clock_now_ns(), &e), 0);
	w = finish_and_take(s, fd);
	assert_int_equal(w.samples, 1);
	/* Those of beginning and end, the one with the sample, and two that let it out. */
	assert_true(w.rounds >= 3 && w.rounds <= 8);
}

static void live_without_watcher(void **state)
{
	int fd;
	struct sink_options o = live_options(&fd);
	struct sink *s;
	struct err e = {};

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(sink_new(&s, &o, &e), 0);
	close(fd);
	append(s, 0, PERF_RECORD_SAMPLE, 1);
	sink_round(s, clock_now_ns(), &e);
	assert_int_equal(sink_finish(s, &e), -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_file),           cmocka_unit_test(memory_drops_by_age),
		cmocka_unit_test(memory_drops_by_size), cmocka_unit_test(memory_snapshots),
		cmocka_unit_test(switches_files),       cmocka_unit_test(switches_by_size),
		cmocka_unit_test(live_passes_on),       cmocka_unit_test(live_never_blocks),
		cmocka_unit_test(live_without_watcher), cmocka_unit_test(live_waits_on_the_disk),
		cmocka_unit_test(live_fills_its_file),  cmocka_unit_test(live_on_a_full_disk),
		cmocka_unit_test(live_keeps_a_file),    cmocka_unit_test(live_is_quiet),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
