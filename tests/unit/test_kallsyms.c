/* The kernel's symbols: a text made for the test, and this machine's own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/kallsyms.h"
#include "symbol/kernel_hidden.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T first_here\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000040 t local_one\n"
			   "ffffffff81000050 D some_data\n"
			   "ffffffff81000080 W weak_one\n"
			   "not a line\n"
			   "ffffffff8100008 \n"
			   "ffffffffc0200010 t ext4_read\t[ext4]\n"
			   "ffffffffc0200000 t ext4_open\t[ext4]\n"
			   "ffffffffc0100000 t xfs_open\t[xfs]";

static const char *name_at(const struct kallsyms *k, uint64_t address)
{
	const struct symbol *s = symtab_find(&k->symbols, address);

	return s ? symtab_name(&k->symbols, s) : "";
}

static void parses_lines(void **state)
{
	struct kallsyms k = {};
	const struct symbol *s;

	(void)state;
	kallsyms_parse(&k, text, strlen(text));
	assert_int_equal(k.symbols.symbols.len, 6);
	assert_int_equal(k.text, 0xffffffff81000000);
	assert_false(k.hidden);
	assert_string_equal(name_at(&k, 0xffffffff81000001), "_text");
	assert_string_equal(name_at(&k, 0xffffffff81000060), "local_one");
	assert_string_equal(name_at(&k, 0xffffffff81000080), "weak_one");
	assert_string_equal(name_at(&k, 0xffffffff81003000), "");
	assert_string_equal(name_at(&k, 0xffffffffc0200004), "ext4_open");
	s = symtab_find(&k.symbols, 0xffffffffc0200014);
	assert_non_null(s);
	assert_string_equal(k.parts.items[s->part - 1], "ext4");
	assert_int_equal(s->binding, STB_LOCAL);
	s = symtab_find(&k.symbols, 0xffffffffc0100004);
	assert_non_null(s);
	assert_string_equal(k.parts.items[s->part - 1], "xfs");
	assert_int_equal(symtab_find(&k.symbols, 0xffffffff81000080)->binding, STB_WEAK);
	assert_int_equal(symtab_find(&k.symbols, 0xffffffff81000080)->part, 0);
	kallsyms_release(&k);
}

static void hidden_addresses(void **state)
{
	static const char zeros[] = "0000000000000000 T _text\n0000000000000000 t other\n";
	struct kallsyms k = {};

	(void)state;
	kallsyms_parse(&k, zeros, strlen(zeros));
	assert_true(k.hidden);
	assert_int_equal(k.symbols.symbols.len, 0);
	kallsyms_release(&k);
}

static void no_file(void **state)
{
	struct kallsyms k = {};
	struct err e = {};

	(void)state;
	assert_int_equal(kallsyms_read(&k, "/nonexistent/kallsyms", &e), -2);
	assert_non_null(strstr(e.text, "cannot open '/nonexistent/kallsyms'"));
	kallsyms_release(&k);
}

static void this_machine(void **state)
{
	struct kallsyms k = {};

	(void)state;
	if (kallsyms_read(&k, "/proc/kallsyms", NULL) < 0 || k.hidden) {
		kallsyms_release(&k);
		print_message("# SKIP no addresses for this user\n");
		skip();
	}
	assert_true(k.symbols.symbols.len > 1000);
	assert_true(k.text || k.stext);
	assert_non_null(symtab_find(&k.symbols, k.text ? k.text : k.stext));
	kallsyms_release(&k);
}

/* Only settings that hide addresses are named, and root only where root would see them. */
static void remedies(void **state)
{
	static const struct {
		long long restrict_level, paranoid;
		bool root;
		const char *text;
	} cases[] = {
		{0, 2, false, "run as root, or: sysctl kernel.perf_event_paranoid=1"},
		{1, 1, false, "run as root, or: sysctl kernel.kptr_restrict=0"},
		{1, 2, false,
		 "run as root, or: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
		{2, 2, false, "run: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},
		{2, 2, true, "run: sysctl kernel.kptr_restrict=0"},
		{0, 2, true, "run as root of the machine, outside containers"},
		{0, 1, false, "run as root of the machine, outside containers"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *remedy = kernel_hidden_remedy_for(cases[i].restrict_level, cases[i].paranoid,
							cases[i].root);

		assert_string_equal(remedy, cases[i].text);
		free(remedy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_lines), cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(remedies),     cmocka_unit_test(no_file),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
