/* One question to the kernel's own type information (BTF): where is a member of a struct? */
#ifndef TACHO_PERF_BPF_BTF_H
#define TACHO_PERF_BPF_BTF_H

#include <stddef.h>
#include <stdint.h>

/* Byte offset of @member in struct @name of the BTF image, or a negative errno. */
int btf_member_offset(const void *data, size_t size, const char *name, const char *member,
		      uint32_t *ret_offset);

/* The running kernel's image; the caller frees it. */
int btf_kernel_image(void **ret_data, size_t *ret_size);

#endif
