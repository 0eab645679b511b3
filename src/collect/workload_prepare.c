#include "collect/workload_prepare.h"
#include "base/as_user.h"
#include "base/number.h"
#include "base/vec.h"
#include "collect/keep/jvm.h"
#include "perf/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_OF_USERS "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
#define PATH_OF_ROOT  "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

const char *workload_step_text(int step)
{
	static const char *const texts[] = {
		[WORKLOAD_EXEC] = "executing it",
		[WORKLOAD_OUTPUT] = "its output",
		[WORKLOAD_AFFINITY] = "the CPUs that it may use",
		[WORKLOAD_LIMITS] = "its limits",
		[WORKLOAD_USER_UNKNOWN] = "there is no such user",
		[WORKLOAD_USER] = "becoming another user, which only root can",
		[WORKLOAD_DIRECTORY] = "its directory",
	};

	return step >= 0 && (size_t)step < ARRAY_LEN(texts) ? texts[step] : "preparing it";
}

/* Leaves no other descriptor of ours open: a program may close its own and look at others. */
static int redirect(const struct workload_options *o)
{
	int null;

	if (o->to_stderr)
		return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -errno : 0;
	if (!o->captured)
		return 0;
	setsid();
	null = open("/dev/null", O_RDONLY);
	if (null < 0)
		return -errno;
	if (dup2(null, STDIN_FILENO) < 0 || dup2(o->out_fd, STDOUT_FILENO) < 0 ||
	    dup2(o->err_fd, STDERR_FILENO) < 0)
		return -errno;
	if (null > STDERR_FILENO)
		close(null);
	return 0;
}

static int set_affinity(const char *list)
{
	CLEANUP(free_ptr) int *cpus = NULL;
	size_t count = 0, bytes;
	cpu_set_t *set;
	int r;

	if (!parse_cpulist(list, CPU_LIMIT, &cpus, &count))
		return -EINVAL;
	set = CPU_ALLOC(CPU_LIMIT);
	if (!set)
		return -ENOMEM;
	bytes = CPU_ALLOC_SIZE(CPU_LIMIT);
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < count; i++)
		CPU_SET_S((size_t)cpus[i], bytes, set);
	r = sched_setaffinity(0, bytes, set) ? -errno : 0;
	CPU_FREE(set);
	return r;
}

/* Sets the soft and the hard limit; a lower hard limit stays. */
static int set_limit(__rlimit_resource_t resource, uint64_t value)
{
	struct rlimit limit;

	if (!value)
		return 0;
	if (getrlimit(resource, &limit))
		return -errno;
	if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < value)
		value = limit.rlim_max;
	limit = (struct rlimit){(rlim_t)value, (rlim_t)value};
	return setrlimit(resource, &limit) ? -errno : 0;
}

static int set_limits(const struct workload_options *o)
{
	int r = set_limit(RLIMIT_CPU, o->cpu_s);

	if (r == 0)
		r = set_limit(RLIMIT_AS, o->memory_bytes);
	if (r == 0)
		r = set_limit(RLIMIT_NOFILE, o->files);
	if (r == 0)
		r = set_limit(RLIMIT_NPROC, o->processes);
	return r < 0 ? r : set_limit(RLIMIT_FSIZE, o->file_bytes);
}

static const struct passwd *find_user(const char *name)
{
	const struct passwd *user = getpwnam(name);
	uint64_t number;

	if (!user && parse_u64(name, &number) && number < UINT32_MAX)
		user = getpwuid((uid_t)number);
	return user;
}

void workload_presume_rights(const char *name)
{
	struct user_ids user = {};
	bool found = name && user_ids_find(name, &user);

	if (geteuid() != 0 && (!found || user.uid == geteuid()))
		rights_presume_asker();
	else if (found && user.uid)
		rights_presume_user(&user);
	user_ids_release(&user);
}

/* Of our environment: the language, the time zone, the terminal, and the mark by which processes of a run
 * are found. A name that ends in '_' stands for all that begin so. */
static bool is_for_everybody(const char *variable)
{
	static const char *const names[] = {"LANG=", "LANGUAGE=", "LC_",
					    "TZ=",   "TERM=",     "RUN_BY_TACHO="};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

/* As `su -` does: what is in our environment may be secret, and says where our own files are. */
static void change_environment(const struct passwd *user)
{
	const char *java = getenv("JAVA_TOOL_OPTIONS");
	bool for_jvms = java && strstr(java, JVM_OPTIONS);
	VEC(char *) kept = {};

	for (char **variable = environ; *variable; variable++)
		if (is_for_everybody(*variable))
			vec_push(&kept, xstrdup(*variable));
	clearenv();
	vec_each(&kept, variable)
		putenv(*variable);
	vec_release(&kept);
	if (for_jvms)
		jvm_set_environment();
	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
	setenv("SHELL", *user->pw_shell ? user->pw_shell : "/bin/sh", 1);
	setenv("PATH", user->pw_uid ? PATH_OF_USERS : PATH_OF_ROOT, 1);
}

static int become(const struct passwd *user)
{
	if (user->pw_uid == geteuid() && user->pw_gid == getegid())
		return 0;
	if (initgroups(user->pw_name, user->pw_gid) ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return -errno;
	/* The session's keyring would still be ours, with keys that only we may read. Where the system refuses
	 * keyrings (ENOSYS, EPERM of a container), programs get at none either. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM)
		return -errno;
	change_environment(user);
	return 0;
}

static int enter_directory(const struct workload_options *o, const struct passwd *user)
{
	if (o->cwd)
		return chdir(o->cwd) ? -errno : 0;
	if (!o->captured)
		return 0;
	if (!user)
		user = getpwuid(geteuid());
	/* A missing home directory must not keep the workload from running. */
	if ((!user || chdir(user->pw_dir)) && chdir("/"))
		return -errno;
	return 0;
}

int workload_prepare(const struct workload_options *o, int *ret_step)
{
	const struct passwd *user = NULL;
	int r = redirect(o);

	*ret_step = WORKLOAD_OUTPUT;
	if (r == 0 && o->affinity) {
		*ret_step = WORKLOAD_AFFINITY;
		r = set_affinity(o->affinity);
	}
	if (r == 0 && o->user) {
		*ret_step = WORKLOAD_USER_UNKNOWN;
		user = find_user(o->user);
		if (!user)
			return -ENOENT;
		*ret_step = WORKLOAD_USER;
		r = become(user);
	}
	if (r == 0) {
		*ret_step = WORKLOAD_DIRECTORY;
		r = enter_directory(o, user);
	}
	/* Set limits after all steps that need files, as the user whose processes count. */
	if (r == 0) {
		*ret_step = WORKLOAD_LIMITS;
		r = set_limits(o);
	}
	for (char *const *variable = o->env; r == 0 && variable && *variable; variable++)
		putenv(*variable);
	return r;
}
