/*
 * perf.data as it is written: what stands where, in files and pipes, compressed or not, from several
 * threads, cut by a crash, and on a disk that is full.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perfdata/build_id_table.h"
#include "perfdata/features_machine.h"
#include "perfdata/writer.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <zstd.h>

static const uint64_t ids[] = {11, 12, 13};
static const struct writer_event events[] = {
	{.name = "cycles", .attr = {.type = 0, .config = 0}, .ids = ids, .id_count = 2},
	{.name = "faults", .attr = {.type = 1, .config = 2}, .ids = ids + 2, .id_count = 1},
};

/* A record of ours: type, a number, and bytes that follow from it. */
struct record {
	struct perf_event_header header;
	uint64_t number;
	unsigned char bytes[];
};

static void add_record(struct buf *b, uint64_t number, size_t size, bool random)
{
	struct record *r = xcalloc(1, size);
	uint64_t x = number * 2654435761u + 1;

	r->header = (struct perf_event_header){.type = PERF_RECORD_SAMPLE};
	r->header.size = (uint16_t)size;
	r->number = number;
	for (size_t i = 0; i < size - sizeof(*r); i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		r->bytes[i] = random ? (unsigned char)(x >> 56) : (unsigned char)number;
	}
	buf_add_mem(b, r, size);
	free(r);
}

static struct writer *open_writer(const char *path, const struct feature_set *set, int level)
{
	struct writer_options options = {
		.path = path,
		.events = events,
		.event_count = ARRAY_LEN(events),
		.features = set,
		.zstd_level = level,
	};
	struct writer *w = NULL;
	struct err e = {};

