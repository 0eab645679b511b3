/* perf.data in pipe form, where everything comes as records; and input without an end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata_build.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* ---- good ones ---- */

static void build_update(struct build *b, uint64_t kind, uint64_t id, const char *text)
{
	build_begin(b, USER_EVENT_UPDATE, 0);
	build_u64(b, kind);
	build_u64(b, id);
	build_text(b, text);
	build_end(b);
}

static void build_feature(struct build *b, uint64_t feature, const char *text)
{
	build_begin(b, USER_HEADER_FEATURE, 0);
	build_u64(b, feature);
	build_u32(b, (uint32_t)(strlen(text) / 8 * 8 + 8));
	build_text(b, text);
	build_end(b);
}

static void small_pipe(void **state)
{
	(void)state;
	for (int foreign = 0; foreign < 2; foreign++) {
		struct image im = {.b.foreign = foreign};
		struct seen s = {.image = &im};

		image_pipe(&im, 2);
		build_update(&im.b, UPDATE_NAME, 11, "the second");
		build_update(&im.b, UPDATE_UNIT, 2, "Joules");
		build_update(&im.b, UPDATE_NAME, 99, "nobody's");
		build_feature(&im.b, FEATURE_HOSTNAME, "a host");
		build_feature(&im.b, FEATURE_HOSTNAME, "another");
		build_feature(&im.b, 200, "of the future");
		build_sample(&im.b, 300, 12);
		build_sample(&im.b, 200, 1);
		assert_true(seen_image(&s, &im, NULL));
		assert_int_equal(s.result, 0);
		assert_true(s.p->pipe);
		assert_int_equal(s.records.len, 2);
		assert_int_equal(s.records.items[0].time_ns, 200);
		assert_int_equal(s.wrong_offsets, 0);
		assert_int_equal(seen_samples(&s, 0), 1);
		assert_int_equal(seen_samples(&s, 1), 1);
		assert_string_equal(s.p->stream.events.items[1].name, "the second");
		assert_string_equal(s.p->stream.events.items[0].unit, "Joules");
		assert_non_null(s.p->stream.events.items[0].name);
		assert_string_equal(s.p->facts.hostname, "a host");
		seen_release(&s);
		image_release(&im);
	}
}

static void records_before_events(void **state)
{
	struct image im = {}, later = {};
	struct seen s = {};

	(void)state;
	image_pipe(&im, 0);
	build_sample(&im.b, 100, 1);
	build_comm(&im.b, 150);
	image_pipe(&later, 1);
	buf_add_mem(&im.b.out, later.b.out.s + 16, later.b.out.len - 16);
	build_sample(&im.b, 200, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.p->stream.without_event, 2);
	assert_int_equal(s.records.len, 1);
	seen_release(&s);
	image_release(&im);
	image_release(&later);
}

static void types_of_the_future(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_pipe(&im, 1);
	for (uint32_t type = 0; type < 200; type++) {
		if (type == PERF_RECORD_SAMPLE || type == PERF_RECORD_SWITCH ||
		    (type && type < RECORD_KERNEL_END) ||
		    (type >= RECORD_USER_START && type < USER_RECORD_END))
			continue;
		build_begin(&im.b, type, 0);
		build_u64(&im.b, 7);
		build_end(&im.b);
	}
	build_begin(&im.b, UINT32_MAX, 0);
	build_end(&im.b);
	build_sample(&im.b, 200, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(seen_samples(&s, 0), 1);
	assert_int_equal(s.p->stream.counts[COUNTED_TYPES], 200 - COUNTED_TYPES + 1);
	seen_release(&s);
	image_release(&im);
}

/* A record of a tool may be followed by bytes that are not records, of any number. */
static void auxtrace_is_passed_over(void **state)
{
	static const size_t sizes[] = {0, 1, 7, 8, 1000, 3 << 20};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct image im = {};
		struct seen s = {.image = &im};

		image_pipe(&im, 1);
		build_begin(&im.b, USER_AUXTRACE, 0);
		build_u64(&im.b, sizes[i]);
		build_zeros(&im.b, 32);
		build_end(&im.b);
		build_zeros(&im.b, sizes[i]);
		build_sample(&im.b, 100, 1); /* not aligned if the size is odd */
		build_sample(&im.b, 200, 1);
		assert_true(seen_image(&s, &im, NULL));
		assert_int_equal(s.result, 0);
		assert_int_equal(seen_samples(&s, 0), 2);
		assert_int_equal(s.wrong_offsets, 0);
		seen_release(&s);
		image_release(&im);
	}
}

