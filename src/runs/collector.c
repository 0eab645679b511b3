#include "runs/internal.h"
#include "base/clock.h"
#include "collect/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Samples come in bursts; when the socket is full the collector spills to a file. */
#define SOCKET_BYTES (4 << 20)

void active_free(struct active *a)
{
	channel_release(&a->channel);
	if (a->pid_fd >= 0)
		close(a->pid_fd);
	vec_each(&a->overlaps, o)
		free(o->command);
	vec_release(&a->overlaps);
	deposit_release(&a->deposit);
	vec_release(&a->arrived);
	vec_release(&a->releasers);
	buf_release(&a->bytes);
	free(a->ledger);
	stored_run_release(&a->run);
	free(a);
}

/* ---- the environment of a workload ---- */

/* Returns true for variables that concern only this server: its settings, and those of systemd. */
static bool is_ours(const char *variable)
{
	static const char *const prefixes[] = {
		"TACHO_",         "LISTEN_",         "NOTIFY_SOCKET=", "WATCHDOG_",
		"INVOCATION_ID=", "JOURNAL_STREAM=", "RUN_BY_TACHO="};
	static const char *const passed_on[] = {"TACHO_SYSFS=", "TACHO_PROCFS="};

	for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
		if (!strncmp(variable, passed_on[i], strlen(passed_on[i])))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

char *run_mark(const char *uuid)
{
	return xasprintf("RUN_BY_TACHO=%s", uuid);
}

static void make_environment(const struct run_host *host, const char *uuid, strvec *ret)
{
	const strvec *modifiers_wanted = host->settings.default_modifiers;
	struct buf modifiers = {};

	for (char **v = environ; *v; v++)
		if (!is_ours(*v))
			vec_push(ret, xstrdup(*v));
	for (size_t i = 0; modifiers_wanted && i < modifiers_wanted->len; i++)
		buf_addf(&modifiers, "%s%s", modifiers.len ? "," : "TACHO_DEFAULT_MODIFIERS=",
			 modifiers_wanted->items[i]);
	if (modifiers.len)
		vec_push(ret, buf_steal(&modifiers));
	vec_push(ret, run_mark(uuid));
	vec_push(ret, NULL);
}

/* ---- starting ---- */

static int spawn(struct runs *r, const char *uuid, int channel_fd, pid_t *ret_pid)
{
	CLEANUP(strvec_release) strvec env = {};
	char *argv[] = {r->program, (char *)"collect", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int code;

	sigfillset(&all);
	sigemptyset(&none);
	make_environment(r->host, uuid, &env);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, channel_fd, RUN_CHANNEL_FD);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, RUN_CHANNEL_FD + 1);
	posix_spawnattr_init(&attr);
	/* A process group of its own: Ctrl-C in the terminal must reach only the server. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	code = posix_spawn(ret_pid, r->program, &actions, &attr, argv, env.items);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -code;
}

/* As the user is now: a role may have changed while the run waited. */
static int add_rights(struct active *a, json_t *order, struct err *e)
{
	const struct run_settings *c = &a->runs->host->settings;
	int role = 0, rc = 0;

	if (c->run_as)
		json_object_set_new(order, "run_as", json_string(c->run_as));
	if (!c->unrestricted_role)
		return 0;
	if (a->run.user)
		rc = store_user_role(a->runs->store, a->run.user, &role, e);
	json_object_set_new(order, "restricted", json_boolean(role < c->unrestricted_role));
	return rc;
}

static int send_plan(struct active *a, struct err *e)
{
	const struct run_settings *c = &a->runs->host->settings;
	CLEANUP(free_ptr) char *name = raw_name(a->run.uuid);
	CLEANUP(free_ptr) char *raw = xasprintf("%s/%s", c->data, name);
	CLEANUP(free_ptr) char *spill = xasprintf("%s/spill", c->data);
	CLEANUP(buf_release) struct buf body = {};
	json_t *plan = json_loads(a->run.plan ? a->run.plan : "", 0, NULL), *all = json_object();
	char *text;
	int rc;

	if (!json_is_object(plan)) {
		json_decref(plan);
		json_decref(all);
		return err_set(e, EINVAL,
			       "The stored plan of this run is damaged. Submit the run again.");
	}
	a->import = json_object_get(plan, "import") != NULL;
	/* An import cannot stream: samples get names only after the whole file was read. */
	a->streaming = !a->import && !json_is_false(json_object_get(plan, "streaming"));
	json_object_set_new(all, "plan", plan);
	json_object_set_new(all, "spill", json_string(spill));
	json_object_set_new(all, "output_bytes", json_integer((json_int_t)c->output_bytes));
	if (a->import)
		json_object_set_new(all, "import", json_string(raw));
	else if (json_is_true(json_object_get(plan, "keep_raw")))
		json_object_set_new(all, "raw", json_string(raw));
	json_object_set_new(all, "private", json_boolean(c->private));
	rc = add_rights(a, all, e);
	text = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	buf_add(&body, text ? text : "");
	free(text);
	if (rc < 0)
		return rc;
	rc = channel_send(&a->channel, RUN_PLAN, 0, &body);
	return rc < 0 ? err_set(e, -rc, "the collector does not listen: %s", strerror(-rc)) : 0;
}

static int begin(struct active *a, struct err *e)
{
	int pair[2], size = SOCKET_BYTES, rc;
	struct rlimit files;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_set(e, errno, "cannot make a channel to a collector: %s",
			       strerror(errno));
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	rc = spawn(a->runs, a->run.uuid, pair[1], &a->pid);
	close(pair[1]);
	if (rc < 0) {
		close(pair[0]);
		return err_set(e, -rc, "cannot run '%s': %s", a->runs->program, strerror(-rc));
	}
	channel_init(&a->channel, pair[0]);
	a->channel.body_max = RUN_MESSAGE_BYTES_MAX;
	a->pid_fd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	if (a->pid_fd < 0)
		rc = err_set(e, errno, "cannot watch the collector: %s", strerror(errno));
	/* The collector starts nothing before it has the plan: by then the limit is restored. */
	if (rc == 0 && getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    a->runs->host->settings.files_soft) {
		files.rlim_cur = a->runs->host->settings.files_soft;
		prlimit(a->pid, RLIMIT_NOFILE, &files, NULL);
	}
	if (rc == 0)
		rc = send_plan(a, e);
	if (rc < 0 || loop_watch(a->runs, a->channel.fd, a) < 0 ||
	    loop_watch(a->runs, a->pid_fd, a) < 0) {
		kill(a->pid, SIGKILL);
		waitpid(a->pid, NULL, 0);
		return rc < 0 ? rc : err_set(e, ENOMEM, "cannot wait for the collector");
	}
	a->channel_watched = true;
	return 0;
}

int collector_start(struct runs *r, struct stored_run *run, struct active **ret, struct err *e)
{
	struct active *a = xcalloc(1, sizeof(*a));
	int rc;

	*a = (struct active){.runs = r, .run = *run, .pid_fd = -1, .channel = {.fd = -1}};
	a->begun_ns = a->look_ns = runs_now_ns(r);
	a->expected_s = queue_expected_s(r->store, run->command, run->plan);
	rc = begin(a, e);
	if (rc < 0) {
		a->run = (struct stored_run){};
		active_free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

/* ---- ending ---- */

void collector_stop(struct active *a, bool now)
{
	CLEANUP(buf_release) struct buf body = {};
	uint64_t kill_ns = runs_now_ns(a->runs) + STOP_PATIENCE_MS * NS_PER_MSEC;

	body_u32(&body, now);
	channel_send(&a->channel, RUN_STOP, 0, &body);
	if (!a->kill_ns || kill_ns < a->kill_ns)
		a->kill_ns = kill_ns;
}

void collector_look(struct active *a, uint64_t now)
{
	if (a->exited || now < a->look_ns + LOOK_MS * NS_PER_MSEC)
		return;
	a->look_ns = now;
	if (!task_continue(a->pid))
		a->held = 0;
	else if (++a->held >= HELD_MAX)
		tree_kill(a->pid, true, 0);
}

static void explain(int status, struct buf *out)
{
	if (WIFSIGNALED(status))
		buf_addf(out, "The collector was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		buf_addf(out, "The collector ended with status %d", WEXITSTATUS(status));
	buf_add(out,
		" before the run was over. Its workload was ended; what had been measured until "
		"then is kept.");
}

void collector_bury(struct active *a)
{
	CLEANUP(buf_release) struct buf why = {};
	int status = 0;

	a->exited = true;
	waitpid(a->pid, &status, 0);
	a->kill_ns = 0;
	if (a->said_end && WIFEXITED(status)) {
		collector_adopt_orphans(a->runs);
		return;
	}
	explain(status, &why);
	ingest_over(a,
		    a->cancelled ? STATE_CANCELLED
		    : a->cut     ? STATE_INTERRUPTED
				 : STATE_FAILED,
		    why.s);
	collector_end_orphans(a->runs);
}

static bool is_known(const struct runs *r, pid_t pid)
{
	vec_each(&r->active, a)
		if ((*a)->pid == pid && !(*a)->exited)
			return true;
	vec_each(&r->left_alone, p)
		if (*p == pid)
			return true;
	return false;
}

/* Lists children that we did not start: the kernel gave them to us when their parent ended. */
static void list_orphans(struct runs *r, pid_list *ret)
{
	CLEANUP(strvec_release) strvec tasks = {};

	fs_list("/proc/self/task", &tasks);
	vec_each(&tasks, task) {
		CLEANUP(free_ptr) char *path = xasprintf("/proc/self/task/%s/children", *task);
		CLEANUP(free_ptr) char *children = NULL;

		if (fs_read(path, (size_t)1 << 20, &children) < 0)
			continue;
		for (char *at = children, *end; *at; at = end) {
			long pid = strtol(at, &end, 10);

			if (end == at)
				break;
			if (pid > 0 && !is_known(r, (pid_t)pid))
				vec_push(ret, (pid_t)pid);
		}
	}
}

struct burial {
	struct runs *runs;
	pid_list pids;
};

static void *bury(void *arg)
{
	struct burial *b = arg;

	vec_each(&b->pids, pid)
		tree_end(*pid, true, 0);
	vec_each(&b->pids, pid)
		waitpid(*pid, NULL, WNOHANG);
	pthread_mutex_lock(&b->runs->lock);
	b->runs->burials--;
	pthread_cond_broadcast(&b->runs->answered);
	pthread_mutex_unlock(&b->runs->lock);
	vec_release(&b->pids);
	free(b);
	return NULL;
}

void collector_end_orphans(struct runs *r)
{
	struct burial *b = xcalloc(1, sizeof(*b));
	pthread_attr_t attr;
	pthread_t thread;

	list_orphans(r, &b->pids);
	if (!b->pids.len) {
		free(b);
		return;
	}
	b->runs = r;
	pthread_mutex_lock(&r->lock);
	r->burials++;
	pthread_mutex_unlock(&r->lock);
	/* In a thread: waiting for processes that ignore SIGTERM must not delay other runs. */
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attr, bury, b))
		bury(b);
	pthread_attr_destroy(&attr);
}

void collector_adopt_orphans(struct runs *r)
{
	pid_list found = {};

	/* Reap those that have ended meanwhile. */
	for (size_t i = 0; i < r->left_alone.len;) {
		if (waitpid(r->left_alone.items[i], NULL, WNOHANG))
			r->left_alone.items[i] = r->left_alone.items[--r->left_alone.len];
		else
			i++;
	}
	list_orphans(r, &found);
	vec_each(&found, pid)
		if (!waitpid(*pid, NULL, WNOHANG))
			vec_push(&r->left_alone, *pid);
	vec_release(&found);
}
