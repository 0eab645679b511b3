/* Names as perf shows them, without parameters; and names that would grow beyond all measure. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/demangle.h"

#include <string.h>

static void shows(const char *mangled, const char *wanted)
{
	CLEANUP(buf_release) struct buf out = {};

	assert_true(demangle(mangled, &out));
	assert_string_equal(buf_str(&out), wanted);
}

static void leaves(const char *name)
{
	CLEANUP(buf_release) struct buf out = {};

	buf_add(&out, "x");
	assert_false(demangle(name, &out));
	assert_string_equal(buf_str(&out), "x");
}

static void cpp(void **state)
{
	(void)state;
	shows("_ZN2ns3BoxIiEC1Ei", "ns::Box<int>::Box");
	shows("_ZN2ns3sumIJilEEEiDpT_", "ns::sum<int, long>");
	shows("_ZNK2ns3BoxIiEcvbEv", "ns::Box<int>::operator bool");
	shows("_ZN12_GLOBAL__N_16hiddenEi", "(anonymous namespace)::hidden");
	shows("_ZNSt6vectorIiSaIiEE9push_backEOi@plt",
	      "std::vector<int, std::allocator<int> >::push_back@plt");
	shows("_ZL7partialRKSt6vectorIiSaIiEEi.isra.0", "partial");
}

static void rust(void **state)
{
	(void)state;
	shows("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	shows("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

static void d(void **state)
{
	(void)state;
	shows("_Dmain", "D main");
	shows("_D8demangle4testFiZv", "demangle.test(int)");
}

static void none(void **state)
{
	(void)state;
	leaves("");
	leaves("main");
	leaves("_start");
	leaves("_ZTHIS_IS_NOT");
	leaves("_R");
	leaves("_D");
	leaves("_DYNAMIC");
}

/* Each pair is made of two of the one before; the name of the template is counted, too. */
static void add_pairs(struct buf *name, size_t first)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	buf_add(name, "St4pairIiiE");
	for (size_t i = first; i < 36; i += 2)
		buf_addf(name, "St4pairIS%c_S%c_E", digits[i], digits[i]);
}

static void growing_cpp(void **state)
{
	CLEANUP(buf_release) struct buf name = {};

	(void)state;
	buf_add(&name, "_Z1f");
	add_pairs(&name, 0);
	/* Parameters are not shown, so they do not matter; template arguments are. */
	shows(buf_str(&name), "f");
	buf_clear(&name);
	buf_add(&name, "_Z1fI");
	add_pairs(&name, 1);
	buf_add(&name, "EvT_");
	leaves(buf_str(&name));
}

static void growing_rust(void **state)
{
	CLEANUP(buf_release) struct buf name = {};
	size_t last = 0;

	(void)state;
	/* Tuples of two references to the tuple before. */
	buf_add(&name, "_RINvC1a1f");
	for (size_t i = 0; i < 40; i++) {
		size_t at = name.len - 2;

		if (!i) {
			buf_add(&name, "TllE");
		} else {
			char reference[8] = "B";
			size_t n = 1, v = last - 1;

			if (v >= 62)
				reference[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM"
						 "NOPQRSTUVWXYZ"[v / 62];
			reference[n++] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST"
					 "UVWXYZ"[v % 62];
			reference[n++] = '_';
			buf_addf(&name, "T%s%sE", reference, reference);
		}
		last = at;
	}
	buf_add(&name, "E");
	leaves(buf_str(&name));
}

static void too_long(void **state)
{
	CLEANUP(buf_release) struct buf name = {};

	(void)state;
	buf_add(&name, "_Z");
	buf_addf(&name, "%d", DEMANGLE_INPUT_MAX);
	buf_pad(&name, DEMANGLE_INPUT_MAX, 'a');
	buf_add(&name, "v");
	leaves(buf_str(&name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp),         cmocka_unit_test(rust),
		cmocka_unit_test(d),           cmocka_unit_test(none),
		cmocka_unit_test(growing_cpp), cmocka_unit_test(growing_rust),
		cmocka_unit_test(too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