/* A trace of a terabyte that takes no room on the disk is not read to get behind it. */
static void huge_trace_is_not_read(void **state)
{
	const uint64_t hole = 1ull << 40;
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct image im = {}, more = {};
	struct seen s = {};
	char path[64];

	(void)state;
	image_pipe(&im, 1);
	build_sample(&im.b, 100, 1);
	build_begin(&im.b, USER_AUXTRACE, 0);
	build_u64(&im.b, hole);
	build_end(&im.b);
	build_sample(&more.b, 200, 1);
	assert_int_equal(write(fd, im.b.out.s, im.b.out.len), im.b.out.len);
	assert_int_equal(pwrite(fd, more.b.out.s, more.b.out.len, (off_t)(im.b.out.len + hole)),
			 more.b.out.len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	alarm(60);
	assert_true(seen_path(&s, path, NULL));
	alarm(0);
	assert_int_equal(s.result, 0);
	assert_int_equal(s.records.len, 2);
	assert_int_equal(s.records.items[0].file_offset, im.b.out.len - 16 - more.b.out.len);
	assert_int_equal(s.records.items[1].file_offset, im.b.out.len + hole);
	seen_release(&s);
	close(fd);
	image_release(&im);
	image_release(&more);
}

static void auxtrace_beyond_the_end(void **state)
{
	struct image im = {};
	struct seen s = {};

	(void)state;
	image_pipe(&im, 1);
	build_sample(&im.b, 100, 1);
	build_begin(&im.b, USER_AUXTRACE, 0);
	build_u64(&im.b, UINT64_MAX);
	build_end(&im.b);
	build_sample(&im.b, 200, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, -EBADMSG);
	assert_int_equal(s.records.len, 1);
	seen_release(&s);
	image_release(&im);
}

/* @big_endian: what it says of itself, whatever the byte order of the stream. */
static void build_tracing(struct build *b, bool big_endian)
{
	static const char format[] = "name: open\nID: 0\nformat:\n";
	static const char strings[] = "0xffffffff82819eb4 : \"a \\\"b\\\" : c\\n\"\n"
				      "0x10 : no\nx : \"no\"\n0x1000 : \"\"\n";
	struct build t = {.foreign = big_endian};

	buf_add_mem(&t.out, "\027\010\104tracing0.6\0", 14);
	buf_add_mem(&t.out, big_endian ? "\1\010" : "\0\010", 2); /* and a long of 8 */
	build_u32(&t, 4096);
	buf_add_mem(&t.out, "header_page\0", 12);
	build_u64(&t, 0);
	buf_add_mem(&t.out, "header_event\0", 13);
	build_u64(&t, 0);
	build_u32(&t, 0); /* of ftrace's own */
	build_u32(&t, 1);
	buf_add_mem(&t.out, "files\0", 6);
	build_u32(&t, 1);
	build_u64(&t, sizeof(format) - 1);
	buf_add(&t.out, format);
	build_u32(&t, 0); /* symbols */
	build_u32(&t, sizeof(strings) - 1);
	buf_add(&t.out, strings);
	build_zeros(&t, (8 - t.out.len % 8) % 8);
	build_begin(b, USER_TRACING_DATA, 0);
	build_u32(b, (uint32_t)t.out.len);
	build_end(b);
	buf_add_mem(&b->out, t.out.s, t.out.len);
	build_release(&t);
}

static void tracing_data(void **state)
{
	struct image im = {};
	struct seen s = {.image = &im};

	(void)state;
	image_pipe(&im, 1);
	build_patch(&im.b, 16 + 8, PERF_TYPE_TRACEPOINT, 4, false);
	build_tracing(&im.b, false);
	build_tracing(&im.b, false); /* a second one changes nothing */
	build_sample(&im.b, 100, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.p->facts.tracepoints.len, 1);
	assert_int_equal(s.p->facts.tracing_page_size, 4096);
	assert_false(s.p->facts.tracing_swap);
	assert_int_equal(s.p->facts.strings.len, 2);
	assert_string_equal(facts_string(&s.p->facts, 0xffffffff82819eb4), "a \\\"b\\\" : c");
	assert_string_equal(facts_string(&s.p->facts, 0x1000), "");
	assert_null(facts_string(&s.p->facts, 0x10));
	assert_string_equal(s.p->stream.events.items[0].name, "files:open");
	assert_int_equal(s.records.len, 1);
	assert_int_equal(s.wrong_offsets, 0);
	seen_release(&s);
	image_release(&im);
}

/* A converted recording is in our byte order, its tracepoints' data is as it was recorded. */
static void tracing_data_of_the_other_byte_order(void **state)
{
	struct image im = {};
	struct seen s = {.image = &im};

	(void)state;
	image_pipe(&im, 1);
	build_patch(&im.b, 16 + 8, PERF_TYPE_TRACEPOINT, 4, false);
	build_tracing(&im.b, true);
	build_sample(&im.b, 100, 1);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_false(s.p->stream.swap);
	assert_true(s.p->facts.tracing_swap);
	assert_int_equal(s.p->facts.tracing_page_size, 4096);
	assert_string_equal(s.p->stream.events.items[0].name, "files:open");
	seen_release(&s);
	image_release(&im);
}

/* LOST_SAMPLES also counts what a filter did not want. */
static void filtered_is_not_lost(void **state)
{
	struct image im = {};
	struct seen s = {.image = &im};

	(void)state;
	image_pipe(&im, 1);
	for (unsigned i = 0; i < 2; i++) {
		build_begin(&im.b, PERF_RECORD_LOST_SAMPLES, i ? MISC_LOST_BY_FILTER : 0);
		build_u64(&im.b, i ? 1000 : 3);
		build_zeros(&im.b, 16); /* task and time */
		build_u64(&im.b, 11);
		build_end(&im.b);
	}
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.summary.lost_samples, 3);
	assert_int_equal(s.summary.events.items[0].lost, 3);
	seen_release(&s);
	image_release(&im);
}

