/* Where a member is, asked of BTF: the running kernel's, made up ones, and broken ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf/bpf/btf.h"
#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#define INFO(kind, count)      ((uint32_t)(kind) << 24 | (count))
#define FLAGGED(kind, count)   (1u << 31 | INFO(kind, count))
#define BITFIELD(size, offset) ((uint32_t)(size) << 24 | (offset))

/* Offsets in this text are used as names below. */
static const char strings[] = "\0task_struct\0pid\0comm\0inner\0flags\0int";

enum { TASK = 1, PID = 13, COMM = 17, INNER = 22, FLAGS = 28, INT = 34 };

/* One of each kind before the struct that is asked for, so that each must be skipped rightly. */
static const uint32_t types[] = {
	INT,
	INFO(BTF_KIND_INT, 0),
	4,
	32,
	0,
	INFO(BTF_KIND_PTR, 0),
	1,
	0,
	INFO(BTF_KIND_ARRAY, 0),
	0,
	1,
	1,
	16,
	INNER,
	INFO(BTF_KIND_UNION, 2),
	8,
	PID,
	1,
	0,
	COMM,
	1,
	32,
	INNER,
	INFO(BTF_KIND_ENUM, 2),
	4,
	PID,
	0,
	COMM,
	1,
	INNER,
	INFO(BTF_KIND_FWD, 0),
	0,
	TASK,
	INFO(BTF_KIND_TYPEDEF, 0),
	1,
	0,
	INFO(BTF_KIND_CONST, 0),
	1,
	TASK,
	INFO(BTF_KIND_FUNC, 0),
	13,
	0,
	INFO(BTF_KIND_FUNC_PROTO, 2),
	1,
	PID,
	1,
	COMM,
	1,
	INNER,
	INFO(BTF_KIND_VAR, 0),
	1,
	1,
	INNER,
	INFO(BTF_KIND_DATASEC, 1),
	8,
	11,
	0,
	8,
	INNER,
	INFO(BTF_KIND_FLOAT, 0),
	8,
	INNER,
	INFO(BTF_KIND_DECL_TAG, 0),
	1,
	0,
	INNER,
	INFO(BTF_KIND_TYPE_TAG, 0),
	1,
	INNER,
	INFO(19, 1),
	8,
	PID,
	0,
	0, /* ENUM64 */
	INNER,
	INFO(BTF_KIND_STRUCT, 1),
	4,
	PID,
	1,
	800,
	TASK,
	INFO(BTF_KIND_STRUCT, 3),
	64,
	FLAGS,
	1,
	0,
	PID,
	1,
	96,
	COMM,
	3,
	128,
	INNER,
	FLAGGED(BTF_KIND_STRUCT, 2),
	8,
	COMM,
	1,
	BITFIELD(0, 32),
	FLAGS,
	1,
	BITFIELD(3, 67),
};

struct image {
	struct btf_header header;
	uint32_t types[ARRAY_LEN(types)];
	char strings[sizeof(strings)];
};

static struct image good_image(void)
{
	struct image image = {.header = {.magic = BTF_MAGIC,
					 .version = BTF_VERSION,
					 .hdr_len = sizeof(struct btf_header),
					 .type_len = sizeof(types),
					 .str_off = sizeof(types),
					 .str_len = sizeof(strings)}};

	memcpy(image.types, types, sizeof(types));
	memcpy(image.strings, strings, sizeof(strings));
	return image;
}

static int ask(const struct image *image, const char *name, const char *member, uint32_t *offset)
{
	*offset = 12345;
	return btf_member_offset(image, sizeof(*image), name, member, offset);
}

static void finds_members(void **state)
{
	struct image image = good_image();
	uint32_t offset;

	(void)state;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), 0);
	assert_int_equal(offset, 12);
	assert_int_equal(ask(&image, "task_struct", "comm", &offset), 0);
	assert_int_equal(offset, 16);
	assert_int_equal(ask(&image, "task_struct", "flags", &offset), 0);
	assert_int_equal(offset, 0);
	/* The first struct of that name; a union of the same name came before it. */
	assert_int_equal(ask(&image, "inner", "pid", &offset), 0);
	assert_int_equal(offset, 100);
}

static void finds_bit_fields(void **state)
{
	struct image image = good_image();
	size_t first = ARRAY_LEN(types) - 9 - 12 - 6;
	uint32_t offset;

	(void)state;
	assert_int_equal(image.types[first], INNER);
	image.types[first] = INT; /* now the flagged one is the only struct called inner */
	assert_int_equal(ask(&image, "inner", "comm", &offset), 0);
	assert_int_equal(offset, 4);
	assert_int_equal(ask(&image, "inner", "flags", &offset), 0);
	assert_int_equal(offset, 8);
}

