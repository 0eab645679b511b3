#include "server/export/remake_internal.h"

#include <string.h>
#include <sys/mman.h>

static size_t begin(struct buf *out, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = {.type = type, .misc = misc};
	size_t at = out->len;

	buf_add_mem(out, &h, sizeof(h));
	return at;
}

static void end(struct buf *out, size_t begun)
{
	uint16_t size = (uint16_t)(out->len - begun);

	memcpy(out->s + begun + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

static void add_u32(struct buf *out, uint32_t value)
{
	buf_add_mem(out, &value, sizeof(value));
}

static void add_u64(struct buf *out, uint64_t value)
{
	buf_add_mem(out, &value, sizeof(value));
}

/* Adds the text with its NUL, padded to a multiple of 8; cut at 4096 bytes, enough for a path. */
static void add_text(struct buf *out, const char *text)
{
	size_t len = strnlen(text, 4096);

	buf_add_mem(out, text, len);
	buf_pad(out, 8 - len % 8, '\0');
}

/* Adds the fields that follow every record except samples: TID, TIME, CPU, IDENTIFIER. */
static void add_stamp(struct buf *out, const struct remade_stamp *s)
{
	add_u32(out, s->pid);
	add_u32(out, s->tid);
	add_u64(out, s->time_ns);
	add_u32(out, s->cpu);
	add_u32(out, 0);
	add_u64(out, s->id);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns a build id of size 0 if @hex is not one. */
static struct build_id build_id_from(const char *hex)
{
	struct build_id id = {};

	for (; id.size < BUILD_ID_BYTES_MAX && hex[0] && hex[1]; hex += 2) {
		int high = digit_of(hex[0]), low = digit_of(hex[1]);

		if (high < 0 || low < 0)
			break;
		id.bytes[id.size++] = (uint8_t)(high << 4 | low);
	}
	return *hex ? (struct build_id){} : id;
}

struct build_id remade_build_id(const struct profile *p, const struct profile_module *m)
{
	return build_id_from(profile_text(p, m->build_id.n ? m->build_id : m->found_id));
}

static void kernel_mapping(struct buf *out, const char *path, uint64_t text,
			   const struct remade_module *place, const struct remade_stamp *stamp)
{
	bool core = !strncmp(path, "[kernel.kallsyms]", 17);
	size_t begun = begin(out, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	add_u32(out, UINT32_MAX);
	add_u32(out, 0);
	add_u64(out, place->start);
	add_u64(out, place->size);
	/* Address of _text; 0: unknown, readers take addresses as they are. */
	add_u64(out, core ? text : 0);
	add_text(out, core ? "[kernel.kallsyms]_text" : path);
	add_stamp(out, stamp);
	end(out, begun);
}

static void kernel_symbol(struct buf *out, const char *name, const struct remade_module *place,
			  const struct remade_stamp *stamp)
{
	size_t begun = begin(out, PERF_RECORD_KSYMBOL, 0);

	add_u64(out, place->start);
	add_u32(out, place->size > UINT32_MAX ? UINT32_MAX : (uint32_t)place->size);
	add_u32(out, PERF_RECORD_KSYMBOL_TYPE_BPF);
	add_text(out, name);
	add_stamp(out, stamp);
	end(out, begun);
}

void remade_mapping(struct buf *out, const struct profile *p, uint32_t module,
		    const struct remade_module *place, const struct remade_stamp *stamp)
{
	const struct profile_module *m = &p->modules.items[module];
	const char *path = profile_text(p, m->path);
	struct build_id id;
	size_t begun;

	if (place->kind == REMADE_KERNEL)
		return kernel_mapping(out, path, m->bias, place, stamp);
	if (place->kind == REMADE_SYMBOL)
		return kernel_symbol(out, path, place, stamp);
	id = remade_build_id(p, m);
	begun = begin(
		out, PERF_RECORD_MMAP2,
		(uint16_t)(PERF_RECORD_MISC_USER | (id.size ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0)));
	add_u32(out, stamp->pid);
	add_u32(out, stamp->pid);
	add_u64(out, place->start);
	add_u64(out, place->size);
	add_u64(out, place->kind == REMADE_FILE ? place->first - m->bias : 0);
	/* The size of the build id and the id, or zeros for device and inode, which are unknown. */
	add_u32(out, id.size);
	buf_add_mem(out, id.bytes, 20);
	add_u32(out, PROT_READ | PROT_EXEC);
	add_u32(out, MAP_PRIVATE);
	add_text(out, place->kind == REMADE_RUNTIME ? "//anon" : path);
	add_stamp(out, stamp);
	end(out, begun);
}

void remade_comm(struct buf *out, const char *comm, const struct remade_stamp *stamp)
{
	size_t begun = begin(out, PERF_RECORD_COMM, 0);

	add_u32(out, stamp->pid);
	add_u32(out, stamp->tid);
	add_text(out, comm);
	add_stamp(out, stamp);
	end(out, begun);
}

void remade_lost(struct buf *out, uint64_t lost, const struct remade_stamp *stamp)
{
	size_t begun = begin(out, PERF_RECORD_LOST_SAMPLES, 0);

	add_u64(out, lost);
	add_stamp(out, stamp);
	end(out, begun);
}

void remade_sample(struct buf *out, const struct remade_sample *s)
{
	size_t begun = begin(out, PERF_RECORD_SAMPLE,
			     s->kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER);

	add_u64(out, s->stamp.id);
	add_u64(out, s->ip);
	add_u32(out, s->stamp.pid);
	add_u32(out, s->stamp.tid);
	add_u64(out, s->stamp.time_ns);
	if (s->with_address)
		add_u64(out, s->address);
	add_u32(out, s->stamp.cpu);
	add_u32(out, 0);
	add_u64(out, s->period);
	if (s->with_chain) {
		add_u64(out, s->chain_len);
		buf_add_mem(out, s->chain, s->chain_len * sizeof(*s->chain));
	}
	end(out, begun);
}
