/*
 * Modules: which file is taken for one and which is not, where its names come from, and what is said
 * when there are none.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbol/debug_cache.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/module/module.h"
#include "support.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <pthread.h>
#include <sys/mman.h>

#define NOBODY 65534

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", support_dir, name);
}

static bool run(const char *command)
{
	CLEANUP(free_ptr)
	char *whole = xasprintf("cd '%s' && (%s) >log 2>&1", support_dir, command);

	return system(whole) == 0;
}

static int build_programs(void **state)
{
	static const char source[] =
		"#ifndef EXTRA\n#define EXTRA 1\n#endif\n"
		"__attribute__((noinline)) int global_one(int a) { return a * 3 + EXTRA; }\n"
		"static __attribute__((noinline)) int hidden_one(int a) { return a * 5 + 1; }\n"
		"int main(int c, char **v) { (void)v; return global_one(c) + hidden_one(c); }\n";
	CLEANUP(free_ptr) char *path = NULL, *cache = NULL;

	if (make_support_dir(state))
		return -1;
	cache = path_of("cache");
	setenv("XDG_CACHE_HOME", cache, 1);
	unsetenv("DEBUGINFOD_URLS");
	path = path_of("p.c");
	if (fs_write_atomic(path, source, strlen(source)))
		return -1;
	return run("cc -g -O1 -Wl,--build-id=sha1 -o p p.c && "
		   "cc -g -O1 -Wl,--build-id=sha1 -DEXTRA=2 -o other p.c && strip -o stripped p && "
		   "objcopy --only-keep-debug p p.debug && "
		   "objcopy --add-gnu-debuglink=p.debug stripped linked && mkdir -p root/opt && "
		   "cp p root/opt/p")
		       ? 0
		       : -1;
}

static struct build_id id_of(const char *name)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct build_id id = {};

	assert_true(build_id_of_file(path, 0, &id));
	return id;
}

static const char *name_at_file(struct module *m, const char *symbol)
{
	const struct symtab *t = module_symbols(m);
	const char *name = NULL;

	for (size_t i = 0; t && i < t->symbols.len; i++) {
		uint64_t address = t->symbols.items[i].start, offset;

		if (strcmp(symtab_name(t, &t->symbols.items[i]), symbol))
			continue;
		/* There and back: by the offset in the file, as a mapping would have it. */
		assert_true(elf_offset_of_address(module_elf(m), address, &offset));
		assert_int_equal(module_address(m, offset, 0x7f0000000000), address);
		assert_non_null(module_symbol(m, address, &name));
		return name;
	}
	return "";
}

static struct module *get_with(struct modules *all, const char *name, const struct build_id *id)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct module_request r = {.kind = MODULE_ELF, .path = path};

	if (id)
		r.build_id = *id;
	return modules_get(all, &r);
}

/* ---- programs ---- */

static void the_file_at_its_path(void **state)
{
	struct modules *all = modules_new(&(struct symbol_options){});
	struct build_id id = id_of("p");
	struct module *m = get_with(all, "p", &id);
	unsigned char code[8];
	const char *name;

	(void)state;
	assert_ptr_equal(m, get_with(all, "p", &id));
	assert_ptr_not_equal(m, get_with(all, "p", NULL));
	assert_null(m->problem);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_int_equal(module_code(m, module_symbols(m)->symbols.items[0].start, code, 8), 8);
	assert_null(module_symbol(m, 1ull << 60, &name));
	assert_ptr_equal(module_debug_elf(m), module_elf(m));
	modules_free(all);
}

static void another_build_is_not_used(void **state)
{
	struct modules *all = modules_new(NULL);
	struct build_id id = id_of("other");
	struct module *m = get_with(all, "p", &id);

	(void)state;
	assert_non_null(m->problem);
	assert_non_null(strstr(m->problem, "was rebuilt since the recording"));
	assert_null(m->file);
	assert_null(module_symbols(m));
	assert_int_equal(module_address(m, 0x1234, 0), 0x1234);
	modules_free(all);
}

static void missing_and_strange_files(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module *m = get_with(all, "gone", NULL);

	(void)state;
	assert_non_null(strstr(m->problem, "does not exist any more"));
	m = get_with(all, "p.c", NULL);
	assert_non_null(strstr(m->problem, "is not an ELF file"));
	m = get_with(all, "gone (deleted)", NULL);
	assert_non_null(strstr(m->problem, "was deleted"));
	m = modules_get(all, &(struct module_request){.path = "/dev/zero", .kind = MODULE_ELF});
	assert_non_null(strstr(m->problem, "is not a regular file"));
	m = modules_get(all, &(struct module_request){.path = "[heap]", .kind = MODULE_ELF});
	assert_int_equal(m->kind, MODULE_OPAQUE);
	assert_null(module_symbols(m));
	modules_free(all);
}

