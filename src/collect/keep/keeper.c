#include "collect/keep/keeper.h"
#include "base/caps.h"
#include "base/clock.h"
#include "collect/keep/ids.h"
#include "collect/keep/jvm.h"
#include "collect/keep/internal.h"
#include "collect/keep/mapping_watch.h"
#include "perf/process.h"
#include "perf/rights.h"
#include "symbol/jit_keep.h"
#include "symbol/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAIN_PROCESSES_MAX 4096u
/* How often the watch is read: processes that live shorter leave next to no samples. */
#define WATCH_NS (10 * NS_PER_MSEC)
/* How long the thread copies at the end, and how long we wait for it if a file system hangs. */
#define COPY_NS  (5 * NS_PER_SEC)
#define FINISH_S 10

/* A process of interest: of another namespace, or one that makes code. */
struct kept_process {
	uint32_t pid;
	bool foreign, jit, jvm;
	uint64_t looked_ns;          /* when its namespace was looked at */
	struct process_facts facts;  /* pid 0: it was gone before we could look */
	const struct rights *rights; /* NULL: it was not looked at */
	uint64_t first_ns;           /* wall clock: it surely ran at that time; 0: unknown */
	int tmp_fd;                  /* its /tmp, if that is not ours, else -1 */
	int jitdump_fd;
};

typedef VEC(struct seen_mapping) mapping_list;

struct keeper {
	struct keeper_options o;
	struct mapping_watch *watch;
	pthread_t thread;
	bool started;
	/* Protected by the lock: */
	pthread_mutex_t lock;
	pthread_cond_t news;
	mapping_list queue;
	bool ending;
	bool handling;           /* mappings were taken and are being looked at */
	uint64_t wanted, served; /* requests to catch up: made, and done */
	pthread_cond_t caught_up;
	struct file_ids ids;
	/* Belongs to the thread, and after its end to keeper_finish(): */
	VEC(struct kept_process) processes;
	struct slots by_pid;
	size_t processes_max; /* from then on, processes of which nothing is kept are forgotten */
	struct held_files files;
	struct stat own_mounts, own_root;
};

struct keeper *keeper_new(const struct keeper_options *options)
{
	struct keeper *k = xcalloc(1, sizeof(*k));
	pthread_condattr_t attr;

	k->o = *options;
	k->processes_max = PLAIN_PROCESSES_MAX;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->news, &attr);
	pthread_cond_init(&k->caught_up, &attr);
	pthread_condattr_destroy(&attr);
	k->files.ids_only = options->no_copies;
	k->files.by_process = options->callers_unknown;
	if (!options->no_copies)
		k->files.directory = jit_keep_dir(options->wall_ns);
	if (stat("/proc/self/ns/mnt", &k->own_mounts) || stat("/proc/self/root", &k->own_root))
		k->own_mounts.st_ino = 0;
	/* The watch must exist before the workload runs. Build ids alone do not need it: it is
	 * early enough to read them in the rounds. */
	if (!options->no_copies || options->ask_jvms || options->told_jvms)
		k->watch = mapping_watch_open(options->target, options->topology);
	return k;
}

/* ---- mappings that are seen ---- */

static struct file_identity identity_of(const struct record *r)
{
	return (struct file_identity){.major = r->mmap.major,
				      .minor = r->mmap.minor,
				      .inode = r->mmap.inode,
				      .generation = r->mmap.inode_generation};
}

bool keeper_build_id(struct keeper *k, const struct record *r, struct build_id *ret_id)
{
	struct file_identity f = identity_of(r);
	const struct build_id *known;
	uint64_t time_ns = r->has_id ? r->id.time_ns : 0;

	if (!f.inode || r->mmap.filename[0] != '/')
		return false;
	/* Times of perf's own clock cannot be compared with ours: take the newest id. */
	if (time_ns && !k->o.wall_ns)
		time_ns = UINT64_MAX;
	pthread_mutex_lock(&k->lock);
	known = file_ids_find(&k->ids, &f, time_ns);
	if (known)
		*ret_id = *known;
	pthread_mutex_unlock(&k->lock);
	return known;
}

