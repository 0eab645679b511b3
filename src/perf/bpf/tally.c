#include "perf/bpf/tally.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "perf/bpf/bpf.h"
#include "perf/bpf/btf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Call numbers of all architectures are far below this. */
#define CALLS_MAX         1024
#define TASKS_MAX         65536
#define CPULIST_BYTES_MAX 65536
#define PROGRAM_MAX       64

/* The map of counters: system calls by number, how they returned, other tracepoints, a ledger. */
#define SLOT_ENTER  0
#define SLOT_EXIT   CALLS_MAX
#define SLOT_OTHERS (2 * CALLS_MAX)

/* What a task's entry in the map of tasks says. */
enum { TASK_WAITS_FOR_EXEC = 0, TASK_COUNTS = 1 };

static const struct {
	const char *name;
	int number;
} syscall_numbers[] = {
#include "syscalls.inc"
};

struct tally {
	size_t name_count;
	uint32_t *slots; /* by name number */
	uint32_t slot_count;
	int *cpus;        /* possible ones */
	size_t cpu_count; /* possible CPUs: width of a value */
	int counts_fd, tasks_fd;
	struct tally_tasks tasks;
	struct {
		int *fds;
		size_t len;
	} open;                          /* programs and links */
	uint64_t *values, *base;         /* slot × CPU */
	uint64_t started_ns, stopped_ns; /* 0: not yet */
	void *btf;                       /* only while it is set up */
	size_t btf_size;
	struct err *e;
};

/* Where the kernel keeps a member; its description is read when first needed. */
static int member_offset(struct tally *t, const char *name, const char *member,
			 uint32_t *ret_offset)
{
	int r = t->btf ? 0 : btf_kernel_image(&t->btf, &t->btf_size);

	return r < 0 ? r : btf_member_offset(t->btf, t->btf_size, name, member, ret_offset);
}

static int new_map(uint32_t type, uint32_t value_size, uint32_t entries, uint32_t flags)
{
	union bpf_attr attr = {.map_type = type,
			       .key_size = 4,
			       .value_size = value_size,
			       .max_entries = entries,
			       .map_flags = flags};

	return bpf_call(BPF_MAP_CREATE, &attr);
}

static void keep_fd(struct tally *t, int fd)
{
	t->open.fds = xrealloc(t->open.fds, t->open.len + 1, sizeof(int));
	t->open.fds[t->open.len++] = fd;
}

/* Loads a program and hangs it on a raw tracepoint. */
static int attach(struct tally *t, const char *tracepoint, const struct bpf_insn *code, size_t len)
{
	union bpf_attr link = {};
	int program = bpf_load(code, len), fd;

	if (program < 0)
		return program;
	link.raw_tracepoint.name = (uint64_t)(uintptr_t)tracepoint;
	link.raw_tracepoint.prog_fd = (uint32_t)program;
	fd = bpf_call(BPF_RAW_TRACEPOINT_OPEN, &link);
	if (fd < 0) {
		close(program);
		return fd;
	}
	keep_fd(t, fd);
	keep_fd(t, program);
	return 0;
}

/* ---- the programs ---- */

struct program {
	struct bpf_insn code[PROGRAM_MAX];
	size_t len;
	size_t leave[8]; /* jumps to the end */
	size_t leave_count;
};

static void emit(struct program *p, struct bpf_insn insn)
{
	if (p->len < PROGRAM_MAX)
		p->code[p->len++] = insn;
}

static void emit_map(struct program *p, int reg, int fd)
{
	const struct bpf_insn two[] = {LOAD_MAP(reg, fd)};

	emit(p, two[0]);
	emit(p, two[1]);
}

/* Leave the program if the comparison holds. */
static void leave_if(struct program *p, int op, int reg, int32_t imm)
{
	p->leave[p->leave_count++] = p->len;
	emit(p, JUMP_IMM(op, reg, imm, 0));
}

static int finish(struct tally *t, struct program *p, const char *tracepoint)
{
	for (size_t i = 0; i < p->leave_count; i++)
		p->code[p->leave[i]].off = (int16_t)(p->len - p->leave[i] - 1);
	emit(p, MOV_IMM(BPF_REG_0, 0));
	emit(p, EXIT());
	return attach(t, tracepoint, p->code, p->len);
}

