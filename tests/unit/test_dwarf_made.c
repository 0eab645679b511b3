/*
 * DWARF made by hand, in both byte orders: what compilers here do not write (several operations in an
 * instruction, every kind of range, files that lie), and what the limits are for.
 */
#include "base/buf.h"
#include "symbol/dwarf/constants.h"
#include "symbol/dwarf/dwarf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct made {
	struct buf info, abbrev, str, line, ranges, rnglists, addr, str_offsets, aranges;
	bool big; /* the most significant byte first */
};

static void put(struct made *m, struct buf *to, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		buf_add_char(to, (char)(value >> 8 * (m->big ? size - 1 - i : i)));
}

static void put_uleb(struct buf *to, uint64_t value)
{
	do {
		buf_add_char(to, (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
	} while (value >>= 7);
}

static void put_sleb(struct buf *to, int64_t value)
{
	while (value < -64 || value > 63) {
		buf_add_char(to, (char)((value & 0x7f) | 0x80));
		value >>= 7;
	}
	buf_add_char(to, (char)(value & 0x7f));
}

static void put_text(struct buf *to, const char *s)
{
	buf_add_mem(to, s, strlen(s) + 1);
}

/* Writes a length in front of what was added since @start. */
static void close_length(struct made *m, struct buf *b, size_t start)
{
	struct buf length = {};

	put(m, &length, b->len - start, 4);
	buf_add_mem(b, "0000", 4);
	memmove(b->s + start + 4, b->s + start, b->len - 4 - start);
	memcpy(b->s + start, length.s, 4);
	buf_release(&length);
}

/* code, tag, children, then pairs of attribute and form up to 0 */
static void abbrev(struct made *m, unsigned code, unsigned tag, int children, ...)
{
	va_list ap;
	int attribute;

	put_uleb(&m->abbrev, code);
	put_uleb(&m->abbrev, tag);
	buf_add_char(&m->abbrev, (char)children);
	va_start(ap, children);
	while ((attribute = va_arg(ap, int))) {
		put_uleb(&m->abbrev, (unsigned)attribute);
		put_uleb(&m->abbrev, (unsigned)va_arg(ap, int));
	}
	va_end(ap);
	buf_add_mem(&m->abbrev, "\0", 2);
}

/* What comes between the length and the first entry. */
static void unit_header(struct made *m, unsigned version)
{
	put(m, &m->info, version, 2);
	if (version >= 5) {
		put(m, &m->info, UNIT_COMPILE, 1);
		put(m, &m->info, 8, 1);
		put(m, &m->info, 0, 4);
	} else {
		put(m, &m->info, 0, 4);
		put(m, &m->info, 8, 1);
	}
}

static struct dwarf_bytes bytes_of(const struct buf *b)
{
	return (struct dwarf_bytes){(const unsigned char *)b->s, b->len};
}

static struct dwarf *open_made(struct made *m)
{
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	buf_add_char(&m->abbrev, 0);
	return dwarf_new(&(struct dwarf_sections){
		.info = bytes_of(&m->info),
		.abbrev = bytes_of(&m->abbrev),
		.str = bytes_of(&m->str),
		.line = bytes_of(&m->line),
		.ranges = bytes_of(&m->ranges),
		.rnglists = bytes_of(&m->rnglists),
		.addr = bytes_of(&m->addr),
		.str_offsets = bytes_of(&m->str_offsets),
		.aranges = bytes_of(&m->aranges),
		.swap = m->big != host_big,
	});
}

static void release_made(struct made *m)
{
	struct buf *all[] = {&m->info,     &m->abbrev, &m->str,         &m->line,   &m->ranges,
			     &m->rnglists, &m->addr,   &m->str_offsets, &m->aranges};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buf_release(all[i]);
}

/* ---- lines ---- */

static void extended(struct made *m, unsigned opcode, uint64_t value, unsigned size)
{
	put(m, &m->line, LINE_EXTENDED, 1);
	put_uleb(&m->line, size + 1);
	put(m, &m->line, opcode, 1);
	put(m, &m->line, value, size);
}

static void one(struct made *m, unsigned opcode)
{
	put(m, &m->line, opcode, 1);
}

static void with(struct made *m, unsigned opcode, int64_t value)
{
	one(m, opcode);
	if (opcode == LINE_ADVANCE_LINE)
		put_sleb(&m->line, value);
	else
		put_uleb(&m->line, (uint64_t)value);
}

/* Instructions of 4 bytes with 3 operations; opcode 13 is one that nobody knows, with 2 arguments. */
static void line_header(struct made *m)
{
	static const char lengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2};
	size_t start;

	put(m, &m->line, 4, 2);
	start = m->line.len;
	put(m, &m->line, 4, 1);
	put(m, &m->line, 3, 1);
	put(m, &m->line, 1, 1);
	put(m, &m->line, (uint8_t)-3, 1);
	put(m, &m->line, 12, 1);
	put(m, &m->line, 14, 1);
	buf_add_mem(&m->line, lengths, sizeof(lengths));
	put_text(&m->line, "inc");
	put_text(&m->line, "");
	put_text(&m->line, "a.c");
	buf_add_mem(&m->line, "\0\0", 3);
	put_text(&m->line, "b.h");
	buf_add_mem(&m->line, "\1\0", 3);
	put_text(&m->line, "");
	close_length(m, &m->line, start);
}

static void line_program(struct made *m)
{
	line_header(m);
	extended(m, LINE_SET_ADDRESS, 0x1000, 8);
	one(m, LINE_COPY);
	with(m, LINE_ADVANCE_LINE, 9);
	with(m, LINE_ADVANCE_PC, 4); /* operation 1 of the next instruction */
	one(m, LINE_COPY);
	one(m, 43); /* 2 operations, 2 lines */
	with(m, LINE_SET_FILE, 2);
	with(m, 13, 5);
	put_uleb(&m->line, 300);
	one(m, LINE_CONST_ADD_PC); /* 20 operations */
	extended(m, 4, 7, 1);      /* a discriminator */
	one(m, LINE_COPY);
	one(m, LINE_FIXED_ADVANCE_PC);
	put(m, &m->line, 0x10, 2);
	one(m, LINE_EXTENDED);
	put_uleb(&m->line, 8);
	one(m, LINE_DEFINE_FILE);
	put_text(&m->line, "c.h");
	buf_add_mem(&m->line, "\1\0", 3);
	with(m, LINE_SET_FILE, 3);
	with(m, LINE_ADVANCE_LINE, -2);
	one(m, LINE_COPY);
	with(m, LINE_ADVANCE_PC, 3);
	extended(m, LINE_END_SEQUENCE, 0, 0);
	extended(m, LINE_SET_ADDRESS, 0x1100, 8);
	with(m, LINE_ADVANCE_LINE, 40);
	one(m, LINE_COPY);
	with(m, LINE_ADVANCE_PC, 6);
	extended(m, LINE_END_SEQUENCE, 0, 0);
	extended(m, LINE_SET_ADDRESS, 0, 8); /* dropped by the linker */
	one(m, LINE_COPY);
	with(m, LINE_ADVANCE_PC, 0x3000);
	extended(m, LINE_END_SEQUENCE, 0, 0);
	close_length(m, &m->line, 0);
}

static void line_unit(struct made *m)
{
	abbrev(m, 1, TAG_COMPILE_UNIT, false, AT_COMP_DIR, FORM_STRING, AT_STMT_LIST,
	       FORM_SEC_OFFSET, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA4, 0);
	unit_header(m, 4);
	put_uleb(&m->info, 1);
	put_text(&m->info, "/top");
	put(m, &m->info, 0, 4);
	put(m, &m->info, 0x1000, 8);
	put(m, &m->info, 0x200, 4);
	close_length(m, &m->info, 0);
}

static void expect_line(struct dwarf *d, uint64_t address, const char *file, uint32_t line)
{
	const char *got_file = NULL;
	uint32_t got_line = 0;

	assert_true(dwarf_line(d, address, &got_file, &got_line));
	assert_string_equal(got_file, file);
	assert_int_equal(got_line, line);
}

static void test_line_program(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct made m = {.big = big};
		const char *file;
		uint32_t line;
		struct dwarf *d;

		line_unit(&m);
		line_program(&m);
		d = open_made(&m);
		expect_line(d, 0x1000, "/top/a.c", 1);
		expect_line(d, 0x1003, "/top/a.c", 1);
		expect_line(d, 0x1004, "/top/a.c", 10);
		expect_line(d, 0x1008, "/top/a.c", 12);
		expect_line(d, 0x101f, "/top/a.c", 12);
		expect_line(d, 0x1020, "/top/inc/b.h", 12);
		expect_line(d, 0x1030, "/top/inc/c.h", 10);
		expect_line(d, 0x1033, "/top/inc/c.h", 10);
		assert_false(dwarf_line(d, 0x1034, &file, &line));
		assert_false(dwarf_line(d, 0x10ff, &file, &line));
		expect_line(d, 0x1100, "/top/a.c", 41);
		expect_line(d, 0x1107, "/top/a.c", 41);
		assert_false(dwarf_line(d, 0x1108, &file, &line));
		assert_int_equal(dwarf_damages(d, NULL), 0);
		dwarf_free(d);
		release_made(&m);
	}
}

