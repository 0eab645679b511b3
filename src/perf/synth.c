#include "perf/synth.h"
#include "base/as_user.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "perf/build_id.h"
#include "perf/synth_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FLUSH_BYTES    (64u << 10)
#define NAME_BYTES_MAX 4096

struct synth {
	struct synth_options options;
	struct buf out;
	uint64_t bytes;
	bool cut, kernel_hidden;
	char own_mounts[64]; /* the mount namespace, as a text */
	struct build_id_cache cache;
};

/* A process whose mappings are read. */
struct process {
	struct synth *s;
	pid_t pid;
	bool other_mounts; /* its paths are not ours */
	int result;
};

struct synth *synth_new(const struct synth_options *options)
{
	struct synth *s = xcalloc(1, sizeof(*s));

	s->options = *options;
	return s;
}

void synth_free(struct synth *s)
{
	if (!s)
		return;
	build_id_cache_release(&s->cache);
	buf_release(&s->out);
	free(s);
}

bool synth_cut(const struct synth *s)
{
	return s->cut;
}

/* ---- records ---- */

static int flush(struct synth *s)
{
	int r = s->out.len ? s->options.sink(s->options.ctx, s->out.s, s->out.len) : 0;

	s->bytes += s->out.len;
	buf_clear(&s->out);
	return r;
}

static void add_u32(struct buf *b, uint32_t value)
{
	buf_add_mem(b, &value, sizeof(value));
}

static void add_u64(struct buf *b, uint64_t value)
{
	buf_add_mem(b, &value, sizeof(value));
}

static size_t begin(struct synth *s, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {.type = type, .misc = misc};

	buf_add_mem(&s->out, &header, sizeof(header));
	return s->out.len - sizeof(header);
}

static void add_name(struct buf *b, const char *name)
{
	static const char zeros[8];
	size_t len = strlen(name);

	if (len > NAME_BYTES_MAX)
		len = NAME_BYTES_MAX;
	buf_add_mem(b, name, len);
	buf_add_mem(b, zeros, 8 - len % 8);
}

/* What each record of the kernel ends with, in the order of its ABI. */
static void add_sample_id(struct synth *s, pid_t pid, pid_t tid)
{
	const struct perf_event_attr *attr = s->options.attr;
	struct buf *b = &s->out;

	if (!attr->sample_id_all)
		return;
	if (attr->sample_type & PERF_SAMPLE_TID) {
		add_u32(b, (uint32_t)pid);
		add_u32(b, (uint32_t)tid);
	}
	if (attr->sample_type & PERF_SAMPLE_TIME)
		add_u64(b, 0);
	if (attr->sample_type & PERF_SAMPLE_ID)
		add_u64(b, s->options.id);
	if (attr->sample_type & PERF_SAMPLE_STREAM_ID)
		add_u64(b, s->options.id);
	if (attr->sample_type & PERF_SAMPLE_CPU)
		add_u64(b, 0);
	if (attr->sample_type & PERF_SAMPLE_IDENTIFIER)
		add_u64(b, s->options.id);
}

/* Closes the record; -ENOBUFS when a limit says that it is enough. */
static int end(struct synth *s, size_t start, pid_t pid, pid_t tid)
{
	add_sample_id(s, pid, tid);
	((struct perf_event_header *)(s->out.s + start))->size = (uint16_t)(s->out.len - start);
	if (s->options.limit_bytes && s->bytes + s->out.len > s->options.limit_bytes) {
		s->out.len = start;
		s->cut = true;
		return -ENOBUFS;
	}
	return s->out.len >= FLUSH_BYTES ? flush(s) : 0;
}

static bool late(struct synth *s)
{
	if (!s->options.deadline_ns || clock_now_ns() < s->options.deadline_ns)
		return false;
	s->cut = true;
	return true;
}

static int put_fork(struct synth *s, pid_t pid, pid_t tid, pid_t parent)
{
	/* Marked as from exec, so that a reader gives it none of its parent's mappings. */
	size_t start = begin(s, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);

	add_u32(&s->out, (uint32_t)pid);
	add_u32(&s->out, (uint32_t)parent);
	add_u32(&s->out, (uint32_t)tid);
	add_u32(&s->out, (uint32_t)parent);
	add_u64(&s->out, 0);
	return end(s, start, pid, tid);
}

