/* Checks of the machine: what it is, and whether its clocks and frequencies are stable. */
#include "doctor/doctor.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

static void check_kernel(struct doctor *d, struct finding *f)
{
	int major = 0, minor = 0;

	if (!d->release[0]) {
		finding_unknown(d, f, "sys/kernel/osrelease");
		return;
	}
	sscanf(d->release, "%d.%d", &major, &minor);
	finding_set(f, CHECK_OK, "Linux %s%s%s", d->release, d->arch[0] ? ", " : "", d->arch);
	if (major > 4 || (major == 4 && minor >= 1) || major <= 0)
		return;
	f->status = CHECK_LIMITED;
	finding_cost(f, "events cannot be stamped with CLOCK_MONOTONIC: no common time line");
	finding_advice(f, "use Linux 4.1 or later");
}

static void check_virtual(struct doctor *d, struct finding *f)
{
	CLEANUP(buf_release) struct buf text = {};

	if (d->hypervisor)
		buf_addf(&text, "guest of %s", d->hypervisor->name);
	else
		buf_add(&text, d->roots.foreign ? "no sign of a hypervisor" : "bare machine");
	if (d->product[strspn(d->product, " ")])
		buf_addf(&text, " (%s)", d->product);
	if (d->container[0])
		buf_addf(&text, ", in a container (%s)", d->container);
	finding_set(f, CHECK_INFO, "%s", buf_str(&text));
}

static void check_cpus(struct doctor *d, struct finding *f)
{
	char offline[48] = "";
	cpu_set_t set;
	int allowed = 0;

	if (!d->cpus) {
		finding_unknown(d, f, "devices/system/cpu/online");
		return;
	}
	fs_line(offline, sizeof(offline), "%s/devices/system/cpu/offline", d->roots.sys);
	if (!d->roots.foreign && !sched_getaffinity(0, sizeof(set), &set))
		allowed = CPU_COUNT(&set);
	if (allowed && (size_t)allowed < d->cpus) {
		finding_set(f, CHECK_LIMITED, "%zu online, but this process may use %d", d->cpus,
			    allowed);
		finding_cost(f, "a workload with a thread for every CPU will crowd on %d of them",
			     allowed);
		return;
	}
	finding_set(f, CHECK_OK, "%zu%s%s%s%s", d->cpus, d->cpu_model[0] ? " x " : " online",
		    d->cpu_model, offline[0] ? "; offline: CPU " : "", offline);
}

static void check_smt(struct doctor *d, struct finding *f)
{
	long long active;

	if (!fs_number(&active, "%s/devices/system/cpu/smt/active", d->roots.sys)) {
		finding_unknown(d, f, "devices/system/cpu/smt");
		return;
	}
	if (!active) {
		finding_set(f, CHECK_OK, "off: one thread a core");
		return;
	}
	finding_set(f, CHECK_INFO, "on: threads share a core");
	finding_cost(f, "a busy sibling changes times and counts; for the steadiest comparisons "
			"switch it off");
	finding_command(f, NULL, "echo off | %stee /sys/devices/system/cpu/smt/control", d->sudo);
}

/* Returns how many CPUs have a governor, how many of these another than 'performance', and the name
 * of one such governor. */
static size_t count_governors(const struct doctor *d, size_t *ret_other, char *other, size_t size)
{
	CLEANUP(free_ptr) char *dir = xasprintf("%s/devices/system/cpu", d->roots.sys);
	CLEANUP(strvec_release) strvec names = {};
	size_t count = 0, others = 0;

	fs_list(dir, &names);
	vec_each(&names, name) {
		char governor[32];

		if (!text_glob("cpu[0-9]*", *name) ||
		    !fs_line(governor, sizeof(governor), "%s/%s/cpufreq/scaling_governor", dir,
			     *name))
			continue;
		count++;
		if (!strcmp(governor, "performance"))
			continue;
		if (!others++)
			snprintf(other, size, "%s", governor);
	}
	*ret_other = others;
	return count;
}

