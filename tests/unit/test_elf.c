/*
 * ELF files: this program, the C library compared with what binutils say of it, and programs that
 * are built, stripped and compressed for the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/elf/decompress.h"
#include "symbol/elf/symbols.h"
#include "support.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/resource.h>

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", support_dir, name);
}

static bool run(const char *fmt, ...)
{
	struct buf command = {};
	va_list ap;
	int status;

	buf_addf(&command, "cd '%s' && (", support_dir);
	va_start(ap, fmt);
	buf_addv(&command, fmt, ap);
	va_end(ap);
	buf_add(&command, ") >log 2>&1");
	status = system(buf_str(&command));
	buf_release(&command);
	return status == 0;
}

static int build_programs(void **state)
{
	static const char source[] =
		"#include <stdlib.h>\n"
		"__attribute__((noinline)) int one_function(int a) { return a * 3 + 1; }\n"
		"static __attribute__((noinline)) int hidden_one(int a) { return a * 5 + 1; }\n"
		"void *volatile kept;\n"
		"int main(int c, char **v) { (void)v; kept = malloc((unsigned)c); free(kept);\n"
		"	return one_function(c) + hidden_one(c); }\n";
	CLEANUP(free_ptr) char *path = NULL;

	if (make_support_dir(state))
		return -1;
	path = path_of("p.c");
	if (fs_write_atomic(path, source, strlen(source)))
		return -1;
	return run("cc -g -O1 -o p p.c -Wl,--build-id=sha1") ? 0 : -1;
}

static struct elf_file *open_built(const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct elf_file *f = NULL;
	struct err e = {};

	if (elf_open(&f, path, &e) < 0)
		fail_msg("%s", e.text);
	return f;
}

static bool has_symbol(const struct symtab *t, const char *name)
{
	for (size_t i = 0; i < t->symbols.len; i++)
		if (!strcmp(symtab_name(t, &t->symbols.items[i]), name))
			return true;
	return false;
}

/* ---- sections ---- */

static void reads_sections(void **state)
{
	struct elf_file *f = open_built("p");
	struct elf_section text, info, none;
	unsigned char code[16];
	uint64_t address = 0, offset = 0;

	(void)state;
	assert_true(elf_section(f, ".text", &text));
	assert_non_null(text.data);
	assert_true(text.flags & SHF_EXECINSTR);
	assert_true(elf_section_header(f, ".debug_info", &info));
	assert_null(info.data);
	assert_false(elf_section(f, ".no_such", &none));
	assert_true(elf_section(f, ".bss", &none));
	assert_null(none.data);
	assert_int_equal(elf_build_id(f)->size, 20);
	assert_int_equal(elf_read_address(f, text.address, code, sizeof(code)), sizeof(code));
	assert_memory_equal(code, text.data, sizeof(code));
	assert_true(elf_address_of_offset(f, text.offset, &address));
	assert_int_equal(address, text.address);
	assert_true(elf_offset_of_address(f, text.address, &offset));
	assert_int_equal(offset, text.offset);
	assert_false(elf_address_of_offset(f, UINT64_MAX, &address));
	elf_close(f);
}

static void compressed_sections_are_equal(void **state)
{
	static const char *const kinds[] = {"zlib", "zlib-gnu", "zstd"};
	struct elf_file *plain = open_built("p");
	struct elf_section wanted;
	size_t tried = 0;

	(void)state;
	assert_true(elf_section(plain, ".debug_info", &wanted));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct elf_section s;
		struct elf_file *f;

		if (!run("objcopy --compress-debug-sections=%s p packed", kinds[i]))
			continue; /* zstd is new */
		f = open_built("packed");
		assert_true(elf_section(f, ".debug_info", &s));
		assert_int_equal(s.size, wanted.size);
		assert_memory_equal(s.data, wanted.data, s.size);
		elf_close(f);
		tried++;
	}
	assert_true(tried >= 2);
	elf_close(plain);
}

static void debug_file_has_the_build_id(void **state)
{
	struct elf_file *program = open_built("p"), *debug;
	struct elf_section text;

	(void)state;
	assert_true(run("objcopy --only-keep-debug p p.debug"));
	debug = open_built("p.debug");
	assert_memory_equal(elf_build_id(debug), elf_build_id(program), sizeof(struct build_id));
	assert_true(elf_section(debug, ".text", &text));
	assert_null(text.data);
	elf_close(debug);
	elf_close(program);
}