static void add_mapping(mapping_list *list, const struct record *r)
{
	struct seen_mapping m = {.pid = r->mmap.pid,
				 .start = r->mmap.start,
				 .length = r->mmap.length,
				 .time_ns = r->has_id ? r->id.time_ns : 0,
				 .identity = identity_of(r)};

	if (r->mmap.build_id && r->mmap.build_id_size <= sizeof(m.id.bytes)) {
		m.id.size = r->mmap.build_id_size;
		memcpy(m.id.bytes, r->mmap.build_id, m.id.size);
	}
	m.path = xstrdup(r->mmap.filename);
	vec_push(list, m);
}

/* Only executable mappings of processes are kept; [vdso] and the like are not. */
static bool concerns_us(const struct record *r)
{
	return r->type == PERF_RECORD_MMAP2 && (int32_t)r->mmap.pid > 0 &&
	       r->mmap.prot & PROT_EXEC && strncmp(r->mmap.filename, "[v", 2);
}

bool keeper_must_be_told(const struct keeper *k)
{
	return !k->watch || mapping_watch_has_lost(k->watch);
}

void keeper_see(struct keeper *k, const struct record *r)
{
	/* The watch reports new mappings itself. Those that existed before have no time. */
	if (!concerns_us(r) || (!keeper_must_be_told(k) && r->has_id && r->id.time_ns))
		return;
	pthread_mutex_lock(&k->lock);
	if (k->queue.len < KEEPER_QUEUE_MAX)
		add_mapping(&k->queue, r);
	pthread_cond_signal(&k->news);
	pthread_mutex_unlock(&k->lock);
}

/* The caller must hold the lock. */
static bool has_news(const struct keeper *k)
{
	return k->handling || k->queue.len || (k->watch && mapping_watch_has_news(k->watch));
}

void keeper_catch_up(struct keeper *k, uint64_t limit_ns, bool patient)
{
	uint64_t due = clock_now_ns() + limit_ns, wanted;
	struct timespec until = {.tv_sec = (time_t)(due / NS_PER_SEC),
				 .tv_nsec = (long)(due % NS_PER_SEC)};
	int late = 0;

	pthread_mutex_lock(&k->lock);
	if (k->started && has_news(k) && (patient || k->served == k->wanted)) {
		wanted = ++k->wanted;
		pthread_cond_signal(&k->news);
		while (k->served < wanted && !late)
			late = pthread_cond_timedwait(&k->caught_up, &k->lock, &until);
	}
	pthread_mutex_unlock(&k->lock);
}

static void see_watched(void *ctx, const struct record *r)
{
	if (concerns_us(r))
		add_mapping(ctx, r);
}

/* ---- processes ---- */

static bool differs(uint32_t pid, const char *name, const struct stat *own)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%u/%s", pid, name);
	struct stat st;
	bool seen;

	caps_raise();
	seen = !stat(path, &st);
	caps_lower();
	return seen && (st.st_dev != own->st_dev || st.st_ino != own->st_ino);
}

static uint64_t hash_of_pid(uint32_t pid)
{
	return hash_mix(pid, hash_seed());
}

/* Forgets processes of which nothing is kept: builds start thousands a minute, and hardly any of
 * them makes code. A forgotten process that maps something more is looked at again. */
static void forget_plain(struct keeper *k)
{
	size_t kept = 0;

	slots_release(&k->by_pid);
	vec_each(&k->processes, p) {
		if (!p->jit && !p->jvm && p->tmp_fd < 0 && p->jitdump_fd < 0)
			continue;
		k->processes.items[kept++] = *p;
		slots_add(&k->by_pid, hash_of_pid(p->pid), (uint32_t)kept);
	}
	k->processes.len = kept;
	k->processes_max = 2 * kept + PLAIN_PROCESSES_MAX;
}

static struct kept_process *find_process(struct keeper *k, uint32_t pid)
{
	uint64_t hash = hash_of_pid(pid);
	size_t at = slots_begin(&k->by_pid, hash);
	uint32_t number;

	while ((number = slots_next(&k->by_pid, hash, &at)))
		if (k->processes.items[number - 1].pid == pid)
			return &k->processes.items[number - 1];
	if (k->processes.len >= k->processes_max)
		forget_plain(k);
	if (k->processes.len >= KEEPER_PROCESSES_MAX)
		return NULL;
	vec_push(&k->processes, (struct kept_process){.pid = pid, .tmp_fd = -1, .jitdump_fd = -1});
	slots_add(&k->by_pid, hash, (uint32_t)k->processes.len);
	return &k->processes.items[k->processes.len - 1];
}