	if (writer_open(&w, &options, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

/* ---- a small reader ---- */

struct file {
	struct buf bytes;
	struct perfdata_file_header header;
};

static void load(struct file *f, const char *path)
{
	char block[65536];
	ssize_t n;
	int fd = open(path, O_RDONLY);

	*f = (struct file){};
	assert_true(fd >= 0);
	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_add_mem(&f->bytes, block, (size_t)n);
	close(fd);
	assert_true(f->bytes.len >= sizeof(f->header));
	memcpy(&f->header, f->bytes.s, sizeof(f->header));
	assert_true(f->header.magic == PERFDATA_MAGIC);
	assert_int_equal(f->header.size, 104);
	assert_int_equal(f->header.data.offset % 8, 0);
	assert_true(f->header.data.offset + f->header.data.size <= f->bytes.len);
}

static struct perfdata_section section_of(const struct file *f, enum feature feature)
{
	uint64_t at = f->header.data.offset + f->header.data.size;
	struct perfdata_section s;

	assert_true(f->header.features[0] >> feature & 1);
	for (unsigned i = 0; i < feature; i++)
		at += f->header.features[0] >> i & 1 ? sizeof(s) : 0;
	assert_true(at + sizeof(s) <= f->bytes.len);
	memcpy(&s, f->bytes.s + at, sizeof(s));
	assert_true(s.offset + s.size <= f->bytes.len);
	return s;
}

/* All records, decompressed, in @out; counts by type. */
static void read_records(const char *data, size_t size, struct buf *out, size_t counts[128])
{
	for (size_t at = 0; at < size;) {
		struct perf_event_header header;

		assert_true(size - at >= sizeof(header));
		memcpy(&header, data + at, sizeof(header));
		assert_true(header.size >= sizeof(header) && header.size <= size - at);
		assert_true(header.type < 128);
		counts[header.type]++;
		if (header.type == USER_COMPRESSED) {
			const char *packed = data + at + sizeof(header);
			size_t packed_size = header.size - sizeof(header), raw;
			char *room = xcalloc(1, 256 << 10);

			/* One frame, no more than readers set aside. */
			assert_int_equal(ZSTD_findFrameCompressedSize(packed, packed_size),
					 packed_size);
			raw = ZSTD_decompress(room, 256 << 10, packed, packed_size);
			assert_false(ZSTD_isError(raw));
			read_records(room, raw, out, counts);
			free(room);
		} else if (header.type < RECORD_USER_START) {
			buf_add_mem(out, data + at, header.size);
		}
		at += header.size;
	}
}

static void records_of(const struct file *f, struct buf *out, size_t counts[128])
{
	memset(counts, 0, 128 * sizeof(*counts));
	read_records(f->bytes.s + f->header.data.offset, f->header.data.size, out, counts);
}

/* ---- files ---- */

static void test_file(void **state)
{
	CLEANUP(feature_set_release) struct feature_set set = {};
	CLEANUP(buf_release) struct buf records = {}, read = {};
	const char *path = in_dir("file.data");
	struct writer *w = open_writer(path, &set, 0);
	struct writer_lane *lane = writer_lane_new(w);
	struct perfdata_section ids_at;
	struct perf_event_attr attr;
	size_t counts[128];
	struct file f;

	(void)state;
	add_record(&records, 1, 64, false);
	add_record(&records, 2, 4000, true);
	/* A ring that wraps inside a record. */
	assert_int_equal(
		writer_append(lane, records.s, 1000, records.s + 1000, records.len - 1000, NULL),
		0);
	assert_int_equal(writer_append(lane, records.s, records.len, NULL, 5, NULL), 0);
	assert_int_equal(writer_append(lane, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(writer_round(w, NULL), 0);
	assert_int_equal(writer_bytes_raw(w), 2 * records.len);
	/* Killed here, this is what there would be. */
	load(&f, path);
	assert_int_equal(f.bytes.len, f.header.data.offset + f.header.data.size);
	assert_int_equal(f.bytes.len, writer_bytes(w));
	assert_int_equal(f.header.features[0], 0);
	records_of(&f, &read, counts);
	assert_int_equal(read.len, 2 * records.len);
	buf_release(&f.bytes);
	/* Features grow until the end. */
	feature_add_str(feature_set_begin(&set, FEATURE_HOSTNAME), "here");
	feature_set_begin(&set, FEATURE_BRANCH_STACK);
	writer_lane_free(lane);
	assert_int_equal(writer_finish(w, NULL), 0);

	load(&f, path);
	assert_int_equal(f.header.attr_size, sizeof(attr) + sizeof(ids_at));
	assert_int_equal(f.header.attrs.size, 2 * f.header.attr_size);
	memcpy(&attr, f.bytes.s + f.header.attrs.offset + f.header.attr_size, sizeof(attr));
	memcpy(&ids_at, f.bytes.s + f.header.attrs.offset + f.header.attr_size + sizeof(attr),
	       sizeof(ids_at));
	assert_int_equal(attr.type, 1);
	assert_int_equal(attr.size, sizeof(attr));
	assert_int_equal(ids_at.size, 8);
	assert_memory_equal(f.bytes.s + ids_at.offset, &ids[2], 8);
	buf_clear(&read);
	records_of(&f, &read, counts);
	assert_memory_equal(read.s, records.s, records.len);
	assert_memory_equal(read.s + records.len, records.s, records.len);
	assert_int_equal(counts[USER_EVENT_UPDATE], 2);
	assert_int_equal(counts[USER_FINISHED_ROUND], 1);
	assert_int_equal(section_of(&f, FEATURE_HOSTNAME).size, 4 + 64);
	assert_string_equal(f.bytes.s + section_of(&f, FEATURE_HOSTNAME).offset + 4, "here");
	assert_int_equal(section_of(&f, FEATURE_BRANCH_STACK).size, 0);
	buf_release(&f.bytes);
}

static void test_names_first(void **state)
{
	const char *path = in_dir("names.data");
	struct {
		struct perf_event_header header;
		uint64_t kind, id;
		char name[8];
	} update;
	struct file f;

	(void)state;
	assert_int_equal(writer_finish(open_writer(path, NULL, 0), NULL), 0);
	load(&f, path);
	memcpy(&update, f.bytes.s + f.header.data.offset, sizeof(update));
	assert_int_equal(update.header.type, USER_EVENT_UPDATE);
	assert_int_equal(update.header.size, sizeof(update));
	assert_int_equal(update.kind, UPDATE_NAME);
	assert_int_equal(update.id, 11);
	assert_string_equal(update.name, "cycles");
	buf_release(&f.bytes);
}

static void test_old_is_kept(void **state)
{
	char *link_path = xstrdup(in_dir("link.data")), *text = NULL;

	(void)state;
	write_text("kept.data", "first");
	write_text("kept.data.old", "older");
	writer_finish(open_writer(in_dir("kept.data"), NULL, 0), NULL);
	assert_int_equal(fs_read(in_dir("kept.data.old"), 100, &text), 0);
	assert_string_equal(text, "first");
	free(text);
	/* Through a link, the link stays and goes on pointing to the data. */
	write_text("real.data", "second");
	assert_int_equal(symlink("real.data", link_path), 0);
	writer_finish(open_writer(link_path, NULL, 0), NULL);
	assert_int_equal(fs_read(in_dir("real.data.old"), 100, &text), 0);
	assert_string_equal(text, "second");
	assert_false(fs_exists("%s.old", link_path));
	free(text);
	free(link_path);
}

static void test_refusals(void **state)
{
	struct writer_options options = {
		.path = "/dev/null", .events = events, .event_count = ARRAY_LEN(events)};
	struct writer *w = NULL;
	struct err e = {};
	int pty = posix_openpt(O_RDWR | O_NOCTTY);

	(void)state;
	assert_int_equal(writer_open(&w, &options, &e), 0);
	assert_int_equal(writer_round(w, &e), 0);
	assert_int_equal(writer_finish(w, &e), 0);
	assert_false(fs_exists("/dev/null.old"));
	options.path = support_dir;
	assert_int_equal(writer_open(&w, &options, &e), -EISDIR);
	assert_non_null(strstr(e.text, "directory"));
	options.path = in_dir("no/such/dir.data");
	assert_int_equal(writer_open(&w, &options, &e), -ENOENT);
	if (pty < 0 || grantpt(pty) || unlockpt(pty)) {
		print_message("no pseudo terminal: not tried\n");
		return;
	}
	options.path = ptsname(pty);
	assert_int_equal(writer_open(&w, &options, &e), -EINVAL);
	assert_non_null(strstr(e.text, "terminal"));
	close(pty);
}

/* ---- threads ---- */

#define APPENDS 400

struct worker {
	struct writer *w;
	uint64_t number;
};

static void *append_many(void *ctx)
{
	struct worker *worker = ctx;
	struct writer_lane *lane = writer_lane_new(worker->w);

	for (size_t i = 0; i < APPENDS; i++) {
		CLEANUP(buf_release) struct buf b = {};

		add_record(&b, worker->number << 32 | i, 24 + 8 * (i % 300), false);
		if (writer_append(lane, b.s, b.len / 2, b.s + b.len / 2, b.len - b.len / 2, NULL))
			abort();
	}
	writer_lane_free(lane);
	return NULL;
}

static void check_threads(int level)
{
	const char *path = in_dir("threads.data");
	struct writer *w = open_writer(path, NULL, level);
	struct worker workers[2] = {{w, 1}, {w, 2}};
	pthread_t threads[2];
	CLEANUP(buf_release) struct buf read = {};
	uint64_t next[3] = {}, seen = 0;
	size_t counts[128];
	struct file f;

	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, append_many, &workers[i]);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(writer_round(w, NULL), 0);
	assert_int_equal(writer_finish(w, NULL), 0);
	load(&f, path);
	records_of(&f, &read, counts);
	for (size_t at = 0; at < read.len; seen++) {
		const struct record *r = (const struct record *)(read.s + at);

		/* Those of one thread in their order, whole. */
		assert_in_range(r->number >> 32, 1, 2);
		assert_int_equal(r->number & 0xffffffff, next[r->number >> 32]++);
		for (size_t i = 0; i < r->header.size - sizeof(*r); i++)
			assert_int_equal(r->bytes[i], (unsigned char)r->number);
		at += r->header.size;
	}
	assert_int_equal(seen, 2 * APPENDS);
	buf_release(&f.bytes);
}

static void test_threads(void **state)
{
	(void)state;
	check_threads(0);
	check_threads(3);
}

/* ---- compression ---- */

static void check_packed(bool random, size_t record_size, size_t count)
{
	const char *path = in_dir("packed.data");
	struct writer *w = open_writer(path, NULL, 3);
	struct writer_lane *lane = writer_lane_new(w);
	CLEANUP(buf_release) struct buf records = {}, read = {};
	struct perfdata_compressed how;
	size_t counts[128], cut;
	struct file f;

	for (size_t i = 0; i < count; i++)
		add_record(&records, i, record_size, random);
	/* In two pieces, inside of a record and of its header. */
	for (cut = 0; cut < records.len; cut += records.len / 3 + 4)
		assert_int_equal(writer_append(lane, records.s, cut, records.s + cut,
					       records.len - cut, NULL),
				 0);
	assert_int_equal(writer_append(lane, "\0\0\0\0\0\0\7\0", 8, NULL, 0, NULL), -EINVAL);
	writer_lane_free(lane);
	assert_int_equal(writer_round(w, NULL), 0);
	assert_int_equal(writer_finish(w, NULL), 0);
	load(&f, path);
	records_of(&f, &read, counts);
	assert_int_equal(read.len % records.len, 0);
	for (size_t at = 0; at < read.len; at += records.len)
		assert_memory_equal(read.s + at, records.s, records.len);
	/* What a reader needs stands at the end, and at the beginning for a file that was cut. */
	assert_int_equal(section_of(&f, FEATURE_COMPRESSED).size, sizeof(how));
	memcpy(&how, f.bytes.s + section_of(&f, FEATURE_COMPRESSED).offset, sizeof(how));
	assert_int_equal(how.type, COMPRESSION_ZSTD);
	assert_int_equal(how.level, 3);
	assert_int_equal(how.mmap_len, 256 << 10);
	assert_int_equal(counts[USER_HEADER_FEATURE], 1);
	if (!random) {
		assert_true(how.ratio > 5);
		assert_true(f.header.data.size < read.len / 5);
	}
	buf_release(&f.bytes);
}

static void test_packed(void **state)
{
	(void)state;
	check_packed(false, 400, 5000);
	check_packed(true, 400, 5000);
	/* One record that compression makes longer than a record may be. */
	check_packed(true, 65528, 12);
	check_packed(false, 65528, 12);
}

/* ---- full disk ---- */

static void with_limit(size_t bytes, void (*run)(void *), void *ctx)
{
	struct rlimit old, limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){bytes, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	run(ctx);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
}

struct full {
	const char *path;
	size_t feature_bytes;
	int round_result, result;
	struct err e;
};

#define ROUND_BYTES 4000u

static void fill_up(void *ctx)
{
	struct full *full = ctx;
	CLEANUP(feature_set_release) struct feature_set set = {};
	CLEANUP(buf_release) struct buf b = {};
	struct writer *w = open_writer(full->path, &set, 0);
	struct writer_lane *lane = writer_lane_new(w);

	buf_pad(feature_set_begin(&set, FEATURE_HOSTNAME), full->feature_bytes, 'x');
	add_record(&b, 7, ROUND_BYTES, true);
	for (int i = 0; i < 100 && !full->round_result; i++) {
		full->round_result = writer_append(lane, b.s, b.len, NULL, 0, &full->e);
		if (!full->round_result)
			full->round_result = writer_round(w, &full->e);
	}
	writer_lane_free(lane);
	full->result = writer_finish(w, &full->e);
}

static void check_full(size_t feature_bytes, size_t rounds_min, size_t rounds_max, bool features)
{
	struct full full = {.path = in_dir("full.data"), .feature_bytes = feature_bytes};
	CLEANUP(buf_release) struct buf read = {};
	size_t counts[128];
	struct file f;

	with_limit(100000, fill_up, &full);
	assert_int_equal(full.round_result, -EFBIG);
	assert_int_equal(full.result, -EFBIG);
	assert_non_null(strstr(full.e.text, "are lost"));
	assert_non_null(strstr(full.e.text, "ulimit -f"));
	load(&f, full.path);
	records_of(&f, &read, counts);
	assert_in_range(counts[PERF_RECORD_SAMPLE], rounds_min, rounds_max);
	assert_int_equal(counts[PERF_RECORD_SAMPLE], counts[USER_FINISHED_ROUND]);
	assert_int_equal(f.header.features[0] != 0, features);
	if (features)
		assert_int_equal(section_of(&f, FEATURE_HOSTNAME).size, feature_bytes);
	else
		assert_non_null(strstr(full.e.text, "description of the machine"));
	buf_release(&f.bytes);
}

static void test_full_disk(void **state)
{
	(void)state;
	/* 24 rounds fit. */
	check_full(100, 24, 24, true);
	check_full(30000, 16, 17, true);
	/* Records are not given up for what would not fit anyway. */
	check_full(200000, 24, 24, false);
}

/* ---- pipes ---- */

struct pipe_reader {
	int fd;
	struct buf bytes;
};

static void *read_pipe(void *ctx)
{
	struct pipe_reader *reader = ctx;
	char block[1000];
	ssize_t n;

	while ((n = read(reader->fd, block, sizeof(block))) > 0)
		buf_add_mem(&reader->bytes, block, (size_t)n);
	close(reader->fd);
	return NULL;
}

/* Types of the records in their order, each run of equal ones once; skips the tracing data. */
static void types_of(const struct buf *b, char *text, size_t size)
{
	uint32_t last = 0;

	text[0] = '\0';
	for (size_t at = 16; at < b->len;) {
		struct perf_event_header header;

		memcpy(&header, b->s + at, sizeof(header));
		assert_true(header.size >= 8 && header.size <= b->len - at);
		if (header.type != last)
			snprintf(text + strlen(text), size - strlen(text), "%u ", header.type);
		last = header.type;
		if (header.type == USER_TRACING_DATA) {
			uint32_t more;

			assert_int_equal(header.size, 12);
			memcpy(&more, b->s + at + 8, sizeof(more));
			assert_int_equal(more, 16);
			at += more;
		}
		at += header.size;
	}
}

static void test_pipe(void **state)
{
	CLEANUP(feature_set_release) struct feature_set set = {};
	struct build_id id = {.size = 3, .bytes = {1, 2, 3}};
	struct build_id_table *table = build_id_table_new();
	const char *path = in_dir("fifo");
	struct pipe_reader reader = {};
	CLEANUP(buf_release) struct buf records = {};
	struct writer_lane *lane;
	struct writer *w;
	pthread_t thread;
	char types[200];

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	/* Opened before the writer, which waits for a reader only for so long. */
	reader.fd = open(path, O_RDONLY | O_NONBLOCK);
	assert_true(reader.fd >= 0);
	feature_add_str(feature_set_begin(&set, FEATURE_HOSTNAME), "here");
	buf_add(feature_set_begin(&set, FEATURE_TRACING_DATA), "nine bytes");
	build_id_table_add(table, -1, PERF_RECORD_MISC_USER, &id, "/bin/true");
	build_id_table_feature(table, &set);
	w = open_writer(path, &set, 0);
	fcntl(reader.fd, F_SETFL, 0);
	pthread_create(&thread, NULL, read_pipe, &reader);
	lane = writer_lane_new(w);
	add_record(&records, 1, 60000, false);
	for (int i = 0; i < 10; i++)
		assert_int_equal(
			writer_append(lane, records.s, 99, records.s + 99, records.len - 99, NULL),
			0);
	assert_int_equal(writer_round(w, NULL), 0);
	writer_lane_free(lane);
	assert_int_equal(writer_finish(w, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(*(uint64_t *)reader.bytes.s == PERFDATA_MAGIC);
	assert_int_equal(*(uint64_t *)(reader.bytes.s + 8), 16);
	types_of(&reader.bytes, types, sizeof(types));
	assert_string_equal(types, "64 78 80 66 67 9 68 67 ");
	buf_release(&reader.bytes);
	build_id_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),        cmocka_unit_test(test_names_first),
		cmocka_unit_test(test_old_is_kept), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_threads),     cmocka_unit_test(test_packed),
		cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_pipe),
	};

	return cmocka_run_group_tests_name("writer", tests, make_support_dir, remove_support_dir);
}