/* A table that ends early costs what is missing, not more. */
static void test_cut_line_program(void **state)
{
	struct made m = {};
	size_t whole;

	(void)state;
	line_unit(&m);
	line_program(&m);
	whole = m.line.len;
	for (size_t len = 0; len <= whole; len++) {
		const char *file, *reason;
		uint32_t line;
		struct dwarf *d;

		m.line.len = len;
		d = open_made(&m);
		assert_int_equal(dwarf_line(d, 0x1000, &file, &line), len == whole);
		assert_int_equal(dwarf_damages(d, &reason), len == whole ? 0 : 1);
		dwarf_free(d);
	}
	release_made(&m);
}

/* ---- ranges ---- */

static void range_unit(struct made *m)
{
	static const struct {
		uint8_t kind, operands;
		uint16_t a, b;
	} entries[] = {
		/* operands: x index, o offset, a address */
		{RANGE_BASE_ADDRESSX, 1, 1, 0},
		{RANGE_OFFSET_PAIR, 2, 0x10, 0x20},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_STARTX_ENDX, 2, 2, 3},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_STARTX_LENGTH, 2, 3, 0x40},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_BASE_ADDRESS, 3, 0x5000, 0},
		{RANGE_OFFSET_PAIR, 2, 0, 8},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_START_END, 4, 0x6000, 0x6010},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_START_LENGTH, 5, 0x7000, 0x20},
		{RANGE_END_OF_LIST, 0, 0, 0},
		{RANGE_OFFSET_PAIR, 2, 0x8000 - 0x1000, 0x8004 - 0x1000},
		{RANGE_START_LENGTH, 5, 0, 0x100},
		{RANGE_END_OF_LIST, 0, 0, 0},
	};
	struct buf lists = {};
	unsigned list = 0;

	/* numbers of lists, after a header of 12 bytes */
	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		if (!i || entries[i - 1].kind == RANGE_END_OF_LIST) {
			put(m, &m->rnglists, 7 * 4 + lists.len, 4);
			list++;
		}
		put(m, &lists, entries[i].kind, 1);
		if (entries[i].operands == 1 || entries[i].operands == 2)
			put_uleb(&lists, entries[i].a);
		if (entries[i].operands == 2)
			put_uleb(&lists, entries[i].b);
		if (entries[i].operands > 2)
			put(m, &lists, entries[i].a, 8);
		if (entries[i].operands == 4)
			put(m, &lists, entries[i].b, 8);
		if (entries[i].operands == 5)
			put_uleb(&lists, entries[i].b);
	}
	assert_int_equal(list, 7);
	buf_add_mem(&m->rnglists, lists.s, lists.len);
	buf_release(&lists);

	put(m, &m->addr, 0, 8); /* stands for the header */
	for (unsigned i = 1; i <= 5; i++)
		put(m, &m->addr, 0x1000 * i, 8);
	abbrev(m, 1, TAG_COMPILE_UNIT, true, AT_LOW_PC, FORM_ADDRX, AT_HIGH_PC, FORM_UDATA,
	       AT_ADDR_BASE, FORM_SEC_OFFSET, AT_RNGLISTS_BASE, FORM_SEC_OFFSET, 0);
	abbrev(m, 2, TAG_SUBPROGRAM, false, AT_NAME, FORM_STRING, AT_RANGES, FORM_RNGLISTX, 0);
	abbrev(m, 3, TAG_SUBPROGRAM, false, AT_NAME, FORM_INDIRECT, AT_LOW_PC, FORM_ADDRX2,
	       AT_HIGH_PC, FORM_DATA1, 0);
	unit_header(m, 5);
	put_uleb(&m->info, 1);
	put_uleb(&m->info, 0);
	put_uleb(&m->info, 0x10000);
	put(m, &m->info, 8, 4);
	put(m, &m->info, 0, 4);
	for (unsigned i = 0; i < 7; i++) {
		char name[] = "f0";

		name[1] = (char)('0' + i);
		put_uleb(&m->info, 2);
		put_text(&m->info, name);
		put_uleb(&m->info, i);
	}
	put_uleb(&m->info, 3);
	put_uleb(&m->info, FORM_STRING);
	put_text(&m->info, "plain");
	put(m, &m->info, 0, 2);
	put(m, &m->info, 0x30, 1);
	put_uleb(&m->info, 0);
	close_length(m, &m->info, 0);
}

