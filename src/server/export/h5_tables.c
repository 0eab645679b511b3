#include "server/export/h5_tables.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/text.h"
#include "server/export/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 200

struct own_table {
	struct export_run *run;
	struct export_table table;
	VEC(struct h5_column) columns;
	VEC(const struct export_column *) sources; /* of the columns */
	size_t row_bytes;
	struct h5_table *rows;
};

/* ---- names ---- */

/* The table's name without what paths of HDF5, and PyTables, do not accept. */
static char *path_name(const char *name, strvec *used)
{
	CLEANUP(free_ptr) char *cut = xasprintf("%.*s", NAME_BYTES_MAX, name);
	CLEANUP(buf_release) struct buf clean = {};
	bool taken = false;

	text_add_printable(&clean, cut);
	for (char *c = clean.s; c && *c; c++)
		if (*c == ':' || *c == '/' || (c == clean.s && *c == '.'))
			*c = '_';
	vec_each(used, other)
		taken |= !strcmp(*other, buf_str(&clean));
	if (taken || !clean.len)
		buf_addf(&clean, "_%zu", used->len + 1);
	vec_push(used, xstrdup(buf_str(&clean)));
	return used->items[used->len - 1];
}

/* ---- columns ---- */

static enum h5_kind integer_kind(unsigned bytes, bool is_signed)
{
	switch (bytes) {
	case 1:
		return is_signed ? H5_INT8 : H5_UINT8;
	case 2:
		return is_signed ? H5_INT16 : H5_UINT16;
	case 4:
		return is_signed ? H5_INT32 : H5_UINT32;
	default:
		return is_signed ? H5_INT64 : H5_UINT64;
	}
}

static enum h5_kind kind_of(const struct export_column *c)
{
	switch (c->kind) {
	case EXPORT_SECONDS:
	case EXPORT_FLOAT:
		return H5_DOUBLE;
	case EXPORT_TEXT:
		return H5_TEXT;
	case EXPORT_PID:
	case EXPORT_TID:
	case EXPORT_FUNCTION:
	case EXPORT_STACK:
		return H5_UINT32;
	default:
		return integer_kind(c->bytes, c->kind == EXPORT_SIGNED);
	}
}

/* The names of threads and modules are in the tables `threads` and `functions`, once. */
static void choose_columns(struct own_table *o)
{
	vec_each(&o->table.columns, c) {
		if (c->kind == EXPORT_COMM || c->kind == EXPORT_MODULE)
			continue;
		vec_push(&o->sources, c);
		vec_push(&o->columns,
			 (struct h5_column){.name = c->name, .kind = kind_of(c), .bytes = 1});
	}
}

static void place_columns(struct own_table *o)
{
	vec_each(&o->columns, c) {
		c->offset = o->row_bytes;
		o->row_bytes += h5_kind_bytes(c->kind) ?: c->bytes;
	}
}

/* ---- rows ---- */

static int widen(void *ctx, const struct walked_row *row)
{
	struct own_table *o = ctx;

	for (size_t i = 0; i < o->columns.len; i++) {
		const struct export_column *c = o->sources.items[i];
		size_t len;

		if (c->kind != EXPORT_TEXT)
			continue;
		len = strlen(export_text(o->run, c, walked_value(row, c->value)));
		len = len < H5_TEXT_BYTES_MAX ? len : H5_TEXT_BYTES_MAX;
		if (len > o->columns.items[i].bytes)
			o->columns.items[i].bytes = len;
	}
	return 0;
}

/* Texts are as wide as the longest one: reads their columns once before the rows are written. */
static int measure_texts(struct own_table *o, struct err *e)
{
	bool any = false;

	vec_each(&o->columns, c)
		any |= c->kind == H5_TEXT;
	return any ? export_table_each(o->run, &o->table, widen, o, e) : 0;
}

static void put_integer(char *to, enum h5_kind kind, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	switch (h5_kind_bytes(kind)) {
	case 1:
		memcpy(to, &u8, sizeof(u8));
		break;
	case 2:
		memcpy(to, &u16, sizeof(u16));
		break;
	case 4:
		memcpy(to, &u32, sizeof(u32));
		break;
	default:
		memcpy(to, &value, sizeof(value));
	}
}

