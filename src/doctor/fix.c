/* What --fix does. Every row says what it changes and how to keep that after a reboot. */
#include "doctor/doctor.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define TRACEFS_DIR "/sys/kernel/tracing"
#define SYSCTL_FILE "/etc/sysctl.d/60-tacho.conf"

const struct fix fixes[] = {
	{.name = "tracefs",
	 .harmless = true,
	 .keep_file = "/etc/fstab",
	 .keep_line = "tracefs " TRACEFS_DIR " tracefs nosuid,nodev,noexec 0 0"},
	{.name = "paranoid",
	 .file = "/proc/sys/kernel/perf_event_paranoid",
	 .value = "1",
	 .keep_file = SYSCTL_FILE,
	 .keep_line = "kernel.perf_event_paranoid = 1"},
	{.name = "kptr",
	 .file = "/proc/sys/kernel/kptr_restrict",
	 .value = "0",
	 .keep_file = SYSCTL_FILE,
	 .keep_line = "kernel.kptr_restrict = 0"},
	{.name = "watchdog",
	 .file = "/proc/sys/kernel/nmi_watchdog",
	 .value = "0",
	 .keep_file = SYSCTL_FILE,
	 .keep_line = "kernel.nmi_watchdog = 0"},
	{.name = "governor",
	 .file = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
	 .value = "performance",
	 .keep_file = "/etc/tmpfiles.d/60-tacho.conf",
	 .keep_line =
		 "w /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor - - - - performance"},
	{},
};

/* Result of one fix. */
struct outcome {
	const struct fix *fix;
	bool changed;
	struct buf from, to;
	struct err error; /* code 0: none */
};

const struct fix *fix_find(const char *name)
{
	for (const struct fix *x = fixes; x->name; x++)
		if (!strcmp(x->name, name))
			return x;
	return NULL;
}

/* Adds the shell command that does the same with sudo. */
static void add_command(const struct fix *x, struct buf *out)
{
	if (!x->file)
		buf_add(out, "sudo mount -t tracefs none " TRACEFS_DIR);
	else
		buf_addf(out, "echo %s | sudo tee %s", x->value, x->file);
}

static void fail(struct outcome *o, int code, const char *what)
{
	CLEANUP(buf_release) struct buf command = {};

	add_command(o->fix, &command);
	if (code == EPERM || code == EACCES)
		err_set(&o->error, code, "%s: %s; run: %s", what, strerror(code),
			buf_str(&command));
	else
		err_set(&o->error, code, "%s: %s", what, strerror(code));
}

static void fix_tracefs(const struct roots *roots, struct outcome *o)
{
	if (roots->tracefs[0]) {
		buf_addf(&o->from, "mounted on %s", roots->tracefs);
		return;
	}
	if (doctor_tracefs_closed(roots)) {
		buf_add(&o->from, "mounted on " TRACEFS_DIR ", but open to root only");
		return;
	}
	buf_add(&o->from, "not mounted");
	if (mount("tracefs", TRACEFS_DIR, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		fail(o, errno, "cannot mount tracefs on " TRACEFS_DIR);
		return;
	}
	o->changed = true;
	buf_add(&o->to, "mounted on " TRACEFS_DIR);
}

static int write_value(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), code = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		code = errno;
	if (close(fd) && !code)
		code = errno;
	return -code;
}

/* A lower number permits even more: it must not be raised. */
static bool is_enough(const char *now, const char *wanted)
{
	long long have, want;

	if (parse_i64(now, &have) && parse_i64(wanted, &want))
		return have <= want;
	return !strcmp(now, wanted);
}

/* Writes one file and reads it again: some files accept a value but do not change. */
static void fix_file(struct outcome *o, const char *path)
{
	CLEANUP(free_ptr) char *what = xasprintf("cannot change %s", path);
	char before[64], after[64] = "";
	int r;

	if (!fs_line(before, sizeof(before), "%s", path)) {
		fail(o, errno, what);
		return;
	}
	doctor_make_plain(before);
	if (!o->from.len)
		buf_add(&o->from, before);
	if (is_enough(before, o->fix->value))
		return;
	r = write_value(path, o->fix->value);
	if (r < 0) {
		fail(o, -r, what);
		return;
	}
	if (!fs_line(after, sizeof(after), "%s", path) || !is_enough(after, o->fix->value)) {
		fail(o, EINVAL, what);
		return;
	}
	if (!o->changed) {
		buf_clear(&o->from);
		buf_add(&o->from, before);
		buf_add(&o->to, after);
	}
	o->changed = true;
}