/* r0 = entry of the running task, or leave. Its id stays at fp-4. */
static void find_task(struct tally *t, struct program *p)
{
	emit(p, CALL(BPF_FUNC_get_current_pid_tgid));
	emit(p, STORE(BPF_W, BPF_REG_10, -4, BPF_REG_0));
	emit(p, MOV_REG(BPF_REG_2, BPF_REG_10));
	emit(p, ADD_IMM(BPF_REG_2, -4));
	emit_map(p, BPF_REG_1, t->tasks_fd);
	emit(p, CALL(BPF_FUNC_map_lookup_elem));
	leave_if(p, BPF_JEQ, BPF_REG_0, 0);
}

/* Leave unless the running task is one of ours and counts. */
static void only_our_tasks(struct tally *t, struct program *p)
{
	if (!t->tasks.count)
		return;
	find_task(t, p);
	emit(p, LOAD(BPF_W, BPF_REG_0, BPF_REG_0, 0));
	leave_if(p, BPF_JNE, BPF_REG_0, TASK_COUNTS);
}

/* One more in the slot whose number stands at fp-8. */
static void count_slot(struct tally *t, struct program *p)
{
	emit(p, MOV_REG(BPF_REG_2, BPF_REG_10));
	emit(p, ADD_IMM(BPF_REG_2, -8));
	emit_map(p, BPF_REG_1, t->counts_fd);
	emit(p, CALL(BPF_FUNC_map_lookup_elem));
	leave_if(p, BPF_JEQ, BPF_REG_0, 0);
	emit(p, LOAD(BPF_DW, BPF_REG_1, BPF_REG_0, 0));
	emit(p, ADD_IMM(BPF_REG_1, 1));
	emit(p, STORE(BPF_DW, BPF_REG_0, 0, BPF_REG_1));
}

/* Registers at entry to the kernel: where the call's number and the 32-bit mode are. */
#if defined(__x86_64__)
#define REGS_CALL_OFFSET 120 /* orig_ax */
#define REGS_MODE_OFFSET 136 /* cs */
#define REGS_MODE_MASK   0xffff
#define REGS_MODE_COMPAT 0x23 /* __USER32_CS */
/* The task begins with its thread_info. */
#define TASK_STATUS_COMPAT 0x2 /* TS_COMPAT */
#elif defined(__aarch64__)
#define REGS_CALL_OFFSET 280 /* syscallno */
#define REGS_MODE_OFFSET 264 /* pstate */
#define REGS_MODE_MASK   0x10
#define REGS_MODE_COMPAT 0x10 /* PSR_MODE32_BIT */
#endif

#ifdef REGS_CALL_OFFSET
/* Reads @size bytes at r6's first argument (the registers) + @offset to the stack at @to. */
static void read_regs(struct program *p, int to, int size, int offset)
{
	emit(p, MOV_REG(BPF_REG_1, BPF_REG_10));
	emit(p, ADD_IMM(BPF_REG_1, to));
	emit(p, MOV_IMM(BPF_REG_2, size));
	emit(p, LOAD(BPF_DW, BPF_REG_3, BPF_REG_6, 0));
	emit(p, ADD_IMM(BPF_REG_3, offset));
	emit(p, CALL(BPF_FUNC_probe_read_kernel));
}

/*
 * The numbers of 32-bit calls mean other calls; the kernel's own tracepoints skip them. On x86 a
 * 64-bit program can make them too (int 0x80): the kernel notes it in the task. Its mode tells of
 * 32-bit programs only, and is what is left where the kernel does not describe its structures.
 */
static void leave_if_compat(struct tally *t, struct program *p)
{
	uint32_t status_offset;

	emit(p, STORE_IMM(BPF_DW, BPF_REG_10, -16, 0));
#ifdef TASK_STATUS_COMPAT
	if (member_offset(t, "thread_info", "status", &status_offset) == 0) {
		emit(p, CALL(BPF_FUNC_get_current_task));
		emit(p, MOV_REG(BPF_REG_3, BPF_REG_0));
		emit(p, ADD_IMM(BPF_REG_3, (int32_t)status_offset));
		emit(p, MOV_REG(BPF_REG_1, BPF_REG_10));
		emit(p, ADD_IMM(BPF_REG_1, -16));
		emit(p, MOV_IMM(BPF_REG_2, 4));
		emit(p, CALL(BPF_FUNC_probe_read_kernel));
		emit(p, LOAD(BPF_W, BPF_REG_0, BPF_REG_10, -16));
		emit(p, AND_IMM(BPF_REG_0, TASK_STATUS_COMPAT));
		leave_if(p, BPF_JNE, BPF_REG_0, 0);
		return;
	}
#else
	(void)status_offset;
	(void)t;
#endif
	read_regs(p, -16, 4, REGS_MODE_OFFSET);
	emit(p, LOAD(BPF_W, BPF_REG_0, BPF_REG_10, -16));
	emit(p, AND_IMM(BPF_REG_0, REGS_MODE_MASK));
	leave_if(p, BPF_JEQ, BPF_REG_0, REGS_MODE_COMPAT);
}