static void debuglink(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module *m = get_with(all, "linked", NULL);

	(void)state;
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_non_null(strstr(m->debug_file, "/p.debug"));
	modules_free(all);
	/* Another program's debug file under that name proves nothing. */
	assert_true(run("mkdir -p wrong && cp linked wrong/ && "
			"objcopy --only-keep-debug other wrong/p.debug"));
	all = modules_new(NULL);
	m = get_with(all, "wrong/linked", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "");
	assert_null(m->debug_file);
	modules_free(all);
}

static void without_build_id_the_checksum_decides(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module *m;

	(void)state;
	assert_true(run("mkdir -p crc/.debug && cc -g -O1 -Wl,--build-id=none -o crc/full p.c && "
			"objcopy --only-keep-debug crc/full crc/.debug/q.debug && "
			"strip -o crc/bare crc/full && "
			"objcopy --add-gnu-debuglink=crc/.debug/q.debug crc/bare crc/good && "
			"cp -r crc bad && printf x >> bad/.debug/q.debug && "
			"cp -r crc huge && truncate -s 1T huge/.debug/q.debug"));
	m = get_with(all, "crc/good", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	m = get_with(all, "bad/good", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "");
	/* Reading all of it for its checksum would take minutes. */
	m = get_with(all, "huge/good", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "");
	modules_free(all);
}

/* Without a build id a file is known by its number, its generation, and when it was written. */
static void without_build_id_a_rebuilt_one_is_seen(void **state)
{
	CLEANUP(free_ptr) char *path = path_of("nameless");
	struct module_request r = {.kind = MODULE_ELF, .path = path};
	struct modules *all[3] = {modules_new(NULL), modules_new(NULL), modules_new(NULL)};
	int generation, fd;
	struct stat st;

	(void)state;
	assert_true(run("cc -g -O1 -Wl,--build-id=none -o nameless p.c"));
	assert_int_equal(stat(path, &st), 0);
	modules_set_recording(all[0], 1, 1);
	modules_set_recording(all[1], ((uint64_t)st.st_mtime + 60) * 1000000000, 1);
	/* Written over where it is, after the recording, or before. */
	r.inode = st.st_ino;
	assert_non_null(strstr(modules_get(all[0], &r)->problem, "rebuilt"));
	assert_null(modules_get(all[1], &r)->problem);
	r.inode = st.st_ino + 1;
	assert_non_null(strstr(modules_get(all[0], &r)->problem, "rebuilt"));
	assert_null(modules_get(all[1], &r)->problem); /* it was moved to here */

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (!ioctl(fd, FS_IOC_GETVERSION, &generation)) {
		r.inode = st.st_ino;
		r.generation = (uint32_t)generation;
		assert_null(modules_get(all[1], &r)->problem);
		r.generation++;
		assert_non_null(strstr(modules_get(all[2], &r)->problem, "rebuilt"));
	}
	close(fd);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		modules_free(all[i]);
}

static void below_symfs(void **state)
{
	CLEANUP(free_ptr) char *root = path_of("root");
	struct modules *all = modules_new(&(struct symbol_options){.symfs = root});
	struct module *m;

	(void)state;
	m = modules_get(all, &(struct module_request){.path = "/opt/p", .kind = MODULE_ELF});
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	m = get_with(all, "p", NULL);
	assert_non_null(m->problem);
	modules_free(all);
}

/* ---- caches ---- */

static void keep(const char *name, const struct file_origin *origin)
{
	CLEANUP(free_ptr) char *path = path_of(name);
	struct build_id id = id_of("p");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(debug_cache_keep(&id, origin, fd, DEBUG_CACHE_COPY, NULL), 0);
	assert_int_equal(debug_cache_keep(&id, origin, fd, DEBUG_CACHE_COPY, NULL), 0);
	close(fd);
}

static void own_cache(void **state)
{
	const struct file_origin mine = {.owner = geteuid()};
	struct build_id id = id_of("p");
	CLEANUP(free_ptr) char *place = debug_cache_path(&id, &mine);
	struct modules *all;
	struct module *m;

	(void)state;
	keep("p", &mine);
	all = modules_new(NULL);
	m = get_with(all, "no/such/file", &id);
	assert_null(m->problem);
	assert_string_equal(m->file, place);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	/* The program is there, but was stripped since. */
	m = get_with(all, "stripped", &id);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_string_equal(m->debug_file, place);
	modules_free(all);
	assert_true(run("rm -r cache"));
}

/* A program's build id may be made up to get the names of another one, which its user may not read. */
static void copies_for_somebody_else(void **state)
{
	const struct file_origin secret = {.owner = 0}, theirs = {.owner = NOBODY};
	struct build_id id = id_of("p");
	struct modules *all = modules_new(NULL);
	struct module *m;

	(void)state;
	assert_true(run("chmod 755 ."));
	keep("p", &secret);
	rights_set_rule(RIGHTS_PUBLIC);
	m = get_with(all, "no/such/file", &id);
	assert_non_null(strstr(m->problem, "does not exist any more"));
	m = get_with(all, "stripped", &id);
	assert_string_equal(name_at_file(m, "hidden_one"), "");
	rights_set_rule(RIGHTS_TASKS);
	rights_presume_user(&(struct user_ids){NOBODY, NOBODY, {}});
	m = get_with(all, "no/such/other", &id);
	assert_non_null(m->problem);
	keep("p", &theirs);
	m = get_with(all, "no/such/third", &id);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	/* Its sources are another matter. */
	assert_ptr_not_equal(module_rights(m), rights_of_unknown());
	assert_false(rights_are_own(module_rights(m)));
	rights_set_rule(RIGHTS_ASKER);
	modules_free(all);
	assert_true(run("rm -r cache"));
}

static void perf_cache(void **state)
{
	struct build_id id = id_of("p");
	CLEANUP(free_ptr) char *below = build_id_path(&id);
	CLEANUP(free_ptr)
	char *make = xasprintf("mkdir -p .debug/.build-id/%s && cp p .debug/.build-id/%s/elf",
			       below, below);
	struct modules *all = modules_new(NULL);
	struct module *m;

	(void)state;
	assert_true(run(make));
	m = get_with(all, "no/such/file", &id);
	assert_non_null(strstr(m->file, "/.debug/.build-id/"));
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	/* It does not tell whose the file was. */
	rights_set_rule(RIGHTS_PUBLIC);
	m = get_with(all, "no/such/other", &id);
	assert_non_null(m->problem);
	rights_set_rule(RIGHTS_ASKER);
	modules_free(all);
	assert_true(run("rm -r .debug"));
}

/* ---- other processes ---- */

static void deleted_but_mapped(void **state)
{
	CLEANUP(free_ptr) char *path = NULL, *deleted = NULL;
	struct modules *all = modules_new(NULL);
	struct module_request r = {.kind = MODULE_ELF, .pid = (uint32_t)getpid(), .length = 4096};
	struct module *m;
	struct stat st;
	void *map;
	int fd;

	(void)state;
	assert_true(run("cp p short-lived"));
	path = path_of("short-lived");
	deleted = xasprintf("%s (deleted)", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &st));
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	unlink(path);
	r.path = deleted;
	r.start = (uint64_t)(uintptr_t)map;
	r.inode = st.st_ino;
	m = modules_get(all, &r);
	if (!m->problem)
		assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	else
		assert_int_not_equal(geteuid(), 0);
	munmap(map, 4096);
	modules_free(all);
}

