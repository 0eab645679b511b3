#include "server/export/h5_file.h"
#include "base/library.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_ROWS      8192u
#define BLOCK_BYTES_MAX (1u << 20)
/* The value of H5F_ACC_TRUNC. The macro would call the library, which is not linked. */
#define ACC_TRUNC     2u
#define DEFLATE_LEVEL 1

/* ---- the library ---- */

#define FUNCTIONS(X)                                                                               \
	X(H5dont_atexit)                                                                           \
	X(H5open)                                                                                  \
	X(H5get_libversion)                                                                        \
	X(H5Eset_auto2)                                                                            \
	X(H5Fcreate)                                                                               \
	X(H5Fclose)                                                                                \
	X(H5Gcreate2)                                                                              \
	X(H5Gclose)                                                                                \
	X(H5Oopen)                                                                                 \
	X(H5Oclose)                                                                                \
	X(H5Lcreate_hard)                                                                          \
	X(H5Tcreate)                                                                               \
	X(H5Tinsert)                                                                               \
	X(H5Tcopy)                                                                                 \
	X(H5Tset_size)                                                                             \
	X(H5Tset_cset)                                                                             \
	X(H5Tset_strpad)                                                                           \
	X(H5Tclose)                                                                                \
	X(H5Pcreate)                                                                               \
	X(H5Pset_chunk)                                                                            \
	X(H5Pset_deflate)                                                                          \
	X(H5Pset_shuffle)                                                                          \
	X(H5Pclose)                                                                                \
	X(H5Screate)                                                                               \
	X(H5Screate_simple)                                                                        \
	X(H5Sselect_hyperslab)                                                                     \
	X(H5Sclose)                                                                                \
	X(H5Dcreate2)                                                                              \
	X(H5Dset_extent)                                                                           \
	X(H5Dget_space)                                                                            \
	X(H5Dwrite)                                                                                \
	X(H5Dclose)                                                                                \
	X(H5Acreate2)                                                                              \
	X(H5Awrite)                                                                                \
	X(H5Aclose)

#define VARIABLES(X)                                                                               \
	X(H5T_NATIVE_UINT8_g)                                                                      \
	X(H5T_NATIVE_INT8_g)                                                                       \
	X(H5T_NATIVE_UINT16_g)                                                                     \
	X(H5T_NATIVE_INT16_g)                                                                      \
	X(H5T_NATIVE_UINT32_g)                                                                     \
	X(H5T_NATIVE_INT32_g)                                                                      \
	X(H5T_NATIVE_UINT64_g)                                                                     \
	X(H5T_NATIVE_INT64_g)                                                                      \
	X(H5T_NATIVE_DOUBLE_g)                                                                     \
	X(H5T_C_S1_g)                                                                              \
	X(H5P_CLS_DATASET_CREATE_ID_g)

#define FUNCTION_MEMBER(name) __typeof__(&name) name##_;
#define VARIABLE_MEMBER(name) const hid_t *name##_;
#define NAME(name)            #name,

struct library {
	FUNCTIONS(FUNCTION_MEMBER)
	VARIABLES(VARIABLE_MEMBER)
};

static const char *const names[] = {FUNCTIONS(NAME) VARIABLES(NAME)};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool load(struct library *lib)
{
	static const char *const files[] = {"libhdf5_serial.so.103", "libhdf5.so.103",
					    "libhdf5_serial.so", "libhdf5.so"};
	unsigned major = 0, minor = 0, release = 0;
	const char *missing = "";

	for (size_t i = 0; missing && i < ARRAY_LEN(files); i++)
		missing = LIBRARY_LOAD(files[i], names, lib);
	/* A file that could not be written stays open in the library, which would crash at exit() because of
	 * that. The types of other versions differ. */
	return !missing && lib->H5dont_atexit_() >= 0 && lib->H5open_() >= 0 &&
	       lib->H5get_libversion_(&major, &minor, &release) >= 0 && major == H5_VERS_MAJOR &&
	       minor == H5_VERS_MINOR;
}