static void fix_governor(struct outcome *o)
{
	static const char dir[] = "/sys/devices/system/cpu";
	CLEANUP(strvec_release) strvec names = {};
	size_t count = 0;

	fs_list(dir, &names);
	vec_each(&names, name) {
		CLEANUP(free_ptr)
		char *path = xasprintf("%s/%s/cpufreq/scaling_governor", dir, *name);

		if (!text_glob("cpu[0-9]*", *name) || !fs_exists("%s", path) || o->error.code)
			continue;
		count++;
		fix_file(o, path);
	}
	if (!count)
		err_set(&o->error, ENOENT,
			"cannot set the governor: this kernel does not control the frequency");
}

static void do_fix(const struct roots *roots, struct outcome *o)
{
	if (!o->fix->file)
		fix_tracefs(roots, o);
	else if (strchr(o->fix->file, '*'))
		fix_governor(o);
	else
		fix_file(o, o->fix->file);
}

static void outcome_text(const struct outcome *o, struct buf *out)
{
	const struct fix *x = o->fix;

	if (o->changed)
		buf_addf(out, "%s: %s -> %s\n  to keep it after a reboot, add to %s:\n  %s\n",
			 x->name, buf_str(&o->from), buf_str(&o->to), x->keep_file, x->keep_line);
	else if (!o->error.code)
		buf_addf(out, "%s: already %s\n", x->name, buf_str(&o->from));
}

static void outcome_json(const struct outcome *o, struct json *j)
{
	jw_open(j, '{');
	jw_kv_str(j, "name", o->fix->name);
	jw_kv_bool(j, "changed", o->changed);
	jw_kv_str(j, "from", o->from.s);
	jw_kv_str(j, "to", o->to.s);
	jw_kv_str(j, "keep_file", o->changed ? o->fix->keep_file : NULL);
	jw_kv_str(j, "keep_line", o->changed ? o->fix->keep_line : NULL);
	jw_kv_str(j, "error", o->error.code ? o->error.text : NULL);
	jw_close(j, '}');
}

static int unknown_name(const char *name, struct err *e)
{
	CLEANUP(buf_release) struct buf known = {};

	for (const struct fix *x = fixes; x->name; x++)
		buf_addf(&known, "%s%s", x == fixes ? "" : ", ", x->name);
	return err_set(e, EINVAL, "--fix cannot do '%s'; it knows %s", name, buf_str(&known));
}

static bool is_named(const strvec *names, const char *name)
{
	for (size_t i = 0; i < names->len; i++)
		if (!strcmp(names->items[i], name))
			return true;
	return false;
}

/* A harmless fix that is not named is done beside named ones only if it has something to do. */
static bool is_wanted(const struct roots *roots, const struct fix *x, const strvec *names)
{
	if (is_named(names, x->name))
		return true;
	if (!x->harmless)
		return false;
	return !names->len || (!roots->tracefs[0] && fs_exists(TRACEFS_DIR));
}

static void fix_one(const struct roots *roots, const struct fix *x, struct buf *text,
		    struct json *j, strvec *failures)
{
	struct outcome o = {.fix = x};

	do_fix(roots, &o);
	if (j)
		outcome_json(&o, j);
	else
		outcome_text(&o, text);
	if (o.error.code)
		vec_push(failures, xasprintf("%s: %s", x->name, o.error.text));
	buf_release(&o.from);
	buf_release(&o.to);
}

int fix_run(const struct roots *roots, const char *list, bool as_json, struct buf *out,
	    strvec *failures, struct err *e)
{
	CLEANUP(strvec_release) strvec names = {};
	struct json j = jw_to(out);

	text_split(list, ", ", &names);
	vec_each(&names, name)
		if (!fix_find(*name))
			return unknown_name(*name, e);
	if (roots->foreign)
		return err_set(e, ENOTSUP,
			       "--fix changes this machine, but TACHO_SYSFS or TACHO_PROCFS shows "
			       "another one: unset them first");
	if (as_json) {
		jw_open(&j, '{');
		jw_key(&j, "fixes");
		jw_open(&j, '[');
	}
	for (const struct fix *x = fixes; x->name; x++)
		if (is_wanted(roots, x, &names))
			fix_one(roots, x, out, as_json ? &j : NULL, failures);
	if (as_json) {
		jw_close(&j, ']');
		jw_close(&j, '}');
		buf_add_char(out, '\n');
	}
	return 0;
}
