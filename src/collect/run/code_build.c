#include "collect/run/code_build.h"

#include "analyze/annotate/annotate.h"
#include "symbol/demangle.h"
#include "symbol/dwarf/dwarf.h"
#include "symbol/jitdump.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define SOURCE_NOTES_MAX 3 /* notes of a kind */

void code_builder_init(struct code_builder *b, const struct profile *p, struct modules *modules,
		       const struct code_options *o)
{
	*b = (struct code_builder){.profile = p, .modules = modules, .o = *o};
	b->sources =
		sources_new(&o->symbols->source_from, &o->symbols->source_to, o->symbols->symfs);
}

void code_builder_release(struct code_builder *b)
{
	sources_free(b->sources);
	disasm_close(b->disasm);
	*b = (struct code_builder){};
}

/* State while one function is built. */
struct work {
	struct code_builder *b;
	struct code *c;
	struct module *module;
	VEC(uint32_t) files; /* each once; `file` is the last one asked for */
	uint32_t file;
	const char *scope_name; /* the last inlined function, and its string */
	uint32_t scope;
};

static void note(struct code *c, uint32_t text)
{
	vec_push(&c->notes, text);
}

/* Makes a sentence of an error text, which elsewhere follows "tacho: ". */
static uint32_t sentence(struct code *c, const char *text, const char *more)
{
	bool lower = *text >= 'a' && *text <= 'z';

	return code_stringf(c, "%c%s%s.", lower ? *text - 'a' + 'A' : *text, text + 1, more);
}

/* ---- code ---- */

static uint16_t recorded_machine(const struct code_options *o)
{
	const char *arch = o->arch;
	struct utsname here;

	if ((!arch || !*arch) && !uname(&here))
		arch = here.machine;
	if (arch && !strcmp(arch, "aarch64"))
		return EM_AARCH64;
	return arch && !strcmp(arch, "x86_64") ? EM_X86_64 : EM_NONE;
}

static int open_disasm(struct work *w, struct err *e)
{
	struct elf_file *elf = module_elf(w->module);
	const struct jitdump *jit = module_jitdump(w->module);
	uint16_t machine = elf   ? elf_machine(elf)
			   : jit ? jitdump_machine(jit)
				 : recorded_machine(&w->b->o);
	struct disasm_options o = {.machine = machine, .intel = w->b->o.intel};

	if (w->b->disasm && w->b->machine == machine)
		return 0;
	disasm_close(w->b->disasm);
	w->b->disasm = NULL;
	w->b->machine = machine;
	return disasm_open(&w->b->disasm, &o, e);
}

static void readable(const struct work *w, const char *name, struct buf *out)
{
	if (w->b->o.no_demangle || !demangle(name, out))
		buf_add(out, name);
}

/* The function at an address, as "name" or "name+0x10". */
static uint32_t name_of(struct work *w, uint64_t address)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *name;
	const struct symbol *s = module_symbol(w->module, address, &name);

	if (!s)
		return 0;
	readable(w, name, &text);
	if (address != s->start)
		buf_addf(&text, "+0x%llx", (unsigned long long)(address - s->start));
	return code_string(w->c, text.s, text.len);
}

static bool inside(const struct code *c, uint64_t address)
{
	return address >= c->start && address < c->end;
}

static bool add_instruction(void *ctx, const struct instruction *i)
{
	static const enum code_flow flows[] = {
		[FLOW_NEXT] = CODE_NEXT,
		[FLOW_JUMP] = CODE_JUMP,
		[FLOW_CALL] = CODE_CALL,
		[FLOW_RETURN] = CODE_RETURN,
	};
	struct work *w = ctx;
	struct code_instruction new = {
		.address = i->address,
		.size = i->size,
		.target = i->target,
		.flow = flows[i->flow],
		.bad = i->bad,
	};

	new.text = *i->operands ? code_stringf(w->c, "%-7s %s", i->mnemonic, i->operands)
				: code_string(w->c, i->mnemonic, strlen(i->mnemonic));
	if (i->target && (i->flow == FLOW_CALL || !inside(w->c, i->target)))
		new.comment = name_of(w, i->target);
	else if (i->reference && !inside(w->c, i->reference))
		new.comment = name_of(w, i->reference);
	vec_push(&w->c->instructions, new);

	return w->c->instructions.len < CODE_ENTRIES_MAX;
}

