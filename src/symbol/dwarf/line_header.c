#include "symbol/dwarf/state.h"

static void add_file(struct line_table *t, const char *name, uint64_t directory)
{
	vec_push(&t->files,
		 (struct line_file){.name = name,
				    .directory = directory > UINT32_MAX ? UINT32_MAX
									: (uint32_t)directory});
}

/* Up to version 4: directory 0 is the unit's, and there is no file 0. */
static bool read_old_tables(struct line_table *t, struct reader *r)
{
	const char *name;

	vec_push(&t->directories, NULL);
	add_file(t, NULL, 0);
	while ((name = read_string(r)) && *name && t->directories.len < DWARF_LINE_FILES_MAX)
		vec_push(&t->directories, name);
	while (!r->failed && (name = read_string(r)) && *name &&
	       t->files.len < DWARF_LINE_FILES_MAX) {
		uint64_t directory = read_uleb(r);

		read_uleb(r); /* time, size */
		read_uleb(r);
		add_file(t, name, directory);
	}
	return !r->failed;
}

struct entry_format {
	uint16_t content, form;
};

/* Version 5: directories and files are tables whose columns are described before them. */
static bool read_table(struct dwarf *d, const struct unit *u, struct line_table *t,
		       struct reader *r, bool files)
{
	struct entry_format formats[256];
	unsigned columns = read_u8(r);
	uint64_t count;

	for (unsigned i = 0; i < columns; i++) {
		uint64_t content = read_uleb(r), form = read_uleb(r);

		formats[i].content = content > UINT16_MAX ? 0 : (uint16_t)content;
		formats[i].form = form > UINT16_MAX ? FORM_UNKNOWN : (uint16_t)form;
		/* Forms of 0 bytes would make any count possible, however short the section. */
		if (form == FORM_IMPLICIT_CONST || form == FORM_FLAG_PRESENT)
			return false;
	}
	count = read_uleb(r);
	if (r->failed || (count && !columns) || count > reader_left(r) ||
	    count > DWARF_LINE_FILES_MAX)
		return false;
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		const char *name = NULL;
		uint64_t directory = 0;

		for (unsigned c = 0; c < columns; c++) {
			struct value v;

			if (!form_read(r, u, formats[c].form, 0, &v))
				return false;
			if (formats[c].content == CONTENT_PATH)
				name = value_string(d, u, &v);
			else if (formats[c].content == CONTENT_DIRECTORY)
				directory = v.u;
		}
		if (files)
			add_file(t, name, directory);
		else
			vec_push(&t->directories, name);
	}
	return !r->failed;
}

/* Leaves the reader at the beginning of the line program. */
bool line_header_read(struct dwarf *d, const struct unit *u, struct line_table *t, struct reader *r,
		      struct line_header *ret)
{
	struct unit own = *u; /* with the sizes of forms in this table */
	unsigned offset_size;
	const unsigned char *program;
	uint64_t length;

	if (!read_unit_length(r, &offset_size))
		return false;
	own.offset_size = (uint8_t)offset_size;
	t->version = read_u16(r);
	if (t->version < 2 || t->version > 5)
		return false;
	if (t->version >= 5) {
		own.address_size = read_u8(r);
		if (read_u8(r)) /* segments */
			return false;
	}
	length = read_sized(r, offset_size);
	if (r->failed || length > reader_left(r))
		return false;
	program = r->at + length;
	ret->address_size = own.address_size;
	ret->min_instruction_length = read_u8(r);
	ret->max_operations = t->version >= 4 ? read_u8(r) : 1;
	read_u8(r); /* whether rows begin as statements */
	ret->line_base = (int8_t)read_u8(r);
	ret->line_range = read_u8(r);
	ret->opcode_base = read_u8(r);
	for (unsigned i = 1; i < ret->opcode_base; i++)
		ret->lengths[i] = read_u8(r);
	if (r->failed || !ret->line_range || !ret->opcode_base)
		return false;
	if (!ret->max_operations)
		ret->max_operations = 1;
	if (t->version < 5 ? !read_old_tables(t, r)
			   : !read_table(d, &own, t, r, false) || !read_table(d, &own, t, r, true))
		return false;
	r->at = program;
	return true;
}
