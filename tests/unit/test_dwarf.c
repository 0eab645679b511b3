/*
 * Lines and inlined functions of real programs: what was inlined where is known from the source, the
 * address is that of a label in it. Every compiler, version of DWARF and way to pack it must tell the
 * same story.
 */
#include "dwarf_program.h"
#include "symbol/module/module.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* clang-format off */
static const char source[] =
"#define INLINE static inline __attribute__((always_inline))\n"                      /* 1 */
"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\n\" #name \": nop\")\n"
"volatile int sink;\n"
"INLINE void leaf(int x)\n"
"{\n"                                                                                /* 5 */
"	sink = x;\n"
"	MARK(in_leaf);\n"
"	sink = x + 1;\n"
"}\n"
"INLINE void middle(int x)\n"                                                        /* 10 */
"{\n"
"	for (int i = 0; i < x; i++) {\n"
"		int k = sink;\n"
"		leaf(k);\n"
"		sink = k;\n"                                                         /* 15 */
"	}\n"
"	MARK(in_middle);\n"
"}\n"
"__attribute__((noinline)) void work(int x)\n"
"{\n"                                                                                /* 20 */
"	if (x > sink) {\n"
"		middle(x);\n"
"		sink++;\n"
"	}\n"
"	MARK(in_work);\n"                                                            /* 25 */
"}\n"
"#line 70 \"other/place.h\"\n"
"__attribute__((noinline)) void elsewhere(void)\n"                                   /* 70 */
"{\n"
"	MARK(in_elsewhere);\n"                                                       /* 72 */
"}\n"
"int main(int argc, char **argv)\n"
"{\n"
"	(void)argv;\n"
"	work(argc);\n"
"	elsewhere();\n"
"	return 0;\n"
"}\n";

static const char source_cxx[] =
"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\n\" #name \": nop\")\n"   /* 1 */
"volatile int sink;\n"
"namespace lib {\n"
"struct box {\n"
"	int a;\n"                                                                    /* 5 */
"	__attribute__((always_inline)) inline void put(int x) { a = x;\n"
"		MARK(in_put);\n"
"		sink = a; }\n"
"	void declared(int x);\n"
"};\n"                                                                               /* 10 */
"template <int N> __attribute__((always_inline)) inline void add(box &b, int x) {\n"
"	b.put(x + N); }\n"
"__attribute__((noinline)) void box::declared(int x) {\n"
"	add<4>(*this, x); }\n"
"}\n"                                                                                /* 15 */
"int main(int argc, char **) { lib::box b; b.declared(argc); return 0; }\n";

static const char source_nested[] =
"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\n\" #name \": nop\")\n"   /* 1 */
"volatile int sink;\n"
"__attribute__((noinline)) static int outer(int a)\n"
"{\n"
"	__attribute__((noinline)) int inner(int k)\n"                                /* 5 */
"	{\n"
"		MARK(in_inner);\n"
"		return k + a + sink;\n"
"	}\n"
"	return inner(sink) + inner(a);\n"                                            /* 10 */
"}\n"
"int main(int argc, char **argv) { (void)argv; return outer(argc); }\n";
/* clang-format on */

struct level {
	const char *function, *file_end;
	uint32_t line;
};

static bool ends_with(const char *s, const char *end)
{
	size_t len = s ? strlen(s) : 0, want = strlen(end);

	return len >= want && !strcmp(s + len - want, end);
}

static void expect_levels(struct program *p, const char *label, const struct level *want,
			  size_t count)
{
	uint64_t address = label_address(p, label);
	struct dwarf_place got[8];
	const char *file = NULL;
	uint32_t line = 0;
	size_t n;

	assert_int_not_equal(address, 0);
	n = dwarf_places(p->dwarf, address, got, ARRAY_LEN(got));
	assert_int_equal(n, count);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(got[i].function);
		assert_string_equal(got[i].function, want[i].function);
		assert_non_null(got[i].file);
		assert_true(*got[i].file == '/');
		assert_true(ends_with(got[i].file, want[i].file_end));
		assert_int_equal(got[i].line, want[i].line);
		assert_int_equal(got[i].inlined, i > 0);
	}
	assert_true(dwarf_line(p->dwarf, address, &file, &line));
	assert_ptr_equal(file, got[n - 1].file);
	assert_int_equal(line, got[n - 1].line);
}

#define EXPECT(p, label, ...)                                                                      \
	expect_levels(p, label, (const struct level[])__VA_ARGS__,                                 \
		      ARRAY_LEN(((const struct level[])__VA_ARGS__)))

