#include "unwind/tables.h"

#include <pthread.h>

/* One for all: loading is rare, and modules are few. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint last_id;

static void tables_free(struct unwind_tables *tables)
{
	cfi_free(tables->cfi);
	free(tables);
}

static struct unwind_tables *tables_new(void)
{
	struct unwind_tables *tables = xcalloc(1, sizeof(*tables));

	tables->id = atomic_fetch_add(&last_id, 1) + 1;
	return tables;
}

static void publish(struct module *m, struct unwind_tables *tables)
{
	m->unwind_tables_free = tables_free;
	atomic_store_explicit(&m->unwind_tables, tables, memory_order_release);
}

static struct cfi_section as_bytes(const struct elf_section *s)
{
	return (struct cfi_section){.data = s->data, .size = s->size, .address = s->address};
}

static struct cfi_section section_of(struct module *m, const char *name)
{
	struct elf_section s;

	return module_section(m, name, &s) ? as_bytes(&s) : (struct cfi_section){};
}

static uint64_t address_of(struct elf_file *elf, const char *name)
{
	struct elf_section s;

	return elf_section_header(elf, name, &s) ? s.address : 0;
}

static void load(struct module *m, struct unwind_tables *tables)
{
	struct elf_file *elf = module_elf(m);
	struct cfi_input in = {};
	struct elf_section s;

	/* The copies of stacks would be of the other byte order too; no such machine is ours. */
	if (!elf || elf_is_swapped(elf))
		return;
	tables->module = m;
	tables->machine = elf_machine(elf);
	in.address_size = elf_is_64(elf) ? 8 : 4;
	in.eh_frame = section_of(m, ".eh_frame");
	in.eh_frame_hdr = section_of(m, ".eh_frame_hdr");
	in.debug_frame = section_of(m, ".debug_frame");
	/* Looking for the debug file may mean to fetch it. Hardly any has more than the program. */
	if (!in.eh_frame.data && !in.debug_frame.data &&
	    module_debug_section(m, ".debug_frame", &s))
		in.debug_frame = as_bytes(&s);
	in.text_address = address_of(elf, ".text");
	in.got_address = address_of(elf, ".got");
	if (in.eh_frame.data || in.debug_frame.data)
		tables->cfi = cfi_new(&in);
}

struct unwind_tables *unwind_tables_load(struct module *m)
{
	struct unwind_tables *tables;

	pthread_mutex_lock(&loading);
	tables = atomic_load_explicit(&m->unwind_tables, memory_order_acquire);
	if (!tables) {
		tables = tables_new();
		load(m, tables);
		publish(m, tables);
	}
	pthread_mutex_unlock(&loading);
	return tables;
}

void unwind_tables_set(struct module *m, uint16_t machine, const struct cfi_input *in)
{
	struct unwind_tables *tables = tables_new();

	tables->machine = machine;
	tables->cfi = cfi_new(in);
	publish(m, tables);
}