static uint32_t why_no_code(struct work *w)
{
	struct module *m = w->module;

	if (m && m->problem)
		return code_stringf(w->c, "There is no code to show: %s", m->problem);
	switch (m ? m->kind : MODULE_OPAQUE) {
	case MODULE_PERF_MAP:
		return code_stringf(
			w->c,
			"There is no code to show: it was made at run time, and a perf map "
			"has names only. A runtime that writes a jitdump file keeps its code.");
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		return code_stringf(
			w->c, "There is no code to show: the kernel's is read from /proc/kcore, "
			      "which needs root and the kernel that was recorded, or from "
			      "--vmlinux FILE.");
	case MODULE_ELF:
	case MODULE_VDSO:
	case MODULE_JITDUMP:
		return code_stringf(w->c, "There is no code to show: '%s' has none at 0x%llx.",
				    m->file ? m->file : m->path, (unsigned long long)w->c->start);
	case MODULE_OPAQUE:
		break;
	}
	return code_stringf(w->c, "There is no code to show: nothing is known of what was "
				  "mapped there.");
}

/* Returns false if there is no code; c->problem then says why. */
static bool add_code(struct work *w)
{
	uint64_t size = w->c->end - w->c->start;
	CLEANUP(free_ptr) unsigned char *code = NULL;
	struct err e = {};
	size_t got = 0;

	if (size > DISASM_CODE_MAX)
		size = DISASM_CODE_MAX;
	if (w->module && size) {
		code = alloc_checked(size, 1, DISASM_CODE_MAX);
		got = code ? module_code(w->module, w->c->start, code, size) : 0;
	}
	if (!got) {
		w->c->problem = why_no_code(w);
		return false;
	}
	if (open_disasm(w, &e) < 0) {
		w->c->problem = sentence(w->c, e.text, "");
		return false;
	}
	disasm_range(w->b->disasm, code, got, w->c->start, add_instruction, w);
	if (got < w->c->end - w->c->start)
		note(w->c, code_stringf(w->c, "Only the first %zu of %llu bytes are shown.", got,
					(unsigned long long)(w->c->end - w->c->start)));
	return true;
}

/* ---- lines ---- */

struct line_row {
	uint64_t address;
	const char *file;
	uint32_t line;
};

typedef VEC(struct line_row) line_rows;

static bool keep_row(void *ctx, uint64_t address, const char *file, uint32_t line)
{
	line_rows *rows = ctx;

	vec_push(rows, (struct line_row){address, file, line});
	return rows->len < ANNOTATION_LINES_MAX;
}

static uint32_t file_string(struct work *w, const char *path)
{
	if (w->file && !strcmp(code_text(w->c, w->file), path))
		return w->file;
	vec_each(&w->files, file)
		if (!strcmp(code_text(w->c, *file), path))
			return w->file = *file;
	w->file = code_string(w->c, path, strlen(path));
	if (w->file)
		vec_push(&w->files, w->file);
	return w->file;
}

/* The innermost function that was inlined at an address, or none. */
static uint32_t scope_at(struct work *w, struct dwarf *d, uint64_t address)
{
	struct dwarf_place places[DWARF_INLINE_DEPTH_MAX];
	size_t count = dwarf_places(d, address, places, ARRAY_LEN(places));
	const char *name = count && places[count - 1].inlined ? places[count - 1].function : NULL;
	CLEANUP(buf_release) struct buf text = {};

	if (!name)
		return 0;
	/* Most rows are in the same inlined function as the row before. */
	if (name != w->scope_name) {
		readable(w, name, &text);
		w->scope = code_string(w->c, text.s, text.len);
		w->scope_name = name;
	}
	return w->scope;
}