/* The caller must hold the lock. Returns NULL if the library cannot be used. */
static const struct library *library(void)
{
	static struct library lib;
	static bool tried, good;

	if (!tried) {
		tried = true;
		good = load(&lib);
		if (good) /* we report errors ourselves */
			lib.H5Eset_auto2_(H5E_DEFAULT, NULL, NULL);
	}
	return good ? &lib : NULL;
}

/* ---- files ---- */

struct h5_file {
	const struct library *lib;
	hid_t id;
	bool failed;
	int code;
};

struct h5_table {
	struct h5_file *file;
	hid_t type, dataset;
	size_t row_bytes, block_rows, waiting;
	hsize_t rows;
	char *block, *path;
	const char *title;
};

/* Returns @id. Remembers the first failure (@id < 0): errno if space ran out, else EIO. */
static hid_t check(struct h5_file *f, hid_t id)
{
	if (id < 0 && !f->failed) {
		f->failed = true;
		f->code = errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : EIO;
	}
	return id;
}

/* The library opens files only by name, so the file has one until it is open. */
static void create_file(struct h5_file *f, const char *directory, int *ret_fd)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/export-XXXXXX", directory);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		f->failed = true;
		f->code = errno;
		return;
	}
	errno = 0;
	f->id = check(f, f->lib->H5Fcreate_(path, ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
	unlink(path);
	*ret_fd = fd;
}

int h5_file_create(struct h5_file **ret, const char *directory, int *ret_fd, struct err *e)
{
	const struct library *lib;
	struct h5_file *f;

	pthread_mutex_lock(&lock);
	lib = library();
	if (!lib) {
		pthread_mutex_unlock(&lock);
		return err_set(
			e, ENOTSUP,
			"HDF5 files need libhdf5 %d.%d, which is not installed here (package "
			"libhdf5-103-1).",
			H5_VERS_MAJOR, H5_VERS_MINOR);
	}
	f = xcalloc(1, sizeof(*f));
	f->lib = lib;
	f->id = -1;
	create_file(f, directory, ret_fd);
	*ret = f;
	return 0;
}

int h5_file_close(struct h5_file *f, struct err *e)
{
	int code;

	errno = 0;
	if (f->id >= 0)
		check(f, f->lib->H5Fclose_(f->id));
	code = f->failed ? f->code : 0;
	free(f);
	pthread_mutex_unlock(&lock);
	return code ? err_set(e, code, "The HDF5 file cannot be written: %s.", strerror(code)) : 0;
}

void h5_group(struct h5_file *f, const char *path)
{
	hid_t id;

	if (f->failed)
		return;
	id = check(f, f->lib->H5Gcreate2_(f->id, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	if (id >= 0)
		check(f, f->lib->H5Gclose_(id));
}

void h5_link(struct h5_file *f, const char *path, const char *other)
{
	if (!f->failed)
		check(f,
		      f->lib->H5Lcreate_hard_(f->id, path, f->id, other, H5P_DEFAULT, H5P_DEFAULT));
}

static void add_attribute(struct h5_file *f, hid_t object, const char *name, hid_t type,
			  const void *value)
{
	hid_t space = check(f, f->lib->H5Screate_(H5S_SCALAR));
	hid_t id =
		check(f, f->lib->H5Acreate2_(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT));

	if (id >= 0) {
		check(f, f->lib->H5Awrite_(id, type, value));
		check(f, f->lib->H5Aclose_(id));
	}
	if (space >= 0)
		f->lib->H5Sclose_(space);
}

static hid_t text_type(struct h5_file *f, size_t bytes)
{
	hid_t type = check(f, f->lib->H5Tcopy_(*f->lib->H5T_C_S1_g_));

	if (type >= 0) {
		check(f, f->lib->H5Tset_size_(type, bytes));
		check(f, f->lib->H5Tset_strpad_(type, H5T_STR_NULLPAD));
	}
	return type;
}

/* PyTables wants its own attributes as arrays of characters. */
static void attribute_characters(struct h5_file *f, hid_t object, const char *name,
				 const char *text)
{
	size_t len = strlen(text);
	hid_t type = text_type(f, len ? len : 1);

	if (type < 0)
		return;
	add_attribute(f, object, name, type, text);
	f->lib->H5Tclose_(type);
}

static void attribute_text(struct h5_file *f, hid_t object, const char *name, const char *text)
{
	hid_t type = check(f, f->lib->H5Tcopy_(*f->lib->H5T_C_S1_g_));

	if (type < 0)
		return;
	check(f, f->lib->H5Tset_size_(type, H5T_VARIABLE));
	check(f, f->lib->H5Tset_cset_(type, H5T_CSET_UTF8));
	add_attribute(f, object, name, type, &text);
	f->lib->H5Tclose_(type);
}

void h5_attribute_text(struct h5_file *f, const char *path, const char *name, const char *text)
{
	hid_t object;

	if (f->failed || !text)
		return;
	object = check(f, f->lib->H5Oopen_(f->id, path, H5P_DEFAULT));
	if (object < 0)
		return;
	attribute_text(f, object, name, text);
	check(f, f->lib->H5Oclose_(object));
}

void h5_attribute_number(struct h5_file *f, const char *path, const char *name, double value)
{
	hid_t object;

	if (f->failed)
		return;
	object = check(f, f->lib->H5Oopen_(f->id, path, H5P_DEFAULT));
	if (object < 0)
		return;
	add_attribute(f, object, name, *f->lib->H5T_NATIVE_DOUBLE_g_, &value);
	check(f, f->lib->H5Oclose_(object));
}

/* ---- tables ---- */

size_t h5_kind_bytes(enum h5_kind kind)
{
	static const uint8_t bytes[] = {
		[H5_UINT8] = 1, [H5_INT8] = 1,   [H5_UINT16] = 2, [H5_INT16] = 2,  [H5_UINT32] = 4,
		[H5_INT32] = 4, [H5_UINT64] = 8, [H5_INT64] = 8,  [H5_DOUBLE] = 8, [H5_TEXT] = 0,
	};

	return bytes[kind];
}

static void add_member(struct h5_table *t, const struct h5_column *c)
{
	struct h5_file *f = t->file;
	const struct library *lib = f->lib;
	const hid_t *const numbers[] = {
		[H5_UINT8] = lib->H5T_NATIVE_UINT8_g_,   [H5_INT8] = lib->H5T_NATIVE_INT8_g_,
		[H5_UINT16] = lib->H5T_NATIVE_UINT16_g_, [H5_INT16] = lib->H5T_NATIVE_INT16_g_,
		[H5_UINT32] = lib->H5T_NATIVE_UINT32_g_, [H5_INT32] = lib->H5T_NATIVE_INT32_g_,
		[H5_UINT64] = lib->H5T_NATIVE_UINT64_g_, [H5_INT64] = lib->H5T_NATIVE_INT64_g_,
		[H5_DOUBLE] = lib->H5T_NATIVE_DOUBLE_g_,
	};
	hid_t type = c->kind == H5_TEXT ? text_type(f, c->bytes) : *numbers[c->kind];

	if (type < 0)
		return;
	check(f, lib->H5Tinsert_(t->type, c->name, c->offset, type));
	if (c->kind == H5_TEXT)
		lib->H5Tclose_(type);
}

/* Called when the first rows are written: a small table gets chunks of just that many rows. */
static void create_dataset(struct h5_table *t)
{
	struct h5_file *f = t->file;
	const struct library *lib = f->lib;
	hsize_t none = 0, unlimited = H5S_UNLIMITED, chunk = t->waiting ? t->waiting : 1;
	hid_t space = check(f, lib->H5Screate_simple_(1, &none, &unlimited));
	hid_t how = check(f, lib->H5Pcreate_(*lib->H5P_CLS_DATASET_CREATE_ID_g_));

	if (how >= 0) {
		check(f, lib->H5Pset_chunk_(how, 1, &chunk));
		check(f, lib->H5Pset_shuffle_(how));
		check(f, lib->H5Pset_deflate_(how, DEFLATE_LEVEL));
		t->dataset = check(f, lib->H5Dcreate2_(f->id, t->path, t->type, space, H5P_DEFAULT,
						       how, H5P_DEFAULT));
		lib->H5Pclose_(how);
	}
	if (space >= 0)
		lib->H5Sclose_(space);
	if (t->dataset < 0)
		return;
	/* PyTables, and so pandas, recognizes its own tables by these attributes. */
	attribute_characters(f, t->dataset, "CLASS", "TABLE");
	attribute_characters(f, t->dataset, "VERSION", "2.7");
	attribute_characters(f, t->dataset, "TITLE", t->title);
}

struct h5_table *h5_table_begin(struct h5_file *f, const char *path, const char *title,
				const struct h5_column *columns, size_t count, size_t row_bytes)
{
	struct h5_table *t;

	if (f->failed)
		return NULL;
	t = xcalloc(1, sizeof(*t));
	*t = (struct h5_table){.file = f, .row_bytes = row_bytes, .dataset = -1};
	t->block_rows =
		BLOCK_BYTES_MAX / row_bytes < BLOCK_ROWS ? BLOCK_BYTES_MAX / row_bytes : BLOCK_ROWS;
	t->block_rows = t->block_rows ? t->block_rows : 1;
	t->block = xcalloc(t->block_rows, row_bytes);
	t->type = check(f, f->lib->H5Tcreate_(H5T_COMPOUND, row_bytes));
	for (size_t i = 0; i < count && !f->failed; i++)
		add_member(t, &columns[i]);
	t->path = xstrdup(path);
	t->title = title;
	return t;
}

static void write_block(struct h5_table *t)
{
	struct h5_file *f = t->file;
	const struct library *lib = f->lib;
	hsize_t at = t->rows, count = t->waiting, all = at + count;
	hid_t file_space, memory_space;

	errno = 0;
	if (t->dataset < 0 && !f->failed)
		create_dataset(t);
	t->waiting = 0;
	if (!count || f->failed)
		return;
	check(f, lib->H5Dset_extent_(t->dataset, &all));
	file_space = check(f, lib->H5Dget_space_(t->dataset));
	memory_space = check(f, lib->H5Screate_simple_(1, &count, NULL));
	if (!f->failed) {
		check(f, lib->H5Sselect_hyperslab_(file_space, H5S_SELECT_SET, &at, NULL, &count,
						   NULL));
		check(f, lib->H5Dwrite_(t->dataset, t->type, memory_space, file_space, H5P_DEFAULT,
					t->block));
	}
	if (file_space >= 0)
		lib->H5Sclose_(file_space);
	if (memory_space >= 0)
		lib->H5Sclose_(memory_space);
	t->rows = all;
}

void *h5_table_row(struct h5_table *t)
{
	void *row;

	if (!t)
		return NULL;
	if (t->waiting == t->block_rows)
		write_block(t);
	row = t->block + t->waiting++ * t->row_bytes;
	memset(row, 0, t->row_bytes);
	return row;
}

void h5_table_end(struct h5_table *t)
{
	if (!t)
		return;
	write_block(t);
	errno = 0;
	/* Only now are its last rows written. */
	if (t->dataset >= 0)
		check(t->file, t->file->lib->H5Dclose_(t->dataset));
	if (t->type >= 0)
		t->file->lib->H5Tclose_(t->type);
	free(t->block);
	free(t->path);
	free(t);
}

void h5_put_text(char *to, size_t bytes, const char *text)
{
	size_t len = strlen(text);

	if (len > bytes)
		for (len = bytes; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
			len--;
	memcpy(to, text, len);
}