/* sys_enter(regs, number) or sys_exit(regs, result): counts by number. */
static int attach_syscalls(struct tally *t, bool on_exit)
{
	struct program p = {};

	emit(&p, MOV_REG(BPF_REG_6, BPF_REG_1));
	only_our_tasks(t, &p);
	leave_if_compat(t, &p);
	read_regs(&p, -16, 4, REGS_CALL_OFFSET);
	emit(&p, LOAD(BPF_W, BPF_REG_7, BPF_REG_10, -16));
	leave_if(&p, BPF_JGE, BPF_REG_7, CALLS_MAX);
	emit(&p, ADD_IMM(BPF_REG_7, on_exit ? SLOT_EXIT : SLOT_ENTER));
	emit(&p, STORE(BPF_W, BPF_REG_10, -8, BPF_REG_7));
	count_slot(t, &p);
	return finish(t, &p, on_exit ? "sys_exit" : "sys_enter");
}

static int find_syscall(const char *name)
{
	for (size_t i = 0; i < sizeof(syscall_numbers) / sizeof(syscall_numbers[0]); i++)
		if (!strcmp(syscall_numbers[i].name, name))
			return syscall_numbers[i].number;
	return -1;
}
#else
static int attach_syscalls(struct tally *t, bool on_exit)
{
	(void)t;
	(void)on_exit;
	return -EOPNOTSUPP;
}

static int find_syscall(const char *name)
{
	(void)name;
	return -1;
}
#endif

static int attach_other(struct tally *t, const char *tracepoint, uint32_t slot)
{
	struct program p = {};

	only_our_tasks(t, &p);
	emit(&p, STORE_IMM(BPF_W, BPF_REG_10, -8, (int32_t)slot));
	count_slot(t, &p);
	return finish(t, &p, tracepoint);
}

/* Enters the task whose id stands at fp-8 with what stands at fp-12. */
static void put_task(struct tally *t, struct program *p)
{
	emit(p, MOV_REG(BPF_REG_2, BPF_REG_10));
	emit(p, ADD_IMM(BPF_REG_2, -8));
	emit(p, MOV_REG(BPF_REG_3, BPF_REG_10));
	emit(p, ADD_IMM(BPF_REG_3, -12));
	emit(p, MOV_IMM(BPF_REG_4, BPF_ANY));
	emit_map(p, BPF_REG_1, t->tasks_fd);
	emit(p, CALL(BPF_FUNC_map_update_elem));
	leave_if(p, BPF_JEQ, BPF_REG_0, 0);
	/* The map is full: say so in the ledger, the last slot. */
	emit(p, STORE_IMM(BPF_W, BPF_REG_10, -8, (int32_t)t->slot_count - 1));
	count_slot(t, p);
}

/* sched_process_fork(parent, child): the child of one of ours is one of ours. */
static int attach_fork(struct tally *t, uint32_t pid_offset)
{
	struct program p = {};

	emit(&p, MOV_REG(BPF_REG_6, BPF_REG_1));
	find_task(t, &p);
	emit(&p, LOAD(BPF_W, BPF_REG_7, BPF_REG_0, 0));
	emit(&p, STORE(BPF_W, BPF_REG_10, -12, BPF_REG_7));
	emit(&p, MOV_REG(BPF_REG_1, BPF_REG_10));
	emit(&p, ADD_IMM(BPF_REG_1, -8));
	emit(&p, STORE_IMM(BPF_W, BPF_REG_10, -8, 0));
	emit(&p, MOV_IMM(BPF_REG_2, 4));
	emit(&p, LOAD(BPF_DW, BPF_REG_3, BPF_REG_6, 8));
	emit(&p, ADD_IMM(BPF_REG_3, (int32_t)pid_offset));
	emit(&p, CALL(BPF_FUNC_probe_read_kernel));
	put_task(t, &p);
	return finish(t, &p, "sched_process_fork");
}

/*
 * sched_process_exec(task, old_pid): who waited for it counts from now on. A thread that is not its
 * process's first gets the first one's number when it executes a program.
 */
