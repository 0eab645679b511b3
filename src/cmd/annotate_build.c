#include "cmd/annotate_build.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/dwarf.h"
#include "symbol/jitdump.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#define SOURCE_NOTES_MAX 3 /* of a kind */

void annotate_builder_init(struct annotate_builder *b, const struct profile_input *in,
			   const struct annotate_build_options *o)
{
	*b = (struct annotate_builder){.in = in, .o = *o};
	b->sources =
		sources_new(&o->symbols->source_from, &o->symbols->source_to, o->symbols->symfs);
}

void annotate_builder_release(struct annotate_builder *b)
{
	sources_free(b->sources);
	disasm_close(b->disasm);
	*b = (struct annotate_builder){};
}

/* One function on its way. */
struct work {
	struct annotate_builder *b;
	struct annotation *a;
	struct module *module;
};

static void note(struct annotation *a, pool_text text)
{
	vec_push(&a->notes, text);
}

/* What follows "tacho: " elsewhere stands alone here, so it begins and ends like a sentence. */
static pool_text sentence(struct annotation *a, const char *text, const char *more)
{
	bool lower = *text >= 'a' && *text <= 'z';

	return annotation_stringf(a, "%c%s%s.", lower ? *text - 'a' + 'A' : *text, text + 1, more);
}

/* ---- code ---- */