static void expect_function(struct dwarf *d, uint64_t low, uint64_t high, const char *name)
{
	struct dwarf_place place;

	for (uint64_t at = low; at < high; at += high - low - 1 ? high - low - 1 : 1) {
		assert_int_equal(dwarf_places(d, at, &place, 1), 1);
		assert_string_equal(place.function, name);
		assert_null(place.file);
	}
	assert_int_equal(dwarf_places(d, high, &place, 1), 0);
	assert_int_equal(dwarf_places(d, low - 1, &place, 1), 0);
}

static void test_range_entries(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct made m = {.big = big};
		struct dwarf *d;

		range_unit(&m);
		d = open_made(&m);
		expect_function(d, 0x2010, 0x2020, "f0");
		expect_function(d, 0x5000, 0x5008, "f3");
		expect_function(d, 0x6000, 0x6010, "f4");
		expect_function(d, 0x7000, 0x7020, "f5");
		expect_function(d, 0x8000, 0x8004, "f6");
		expect_function(d, 0x1000, 0x1030, "plain");
		/* these two touch each other */
		struct dwarf_place place;
		assert_int_equal(dwarf_places(d, 0x3000, &place, 1), 1);
		assert_string_equal(place.function, "f1");
		assert_int_equal(dwarf_places(d, 0x3fff, &place, 1), 1);
		assert_string_equal(place.function, "f1");
		assert_int_equal(dwarf_places(d, 0x4000, &place, 1), 1);
		assert_string_equal(place.function, "f2");
		assert_int_equal(dwarf_places(d, 0x4040, &place, 1), 0);
		assert_int_equal(dwarf_damages(d, NULL), 0);
		dwarf_free(d);
		release_made(&m);
	}
}

