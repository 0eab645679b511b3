/* jitdump files as runtimes write them, of both byte orders, and broken ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/jitdump.h"
#include "support.h"

/* ---- writing one ---- */

static bool other_order;

static void u32(struct buf *b, uint32_t v)
{
	v = other_order ? __builtin_bswap32(v) : v;
	buf_add_mem(b, &v, sizeof(v));
}

static void u64(struct buf *b, uint64_t v)
{
	v = other_order ? __builtin_bswap64(v) : v;
	buf_add_mem(b, &v, sizeof(v));
}

static void header(struct buf *b, uint64_t flags)
{
	u32(b, 0x4a695444);
	u32(b, 1);
	u32(b, 48); /* with eight bytes that a later version may have */
	u32(b, 62);
	u32(b, 0);
	u32(b, 77);
	u64(b, 123);
	u64(b, flags);
	u64(b, 0);
}

static void load(struct buf *b, uint64_t time, uint64_t address, uint64_t index, const char *name,
		 const char *code)
{
	size_t code_len = strlen(code);

	u32(b, 0);
	u32(b, (uint32_t)(16 + 40 + strlen(name) + 1 + code_len));
	u64(b, time);
	u32(b, 77);
	u32(b, 78);
	u64(b, address);
	u64(b, address);
	u64(b, code_len);
	u64(b, index);
	buf_add_mem(b, name, strlen(name) + 1);
	buf_add_mem(b, code, code_len);
}

static void move(struct buf *b, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
		 uint64_t index)
{
	u32(b, 1);
	u32(b, 64);
	u64(b, time);
	u32(b, 77);
	u32(b, 79);
	u64(b, to);
	u64(b, from);
	u64(b, to);
	u64(b, size);
	u64(b, index);
}

static void lines(struct buf *b, uint64_t address)
{
	u32(b, 2);
	u32(b, 16 + 16 + 16 + 5 + 16 + 2 + 16 + 5);
	u64(b, 0);
	u64(b, address);
	u64(b, 3);
	u64(b, address + 4);
	u32(b, 20);
	u32(b, 0);
	buf_add_mem(b, "b.js", 5);
	u64(b, address + 6);
	u32(b, 21);
	u32(b, 0);
	buf_add_mem(b, "\xff", 2);
	u64(b, address);
	u32(b, 10);
	u32(b, 0);
	buf_add_mem(b, "a.js", 5);
}

static void unwinding(struct buf *b)
{
	u32(b, 4);
	u32(b, 16 + 24 + 8);
	u64(b, 0);
	u64(b, 6);
	u64(b, 2);
	u64(b, 6);
	buf_add_mem(b, "unwind__", 8);
}

static struct jitdump *open_buf(const struct buf *b)
{
	struct jitdump *j = NULL;
	struct err e = {};

	assert_int_equal(jitdump_open_memory(&j, b->s, b->len, &e), 0);
	return j;
}

/* ---- reading it ---- */

static bool collect_line(void *ctx, uint64_t offset, const char *file, uint32_t line)
{
	(void)offset;
	buf_addf(ctx, "%s:%u ", file, line);
	return line != 20;
}

static void check_all(const struct buf *b)
{
	CLEANUP(buf_release) struct buf text = {};
	struct jitdump *j = open_buf(b);
	const struct jitdump_load *l;
	const struct symbol *s;
	const char *file;
	uint32_t line;
	char bytes[32] = "";

	assert_int_equal(jitdump_loads(j, &l), 3);
	assert_null(jitdump_damage(j));
	assert_int_equal(jitdump_machine(j), 62);
	assert_int_equal(jitdump_pid(j), 77);
	assert_false(jitdump_uses_cpu_clock(j));
	assert_string_equal(jitdump_name(j, &l[0]), "spin");
	assert_int_equal(l[0].time, 1000);
	assert_int_equal(l[0].address, 0x7f1000);
	assert_int_equal(l[0].size, 8);
	assert_int_equal(l[0].tid, 78);
	assert_int_equal(l[0].unwind_size, 6);
	assert_int_equal(l[0].unwind_header_size, 2);
	assert_int_equal(jitdump_bytes(j, l[0].unwind_offset, bytes, 6), 6);
	assert_string_equal(bytes, "unwind");
	assert_int_equal(jitdump_bytes(j, l[0].code_offset, bytes, 8), 8);
	assert_string_equal(bytes, "codecode");
	assert_int_equal(l[1].unwind_size, 0);
	assert_true(l[2].moved);
	assert_int_equal(l[2].time, 3000);
	assert_int_equal(l[2].address, 0x7f3000);
	assert_int_equal(l[2].code_offset, l[0].code_offset);
	s = symtab_find(jitdump_symbols(j), l[0].code_offset + 7);
	assert_non_null(s);
	assert_string_equal(symtab_name(jitdump_symbols(j), s), "spin");
	s = symtab_find(jitdump_symbols(j), l[1].code_offset);
	assert_string_equal(symtab_name(jitdump_symbols(j), s), "other");
	assert_true(jitdump_line(j, l[0].code_offset + 3, &file, &line));
	assert_string_equal(file, "a.js");
	assert_int_equal(line, 10);
	assert_true(jitdump_line(j, l[0].code_offset + 7, &file, &line));
	assert_string_equal(file, "b.js");
	assert_int_equal(line, 21);
	assert_false(jitdump_line(j, l[0].code_offset + 8, &file, &line));
	assert_false(jitdump_line(j, l[1].code_offset, &file, &line));
	jitdump_each_line(j, l[0].code_offset, l[1].code_offset, collect_line, &text);
	assert_string_equal(buf_str(&text), "a.js:10 b.js:20 ");
	jitdump_close(j);
}