static void check_governor(struct doctor *d, struct finding *f)
{
	char other[32] = "";
	size_t others, count = count_governors(d, &others, other, sizeof(other));

	if (!count) {
		finding_set(f, CHECK_INFO, "%s",
			    d->roots.foreign ? "not known: no cpufreq in this copy"
			    : d->hypervisor  ? "not controlled by a guest"
					     : "not controlled by this kernel");
		return;
	}
	if (!others) {
		finding_set(f, CHECK_OK, "performance on all %zu CPUs", count);
		return;
	}
	finding_set(f, CHECK_LIMITED, "%s on %zu of %zu CPUs", other, others, count);
	finding_cost(f, "the frequency follows the load: times of short runs vary from run to run");
	finding_command(f, "governor",
			"echo performance | %stee "
			"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
			d->sudo);
}

static void check_turbo(struct doctor *d, struct finding *f)
{
	static const struct {
		const char *file;
		bool on_is; /* what the file says when turbo is on */
	} switches[] = {
		{"intel_pstate/no_turbo", false},
		{"cpufreq/boost", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
		long long value;

		if (!fs_number(&value, "%s/devices/system/cpu/%s", d->roots.sys, switches[i].file))
			continue;
		if ((value != 0) != switches[i].on_is) {
			finding_set(f, CHECK_OK, "off");
			return;
		}
		finding_set(f, CHECK_INFO, "on");
		finding_cost(f, "speed depends on heat and on how many cores work; for the "
				"steadiest comparisons switch it off");
		finding_command(f, NULL, "echo %d | %stee /sys/devices/system/cpu/%s",
				!switches[i].on_is, d->sudo, switches[i].file);
		return;
	}
	finding_set(f, CHECK_INFO, "%s",
		    d->roots.foreign ? "not known: no switch in this copy"
		    : d->hypervisor  ? "not controlled by a guest"
				     : "not controlled by this kernel");
}

#define CLOCK_BATCHES 8
#define CLOCK_CALLS   500
#define CLOCK_SLOW_NS 200

/* Takes the best of a few batches, so that an interrupt does not count. */
static double clock_cost_ns(void)
{
	uint64_t best = UINT64_MAX;

	for (int batch = 0; batch < CLOCK_BATCHES; batch++) {
		uint64_t start = clock_now_ns(), end = start;

		for (int i = 0; i < CLOCK_CALLS; i++)
			end = clock_now_ns();
		best = end - start < best ? end - start : best;
	}
	return (double)best / CLOCK_CALLS;
}

static void check_clock(struct doctor *d, struct finding *f)
{
	static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
	static const char dir[] = "devices/system/clocksource/clocksource0";
	char current[64], available[256] = "";
	double cost = d->roots.foreign ? 0 : clock_cost_ns();
	bool is_slow = cost > CLOCK_SLOW_NS;

	if (!fs_line(current, sizeof(current), "%s/%s/current_clocksource", d->roots.sys, dir)) {
		finding_unknown(d, f, dir);
		return;
	}
	fs_line(available, sizeof(available), "%s/%s/available_clocksource", d->roots.sys, dir);
	for (size_t i = 0; i < ARRAY_LEN(slow); i++)
		is_slow |= !strcmp(current, slow[i]);
	if (d->roots.foreign)
		finding_set(f, is_slow ? CHECK_LIMITED : CHECK_OK, "%s", current);
	else
		finding_set(f, is_slow ? CHECK_LIMITED : CHECK_OK, "%s, %.0f ns to read", current,
			    cost);
	if (!is_slow)
		return;
	finding_cost(f, "every time stamp is slow: programs that ask for the time often, and "
			"tracing, are slowed down");
	if (strcmp(current, "tsc") && strstr(available, "tsc"))
		finding_command(f, NULL, "echo tsc | %stee /sys/%s/current_clocksource", d->sudo,
				dir);
	else
		finding_advice(f, "see in dmesg why no better clock source was taken");
}

const struct check machine_checks[] = {
	{"kernel", "kernel", check_kernel},
	{"virtual", "virtual machine", check_virtual},
	{"cpus", "CPUs", check_cpus},
	{"smt", "SMT", check_smt},
	{"governor", "CPU frequency", check_governor},
	{"turbo", "turbo", check_turbo},
	{"clock", "clock", check_clock},
	{},
};