/* ---- found by .debug_aranges alone; pairs of ranges; names ---- */

static void test_pairs_and_aranges(void **state)
{
	struct dwarf_place places[4];
	struct made m = {};
	struct dwarf *d;
	size_t self;

	(void)state;
	abbrev(&m, 7, TAG_COMPILE_UNIT, true, 0);
	abbrev(&m, 9, TAG_SUBPROGRAM, true, AT_NAME, FORM_STRP, AT_RANGES, FORM_SEC_OFFSET, 0);
	abbrev(&m, 4, TAG_INLINED_SUBROUTINE, false, AT_ABSTRACT_ORIGIN, FORM_REF4, AT_LOW_PC,
	       FORM_ADDR, AT_HIGH_PC, FORM_ADDR, AT_CALL_LINE, FORM_DATA1, 0);
	put_text(&m.str, "");
	put_text(&m.str, "both");
	put(&m, &m.ranges, 0x10, 8);
	put(&m, &m.ranges, 0x20, 8);
	put(&m, &m.ranges, UINT64_MAX, 8); /* another base */
	put(&m, &m.ranges, 0x4000, 8);
	put(&m, &m.ranges, 0x100, 8);
	put(&m, &m.ranges, 0x108, 8);
	put(&m, &m.ranges, 0, 8);
	put(&m, &m.ranges, 0, 8);
	unit_header(&m, 4);
	put_uleb(&m.info, 7);
	put_uleb(&m.info, 9);
	put(&m, &m.info, 1, 4);
	put(&m, &m.info, 0, 4);
	self = m.info.len + 4;
	put_uleb(&m.info, 4); /* its name is that of itself, and so on */
	put(&m, &m.info, self, 4);
	put(&m, &m.info, 0x4102, 8);
	put(&m, &m.info, 0x4104, 8);
	put(&m, &m.info, 33, 1);
	buf_add_mem(&m.info, "\0", 2);
	close_length(&m, &m.info, 0);

	put(&m, &m.aranges, 2, 2);
	put(&m, &m.aranges, 0, 4);
	put(&m, &m.aranges, 8, 1);
	put(&m, &m.aranges, 0, 1);
	put(&m, &m.aranges, 0, 4); /* to a multiple of a pair */
	put(&m, &m.aranges, 0x10, 8);
	put(&m, &m.aranges, 0x5000, 8);
	put(&m, &m.aranges, 0, 8);
	put(&m, &m.aranges, 0, 8);
	close_length(&m, &m.aranges, 0);

	d = open_made(&m);
	assert_int_equal(dwarf_places(d, 0x10, places, 4), 1);
	assert_string_equal(places[0].function, "both");
	assert_int_equal(dwarf_places(d, 0x20, places, 4), 0);
	assert_int_equal(dwarf_places(d, 0x4101, places, 4), 1);
	assert_int_equal(dwarf_places(d, 0x4102, places, 4), 2);
	assert_string_equal(places[0].function, "both");
	assert_int_equal(places[0].line, 33);
	assert_null(places[1].function);
	assert_int_equal(dwarf_places(d, 0x4104, places, 4), 1);
	dwarf_free(d);
	release_made(&m);
}