static int put_comm(struct synth *s, pid_t pid, pid_t tid, const char *comm)
{
	size_t start = begin(s, PERF_RECORD_COMM, 0);

	add_u32(&s->out, (uint32_t)pid);
	add_u32(&s->out, (uint32_t)tid);
	add_name(&s->out, comm);
	return end(s, start, pid, tid);
}

static int put_mmap2(struct synth *s, pid_t pid, const struct mapping *m, const struct build_id *id)
{
	uint16_t misc = PERF_RECORD_MISC_USER;
	size_t start;

	if (!(m->prot & PROT_EXEC))
		misc |= PERF_RECORD_MISC_MMAP_DATA;
	if (id && id->size)
		misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	start = begin(s, PERF_RECORD_MMAP2, misc);
	add_u32(&s->out, (uint32_t)pid);
	add_u32(&s->out, (uint32_t)pid);
	add_u64(&s->out, m->start);
	add_u64(&s->out, m->end - m->start);
	add_u64(&s->out, m->offset);
	if (id && id->size) {
		add_u32(&s->out, id->size);
		buf_add_mem(&s->out, id->bytes, sizeof(id->bytes));
	} else {
		add_u32(&s->out, m->major);
		add_u32(&s->out, m->minor);
		add_u64(&s->out, m->inode);
		add_u64(&s->out, 0); /* generation */
	}
	add_u32(&s->out, m->prot);
	add_u32(&s->out, m->flags);
	add_name(&s->out, m->name);
	return end(s, start, pid, pid);
}

static int put_kernel_mmap(struct synth *s, const char *name, uint64_t address, uint64_t size,
			   uint64_t offset)
{
	size_t start = begin(s, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);

	add_u32(&s->out, UINT32_MAX);
	add_u32(&s->out, 0);
	add_u64(&s->out, address);
	add_u64(&s->out, size);
	add_u64(&s->out, offset);
	add_name(&s->out, name);
	return end(s, start, -1, 0);
}

/* ---- processes ---- */

/* The file of a mapping, by its name where that is good, else by the kernel's own link to it. */
static void read_id(const struct process *p, const struct mapping *m, struct build_id *ret)
{
	const char *proc = p->s->options.roots->proc;

	if (p->other_mounts) {
		CLEANUP(free_ptr)
		char *path = xasprintf("%s/%d/root%s", proc, (int)p->pid, m->name);

		build_id_of_file(path, m->inode, ret);
	} else {
		build_id_of_file(m->name, m->inode, ret);
	}
	if (!ret->size) {
		CLEANUP(free_ptr)
		char *path = xasprintf("%s/%d/map_files/%llx-%llx", proc, (int)p->pid,
				       (unsigned long long)m->start, (unsigned long long)m->end);

		/* The very file, whatever its number is by that way (overlayfs). */
		build_id_of_file(path, 0, ret);
	}
}

static const struct build_id *id_of_mapping(struct process *p, const struct mapping *m)
{
	const struct user_ids *user = as_user_chosen();
	uint64_t device = (uint64_t)m->major << 32 | m->minor;
	const struct build_id *known;
	struct build_id id = {};
	struct own_rights own;

	if (!p->s->options.build_ids || !m->inode || m->name[0] != '/')
		return NULL;
	known = build_id_cache_find(&p->s->cache, device, m->inode);
	if (known)
		return known;
	/* The name is the process's own. */
	if (user && !as_user_begin(user, false, &own))
		return NULL;
	read_id(p, m, &id);
	if (user)
		as_user_end(&own);
	build_id_cache_add(&p->s->cache, device, m->inode, &id);
	return build_id_cache_find(&p->s->cache, device, m->inode);
}

static bool visit_mapping(void *ctx, const struct mapping *m)
{
	struct process *p = ctx;

	/* Data is told of as the kernel would: only if it is asked to. */
	if (!(m->prot & PROT_EXEC) && (!p->s->options.attr->mmap_data || !m->inode))
		return true;
	p->result = put_mmap2(p->s, p->pid, m, id_of_mapping(p, m));
	return p->result == 0;
}

