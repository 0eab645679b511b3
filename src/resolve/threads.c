#include "resolve/threads.h"
#include "perf/id_map.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_THREADS 1024u
#define UNKNOWN_PID   (~0u)
#define FIRST_SLOTS   256u

static uint32_t slot_of(const struct threads *t, uint32_t tid)
{
	return (uint32_t)id_map_hash(tid, t->seed) & (t->slot_count - 1);
}

static void set_comm(struct thread *thread, const char *comm)
{
	size_t len = strnlen(comm, THREAD_COMM_SIZE - 1);

	memcpy(thread->comm, comm, len);
	thread->comm[len] = '\0';
	thread->comm_len = (uint16_t)len;
	thread->comm_known = true;
}

static void begin_life(struct thread *thread, uint32_t pid, uint32_t tid)
{
	thread->pid = pid;
	thread->tid = tid;
	thread->comm_known = false;
	thread->exited = thread->gone = false;
	thread->lives++;
	thread->comm_len = (uint16_t)snprintf(thread->comm, sizeof(thread->comm), ":%d", (int)tid);
}

struct thread *threads_at(const struct threads *t, uint32_t number)
{
	return &t->chunks.items[number / CHUNK_THREADS][number % CHUNK_THREADS];
}

static void insert(struct threads *t, uint32_t number)
{
	uint32_t slot = slot_of(t, threads_at(t, number)->tid);

	while (t->slots[slot])
		slot = (slot + 1) & (t->slot_count - 1);
	t->slots[slot] = number + 1;
}

static void index_anew(struct threads *t, uint32_t slot_count)
{
	free(t->slots);
	t->slot_count = slot_count;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (uint32_t i = 0; i < t->count; i++)
		insert(t, i);
}

static struct thread *add(struct threads *t, uint32_t pid, uint32_t tid)
{
	struct thread *thread;

	if (t->count >= t->limit) {
		t->dropped++;
		begin_life(&t->other, pid, tid);
		return &t->other;
	}
	if (t->count / CHUNK_THREADS == t->chunks.len)
		vec_push(&t->chunks, xcalloc(CHUNK_THREADS, sizeof(struct thread)));
	thread = threads_at(t, t->count);
	thread->number = t->count;
	begin_life(thread, pid, tid);
	/* Half full at most, so that looking for what is not there ends soon. */
	if ((t->count + 1) * 2 > t->slot_count)
		index_anew(t, t->slot_count * 2);
	insert(t, t->count++);
	return thread;
}

const struct thread *threads_look(const struct threads *t, uint32_t tid)
{
	uint32_t slot;

	for (slot = slot_of(t, tid); t->slots[slot]; slot = (slot + 1) & (t->slot_count - 1)) {
		const struct thread *thread = threads_at(t, t->slots[slot] - 1);

		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

struct thread *threads_find(struct threads *t, uint32_t tid)
{
	struct thread *found;

	if (t->last && t->last->tid == tid)
		return t->last;
	found = (struct thread *)threads_look(t, tid);
	if (found)
		t->last = found;
	return found;
}

struct thread *threads_get(struct threads *t, uint32_t pid, uint32_t tid)
{
	struct thread *thread = threads_find(t, tid);

	if (!thread)
		return add(t, pid, tid);
	if (thread->pid == UNKNOWN_PID)
		thread->pid = pid;
	return thread;
}

static void fork_task(struct threads *t, const struct task_view *task)
{
	struct thread *parent = threads_get(t, task->parent_pid, task->parent_tid), *child;
	char comm[THREAD_COMM_SIZE];
	bool known;

	/* A record of the parent's fork was lost: this is another task of the same number. */
	if (parent->pid != task->parent_pid)
		begin_life(parent, task->parent_pid, task->parent_tid);
	/* The child may take the place that stands for all others, and that may be the parent. */
	known = parent->comm_known;
	memcpy(comm, parent->comm, sizeof(comm));
	child = threads_find(t, task->tid);
	if (!child)
		child = add(t, task->pid, task->tid);
	else if (child != parent)
		begin_life(child, task->pid, task->tid);
	if (known && child != parent)
		set_comm(child, comm);
}

void threads_record(struct threads *t, const struct record *r)
{
	struct thread *thread;

	switch (r->type) {
	case PERF_RECORD_COMM:
		thread = threads_get(t, r->comm.pid, r->comm.tid);
		if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
			thread->lives++;
		if (r->comm.comm)
			set_comm(thread, r->comm.comm);
		break;
	case PERF_RECORD_FORK:
		fork_task(t, &r->task);
		break;
	case PERF_RECORD_EXIT:
		thread = threads_find(t, r->task.tid);
		/* It stays: samples of its end may still come. */
		if (thread)
			thread->exited = true;
		break;
	default:
		break;
	}
}

void threads_forget(struct threads *t, void (*moved)(void *ctx, uint32_t from, uint32_t to),
		    void *ctx)
{
	uint32_t kept = 0, slot_count = FIRST_SLOTS;

	for (uint32_t i = 0; i < t->count; i++) {
		struct thread *thread = threads_at(t, i);

		if (thread->exited && thread->gone)
			continue;
		thread->gone = thread->exited;
		thread->number = kept;
		if (kept != i)
			*threads_at(t, kept) = *thread;
		moved(ctx, i, kept++);
	}
	t->count = kept;
	t->last = NULL;
	while (t->chunks.len * CHUNK_THREADS >= kept + 2 * CHUNK_THREADS)
		free(t->chunks.items[--t->chunks.len]);
	while (slot_count < 4 * kept)
		slot_count *= 2;
	index_anew(t, slot_count);
}

void threads_init(struct threads *t)
{
	*t = (struct threads){.limit = THREADS_MAX, .seed = id_map_seed()};
	t->other.number = UNKNOWN_PID;
	index_anew(t, FIRST_SLOTS);
	set_comm(threads_get(t, 0, 0), "swapper");
}

void threads_release(struct threads *t)
{
	vec_each(&t->chunks, chunk)
		free(*chunk);
	vec_release(&t->chunks);
	free(t->slots);
	t->slots = NULL;
}
