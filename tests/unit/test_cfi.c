/* Call frame information: entries, programs, indexes and expressions, valid and not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cfi_build.h"
#include "symbol/elf/elf.h"
#include "unwind/expression.h"
#include "unwind/leb128.h"

#include <errno.h>

#define RBX 3
#define RBP 6
#define RSP 7
#define R10 10
#define RIP 16

/* CFA = rsp+8, the return address just below it: as every x86-64 function begins. */
static const uint8_t at_entry[] = {0x0c, RSP, 8, 0x80 | RIP, 1};
static const uint8_t no_data[] = {0};

static struct cfi *cfi_of_eh(const struct cfi_build *b)
{
	struct cfi_input in = {.address_size = 8, .swap = b->swap};

	if (b->is_debug)
		in.debug_frame = built_section(b);
	else
		in.eh_frame = built_section(b);
	return cfi_new(&in);
}

static void assert_cfa(const struct cfi *c, uint64_t address, unsigned reg, int64_t offset)
{
	struct cfi_row row;

	assert_true(cfi_find(c, address, &row));
	assert_int_equal(row.cfa.how, CFI_REGISTER);
	assert_int_equal(row.cfa.reg, reg);
	assert_int_equal(row.cfa.offset, offset);
	assert_true(row.start <= address && address < row.end);
}

/* push %rbp; mov %rsp,%rbp; …; leave; ret */
static const uint8_t with_frame_pointer[] = {0x41, 0x0e, 16,   0x80 | RBP, 2,   0x43,
					     0x0d, RBP,  0x5b, 0x0c,       RSP, 8};

static void check_forms(struct cfi_build b)
{
	struct cfi_row row;
	struct cfi *c;

	put_cie(&b, "zR", "\1\0", 2, RIP, at_entry, sizeof(at_entry));
	put_fde(&b, 0x1000, 0x20, no_data, 1, with_frame_pointer, sizeof(with_frame_pointer));
	put_fde(&b, 0x2000, 0x20, no_data, 1, NULL, 0);
	c = cfi_of_eh(&b);
	assert_int_equal(cfi_entry_count(c), 2);
	assert_cfa(c, 0x1000, RSP, 8);
	assert_cfa(c, 0x1001, RSP, 16);
	assert_cfa(c, 0x1003, RSP, 16);
	assert_cfa(c, 0x1004, RBP, 16);
	assert_cfa(c, 0x101e, RBP, 16);
	assert_cfa(c, 0x101f, RSP, 8);
	assert_cfa(c, 0x201f, RSP, 8);
	assert_false(cfi_find(c, 0xfff, &row));
	assert_false(cfi_find(c, 0x1020, &row));
	assert_false(cfi_find(c, 0x1fff, &row));
	assert_false(cfi_find(c, 0x2020, &row));
	assert_true(cfi_find(c, 0x1004, &row));
	assert_int_equal(row.start, 0x1004);
	assert_int_equal(row.end, 0x101f);
	assert_int_equal(row.return_register, RIP);
	assert_int_equal(row.regs[RIP].how, CFI_SAVED);
	assert_int_equal(row.regs[RIP].offset, -8);
	assert_int_equal(row.regs[RBP].how, CFI_SAVED);
	assert_int_equal(row.regs[RBP].offset, -16);
	assert_int_equal(row.regs[RBX].how, CFI_UNSET);
	assert_false(row.signal_frame);
	cfi_free(c);
	buf_release(&b.bytes);
}

static void all_forms(void **state)
{
	static const uint8_t versions[] = {1, 3, 4};

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		for (size_t v = 0; v < sizeof(versions); v++)
			check_forms((struct cfi_build){.is_debug = i & 1,
						       .is_long = i & 2,
						       .swap = i & 4,
						       .version = versions[v]});
}