/* ---- for days ---- */

static size_t open_files(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void what_nobody_asks_for_is_given_back(void **state)
{
	struct modules *all = modules_new(&(struct symbol_options){});
	struct build_id id = id_of("p"), linked = id_of("linked");
	struct module *m = get_with(all, "p", &id), *debug = get_with(all, "linked", &linked);
	uint64_t loaded;

	(void)state;
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_string_equal(name_at_file(debug, "hidden_one"), "hidden_one");
	assert_non_null(module_dwarf(m));
	loaded = modules_loaded_bytes(all);
	assert_true(loaded > 0);
	/* It was just asked for. */
	modules_let_go(all, 0, 100);
	assert_int_equal(modules_loaded_bytes(all), loaded);
	/* There is room. */
	modules_let_go(all, loaded, 100);
	assert_int_equal(modules_loaded_bytes(all), loaded);
	/* The one that was used last stays. */
	module_dwarf(m);
	modules_let_go(all, loaded - 1, 100);
	assert_non_null(module_dwarf(m));
	assert_true(modules_loaded_bytes(all) < loaded);
	modules_let_go(all, 0, 100);
	modules_let_go(all, 0, 100);
	assert_true(modules_loaded_bytes(all) < 100); /* notes with build ids */
	assert_false(m->closed);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_string_equal(name_at_file(debug, "hidden_one"), "hidden_one");
	assert_non_null(module_dwarf(m));
	assert_in_range(modules_loaded_bytes(all), loaded - 200, loaded);
	modules_free(all);
}

static struct module *numbered_copy(struct modules *all, unsigned i)
{
	CLEANUP(free_ptr) char *name = xasprintf("copy%u", i);
	CLEANUP(free_ptr) char *command = xasprintf("cp p copy%u", i);
	struct build_id id = id_of("p");

	assert_true(run(command));
	return get_with(all, name, &id);
}

/* Each round of a build runs programs that were not there before. */
static void files_are_not_all_kept_open(void **state)
{
	struct modules *all = modules_new(&(struct symbol_options){});
	size_t before = open_files();
	struct module *copies[20];

	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(copies); i++) {
		copies[i] = numbered_copy(all, i);
		assert_string_equal(name_at_file(copies[i], "hidden_one"), "hidden_one");
		modules_let_go(all, 1 << 20, 4);
		assert_true(open_files() <= before + 4 + 1);
	}
	assert_true(copies[0]->closed);
	assert_ptr_equal(numbered_copy(all, 0), copies[0]);
	assert_false(copies[0]->closed);
	assert_string_equal(name_at_file(copies[0], "hidden_one"), "hidden_one");
	modules_free(all);
}

