/*
 * tacho doctor: what works on this machine for measuring, what does not, what that costs the user,
 * and the command that changes it.
 *
 * A check looks at one thing and fills in one struct finding; the tables of checks are in the
 * file of their topic. To add a check: write `static void check_x(struct doctor *d,
 * struct finding *f)` there and add a row to the table. To add something that --fix can do: add a
 * row to fixes[] in fix.c, and name it in finding_command() of the check.
 *
 * Files of /proc and /sys are read below d->roots, which may be a copy from another machine
 * (d->roots.foreign). A check that asks the running kernel instead of a file must then call
 * finding_untested() instead, and finding_unknown() if the copy does not have the file. One thread
 * only.
 */
#ifndef TACHO_DOCTOR_DOCTOR_H
#define TACHO_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/term.h"
#include "event/hypervisor.h"

#include <stdint.h>

#define NOT_TESTED "not tested: another machine's files"

enum check_status { CHECK_OK, CHECK_LIMITED, CHECK_MISSING, CHECK_INFO, CHECK_STATUS_COUNT };

/* All text is printable ASCII: other bytes that come from a file are replaced. */
struct finding {
	enum check_status status;
	struct buf text, cost, fix;
	bool fix_is_command;  /* to be pasted into a shell, so never folded */
	const char *fix_name; /* what --fix=NAME calls it; NULL if it cannot do it */
};

struct noise;

/* Facts that several checks need, found out once. Strings are "" when unknown. */
struct doctor {
	struct roots roots;
	const char *sudo; /* what goes before a command that needs root: "sudo " or "" */
	char release[128], arch[65], cpu_model[128], product[HYPERVISOR_PRODUCT_SIZE];
	char container[32];
	const struct hypervisor *hypervisor; /* NULL: none known */
	size_t cpus;
	bool caps_known, seccomp, user_namespace;
	uint64_t caps; /* effective, and honoured by the kernel: 0 in a user namespace */
	bool paranoid_known;
	long long paranoid;
	struct noise *noise; /* CPU use of processes since the start; NULL for another machine */
};

struct check {
	const char *name;  /* for programs: --json */
	const char *title; /* for people, at most 16 columns */
	void (*fn)(struct doctor *d, struct finding *f);
};

/* Ended by a row of zeros. */
extern const struct check event_checks[], limit_checks[], trace_checks[], symbol_checks[],
	machine_checks[], noise_checks[];

struct check_group {
	const char *title;
	const struct check *checks;
};
/* groups.c; ended by a row of zeros. */
extern const struct check_group check_groups[];

/* ---- finding.c ---- */
void finding_set(struct finding *f, enum check_status status, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void finding_cost(struct finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sets a shell command that repairs it. --fix=@fix_name does the same; NULL: --fix cannot. */
void finding_command(struct finding *f, const char *fix_name, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* Sets what to do if no command on this machine repairs it. */
void finding_advice(struct finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
void finding_untested(struct finding *f);
void finding_unknown(const struct doctor *d, struct finding *f, const char *file);
void finding_release(struct finding *f);
const char *status_word(enum check_status status);

/* ---- facts.c ---- */
enum { /* numbers of capabilities, as in linux/capability.h of any version */
       DOCTOR_CAP_IPC_LOCK = 14,
       DOCTOR_CAP_SYS_PTRACE = 19,
       DOCTOR_CAP_SYS_ADMIN = 21,
       DOCTOR_CAP_SYSLOG = 34,
       DOCTOR_CAP_PERFMON = 38,
       DOCTOR_CAP_BPF = 39,
};

void doctor_init(struct doctor *d);
void doctor_release(struct doctor *d);
bool doctor_has(const struct doctor *d, int capability);
/* Replaces all but printable ASCII by '?': text from a file must not control the terminal. */
void doctor_make_plain(char *s);
bool doctor_may_measure_all(const struct doctor *d); /* perf_event_paranoid is no limit */

/* Counts the CPUs in a list file such as "0-3,8". Returns false if it is missing or malformed. */
bool doctor_count_cpus(size_t *ret_count, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- virtual.c ---- */
void doctor_find_hypervisor(struct doctor *d);
void doctor_find_container(struct doctor *d);

/* ---- trace.c ---- */
bool doctor_tracefs_closed(const struct roots *roots); /* mounted, but this user may not enter it */

/* ---- run.c ---- */
/* Runs a program for at most one second; @ret_line gets the first line that it prints, @ret_path
 * its path, both @size bytes. Returns -ECHILD if it fails, or another negative errno. */
int doctor_run(const char *name, const char *arg, char *ret_line, char *ret_path, size_t size);

/* ---- noise.c ---- */
struct noise *noise_start(const struct doctor *d);
void noise_free(struct noise *n);

/* ---- fix.c ---- */
struct fix {
	const char *name;
	bool harmless;    /* done by --fix without a name */
	const char *file; /* below /proc or /sys; NULL: the fix does not write a file */
	const char *value;
	const char *keep_file, *keep_line; /* makes it last: this line in this file */
};
extern const struct fix fixes[]; /* ended by a row of zeros */

const struct fix *fix_find(const char *name);
/*
 * Does the harmless fixes and those of @names (comma separated), and adds what was done to @out, as
 * text or as one JSON object. A fix that does not work adds a sentence to @failures. Returns
 * -EINVAL for an unknown name and -ENOTSUP if @roots is another machine; then nothing was changed.
 */
int fix_run(const struct roots *roots, const char *names, bool as_json, struct buf *out,
	    strvec *failures, struct err *e);

/* ---- report.c ---- */
/* @findings in the order of check_groups. */
void report_text(const struct doctor *d, const struct finding *findings, const struct term *t,
		 struct buf *out);
void report_json(const struct doctor *d, const struct finding *findings, struct buf *out);

#endif
