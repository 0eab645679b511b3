/* Facts that several checks need: privileges, kernel, CPU model, number of CPUs. */
#include "doctor/doctor.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CPU_LIST_BYTES_MAX 65536

bool doctor_count_cpus(size_t *ret_count, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf path = {};
	CLEANUP(free_ptr) char *list = NULL;
	CLEANUP(free_ptr) int *cpus = NULL;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&path, fmt, ap);
	va_end(ap);
	return fs_read(buf_str(&path), CPU_LIST_BYTES_MAX, &list) == 0 &&
	       parse_cpulist(list, CPU_LIMIT, &cpus, ret_count);
}

void doctor_make_plain(char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
}

static void find_privileges(struct doctor *d)
{
	char status[16384], value[64], target[64];
	uint64_t caps;
	ssize_t n;

	if (!fs_head(status, sizeof(status), "%s/self/status", d->roots.proc))
		return;
	if (text_field(status, "CapPrm", value, sizeof(value)) &&
	    parse_hex(value, strlen(value), &caps)) {
		d->caps_known = true;
		d->caps = caps;
	}
	d->seccomp = text_field(status, "Seccomp", value, sizeof(value)) && !strcmp(value, "2");
	if (d->roots.foreign)
		return;
	/* The initial user namespace has a fixed number. Root of another one is root only there:
	 * measuring requires capabilities in the initial one. */
	n = readlink("/proc/self/ns/user", target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		d->user_namespace = strcmp(target, "user:[4026531837]") != 0;
	}
	if (d->user_namespace)
		d->caps = 0;
}

static void find_kernel(struct doctor *d)
{
	struct utsname u;

	fs_line(d->release, sizeof(d->release), "%s/sys/kernel/osrelease", d->roots.proc);
	fs_line(d->arch, sizeof(d->arch), "%s/sys/kernel/arch", d->roots.proc);
	if (d->roots.foreign || uname(&u))
		return;
	snprintf(d->release, sizeof(d->release), "%s", u.release);
	snprintf(d->arch, sizeof(d->arch), "%s", u.machine);
}

static void find_cpus(struct doctor *d)
{
	static const char *const keys[] = {"model name", "cpu model", "cpu", "uarch", "Hardware"};
	char text[16384];

	if (!doctor_count_cpus(&d->cpus, "%s/devices/system/cpu/online", d->roots.sys))
		d->cpus = 0;
	if (!d->cpus && !d->roots.foreign && sysconf(_SC_NPROCESSORS_ONLN) > 0)
		d->cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	if (!fs_head(text, sizeof(text), "%s/cpuinfo", d->roots.proc))
		return;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (text_field(text, keys[i], d->cpu_model, sizeof(d->cpu_model)))
			return;
}

void doctor_init(struct doctor *d)
{
	*d = (struct doctor){.roots = roots_find()};
	/* Start this first: the other checks work while its time window runs. */
	d->noise = noise_start(d);
	d->paranoid_known =
		fs_number(&d->paranoid, "%s/sys/kernel/perf_event_paranoid", d->roots.proc);
	find_privileges(d);
	d->sudo = d->roots.foreign || d->user_namespace || geteuid() != 0 ? "sudo " : "";
	find_kernel(d);
	find_cpus(d);
	doctor_find_hypervisor(d);
	doctor_find_container(d);
	doctor_make_plain(d->release);
	doctor_make_plain(d->arch);
	doctor_make_plain(d->cpu_model);
	doctor_make_plain(d->product);
	doctor_make_plain(d->container);
}

void doctor_release(struct doctor *d)
{
	noise_free(d->noise);
	d->noise = NULL;
}

bool doctor_has(const struct doctor *d, int capability)
{
	return d->caps >> capability & 1;
}

bool doctor_may_measure_all(const struct doctor *d)
{
	return doctor_has(d, DOCTOR_CAP_PERFMON) || doctor_has(d, DOCTOR_CAP_SYS_ADMIN);
}
