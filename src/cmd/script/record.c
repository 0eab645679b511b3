#include "cmd/script/script.h"

#include <string.h>
#include <sys/mman.h>

#define LLU(v) ((unsigned long long)(v))

static void add_name(struct buf *out, const char *name)
{
	script_printable(out, name ? name : "", name ? strlen(name) : 0);
	buf_add_char(out, '\n');
}

static void add_mmap(struct buf *out, const struct record *r)
{
	const struct mmap_view *m = &r->mmap;

	buf_addf(out, " %d/%d: [%#llx(%#llx) @ %#llx", (int)m->pid, (int)m->tid, LLU(m->start),
		 LLU(m->length), LLU(m->file_offset));
	if (r->type == PERF_RECORD_MMAP) {
		buf_addf(out, "]: %c ", r->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	} else {
		if (m->build_id) {
			buf_add(out, " <");
			for (unsigned i = 0; i < m->build_id_size; i++)
				buf_addf(out, "%02x", m->build_id[i]);
			buf_add(out, ">");
		} else {
			buf_addf(out, " %02x:%02x %llu %llu", m->major, m->minor, LLU(m->inode),
				 LLU(m->inode_generation));
		}
		buf_addf(out, "]: %c%c%c%c ", m->prot & PROT_READ ? 'r' : '-',
			 m->prot & PROT_WRITE ? 'w' : '-', m->prot & PROT_EXEC ? 'x' : '-',
			 m->flags & MAP_SHARED ? 's' : 'p');
	}
	add_name(out, m->filename);
}

static void add_namespaces(struct buf *out, const struct namespaces_view *n)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};

	buf_addf(out, " %d/%d - nr_namespaces: %llu\n\t\t[", (int)n->pid, (int)n->tid,
		 LLU(n->count));
	for (uint64_t i = 0; i < n->count; i++)
		buf_addf(out, "%s%llu/%s: %llu/%#llx%s", i && i % 4 == 0 ? "\n\t\t " : "", LLU(i),
			 i < ARRAY_LEN(names) ? names[i] : "unknown", LLU(n->entries[i].device),
			 LLU(n->entries[i].inode), i + 1 < n->count ? ", " : "");
	buf_add(out, "]\n");
}

static void add_switch(struct buf *out, const struct record *r)
{
	bool leaves = r->misc & PERF_RECORD_MISC_SWITCH_OUT;
	const char *way = !leaves                                         ? "IN         "
			  : r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
									  : "OUT        ";

	if (r->type == PERF_RECORD_SWITCH)
		buf_addf(out, " %s\n", way);
	else
		buf_addf(out, " %s  %s pid/tid: %5d/%-5d\n", way, leaves ? "next" : "prev",
			 (int)r->context_switch.pid, (int)r->context_switch.tid);
}

static void add_poked_bytes(struct buf *out, const char *title, const unsigned char *bytes,
			    unsigned size)
{
	for (unsigned at = 0; at < size; at += 16) {
		buf_addf(out, "            %s bytes:", title);
		for (unsigned i = at; i < at + 16; i++)
			if (i < size)
				buf_addf(out, " %02x", bytes[i]);
			else
				buf_add(out, "   ");
		buf_add_char(out, '\n');
	}
}

static void add_text_poke(struct buf *out, const struct text_poke_view *t)
{
	buf_addf(out, " %llx  old len %u new len %u\n", LLU(t->address), t->old_size, t->new_size);
	if (!t->bytes)
		return;
	add_poked_bytes(out, "Old", t->bytes, t->old_size);
	add_poked_bytes(out, "New", t->bytes + t->old_size, t->new_size);
}

static void add_task(struct buf *out, const struct task_view *t)
{
	buf_addf(out, "(%d:%d):(%d:%d)\n", (int)t->pid, (int)t->tid, (int)t->parent_pid,
		 (int)t->parent_tid);
}

void script_record_body(struct buf *out, const struct record *r)
{
	const char *name = perfdata_record_name(r->type);

	if (name)
		buf_addf(out, "PERF_RECORD_%s", name);
	else
		buf_addf(out, "PERF_RECORD_%u", r->type);
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		add_mmap(out, r);
		break;
	case PERF_RECORD_COMM:
		buf_add(out, r->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec: " : ": ");
		if (r->comm.comm)
			script_printable(out, r->comm.comm, strlen(r->comm.comm));
		buf_addf(out, ":%d/%d\n", (int)r->comm.pid, (int)r->comm.tid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		add_task(out, &r->task);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		buf_addf(out, " lost %llu\n", LLU(r->lost.lost));
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(out, r);
		break;
	case PERF_RECORD_NAMESPACES:
		add_namespaces(out, &r->namespaces);
		break;
	case PERF_RECORD_KSYMBOL:
		buf_addf(out, " addr %llx len %u type %u flags 0x%x name ", LLU(r->ksymbol.address),
			 r->ksymbol.length, r->ksymbol.type, r->ksymbol.flags);
		add_name(out, r->ksymbol.name);
		break;
	case PERF_RECORD_BPF_EVENT:
		buf_addf(out, " type %u, flags %u, id %u\n", r->bpf.type, r->bpf.flags, r->bpf.id);
		break;
	case PERF_RECORD_CGROUP:
		buf_addf(out, " cgroup: %llu ", LLU(r->cgroup.id));
		add_name(out, r->cgroup.path);
		break;
	case PERF_RECORD_TEXT_POKE:
		add_text_poke(out, &r->text_poke);
		break;
	case PERF_RECORD_AUX:
		buf_addf(out, " offset: %#llx size: %#llx flags: %#llx\n", LLU(r->aux.offset),
			 LLU(r->aux.size), LLU(r->aux.flags));
		break;
	case PERF_RECORD_ITRACE_START:
		buf_addf(out, " pid: %d tid: %d\n", (int)r->itrace.pid, (int)r->itrace.tid);
		break;
	default:
		buf_add_char(out, '\n');
		break;
	}
}

/* The task to print before the record: the one it describes, else the one that was running. */
static void subject_of(const struct record *r, uint32_t *ret_pid, uint32_t *ret_tid)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		*ret_pid = r->mmap.pid;
		*ret_tid = r->mmap.tid;
		break;
	case PERF_RECORD_COMM:
		*ret_pid = r->comm.pid;
		*ret_tid = r->comm.tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		*ret_pid = r->task.pid;
		*ret_tid = r->task.tid;
		break;
	case PERF_RECORD_NAMESPACES:
		*ret_pid = r->namespaces.pid;
		*ret_tid = r->namespaces.tid;
		break;
	default:
		*ret_pid = r->id.pid;
		*ret_tid = r->id.tid;
		break;
	}
}

void script_record(struct script *s, const struct record *r, const struct stream_event *event,
		   const struct script_plan *plan)
{
	struct record_id id = r->id;
	uint32_t pid, tid;
	struct thread *thread;

	subject_of(r, &pid, &tid);
	/* Old kernels add no time, CPU and task: use those that the record itself has. */
	if (!event->layout.sample_id_all) {
		bool task = r->type == PERF_RECORD_FORK || r->type == PERF_RECORD_EXIT;

		id = (struct record_id){
			.pid = pid, .tid = tid, .time_ns = task ? r->task.time_ns : 0};
	}
	if (!filter_cpu(&s->names.analysis.shared.filter, id.cpu))
		return;
	thread = script_thread(s, pid, tid);
	script_start(s, plan, thread->comm, thread->comm_len, r->type, r->misc, &id);
	script_record_body(&s->out, r);
}