static int attach_exec(struct tally *t)
{
	struct program p = {};

	emit(&p, LOAD(BPF_DW, BPF_REG_7, BPF_REG_1, 8));
	emit(&p, STORE(BPF_W, BPF_REG_10, -4, BPF_REG_7));
	emit(&p, MOV_REG(BPF_REG_2, BPF_REG_10));
	emit(&p, ADD_IMM(BPF_REG_2, -4));
	emit_map(&p, BPF_REG_1, t->tasks_fd);
	emit(&p, CALL(BPF_FUNC_map_delete_elem));
	leave_if(&p, BPF_JNE, BPF_REG_0, 0);
	emit(&p, CALL(BPF_FUNC_get_current_pid_tgid));
	emit(&p, STORE(BPF_W, BPF_REG_10, -8, BPF_REG_0));
	emit(&p, STORE_IMM(BPF_W, BPF_REG_10, -12, TASK_COUNTS));
	put_task(t, &p);
	return finish(t, &p, "sched_process_exec");
}

/* Task numbers are used again: a task that ends must not hand its place to a stranger. */
static int attach_exit(struct tally *t)
{
	struct program p = {};

	find_task(t, &p);
	emit(&p, MOV_REG(BPF_REG_2, BPF_REG_10));
	emit(&p, ADD_IMM(BPF_REG_2, -4));
	emit_map(&p, BPF_REG_1, t->tasks_fd);
	emit(&p, CALL(BPF_FUNC_map_delete_elem));
	return finish(t, &p, "sched_process_exit");
}

/* ---- setting up ---- */

static int seed_tasks(struct tally *t)
{
	uint32_t state = t->tasks.on_exec ? TASK_WAITS_FOR_EXEC : TASK_COUNTS;

	for (size_t i = 0; i < t->tasks.count; i++) {
		uint32_t key = (uint32_t)t->tasks.tasks[i];
		union bpf_attr attr = {.map_fd = (uint32_t)t->tasks_fd,
				       .key = (uint64_t)(uintptr_t)&key,
				       .value = (uint64_t)(uintptr_t)&state};
		int r = bpf_call(BPF_MAP_UPDATE_ELEM, &attr);

		if (r < 0)
			return r;
	}
	return 0;
}

static int follow_tasks(struct tally *t)
{
	uint32_t pid_offset;
	int r;

	t->tasks_fd = new_map(BPF_MAP_TYPE_HASH, 4, TASKS_MAX, BPF_F_NO_PREALLOC);
	if (t->tasks_fd < 0)
		return err_set(t->e, -t->tasks_fd, "BPF map: %s", strerror(-t->tasks_fd));
	r = attach_exit(t);
	if (r == 0 && t->tasks.inherit) {
		r = member_offset(t, "task_struct", "pid", &pid_offset);
		if (r < 0)
			return err_set(t->e, -r, "the kernel has no usable BTF");
		r = attach_fork(t, pid_offset);
	}
	if (r == 0)
		r = attach_exec(t);
	if (r == 0)
		r = seed_tasks(t);
	return r < 0 ? err_set(t->e, -r, "BPF program: %s", strerror(-r)) : 0;
}

/* Slot of a tracepoint: its system call's, or the next free one with a program of its own. */
static bool take_name(struct tally *t, const char *full, uint32_t *next, uint32_t *ret_slot)
{
	const char *name = strchr(full, ':');

	if (!name)
		return false;
	name++;
	if (!strncmp(full, "syscalls:", 9)) {
		bool on_exit = !strncmp(name, "sys_exit_", 9);
		int number = strncmp(name, "sys_enter_", 10) && !on_exit
				     ? -1
				     : find_syscall(name + (on_exit ? 9 : 10));

		if (number < 0 || number >= CALLS_MAX)
			return false;
		*ret_slot = (uint32_t)number + (on_exit ? SLOT_EXIT : SLOT_ENTER);
		return true;
	}
	if (attach_other(t, name, *next) < 0)
		return false;
	*ret_slot = (*next)++;
	return true;
}

static int attach_names(struct tally *t, const char *const *names, bool *taken)
{
	uint32_t next = SLOT_OTHERS;
	bool enter = false, leave = false;
	size_t count = 0;
	int r = 0;

	for (size_t i = 0; i < t->name_count; i++) {
		taken[i] = take_name(t, names[i], &next, &t->slots[i]);
		count += taken[i];
		enter |= taken[i] && t->slots[i] < SLOT_EXIT;
		leave |= taken[i] && t->slots[i] >= SLOT_EXIT && t->slots[i] < SLOT_OTHERS;
	}
	if (!count)
		return err_set(t->e, EOPNOTSUPP, "BPF programs cannot be put on them");
	if (enter)
		r = attach_syscalls(t, false);
	if (r == 0 && leave)
		r = attach_syscalls(t, true);
	return r < 0 ? err_set(t->e, -r, "BPF program: %s", strerror(-r)) : 0;
}