/* ---- files that lie ---- */

static void begin_liar(struct made *m)
{
	abbrev(m, 1, TAG_COMPILE_UNIT, true, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA4, 0);
	abbrev(m, 2, TAG_SUBPROGRAM, true, AT_RANGES, FORM_SEC_OFFSET, 0);
	abbrev(m, 3, 0x0b, true, 0);
	abbrev(m, 4, TAG_SUBPROGRAM, true, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA4, 0);
	abbrev(m, 5, TAG_INLINED_SUBROUTINE, true, AT_LOW_PC, FORM_ADDR, AT_HIGH_PC, FORM_DATA4, 0);
	unit_header(m, 4);
	put_uleb(&m->info, 1);
	put(m, &m->info, 0x1000, 8);
	put(m, &m->info, 0x100000, 4);
}

/* Many functions that all have the same long list: reading it for each would never end. */
static void test_shared_list(void **state)
{
	struct dwarf_place place;
	struct made m = {};
	struct dwarf *d;

	(void)state;
	begin_liar(&m);
	for (unsigned i = 0; i < 60000; i++) {
		put_uleb(&m.info, 2);
		put(&m, &m.info, 0, 4);
		put_uleb(&m.info, 0);
	}
	put_uleb(&m.info, 0);
	close_length(&m, &m.info, 0);
	for (unsigned i = 0; i < 20000; i++) {
		put(&m, &m.ranges, 2 * i + 1, 8);
		put(&m, &m.ranges, 2 * i + 2, 8);
	}
	put(&m, &m.ranges, 0, 8);
	put(&m, &m.ranges, 0, 8);
	d = open_made(&m);
	assert_int_equal(dwarf_places(d, 0x1001, &place, 1), 1);
	assert_true(dwarf_refused(d) > 0);
	assert_int_equal(dwarf_damages(d, NULL), 0);
	assert_true(dwarf_held_bytes(d) < 64 << 20);
	dwarf_free(d);
	release_made(&m);
}

/* Entries inside of each other without end; those that are near enough are still found. */
static void test_deep_entries(void **state)
{
	struct dwarf_place places[DWARF_INLINE_DEPTH_MAX];
	struct made m = {};
	struct dwarf *d;

	(void)state;
	begin_liar(&m);
	put_uleb(&m.info, 4);
	put(&m, &m.info, 0x1000, 8);
	put(&m, &m.info, 0x1000, 4);
	for (unsigned i = 0; i < 5000; i++) {
		put_uleb(&m.info, 5);
		put(&m, &m.info, 0x1000 + i, 8);
		put(&m, &m.info, 0x1000, 4);
	}
	buf_pad(&m.info, 5002, '\0');
	close_length(&m, &m.info, 0);
	d = open_made(&m);
	assert_int_equal(dwarf_places(d, 0x1003, places, ARRAY_LEN(places)), 5);
	assert_int_equal(dwarf_places(d, 0x1fff, places, ARRAY_LEN(places)), ARRAY_LEN(places));
	assert_int_equal(dwarf_damages(d, NULL), 1);
	dwarf_free(d);
	release_made(&m);
}

/* Units that are nothing but a length of nothing: passing over them has an end too. */
static void test_empty_units(void **state)
{
	struct dwarf_place place;
	struct made m = {};
	struct dwarf *d;

	(void)state;
	buf_pad(&m.info, 16 << 20, '\0');
	buf_pad(&m.aranges, 16 << 20, '\0');
	d = open_made(&m);
	assert_int_equal(dwarf_places(d, 0x1001, &place, 1), 0);
	assert_int_equal(dwarf_refused(d), 1);
	assert_true(dwarf_damages(d, NULL) <= 1 << 20);
	dwarf_free(d);
	release_made(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_program),  cmocka_unit_test(test_cut_line_program),
		cmocka_unit_test(test_range_entries), cmocka_unit_test(test_pairs_and_aranges),
		cmocka_unit_test(test_shared_list),   cmocka_unit_test(test_deep_entries),
		cmocka_unit_test(test_empty_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