static uint64_t integer_of(const struct export_run *x, const struct export_column *c,
			   uint64_t value)
{
	switch (c->kind) {
	case EXPORT_PID:
		return export_thread(x, value)->pid;
	case EXPORT_TID:
		return export_thread(x, value)->tid;
	case EXPORT_FUNCTION:
		return (uint64_t)(export_leaf(x, export_stack(x, value)) -
				  x->profile.functions.items);
	case EXPORT_STACK:
		return export_stack(x, value);
	default:
		return value;
	}
}

static void put_value(const struct own_table *o, size_t n, char *row, uint64_t value)
{
	const struct h5_column *to = &o->columns.items[n];
	const struct export_column *c = o->sources.items[n];
	double number;

	if (to->kind == H5_TEXT) {
		h5_put_text(row + to->offset, to->bytes, export_text(o->run, c, value));
	} else if (to->kind == H5_DOUBLE) {
		number = c->kind == EXPORT_FLOAT ? double_of_bits(value)
						 : ((double)value - (double)o->run->run.start_ns) /
							   (double)NS_PER_SEC;
		memcpy(row + to->offset, &number, sizeof(number));
	} else {
		put_integer(row + to->offset, to->kind, integer_of(o->run, c, value));
	}
}

static int write_row(void *ctx, const struct walked_row *row)
{
	struct own_table *o = ctx;
	char *to = h5_table_row(o->rows);

	if (!to)
		return -EIO;
	for (size_t i = 0; i < o->columns.len; i++)
		put_value(o, i, to, walked_value(row, o->sources.items[i]->value));
	return 0;
}

/* ---- tables ---- */

/* Texts of imported recordings may be invalid UTF-8: PyTables would not open the file at all. */
static void write_text(struct h5_file *f, const char *path, const char *name, const char *text)
{
	CLEANUP(buf_release) struct buf clean = {};

	text_add_printable(&clean, text);
	if (clean.len)
		h5_attribute_text(f, path, name, buf_str(&clean));
}

static void write_meaning(const struct own_table *o, struct h5_file *f, const char *path)
{
	write_text(f, path, "name", o->table.schema.name);
	write_text(f, path, "meaning", o->table.schema.meaning);
	vec_each(&o->sources, item) {
		const struct export_column *c = *item;
		CLEANUP(free_ptr) char *unit = xasprintf("%s.unit", c->name);
		CLEANUP(free_ptr) char *meaning = xasprintf("%s.meaning", c->name);

		write_text(f, path, unit, c->unit);
		write_text(f, path, meaning, c->meaning);
	}
}

static int write_table(struct own_table *o, struct h5_file *f, const char *path, struct err *e)
{
	int rc;

	choose_columns(o);
	/* Nothing can be said of a table without columns that are known. */
	if (!o->columns.len)
		return 0;
	rc = measure_texts(o, e);
	if (rc < 0)
		return rc;
	place_columns(o);
	o->rows = h5_table_begin(f, path, o->table.schema.name, o->columns.items, o->columns.len,
				 o->row_bytes);
	rc = export_table_each(o->run, &o->table, write_row, o, e);
	h5_table_end(o->rows);
	if (rc == 0)
		write_meaning(o, f, path);
	return rc;
}

int h5_tables_write(struct h5_file *f, const char *group, struct export_run *x, struct err *e)
{
	CLEANUP(free_ptr) char *parent = xasprintf("%s/tables", group);
	CLEANUP(strvec_release) strvec used = {};
	uint32_t end = profile_schemas_end(&x->profile);
	int rc = 0;

	if (end > SCHEMA_FIRST_OWN)
		h5_group(f, parent);
	for (uint32_t n = SCHEMA_FIRST_OWN; n < end && rc == 0; n++) {
		struct own_table o = {.run = x};
		CLEANUP(free_ptr) char *path = NULL;

		export_table_open(&o.table, x, n);
		path = xasprintf("%s/%s", parent, path_name(o.table.schema.name, &used));
		rc = write_table(&o, f, path, e);
		export_table_close(&o.table);
		vec_release(&o.columns);
		vec_release(&o.sources);
	}
	return rc == -EIO ? 0 : rc; /* h5_file_close() returns the error */
}