static void expect_source(struct program *p)
{
	EXPECT(p, "in_leaf",
	       {{"work", "/source.c", 22}, {"middle", "/source.c", 14}, {"leaf", "/source.c", 7}});
	EXPECT(p, "in_middle", {{"work", "/source.c", 22}, {"middle", "/source.c", 17}});
	EXPECT(p, "in_work", {{"work", "/source.c", 25}});
	EXPECT(p, "in_elsewhere", {{"elsewhere", "/other/place.h", 72}});
	assert_int_equal(dwarf_damages(p->dwarf, NULL), 0);
	assert_int_equal(dwarf_refused(p->dwarf), 0);
}

static bool compile(const char *compiler, const char *options, const char *text, const char *name,
		    const char *program)
{
	CLEANUP(free_ptr)
	char *command =
		xasprintf("cd %s && %s %s %s -o %s", support_dir, compiler, options, name, program);

	write_text(name, text);
	return run_shell(command);
}

static void check_compiler(const char *compiler, const char *const *variants, size_t count)
{
	if (!have_tool(compiler)) {
		print_message("# SKIP %s is not installed\n", compiler);
		skip();
	}
	for (size_t i = 0; i < count; i++) {
		struct program p;

		print_message("# %s %s\n", compiler, variants[i]);
		assert_true(compile(compiler, variants[i], source, "source.c", "program"));
		assert_true(open_program(&p, in_dir("program"), NULL));
		expect_source(&p);
		close_program(&p);
	}
}

static void test_gcc(void **state)
{
	static const char *const variants[] = {
		"-O2 -gdwarf-2",
		"-O2 -gdwarf-3",
		"-O2 -gdwarf-4",
		"-O2 -gdwarf-5",
		"-O0 -g",
		"-O1 -g",
		"-O3 -g",
		"-Os -g -no-pie",
		"-O2 -gdwarf-4 -gdwarf64",
		"-O2 -gdwarf-5 -gdwarf64",
		"-O2 -g -gz",
		"-O2 -g -ffunction-sections -Wl,--gc-sections",
		"-O2 -g -flto",
		"-O2 -g -fdebug-types-section",
	};

	(void)state;
	check_compiler("gcc", variants, ARRAY_LEN(variants));
}

static void test_clang(void **state)
{
	static const char *const variants[] = {
		"-O2 -gdwarf-2",           "-O2 -gdwarf-3", "-O2 -gdwarf-4",
		"-O2 -gdwarf-5",           "-O0 -g",        "-O3 -g",
		"-O2 -gdwarf-5 -gdwarf64", "-O2 -g -gz",    "-O2 -g -ffunction-sections",
	};

	(void)state;
	check_compiler("clang", variants, ARRAY_LEN(variants));
}

static void expect_cxx(struct program *p)
{
	EXPECT(p, "in_put",
	       {{"_ZN3lib3box8declaredEi", "/source.cc", 14},
		{"_ZN3lib3addILi4EEEvRNS_3boxEi", "/source.cc", 12},
		{"_ZN3lib3box3putEi", "/source.cc", 7}});
}

static void test_linkage_names(void **state)
{
	static const char *const compilers[] = {"g++", "clang++"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(compilers); i++) {
		struct program p;

		if (!have_tool(compilers[i])) {
			print_message("# SKIP %s is not installed\n", compilers[i]);
			skip();
		}
		assert_true(compile(compilers[i], "-O2 -g", source_cxx, "source.cc", "program"));
		assert_true(open_program(&p, in_dir("program"), NULL));
		expect_cxx(&p);
		close_program(&p);
	}
}