static void add_all(struct buf *b)
{
	header(b, 0);
	unwinding(b);
	lines(b, 0x7f1000);
	load(b, 1000, 0x7f1000, 1, "spin", "codecode");
	load(b, 2000, 0x7f2000, 2, "other", "more");
	move(b, 2500, 0x7f9000, 0x7fa000, 4, 9); /* of what nobody has seen */
	move(b, 3000, 0x7f1000, 0x7f3000, 8, 1);
	u32(b, 99); /* of a later version */
	u32(b, 16);
	u64(b, 0);
	u32(b, 3);
	u32(b, 16);
	u64(b, 0);
}

static void both_byte_orders(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		CLEANUP(buf_release) struct buf b = {};

		other_order = i;
		add_all(&b);
		check_all(&b);
	}
	other_order = false;
}

static void from_a_file(void **state)
{
	CLEANUP(buf_release) struct buf b = {};
	struct jitdump_source source = {
		.path = "/nonexistent/jit-1.dump", .pid = 4194000, .kept_dir = support_dir};
	const struct jitdump_load *l;
	struct jitdump *j = NULL;
	struct err e = {};

	(void)state;
	add_all(&b);
	assert_int_equal(jitdump_find(&j, &source, &e), -ENOENT);
	write_mem("jit-4194000.dump", b.s, b.len);
	assert_int_equal(jitdump_find(&j, &source, &e), 0);
	assert_int_equal(jitdump_loads(j, &l), 3);
	jitdump_close(j);
	write_text("text", "this is none");
	assert_int_equal(jitdump_open(&j, in_dir("text"), rights_of_asker(), &e), -EINVAL);
	assert_non_null(strstr(e.text, "is not a jitdump file"));
}

/* What was there before the end of a growing file is there. */
static void cut_anywhere(void **state)
{
	CLEANUP(buf_release) struct buf b = {};
	const struct jitdump_load *l;
	size_t before = 0;

	(void)state;
	add_all(&b);
	for (size_t cut = 48; cut < b.len; cut++) {
		struct jitdump *j = NULL;
		size_t count;

		assert_int_equal(jitdump_open_memory(&j, b.s, cut, NULL), 0);
		count = jitdump_loads(j, &l);
		assert_true(count == before || count == before + 1);
		before = count;
		jitdump_close(j);
	}
	assert_int_equal(before, 3);
}

static void lies(void **state)
{
	CLEANUP(buf_release) struct buf b = {};
	const struct jitdump_load *l;
	uint64_t huge = UINT64_MAX - 3;
	struct jitdump *j;

	(void)state;
	header(&b, 1);
	load(&b, 1, 0x1000, 1, "good", "code");
	load(&b, 2, 0x2000, 1, "bad", "code");
	/* The size of its code. */
	memcpy(b.s + b.len - 4 - 4 - 16, &huge, sizeof(huge));
	load(&b, 3, 0x3000, 1, "behind", "code");
	j = open_buf(&b);
	assert_int_equal(jitdump_loads(j, &l), 1);
	assert_non_null(jitdump_damage(j));
	assert_true(jitdump_uses_cpu_clock(j));
	jitdump_close(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_byte_orders),
		cmocka_unit_test(from_a_file),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(lies),
	};

	return cmocka_run_group_tests_name("jitdump", tests, make_support_dir, remove_support_dir);
}
