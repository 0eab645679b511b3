#include "resolve/image.h"
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#define PATH_MAX_BYTES 4096

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool ends_with(const char *text, const char *with)
{
	size_t len = strlen(text), with_len = strlen(with);

	return len >= with_len && !strcmp(text + len - with_len, with);
}

/* Memory that code is put into at run time: only the process itself can tell what is in it. */
static bool is_anonymous(const char *path)
{
	return starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "/memfd:") ||
	       starts_with(path, "[anon") || !*path;
}

static bool is_jitdump(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && starts_with(slash, "/jit-") && ends_with(path, ".dump");
}

static enum module_kind kind_of(const char *path, bool kernel)
{
	if (kernel)
		return starts_with(path, "[kernel.kallsyms]") ||
				       starts_with(path, "[kernel.vmlinux")
			       ? MODULE_KERNEL
			       : MODULE_KERNEL_PART;
	if (starts_with(path, "[vdso"))
		return MODULE_VDSO;
	if (is_anonymous(path))
		return MODULE_PERF_MAP;
	if (is_jitdump(path))
		return MODULE_JITDUMP;
	return *path == '/' && !starts_with(path, "/SYSV") ? MODULE_ELF : MODULE_OPAQUE;
}

static enum code_kind code_kind_of(enum module_kind kind)
{
	switch (kind) {
	case MODULE_KERNEL:
	case MODULE_KERNEL_PART:
		return CODE_KERNEL;
	case MODULE_VDSO:
		return CODE_VDSO;
	case MODULE_PERF_MAP:
	case MODULE_JITDUMP:
		return CODE_JIT;
	case MODULE_OPAQUE:
		return CODE_UNKNOWN;
	default:
		return CODE_USER;
	}
}

static void hex_of(const struct build_id *id, char text[2 * BUILD_ID_BYTES_MAX + 1])
{
	for (size_t i = 0; i < id->size; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
	text[2 * id->size] = '\0';
}

static uint64_t hash_of(const struct history *h, const struct module_request *r, string_id symbol)
{
	uint64_t hash = hash_bytes(r->path, strlen(r->path), h->profile->seed ^ r->kind);

	hash = hash_bytes(r->build_id.bytes, r->build_id.size, hash);
	return hash_mix(hash_mix(hash, r->pid ^ (uint64_t)symbol.n << 32), r->inode);
}

/* Mappings that were there before the recording come without one. */
static bool same_generation(uint64_t a, uint64_t b)
{
	return a == b || !a || !b;
}

static bool same(const struct image *i, const struct module_request *r, string_id symbol)
{
	return i->request.kind == r->kind && i->request.kernel_hidden == r->kernel_hidden &&
	       i->key_pid == r->pid && i->symbol.n == symbol.n && i->request.inode == r->inode &&
	       same_generation(i->request.generation, r->generation) &&
	       i->request.build_id.size == r->build_id.size &&
	       !memcmp(i->request.build_id.bytes, r->build_id.bytes, r->build_id.size) &&
	       !strcmp(i->request.path, r->path);
}

/* @r: with a pid only where the image belongs to one process. @pid: who mapped it first. */
static uint32_t get_image(struct history *h, const struct module_request *r, uint32_t pid,
			  string_id symbol)
{
	uint64_t hash = hash_of(h, r, symbol);
	size_t at = slots_begin(&h->image_slots, hash);
	char build_id[2 * BUILD_ID_BYTES_MAX + 1];
	struct image image = {.request = *r, .symbol = symbol, .key_pid = r->pid};
	uint32_t n;

	while ((n = slots_next(&h->image_slots, hash, &at)))
		if (same(&h->images.items[n], r, symbol))
			return n;
	if (h->images.len >= IMAGES_MAX)
		return 0;
	image.request.path = xstrndup(r->path, PATH_MAX_BYTES);
	image.request.pid = pid;
	hex_of(&r->build_id, build_id);
	image.module =
		profile_module(h->profile, image.request.path, build_id, code_kind_of(r->kind));
	n = (uint32_t)h->images.len;
	vec_push(&h->images, image);
	slots_add(&h->image_slots, hash, n);
	return n;
}

uint32_t image_of_mmap(struct history *h, const struct record *r)
{
	const struct mmap_view *m = &r->mmap;
	const char *path = m->filename ? m->filename : "";
	bool kernel = (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	struct module_request request = {
		.kind = kind_of(path, kernel),
		.path = path,
		.start = m->start,
		.length = m->length,
	};
	char map_path[64];
	uint32_t n;

	if (m->build_id_size && m->build_id_size <= BUILD_ID_BYTES_MAX) {
		request.build_id.size = m->build_id_size;
		memcpy(request.build_id.bytes, m->build_id, m->build_id_size);
	} else if (r->type == PERF_RECORD_MMAP2) {
		request.inode = m->inode;
		request.generation = m->inode_generation;
		request.major = m->major;
		request.minor = m->minor;
		request.mapped_ns = r->has_id ? r->id.time_ns : 0;
	}
	if (request.kind == MODULE_KERNEL) {
		request.path = "[kernel.kallsyms]";
		request.kernel_text = m->file_offset;
	} else if (request.kind == MODULE_PERF_MAP) {
		snprintf(map_path, sizeof(map_path), "/tmp/perf-%u.map", m->pid);
		request.path = map_path;
		request.pid = m->pid;
		request.inode = 0;
		request.begun_ns = history_beginning(h, m->pid);
	} else if (request.kind == MODULE_JITDUMP) {
		request.pid = m->pid;
	}
	n = get_image(h, &request, m->pid, (string_id){});
	if (n && request.kind == MODULE_KERNEL)
		h->kernel_image = n;
	return n;
}

uint32_t image_of_hidden_kernel(struct history *h)
{
	struct module_request request = {
		.kind = MODULE_KERNEL,
		.path = "[kernel.kallsyms]",
		.kernel_hidden = true,
	};

	return get_image(h, &request, 0, (string_id){});
}

uint32_t image_of_ksymbol(struct history *h, const struct ksymbol_view *k)
{
	struct module_request request = {
		.kind = MODULE_KERNEL_PART,
		.path = k->name && *k->name ? k->name : "[kernel code]",
	};

	return get_image(h, &request, 0, profile_string(h->profile, request.path));
}

bool image_has_runtime_addresses(const struct image *i)
{
	return i->request.kind == MODULE_KERNEL || i->request.kind == MODULE_KERNEL_PART ||
	       i->request.kind == MODULE_PERF_MAP;
}

/* Recorders that do not put build ids into records put them into the header, by path. A program that
 * was replaced while it was recorded has two there: nobody can tell which of them this mapping was. */
void image_find_build_id(const struct perfdata_facts *facts, struct module_request *request)
{
	struct build_id found = {};

	vec_each(&facts->build_ids, fact) {
		if (!fact->size || fact->size > BUILD_ID_BYTES_MAX || !fact->filename ||
		    strcmp(fact->filename, request->path))
			continue;
		if (found.size &&
		    (found.size != fact->size || memcmp(found.bytes, fact->id, fact->size)))
			return;
		found.size = fact->size;
		memcpy(found.bytes, fact->id, fact->size);
	}
	request->build_id = found;
}

void images_release(struct history *h)
{
	for (size_t i = 1; i < h->images.len; i++)
		free((char *)h->images.items[i].request.path);
	vec_release(&h->images);
	slots_release(&h->image_slots);
}
