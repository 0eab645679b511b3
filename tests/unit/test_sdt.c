/*
 * SDT markers: those of this very program, those of made-up ELF files of all four kinds, and what
 * broken files do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "event/sdt.h"
#include "support.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>

#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define HAVE_SDT_H 1
#else
#define HAVE_SDT_H 0
#endif

/* ---- this program ---- */

int sdt_with_header(int a);
int sdt_by_hand(int a);

__attribute__((noinline)) int sdt_with_header(int a)
{
#if HAVE_SDT_H
	DTRACE_PROBE1(tacho_test, from_header, a);
	DTRACE_PROBE(tacho_test, plain);
#endif
	return a + 1;
}

/* The note that the header makes, written out, for machines without it. */
#if defined(__x86_64__) || defined(__aarch64__)
#define HAVE_HAND 1
__attribute__((noinline)) int sdt_by_hand(int a)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",%%note\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b, 0, 0\n"
			 ".asciz \"tacho_test\"\n"
			 ".asciz \"by_hand\"\n"
			 ".asciz \"-4@$7\"\n"
			 "994: .balign 4\n"
			 ".popsection\n" ::);
	return a + 1;
}
#else
#define HAVE_HAND 0
int sdt_by_hand(int a)
{
	return a + 1;
}
#endif

struct found {
	struct buf text;
	uint64_t address;
	size_t count, stop_after;
};

static bool note(void *ctx, const struct sdt_marker *m)
{
	struct found *f = ctx;

	buf_addf(&f->text, "%s%s:%s(%s)", f->text.len ? " " : "", m->provider, m->name,
		 m->arguments);
	if (!strcmp(m->name, "by_hand"))
		f->address = m->address;
	return ++f->count != f->stop_after;
}

static bool count_only(void *ctx, const struct sdt_marker *m)
{
	(void)m;
	((struct found *)ctx)->count++;
	return true;
}

static void markers_of_this_program(void **state)
{
	struct found f = {};
	struct err e = {};
	uint64_t begin = (uintptr_t)sdt_by_hand - _r_debug.r_map->l_addr;

	(void)state;
	if (!HAVE_HAND) {
		print_message("# SKIP no marker is written for this architecture\n");
		skip();
	}
	assert_int_equal(sdt_by_hand(1), 2);
	if (sdt_visit_file("/proc/self/exe", note, &f, &e))
		fail_msg("%s", e.text);
	assert_non_null(strstr(buf_str(&f.text), "tacho_test:by_hand(-4@$7)"));
	/* The address is that of the instruction, without where the program was loaded. */
	assert_true(f.address >= begin && f.address < begin + 256);
	buf_release(&f.text);
}

static void markers_of_the_header(void **state)
{
	struct found f = {};
	struct err e = {};

	(void)state;
	if (!HAVE_SDT_H) {
		print_message("# SKIP <sys/sdt.h> was not there when this was compiled "
			      "(Debian: systemtap-sdt-dev)\n");
		skip();
	}
	assert_int_equal(sdt_with_header(1), 2);
	assert_int_equal(sdt_visit_file("/proc/self/exe", note, &f, &e), 0);
	assert_non_null(strstr(buf_str(&f.text), "tacho_test:from_header("));
	assert_non_null(strstr(buf_str(&f.text), "tacho_test:plain()"));
	buf_release(&f.text);
}

/* ---- made-up files ---- */

struct maker {
	struct buf b;
	bool is64, big;
};

static void put(struct maker *m, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buf_add_char(&m->b, (char)(value >> 8 * (m->big ? size - 1 - i : i)));
}

static void put_word(struct maker *m, uint64_t value)
{
	put(m, value, m->is64 ? 8 : 4);
}

static void put_text(struct maker *m, const char *s)
{
	buf_add_mem(&m->b, s, strlen(s) + 1);
}

static void align(struct maker *m)
{
	while (m->b.len % 4)
		buf_add_char(&m->b, '\0');
}

static void put_note(struct maker *m, const char *owner, uint32_t type, uint64_t address,
		     const char *name)
{
	size_t words = m->is64 ? 24 : 12;

	put(m, strlen(owner) + 1, 4);
	put(m, words + 5 + strlen(name) + 1 + 4, 4);
	put(m, type, 4);
	put_text(m, owner);
	align(m);
	put_word(m, address);
	put_word(m, 0);
	put_word(m, 0);
	put_text(m, "prov");
	put_text(m, name);
	put_text(m, "4@x");
	align(m);
}