/* The row behind a program of one function. */
static struct cfi_row row_of(const char *letters, const void *data, size_t data_size,
			     const void *program, size_t size, bool *ret_found)
{
	struct cfi_build b = {.address = 0x400000};
	struct cfi_row row = {};
	struct cfi *c;

	put_cie(&b, letters, data, data_size, RIP, at_entry, sizeof(at_entry));
	put_fde(&b, 0x1000, 0x1000, no_data, 1, program, size);
	c = cfi_of_eh(&b);
	*ret_found = cfi_find(c, 0x1fff, &row);
	cfi_free(c);
	buf_release(&b.bytes);
	return row;
}

#define ROW_OF(...)                                                                                \
	({                                                                                         \
		const uint8_t program[] = {__VA_ARGS__};                                           \
		bool found;                                                                        \
		struct cfi_row row = row_of("zR", "\1\0", 2, program, sizeof(program), &found);    \
                                                                                                   \
		assert_true(found);                                                                \
		row;                                                                               \
	})

static void assert_rule(const struct cfi_row *row, unsigned reg, enum cfi_how how, int64_t offset)
{
	assert_int_equal(row->regs[reg].how, how);
	assert_int_equal(row->regs[reg].offset, offset);
}

static void instructions(void **state)
{
	struct cfi_row r;

	(void)state;
	r = ROW_OF(0x05, RBX, 3, 0x11, R10, 0x7e, 0x2f, 12, 4);
	assert_rule(&r, RBX, CFI_SAVED, -24);
	assert_rule(&r, R10, CFI_SAVED, 16);
	assert_rule(&r, 12, CFI_SAVED, 32);
	r = ROW_OF(0x14, RBX, 3, 0x15, R10, 0x7e, 0x07, 12, 0x08, 13, 0x09, 14, RBX);
	assert_rule(&r, RBX, CFI_OFFSET, -24);
	assert_rule(&r, R10, CFI_OFFSET, 16);
	assert_rule(&r, 12, CFI_UNDEFINED, 0);
	assert_rule(&r, 13, CFI_SAME, 0);
	assert_int_equal(r.regs[14].how, CFI_REGISTER);
	assert_int_equal(r.regs[14].reg, RBX);
	/* restore takes back what the CIE had */
	r = ROW_OF(0x80 | RIP, 9, 0x80 | RBX, 2, 0xc0 | RIP, 0x06, RBX);
	assert_rule(&r, RIP, CFI_SAVED, -8);
	assert_rule(&r, RBX, CFI_UNSET, 0);
	/* the CFA, step by step */
	r = ROW_OF(0x12, RBP, 0x7e);
	assert_int_equal(r.cfa.reg, RBP);
	assert_int_equal(r.cfa.offset, 16);
	r = ROW_OF(0x0d, R10, 0x13, 0x7d);
	assert_int_equal(r.cfa.reg, R10);
	assert_int_equal(r.cfa.offset, 24);
	/* advances of every width, operands that nobody needs, registers beyond ours */
	r = ROW_OF(0x02, 0x10, 0x03, 0x10, 0, 0x04, 0x10, 0, 0, 0, 0x1d, 0x10, 0, 0, 0, 0, 0, 0, 0,
		   0x2e, 0x90, 1, 0x05, 60, 1, 0x16, 61, 1, 0x30, 0x0e, 48);
	assert_int_equal(r.start, 0x1040);
	assert_int_equal(r.cfa.offset, 48);
	r = ROW_OF(0x01, 0x80, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 24);
	assert_int_equal(r.start, 0x1080);
	assert_int_equal(r.cfa.offset, 24);
	r = ROW_OF(0x2d);
	assert_true(r.return_signed);
	r = ROW_OF(0x2d, 0x2d);
	assert_false(r.return_signed);
}