static void cut_anywhere(void **state)
{
	struct image im = {};

	(void)state;
	image_pipe(&im, 2);
	build_update(&im.b, UPDATE_NAME, 11, "the second");
	build_tracing(&im.b, false);
	build_sample(&im.b, 300, 12);
	for (size_t len = 0; len < im.b.out.len; len++) {
		struct seen s = {};

		if (!seen_bytes(&s, im.b.out.s, len, NULL)) {
			assert_in_range(len, 0, 15);
			continue;
		}
		assert_int_equal(s.records.len, 0);
		assert_true(s.result == 0 || s.result == -EBADMSG);
		seen_release(&s);
	}
	image_release(&im);
}

/* A name is as long as a name may be, whatever the record says. */
static void long_names_are_cut(void **state)
{
	struct image im = {};
	struct seen s = {};
	char name[5000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	image_pipe(&im, 1);
	build_update(&im.b, UPDATE_NAME, 1, name);
	assert_true(seen_image(&s, &im, NULL));
	assert_int_equal(strlen(s.p->stream.events.items[0].name), STREAM_NAME_MAX);
	seen_release(&s);
	image_release(&im);
}

/* ---- real pipes ---- */

/* A child that writes @head and then @again forever, or once; returns its pid. */
static pid_t writer(const int *fds, const struct buf *head, const struct buf *again)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	signal(SIGPIPE, SIG_DFL);
	close(fds[0]);
	alarm(60);
	if (write(fds[1], head->s, head->len) != (ssize_t)head->len)
		_exit(1);
	while (again && write(fds[1], again->s, again->len) > 0)
		;
	_exit(0);
}

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void from_a_pipe(void **state)
{
	struct image im = {};
	struct seen s = {};
	char path[64];
	int fds[2];
	pid_t pid;

	(void)state;
	image_pipe(&im, 1);
	build_sample(&im.b, 100, 1);
	assert_int_equal(pipe(fds), 0);
	pid = writer(fds, &im.b.out, NULL);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_true(seen_path(&s, path, NULL));
	assert_int_equal(s.result, 0);
	assert_int_equal(s.records.len, 1);
	assert_int_equal(status_of(pid), 0);
	close(fds[0]);
	seen_release(&s);
	image_release(&im);
}