/* Reads what can only be read while the process lives. */
static void look_closer(struct kept_process *p)
{
	if (!p->rights)
		p->rights = rights_of_process(p->pid);
	if (!p->facts.pid && (!process_read(p->pid, &p->facts) || p->facts.pid != p->pid))
		p->facts.pid = 0;
	if (p->foreign && p->tmp_fd < 0)
		p->tmp_fd = process_open(p->pid, "/tmp", O_PATH | O_DIRECTORY);
}

static bool is_made_code(const char *path)
{
	return !strncmp(path, "//anon", 6) || path[0] == '[' || !strncmp(path, "/memfd:", 7) ||
	       !strncmp(path, "/dev/zero", 9) || !strncmp(path, "/SYSV", 5);
}

static bool is_jitdump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t len = strlen(path);

	return name && !strncmp(name, "/jit-", 5) && len > 5 && !strcmp(path + len - 5, ".dump");
}

static void note_time(struct keeper *k, struct kept_process *p, uint64_t time_ns)
{
	if (!p->first_ns && time_ns >= k->o.clock_ns)
		p->first_ns = k->o.wall_ns + (time_ns - k->o.clock_ns);
}

/* A process may change its namespace at any time, so only a look after the mapping counts. */
static void look_at_namespace(struct keeper *k, struct kept_process *p, uint64_t time_ns)
{
	if (p->foreign || !k->own_mounts.st_ino || (p->looked_ns && time_ns <= p->looked_ns))
		return;
	p->looked_ns = clock_now_ns();
	p->foreign =
		differs(p->pid, "ns/mnt", &k->own_mounts) || differs(p->pid, "root", &k->own_root);
}

/*
 * Converts a monotonic time to wall time by the clocks as they are now: the wall clock may have
 * been set since the recording began, or the machine may have slept. The monotonic clock is read
 * first, so that a pause between the two makes the result late, never early: else a file that was
 * just written would count as written after its mapping.
 */
static uint64_t wall_time_of(uint64_t time_ns)
{
	uint64_t mono, wall;

	for (int i = 0; i < 10; i++) {
		mono = clock_now_ns();
		wall = clock_ns_of(CLOCK_REALTIME);
		if (clock_now_ns() - mono < NS_PER_MSEC / 10)
			break;
	}
	return wall - (mono - time_ns);
}

static void look_at_file(struct keeper *k, struct seen_mapping *m, bool foreign)
{
	struct file_version version = {};

	if (k->o.wall_ns && m->time_ns >= k->o.clock_ns)
		m->wall_ns = wall_time_of(m->time_ns);
	if (!held_files_see(&k->files, m, foreign, &version) || !m->identity.inode)
		return;
	pthread_mutex_lock(&k->lock);
	file_ids_add(&k->ids, &m->identity, version.from_ns, &version.id);
	pthread_mutex_unlock(&k->lock);
}

static void handle(struct keeper *k, struct seen_mapping *m)
{
	struct kept_process *p = find_process(k, m->pid);

	if (!p)
		return;
	look_at_namespace(k, p, m->time_ns);
	note_time(k, p, m->time_ns);
	if (is_made_code(m->path)) {
		p->jit = true;
	} else if (is_jitdump(m->path)) {
		p->jit = true;
		if (p->foreign && p->jitdump_fd < 0)
			p->jitdump_fd = open_through(m->pid, m->path, true);
	} else if (m->path[0] == '/') {
		p->jvm |= jvm_is_library(m->path);
		look_at_file(k, m, p->foreign);
	}
	if (p->jit || p->jvm)
		look_closer(p);
}

/* ---- the thread ---- */