static void expressions_in_programs(void **state)
{
	struct cfi_row r;

	(void)state;
	r = ROW_OF(0x0f, 3, 0x77, 8, 0x06, 0x10, RBX, 2, 0x76, 0x70, 0x16, R10, 1, 0x31);
	assert_int_equal(r.cfa.how, CFI_EXPRESSION);
	assert_int_equal(r.cfa.expression_size, 3);
	assert_int_equal(r.regs[RBX].how, CFI_SAVED_EXPRESSION);
	assert_int_equal(r.regs[RBX].expression_size, 2);
	assert_int_equal(r.regs[R10].how, CFI_EXPRESSION);
	assert_int_equal(r.regs[R10].expression_size, 1);
}

static void states_are_remembered(void **state)
{
	struct cfi_row r;

	(void)state;
	r = ROW_OF(0x80 | RBX, 2, 0x0e, 16, 0x0a, 0x0e, 8, 0xc0 | RBX, 0x0a, 0x0e, 99, 0x0b, 0x0b);
	assert_rule(&r, RBX, CFI_SAVED, -16);
	assert_int_equal(r.cfa.offset, 16);
}

static void signal_frames_and_letters(void **state)
{
	struct cfi_row r;
	bool found;

	(void)state;
	r = row_of("zRS", "\1\0", 2, NULL, 0, &found);
	assert_true(found && r.signal_frame);
	/* a personality routine with an absolute pointer, a language area, keys of arm64 */
	r = row_of("zPLRSB", "\13\0\1\2\3\4\5\6\7\x8\xff\0", 12, NULL, 0, &found);
	assert_true(found && r.signal_frame);
	/* a letter of the future: the length says how much belongs to it */
	r = row_of("zR?", "\4\0abc", 5, NULL, 0, &found);
	assert_true(found);
	row_of("R", "\1\0", 2, NULL, 0, &found);
	assert_false(found);
	row_of("zRRRRRRRRRRRRRRRRRRRRR", "\1\0", 2, NULL, 0, &found);
	assert_false(found);
}

static void invalid_programs(void **state)
{
	static const uint8_t programs[][4] = {
		{0x0b},             /* restores what was not remembered */
		{0x0d, 99},         /* a register that there is not */
		{0x0c, 99, 8},      /* */
		{0x0f, 0x7f},       /* an expression beyond the end */
		{0x3f},             /* an instruction that there is not */
		{0x0f, 0, 0x0e, 8}, /* an offset without a register */
	};
	uint8_t remember[CFI_REMEMBER_MAX + 1];
	bool found;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		row_of("zR", "\1\0", 2, programs[i], sizeof(programs[i]), &found);
		assert_false(found);
	}
	memset(remember, 0x0a, sizeof(remember));
	row_of("zR", "\1\0", 2, remember, CFI_REMEMBER_MAX, &found);
	assert_true(found);
	row_of("zR", "\1\0", 2, remember, sizeof(remember), &found);
	assert_false(found);
}

/* One function at 0x401000, 0x10 long, its addresses written in @encoding. */
static bool found_when_encoded(uint8_t encoding, uint64_t start, unsigned size)
{
	struct cfi_build b = {.address = 0x400000};
	uint8_t letters_data[] = {1, encoding};
	struct cfi_input in = {
		.address_size = 8, .text_address = 0x401000, .got_address = 0x500000};
	struct cfi_row row;
	struct cfi *c;
	size_t at;
	bool found;

	put_cie(&b, "zR", letters_data, 2, RIP, at_entry, sizeof(at_entry));
	at = begin_entry(&b);
	put(&b, b.bytes.len - b.cie_at, 4);
	if ((encoding & 0x70) == 0x10)
		start -= b.address + b.bytes.len;
	if ((encoding & 0x70) == 0x50)
		while (b.bytes.len % 8)
			put(&b, 0, 1);
	if (size)
		put(&b, start, size);
	else
		put_bytes(&b, "\x80\xa0\x80\x02", 4);
	put(&b, 0x10, size ? size : 1);
	put(&b, 0, 1);
	put_length(&b, at);
	in.eh_frame = built_section(&b);
	c = cfi_new(&in);
	found = cfi_find(c, 0x40100f, &row) && !cfi_find(c, 0x401010, &row) &&
		!cfi_find(c, 0x400fff, &row);
	cfi_free(c);
	buf_release(&b.bytes);
	return found;
}