/* ---- symbols ---- */

static void names_functions(void **state)
{
	struct elf_file *f = open_built("p");
	struct symtab t = {};

	(void)state;
	assert_true(elf_has_symtab(f));
	assert_true(elf_add_symbols(&t, f, f, SHT_SYMTAB));
	elf_add_plt_symbols(&t, f);
	symtab_finish(&t);
	assert_true(has_symbol(&t, "one_function"));
	assert_true(has_symbol(&t, "hidden_one"));
	assert_true(has_symbol(&t, "main"));
	assert_false(has_symbol(&t, "malloc"));
#if defined(__x86_64__) || defined(__aarch64__)
	assert_true(has_symbol(&t, "malloc@plt"));
	assert_true(has_symbol(&t, "free@plt"));
#endif
	symtab_release(&t);
	elf_close(f);
}

static void symbols_of_debug_files_and_packed_ones(void **state)
{
	struct elf_file *program, *debug, *mini;
	struct elf_section packed;
	unsigned char *bytes;
	size_t size = 0;
	struct symtab t = {};

	(void)state;
	assert_true(run("objcopy --only-keep-debug p p.debug && strip --strip-debug -o m p && "
			"xz -f -k m && strip -o s p && "
			"objcopy --add-section .gnu_debugdata=m.xz s withmini"));
	program = open_built("withmini");
	debug = open_built("p.debug");
	assert_false(elf_has_symtab(program));
	assert_false(elf_add_symbols(&t, program, program, SHT_SYMTAB));
	assert_true(elf_add_symbols(&t, debug, program, SHT_SYMTAB));
	assert_true(has_symbol(&t, "hidden_one"));
	symtab_release(&t);

	assert_true(elf_section(program, ".gnu_debugdata", &packed));
	assert_null(decompress_file(packed.data, packed.size, 100, &size));
	bytes = decompress_file(packed.data, packed.size, 1 << 20, &size);
	assert_non_null(bytes);
	assert_int_equal(elf_open_memory(&mini, bytes, size, NULL), 0);
	t = (struct symtab){};
	assert_true(elf_add_symbols(&t, mini, program, SHT_SYMTAB));
	assert_true(has_symbol(&t, "hidden_one"));
	symtab_release(&t);
	elf_close(mini);
	free(bytes);
	elf_close(debug);
	elf_close(program);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *ctx)
{
	char **path = ctx;

	(void)size;
	if (strstr(info->dlpi_name, "libc.so"))
		*path = xstrdup(info->dlpi_name);
	return *path != NULL;
}

/* Every function that nm knows is found at its address, under one of the names that are there. */
static void agrees_with_nm(void **state)
{
	CLEANUP(free_ptr) char *libc = NULL;
	CLEANUP(free_ptr) char *list = NULL;
	CLEANUP(free_ptr) char *path = path_of("list");
	struct elf_file *f;
	struct symtab t = {};
	size_t functions = 0, same = 0;

	(void)state;
	dl_iterate_phdr(find_libc, &libc);
	if (!libc || !run("nm -D --defined-only --without-symbol-versions '%s' | "
			  "grep -E ' [TtWi] ' > list",
			  libc)) {
		print_message("# SKIP nm(1) does not read the C library\n");
		skip();
	}
	assert_int_equal(fs_read(path, 16 << 20, &list), 0);
	assert_int_equal(elf_open(&f, libc, NULL), 0);
	assert_true(elf_add_symbols(&t, f, f, SHT_DYNSYM));
	symtab_finish(&t);
	for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n")) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);
		const struct symbol *s = symtab_find(&t, address);

		assert_true(end[0] == ' ' && end[2] == ' ');
		if (!s)
			fail_msg("nothing at %lx, where nm has '%s'", address, end + 3);
		assert_int_equal(s->start, address);
		same += !strcmp(symtab_name(&t, s), end + 3);
		functions++;
	}
	assert_true(functions > 1000);
	/* The others are aliases. */
	assert_true(same >= t.symbols.len * 9 / 10);
	symtab_release(&t);
	elf_close(f);
}