static void put_section(struct maker *m, uint32_t name, uint32_t type, size_t offset, size_t size)
{
	put(m, name, 4);
	put(m, type, 4);
	put_word(m, 0);
	put_word(m, 0);
	put_word(m, offset);
	put_word(m, size);
	put(m, 0, 8);
	put_word(m, 4);
	put_word(m, 0);
}

static void put_header(struct maker *m, size_t table, unsigned count, unsigned names)
{
	buf_add_mem(&m->b, ELFMAG, SELFMAG);
	put(m, m->is64 ? ELFCLASS64 : ELFCLASS32, 1);
	put(m, m->big ? ELFDATA2MSB : ELFDATA2LSB, 1);
	buf_pad(&m->b, 10, '\0');
	put(m, ET_DYN, 2);
	put(m, 0, 2);
	put(m, 1, 4);
	put_word(m, 0);
	put_word(m, 0);
	put_word(m, table);
	put(m, 0, 4);
	put(m, m->is64 ? 64 : 52, 2);
	put(m, 0, 4);
	put(m, m->is64 ? 64 : 40, 2);
	put(m, count, 2);
	put(m, names, 2);
}

/* A file with two markers, a note that is none, and a section of another kind. */
static struct buf make_elf(bool is64, bool big)
{
	static const char names[] = "\0.note.stapsdt\0.note.other\0.shstrtab";
	struct maker m = {.is64 = is64, .big = big};
	size_t table, notes, end;

	put_header(&m, 0, 4, 3);
	notes = m.b.len;
	put_note(&m, "stapsdt", 3, 0x1234, "one");
	put_note(&m, "stapsdt", 4, 0x9999, "other_type");
	put_note(&m, "STAPSDT", 3, 0x9999, "other_owner");
	put_note(&m, "stapsdt", 3, 0xfedcba98, "two");
	end = m.b.len;
	buf_add_mem(&m.b, names, sizeof(names));
	align(&m);
	table = m.b.len;
	put_section(&m, 0, SHT_NULL, 0, 0);
	put_section(&m, 1, SHT_NOTE, notes, end - notes);
	put_section(&m, 15, SHT_NOTE, notes, end - notes);
	put_section(&m, 27, SHT_STRTAB, end, sizeof(names));
	/* Once more in its place, now that the table's is known. */
	{
		struct maker head = {.is64 = is64, .big = big};

		put_header(&head, table, 4, 3);
		memcpy(m.b.s, head.b.s, head.b.len);
		buf_release(&head.b);
	}
	return m.b;
}

static void every_kind_of_elf(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct buf elf = make_elf(kind & 1, kind & 2);
		struct found f = {};
		struct err e = {};

		assert_int_equal(sdt_parse(elf.s, elf.len, note, &f, &e), 0);
		assert_string_equal(buf_str(&f.text), "prov:one(4@x) prov:two(4@x)");
		buf_release(&f.text);
		buf_release(&elf);
	}
}

static void stops_when_told(void **state)
{
	struct buf elf = make_elf(true, false);
	struct found f = {.stop_after = 1};

	(void)state;
	assert_int_equal(sdt_parse(elf.s, elf.len, note, &f, NULL), 0);
	assert_int_equal(f.count, 1);
	buf_release(&f.text);
	buf_release(&elf);
}

/* As many sections as a header can tell of, all with the same large notes and names. */
static void many_sections(void **state)
{
	static const char names[] = "\0.note.stapsdt";
	struct maker m = {.is64 = true};
	struct found f = {};
	size_t end;

	(void)state;
	put_header(&m, 64, 65000, 64999);
	end = 64 + 65000 * 64 + 20000 * 56;
	for (int i = 0; i < 64999; i++)
		put_section(&m, 1, SHT_NOTE, 64 + 65000 * 64, end - 64 - 65000 * 64);
	put_section(&m, 1, SHT_STRTAB, end, 1 << 20);
	for (int i = 0; i < 20000; i++)
		put_note(&m, "stapsdt", 3, 0, "n");
	assert_int_equal(m.b.len, end);
	buf_add_mem(&m.b, names, sizeof(names));
	buf_pad(&m.b, 1 << 20, 'x');
	alarm(300);
	assert_int_equal(sdt_parse(m.b.s, m.b.len, count_only, &f, NULL), 0);
	alarm(0);
	assert_int_equal(f.count, 64 * 20000);
	buf_release(&m.b);
}