/* The kernel's ids of tasks are ours only in the machine's first pid namespace. */
static bool in_first_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == 0xEFFFFFFC;
}

/* A value of the map has one number for each CPU that there could be, in their order. */
static bool find_cpus(struct tally *t)
{
	CLEANUP(free_ptr) char *text = NULL;

	return fs_read("/sys/devices/system/cpu/possible", CPULIST_BYTES_MAX, &text) == 0 &&
	       parse_cpulist(text, CPU_LIMIT, &t->cpus, &t->cpu_count) && t->cpu_count;
}

int tally_open(const char *const *names, size_t name_count, const struct tally_tasks *tasks,
	       bool *ret_taken, struct tally **ret_tally, struct err *e)
{
	struct tally *t;
	int r = 0;

	if (tasks->count && !in_first_pid_namespace())
		return err_set(e, EOPNOTSUPP, "BPF cannot tell the tasks of this pid namespace");
	t = xcalloc(1, sizeof(*t));
	t->e = e;
	t->tasks = *tasks;
	t->name_count = name_count;
	t->slots = xcalloc(name_count, sizeof(*t->slots));
	t->slot_count = (uint32_t)(SLOT_OTHERS + name_count + 1);
	t->tasks_fd = -1;
	t->counts_fd = new_map(BPF_MAP_TYPE_PERCPU_ARRAY, 8, t->slot_count, 0);
	if (t->counts_fd < 0 || !find_cpus(t))
		r = err_set(e, t->counts_fd < 0 ? -t->counts_fd : EIO,
			    "BPF may not be used here: %s",
			    strerror(t->counts_fd < 0 ? -t->counts_fd : EIO));
	if (r == 0 && tasks->count)
		r = follow_tasks(t);
	if (r == 0)
		r = attach_names(t, names, ret_taken);
	t->e = NULL;
	free(t->btf);
	t->btf = NULL;
	if (r < 0) {
		memset(ret_taken, 0, name_count * sizeof(*ret_taken));
		tally_free(t);
		return r;
	}
	t->values = xcalloc((size_t)t->slot_count * t->cpu_count, sizeof(*t->values));
	t->base = xcalloc((size_t)t->slot_count * t->cpu_count, sizeof(*t->base));
	t->started_ns = tasks->on_exec ? clock_now_ns() : 0;
	*ret_tally = t;
	return 0;
}

void tally_free(struct tally *t)
{
	for (size_t i = 0; i < t->open.len; i++)
		close(t->open.fds[i]);
	free(t->open.fds);
	if (t->counts_fd >= 0)
		close(t->counts_fd);
	if (t->tasks_fd >= 0)
		close(t->tasks_fd);
	free(t->slots);
	free(t->cpus);
	free(t->values);
	free(t->base);
	free(t);
}

static void read_slot(struct tally *t, uint32_t slot)
{
	union bpf_attr attr = {
		.map_fd = (uint32_t)t->counts_fd,
		.key = (uint64_t)(uintptr_t)&slot,
		.value = (uint64_t)(uintptr_t)&t->values[(size_t)slot * t->cpu_count]};

	bpf_call(BPF_MAP_LOOKUP_ELEM, &attr);
}

static void read_slots(struct tally *t)
{
	for (size_t i = 0; i < t->name_count; i++)
		read_slot(t, t->slots[i]);
	read_slot(t, t->slot_count - 1);
}

uint64_t tally_read(struct tally *t)
{
	if (!t->started_ns)
		return 0;
	if (!t->stopped_ns)
		read_slots(t);
	return (t->stopped_ns ? t->stopped_ns : clock_now_ns()) - t->started_ns;
}

void tally_restart(struct tally *t)
{
	t->stopped_ns = 0;
	read_slots(t);
	memcpy(t->base, t->values, (size_t)t->slot_count * t->cpu_count * sizeof(*t->values));
	t->started_ns = clock_now_ns();
}

void tally_stop(struct tally *t)
{
	tally_read(t);
	t->stopped_ns = clock_now_ns();
}

static uint64_t slot_value(const struct tally *t, uint32_t slot, int cpu)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->cpu_count; i++) {
		size_t at = (size_t)slot * t->cpu_count + i;

		if (cpu < 0 || cpu == t->cpus[i])
			sum += t->values[at] - t->base[at];
	}
	return sum;
}

uint64_t tally_value(const struct tally *t, size_t index, int cpu)
{
	return slot_value(t, t->slots[index], cpu);
}

uint64_t tally_missed(const struct tally *t)
{
	return slot_value(t, t->slot_count - 1, -1);
}