/* What could not be found again is not given up as soon. */
static void files_that_are_gone_stay_open(void **state)
{
	struct modules *all = modules_new(&(struct symbol_options){});
	struct module *gone = numbered_copy(all, 0);

	(void)state;
	assert_true(run("rm copy0"));
	for (unsigned i = 1; i < 20; i++) {
		name_at_file(numbered_copy(all, i), "hidden_one");
		modules_let_go(all, 0, 2);
	}
	assert_false(gone->closed);
	assert_string_equal(name_at_file(gone, "hidden_one"), "hidden_one");
	assert_null(gone->problem);
	modules_free(all);
}

/* ---- the kernel and its page ---- */

static void vdso(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module_request r = {.kind = MODULE_VDSO, .path = "[vdso]"};
	struct module *m = modules_get(all, &r);
	const struct symtab *t = module_symbols(m);
	bool found = false;

	(void)state;
	assert_non_null(t);
	for (size_t i = 0; i < t->symbols.len; i++)
		found |= strstr(symtab_name(t, &t->symbols.items[i]), "clock_gettime") != NULL;
	assert_true(found);
	assert_true(m->build_id.size);
	r.build_id = (struct build_id){.size = 20, .bytes = {1, 2, 3}};
	m = modules_get(all, &r);
	assert_non_null(m->problem);
	modules_free(all);
}

static void kernel_from_a_copy(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\nffffffff81000100 T do_it\n"
		"ffffffff81000200 T and_that\nffffffffc0000000 t in_part\t[part]\n";
	CLEANUP(free_ptr) char *path = path_of("kallsyms");
	struct symbol_options o = {.kallsyms = path};
	struct modules *all = modules_new(&o);
	struct module_request r = {.kind = MODULE_KERNEL,
				   .path = "[kernel.kallsyms]_text",
				   .kernel_text = 0xffffffffa1000000};
	struct module *m;
	const char *name = "";

	(void)state;
	assert_int_equal(fs_write_atomic(path, text, strlen(text)), 0);
	m = modules_get(all, &r);
	module_prepare(m);
	module_prepare(m);
	assert_null(m->problem);
	/* It lay elsewhere when it was recorded. */
	assert_int_equal(module_address(m, 0, 0xffffffffa1000150), 0xffffffff81000150);
	assert_non_null(module_symbol(m, 0xffffffff81000150, &name));
	assert_string_equal(name, "do_it");
	r = (struct module_request){.kind = MODULE_KERNEL_PART, .path = "[part]"};
	m = modules_get(all, &r);
	assert_non_null(module_symbol(m, module_address(m, 0, 0xffffffffc0000004), &name));
	assert_string_equal(name, "in_part");
	modules_free(all);
}