static bool link_text(char *text, size_t size, const char *fmt, const char *proc, int pid)
{
	char path[512];
	ssize_t n;

	snprintf(path, sizeof(path), fmt, proc, pid);
	n = readlink(path, text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool has_other_mounts(struct synth *s, pid_t pid)
{
	const char *proc = s->options.roots->proc;
	char mounts[64];

	if (!s->own_mounts[0])
		link_text(s->own_mounts, sizeof(s->own_mounts), "%s/%d/ns/mnt", proc,
			  (int)getpid());
	/* Not for chroot: the kernel tells paths as they are from our root. */
	return link_text(mounts, sizeof(mounts), "%s/%d/ns/mnt", proc, (int)pid) &&
	       strcmp(mounts, s->own_mounts) != 0;
}

static int put_mappings(struct synth *s, pid_t pid)
{
	struct process p = {.s = s, .pid = pid};
	int r;

	p.other_mounts = s->options.build_ids && has_other_mounts(s, pid);
	r = synth_read_maps(s->options.roots, pid, s->options.deadline_ns, visit_mapping, &p);
	if (r == -ETIME)
		s->cut = true;
	/* A process that has gone meanwhile has no mappings, which is no error. */
	return p.result;
}

static int put_thread(struct synth *s, pid_t pid, pid_t tid, pid_t parent)
{
	char comm[64];
	int r;

	if (!fs_line(comm, sizeof(comm), "%s/%d/task/%d/comm", s->options.roots->proc, (int)pid,
		     (int)tid))
		return 0;
	r = put_fork(s, pid, tid, tid == pid ? parent : pid);
	return r < 0 ? r : put_comm(s, pid, tid, comm);
}

static int put_process(struct synth *s, pid_t pid)
{
	CLEANUP(free_ptr) char *dir = NULL;
	CLEANUP(strvec_release) strvec tasks = {};
	pid_t group, parent;
	int r;

	if (!synth_read_status(s->options.roots, pid, &group, &parent))
		return -ESRCH;
	dir = xasprintf("%s/%d/task", s->options.roots->proc, (int)group);
	if (fs_list(dir, &tasks) < 0)
		return -ESRCH;
	/* The first thread before the others, whose parent it is. */
	r = put_thread(s, group, group, parent);
	if (r == 0)
		r = put_mappings(s, group);
	vec_each(&tasks, name) {
		pid_t tid = (pid_t)atoi(*name);

		if (r < 0 || late(s))
			break;
		if (tid > 0 && tid != group)
			r = put_thread(s, group, tid, parent);
	}
	return r;
}

/* A limit that was reached is no failure: what there is reads well. */
static int finish(struct synth *s, int r)
{
	int flushed = flush(s);

	if (r == -ENOBUFS)
		r = 0;
	return r < 0 ? r : flushed;
}

int synth_process(struct synth *s, pid_t pid)
{
	return finish(s, put_process(s, pid));
}

int synth_all(struct synth *s)
{
	CLEANUP(strvec_release) strvec names = {};
	int r = fs_list(s->options.roots->proc, &names);

	vec_each(&names, name) {
		pid_t pid = (pid_t)atoi(*name);

		if (r < 0 || late(s))
			break;
		if (pid > 0)
			r = put_process(s, pid);
		if (r == -ESRCH)
			r = 0;
	}
	return finish(s, r);
}

/* ---- the kernel ---- */

static bool visit_module(void *ctx, const char *name, uint64_t address, uint64_t size)
{
	struct process *p = ctx;
	char text[160];

	snprintf(text, sizeof(text), "[%s]", name);
	p->result = put_kernel_mmap(p->s, text, address, size, 0);
	return p->result == 0;
}

int synth_kernel(struct synth *s)
{
	struct process p = {.s = s};
	struct kernel_text text;

	if (synth_read_kernel(s->options.roots, &text)) {
		char name[64];

		snprintf(name, sizeof(name), "[kernel.kallsyms]%s", text.symbol);
		/* The place is told once more, for readers who shift a vmlinux by it. */
		p.result = put_kernel_mmap(s, name, text.start, text.size, text.start);
	} else {
		s->kernel_hidden = true;
	}
	if (p.result == 0)
		synth_read_modules(s->options.roots, visit_module, &p);
	return finish(s, p.result);
}

bool synth_kernel_hidden(const struct synth *s)
{
	return s->kernel_hidden;
}