static void add_lines(struct work *w)
{
	struct dwarf *d = module_dwarf(w->module);
	const struct jitdump *jit = module_jitdump(w->module);
	uint64_t reached = 0;
	line_rows rows = {};

	/* Collect the rows first; their inlined functions are looked up below. */
	if (d)
		dwarf_each_line(d, w->c->start, w->c->end, keep_row, &rows);
	else if (jit)
		jitdump_each_line(jit, w->c->start, w->c->end, keep_row, &rows);
	for (size_t i = 0; i < rows.len; i++) {
		const struct line_row *row = &rows.items[i];
		struct code_row new = {.address = row->address};

		if (row->address < reached)
			continue;
		reached = row->address;
		if (row->file && row->line) {
			new.file = file_string(w, row->file);
			new.line = row->line;
			new.scope = d ? scope_at(w, d, row->address) : 0;
		}
		vec_push(&w->c->rows, new);
	}
	if (!rows.len && !w->b->o.no_source)
		note(w->c, code_stringf(w->c, "There is no debug information for lines: "
					      "instructions only."));
	vec_release(&rows);
}

/* Returns a line of source, and adds it to the code. */
static const char *keep_line(void *ctx, const char *file, uint32_t line)
{
	struct work *w = ctx;
	const char *text =
		source_line(sources_get(w->b->sources, file, module_rights(w->module)), line);

	if (text && w->c->lines.len < CODE_ENTRIES_MAX)
		vec_push(&w->c->lines,
			 (struct code_line){
				 file_string(w, file), line,
				 code_string(w->c, text, strnlen(text, ANNOTATION_LINE_TEXT_MAX))});
	return text;
}

/* Notes sources that are missing or newer than the program: the first few, and how many more. */
static void add_source_notes(struct work *w)
{
	struct code *c = w->c;
	size_t missing = 0, newer = 0;
	struct stat st;
	bool known = module_elf(w->module) && !elf_stat(module_elf(w->module), &st);

	for (size_t i = 0; i < w->files.len; i++) {
		CLEANUP(free_ptr) char *path = xstrdup(code_text(c, w->files.items[i]));
		const struct source_file *f =
			sources_get(w->b->sources, path, module_rights(w->module));

		if (f->problem && missing++ < SOURCE_NOTES_MAX)
			note(c,
			     sentence(c, f->problem,
				      missing == 1 ? "; --source-map FROM=TO says where it is now"
						   : ""));
		if (!f->problem && known && f->modified > st.st_mtime && newer++ < SOURCE_NOTES_MAX)
			note(c, code_stringf(c,
					     "'%s' is newer than the program: its lines "
					     "may be others.",
					     f->path));
	}
	if (missing > SOURCE_NOTES_MAX)
		note(c, code_stringf(c, "%zu more source files cannot be read.",
				     missing - SOURCE_NOTES_MAX));
	if (newer > SOURCE_NOTES_MAX)
		note(c, code_stringf(c, "%zu more source files are newer than the program.",
				     newer - SOURCE_NOTES_MAX));
}

/*
 * Adds the source lines that an annotation will show. That depends on where code is, not on what
 * was hit, so an annotation without samples is made, and the lines that it asks for are kept.
 */
static void add_source(struct work *w)
{
	struct annotation a;

	annotation_init(&a);
	/* The pool moves when lines are added to it, so file names are copied out of it first. */
	vec_each(&w->c->rows, row)
		annotation_add_row(&a, row->address, row->file ? code_text(w->c, row->file) : NULL,
				   row->line, (pool_text){0});
	annotation_place_lines(&a, keep_line, w);
	annotation_release(&a);
}

/* ---- all of it ---- */

static uint32_t build_id_text(struct code *c, const struct build_id *id)
{
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < id->size; i++)
		buf_addf(&text, "%02x", id->bytes[i]);
	return code_string(c, buf_str(&text), text.len);
}

void code_build(struct code_builder *b, function_id function, struct code *c)
{
	const struct profile *p = b->profile;
	const struct profile_function *f = function_of(p, function);
	const struct profile_module *pm = &p->modules.items[f->module.n];
	struct work w = {.b = b, .c = c};

	code_init(c);
	c->function = function.n;
	c->start = f->start;
	c->end = f->start + f->size < f->start ? UINT64_MAX : f->start + f->size;
	if (b->modules)
		w.module = modules_find(b->modules, profile_text(p, pm->path),
					profile_text(p, pm->build_id));
	if (w.module)
		c->build_id = build_id_text(c, &w.module->build_id);
	if (add_code(&w))
		add_lines(&w);
	if (w.module && !b->o.no_source) {
		add_source(&w);
		add_source_notes(&w);
	}
	vec_release(&w.files);
}