static bool touch(void *ctx, const struct sdt_marker *m)
{
	*(size_t *)ctx += strlen(m->provider) + strlen(m->name) + strlen(m->arguments);
	return true;
}

/* In memory of exactly that size, so that a sanitizer sees a read past it. */
static int parse_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);
	struct err e = {};
	size_t sum = 0;
	int r;

	memcpy(copy, data, size);
	r = sdt_parse(copy, size, touch, &sum, &e);
	assert_true(r == 0 || (r == -ENOEXEC && e.text[0]));
	free(copy);
	return r;
}

static void truncated_small(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct buf elf = make_elf(kind & 1, kind & 2);

		for (size_t size = 0; size <= elf.len; size++)
			parse_copy(elf.s, size);
		assert_int_equal(parse_copy(elf.s, 10), -ENOEXEC);
		assert_int_equal(parse_copy(elf.s, elf.len), 0);
		buf_release(&elf);
	}
}

static void flipped_small(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct buf elf = make_elf(kind & 1, kind & 2);

		for (size_t bit = 0; bit < elf.len * 8; bit++) {
			elf.s[bit / 8] ^= (char)(1 << bit % 8);
			parse_copy(elf.s, elf.len);
			elf.s[bit / 8] ^= (char)(1 << bit % 8);
		}
		for (size_t at = 0; at + 8 <= elf.len; at += 4) {
			char kept[8];

			memcpy(kept, elf.s + at, 8);
			memset(elf.s + at, 0xff, 8);
			parse_copy(elf.s, elf.len);
			memcpy(elf.s + at, kept, 8);
		}
		buf_release(&elf);
	}
}

static unsigned char *read_self(size_t *ret_size)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	unsigned char *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = xcalloc((size_t)st.st_size, 1);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	close(fd);
	*ret_size = (size_t)st.st_size;
	return data;
}

static void truncated_program(void **state)
{
	size_t size, step;
	unsigned char *data = read_self(&size);

	(void)state;
	/* Every 64th length; a program that sanitizers made large is cut less often. */
	step = size > 1 << 19 ? size / 8192 : 64;
	for (size_t cut = 0; cut < size; cut += step)
		parse_copy(data, cut);
	free(data);
}

static void flipped_program(void **state)
{
	size_t size;
	unsigned char *data = read_self(&size);
	uint64_t random = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		size_t bit;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* Most of them where the structure is: the header and the table at the end. */
		bit = (size_t)(i % 4 == 0   ? random % (64 * 8)
			       : i % 4 == 1 ? random % (size * 8)
					    : size * 8 - 1 - random % (4096 * 8));
		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		parse_copy(data, size);
		data[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	free(data);
}

/* ---- files ---- */

static void not_programs(void **state)
{
	struct found f = {};
	struct err e = {};

	(void)state;
	assert_int_equal(sdt_visit_file(in_dir("nothing"), note, &f, &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot open '"));
	assert_int_equal(sdt_visit_file(support_dir, note, &f, &e), -EINVAL);
	write_text("empty", "");
	assert_int_equal(sdt_visit_file(in_dir("empty"), note, &f, &e), -EINVAL);
	write_text("text", "#!/bin/sh\necho this is a script\n");
	assert_int_equal(sdt_visit_file(in_dir("text"), note, &f, &e), -ENOEXEC);
	assert_non_null(strstr(e.text, "this is not an ELF file"));
	assert_non_null(strstr(e.text, "text'"));
	/* The result is the same when nobody reads the sentence. */
	assert_int_equal(sdt_visit_file(in_dir("text"), note, &f, NULL), -ENOEXEC);
	assert_int_equal(mkfifo(in_dir("fifo"), 0600), 0);
	alarm(300);
	assert_int_equal(sdt_visit_file(in_dir("fifo"), note, &f, &e), -EINVAL);
	alarm(0);
	assert_int_equal(f.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markers_of_this_program), cmocka_unit_test(markers_of_the_header),
		cmocka_unit_test(every_kind_of_elf),       cmocka_unit_test(stops_when_told),
		cmocka_unit_test(many_sections),           cmocka_unit_test(truncated_small),
		cmocka_unit_test(flipped_small),           cmocka_unit_test(truncated_program),
		cmocka_unit_test(flipped_program),         cmocka_unit_test(not_programs),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