/* dwz moves what two programs have in common into a third file, and abbreviates the rest. */
static void test_dwz(void **state)
{
	static const char *const versions[] = {"-gdwarf-4", "-gdwarf-5"};

	(void)state;
	if (!have_tool("dwz") || !have_tool("g++")) {
		print_message("# SKIP dwz or g++ is not installed\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		CLEANUP(free_ptr) char *options = xasprintf("-O2 %s", versions[i]);
		CLEANUP(free_ptr)
		char *command = xasprintf("cd %s && cp program second && dwz -L none -l none -m "
					  "common program second",
					  support_dir);
		struct program p;

		assert_true(compile("g++", options, source_cxx, "source.cc", "program"));
		assert_true(run_shell(command));
		assert_true(open_program(&p, in_dir("program"), in_dir("common")));
		expect_cxx(&p);
		close_program(&p);

		/* Without the third file names are missing, but nothing else. */
		assert_true(open_program(&p, in_dir("program"), NULL));
		struct dwarf_place got[8];
		assert_int_equal(dwarf_places(p.dwarf, label_address(&p, "in_put"), got, 8), 3);
		assert_null(got[2].function);
		assert_int_equal(got[2].line, 7);
		close_program(&p);
	}
}

/* A module finds the debug file of a stripped program, and the file that dwz made for both. */
static void test_module(void **state)
{
	const struct symbol_options options = {.no_debuginfod = true};
	struct module_request request = {.kind = MODULE_ELF, .path = in_dir("program")};
	CLEANUP(free_ptr)
	char *command = xasprintf("cd %s && cp program second && dwz -L none -l none -m common "
				  "program second && objcopy --only-keep-debug program "
				  "program.debug && cp program whole && strip program && objcopy "
				  "--add-gnu-debuglink=program.debug program",
				  support_dir);
	struct dwarf_place got[4];
	struct program whole;
	struct modules *all;
	struct module *m;

	(void)state;
	if (!have_tool("dwz") || !have_tool("g++")) {
		print_message("# SKIP dwz or g++ is not installed\n");
		skip();
	}
	assert_true(compile("g++", "-O2 -g", source_cxx, "source.cc", "program"));
	assert_true(run_shell(command));
	assert_true(open_program(&whole, in_dir("whole"), NULL));
	all = modules_new(&options);
	m = modules_get(all, &request);
	assert_non_null(module_dwarf(m));
	assert_ptr_equal(module_dwarf(m), module_dwarf(m));
	assert_int_equal(dwarf_places(module_dwarf(m), label_address(&whole, "in_put"), got, 4), 3);
	assert_string_equal(got[0].function, "_ZN3lib3box8declaredEi");
	assert_non_null(got[2].function);
	assert_string_equal(got[2].function, "_ZN3lib3box3putEi");
	close_program(&whole);
	modules_free(all);
}

/* A function inside of a function stands below its entry, which is otherwise jumped over. */
static void test_nested_function(void **state)
{
	struct program p;

	(void)state;
	assert_true(compile("gcc", "-O2 -g", source_nested, "nested.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	uint64_t address = label_address(&p, "in_inner");
	struct dwarf_place got[4];
	size_t n = dwarf_places(p.dwarf, address, got, 4);

	assert_int_equal(n, 1);
	assert_true(strncmp(got[0].function, "inner", 5) == 0);
	assert_int_equal(got[0].line, 7);
	assert_int_equal(got[0].declared_line, 5);
	close_program(&p);
}

static void test_split_has_lines(void **state)
{
	const char *reason = NULL, *file;
	struct program p;
	uint32_t line;

	(void)state;
	assert_true(compile("gcc", "-O2 -g -gsplit-dwarf", source, "source.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	assert_true(dwarf_line(p.dwarf, label_address(&p, "in_leaf"), &file, &line));
	assert_int_equal(line, 7);
	assert_true(ends_with(file, "/source.c"));
	assert_int_equal(dwarf_damages(p.dwarf, &reason), 1);
	assert_non_null(strstr(reason, ".dwo"));
	close_program(&p);
}

/* ---- rows of a range ---- */

struct rows {
	uint64_t from, to, last;
	size_t count;
	bool saw_leaf;
};

static bool see_row(void *ctx, uint64_t address, const char *file, uint32_t line)
{
	struct rows *r = ctx;

	assert_true(address >= r->from && address < r->to);
	assert_true(!r->count || address > r->last);
	r->last = address;
	r->count++;
	r->saw_leaf |= line == 7 && ends_with(file, "/source.c");
	return true;
}

static bool stop_at_second(void *ctx, uint64_t address, const char *file, uint32_t line)
{
	(void)address;
	(void)file;
	(void)line;
	return ++((struct rows *)ctx)->count < 2;
}

static void test_rows_of_range(void **state)
{
	struct rows all = {.to = UINT64_MAX}, part = {}, stopped = {};
	struct program p;

	(void)state;
	assert_true(compile("gcc", "-O2 -g", source, "source.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	dwarf_each_line(p.dwarf, 0, UINT64_MAX, see_row, &all);
	assert_true(all.count > 10 && all.saw_leaf);

	part.from = label_address(&p, "in_leaf");
	part.to = part.from + 1;
	dwarf_each_line(p.dwarf, part.from, part.to, see_row, &part);
	assert_int_equal(part.count, 1);
	assert_true(part.saw_leaf);

	dwarf_each_line(p.dwarf, 0, UINT64_MAX, stop_at_second, &stopped);
	assert_int_equal(stopped.count, 2);
	close_program(&p);
}

/* ---- too little room, nothing there, several threads ---- */

static void test_little_room(void **state)
{
	struct dwarf_place got[2];
	struct program p;
	uint64_t address;

	(void)state;
	assert_true(compile("gcc", "-O2 -g", source, "source.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	address = label_address(&p, "in_leaf");
	assert_int_equal(dwarf_places(p.dwarf, address, got, 2), 2);
	assert_string_equal(got[0].function, "work");
	assert_string_equal(got[1].function, "leaf");
	assert_int_equal(dwarf_places(p.dwarf, address, got, 1), 1);
	assert_string_equal(got[0].function, "work");
	assert_int_equal(dwarf_places(p.dwarf, address, got, 0), 0);
	assert_int_equal(dwarf_places(p.dwarf, 8, got, 2), 0);
	assert_int_equal(dwarf_places(p.dwarf, UINT64_MAX, got, 2), 0);
	close_program(&p);
}

/* What would take too much is left out and counted; the rest is answered. */
static void test_held_limit(void **state)
{
	struct dwarf_place got[4];
	uint64_t address, all;
	struct program p;

	(void)state;
	assert_true(compile("gcc", "-O2 -g", source, "source.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	address = label_address(&p, "in_leaf");
	assert_int_equal(dwarf_places(p.dwarf, address, got, 4), 3);
	assert_int_equal(dwarf_refused(p.dwarf), 0);
	all = dwarf_held_bytes(p.dwarf);
	close_program(&p);
	for (uint64_t limit = 0; limit < all; limit += all / 64 + 1) {
		assert_true(open_program(&p, in_dir("program"), NULL));
		dwarf_limit(p.dwarf, limit);
		assert_true(dwarf_places(p.dwarf, address, got, 4) <= 3);
		assert_true(dwarf_refused(p.dwarf) > 0);
		assert_true(dwarf_held_bytes(p.dwarf) <= limit);
		close_program(&p);
	}
}

static void test_no_debug_information(void **state)
{
	struct dwarf *d = dwarf_new(&(struct dwarf_sections){});
	struct dwarf_place got[2];
	const char *file, *reason;
	uint32_t line;

	(void)state;
	assert_int_equal(dwarf_places(d, 0x1000, got, 2), 0);
	assert_false(dwarf_line(d, 0x1000, &file, &line));
	dwarf_each_line(d, 0, UINT64_MAX, see_row, NULL);
	assert_int_equal(dwarf_damages(d, &reason), 0);
	assert_null(reason);
	dwarf_free(d);
}

struct asking {
	struct program *p;
	uint64_t addresses[4];
	uint64_t sum;
};

static void *ask(void *arg)
{
	struct asking *a = arg;

	for (unsigned round = 0; round < 200; round++)
		for (size_t i = 0; i < ARRAY_LEN(a->addresses); i++) {
			struct dwarf_place got[8];
			size_t n = dwarf_places(a->p->dwarf, a->addresses[i], got, 8);

			for (size_t k = 0; k < n; k++)
				a->sum += got[k].line + strlen(got[k].file) +
					  strlen(got[k].function) + got[k].declared_line;
		}
	return NULL;
}

static void test_threads(void **state)
{
	struct asking asking[4];
	pthread_t threads[4];
	struct program p;

	(void)state;
	assert_true(compile("gcc", "-O2 -g", source, "source.c", "program"));
	assert_true(open_program(&p, in_dir("program"), NULL));
	for (size_t i = 0; i < 4; i++) {
		asking[i] = (struct asking){.p = &p,
					    .addresses = {label_address(&p, "in_leaf"),
							  label_address(&p, "in_middle"),
							  label_address(&p, "in_work"),
							  label_address(&p, "in_elsewhere")}};
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &asking[i]), 0);
	}
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(asking[0].sum > 0);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(asking[i].sum, asking[0].sum);
	close_program(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gcc),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_linkage_names),
		cmocka_unit_test(test_dwz),
		cmocka_unit_test(test_module),
		cmocka_unit_test(test_nested_function),
		cmocka_unit_test(test_split_has_lines),
		cmocka_unit_test(test_rows_of_range),
		cmocka_unit_test(test_little_room),
		cmocka_unit_test(test_held_limit),
		cmocka_unit_test(test_no_debug_information),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, make_support_dir, remove_support_dir);
}