/* Takes new mappings; waits a moment if there are none. Returns false when the thread must end. */
static bool take_news(struct keeper *k, mapping_list *ret, bool busy, uint64_t *ret_wanted)
{
	struct timespec until;
	uint64_t due = clock_now_ns() + WATCH_NS;
	bool ending;

	until.tv_sec = (time_t)(due / NS_PER_SEC);
	until.tv_nsec = (long)(due % NS_PER_SEC);
	pthread_mutex_lock(&k->lock);
	if (!k->queue.len && !k->ending && !busy && k->served == k->wanted) {
		if (k->watch)
			pthread_cond_timedwait(&k->news, &k->lock, &until);
		else
			pthread_cond_wait(&k->news, &k->lock);
	}
	*ret = k->queue;
	memset(&k->queue, 0, sizeof(k->queue));
	ending = k->ending;
	*ret_wanted = k->wanted;
	k->handling = true;
	pthread_mutex_unlock(&k->lock);
	if (k->watch)
		mapping_watch_read(k->watch, see_watched, ret);
	return !ending;
}

static void tell_served(struct keeper *k, uint64_t wanted)
{
	pthread_mutex_lock(&k->lock);
	k->handling = false;
	k->served = wanted;
	pthread_cond_broadcast(&k->caught_up);
	pthread_mutex_unlock(&k->lock);
}

static void *thread_main(void *arg)
{
	struct keeper *k = arg;
	bool busy = false, more = true;
	uint64_t end_ns;

	while (more) {
		mapping_list news = {};
		uint64_t wanted;

		more = take_news(k, &news, busy, &wanted);
		vec_each(&news, m) {
			handle(k, m);
			free(m->path);
		}
		vec_release(&news);
		tell_served(k, wanted);
		/* Copy one file at a time: new mappings must be opened soon. */
		busy = held_files_copy_one(&k->files);
	}
	end_ns = clock_now_ns() + COPY_NS;
	while (clock_now_ns() < end_ns && held_files_copy_one(&k->files))
		;
	return NULL;
}