static uint16_t recorded_machine(const struct profile_input *in)
{
	const char *arch = in->file ? in->file->facts.arch : NULL;
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
				 : recorded_machine(w->b->in);
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
static pool_text name_of(struct work *w, uint64_t address)
{
	CLEANUP(buf_release) struct buf text = {};
	const char *name;
	const struct symbol *s = module_symbol(w->module, address, &name);

	if (!s)
		return (pool_text){0};
	readable(w, name, &text);
	if (address != s->start)
		buf_addf(&text, "+0x%llx", (unsigned long long)(address - s->start));
	return annotation_string(w->a, text.s, text.len);
}

static bool inside(const struct annotation *a, uint64_t address)
{
	return address >= a->start && address < a->end;
}

static bool add_instruction(void *ctx, const struct instruction *i)
{
	static const enum annotated_flow flows[] = {
		[FLOW_NEXT] = ANNOTATED_NEXT,
		[FLOW_JUMP] = ANNOTATED_JUMP,
		[FLOW_CALL] = ANNOTATED_CALL,
		[FLOW_RETURN] = ANNOTATED_RETURN,
	};
	struct work *w = ctx;
	struct annotated_instruction new = {
		.address = i->address,
		.size = i->size,
		.target = i->target,
		.flow = flows[i->flow],
		.bad = i->bad,
	};

	new.text = *i->operands ? annotation_stringf(w->a, "%-7s %s", i->mnemonic, i->operands)
				: annotation_string(w->a, i->mnemonic, strlen(i->mnemonic));
	if (i->target && (i->flow == FLOW_CALL || !inside(w->a, i->target)))
		new.comment = name_of(w, i->target);
	else if (i->reference && !inside(w->a, i->reference))
		new.comment = name_of(w, i->reference);
	annotation_add_instruction(w->a, &new);
	return true;
}

static pool_text why_no_code(struct work *w)
{
	struct module *m = w->module;

	if (m && m->problem)
		return annotation_stringf(w->a, "There is no code to show: %s", m->problem);
	switch (m ? m->kind : MODULE_OPAQUE) {
	case MODULE_PERF_MAP:
		return annotation_stringf(
			w->a,
			"There is no code to show: it was made at run time, and a perf map "
			"has names only. A runtime that writes a jitdump file keeps its code.");
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		return annotation_stringf(
			w->a, "There is no code to show: the kernel's is read from /proc/kcore, "
			      "which needs root and the kernel that was recorded, or from "
			      "--vmlinux FILE.");
	case MODULE_ELF:
	case MODULE_VDSO:
	case MODULE_JITDUMP:
		return annotation_stringf(
			w->a, "There is no code to show: '%s' has none at 0x%llx.",
			m->file ? m->file : m->path, (unsigned long long)w->a->start);
	case MODULE_OPAQUE:
		break;
	}
	return annotation_stringf(w->a, "There is no code to show: nothing is known of what was "
					"mapped there.");
}

/* False: there is none, and the annotation says why. */
static bool add_code(struct work *w)
{
	uint64_t size = w->a->end - w->a->start;
	CLEANUP(free_ptr) unsigned char *code = NULL;
	struct err e = {};
	size_t got = 0;

	if (size > DISASM_CODE_MAX)
		size = DISASM_CODE_MAX;
	if (w->module && size) {
		code = alloc_checked(size, 1, DISASM_CODE_MAX);
		got = code ? module_code(w->module, w->a->start, code, size) : 0;
	}
	if (!got) {
		w->a->problem = why_no_code(w);
		return false;
	}
	if (open_disasm(w, &e) < 0) {
		w->a->problem = sentence(w->a, e.text, "");
		return false;
	}
	disasm_range(w->b->disasm, code, got, w->a->start, add_instruction, w);
	if (got < w->a->end - w->a->start)
		note(w->a, annotation_stringf(w->a, "Only the first %zu of %llu bytes are shown.",
					      got, (unsigned long long)(w->a->end - w->a->start)));
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

/* The innermost function that was inlined at an address, or none. */
static pool_text scope_at(struct work *w, struct dwarf *d, uint64_t address)
{
	struct dwarf_place places[DWARF_INLINE_DEPTH_MAX];
	size_t count = dwarf_places(d, address, places, ARRAY_LEN(places));
	CLEANUP(buf_release) struct buf text = {};

	if (!count || !places[count - 1].inlined || !places[count - 1].function)
		return (pool_text){0};
	readable(w, places[count - 1].function, &text);
	return annotation_string(w->a, text.s, text.len);
}

static void add_lines(struct work *w)
{
	struct dwarf *d = module_dwarf(w->module);
	const struct jitdump *jit = module_jitdump(w->module);
	line_rows rows = {};

	/* Asking while rows are walked would ask under a lock. */
	if (d)
		dwarf_each_line(d, w->a->start, w->a->end, keep_row, &rows);
	else if (jit)
		jitdump_each_line(jit, w->a->start, w->a->end, keep_row, &rows);
	for (size_t i = 0; i < rows.len; i++) {
		const struct line_row *row = &rows.items[i];

		annotation_add_row(w->a, row->address, row->file, row->line,
				   d && row->file && row->line ? scope_at(w, d, row->address)
							       : (pool_text){0});
	}
	if (!rows.len && !w->b->o.no_source)
		note(w->a, annotation_stringf(w->a, "There is no debug information for lines: "
						    "instructions only."));
	vec_release(&rows);
}

static const char *read_line(void *ctx, const char *file, uint32_t line)
{
	struct annotate_builder *b = ctx;

	return source_line(sources_get(b->sources, file), line);
}

/* What is wrong with the sources of the lines that are shown: the first few, and how many more. */
static void add_source_notes(struct work *w)
{
	struct annotation *a = w->a;
	size_t missing = 0, newer = 0;
	struct stat st;
	bool known = w->module->file && !stat(w->module->file, &st);

	for (size_t i = 0; i < a->files.len; i++) {
		CLEANUP(free_ptr) char *path = xstrdup(annotation_text(a, a->files.items[i].path));
		const struct source_file *f = sources_get(w->b->sources, path);

		if (f->problem && missing++ < SOURCE_NOTES_MAX)
			note(a,
			     sentence(a, f->problem,
				      missing == 1 ? "; --source-map FROM=TO says where it is now"
						   : ""));
		if (!f->problem && known && f->modified > st.st_mtime && newer++ < SOURCE_NOTES_MAX)
			note(a, annotation_stringf(a,
						   "'%s' is newer than the program: its lines "
						   "may be others.",
						   f->path));
	}
	if (missing > SOURCE_NOTES_MAX)
		note(a, annotation_stringf(a, "%zu more source files cannot be read.",
					   missing - SOURCE_NOTES_MAX));
	if (newer > SOURCE_NOTES_MAX)
		note(a, annotation_stringf(a, "%zu more source files are newer than the program.",
					   newer - SOURCE_NOTES_MAX));
}

/* ---- all of it ---- */

static pool_text copied(struct annotation *a, const struct profile *p, string_id id)
{
	return annotation_stringf(a, "%s", profile_text(p, id));
}

static pool_text build_id_text(struct annotation *a, const struct build_id *id)
{
	CLEANUP(buf_release) struct buf text = {};

	for (size_t i = 0; i < id->size; i++)
		buf_addf(&text, "%02x", id->bytes[i]);
	return annotation_string(a, buf_str(&text), text.len);
}

void annotate_function(struct annotate_builder *b, event_id event, function_id function,
		       struct annotation *a)
{
	const struct profile *p = &b->in->profile;
	const struct profile_function *f = function_of(p, function);
	const struct profile_module *pm = &p->modules.items[f->module.n];
	struct work w = {.b = b, .a = a};

	annotation_init(a);
	a->function = copied(a, p, f->name);
	a->module = copied(a, p, pm->path);
	a->build_id = copied(a, p, pm->build_id);
	a->event = copied(a, p, p->events.items[event.n].name);
	a->start = f->start;
	a->end = f->start + f->size < f->start ? UINT64_MAX : f->start + f->size;
	hot_addresses(p, event, function, a);
	if (b->in->modules)
		w.module = modules_find(b->in->modules, profile_text(p, pm->path),
					profile_text(p, pm->build_id));
	if (w.module && !a->build_id.at)
		a->build_id = build_id_text(a, &w.module->build_id);
	if (add_code(&w))
		add_lines(&w);
	annotation_finish(a, b->o.no_source ? NULL : read_line, b);
	if (w.module && !b->o.no_source)
		add_source_notes(&w);
	if (a->instructions.len && a->lost_weight)
		note(a, annotation_stringf(
				a, "%.2f %% of its samples are at no instruction that is shown.",
				annotation_share(a, LOCAL_PERIOD, a->lost_weight, 0)));
}