static void another_kernel(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module_request r = {.kind = MODULE_KERNEL,
				   .path = "[kernel.kallsyms]_text",
				   .build_id = {.size = 20, .bytes = {1, 2, 3}}};
	struct module *m = modules_get(all, &r);

	(void)state;
	assert_non_null(m->problem);
	assert_non_null(strstr(m->problem, "another kernel was recorded"));
	assert_null(module_symbols(m));
	r = (struct module_request){.kind = MODULE_KERNEL_PART, .path = "[no_such_module]"};
	m = modules_get(all, &r);
	assert_non_null(strstr(m->problem, "is not loaded any more"));
	modules_free(all);
}

/* ---- threads ---- */

static void *ask(void *ctx)
{
	CLEANUP(free_ptr) char *path = path_of("p");
	struct module *m =
		modules_get(ctx, &(struct module_request){.path = path, .kind = MODULE_ELF});

	return (void *)module_symbols(m);
}

/* A file of 150 KB that has 128 MB of text in it costs no more than a file of its size may. */
static void small_files_do_not_take_much_memory(void **state)
{
	struct modules *all = modules_new(NULL);
	struct module *m;

	(void)state;
	if (!run("truncate -s 128M zeros && objcopy --update-section .debug_str=zeros p bomb && "
		 "objcopy --compress-debug-sections=zlib bomb"))
		fail_msg("objcopy cannot make the program");
	m = get_with(all, "bomb", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_non_null(module_dwarf(m));
	assert_in_range(modules_loaded_bytes(all), 1, 80 << 20);
	module_check_memory(m);
	assert_non_null(m->problem);
	assert_non_null(strstr(m->problem, "bomb' needs more memory than is allowed for it"));
	modules_free(all);
}

static void all_files_together_have_a_limit(void **state)
{
	struct build_id id = id_of("p");
	struct modules *all = modules_new(&(struct symbol_options){.memory_bytes = 200000});
	struct module *m;
	uint64_t bytes;

	(void)state;
	m = get_with(all, "p", &id);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_non_null(module_dwarf(m));
	assert_null(m->problem);
	bytes = modules_loaded_bytes(all);
	modules_free(all);
	/* Two of them have no room, and what the first one leaves is enough for the second one. */
	all = modules_new(&(struct symbol_options){.memory_bytes = bytes + bytes / 2});
	m = get_with(all, "p", &id);
	assert_non_null(module_symbols(m));
	assert_non_null(module_dwarf(m));
	assert_null(m->problem);
	m = get_with(all, "other", NULL);
	module_symbols(m);
	module_dwarf(m);
	module_check_memory(m);
	assert_non_null(m->problem);
	assert_non_null(strstr(m->problem, "is left of that for all programs"));
	for (int i = 0; i < 3; i++)
		modules_let_go(all, 0, 0);
	assert_int_equal(modules_loaded_bytes(all), 0);
	m = get_with(all, "other", NULL);
	assert_string_equal(name_at_file(m, "hidden_one"), "hidden_one");
	assert_non_null(module_dwarf(m));
	assert_null(m->problem);
	modules_free(all);
}

static void threads_share_one(void **state)
{
	struct modules *all = modules_new(NULL);
	pthread_t threads[8];
	void *first = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, all), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		void *got = NULL;

		pthread_join(threads[i], &got);
		assert_non_null(got);
		assert_true(!first || first == got);
		first = got;
	}
	modules_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_file_at_its_path),
		cmocka_unit_test(another_build_is_not_used),
		cmocka_unit_test(missing_and_strange_files),
		cmocka_unit_test(debuglink),
		cmocka_unit_test(without_build_id_the_checksum_decides),
		cmocka_unit_test(without_build_id_a_rebuilt_one_is_seen),
		cmocka_unit_test(below_symfs),
		cmocka_unit_test(own_cache),
		cmocka_unit_test(copies_for_somebody_else),
		cmocka_unit_test(perf_cache),
		cmocka_unit_test(deleted_but_mapped),
		cmocka_unit_test(what_nobody_asks_for_is_given_back),
		cmocka_unit_test(files_are_not_all_kept_open),
		cmocka_unit_test(files_that_are_gone_stay_open),
		cmocka_unit_test(vdso),
		cmocka_unit_test(kernel_from_a_copy),
		cmocka_unit_test(another_kernel),
		cmocka_unit_test(small_files_do_not_take_much_memory),
		cmocka_unit_test(all_files_together_have_a_limit),
		cmocka_unit_test(threads_share_one),
	};

	return cmocka_run_group_tests(tests, build_programs, remove_support_dir);
}