/* ---- what is no ELF file ---- */

static void refuses(void **state)
{
	struct elf_file *f;
	struct err e = {};
	unsigned char head[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	(void)state;
	assert_int_equal(elf_open(&f, "/nonexistent/x", &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot open '/nonexistent/x'"));
	assert_int_equal(elf_open(&f, "/dev/null", &e), -EINVAL);
	assert_int_equal(elf_open(&f, "/", &e), -EINVAL);
	assert_int_equal(elf_open_memory(&f, "#!/bin/sh\n", 10, &e), -ENOEXEC);
	assert_int_equal(elf_open_memory(&f, head, 20, &e), -ENOEXEC);
	assert_int_equal(elf_open_memory(&f, "", 0, &e), -ENOEXEC);
	/* A header alone says nothing, but is one. */
	assert_int_equal(elf_open_memory(&f, head, sizeof(head), &e), 0);
	assert_int_equal(elf_section_count(f), 0);
	elf_close(f);
	head[60] = 200; /* sections that are not there */
	head[58] = 64;
	head[40] = 64;
	assert_int_equal(elf_open_memory(&f, head, sizeof(head), &e), 0);
	assert_int_equal(elf_section_count(f), 0);
	elf_close(f);
}

/* Headers that claim gigabytes, in a file that has them as a hole: what is not of a credible size is
 * not read. */
static void large_claims_cost_nothing(void **state)
{
	static const struct {
		const char *name;
		uint64_t size;
	} claims[] = {
		{".note.gnu.build-id", 3ull << 30},
		{".plt", 3ull << 30},
		{".rela.plt", 3ull << 30},
		{".dynsym", 3ull << 30},
		{".symtab", 1ull << 39},
		{".strtab", 1023ull << 20},
		{".debug_info", 3ull << 30},
	};
	CLEANUP(free_ptr) char *path = path_of("claims");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
		struct rusage before, after;
		struct symtab t = {};
		struct elf_file *f = open_built("p");
		struct elf_section s;
		uint64_t size = claims[i].size, headers_at;
		int fd;

		assert_true(elf_section_header(f, claims[i].name, &s));
		assert_true(run("cp p claims"));
		fd = open(path, O_RDWR | O_CLOEXEC);
		assert_int_equal(pread(fd, &headers_at, 8, offsetof(Elf64_Ehdr, e_shoff)), 8);
		assert_int_equal(pwrite(fd, &size, 8,
					(off_t)(headers_at + s.index * sizeof(Elf64_Shdr) +
						offsetof(Elf64_Shdr, sh_size))),
				 8);
		assert_int_equal(ftruncate(fd, 1ll << 40), 0);
		close(fd);
		elf_close(f);

		assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
		f = open_built("claims");
		assert_int_equal(elf_build_id(f)->size, 20);
		elf_add_plt_symbols(&t, f);
		elf_add_symbols(&t, f, f, SHT_SYMTAB);
		elf_section(f, ".debug_info", &s);
		assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
		assert_true(after.ru_maxrss - before.ru_maxrss < 256 << 10); /* KiB */
		symtab_release(&t);
		elf_close(f);
	}
	unlink(path);
}

/* What one thread has read of a section is not seen by another that only looks at its header. */
static void headers_have_no_bytes(void **state)
{
	struct elf_file *f = open_built("p");
	struct elf_section s;

	(void)state;
	assert_true(elf_section(f, ".text", &s));
	assert_non_null(s.data);
	assert_true(elf_section_header(f, ".text", &s));
	assert_null(s.data);
	elf_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sections),
		cmocka_unit_test(compressed_sections_are_equal),
		cmocka_unit_test(debug_file_has_the_build_id),
		cmocka_unit_test(names_functions),
		cmocka_unit_test(symbols_of_debug_files_and_packed_ones),
		cmocka_unit_test(agrees_with_nm),
		cmocka_unit_test(refuses),
		cmocka_unit_test(large_claims_cost_nothing),
		cmocka_unit_test(headers_have_no_bytes),
	};

	return cmocka_run_group_tests(tests, build_programs, remove_support_dir);
}