static void file_form_from_a_pipe(void **state)
{
	struct image im = {};
	struct seen s = {};
	char path[64];
	int fds[2];

	(void)state;
	image_file(&im, 1, PERF_ATTR_SIZE_VER5);
	image_finish(&im);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], im.b.out.s, im.b.out.len), im.b.out.len);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	assert_false(seen_path(&s, path, NULL));
	assert_non_null(strstr(s.e.text, "cannot be read from a pipe"));
	close(fds[0]);
	image_release(&im);
}

static void from_a_fifo(void **state)
{
	struct image im = {};
	struct seen s = {};
	pid_t pid;

	(void)state;
	image_pipe(&im, 1);
	build_sample(&im.b, 100, 1);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	pid = fork();
	if (!pid) {
		int fd = open(in_dir("fifo"), O_WRONLY);

		alarm(60);
		_exit(write(fd, im.b.out.s, im.b.out.len) != (ssize_t)im.b.out.len);
	}
	assert_true(seen_path(&s, in_dir("fifo"), NULL));
	assert_int_equal(s.records.len, 1);
	assert_int_equal(status_of(pid), 0);
	seen_release(&s);
	image_release(&im);
}

/* The input has no end; the visitor has. With rounds it is asked soon, without them at the limits. */
static void endless(void **state)
{
	(void)state;
	for (int with_rounds = 0; with_rounds < 2; with_rounds++) {
		struct image im = {};
		struct build again = {};
		struct seen s = {.stop_after = 1000};
		char path[64];
		int fds[2], status;
		pid_t pid;

		image_pipe(&im, 1);
		for (uint64_t i = 0; i < 1000; i++)
			build_sample(&again, 1000 + i, 1);
		if (with_rounds)
			build_round(&again);
		assert_int_equal(pipe(fds), 0);
		pid = writer(fds, &im.b.out, &again.out);
		close(fds[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		assert_true(seen_path(&s, path, NULL));
		close(fds[0]);
		assert_int_equal(s.result, 0);
		assert_int_equal(s.records.len, 1000);
		seen_release(&s);
		status = status_of(pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
		build_release(&again);
		image_release(&im);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_pipe),
		cmocka_unit_test(records_before_events),
		cmocka_unit_test(types_of_the_future),
		cmocka_unit_test(auxtrace_is_passed_over),
		cmocka_unit_test(huge_trace_is_not_read),
		cmocka_unit_test(auxtrace_beyond_the_end),
		cmocka_unit_test(tracing_data),
		cmocka_unit_test(tracing_data_of_the_other_byte_order),
		cmocka_unit_test(filtered_is_not_lost),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(from_a_pipe),
		cmocka_unit_test(file_form_from_a_pipe),
		cmocka_unit_test_setup_teardown(from_a_fifo, make_support_dir, remove_support_dir),
		cmocka_unit_test(endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
