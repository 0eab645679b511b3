/* Instructions of known bytes: text, sizes, targets; what is no instruction; what ends early. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/disasm.h"
#include "base/buf.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

struct seen {
	struct buf text;
	size_t count, stop_at;
	struct instruction items[64];
};

static bool keep(void *ctx, const struct instruction *i)
{
	struct seen *s = ctx;

	assert_true(s->count < ARRAY_LEN(s->items));
	buf_addf(&s->text, "%llx %s%s%s\n", (unsigned long long)i->address, i->mnemonic,
		 *i->operands ? " " : "", i->operands);
	s->items[s->count++] = *i;
	return s->count != s->stop_at;
}

static struct disasm *opened(uint16_t machine, bool intel)
{
	struct disasm *d = NULL;
	struct err e = {};
	int r = disasm_open(&d, &(struct disasm_options){machine, intel}, &e);

	if (r == -ENOSYS) {
		print_message("# SKIP libcapstone is not installed\n");
		skip();
	}
	assert_int_equal(r, 0);
	return d;
}

static const uint8_t x86[] = {
	0xf3, 0x0f, 0x1e, 0xfa,          /* endbr64 */
	0x48, 0x89, 0xe5,                /* mov %rsp,%rbp */
	0x48, 0x8b, 0x05, 0x10, 0, 0, 0, /* mov 0x10(%rip),%rax */
	0xe8, 0x01, 0,    0,    0,       /* call */
	0x75, 0xfa,                      /* jne */
	0xff, 0xd0,                      /* call *%rax */
	0xc3,                            /* ret */
};

static void x86_att(void **state)
{
	struct disasm *d = opened(EM_X86_64, false);
	struct seen s = {};

	(void)state;
	assert_int_equal(disasm_range(d, x86, sizeof(x86), 0x1000, keep, &s), sizeof(x86));
	assert_string_equal(buf_str(&s.text), "1000 endbr64\n"
					      "1004 movq %rsp, %rbp\n"
					      "1007 movq 0x10(%rip), %rax\n"
					      "100e callq 0x1014\n"
					      "1013 jne 0x100f\n"
					      "1015 callq *%rax\n"
					      "1017 retq\n");
	assert_int_equal(s.items[1].size, 3);
	assert_int_equal(s.items[2].reference, 0x101e);
	assert_int_equal(s.items[2].flow, FLOW_NEXT);
	assert_int_equal(s.items[3].flow, FLOW_CALL);
	assert_int_equal(s.items[3].target, 0x1014);
	assert_int_equal(s.items[4].flow, FLOW_JUMP);
	assert_int_equal(s.items[4].target, 0x100f);
	assert_int_equal(s.items[5].flow, FLOW_CALL);
	assert_int_equal(s.items[5].target, 0);
	assert_int_equal(s.items[6].flow, FLOW_RETURN);
	buf_release(&s.text);
	disasm_close(d);
}

static void x86_intel(void **state)
{
	struct disasm *d = opened(EM_X86_64, true);
	struct seen s = {.stop_at = 2};

	(void)state;
	assert_int_equal(disasm_range(d, x86, sizeof(x86), 0, keep, &s), 7);
	assert_string_equal(buf_str(&s.text), "0 endbr64\n4 mov rbp, rsp\n");
	buf_release(&s.text);
	disasm_close(d);
}

static void arm64(void **state)
{
	static const uint8_t code[] = {
		0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
		0x02, 0x00, 0x00, 0x94, /* bl +8 */
		0x60, 0x00, 0x00, 0x54, /* b.eq +12 */
		0xe0, 0xff, 0x0f, 0x36, /* tbz w0, #1, … */
		0xff, 0xff, 0xff, 0xff, /* nothing */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
		0xaa, 0xaa,             /* cut */
	};
	struct disasm *d = opened(EM_AARCH64, false);
	struct seen s = {};

	(void)state;
	assert_int_equal(disasm_range(d, code, sizeof(code), 0x4000, keep, &s), sizeof(code));
	assert_int_equal(s.count, 7);
	assert_non_null(strstr(buf_str(&s.text), "4000 stp x29, x30, [sp, #-0x10]!\n"));
	assert_int_equal(s.items[1].flow, FLOW_CALL);
	assert_int_equal(s.items[1].target, 0x400c);
	assert_int_equal(s.items[2].flow, FLOW_JUMP);
	assert_int_equal(s.items[2].target, 0x4014);
	assert_int_equal(s.items[3].flow, FLOW_JUMP);
	assert_int_equal(s.items[3].target, 0x4008);
	assert_true(s.items[4].bad);
	assert_int_equal(s.items[4].size, 4);
	assert_int_equal(s.items[5].flow, FLOW_RETURN);
	assert_true(s.items[6].bad);
	assert_int_equal(s.items[6].size, 2);
	buf_release(&s.text);
	disasm_close(d);
}

static void bad_bytes(void **state)
{
	static const uint8_t code[] = {0x06, 0x90, 0xe8, 0x00};
	struct disasm *d = opened(EM_X86_64, false);
	struct seen s = {};

	(void)state;
	assert_int_equal(disasm_range(d, code, sizeof(code), 0x10, keep, &s), 4);
	assert_string_equal(buf_str(&s.text), "10 (bad)\n11 nop\n12 (bad)\n13 (bad)\n");
	assert_true(s.items[0].bad && !s.items[1].bad && s.items[2].bad && s.items[3].bad);
	assert_int_equal(disasm_range(d, code, 0, 0x10, keep, &s), 0);
	assert_int_equal(s.count, 4);
	buf_release(&s.text);
	disasm_close(d);
}

static void unknown_machine(void **state)
{
	struct disasm *d = NULL;
	struct err e = {};

	(void)state;
	assert_int_equal(disasm_open(&d, &(struct disasm_options){EM_S390, false}, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "22"));
	assert_null(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_att),         cmocka_unit_test(x86_intel),
		cmocka_unit_test(arm64),           cmocka_unit_test(bad_bytes),
		cmocka_unit_test(unknown_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