void keeper_start(struct keeper *k)
{
	sigset_t all, before;

	/* Signals are for the first thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	k->started = !pthread_create(&k->thread, NULL, thread_main, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- the end ---- */

static bool end_thread(struct keeper *k)
{
	struct timespec until;

	if (!k->started)
		return true;
	pthread_mutex_lock(&k->lock);
	k->ending = true;
	pthread_cond_signal(&k->news);
	pthread_mutex_unlock(&k->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += FINISH_S;
	return !pthread_timedjoin_np(k->thread, NULL, &until);
}

static size_t ask_jvms(struct keeper *k, strvec *notes)
{
	VEC(pid_t) pids = {};
	size_t seen = 0;

	vec_each(&k->processes, p)
		if (p->jvm) {
			seen++;
			vec_push(&pids, (pid_t)p->pid);
		}
	if (k->o.ask_jvms)
		jvm_ask_for_maps(pids.items, pids.len, &system_clock, notes);
	vec_release(&pids);
	return seen;
}

/* The latest time at which the process is known to have begun or run: its map cannot be older. */
static uint64_t beginning_of(const struct kept_process *p)
{
	uint64_t start = p->facts.pid ? p->facts.start_ns : 0;

	return p->first_ns > start ? p->first_ns : start;
}

static int open_map(const struct kept_process *p, int *ret_fd, struct err *e)
{
	uint32_t uid = p->facts.pid ? p->facts.uid : PERF_MAP_UID_UNKNOWN;
	uint32_t inside = p->facts.pid ? p->facts.pid_inside : p->pid;
	const struct rights *rights = p->rights ? p->rights : rights_of_unknown();
	/* With the rights of the process, paths lead below its own root directory. */
	bool held = p->tmp_fd >= 0 && rights_are_own(rights);
	CLEANUP(free_ptr)
	char *path = held ? xasprintf("/proc/self/fd/%d/perf-%u.map", p->tmp_fd, inside)
			  : xasprintf("/tmp/perf-%u.map", inside);

	/* A file in our /tmp is not that of a foreign process. */
	if (p->foreign && !held && (rights_are_own(rights) || rights == rights_of_unknown()))
		return -ENOENT;
	return perf_map_open_path(path, rights, uid, beginning_of(p), ret_fd, e);
}

/* Copies the perf map. Returns true if there is one; adds to @notes why one was refused. */
static bool keep_map(struct keeper *k, const struct kept_process *p, const char *dir, strvec *notes)
{
	CLEANUP(free_ptr) char *name = xasprintf("perf-%u.map", p->pid);
	struct err e = {};
	int fd, r = open_map(p, &fd, &e);

	if (r == 0) {
		if (dir && jit_keep_file(dir, name, fd, &e) < 0)
			held_files_fail(&k->files, &e);
		close(fd);
		return true;
	}
	if (r == -ESTALE || r == -EPERM)
		vec_push(notes, xstrdup(e.text));
	return false;
}

static void keep_jitdump(struct keeper *k, const struct kept_process *p, const char *dir)
{
	CLEANUP(free_ptr) char *name = xasprintf("jit-%u.dump", p->pid);

	struct err e = {};

	if (p->jitdump_fd >= 0 && dir && jit_keep_file(dir, name, p->jitdump_fd, &e) < 0)
		held_files_fail(&k->files, &e);
}

static void say_of_jvms(const struct keeper *k, size_t seen, size_t nameless, strvec *notes)
{
	if (seen && k->o.told_jvms)
		vec_push(notes, xstrdup("Java was told by JAVA_TOOL_OPTIONS to keep frame pointers "
					"and to name its code (--no-jvm leaves it alone)"));
	if (nameless)
		vec_push(notes,
			 xasprintf("%zu JVM%s left no names of %s Java code: no perf map was "
				   "written (-XX:+DumpPerfMapAtExit, JDK 17 or later; nor if it "
				   "is killed)",
				   nameless, nameless == 1 ? "" : "s",
				   nameless == 1 ? "its" : "their"));
}

static void say_of_files(struct keeper *k, strvec *notes)
{
	size_t left = k->files.refused;

	for (size_t i = k->files.copied; i < k->files.files.len; i++)
		left += !k->files.files.items[i].path;
	if (k->files.rewritten)
		vec_push(notes, xasprintf("%llu program%s overwritten during the recording: "
					  "functions of the code that is gone will have no names",
					  (unsigned long long)k->files.rewritten,
					  k->files.rewritten == 1 ? " was" : "s were"));
	if (k->files.failed)
		vec_push(notes,
			 xasprintf("%llu file%s that may be gone or rebuilt later %s not kept: %s",
				   (unsigned long long)k->files.failed,
				   k->files.failed == 1 ? "" : "s",
				   k->files.failed == 1 ? "was" : "were", k->files.failure.text));
	if (left)
		vec_push(notes, xasprintf("%zu program%s that may be gone or rebuilt later %s not "
					  "kept: too large, too many or too slow to copy",
					  left, left == 1 ? "" : "s", left == 1 ? "was" : "were"));
}

static void keep_all(struct keeper *k, const struct keeper_end *end, strvec *notes)
{
	CLEANUP(free_ptr) char *dir = k->o.no_copies ? NULL : jit_keep_dir(k->o.wall_ns);
	size_t seen = ask_jvms(k, notes), nameless = 0, kept = 0, reasons = notes->len;

	vec_each(&k->processes, p) {
		if (!p->jit && !p->jvm)
			continue;
		if (keep_map(k, p, dir, notes))
			kept++;
		else if (p->jvm)
			nameless++;
		keep_jitdump(k, p, dir);
	}
	/* If reasons were given already, do not report missing names again. */
	say_of_jvms(k, seen, notes->len == reasons ? nameless : 0, notes);
	held_files_copy_hit(&k->files, end->hits, clock_now_ns() + COPY_NS);
	say_of_files(k, notes);
	if (kept || k->files.bytes)
		keep_trim(k->o.wall_ns);
}

void keeper_finish(struct keeper *k, const struct keeper_end *end, strvec *notes)
{
	k->o.ask_jvms &= !end->hurried;
	if (!end_thread(k)) {
		vec_push(notes, xstrdup("a file system does not answer: programs of other "
					"namespaces may have no names later"));
		return; /* the thread still uses @k; the process is about to end */
	}
	keep_all(k, end, notes);
	vec_each(&k->processes, p) {
		if (p->tmp_fd >= 0)
			close(p->tmp_fd);
		if (p->jitdump_fd >= 0)
			close(p->jitdump_fd);
	}
	mapping_watch_close(k->watch);
	held_files_release(&k->files);
	slots_release(&k->by_pid);
	vec_release(&k->processes);
	vec_each(&k->queue, m)
		free(m->path);
	vec_release(&k->queue);
	pthread_mutex_destroy(&k->lock);
	pthread_cond_destroy(&k->news);
	pthread_cond_destroy(&k->caught_up);
	file_ids_release(&k->ids);
	free(k);
}
