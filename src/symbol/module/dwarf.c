/* In a separate file, so that only programs that ask for lines need the DWARF reader. */
#include "symbol/dwarf/dwarf.h"
#include "symbol/module/state.h"

static struct dwarf_bytes bytes_of(struct elf_file *f, const char *name)
{
	struct elf_section s;

	if (!f || !elf_section(f, name, &s) || !s.data)
		return (struct dwarf_bytes){};
	return (struct dwarf_bytes){s.data, s.size};
}

static void open_dwarf(struct module *m)
{
	struct module_state *s = m->state;
	struct dwarf_sections all = {};
	struct elf_section section;
	CLEANUP(free_ptr) char *alternate_path = NULL;
	const struct file_search search = module_search(m);
	struct elf_file *f = s->elf;
	const char *path = m->file;
	bool first = !s->alternate;

	if (!f)
		return;
	module_find_debug_file(m);
	if (!elf_section_header(f, ".debug_info", &section)) {
		f = s->debug;
		path = m->debug_file;
	}
	if (!f || !elf_section_header(f, ".debug_info", &section))
		return;
	if (!s->alternate && elf_section_header(f, ".gnu_debugaltlink", &section) && path)
		s->alternate = find_alternate_file(f, path, &search, &alternate_path);
	if (s->alternate && first)
		elf_share(s->alternate, &s->memory);
	all = (struct dwarf_sections){
		.info = bytes_of(f, ".debug_info"),
		.abbrev = bytes_of(f, ".debug_abbrev"),
		.str = bytes_of(f, ".debug_str"),
		.line = bytes_of(f, ".debug_line"),
		.line_str = bytes_of(f, ".debug_line_str"),
		.ranges = bytes_of(f, ".debug_ranges"),
		.rnglists = bytes_of(f, ".debug_rnglists"),
		.addr = bytes_of(f, ".debug_addr"),
		.str_offsets = bytes_of(f, ".debug_str_offsets"),
		.aranges = bytes_of(f, ".debug_aranges"),
		.alt_info = bytes_of(s->alternate, ".debug_info"),
		.alt_abbrev = bytes_of(s->alternate, ".debug_abbrev"),
		.alt_str = bytes_of(s->alternate, ".debug_str"),
		.swap = elf_is_swapped(f),
	};
	s->dwarf = dwarf_new(&all);
	dwarf_share(s->dwarf, &s->memory);
	s->dwarf_free = dwarf_free;
	s->dwarf_bytes = dwarf_held_bytes;
}

struct dwarf *module_dwarf(struct module *m)
{
	struct module_state *s = m->state;

	module_ask(m);
	if (!atomic_load_explicit(&s->dwarf_asked, memory_order_acquire)) {
		pthread_mutex_lock(&s->lock);
		if (!s->dwarf_asked) {
			open_dwarf(m);
			atomic_store_explicit(&s->dwarf_asked, true, memory_order_release);
		}
		pthread_mutex_unlock(&s->lock);
	}
	return s->dwarf;
}