static void pointer_encodings(void **state)
{
	(void)state;
	assert_true(found_when_encoded(0x00, 0x401000, 8));
	assert_true(found_when_encoded(0x03, 0x401000, 4));
	assert_true(found_when_encoded(0x04, 0x401000, 8));
	assert_true(found_when_encoded(0x0b, 0x401000, 4));
	assert_true(found_when_encoded(0x0c, 0x401000, 8));
	assert_true(found_when_encoded(0x1b, 0x401000, 4));
	assert_true(found_when_encoded(0x1c, 0x401000, 8));
	assert_true(found_when_encoded(0x1a, 0x401000, 2));
	assert_true(found_when_encoded(0x22, 0, 2));
	assert_true(found_when_encoded(0x3b, (uint64_t)(0x401000 - 0x500000), 4));
	assert_true(found_when_encoded(0x50, 0x401000, 8));
	assert_true(found_when_encoded(0x01, 0, 0));         /* 0x401000 as bytes of seven bits */
	assert_false(found_when_encoded(0x09, 0, 8));        /* one that runs on and on */
	assert_false(found_when_encoded(0x9b, 0x401000, 4)); /* where it points to is not known */
	assert_false(found_when_encoded(0xff, 0x401000, 8));
	assert_false(found_when_encoded(0x07, 0x401000, 8));
}

/* Functions out of order, with the linker's index of them, its pairs swapped if @broken. */
static void check_index(bool broken)
{
	struct cfi_build b = {.address = 0x400000}, hdr = {.address = 0x500000};
	static const uint64_t starts[] = {0x3000, 0x1000, 0x2000}, order[] = {1, 2, 0};
	struct cfi_input in = {.address_size = 8};
	size_t offsets[3];
	struct cfi *c;

	put_cie(&b, "zR", "\1\0", 2, RIP, at_entry, sizeof(at_entry));
	for (size_t i = 0; i < 3; i++) {
		uint8_t program[] = {0x0e, (uint8_t)(16 + 8 * i)};

		offsets[i] = put_fde(&b, starts[i], 0x100, no_data, 1, program, sizeof(program));
	}
	put(&hdr, 0x3b031b01, 4);
	put(&hdr, b.address - hdr.address - 4, 4);
	put(&hdr, 3, 4);
	for (size_t i = 0; i < 3; i++) {
		size_t n = broken ? i : order[i];

		put(&hdr, starts[n] - hdr.address, 4);
		put(&hdr, b.address + offsets[n] - hdr.address, 4);
	}
	in.eh_frame = built_section(&b);
	in.eh_frame_hdr = built_section(&hdr);
	c = cfi_new(&in);
	assert_int_equal(cfi_entry_count(c), 3);
	for (size_t i = 0; i < 3; i++)
		assert_cfa(c, starts[i] + 0xff, RSP, (int64_t)(16 + 8 * i));
	cfi_free(c);
	buf_release(&b.bytes);
	buf_release(&hdr.bytes);
}

static void indexes(void **state)
{
	(void)state;
	check_index(false);
	check_index(true);
}

/* All of it, and every beginning of it, with each byte changed: nothing but rows or no rows. */
static void damaged_bytes(void **state)
{
	struct cfi_build b = {.address = 0x400000};
	struct cfi_row row;
	unsigned char *copy;
	struct cfi *c;

	(void)state;
	put_cie(&b, "zPLRS", "\13\0\1\2\3\4\5\6\7\x8\xff\0", 12, RIP, at_entry, sizeof(at_entry));
	put_fde(&b, 0x1000, 0x20, no_data, 1, with_frame_pointer, sizeof(with_frame_pointer));
	for (size_t i = 0; i <= b.bytes.len; i++) {
		struct cfi_input in = {.address_size = 8};

		copy = xcalloc(b.bytes.len, 1);
		memcpy(copy, b.bytes.s, b.bytes.len);
		if (i < b.bytes.len)
			copy[i] ^= 0xff;
		in.eh_frame = (struct cfi_section){copy, b.bytes.len, b.address};
		c = cfi_new(&in);
		for (uint64_t at = 0xff0; at < 0x1030; at++)
			if (cfi_find(c, at, &row))
				assert_true(row.cfa.how && row.start <= at && at < row.end);
		cfi_free(c);
		in.eh_frame.size = i;
		c = cfi_new(&in);
		assert_int_equal(cfi_entry_count(c), i == b.bytes.len);
		cfi_free(c);
		free(copy);
	}
	buf_release(&b.bytes);
}

