/* Checks of names: kernel symbols, debug files, and the perf program. */
#include "doctor/doctor.h"
#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read more than the first line: per-CPU symbols have address zero on some machines. */
#define KALLSYMS_BYTES 65536

static bool has_addresses(const char *symbols)
{
	for (const char *line = symbols; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (isxdigit((unsigned char)line[strspn(line, "0")]))
			return true;
	}
	return false;
}

static void kallsyms_hidden(const struct doctor *d, struct finding *f)
{
	long long restricted = 0;

	fs_number(&restricted, "%s/sys/kernel/kptr_restrict", d->roots.proc);
	finding_cost(f, "kernel functions in stacks stay numbers");
	if (restricted > 1 || (restricted == 1 && !doctor_has(d, DOCTOR_CAP_SYSLOG))) {
		finding_set(f, CHECK_LIMITED, "addresses are hidden: kptr_restrict is %lld",
			    restricted);
		finding_command(f, "kptr", "%ssysctl -w kernel.kptr_restrict=0", d->sudo);
	} else if (d->paranoid_known && d->paranoid > 1 && !doctor_has(d, DOCTOR_CAP_SYSLOG)) {
		finding_set(f, CHECK_LIMITED,
			    "addresses are hidden from you: perf_event_paranoid is %lld",
			    d->paranoid);
		finding_command(f, "paranoid", "%ssysctl -w kernel.perf_event_paranoid=1", d->sudo);
	} else {
		finding_set(f, CHECK_LIMITED, "all addresses are zero");
		finding_advice(f, "run tacho as root of the machine, outside containers");
	}
}

static void check_kallsyms(struct doctor *d, struct finding *f)
{
	CLEANUP(free_ptr) char *symbols = xcalloc(KALLSYMS_BYTES, 1);

	if (!fs_head(symbols, KALLSYMS_BYTES, "%s/kallsyms", d->roots.proc)) {
		if (d->roots.foreign) {
			finding_unknown(d, f, "kallsyms");
			return;
		}
		finding_set(f, CHECK_MISSING, "/proc/kallsyms cannot be read: %s", strerror(errno));
		finding_cost(f, "kernel functions in stacks stay numbers");
		finding_advice(f, "use a kernel with CONFIG_KALLSYMS=y");
	} else if (has_addresses(symbols)) {
		finding_set(f, CHECK_OK, "names and addresses in %s/kallsyms", d->roots.proc);
	} else {
		kallsyms_hidden(d, f);
	}
}

struct distribution {
	const char *id;
	const char *debuginfod;
	const char *kernel_debug; /* before the release */
	const char *kernel_debug_end;
};

static const struct distribution distributions[] = {
	{"debian", "https://debuginfod.debian.net", "apt install linux-image-", "-dbg"},
	{"ubuntu", "https://debuginfod.ubuntu.com", "apt install linux-image-", "-dbgsym"},
	{"fedora", "https://debuginfod.fedoraproject.org/", "dnf debuginfo-install kernel-", ""},
	{"centos", "https://debuginfod.centos.org/", "dnf debuginfo-install kernel-", ""},
	{"arch", "https://debuginfod.archlinux.org", NULL, NULL},
	{"opensuse-leap", "https://debuginfod.opensuse.org/", NULL, NULL},
	{"opensuse-tumbleweed", "https://debuginfod.opensuse.org/", NULL, NULL},
	{"", "https://debuginfod.elfutils.org/", NULL, NULL},
};

static const struct distribution *find_distribution(void)
{
	const struct distribution *x = distributions;
	char text[4096], id[64] = "";
	const char *line = NULL;

	if (fs_head(text, sizeof(text), "/etc/os-release"))
		line = !strncmp(text, "ID=", 3) ? text : strstr(text, "\nID=");
	if (line) {
		line = strchr(line, '=') + 1;
		line += *line == '"';
		snprintf(id, sizeof(id), "%.*s", (int)strcspn(line, "\"\n"), line);
	}
	while (x->id[0] && strcmp(x->id, id))
		x++;
	return x;
}

static void check_kernel_debug(struct doctor *d, struct finding *f)
{
	static const struct {
		const char *before, *after; /* the release */
	} places[] = {
		{"/usr/lib/debug/boot/vmlinux-", ""},
		{"/usr/lib/debug/lib/modules/", "/vmlinux"},
		{"/usr/lib/debug/usr/lib/modules/", "/vmlinux"},
		{"/lib/modules/", "/build/vmlinux"},
		{"/boot/vmlinux-", ""},
	};
	const struct distribution *x;

	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		CLEANUP(free_ptr)
		char *path = xasprintf("%s%s%s", places[i].before, d->release, places[i].after);

		if (access(path, R_OK))
			continue;
		finding_set(f, CHECK_OK, "%s", path);
		return;
	}
	finding_set(f, CHECK_INFO, "no vmlinux with debug information");
	finding_cost(f, "kernel functions have names, but no source lines and no inlined callers");
	x = find_distribution();
	/* A kernel without installed modules is hardly the distribution's: it has no package. */
	if (x->kernel_debug && fs_exists("/lib/modules/%s", d->release))
		finding_command(f, NULL, "%s%s%s%s", d->sudo, x->kernel_debug, d->release,
				x->kernel_debug_end);
	else
		finding_advice(f,
			       "put the vmlinux of this kernel at /usr/lib/debug/boot/vmlinux-%s",
			       d->release);
}

static void check_debug_files(struct doctor *d, struct finding *f)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	CLEANUP(strvec_release) strvec ids = {};

	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	fs_list("/usr/lib/debug/.build-id", &ids);
	if (urls && *urls) {
		finding_set(f, CHECK_OK, "fetched when needed from %.100s", urls);
		return;
	}
	if (ids.len) {
		finding_set(f, CHECK_OK, "in /usr/lib/debug; debuginfod is not set up");
		return;
	}
	finding_set(f, CHECK_LIMITED, "none in /usr/lib/debug, and DEBUGINFOD_URLS is not set");
	finding_cost(f, "stripped programs and libraries: few function names, no source lines, "
			"no inlined functions");
	finding_command(f, NULL, "export DEBUGINFOD_URLS=%s", find_distribution()->debuginfod);
}

static void check_perf(struct doctor *d, struct finding *f)
{
	char line[256] = "", path[256] = "";
	int r;

	if (d->roots.foreign) {
		finding_untested(f);
		return;
	}
	r = doctor_run("perf", "--version", line, path, sizeof(line));
	if (r == 0) {
		finding_set(f, CHECK_OK, "%.80s (%s)", line, path);
	} else if (r == -ENOENT) {
		finding_set(f, CHECK_INFO, "not installed; tacho does not need it");
	} else {
		finding_set(f, CHECK_INFO, "%s does not work: %s", path,
			    r == -ECHILD      ? "it fails"
			    : r == -ETIMEDOUT ? "no answer within a second"
					      : strerror(-r));
	}
}

const struct check symbol_checks[] = {
	{"kallsyms", "kernel symbols", check_kallsyms},
	{"kernel-debug", "kernel source", check_kernel_debug},
	{"debug-files", "debug files", check_debug_files},
	{"perf", "perf program", check_perf},
	{},
};
