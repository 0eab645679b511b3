#include "collect/run/environment.h"
#include "base/fs.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

#define FILE_BYTES_MAX 65536

static void put_cpu(const struct roots *roots, struct json *j)
{
	static const char *const keys[] = {"model name", "cpu model", "cpu", "uarch", "Hardware"};
	CLEANUP(free_ptr) char *path = xasprintf("%s/cpuinfo", roots->proc);
	CLEANUP(free_ptr) char *text = NULL;
	char value[256];
	FILE *f = fopen(path, "re");

	/* The first CPU is enough: with many of them the file is long. */
	if (f) {
		text = xcalloc(FILE_BYTES_MAX, 1);
		text[fread(text, 1, FILE_BYTES_MAX - 1, f)] = '\0';
		fclose(f);
	}
	for (size_t i = 0; text && i < ARRAY_LEN(keys); i++)
		if (text_field(text, keys[i], value, sizeof(value))) {
			jw_kv_str(j, "cpu", value);
			return;
		}
	jw_kv_str(j, "cpu", NULL);
}

static void put_memory(const struct roots *roots, struct json *j)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/meminfo", roots->proc);
	CLEANUP(free_ptr) char *text = NULL;
	char value[64];

	if (fs_read(path, FILE_BYTES_MAX, &text) == 0 &&
	    text_field(text, "MemTotal", value, sizeof(value)))
		jw_kv_u64(j, "memory_bytes", strtoull(value, NULL, 10) * 1024);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void put_distribution(struct json *j)
{
	static const char key[] = "PRETTY_NAME=";
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *name = NULL;
	const char *at;

	if (fs_read("/etc/os-release", FILE_BYTES_MAX, &text) == 0) {
		at = strstr(text, key);
		if (at) {
			at += strlen(key);
			at += *at == '"';
			name = xstrndup(at, strcspn(at, "\"\n"));
		}
	}
	jw_kv_str(j, "distribution", name);
}

static void put_settings(const struct roots *roots, struct json *j)
{
	char line[64];
	long long number;

	jw_kv_str(j, "governor",
		  fs_line(line, sizeof(line), "%s/devices/system/cpu/cpu0/cpufreq/scaling_governor",
			  roots->sys)
			  ? line
			  : NULL);
	if (fs_number(&number, "%s/sys/kernel/perf_event_paranoid", roots->proc)) {
		jw_key(j, "perf_event_paranoid");
		jw_i64(j, number);
	}
	if (fs_number(&number, "%s/sys/kernel/kptr_restrict", roots->proc)) {
		jw_key(j, "kptr_restrict");
		jw_i64(j, number);
	}
	if (fs_line(line, sizeof(line), "%s/loadavg", roots->proc))
		jw_kv_str(j, "load", line);
}

void run_environment_here(const struct roots *roots, struct json *j)
{
	struct utsname u = {};
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	uname(&u);
	jw_open(j, '{');
	jw_kv_str(j, "host", u.nodename);
	jw_kv_str(j, "kernel", u.release);
	jw_kv_str(j, "machine", u.machine);
	put_cpu(roots, j);
	jw_kv_u64(j, "cpus_online", online > 0 ? (uint64_t)online : 0);
	put_memory(roots, j);
	put_distribution(j);
	jw_kv_str(j, "tacho", TACHO_VERSION);
	put_settings(roots, j);
	jw_close(j, '}');
}

void run_environment_of_file(const struct perfdata_facts *facts, struct json *j)
{
	CLEANUP(buf_release) struct buf command = {};

	vec_each(&facts->cmdline, word)
		buf_addf(&command, "%s%s", command.len ? " " : "", *word);
	jw_open(j, '{');
	jw_kv_str(j, "host", facts->hostname);
	jw_kv_str(j, "kernel", facts->os_release);
	jw_kv_str(j, "machine", facts->arch);
	jw_kv_str(j, "cpu", facts->cpu_desc);
	jw_kv_u64(j, "cpus_online", facts->cpus_online);
	jw_kv_count(j, "memory_bytes", facts->total_memory_kb * 1024);
	jw_kv_str(j, "perf", facts->version);
	jw_kv_str(j, "command", command.len ? command.s : NULL);
	jw_kv_str(j, "tacho", TACHO_VERSION);
	jw_close(j, '}');
}