/* ---- expressions ---- */

static bool load(void *ctx, uint64_t address, unsigned size, uint64_t *ret)
{
	(void)ctx;
	if (address < 0x1000 || address >= 0x2000)
		return false;
	*ret = size == 8 ? address * 2 : address % 256;
	return true;
}

static int run(const void *bytes, size_t size, uint64_t *ret)
{
	static const uint64_t regs[CFI_REGISTERS] = {[RSP] = 0x1800, [RIP] = 0x40101c};
	struct expression_input in = {.bytes = bytes,
				      .size = size,
				      .regs = regs,
				      .known = 1u << RSP | 1u << RIP,
				      .has_initial = true,
				      .initial = 100,
				      .address_size = 8,
				      .load = load};

	return expression_run(&in, ret);
}

static void assert_value(const char *bytes, size_t size, uint64_t wanted)
{
	uint64_t value = 0;

	assert_int_equal(run(bytes, size, &value), 0);
	assert_int_equal(value, wanted);
}

#define VALUE(bytes, wanted) assert_value(bytes, sizeof(bytes) - 1, (uint64_t)(wanted))

static void expression_values(void **state)
{
	(void)state;
	/* an entry of the PLT: one word more once the jump has pushed its number */
	VALUE("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 0x1800 + 8 + 8);
	VALUE("", 100);
	VALUE("\x77\x78\x06", (0x1800 - 8) * 2);
	VALUE("\x77\x05\x94\x01", 5);
	VALUE("\x08\xff", 255);
	VALUE("\x09\xff", -1);
	VALUE("\x0b\x00\x80", -32768);
	VALUE("\x0c\x78\x56\x34\x12", 0x12345678);
	VALUE("\x0f\xfe\xff\xff\xff\xff\xff\xff\xff", -2);
	VALUE("\x03\x01\x00\x00\x00\x00\x00\x00\x80", 0x8000000000000001);
	VALUE("\x10\x80\x01", 128);
	VALUE("\x11\x7f", -1);
	VALUE("\x35\x32\x1b", 2);
	VALUE("\x11\x76\x33\x1b", -3);
	VALUE("\x35\x33\x1d", 2);
	VALUE("\x35\x33\x1c", 2);
	VALUE("\x35\x33\x1e", 15);
	VALUE("\x35\x1f\x19", 5);
	VALUE("\x35\x20", ~5ull);
	VALUE("\x35\x3a\x21\x30\x27", 15);
	VALUE("\x35\x23\x80\x01", 133);
	VALUE("\x31\x08\x40\x24", 0);
	VALUE("\x11\x70\x32\x25\x11\x70\x32\x26\x13", (uint64_t)-16 >> 2);
	VALUE("\x11\x70\x32\x26", -4);
	VALUE("\x31\x32\x16\x1c", 1);
	VALUE("\x31\x32\x33\x17\x1c\x1c", 3 - (1 - 2)); /* 1 2 3 becomes 3 1 2 */
	VALUE("\x31\x32\x14\x1c\x22", 1 + 1);
	VALUE("\x31\x32\x15\x01", 1);
	VALUE("\x31\x12\x22", 2);
	VALUE("\x31\x28\x01\x00\x96\x37", 7); /* jumps over one byte */
	VALUE("\x30\x28\x01\x00\x34\x2f\x00\x00", 4);
	VALUE("\x90\x10", 0x40101c);
	VALUE("\x92\x07\x01", 0x1801);
	VALUE("\x57", 0x1800);
}

static void assert_fails(const char *bytes, size_t size, int error)
{
	uint64_t value;

	assert_int_equal(run(bytes, size, &value), error);
}

#define FAILS(bytes, error) assert_fails(bytes, sizeof(bytes) - 1, error)

static void expression_failures(void **state)
{
	char deep[EXPRESSION_STACK_MAX + 1];

	(void)state;
	FAILS("\x13\x13", -EINVAL);     /* nothing there to drop */
	FAILS("\x13", -EINVAL);         /* nothing left as the value */
	FAILS("\x31\x30\x1b", -EINVAL); /* by zero */
	FAILS("\x31\x30\x1d", -EINVAL);
	FAILS("\x2f\xfd\xff", -EINVAL); /* for ever */
	FAILS("\x2f\x00\x40", -EINVAL); /* out of the expression */
	FAILS("\x2f\x00\xc0", -EINVAL);
	FAILS("\x0c\x01", -EINVAL); /* cut off */
	FAILS("\x15\x40", -EINVAL);
	FAILS("\x94\x03", -EINVAL);
	FAILS("\xe0", -EINVAL);
	FAILS("\x92\x40\x00", -EINVAL);
	FAILS("\x73\x00", -ENODATA); /* a register that is not known */
	FAILS("\x31\x06", -ENODATA); /* memory that is not there */
	memset(deep, 0x31, sizeof(deep));
	assert_fails(deep, sizeof(deep), -EINVAL);
}

static void lowest_number_divided(void **state)
{
	(void)state;
	VALUE("\x31\x08\x3f\x24\x11\x7f\x1b", 1ull << 63);
}

/* ---- a real program: this one ---- */

static struct cfi_section section_of(struct elf_file *f, const char *name)
{
	struct elf_section s;

	assert_true(elf_section(f, name, &s));
	return (struct cfi_section){s.data, s.size, s.address};
}

/* The linker's index and ours find the same rules, at the beginning and the end of every function. */
static void both_indexes_agree(void **state)
{
	struct cfi_input in = {.address_size = 8};
	struct cfi *linker, *own;
	struct cfi_section text;
	struct elf_file *f;
	size_t found = 0;

	(void)state;
	assert_int_equal(elf_open(&f, "/proc/self/exe", NULL), 0);
	in.eh_frame = section_of(f, ".eh_frame");
	own = cfi_new(&in);
	in.eh_frame_hdr = section_of(f, ".eh_frame_hdr");
	linker = cfi_new(&in);
	text = section_of(f, ".text");
	assert_true(cfi_entry_count(own) > 20);
	assert_in_range(cfi_entry_count(linker), cfi_entry_count(own), 2 * cfi_entry_count(own));
	for (uint64_t at = text.address; at < text.address + text.size; at += 3) {
		struct cfi_row a = {}, b = {};
		bool known = cfi_find(linker, at, &a);

		assert_int_equal(known, cfi_find(own, at, &b));
		assert_memory_equal(&a, &b, sizeof(a));
		found += known;
	}
	assert_true(found > text.size / 6);
	cfi_free(own);
	cfi_free(linker);
	elf_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms),
		cmocka_unit_test(instructions),
		cmocka_unit_test(expressions_in_programs),
		cmocka_unit_test(states_are_remembered),
		cmocka_unit_test(signal_frames_and_letters),
		cmocka_unit_test(invalid_programs),
		cmocka_unit_test(pointer_encodings),
		cmocka_unit_test(indexes),
		cmocka_unit_test(damaged_bytes),
		cmocka_unit_test(expression_values),
		cmocka_unit_test(expression_failures),
		cmocka_unit_test(lowest_number_divided),
		cmocka_unit_test(both_indexes_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