static void finds_nothing(void **state)
{
	struct image image = good_image();
	uint32_t offset;

	(void)state;
	assert_int_equal(ask(&image, "task_struct", "inner", &offset), -ENOENT);
	assert_int_equal(ask(&image, "nothing", "pid", &offset), -ENOENT);
	assert_int_equal(ask(&image, "task", "pid", &offset), -ENOENT); /* only begins so */
	assert_int_equal(ask(&image, "task_struct", "pi", &offset), -ENOENT);
	assert_int_equal(offset, 12345);
}

static void broken_headers(void **state)
{
	struct image image = good_image();
	uint32_t offset;

	(void)state;
	image.header.magic = 0x9feb;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -EINVAL);
	image = good_image();
	image.header.type_len = UINT32_MAX;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -EINVAL);
	image = good_image();
	image.header.hdr_len = UINT32_MAX;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -EINVAL);
	image = good_image();
	image.header.str_off = UINT32_MAX;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -EINVAL);
	image = good_image();
	image.header.str_len = 0;
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -ENOENT);
	image = good_image();
	image.header.str_len = PID + 3; /* the end of "pid" lies outside */
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -ENOENT);
	image = good_image();
	image.types[1] = INFO(BTF_KIND_STRUCT, 0xffff); /* its members reach past the end */
	assert_int_equal(ask(&image, "task_struct", "pid", &offset), -EINVAL);
	image.types[0] = TASK;
	assert_int_equal(ask(&image, "task_struct", "nothing", &offset), -EINVAL);
	assert_int_equal(offset, 12345);
	assert_int_equal(btf_member_offset(NULL, 0, "a", "b", &offset), -EINVAL);
}

/* Each cut lies in memory of its own size, so that a sanitizer sees a read past it. */
static void truncations(void **state)
{
	struct image image = good_image();
	size_t end = offsetof(struct image, strings) + sizeof(strings);

	(void)state;
	for (size_t size = 0; size < end; size++) {
		void *copy = malloc(size ? size : 1);
		uint32_t offset = 12345;

		memcpy(copy, &image, size);
		assert_int_equal(btf_member_offset(copy, size, "task_struct", "pid", &offset),
				 -EINVAL);
		assert_int_equal(offset, 12345);
		free(copy);
	}
}

static void flipped_bits(void **state)
{
	struct image image = good_image();
	unsigned char *bytes = (unsigned char *)&image;

	(void)state;
	for (size_t bit = 0; bit < sizeof(image) * 8; bit++) {
		struct image *copy = malloc(sizeof(image));
		uint32_t offset = 0;
		int r;

		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		memcpy(copy, &image, sizeof(image));
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		r = btf_member_offset(copy, sizeof(*copy), "task_struct", "pid", &offset);
		assert_true(r == 0 || r == -EINVAL || r == -ENOENT);
		free(copy);
	}
}

static void kernel_btf(void **state)
{
	uint32_t pid = 0, tgid = 0, comm = 0;
	void *data = NULL;
	size_t size = 0;

	(void)state;
	if (!fs_exists("/sys/kernel/btf/vmlinux")) {
		print_message("# SKIP the running kernel has no BTF\n");
		skip();
	}
	assert_int_equal(btf_kernel_image(&data, &size), 0);
	assert_int_equal(btf_member_offset(data, size, "task_struct", "pid", &pid), 0);
	assert_int_equal(btf_member_offset(data, size, "task_struct", "tgid", &tgid), 0);
	assert_int_equal(btf_member_offset(data, size, "task_struct", "comm", &comm), 0);
	/* tgid has followed pid since there are threads; the struct is a few thousand bytes. */
	assert_int_equal(tgid, pid + 4);
	assert_true(pid >= 64 && pid < 16384 && pid % 4 == 0);
	assert_true(comm > tgid && comm < 32768);
	assert_int_equal(btf_member_offset(data, size, "task_struct", "no_such_member", &pid),
			 -ENOENT);
	assert_int_equal(btf_member_offset(data, size, "no_such_struct", "pid", &pid), -ENOENT);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_members), cmocka_unit_test(finds_bit_fields),
		cmocka_unit_test(finds_nothing), cmocka_unit_test(broken_headers),
		cmocka_unit_test(truncations),   cmocka_unit_test(flipped_bits),
		cmocka_unit_test(kernel_btf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
