#include "perf/bpf/btf.h"
#include "base/io.h"
#include "base/alloc.h"
#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BTF_BYTES_MAX (256u << 20)

struct btf_view {
	struct cursor types, strings;
};

static bool name_is(const struct btf_view *b, uint32_t offset, const char *name)
{
	size_t len = strlen(name) + 1;

	return offset < b->strings.size && b->strings.size - offset >= len &&
	       !memcmp(b->strings.data + offset, name, len);
}

static int open_view(const void *data, size_t size, struct btf_view *b)
{
	struct cursor file = cursor_of(data, size), header = file;
	uint16_t magic = cursor_u16(&header);
	uint32_t header_size, type_offset, type_size, string_offset, string_size;

	cursor_skip(&header, 2); /* version, flags */
	header_size = cursor_u32(&header);
	type_offset = cursor_u32(&header);
	type_size = cursor_u32(&header);
	string_offset = cursor_u32(&header);
	string_size = cursor_u32(&header);
	if (header.failed || magic != BTF_MAGIC)
		return -EINVAL;
	b->types = cursor_part(&file, (uint64_t)header_size + type_offset, type_size);
	b->strings = cursor_part(&file, (uint64_t)header_size + string_offset, string_size);
	return b->types.failed || b->strings.failed ? -EINVAL : 0;
}

/* Bytes that follow a type's common part. */
static uint64_t tail_size(uint32_t info)
{
	uint64_t count = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return count * 12;
	default:
		return 0;
	}
}

static int find_member(const struct btf_view *b, struct cursor members, uint32_t info,
		       const char *member, uint32_t *ret_offset)
{
	for (uint32_t i = 0; i < BTF_INFO_VLEN(info); i++) {
		uint32_t name = cursor_u32(&members);
		uint32_t bits;

		cursor_u32(&members); /* type */
		bits = cursor_u32(&members);
		if (members.failed)
			return -EINVAL;
		if (!name_is(b, name, member))
			continue;
		if (BTF_INFO_KFLAG(info))
			bits = BTF_MEMBER_BIT_OFFSET(bits);
		*ret_offset = bits / 8;
		return 0;
	}
	return -ENOENT;
}

int btf_member_offset(const void *data, size_t size, const char *name, const char *member,
		      uint32_t *ret_offset)
{
	struct btf_view b;
	int r = open_view(data, size, &b);

	if (r < 0)
		return r;
	while (!cursor_done(&b.types)) {
		uint32_t type_name = cursor_u32(&b.types), info = cursor_u32(&b.types);

		cursor_u32(&b.types); /* size or type */
		if (BTF_INFO_KIND(info) == BTF_KIND_STRUCT && name_is(&b, type_name, name))
			return find_member(&b, b.types, info, member, ret_offset);
		cursor_skip(&b.types, tail_size(info));
	}
	return b.types.failed ? -EINVAL : -ENOENT;
}

int btf_kernel_image(void **ret_data, size_t *ret_size)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t done = 0;
	char *data;

	if (fd < 0)
		return -errno;
	data = !fstat(fd, &st) && st.st_size > 0
		       ? alloc_checked((size_t)st.st_size, 1, BTF_BYTES_MAX)
		       : NULL;
	if (data)
		done = io_read(fd, data, (size_t)st.st_size);
	close(fd);
	if (!data || done < 0) {
		free(data);
		return -EINVAL;
	}
	*ret_data = data;
	*ret_size = (size_t)done;
	return 0;
}
